"""Decomposes Erf and SoftPlus, whose small values OpenVINO computes with an absolute error only.

OpenVINO 2026.4 computes Erf with an absolute error of 4e-7, so that erf(1e-7) is 0, and SoftPlus with one of 8e-6, so
that ln(1 + e^-60) is 4e-6 instead of 9e-27. It also fuses ln(1 + e^x) into SoftPlus.
"""

from __future__ import annotations

from typing import TypeAlias

from openvino import Node, Output

from paddle2ov.graph.constants import constant_of, number_of
from paddle2ov.graph.elementary import erf, softplus
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import readers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule

_Function: TypeAlias = tuple[Node, Output]
"""The node that gives the result, and x."""


@works_around("erf_of_small_numbers", "softplus_of_large_negative_numbers")
class RefineFunctions(Rule[_Function, _Function]):
    """Computes small values of Erf and SoftPlus to as many digits as large ones.

    Given:
        Erf, SoftPlus, or Exp → Add of 1 → Log, except where OpenVINO fuses them into Gelu or Mish: an Erf that is only
        added to constants, and a SoftPlus of x whose Tanh is only multiplied by x.
    Result:
        x times a polynomial in x², and Erf from `|x| = 1/2` on; `max(x, 0) + ln(1 + e^-|x|)` by a series.
    """

    roots = ("Erf", "SoftPlus", "Log")
    counts = ("functions",)

    def pattern(self, graph: Graph, node: Node) -> _Function | None:
        x = _log1p_exp(node) if node.get_type_name() == "Log" else node.input_value(0)
        return (node, x) if x is not None and readers(node) else None

    def check(self, graph: Graph, match: _Function) -> _Function:
        node, x = match
        if node.get_type_name() == "Erf" and all(_is_added(reader) for reader in readers(node)):
            raise MatchFailureError("it is only added to constants, as in a Gelu")
        if node.get_type_name() != "Erf" and all(_is_mish(reader, x) for reader in readers(node)):
            raise MatchFailureError("it is only part of a Mish")
        return match

    def rewrite(self, graph: Graph, plan: _Function) -> Counts:
        node, x = plan
        refined = erf(x) if node.get_type_name() == "Erf" else softplus(x)
        replace(node.output(0), refined.output(0))
        return {"functions": 1}


def _is_added(reader: Node) -> bool:
    """Whether a constant is added, maybe after a multiplication by one: small values do not matter then."""
    kind = reader.get_type_name()
    if kind not in ("Add", "Multiply") or all(constant_of(side) is None for side in reader.input_values()):
        return False
    return kind == "Add" or all(one.get_type_name() == "Add" and _is_added(one) for one in readers(reader))


def _is_mish(reader: Node, x: Output) -> bool:
    """Whether this is tanh(ln(1 + e^x)), and only multiplied by x."""
    if reader.get_type_name() != "Tanh":
        return False
    return all(one.get_type_name() == "Multiply" and x in one.input_values() for one in readers(reader))


def _log1p_exp(log: Node) -> Output | None:
    """x of ln(1 + e^x)."""
    total = log.input_value(0).get_node()
    if total.get_type_name() != "Add":
        return None
    terms = total.input_values()
    for one, other in (terms, terms[::-1]):
        exp, rank = other.get_node(), len(dims_of(other) or ())
        if exp.get_type_name() == "Exp" and number_of(one) == 1 and len(dims_of(one) or ()) <= rank:
            return exp.input_value(0)
    return None


refine_functions = RefineFunctions()
