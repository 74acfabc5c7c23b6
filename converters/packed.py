"""Sequences that lie one after the other in one tensor, where LoD says where each begins.

Paddle: the `sequence_*` operators (but `sequence_mask`), `lod_reset`, `fused_embedding_seq_pool`,
`fusion_seqpool_concat`.
Semantics: `paddle/fluid/operators/sequence_ops/*_op.h`, `paddle/fluid/operators/lod_reset_op.h`,
`paddle/fluid/operators/fused/fused_embedding_seq_pool_op.h` of Paddle 2.6,
`paddle/phi/kernels/funcs/sequence_pooling.cc`.
LoD is no part of an OpenVINO tensor. What is given to a model is one sequence; inside of a program the number of
sequences is followed as long as all of them have one length (`im2sequence`, `lod_reset`).
Refused: sequences of different or unknown lengths, two levels of LoD, trainable padding of `sequence_conv`.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.common import cast_to, const, const_like, ints, rank_of, shape_of
from paddle2ov.node_context import NamedOutputs, NodeContext
from paddle2ov.opset import ops
from paddle2ov.types import Packed

Tensor: TypeAlias = Output | Node
Count: TypeAlias = int | Output

_END = np.iinfo(np.int64).max


def sequences(node: NodeContext, name: str, idx: int = 0) -> tuple[Tensor, Count]:
    """An input [count * steps, ...] as [count, steps, ...], and the number of sequences; refuses if they differ."""
    count = node.sequence_count(name, idx)
    return divided(node.get_input(name, idx), count), count


def divided(x: Tensor, count: Count) -> Node:
    """[count * steps, ...] as [count, steps, ...]."""
    if isinstance(count, int) and count == 1:
        return ops.unsqueeze(x, ints([0]))
    number = _vector(count)
    rows, rest = _rows(x)
    return ops.reshape(x, ops.concat([number, ops.divide(rows, number), rest], 0), False)


def joined(x: Tensor, count: Count) -> Packed:
    """[count, steps, ...] as [count * steps, ...]."""
    if isinstance(count, int) and count == 1:
        return Packed(ops.squeeze(x, ints([0])), 1)
    dims = shape_of(x)
    rows = ops.reduce_prod(_part(dims, 0, 2), ints([0]), True)
    return Packed(ops.reshape(x, ops.concat([rows, _part(dims, 2, _END)], 0), False), count)


def length_of(dense: Tensor) -> Node:
    """The number of steps of [count, steps, ...], as [1]."""
    return ops.gather(shape_of(dense), ints([1]), ints(0))


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
    return _part(dims, 0, 1), _part(dims, 1, _END)


def _part(dims: Tensor, begin: int, end: int) -> Node:
    return ops.slice(dims, ints([begin]), ints([end]), ints([1]))


def _vector(count: Count) -> Node:
    return ints([count]) if isinstance(count, int) else ops.reshape(count, ints([1]), False)


def _times(count: Count, more: Tensor) -> Count:
    return ops.multiply(_vector(count), more).output(0)


def lod_reset(node: NodeContext) -> NamedOutputs:
    """out = x as sequences that begin at target_lod, or at those of y, or at y."""
    x = node.get_input("x")
    if node.has_sequences("y"):
        return {"out": Packed(x, node.sequence_count("y"))}
    if not node.is_known("y"):
        return {"out": Packed(x, None)}
    begins = node.get_constant("y").reshape(-1) if node.has_input("y") else np.asarray(node.get_ints("target_lod", []))
    node.require(begins.size > 1, "two numbers or more are expected", target_lod=begins.tolist())
    lengths = np.diff(begins)
    equal = not node.get_attribute("append", False) and bool((lengths == lengths[0]).all())
    return {"out": Packed(x, int(lengths.size) if equal else None)}


def sequence_pool(node: NodeContext) -> NamedOutputs:
    """out = sum, average, sum / sqrt(steps), maximum, first or last step of each sequence."""
    return {"out": Packed(_pooled(node, sequences(node, "x")[0]), 0)}


def fusion_seqpool_concat(node: NodeContext) -> NamedOutputs:
    """out = the pooled sequences of all inputs, side by side."""
    axis = node.get_int("axis", 1)
    node.require(axis == 1, "only 1 is supported", axis=axis)
    pooled = [_pooled(node, sequences(node, "x", i)[0], "SUM") for i in range(node.get_input_size("x"))]
    return {"out": Packed(ops.concat(pooled, 1), 0)}


def fused_embedding_seq_pool(node: NodeContext) -> NamedOutputs:
    """out = for each column of ids the sum of the rows of w that a sequence names; padding_idx counts as zeros."""
    combiner = node.get_attribute("combiner", "sum")
    node.require(combiner == "sum", "only 'sum' is supported", combiner=combiner)
    ids, _ = sequences(node, "ids")
    table = node.get_input("w")
    rows: Tensor = ops.gather(table, ids, ints(0))  # [count, steps, columns, width]
    padding = node.get_int("padding_idx", -1)
    if padding != -1:
        kept = ops.unsqueeze(ops.not_equal(ids, const_like(padding, ids)), ints([-1]))
        rows = ops.select(kept, rows, const_like(0, table))
    total = ops.reduce_sum(rows, ints([1]), False)
    return {"out": Packed(ops.reshape(total, ints([0, -1]), True), 0)}


def _pooled(node: NodeContext, x: Tensor, default: str = "AVERAGE") -> Node:
    # `pad_value` is for sequences without steps, and of equal ones none is empty: Paddle wants a row for each of them.
    kind = node.get_attribute("pooltype", default)
    if kind in ("FIRST", "LAST"):
        return ops.gather(x, ints(0 if kind == "FIRST" else -1), ints(1))
    if kind in ("MAX", "AVERAGE"):
        return (ops.reduce_max if kind == "MAX" else ops.reduce_mean)(x, ints([1]), False)
    node.require(kind in ("SUM", "SQRT"), "unknown", pooltype=kind)
    total = ops.reduce_sum(x, ints([1]), False)
    return total if kind == "SUM" else ops.divide(total, ops.sqrt(ops.convert(length_of(x), x.get_element_type())))


def _step_like(x: Tensor, value: Tensor, steps: int = 1) -> Node:
    """`value` in the shape of x with the given number of steps."""
    dims = shape_of(x)
    return ops.broadcast(value, ops.concat([_part(dims, 0, 1), ints([steps]), _part(dims, 2, _END)], 0))


def sequence_softmax(node: NodeContext) -> NamedOutputs:
    """out = softmax over the steps of each sequence, whose steps are single numbers."""
    x, count = sequences(node, "x")
    return {"out": joined(ops.softmax(x, 1), count)}


def sequence_reverse(node: NodeContext) -> NamedOutputs:
    """y = each sequence read backwards."""
    x, count = sequences(node, "x")
    return {"y": joined(reversed_steps(x), count)}


def reversed_steps(dense: Tensor) -> Node:
    """[count, steps, ...] with the last step first."""
    return ops.slice(dense, ints([-1]), ints([-_END]), ints([-1]), ints([1]))


def sequence_concat(node: NodeContext) -> NamedOutputs:
    """out = the first sequences of all inputs one after the other, then the second ones, ..."""
    every = [sequences(node, "x", i) for i in range(node.get_input_size("x"))]
    return {"out": joined(ops.concat([x for x, _ in every], 1), every[0][1])}


def sequence_reshape(node: NodeContext) -> NamedOutputs:
    """out = the same numbers in steps of new_dim."""
    x, count = node.get_input("x"), node.sequence_count("x")
    return {"out": Packed(ops.reshape(x, ints([-1, node.get_int("new_dim")]), False), count)}


def sequence_pad(node: NodeContext) -> NamedOutputs:
    """out [count, padded_length, ...] = the sequences with steps of pad_value behind them; and their lengths."""
    x, _ = sequences(node, "x")
    steps, wanted = length_of(x), node.get_int("padded_length", -1)
    lengths = ops.broadcast(ops.squeeze(steps, ints([0])), _part(shape_of(x), 0, 1))
    if wanted == -1:
        return {"out": Packed(x, 0), "length": Packed(lengths, 0)}
    value = cast_to(node.get_input("pad_value"), x.get_element_type())
    size = value.get_partial_shape()
    scalar = size.is_static and math.prod(int(dim) for dim in size.to_shape()) == 1
    filling = _step_like(x, ops.reshape(value, ints([]), False) if scalar else value, wanted)
    both = ops.concat([x, filling], 1)
    return {
        "out": Packed(ops.slice(both, ints([0]), ints([wanted]), ints([1]), ints([1])), 0),
        "length": Packed(lengths, 0),
    }


def sequence_unpad(node: NodeContext) -> NamedOutputs:
    """out = the first length[i] steps of each x[i], one after the other."""
    x, lengths = node.get_input("x"), node.get_input("length")
    batch = x.get_partial_shape()[0]
    known = node.get_known("length")
    count: int | None = 1 if batch.is_static and batch.get_length() == 1 else None
    if known is not None and known.size and (known == known.flat[0]).all():
        count = int(known.size)
    places = ops.range(ints(0), ops.squeeze(length_of(x), ints([0])), ints(1), "i64")
    inside = ops.less(places, ops.unsqueeze(cast_to(lengths, Type.i64), ints([1])))
    if rank_of(node, x) == 2:
        x = ops.unsqueeze(x, ints([2])).output(0)
    chosen = ops.transpose(ops.non_zero(inside, "i64"), ints([1, 0]))
    return {"out": Packed(ops.gather_nd(x, chosen), count)}


def sequence_slice(node: NodeContext) -> NamedOutputs:
    """out = length steps from offset on, of one sequence."""
    count = node.sequence_count("x")
    node.require(isinstance(count, int) and count == 1, "more than one sequence has slices of different lengths")
    begin, length = (
        ops.reshape(cast_to(node.get_input(name), Type.i64), ints([1]), False) for name in ("offset", "length")
    )
    x = node.get_input("x")
    return {"out": Packed(ops.slice(x, begin, ops.add(begin, length), ints([1]), ints([0])), 1)}


def sequence_expand(node: NodeContext) -> NamedOutputs:
    """out = sequence i of x (or its row, without LoD) as often as sequence i of y has steps."""
    level = node.get_int("ref_level", -1)
    node.require(level in (-1, 0), "only one level of LoD is supported", ref_level=level)
    y, count = sequences(node, "y")
    repeats = length_of(y)
    if not node.has_sequences("x"):
        return {"out": Packed(_repeated(ops.unsqueeze(node.get_input("x"), ints([1])), repeats), 0)}
    x, _ = sequences(node, "x")
    return {"out": Packed(_repeated(x, repeats), _times(count, repeats))}


def _repeated(x: Tensor, repeats: Tensor) -> Node:
    """[count, steps, ...] with each sequence repeated, as [count * repeats * steps, ...]."""
    dims = shape_of(x)
    batch, rest = _part(dims, 0, 1), _part(dims, 1, _END)
    spread = ops.broadcast(ops.unsqueeze(x, ints([1])), ops.concat([batch, repeats, rest], 0))
    rows = ops.multiply(ops.multiply(batch, repeats), _part(dims, 1, 2))
    return ops.reshape(spread, ops.concat([rows, _part(dims, 2, _END)], 0), False)


def sequence_expand_as(node: NodeContext) -> NamedOutputs:
    """out = row i of x as often as sequence i of y has steps."""
    y, count = sequences(node, "y")
    x = ops.unsqueeze(node.get_input("x"), ints([1]))
    return {"out": Packed(_repeated(x, length_of(y)), count)}


def sequence_conv(node: NodeContext) -> NamedOutputs:
    """out[t] = [x[t + start], ..., x[t + start + length - 1]] @ filter; zeros outside of the sequence."""
    x, count = sequences(node, "x")
    stride, length = node.get_int("contextStride", 1), node.get_int("contextLength")
    node.require(stride == 1, "only 1 is supported", contextStride=stride)
    node.require(not node.get_attribute("paddingTrainable", False), "is not supported", paddingTrainable=True)
    return {"out": joined(windows(node, x, "filter", node.get_int("contextStart", 0), length), count)}


def windows(node: NodeContext, x: Tensor, name: str, start: int, length: int) -> Node:
    """[count, steps, width] convolved with the filter [length * width, out], as `sequence_conv` does."""
    declared = node.input_shape(name)
    if declared is None or min(declared) < 0:
        node.refuse("the shape of the filter must be known")
    width = declared[0] // length
    filters = ops.transpose(node.get_reshaped(name, [length, width, declared[1]]), ints([2, 1, 0]))
    # Negative padding, for a window that begins behind its step, cuts steps off.
    channels = ops.transpose(x, ints([0, 2, 1]))
    padded = ops.pad(
        channels, ints([0, 0, -start]), ints([0, 0, start + length - 1]), "constant", const_like(0, channels)
    )
    return ops.transpose(ops.convolution(padded, filters, [1], [0], [0], [1]), ints([0, 2, 1]))


def sequence_enumerate(node: NodeContext) -> NamedOutputs:
    """out[t, k] = x[t + k] for k < win_size; pad_value behind the end of the sequence."""
    x, count = sequences(node, "x")
    size = node.get_int("win_size")
    flat = ops.squeeze(x, ints([2]))
    pad = const_like(node.get_int("pad_value", 0), x)
    padded = ops.pad(flat, ints([0, 0]), ints([0, size - 1]), "constant", pad)
    places = ops.range(ints(0), ops.squeeze(length_of(x), ints([0])), ints(1), "i64")
    each = ops.add(ops.unsqueeze(places, ints([1])), ints(list(range(size))))
    return {"out": joined(ops.gather(padded, each, ints(1)), count)}


def sequence_erase(node: NodeContext) -> NamedOutputs:
    """out = x without the tokens."""
    x, tokens = node.get_input("x"), node.get_ints("tokens")
    alone = node.has_sequences("x") and node.sequence_count("x") == 1
    if not tokens:
        return {"out": x}
    flat = ops.reshape(x, ints([-1]), False)
    kept = ops.reduce_logical_and(
        ops.not_equal(ops.unsqueeze(flat, ints([1])), const(tokens, x.get_element_type())), ints([1]), False
    )
    chosen = ops.squeeze(ops.non_zero(kept, "i64"), ints([0]))
    return {"out": Packed(ops.unsqueeze(ops.gather(flat, chosen, ints(0)), ints([1])), 1 if alone else None)}


def sequence_scatter(node: NodeContext) -> NamedOutputs:
    """out = x with updates added to the elements of row i that sequence i of ids names."""
    x = node.get_input("x")
    ids, count = sequences(node, "ids")
    dims = ops.concat([_vector(count), ints([-1])], 0)
    places = ops.reshape(ids, dims, False)
    updates = ops.reshape(node.get_input("updates"), dims, False)
    out = ops.scatter_elements_update(x, places, cast_to(updates, x.get_element_type()), ints(1), reduction="sum")
    return {"out": out}
