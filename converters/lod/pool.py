"""Pooling over the steps of each sequence (sum, maximum, first, last, ...), and softmax over them.

Paddle: `sequence_pool`, `sequence_softmax`, `fusion_seqpool_concat`, `fusion_seqpool_cvm_concat`,
`fused_embedding_seq_pool`.
Semantics: `paddle/phi/kernels/funcs/sequence_pooling.cc`,
`paddle/phi/kernels/fusion/cpu/fusion_seqpool_cvm_concat_kernel.cc`, and of Paddle 2.6
`paddle/fluid/operators/sequence_ops/sequence_softmax_op.h`,
`paddle/fluid/operators/fused/{fused_embedding_seq_pool_op.h,fusion_seqpool_concat_op.cc}`.
Refused: sequences of unknown LoD (see `paddle2ov.converters.lod.sequences`).
"""

from __future__ import annotations

import math

from openvino import Node

from paddle2ov.converters.graph.common import Tensor, const_like
from paddle2ov.converters.graph.dims import rank_of
from paddle2ov.converters.graph.selection import one_of_each
from paddle2ov.converters.lod.sequences import (
    count_vector,
    dense_input,
    fill_padding,
    from_dense,
    padded_length,
    padded_lengths,
)
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.graph.values import NO_LOD, LoDTensor, SequenceLengths
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def sequence_pool(node: NodeContext) -> NamedOutputs:
    """out = sum, average, sum / sqrt(steps), maximum, first or last step of each sequence."""
    return {"out": LoDTensor(_pool(node), NO_LOD)}


def fusion_seqpool_concat(node: NodeContext) -> NamedOutputs:
    """out = the pooled sequences of all inputs, concatenated along axis 1."""
    return {"out": _concatenate_pooled(node, [_pool(node, i, "SUM") for i in range(node.get_input_size("x"))])}


def _concatenate_pooled(node: NodeContext, parts: list[Tensor]) -> LoDTensor:
    axis = node.get_int("axis", 1)
    node.require(axis == 1, "only 1 is supported", axis=axis)
    # Its LoD says that each row is a sequence.
    return LoDTensor(ops.concat(parts, 1), ops.squeeze(count_vector(node.sequence_layout("x")), ints([0])).output(0))


def fusion_seqpool_cvm_concat(node: NodeContext) -> NamedOutputs:
    """out = as above, with the first two columns s and c of each input as log(s + 1), log(c + 1) - log(s + 1)."""
    # The kernel does so whatever `use_cvm` says.
    use_cvm = node.get_bool("use_cvm", True)
    node.require(use_cvm, "Paddle computes as if it were True", use_cvm=use_cvm)
    parts: list[Tensor] = []
    for i in range(node.get_input_size("x")):
        pooled = _pool(node, i, "SUM")
        shows, clicks = (
            ops.log(ops.add(ops.gather(pooled, ints([k]), ints(1)), const_like(1, pooled))) for k in (0, 1)
        )
        rest = slice_along(pooled, ints([2]), ints([OPEN_END]), 1)
        parts += [shows, ops.subtract(clicks, shows), rest]
    return {"out": _concatenate_pooled(node, parts)}


def fused_embedding_seq_pool(node: NodeContext) -> NamedOutputs:
    """out = for each column of ids the sum of w[ids] over a sequence; padding_idx counts as zeros."""
    combiner = node.get_str("combiner", "sum")
    node.require(combiner == "sum", "only 'sum' is supported", combiner=combiner)
    ids, layout = dense_input(node, "ids", filling=None)
    table = node.get_input("w")
    rows: Tensor = ops.gather(table, ids, ints(0))  # [count, steps, columns, width]
    padding = node.get_int("padding_idx", -1)
    if padding != -1:
        kept = ops.unsqueeze(ops.not_equal(ids, const_like(padding, ids)), ints([-1]))
        rows = ops.select(kept, rows, const_like(0, table))
    total = ops.reduce_sum(fill_padding(rows, layout, const_like(0, table)), ints([1]), False)
    return {"out": LoDTensor(ops.reshape(total, ints([0, -1]), True), NO_LOD)}


def _pool(node: NodeContext, idx: int = 0, default: str = "AVERAGE") -> Node:
    kind = node.get_str("pooltype", default)
    node.require(kind in ("FIRST", "LAST", "MAX", "AVERAGE", "SUM", "SQRT"), "unknown", pooltype=kind)
    x, layout = dense_input(node, "x", idx, -math.inf if kind == "MAX" else 0)
    value = node.get_float("pad_value", 0.0, may_be_nan=True)
    if not isinstance(layout, SequenceLengths):  # none is empty: Paddle requires a row in each
        return _reduce_steps(kind, x, None)
    lengths = padded_lengths(x, layout)
    one_each = ints([-1, *[1] * (rank_of(node, node.get_input("x", idx)) - 1)])
    out = _reduce_steps(kind, x, ops.reshape(lengths, one_each, False))
    return ops.select(ops.equal(ops.reshape(lengths, one_each, False), ints(0)), const_like(value, out), out)


def _reduce_steps(kind: str, x: Tensor, lengths: Node | None) -> Node:
    """One row for each sequence of [count, steps, ...]; lengths [count, 1, ...] are None where they are `steps`."""
    if kind == "FIRST":
        return ops.gather(x, ints(0), ints(1))
    if kind == "LAST" and lengths is not None:
        last = ops.subtract(ops.reshape(lengths, ints([-1, 1]), False), ints(1))
        return ops.squeeze(one_of_each(x, last), ints([1]))
    if kind == "LAST":
        return ops.gather(x, ints(-1), ints(1))
    if kind == "MAX":
        return ops.reduce_max(x, ints([1]), False)
    total = ops.reduce_sum(x, ints([1]), False)
    if kind == "SUM":
        return total
    steps = ops.convert(padded_length(x) if lengths is None else lengths, x.get_element_type())
    return ops.divide(total, steps if kind == "AVERAGE" else ops.sqrt(steps))


def sequence_softmax(node: NodeContext) -> NamedOutputs:
    """out = softmax over the steps of each sequence; x is [rows, 1]."""
    x, layout = dense_input(node, "x", filling=-math.inf)
    return {"out": from_dense(ops.softmax(x, 1), layout)}
