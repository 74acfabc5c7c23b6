"""Functions of the opset that emit other nodes where OpenVINO computes the usual ones wrongly."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from openvino import Node, Output, Type
from openvino.op import Constant

from paddle2ov.graph.guards import check_reshape
from paddle2ov.graph.node_factory import NodeInput
from paddle2ov.graph.quick_nodes import plain
from paddle2ov.graph.shapes import parsed
from paddle2ov.graph.size_bounds import logical_not
from paddle2ov.graph.upstream import depends_on_data, source_behind
from paddle2ov.graph.workarounds import works_around
from paddle2ov.typing import AnyArray

_WIDE = 2**25  # the most elements of an axis that is sliced by steps of 64 up to the limit of int32


@works_around("greater_than_nan")
def greater(left: NodeInput, right: NodeInput, auto_broadcast: str = "NUMPY") -> Node:
    # OpenVINO's Greater and GreaterEqual, compiled for AVX-512, are true for NaN and any number.
    return plain.less(right, left, auto_broadcast)


@works_around("greater_than_nan")
def greater_equal(left: NodeInput, right: NodeInput, auto_broadcast: str = "NUMPY") -> Node:
    return plain.less_equal(right, left, auto_broadcast)


@works_around("reshape_of_matmul_to_number")
def reshape(node: NodeInput, output_shape: NodeInput, special_zero: bool) -> Node:
    made = plain.reshape(node, output_shape, special_zero)
    if special_zero:
        check_reshape(made)
    if made.get_output_partial_shape(0).to_string() == "[]":
        # OpenVINO's CPU plugin (2026.4) crashes on a product of matrices that is reshaped to rank 0.
        rank = made.get_input_partial_shape(0).rank
        if rank.is_static and rank.get_length() > 0:
            return plain.squeeze(node, np.arange(rank.get_length()))
    return made


@works_around("broadcast_to_ones", "broadcast_to_number")
def broadcast(
    data: NodeInput, target_shape: NodeInput, axes_mapping: NodeInput | None = None, broadcast_spec: str = "NUMPY"
) -> Node:
    made = plain.broadcast(data, target_shape, axes_mapping, broadcast_spec)
    if made.get_output_partial_shape(0).rank == 0:
        # OpenVINO's CPU plugin (2026.4) crashes on a Broadcast to rank 0.
        return reshape(data, np.array([], np.int64), False)
    if isinstance(made, Constant):
        return made
    ranks = made.get_input_partial_shape(0).rank, made.get_output_partial_shape(0).rank
    if broadcast_spec == "BIDIRECTIONAL" and all(rank.is_static for rank in ranks):
        missing = ranks[1].get_length() - ranks[0].get_length()
        if missing:  # OpenVINO (2026.4) eliminates a Broadcast of reshaped data to ones, even if it adds axes.
            return plain.broadcast(plain.unsqueeze(data, np.arange(missing)), target_shape, None, broadcast_spec)
    return made


@works_around("select_of_its_condition", "select_of_another_condition")
def select(cond: NodeInput, then_node: NodeInput, else_node: NodeInput, auto_broadcast: str = "numpy") -> Node:
    made = plain.select(cond, then_node, else_node, auto_broadcast)
    if made.get_output_element_type(0) != Type.boolean:
        return made
    # OpenVINO's CPU plugin (2026.4) turns booleans into bytes, except conditions: a node that is both gets lost.
    chosen = plain.logical_and(cond, then_node)
    return plain.logical_or(chosen, plain.logical_and(logical_not(cond), else_node))


@works_around("size_of_open_slice_in_32_bits")
def slice_(data: NodeInput, start: NodeInput, stop: NodeInput, step: NodeInput, axes: NodeInput | None = None) -> Node:
    made = plain.slice(data, start, stop, step, axes)
    if ".." not in made.get_output_partial_shape(0).to_string():
        return made
    stops, steps = made.input_value(2).get_node(), made.input_value(3).get_node()
    # An end of 2^31 - 1 bounds an unknown size, and OpenVINO (2026.4) computes with that bound in 32 bits.
    if not isinstance(stops, Constant):
        # Only an end at the limit of int32 bounds a dimension so high.
        if not any(dim.is_dynamic and dim.get_max_length() >= _WIDE for dim in made.get_output_partial_shape(0)):
            return made
        return plain.slice(data, start, _computed_open_ends(made.input_value(2)), step, axes)
    if not isinstance(steps, Constant):
        return made
    stop, strides = _open_ends(stops.get_data()), steps.get_data()
    if strides.min() >= -1:
        return plain.slice(data, start, stop, strides, axes)
    backwards = plain.slice(data, start, stop, np.maximum(strides, -1), axes)
    ends = np.full(len(strides), np.iinfo(np.int64).max)
    return plain.slice(backwards, np.zeros(len(strides), np.int64), ends, np.maximum(-strides, 1), axes)


def _computed_open_ends(stops: Output) -> Node:
    """The same as `_open_ends`, of a tensor: of the constants among those that it joins, if it joins some."""
    node = stops.get_node()
    if node.get_type_name() == "Concat" and stops.get_element_type() == Type.i64:
        parts = [(part, _constant_ends(part)) for part in node.input_values()]
        if any(ends is not None for _, ends in parts):
            return plain.concat([part if ends is None else plain.constant(ends) for part, ends in parts], 0)
    narrow, wide = np.iinfo(np.int32), np.iinfo(np.int64)
    ends = plain.convert(stops, Type.i64)
    ends = select(plain.less_equal(ends, np.int64(narrow.min)), np.int64(wide.min), ends)
    return select(greater_equal(ends, np.int64(narrow.max)), np.int64(wide.max), ends)


def _constant_ends(part: Output) -> AnyArray | None:
    """The open ends of a Constant, possibly converted or reshaped to a vector; None for what is computed."""
    node = source_behind(part, ("Convert", "Reshape", "Unsqueeze"))
    return _open_ends(node.get_data().reshape(-1)) if isinstance(node, Constant) else None


def _open_ends(stops: AnyArray) -> AnyArray:
    """The ends of a Slice as int64; those at the limits of int32 or beyond become the limits of int64."""
    narrow, wide = np.iinfo(np.int32), np.iinfo(np.int64)
    stops = stops.astype(np.int64)
    return np.where(stops >= narrow.max, wide.max, np.where(stops <= narrow.min, wide.min, stops))


@works_around("gather_of_unsqueezed_axis")
def gather(data: NodeInput, indices: NodeInput, axis: NodeInput, batch_dims: int = 0) -> Node:
    made = plain.gather(data, indices, axis, batch_dims)
    if isinstance(made, Constant):
        return made
    if _may_read_beyond(made):
        table, axis_of_one = plain.unsqueeze(data, np.int64(1)), np.int64(-1)
        return plain.squeeze(plain.gather(table, indices, np.int64(0), 0), axis_of_one)
    if _is_squeeze(made):
        return plain.squeeze(data, axis)
    place = None if batch_dims else _single_axis(made)
    return made if place is None else _repeated(made.input_value(0), list(made.get_input_shape(1)), place)


@works_around("gather_out_of_vector")
def _may_read_beyond(gather: Node) -> bool:
    """Whether a Gather takes integers of a vector by indices that may be out of range.

    OpenVINO's CPU plugin (2026.4) reads memory beyond a short one; of other data it takes zeros.
    """
    if gather.get_element_type() not in (Type.i32, Type.i64):
        return False
    text = gather.get_input_partial_shape(0).to_string()
    if "," in text or text in ("[]", "[...]"):
        return False
    return "?" in text or ".." in text or not isinstance(gather.input_value(1).get_node(), Constant)


@works_around("gather_before_transpose")
def _is_squeeze(gather: Node) -> bool:
    """Whether a Gather takes the only element of an axis by one index, of a tensor of three axes or more.

    OpenVINO (2026.4) makes a Squeeze of it, and moves that behind a Transpose that an Unsqueeze reads: whatever else
    reads the Transpose gets an axis more.
    """
    index, axis = gather.input_value(1).get_node(), gather.input_value(2).get_node()
    if not (isinstance(index, Constant) and isinstance(axis, Constant)) or len(gather.get_input_partial_shape(1)):
        return False
    text = gather.get_input_partial_shape(0).to_string()
    data = parsed(text) if "1" in text else None
    if data is None or len(data) < 3 or data[int(axis.get_data().reshape(-1)[0])] != 1:
        return False
    return int(index.get_data().reshape(-1)[0]) in (0, -1)


@works_around("gather_of_unsqueezed_axis")
def _single_axis(gather: Node) -> int | None:
    """The axis along which a Gather takes elements, if that has size 1 and the indices are constant and not a scalar.

    OpenVINO (2026.4) eliminates such a Gather, and with it the axes of the indices, if an Unsqueeze added the axis.
    """
    text = gather.get_input_partial_shape(0).to_string()
    data = parsed(text) if "1" in text else None
    if data is None or 1 not in data or not isinstance(axis := gather.input_value(2).get_node(), Constant):
        return None
    place = int(axis.get_data().reshape(-1)[0]) % len(data)
    indices = gather.get_input_partial_shape(1)
    if data[place] != 1 or indices.is_dynamic or indices.rank == 0 or depends_on_data(gather.input_value(1).get_node()):
        return None
    return place


def _repeated(data: Output, counts: Sequence[int], axis: int) -> Node:
    """`data`, repeated along an axis of size 1; several counts give several axes in its place."""
    if len(counts) > 1:
        data = plain.unsqueeze(data, np.arange(axis, axis + len(counts) - 1)).output(0)
    target = np.ones(data.get_partial_shape().rank.get_length(), np.int64)
    target[axis : axis + len(counts)] = counts
    return broadcast(data, target, None, "BIDIRECTIONAL")


SAFE: dict[str, Callable[..., Node]] = {
    function.__name__.rstrip("_"): function
    for function in (broadcast, gather, greater, greater_equal, reshape, select, slice_)
}
"""These functions, by their names in the opset."""

__all__ = ["SAFE"]
