"""Removes nodes that change nothing."""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.consumers import consumers
from paddle2ov.graph.node_kinds import NEUTRAL
from paddle2ov.graph.placement import MOVING, SLICING, VIEWS
from paddle2ov.graph.slices import OPEN_END
from paddle2ov.passes.constant_operands import target_of
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.index import Index, Where
from paddle2ov.passes.replacement import insert

_MOVES = ("Broadcast", "Concat", "Convert", "Pad", "Reshape", "Slice", "Tile", "Transpose")
_WHERE = Where((*NEUTRAL, *_MOVES))
_MAY_BE_STATES = frozenset(("Constant", "If", "Loop", "Parameter", "TensorIterator")) | MOVING | SLICING | VIEWS


def drop_neutral(graph: Graph) -> Counts:
    """Removes what changes nothing, such as the biases of layers that nobody trained, which are zeros.

    OpenVINO removes it as well, and merges what is then side by side. The rewrites that keep it from merging wrongly
    look for nodes that are side by side.

    Given:
        x + 0, x - 0, x * 1 or x / 1, with a Constant that does not broadcast x; or a Reshape, Broadcast, Tile, Pad,
        Slice, Transpose, Concat or Convert of x to what x is already, as far as it is known; of floats.
    Result:
        x, but for results; and in the body of a loop not where x may be in the memory of a state.
    """
    index, count = graph.index, 0  # a node changes nothing whatever becomes of the others: the index may lag behind
    for place in index.places(_WHERE):
        port = _unchanged(index, place)
        if port is None:
            continue
        node = index.nodes[place]
        x = node.input_value(port)
        if graph.is_body and x.get_node().get_type_name() in _MAY_BE_STATES:
            graph.match_failed("drop_neutral", node, "it may be the copy of a state")
            continue
        read = [reader for reader in consumers(node.output(0)) if reader.get_node().get_type_name() != "Result"]
        if read:
            insert(read, x, node)
            count += 1
        else:
            graph.match_failed("drop_neutral", node, "it is a result")
    return {"nodes": count}


def _unchanged(index: Index, place: int) -> int | None:
    """The input that a node computes again; None if it computes anything else, or no floats."""
    kinds, sources = index.kinds, index.sources[place]
    kind, port = kinds[place], None
    number = NEUTRAL.get(kind)
    if number is None:
        port = 0 if kinds[sources[0]] != "Constant" and _moves_nothing(index, place) else None
    elif kinds[sources[1]] == "Constant":
        port = 0 if index.number(sources[1]) == number and _is_as_wide(index, place, 0) else None
    elif kinds[sources[0]] == "Constant" and kind in ("Add", "Multiply"):
        port = 1 if index.number(sources[0]) == number and _is_as_wide(index, place, 1) else None
    return port if port is not None and index.nodes[place].get_element_type().is_real() else None


def _is_as_wide(index: Index, place: int, port: int) -> bool:
    """Whether the Constant that is the other input does not broadcast this one."""
    dims, others = index.read_dims(place, port), index.read_dims(place, 1 - port)
    if dims is None or others is None or len(others) > len(dims):
        return False
    return all(other in (1, dim) for dim, other in zip(reversed(dims), reversed(others), strict=False))


def _moves_nothing(index: Index, place: int) -> bool:
    kind, node = index.kinds[place], index.nodes[place]
    if not _may_move_nothing(index, place):
        return False
    dims, after = index.read_dims(place), index.dims(place)
    if dims is None or after is None or len(dims) != len(after):
        return False
    for dim, other in zip(dims, after, strict=True):
        if dim != other and dim is not None and other is not None:
            return False
    if kind in ("Concat", "Convert", "Pad", "Transpose"):
        return True
    if None not in dims and 0 not in dims and after == dims:
        return kind != "Slice" or min(index.ints(place, 3) or [-1]) > 0
    if kind == "Reshape":
        return _keeps(node, dims)
    if kind == "Tile":
        return set(index.ints(place, 1) or [0]) <= {1}
    return kind == "Slice" and _cuts_nothing(index, place)


def _may_move_nothing(index: Index, place: int) -> bool:
    """Whether a node keeps what it reads, or only its dimensions tell: asking OpenVINO for them takes longest."""
    node = index.nodes[place]
    match index.kinds[place]:
        case "Concat":
            return len(index.sources[place]) == 1
        case "Convert":
            return bool(node.get_input_element_type(0) == node.get_element_type())
        case "Pad":
            return all(set(index.ints(place, port) or [-1]) == {0} for port in (1, 2))
        case "Transpose":
            perm = index.perm(place)
            return perm is not None and perm == sorted(perm)
    return True


def _keeps(reshape: Node, dims: list[int | None]) -> bool:
    """Whether the target of a Reshape repeats the dimensions of what it reads, of which one may be the rest."""
    target, copies = target_of(reshape), reshape.get_attributes()["special_zero"]
    if target is None or len(target) != len(dims):
        return False
    pairs = zip(target, dims, strict=True)
    others = [item for item, dim in pairs if not isinstance(item, int) or (item != dim and not (copies and item == 0))]
    return not others or (len(others) == 1 and others[0] == -1)


def _cuts_nothing(index: Index, place: int) -> bool:
    starts, stops, steps = (index.ints(place, port) for port in (1, 2, 3))
    if not starts or not stops or not steps:
        return False
    return set(starts) == {0} and set(steps) == {1} and min(stops) >= OPEN_END
