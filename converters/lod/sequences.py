"""Sequences that lie one after the other in one tensor, where LoD says where each begins.

LoD is no part of an OpenVINO tensor. What is given to a model is one sequence, or comes with an input that has the
lengths (`convert(sequence_lengths=True)`); inside of a program the number of sequences is followed while all of them
have one length (`im2sequence`, `lod_reset`), and their lengths otherwise (`sequence_unpad`). Converters compute on
[count, steps, ...]: equal sequences by a Reshape, others padded.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from openvino import Node, Output, Type
from openvino.op import Constant

from paddle2ov.converters.graph.common import Tensor, cast_to, const_like, ints, output_of, shape_of
from paddle2ov.converters.indexing import exact_select
from paddle2ov.graph.opset import ops
from paddle2ov.graph.values import LoDTensor, SequenceLengths
from paddle2ov.program.model import AnyArray
from paddle2ov.translation.node_context import NodeContext

Count: TypeAlias = int | Output | SequenceLengths
"""How many sequences of one length there are, or the length of each."""

END = np.iinfo(np.int64).max
"""Behind the last one, for a slice."""


def sequences(node: NodeContext, name: str, idx: int = 0, filling: float | None = 0) -> tuple[Tensor, Count]:
    """An input [rows, ...] as [count, steps, ...]; `filling` (None: anything) stands behind the shorter ones."""
    count = node.sequence_layout(name, idx)
    return dense_of(node.get_input(name, idx), count, filling), count


def dense_of(x: Tensor, count: Count, filling: float | None = 0) -> Tensor:
    """[rows, ...] as [count, steps, ...]."""
    if not isinstance(count, SequenceLengths):
        return divided(x, count)
    lengths = cast_to(count.output, Type.i64)
    places = _places(ops.reduce_max(lengths, ints([0]), False))
    last = ops.subtract(ops.gather(shape_of(x), ints([0]), ints(0)), ints([1]))
    rows = ops.minimum(ops.add(ops.unsqueeze(begins(lengths), ints([1])), places), last)
    dense = ops.gather(x, rows, ints(0))
    return dense if filling is None else filled(dense, count, const_like(filling, dense))


def filled(dense: Tensor, count: Count, value: Tensor) -> Tensor:
    """[count, steps, ...] with `value` behind the end of each sequence."""
    if not isinstance(count, SequenceLengths):
        return dense
    out = output_of(dense)
    inner = list(range(2, len(out.get_partial_shape())))
    return exact_select(ops.unsqueeze(inside_of(out, count), ints(inner)), out, value)


def divided(x: Tensor, count: int | Output) -> Node:
    """[count * steps, ...] as [count, steps, ...]."""
    if isinstance(count, int) and count == 1:
        return ops.unsqueeze(x, ints([0]))
    number = vector(count)
    rows, rest = _rows(x)
    return ops.reshape(x, ops.concat([number, ops.divide(rows, number), rest], 0), False)


def owners(lengths: Tensor, rows: Tensor) -> Node:
    """The number of the sequence that each of the rows (their number is 0-D) belongs to, int64 [rows]."""
    ends = ops.cum_sum(cast_to(lengths, Type.i64), ints(0))
    number = ops.unsqueeze(ops.range(ints(0), rows, ints(1), "i64"), ints(1))
    return ops.reduce_sum(cast_to(ops.greater_equal(number, ends), Type.i64), ints(1), False)


def all_owners(lengths: Tensor) -> Node:
    """The number of the sequence that each row belongs to, int64 [rows]."""
    known = numbers(lengths)
    if known is not None:
        return ints(np.repeat(np.arange(known.size), known).tolist())
    return owners(lengths, ops.reduce_sum(lengths, ints([0]), False))


def numbers(x: Tensor) -> AnyArray | None:
    """The values of a constant.

    OpenVINO's CPU plugin computes constants while it compiles, and fails where their shapes depend on them.
    """
    node = x if isinstance(x, Node) else x.get_node()
    return np.asarray(node.get_data()) if isinstance(node, Constant) else None


def begins(lengths: Tensor) -> Node:
    """The first row of each sequence, int64 [count]."""
    known = numbers(lengths)
    if known is not None:
        return ints((np.cumsum(known) - known).tolist())
    return ops.cum_sum(lengths, ints(0), exclusive=True)


def joined(x: Tensor, count: Count) -> LoDTensor:
    """[count, steps, ...] as [rows, ...]."""
    if isinstance(count, SequenceLengths):
        return LoDTensor(ops.gather_nd(x, ops.transpose(ops.non_zero(inside_of(x, count), "i64"), ints([1, 0]))), count)
    if isinstance(count, int) and count == 1:
        return LoDTensor(ops.squeeze(x, ints([0])), 1)
    dims = shape_of(x)
    rows = ops.reduce_prod(part(dims, 0, 2), ints([0]), True)
    return LoDTensor(ops.reshape(x, ops.concat([rows, part(dims, 2, END)], 0), False), count)


def lengths_as(lengths: Tensor) -> SequenceLengths:
    """Lengths as what is known of sequences."""
    return SequenceLengths(output_of(lengths))


def length_of(dense: Tensor) -> Node:
    """The number of steps of [count, steps, ...], as [1]."""
    return ops.gather(shape_of(dense), ints([1]), ints(0))


def lengths_of(dense: Tensor, count: Count) -> Tensor:
    """The number of steps of each sequence of [count, steps, ...], int64 [count]."""
    if isinstance(count, SequenceLengths):
        return cast_to(count.output, Type.i64)
    return ops.broadcast(ops.squeeze(length_of(dense), ints([0])), part(shape_of(dense), 0, 1))


def reversed_steps(dense: Tensor, count: Count) -> Node:
    """[count, steps, ...] with the last step of each sequence first."""
    if isinstance(count, SequenceLengths):
        return ops.reverse_sequence(dense, count.output, 0, 1)
    return ops.slice(dense, ints([-1]), ints([-END]), ints([-1]), ints([1]))


def batch_of(node: NodeContext, name: str, length: str) -> tuple[Tensor, Tensor, Count | None]:
    """An input as [batch, steps, ...] with its lengths [batch]; and their layout if they lay one after the other."""
    if node.has_input(length):
        lengths = ops.reshape(cast_to(node.get_input(length), Type.i64), ints([-1]), False)
        return node.get_input(name), lengths, None
    x, count = sequences(node, name)
    return x, lengths_of(x, count), count


def _places(steps: Node) -> Node:
    return ops.unsqueeze(ops.range(ints(0), steps, ints(1), "i64"), ints([0]))


def inside_of(dense: Tensor, count: Count) -> Node:
    """Which steps of [count, steps, ...] are those of a sequence, boolean [count, steps]."""
    places = _places(ops.squeeze(length_of(dense), ints([0])))
    return ops.less(places, ops.unsqueeze(lengths_of(dense, count), ints([1])))


def _rows(x: Tensor) -> tuple[Node, Node]:
    dims = shape_of(x)
    return part(dims, 0, 1), part(dims, 1, END)


def part(dims: Tensor, begin: int, end: int) -> Node:
    """Some of the dimensions."""
    return ops.slice(dims, ints([begin]), ints([end]), ints([1]))


def vector(count: Count) -> Node:
    """A number of sequences as [1]."""
    if isinstance(count, SequenceLengths):
        return ops.shape_of(count.output, Type.i64)
    return ints([count]) if isinstance(count, int) else ops.reshape(count, ints([1]), False)
