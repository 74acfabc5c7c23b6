"""Sequences that lie one after the other in one tensor, where LoD says where each begins.

LoD is no part of an OpenVINO tensor. What is given to a model is one sequence; inside of a program the number of
sequences is followed as long as all of them have one length (`im2sequence`, `lod_reset`).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.common import cast_to, ints, shape_of
from paddle2ov.node_context import NodeContext
from paddle2ov.opset import ops
from paddle2ov.types import Packed

Tensor: TypeAlias = Output | Node
Count: TypeAlias = int | Output

END = np.iinfo(np.int64).max
"""Behind the last one, for a slice."""


def sequences(node: NodeContext, name: str, idx: int = 0) -> tuple[Tensor, Count]:
    """An input [count * steps, ...] as [count, steps, ...], and the number of sequences; refuses if they differ."""
    count = node.sequence_count(name, idx)
    return divided(node.get_input(name, idx), count), count


def divided(x: Tensor, count: Count) -> Node:
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


def joined(x: Tensor, count: Count) -> Packed:
    """[count, steps, ...] as [count * steps, ...]."""
    if isinstance(count, int) and count == 1:
        return Packed(ops.squeeze(x, ints([0])), 1)
    dims = shape_of(x)
    rows = ops.reduce_prod(part(dims, 0, 2), ints([0]), True)
    return Packed(ops.reshape(x, ops.concat([rows, part(dims, 2, END)], 0), False), count)


def length_of(dense: Tensor) -> Node:
    """The number of steps of [count, steps, ...], as [1]."""
    return ops.gather(shape_of(dense), ints([1]), ints(0))


def reversed_steps(dense: Tensor) -> Node:
    """[count, steps, ...] with the last step first."""
    return ops.slice(dense, ints([-1]), ints([-END]), ints([-1]), ints([1]))


def batch_of(node: NodeContext, name: str, length: str) -> tuple[Tensor, Tensor, Count | None]:
    """An input as [batch, steps, ...] with its lengths [batch]; and their number if they lay one after the other."""
    if node.has_input(length):
        lengths = ops.reshape(cast_to(node.get_input(length), Type.i64), ints([-1]), False)
        return node.get_input(name), lengths, None
    x, count = sequences(node, name)
    batch = ops.gather(shape_of(x), ints([0]), ints(0))
    return x, ops.broadcast(ops.squeeze(length_of(x), ints([0])), batch), count


def _rows(x: Tensor) -> tuple[Node, Node]:
    dims = shape_of(x)
    return part(dims, 0, 1), part(dims, 1, END)


def part(dims: Tensor, begin: int, end: int) -> Node:
    """Some of the dimensions."""
    return ops.slice(dims, ints([begin]), ints([end]), ints([1]))


def vector(count: Count) -> Node:
    """A number of sequences as [1]."""
    return ints([count]) if isinstance(count, int) else ops.reshape(count, ints([1]), False)
