"""Sequences as a whole: their sums, extremes, ends, and softmax over their steps.

Paddle: `sequence_pool`, `sequence_softmax`, `fusion_seqpool_concat`, `fusion_seqpool_cvm_concat`,
`fused_embedding_seq_pool`.
Semantics: `paddle/phi/kernels/funcs/sequence_pooling.cc`,
`paddle/phi/kernels/fusion/cpu/fusion_seqpool_cvm_concat_kernel.cc`, and of Paddle 2.6
`paddle/fluid/operators/sequence_ops/sequence_softmax_op.h`,
`paddle/fluid/operators/fused/{fused_embedding_seq_pool_op.h,fusion_seqpool_concat_op.cc}`.
Refused: sequences of different or unknown lengths (see `paddle2ov.converters.packed`).
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.converters.common import const_like, ints
from paddle2ov.converters.packed import Tensor, joined, length_of, sequences
from paddle2ov.node_context import NamedOutputs, NodeContext
from paddle2ov.opset import ops
from paddle2ov.types import Packed


def sequence_pool(node: NodeContext) -> NamedOutputs:
    """out = sum, average, sum / sqrt(steps), maximum, first or last step of each sequence."""
    return {"out": Packed(_pooled(node, sequences(node, "x")[0]), 0)}


def fusion_seqpool_concat(node: NodeContext) -> NamedOutputs:
    """out = the pooled sequences of all inputs, side by side."""
    axis = node.get_int("axis", 1)
    node.require(axis == 1, "only 1 is supported", axis=axis)
    pooled = [_pooled(node, sequences(node, "x", i)[0], "SUM") for i in range(node.get_input_size("x"))]
    # Its LoD says that each row is a sequence.
    return {"out": Packed(ops.concat(pooled, 1), node.sequence_count("x"))}


def fusion_seqpool_cvm_concat(node: NodeContext) -> NamedOutputs:
    """out = as above, with the first two columns s and c of each input as log(s + 1), log(c + 1) - log(s + 1)."""
    # The kernel does so whatever `use_cvm` says.
    axis, use_cvm = node.get_int("axis", 1), node.get_attribute("use_cvm", True)
    node.require(axis == 1, "only 1 is supported", axis=axis)
    node.require(use_cvm, "Paddle computes as if it were True", use_cvm=use_cvm)
    parts = []
    for i in range(node.get_input_size("x")):
        pooled = _pooled(node, sequences(node, "x", i)[0], "SUM")
        shows, clicks = (
            ops.log(ops.add(ops.gather(pooled, ints([k]), ints(1)), const_like(1, pooled))) for k in (0, 1)
        )
        rest = ops.slice(pooled, ints([2]), ints([2**31 - 1]), ints([1]), ints([1]))
        parts += [shows, ops.subtract(clicks, shows), rest]
    return {"out": Packed(ops.concat(parts, 1), node.sequence_count("x"))}


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


def sequence_softmax(node: NodeContext) -> NamedOutputs:
    """out = softmax over the steps of each sequence, whose steps are single numbers."""
    x, count = sequences(node, "x")
    return {"out": joined(ops.softmax(x, 1), count)}
