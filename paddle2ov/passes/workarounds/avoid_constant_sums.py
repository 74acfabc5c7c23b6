"""Keeps constants apart that are added one after the other, where one would be lost in the sum of both.

OpenVINO 2026.4 turns (x + a) * b + c into x * b + (a * b + c). The sum of constants is rounded to the larger one, which
x may cancel: of a mask (1 - m) * -1e9 + c, nothing is left of c where m is 1.
"""

from __future__ import annotations

import math

import numpy as np
from msgspec import Struct
from openvino import Input, Node, Output

from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.constants import computed_constant_of
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import hide_operand
from paddle2ov.passes.rule import MatchFailureError, Rule

_SUMS, _PRODUCTS = ("Add", "Subtract"), ("Divide", "Multiply")
_BEFORE = frozenset(("Negative", *_SUMS, *_PRODUCTS))
_MAX_BETWEEN = 8
_LARGER = 128
"""How many times as large one constant is as the other, at least: their sum has 17 of the 24 bits of the smaller."""
_USUAL_DIM = 256
"""What an unknown dimension is taken for, to estimate what takes longer to copy."""


class _Sum(Struct, frozen=True):
    """x + c, where x is (... + a), times constants.

    Attributes:
        constant: c.
        before: a.
        factors: the constants that a is multiplied with, up to the sum.
        divisors: those that it is divided by.
    """

    constant: Input
    before: Output
    factors: list[Output]
    divisors: list[Output]


@works_around("constants_of_sums_merged")
class AvoidConstantSums(Rule[_Sum, Input]):
    """Hides one operand of a sum from OpenVINO.

    Given:
        x + a, possibly times constants, + c, with constants a and c, where a is 128 times as large as c or more.
    Result:
        The same, with a copy of the smaller tensor, c or the other operand, that is made at run time.
    """

    roots = _SUMS
    counts = ("sums",)

    def pattern(self, graph: Graph, node: Node) -> _Sum | None:
        if not node.get_output_element_type(0).is_real():
            return None
        for place in (1, 0):
            x = node.input_value(1 - place)
            if x.get_node().get_type_name() in _BEFORE and graph.is_constant(node.input_value(place).get_node()):
                return _sum(graph, node.input(place), x)
        return None

    def check(self, graph: Graph, match: _Sum) -> Input:
        small, large = _largest(match.constant.get_source_output()), _largest(match.before)
        large *= math.prod(_largest(one) for one in match.factors) / math.prod(_least(one) for one in match.divisors)
        if small == 0 or math.isinf(large) or large < _LARGER * small:
            raise MatchFailureError("the sum of the constants keeps the digits of both")
        other = match.constant.get_node().input(1 - match.constant.get_index())
        return min(match.constant, other, key=_elements)

    def rewrite(self, graph: Graph, plan: Input) -> Counts:
        hide_operand(plan)
        return {"sums": 1}


def _sum(graph: Graph, constant: Input, x: Output) -> _Sum | None:
    """What is added to a constant, if it is itself a sum with a constant, times constants."""
    found: dict[str, list[Output]] = {kind: [] for kind in _PRODUCTS}
    for _ in range(_MAX_BETWEEN):
        node = x.get_node()
        kind = node.get_type_name()
        if kind not in _BEFORE:
            return None
        if kind == "Negative":
            x = node.input_value(0)
            continue
        places = (1,) if kind == "Divide" else (1, 0)
        place = next((one for one in places if graph.is_constant(node.input_value(one).get_node())), None)
        if place is None:
            return None
        if kind in _SUMS:
            return _Sum(constant, node.input_value(place), found["Multiply"], found["Divide"])
        found[kind].append(node.input_value(place))
        x = node.input_value(1 - place)
    return None


def _largest(constant: Output) -> float:
    """The largest magnitude of a constant; 1, as that of weights, where that takes computing."""
    values = computed_constant_of(constant)
    return 1.0 if values is None else float(np.abs(values.astype(np.float64)).max(initial=0))


def _least(constant: Output) -> float:
    values = computed_constant_of(constant)
    return 1.0 if values is None or not values.size else float(np.abs(values.astype(np.float64)).min()) or 1.0


def _elements(port: Input) -> int:
    dims = dims_of(port.get_source_output())
    return 0 if dims is None else math.prod(_USUAL_DIM if dim is None else dim for dim in dims)


avoid_constant_sums = AvoidConstantSums()
