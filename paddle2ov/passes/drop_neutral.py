"""Removes arithmetic that changes nothing."""

from __future__ import annotations

from typing import TypeAlias

from openvino import Node, Output
from openvino.op import Constant

from paddle2ov.graph.memory import MOVING, SLICING, VIEWS
from paddle2ov.graph.shapes import dims_of, static_dims
from paddle2ov.graph.types import value_of
from paddle2ov.passes.consumers import consumers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.kinds import NEUTRAL
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule

_MAX_BYTES = 1 << 18
_COMMUTATIVE = frozenset(("Add", "Multiply"))
_IN_OTHER_MEMORY = frozenset(("Constant", "If", "Loop", "Parameter", "TensorIterator")) | MOVING | SLICING | VIEWS


_Unchanged: TypeAlias = tuple[Node, Output]
"""A node, and the operand that it computes again."""


class DropNeutral(Rule[_Unchanged, _Unchanged]):
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

    def pattern(self, graph: Graph, node: Node) -> _Unchanged | None:
        if not node.get_element_type().is_real():
            return None
        kind = node.get_type_name()
        number = NEUTRAL[kind]
        first, second = node.input_values()
        if _consists_of(second, number) and _is_as_wide(first, second):
            return node, first
        if kind in _COMMUTATIVE and _consists_of(first, number) and _is_as_wide(second, first):
            return node, second
        return None

    def check(self, graph: Graph, match: _Unchanged) -> _Unchanged:
        node, x = match
        if graph.is_body and x.get_node().get_type_name() in _IN_OTHER_MEMORY:
            raise MatchFailureError("it may be the copy of a state")
        if all(reader.get_node().get_type_name() == "Result" for reader in consumers(node.output(0))):
            raise MatchFailureError("it is a result")
        return match

    def rewrite(self, graph: Graph, plan: _Unchanged) -> Counts:
        node, x = plan
        read = [one for one in consumers(node.output(0)) if one.get_node().get_type_name() != "Result"]
        insert(read, x, node)
        return {"nodes": 1}


def _consists_of(operand: Output, number: int) -> bool:
    node = operand.get_node()
    if not isinstance(node, Constant) or node.get_byte_size() > _MAX_BYTES:
        return False
    array = value_of(node)
    return bool(array.size and array.flat[0] == number and (array == number).all())


def _is_as_wide(x: Output, constant: Output) -> bool:
    """Whether a Constant does not broadcast x."""
    dims, others = dims_of(x), static_dims(constant)
    if dims is None or others is None or len(others) > len(dims):
        return False
    return all(other in (1, dim) for dim, other in zip(reversed(dims), reversed(others), strict=False))


drop_neutral = DropNeutral()
