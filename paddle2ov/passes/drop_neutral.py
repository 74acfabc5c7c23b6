"""Removes arithmetic that changes nothing."""

from __future__ import annotations

import math

from openvino import Node, Output
from openvino.op import Constant

from paddle2ov.graph.constants import value_of
from paddle2ov.graph.memory import MOVING, SLICING, VIEWS
from paddle2ov.graph.shapes import dims_of, static_dims
from paddle2ov.passes.consumers import consumers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.kinds import NEUTRAL
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule

_MAX_ELEMENTS = 1 << 16
_IN_OTHER_MEMORY = frozenset(("Constant", "If", "Loop", "Parameter", "TensorIterator")) | MOVING | SLICING | VIEWS


class DropNeutral(Rule[Node, Output]):
    """Removes additions of zeros and multiplications by ones, such as the biases of layers that nobody trained.

    OpenVINO removes them as well, and merges what is then side by side. The rewrites that keep it from merging
    wrongly look for nodes that are side by side.

    Given:
        x + 0, x - 0, x * 1 or x / 1, with a Constant that does not broadcast x.
    Result:
        x, but for results; and in the body of a loop not where x may be in the memory of a state.
    """

    roots = tuple(NEUTRAL)
    counts = ("nodes",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        return node if _unchanged(node) is not None else None

    def check(self, graph: Graph, match: Node) -> Output:
        x = _unchanged(match)
        assert x is not None
        if graph.is_body and x.get_node().get_type_name() in _IN_OTHER_MEMORY:
            raise MatchFailureError("it may be the copy of a state")
        if all(reader.get_node().get_type_name() == "Result" for reader in consumers(match.output(0))):
            raise MatchFailureError("it is a result")
        return match.output(0)

    def rewrite(self, graph: Graph, plan: Output) -> Counts:
        node = plan.get_node()
        x = _unchanged(node)
        assert x is not None
        read = [one for one in consumers(plan) if one.get_node().get_type_name() != "Result"]
        insert(read, x, node)
        return {"nodes": 1}


def _unchanged(node: Node) -> Output | None:
    """The operand that a node computes again; None if it computes anything else, or integers."""
    if not node.get_element_type().is_real():
        return None
    number = NEUTRAL[node.get_type_name()]
    first, second = node.input_values()
    if _consists_of(second, number) and _is_as_wide(first, second):
        return first
    is_ordered = node.get_type_name() in ("Divide", "Subtract")
    if not is_ordered and _consists_of(first, number) and _is_as_wide(second, first):
        return second
    return None


def _consists_of(operand: Output, number: int) -> bool:
    node = operand.get_node()
    if not isinstance(node, Constant):
        return False
    count = math.prod(static_dims(operand) or ())
    return 0 < count <= _MAX_ELEMENTS and bool((value_of(node) == number).all())


def _is_as_wide(x: Output, constant: Output) -> bool:
    """Whether a Constant does not broadcast x."""
    dims, others = dims_of(x), static_dims(constant)
    if dims is None or others is None or len(others) > len(dims):
        return False
    return all(other in (1, dim) for dim, other in zip(reversed(dims), reversed(others), strict=False))


drop_neutral = DropNeutral()
