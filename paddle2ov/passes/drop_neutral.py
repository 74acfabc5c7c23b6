"""Removes nodes that change nothing."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from openvino import Node, Output
from openvino.op import Constant

from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.placement import MOVING, SLICING, VIEWS
from paddle2ov.graph.shapes import dims_of, static_dims
from paddle2ov.graph.slices import OPEN_END
from paddle2ov.graph.types import value_of
from paddle2ov.passes.constant_operands import perm_of, target_of
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.index import Index
from paddle2ov.passes.neighbours import consumers
from paddle2ov.passes.node_kinds import NEUTRAL
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule

_MAX_BYTES = 1 << 18
_MOVES = ("Broadcast", "Concat", "Convert", "Pad", "Reshape", "Slice", "Tile", "Transpose")
_MAY_BE_STATES = frozenset(("Constant", "If", "Loop", "Parameter", "TensorIterator")) | MOVING | SLICING | VIEWS


_Unchanged: TypeAlias = tuple[Node, Output]
"""A node, and the operand that it computes again."""


class DropNeutral(Rule[_Unchanged, _Unchanged]):
    """Removes what changes nothing, such as the biases of layers that nobody trained, which are zeros.

    OpenVINO removes it as well, and merges what is then side by side. The rewrites that keep it from merging wrongly
    look for nodes that are side by side.

    Given:
        x + 0, x - 0, x * 1 or x / 1, with a Constant that does not broadcast x; or a Reshape, Broadcast, Tile, Pad,
        Slice, Transpose, Concat or Convert of x to what x is already, as far as it is known; of floats.
    Result:
        x, but for results; and in the body of a loop not where x may be in the memory of a state.
    """

    roots = (*NEUTRAL, *_MOVES)
    counts = ("nodes",)

    def may_match(self, index: Index, place: int) -> bool:
        kind, sources = index.kinds[place], index.sources[place]
        number = NEUTRAL.get(kind)
        if number is None:
            return index.kinds[sources[0]] != "Constant" and _may_move_nothing(index, place)
        return _may_consist_of(index, sources[1], number) or _may_consist_of(index, sources[0], number)

    def pattern(self, graph: Graph, node: Node) -> _Unchanged | None:
        x = _unchanged(node)
        return None if x is None else (node, x)

    def check(self, graph: Graph, match: _Unchanged) -> _Unchanged:
        node, x = match
        if graph.is_body and x.get_node().get_type_name() in _MAY_BE_STATES:
            raise MatchFailureError("it may be the copy of a state")
        if all(reader.get_node().get_type_name() == "Result" for reader in consumers(node.output(0))):
            raise MatchFailureError("it is a result")
        return match

    def rewrite(self, graph: Graph, plan: _Unchanged) -> Counts:
        node, x = plan
        read = [consumer for consumer in consumers(node.output(0)) if consumer.get_node().get_type_name() != "Result"]
        insert(read, x, node)
        return {"nodes": 1}


def _may_consist_of(index: Index, place: int, number: int) -> bool:
    array = index.data(place)
    if array is None or not array.size:
        return False
    return array.item(0) == number or array.dtype == np.float16  # which bfloat16 has in its place


def _may_move_nothing(index: Index, place: int) -> bool:
    dims, before = index.dims(place) or [], index.read_dims(place)
    if before is None or len(dims) != len(before):
        return False
    for dim, other in zip(dims, before, strict=True):
        if dim != other and dim is not None and other is not None:
            return False
    match index.kinds[place]:
        case "Concat":
            return len(index.sources[place]) == 1
        case "Transpose":
            return index.perm(place) == list(range(len(dims)))
    return True


def _unchanged(node: Node) -> Output | None:
    """The operand that a node computes again; None if it computes anything else, or no floats."""
    kind, x = node.get_type_name(), node.input_value(0)
    number = NEUTRAL.get(kind)
    if number is None:
        is_moved = node.get_element_type().is_real() and x.get_node().get_type_name() != "Constant"
        return x if is_moved and _moves_nothing(node, x) else None
    second = node.input_value(1)
    if _consists_of(second, number) and _is_as_wide(x, second):
        return x if node.get_element_type().is_real() else None
    if kind in ("Add", "Multiply") and _consists_of(x, number) and _is_as_wide(second, x):
        return second if node.get_element_type().is_real() else None
    return None


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


def _moves_nothing(node: Node, x: Output) -> bool:
    kind = node.get_type_name()
    if kind == "Concat" and node.get_input_size() > 1:
        return False
    dims = dims_of(x)
    if dims is None or len(dims_of(node.output(0)) or ()) != len(dims):
        return False
    if kind == "Convert":
        return x.get_element_type() == node.get_element_type()
    if kind == "Concat":
        return True
    if kind == "Transpose":
        return perm_of(node) == list(range(len(dims)))
    if kind == "Pad":
        return all(set(ints_of(node.input_value(i)) or [-1]) == {0} for i in (1, 2))
    if None not in dims and 0 not in dims and dims_of(node.output(0)) == dims:
        return kind != "Slice" or min(ints_of(node.input_value(3)) or [-1]) > 0
    if kind == "Reshape":
        return _keeps(node, dims)
    if kind == "Tile":
        return set(ints_of(node.input_value(1)) or [0]) <= {1}
    return kind == "Slice" and _cuts_nothing(node)


def _keeps(reshape: Node, dims: list[int | None]) -> bool:
    """Whether the target of a Reshape repeats the dimensions of what it reads, of which one may be the rest."""
    target, copies = target_of(reshape), reshape.get_attributes()["special_zero"]
    if target is None or len(target) != len(dims):
        return False
    pairs = zip(target, dims, strict=True)
    others = [item for item, dim in pairs if not isinstance(item, int) or (item != dim and not (copies and item == 0))]
    return not others or (len(others) == 1 and others[0] == -1)


def _cuts_nothing(node: Node) -> bool:
    starts, stops, steps = (ints_of(node.input_value(i)) for i in (1, 2, 3))
    if not starts or not stops or not steps:
        return False
    return set(starts) == {0} and set(steps) == {1} and min(stops) >= OPEN_END


drop_neutral = DropNeutral()
