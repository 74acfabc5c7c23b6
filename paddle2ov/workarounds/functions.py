"""Functions whose small values OpenVINO computes with an absolute error only."""

from __future__ import annotations

from openvino import Node, Output

from paddle2ov.graph.constants import constant_of, number_of
from paddle2ov.graph.consumers import readers
from paddle2ov.graph.elementary import erf, softplus
from paddle2ov.graph.shapes import dims_of
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, at


@at("Erf", "SoftPlus", "Log")
def small_values(graph: Graph, node: Node) -> list[tuple[Node, Output]] | None:
    """OpenVINO computes Erf with an absolute error of 4e-7, and SoftPlus with one of 8e-6.

    So erf(1e-7) is 0, and ln(1 + e^-60) 4e-6 instead of 9e-27. It also fuses ln(1 + e^x) into SoftPlus.

    Given:
        Erf, SoftPlus, or Exp → Add of 1 → Log, except where OpenVINO fuses them into Gelu or Mish: an Erf that is only
        added to constants, and a SoftPlus of x whose Tanh is only multiplied by x.
    """
    is_erf = node.get_type_name() == "Erf"
    x = _log1p_exp(node) if node.get_type_name() == "Log" else node.input_value(0)
    read = readers(node) if x is not None else []
    if x is None or not read:
        return None
    if is_erf and all(_is_of_large(reader, x) for reader in read):
        raise MatchFailureError("small values are computed beside it")
    if is_erf and all(_is_added(reader) for reader in read):
        raise MatchFailureError("it is only added to constants, as in a Gelu")
    if not is_erf and all(_is_mish(reader, x) for reader in read):
        raise MatchFailureError("it is only part of a Mish")
    return [(node, x)]


def refine(graph: Graph, site: tuple[Node, Output]) -> None:
    """Erf is x times a polynomial in x² up to `|x| = 1/2`; SoftPlus is `max(x, 0) + ln(1 + e^-|x|)` by a series."""
    node, x = site
    replace(node.output(0), (erf(x) if node.get_type_name() == "Erf" else softplus(x)).output(0))


def _is_of_large(reader: Node, x: Output) -> bool:
    """Whether this takes another value where x² is small, as what the remedy makes."""
    if reader.get_type_name() != "Select" or reader.input_value(0).get_node().get_type_name() != "Less":
        return False
    square = reader.input_value(0).get_node().input_value(0).get_node()
    return square.get_type_name() == "Multiply" and all(value == x for value in square.input_values())


def _is_added(reader: Node) -> bool:
    """Whether a constant is added, maybe after a multiplication by one: small values do not matter then."""
    kind = reader.get_type_name()
    if kind not in ("Add", "Multiply") or all(constant_of(side) is None for side in reader.input_values()):
        return False
    return kind == "Add" or all(item.get_type_name() == "Add" and _is_added(item) for item in readers(reader))


def _is_mish(reader: Node, x: Output) -> bool:
    """Whether this is tanh(ln(1 + e^x)), and only multiplied by x."""
    if reader.get_type_name() != "Tanh":
        return False
    return all(item.get_type_name() == "Multiply" and x in item.input_values() for item in readers(reader))


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
