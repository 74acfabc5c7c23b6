"""Sequences packed into one tensor, with the offsets of each in its LoD.

OpenVINO tensors have no LoD. An input of a model is one sequence, or comes with another input that holds the lengths
(`convert(sequence_lengths=True)`). Inside a program the converters track the number of sequences while all have the
same length (`im2sequence`, `lod_reset`), and otherwise their lengths (`sequence_unpad`). Converters compute on dense
tensors [count, steps, ...]: sequences of equal length are reshaped, others padded. Recurrences
over a few sequences take one row after the other (`is_by_row`): their steps have known shapes.
"""

from __future__ import annotations

from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const_like, folded
from paddle2ov.converters.graph.dims import dim_range, dim_vector, index_range
from paddle2ov.converters.graph.exact import join_halves, split_halves
from paddle2ov.converters.graph.selection import exact_select
from paddle2ov.graph import arrays
from paddle2ov.graph.constants import constant_of
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.slices import OPEN_END, reverse_along, slice_along
from paddle2ov.graph.values import LoDTensor, SequenceLayout, SequenceLengths
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NodeContext


def dense_input(node: NodeContext, name: str, idx: int = 0, filling: float | None = 0) -> tuple[Tensor, SequenceLayout]:
    """An input [rows, ...] as [count, steps, ...], shorter sequences padded with `filling` (None: any value)."""
    layout = node.sequence_layout(name, idx)
    return to_dense(node.get_input(name, idx), layout, filling), layout


def to_dense(x: Tensor, layout: SequenceLayout, filling: float | None = 0) -> Tensor:
    """[rows, ...] as [count, steps, ...]."""
    if not isinstance(layout, SequenceLengths):
        return split_equal(x, layout)
    lengths = cast_to(layout.output, Type.i64)
    indices = _step_indices(ops.reduce_max(lengths, ints([0]), False))
    last = ops.subtract(dim_vector(x, [0]), ints([1]))
    rows = ops.minimum(ops.add(ops.unsqueeze(row_starts(lengths), ints([1])), indices), last)
    dense = ops.gather(x, rows, ints(0))
    return dense if filling is None else fill_padding(dense, layout, const_like(filling, dense))


def fill_padding(dense: Tensor, layout: SequenceLayout, value: Tensor) -> Tensor:
    """[count, steps, ...] with each sequence padded with `value`."""
    if not isinstance(layout, SequenceLengths):
        return dense
    out = output_of(dense)
    inner = list(range(2, len(out.get_partial_shape())))
    return exact_select(ops.unsqueeze(step_mask(out, layout), ints(inner)), out, value)


def split_equal(x: Tensor, count: int | Output) -> Node:
    """[count * steps, ...] as [count, steps, ...]."""
    if isinstance(count, int) and count == 1:
        return ops.unsqueeze(x, ints([0]))
    number = count_vector(count)
    steps = ops.divide(dim_vector(x, [0]), number)
    return ops.reshape(x, ops.concat([number, steps, dim_range(x, 1)], 0), False)


def all_segment_ids(lengths: Tensor) -> Node:
    """The index of the sequence that each row belongs to, int64 [rows]."""
    known = constant_of(output_of(lengths))
    if known is not None:  # OpenVINO's CPU plugin folds when it compiles, and fails where shapes depend on it
        return ints(arrays.repeat(arrays.arange(known.size), known).tolist())
    return segment_ids(lengths, ops.reduce_sum(lengths, ints([0]), False))


def segment_ids(lengths: Tensor, rows: Tensor) -> Node:
    """The index of the segment that each row belongs to, int64 [rows]; `rows` is their number, 0-D."""
    ends = ops.cum_sum(cast_to(lengths, Type.i64), ints(0))
    number = ops.unsqueeze(index_range(rows), ints(1))
    return ops.reduce_sum(cast_to(ops.greater_equal(number, ends), Type.i64), ints(1), False)


def row_starts(lengths: Tensor) -> Node:
    """The first row of each sequence, int64 [count]."""
    return folded(ops.cum_sum(lengths, ints(0), exclusive=True))


def from_dense(x: Tensor, layout: SequenceLayout) -> LoDTensor:
    """[count, steps, ...] as [rows, ...]."""
    return LoDTensor(rows_of_dense(x, layout), layout)


def rows_of_dense(x: Tensor, layout: SequenceLayout) -> Node:
    """The same, without the mark of sequences."""
    if isinstance(layout, SequenceLengths):
        return ops.gather_nd(x, ops.transpose(ops.non_zero(step_mask(x, layout), "i64"), ints([1, 0])))
    if isinstance(layout, int) and layout == 1:
        return ops.squeeze(x, ints([0]))
    rows = ops.reduce_prod(dim_vector(x, [0, 1]), ints([0]), True)
    return ops.reshape(x, ops.concat([rows, dim_range(x, 2)], 0), False)


def lod_of_lengths(lengths: Tensor) -> SequenceLengths:
    """Lengths as the LoD of a value."""
    return SequenceLengths(output_of(lengths))


def padded_length(dense: Tensor) -> Node:
    """The dimension `steps` of [count, steps, ...], as [1]."""
    return dim_vector(dense, [1])


def padded_lengths(dense: Tensor, layout: SequenceLayout) -> Tensor:
    """The number of steps of each sequence of [count, steps, ...], int64 [count]."""
    if isinstance(layout, SequenceLengths):
        return cast_to(layout.output, Type.i64)
    return ops.broadcast(ops.squeeze(padded_length(dense), ints([0])), dim_vector(dense, [0]))


def reverse_sequences(dense: Tensor, layout: SequenceLayout) -> Node:
    """[count, steps, ...] with the steps of each sequence reversed."""
    if not isinstance(layout, SequenceLengths):
        return reverse_along(dense, [1])
    if output_of(dense).get_element_type() in (Type.i32, Type.i64):
        return _reverse_integers(dense, layout.output)
    return ops.reverse_sequence(dense, layout.output, 0, 1)


@works_around("integers_reversed_in_float32")
def _reverse_integers(dense: Tensor, lengths: Output) -> Node:
    """The same of integers, whose halves of 16 bits are reversed apart.

    OpenVINO's CPU plugin (2026.4) reverses sequences of integers as float32, in which those beyond 24 bits are rounded.
    """
    upper, lower = (ops.reverse_sequence(half, lengths, 0, 1) for half in split_halves(dense))
    return join_halves(upper, lower)


def batch_input(node: NodeContext, name: str, length: str) -> tuple[Tensor, Tensor, SequenceLayout | None]:
    """An input as [batch, steps, ...] with its lengths [batch]; and its layout if it was packed."""
    if node.has_input(length):
        lengths = ops.reshape(cast_to(node.get_input(length), Type.i64), ints([-1]), False)
        return node.get_input(name), lengths, None
    x, layout = dense_input(node, name)
    return x, padded_lengths(x, layout), layout


def _step_indices(steps: Node) -> Node:
    return ops.unsqueeze(index_range(steps), ints([0]))


def step_mask(dense: Tensor, layout: SequenceLayout) -> Node:
    """Which steps of [count, steps, ...] are not padding, boolean [count, steps]."""
    indices = _step_indices(ops.squeeze(padded_length(dense), ints([0])))
    return ops.less(indices, ops.unsqueeze(padded_lengths(dense, layout), ints([1])))


def count_vector(layout: SequenceLayout) -> Node:
    """The number of sequences as [1]."""
    if isinstance(layout, SequenceLengths):
        return ops.shape_of(layout.output, Type.i64)
    return ints([layout]) if isinstance(layout, int) else ops.reshape(layout, ints([1]), False)


def is_by_row(layout: SequenceLayout) -> bool:
    """Whether recurrences over sequences are computed row by row."""
    return layout.few if isinstance(layout, SequenceLengths) else isinstance(layout, int) and layout == 1


def goes_on(continuation: Tensor) -> Node:
    """What `continuations` says of a row, as a boolean."""
    return ops.greater(continuation, const_like(0, continuation))


def continuations(x: Tensor, layout: SequenceLengths) -> tuple[Node, Node]:
    """Whether each row of x [rows, ...] goes on from the row before, and the next one from it: 1 or 0, [rows, 1].

    They are of x's type: OpenVINO's CPU plugin takes longer for the booleans of a loop than for a step.
    """
    none, all_rows = (
        ops.reshape(const_like(0, x), ints([1]), False),
        ops.broadcast(const_like(1, x), dim_vector(x, [0])),
    )
    starts = row_starts(cast_to(layout.output, Type.i64))
    begins = ops.broadcast(none, ops.shape_of(starts, Type.i64))
    inside = ops.scatter_update(ops.concat([all_rows, none], 0), starts, begins, ints(0))
    inside = ops.unsqueeze(inside, ints([1]))
    return slice_along(inside, ints([0]), ints([-1]), 0), slice_along(inside, ints([1]), ints([OPEN_END]), 0)
