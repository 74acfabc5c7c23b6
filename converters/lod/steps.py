"""Sequence operators on steps: reversing, slicing, concatenating, repeating, padding.

Paddle: `lod_reset`, `sequence_reverse`, `sequence_concat`, `sequence_reshape`, `sequence_pad`, `sequence_unpad`,
`sequence_slice`, `sequence_expand`, `sequence_expand_as`, `sequence_erase`, `sequence_scatter`,
`fusion_seqexpand_concat_fc`.
Semantics: `paddle/fluid/operators/lod_reset_op.h`, and `paddle/fluid/operators/sequence_ops/*_op.h`,
`paddle/fluid/operators/fused/fusion_seqexpand_concat_fc_op.cc` of Paddle 2.6.
Refused: sequences of unknown LoD (see `paddle2ov.converters.lod.sequences`), two levels of LoD.
"""

from __future__ import annotations

import math

import numpy as np
from openvino import Node, Type

from paddle2ov.converters.fused.activation import apply_activation
from paddle2ov.converters.graph.common import Tensor, cast_to, const, folded
from paddle2ov.converters.graph.dims import dim_of, dim_range, dim_vector, index_range, rank_of, shape_of
from paddle2ov.converters.lod.sequences import (
    all_segment_ids,
    count_vector,
    dense_input,
    fill_padding,
    from_dense,
    lod_of_lengths,
    padded_length,
    padded_lengths,
    reverse_sequences,
    row_starts,
    segment_ids,
    step_mask,
    to_dense,
)
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.graph.values import NO_LOD, UNKNOWN_LOD, LoDTensor, SequenceLayout, SequenceLengths
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def lod_reset(node: NodeContext) -> NamedOutputs:
    """out = x with the offsets of target_lod, of the LoD of y, or of the values of y."""
    x = node.get_input("x")
    if node.has_sequences("y"):
        return {"out": LoDTensor(x, node.sequence_layout("y"))}
    if not node.is_known("y"):
        offsets = ops.reshape(cast_to(node.get_input("y"), Type.i64), ints([-1]), False)
        later, earlier = (slice_along(offsets, ints([i]), ints([end]), 0) for i, end in ((1, OPEN_END), (0, -1)))
        lengths_later = ops.subtract(later, earlier)
        return {"out": LoDTensor(x, SequenceLengths(lengths_later.output(0)))}
    begins = node.get_constant("y").reshape(-1) if node.has_input("y") else np.asarray(node.get_ints("target_lod", []))
    node.require(begins.size > 1, "two numbers or more are expected", target_lod=begins.tolist())
    lengths = np.diff(begins)
    if node.get_bool("append", False):
        return {"out": LoDTensor(x, UNKNOWN_LOD)}
    equal = bool((lengths == lengths[0]).all())
    return {"out": LoDTensor(x, int(lengths.size) if equal else SequenceLengths(ints(lengths.tolist()).output(0)))}


def sequence_reverse(node: NodeContext) -> NamedOutputs:
    """y = x with the steps of each sequence reversed."""
    x, layout = dense_input(node, "x", filling=None)
    return {"y": from_dense(reverse_sequences(x, layout), layout)}


def sequence_concat(node: NodeContext) -> NamedOutputs:
    """out = the first sequences of all inputs one after the other, then the second ones, ..."""
    every = [dense_input(node, "x", i, None) for i in range(node.get_input_size("x"))]
    joint = ops.concat([x for x, _ in every], 1)
    if not any(isinstance(layout, SequenceLengths) for _, layout in every):
        return {"out": from_dense(joint, every[0][1])}
    inside = ops.concat([step_mask(*item) for item in every], 1)
    total: Tensor = padded_lengths(*every[0])
    for item in every[1:]:
        total = ops.add(total, padded_lengths(*item))
    rows = ops.gather_nd(joint, ops.transpose(ops.non_zero(inside, "i64"), ints([1, 0])))
    return {"out": LoDTensor(rows, lod_of_lengths(total))}


def sequence_reshape(node: NodeContext) -> NamedOutputs:
    """out = x reshaped to [-1, new_dim], sequence by sequence."""
    x, layout, wide = node.get_input("x"), node.sequence_layout("x"), node.get_int("new_dim")
    if isinstance(layout, SequenceLengths):
        width = dim_of(x, 1)
        layout = lod_of_lengths(ops.divide(ops.multiply(cast_to(layout.output, Type.i64), width), ints(wide)))
    return {"out": LoDTensor(ops.reshape(x, ints([-1, wide]), False), layout)}


def sequence_pad(node: NodeContext) -> NamedOutputs:
    """out [count, padded_length, ...] = the sequences padded with pad_value; length = their lengths.

    Paddle before 1.6 gives lengths of [count, 1], and declares them so.
    """
    x, layout = dense_input(node, "x", filling=None)
    lengths, wanted = padded_lengths(x, layout), node.get_int("padded_length", -1)
    if len(node.declared_output_shape("length") or ()) == 2:
        lengths = ops.unsqueeze(lengths, ints([1])).output(0)
    value: Tensor = cast_to(node.get_input("pad_value"), x.get_element_type())
    size = output_of(value).get_partial_shape()
    if size.is_static and math.prod(int(dim) for dim in size.to_shape()) == 1:
        value = ops.reshape(value, ints([]), False)
    x = fill_padding(x, layout, value)
    if wanted != -1:
        filling = ops.broadcast(value, ops.concat([dim_vector(x, [0]), ints([wanted]), dim_range(x, 2)], 0))
        x = slice_along(ops.concat([x, filling], 1), ints([0]), ints([wanted]), 1)
    return {"out": LoDTensor(x, NO_LOD), "length": LoDTensor(lengths, NO_LOD)}


def sequence_unpad(node: NodeContext) -> NamedOutputs:
    """out = the first length[i] steps of each x[i], one after the other."""
    x, lengths = node.get_input("x"), node.get_input("length")
    if lengths.get_partial_shape().rank != 1:  # [count, 1], as `sequence_pad` of an old program gives them
        lengths = ops.reshape(lengths, ints([-1]), False).output(0)
    batch = x.get_partial_shape()[0]
    known = node.get_known("length")
    layout: int | SequenceLengths = 1 if batch.is_static and batch.get_length() == 1 else SequenceLengths(lengths)
    if known is not None and known.size and (known == known.flat[0]).all():
        layout = int(known.size)
    indices = index_range(ops.squeeze(padded_length(x), ints([0])))
    inside = ops.less(indices, ops.unsqueeze(cast_to(lengths, Type.i64), ints([1])))
    if rank_of(node, x) == 2:
        x = ops.unsqueeze(x, ints([2])).output(0)
    chosen = ops.transpose(ops.non_zero(inside, "i64"), ints([1, 0]))
    return {"out": LoDTensor(ops.gather_nd(x, chosen), layout)}


def sequence_slice(node: NodeContext) -> NamedOutputs:
    """out = length steps from offset on, of each sequence."""
    layout, x = node.sequence_layout("x"), node.get_input("x")
    begin, length = (
        ops.reshape(cast_to(node.get_input(name), Type.i64), ints([-1]), False) for name in ("offset", "length")
    )
    if isinstance(layout, int) and layout == 1:
        return {"out": LoDTensor(slice_along(x, begin, ops.add(begin, length), 0), 1)}
    first = ops.add(row_starts(_lengths(node, "x")), begin)
    return {"out": LoDTensor(ops.gather(x, _concatenated_ranges(first, length), ints(0)), lod_of_lengths(length))}


def _lengths(node: NodeContext, name: str) -> Tensor:
    lengths = node.sequence_lengths(name)
    assert lengths is not None
    return lengths


def _concatenated_ranges(first: Tensor, lengths: Tensor) -> Node:
    """The ranges first[i] ... first[i] + lengths[i] - 1, concatenated."""
    total = ops.reduce_sum(lengths, ints([0]), False)
    shift = ops.gather(ops.subtract(first, row_starts(lengths)), all_segment_ids(lengths), ints(0))
    return folded(ops.add(index_range(total), shift))


def sequence_expand(node: NodeContext) -> NamedOutputs:
    """out = sequence i of x (row i, if x has no LoD) repeated once per step of sequence i of y."""
    level = node.get_int("ref_level", -1)
    node.require(level in (-1, 0), "only one level of LoD is supported", ref_level=level)
    layouts = [node.sequence_layout(name) for name in ("x", "y") if name == "y" or node.has_sequences("x")]
    if any(isinstance(layout, SequenceLengths) for layout in layouts):
        return {"out": _expand_by_lengths(node)}
    y, layout = dense_input(node, "y")
    repeats = padded_length(y)
    if not node.has_sequences("x"):
        return {"out": LoDTensor(_repeat_sequences(ops.unsqueeze(node.get_input("x"), ints([1])), repeats), NO_LOD)}
    x, _ = dense_input(node, "x")
    count = ops.multiply(count_vector(layout), repeats).output(0)
    return {"out": LoDTensor(_repeat_sequences(x, repeats), count)}


def _expand_by_lengths(node: NodeContext) -> LoDTensor:
    x, repeats = node.get_input("x"), _lengths(node, "y")
    which = all_segment_ids(repeats)
    if not node.has_sequences("x"):
        return LoDTensor(ops.gather(x, which, ints(0)), NO_LOD)
    lengths = _lengths(node, "x")
    first, taken_lengths = (folded(ops.gather(value, which, ints(0))) for value in (row_starts(lengths), lengths))
    return LoDTensor(ops.gather(x, _concatenated_ranges(first, taken_lengths), ints(0)), lod_of_lengths(taken_lengths))


def _repeat_sequences(x: Tensor, repeats: Tensor) -> Node:
    """[count, steps, ...] with each sequence repeated, as [count * repeats * steps, ...]."""
    batch = dim_vector(x, [0])
    spread = ops.broadcast(ops.unsqueeze(x, ints([1])), ops.concat([batch, repeats, dim_range(x, 1)], 0))
    rows = ops.multiply(ops.multiply(batch, repeats), padded_length(x))
    return ops.reshape(spread, ops.concat([rows, dim_range(x, 2)], 0), False)


def sequence_expand_as(node: NodeContext) -> NamedOutputs:
    """out = row i of x repeated once per step of sequence i of y."""
    y, layout = dense_input(node, "y", filling=None)
    return {"out": LoDTensor(_for_each_step(node.get_input("x"), y, layout), layout)}


def _for_each_step(rows: Tensor, dense: Tensor, layout: SequenceLayout) -> Node:
    """Row i repeated once per step of sequence i of [count, steps, ...]."""
    if not isinstance(layout, SequenceLengths):
        return _repeat_sequences(ops.unsqueeze(rows, ints([1])), padded_length(dense))
    return ops.gather(rows, all_segment_ids(padded_lengths(dense, layout)), ints(0))


def fusion_seqexpand_concat_fc(node: NodeContext) -> NamedOutputs:
    """out = activation([x[0], x[1] of the sequence, x[2] of the sequence, ...] @ fc_weight + fc_bias)."""
    first, layout = dense_input(node, "x")
    parts: list[Tensor] = [node.get_input("x")]
    parts += [_for_each_step(node.get_input("x", i), first, layout) for i in range(1, node.get_input_size("x"))]
    out: Tensor = ops.matmul(ops.concat(parts, 1), node.get_input("fc_weight"), False, False)
    if node.has_input("fc_bias"):
        out = ops.add(out, ops.reshape(node.get_input("fc_bias"), ints([-1]), False))
    return {"out": LoDTensor(apply_activation(node, out, node.get_str("fc_activation", "identity")), layout)}


def sequence_erase(node: NodeContext) -> NamedOutputs:
    """out = x without the elements that equal one of the tokens."""
    x, tokens = node.get_input("x"), node.get_ints("tokens")
    lengths = node.sequence_lengths("x")
    flat = ops.reshape(x, ints([-1]), False)
    kept = ops.reduce_logical_and(
        ops.not_equal(ops.unsqueeze(flat, ints([1])), const(tokens, x.get_element_type())), ints([1]), False
    )
    indices = ops.squeeze(ops.non_zero(kept, "i64"), ints([0]))
    out = ops.unsqueeze(ops.gather(flat, indices, ints(0)), ints([1]))
    if lengths is None:
        return {"out": LoDTensor(out, UNKNOWN_LOD)}
    owner = segment_ids(lengths, ops.squeeze(shape_of(flat), ints([0])))
    none = ops.broadcast(ints(0), shape_of(lengths))
    left = ops.scatter_elements_update(none, owner, ops.convert(kept, Type.i64), ints(0), reduction="sum")
    return {"out": LoDTensor(out, lod_of_lengths(left))}


def sequence_scatter(node: NodeContext) -> NamedOutputs:
    """out = x with updates added to row i at the columns given by sequence i of ids."""
    x = node.get_input("x")
    ids, layout = dense_input(node, "ids")
    dims = ops.concat([count_vector(layout), ints([-1])], 0)
    indices = ops.reshape(ids, dims, False)
    updates = ops.reshape(to_dense(node.get_input("updates"), layout), dims, False)
    out = ops.scatter_elements_update(x, indices, cast_to(updates, x.get_element_type()), ints(1), reduction="sum")
    return {"out": out}
