"""Attention as one fused operator, as in models exported on a GPU or optimized by Paddle's passes.

Paddle: `flash_attn`, `memory_efficient_attention`, `multihead_matmul`, `self_dp_attention`, `fused_attention`,
`fused_softmax_mask`, `fused_softmax_mask_upper_triangle`, `fused_rotary_position_embedding`.
Semantics: `paddle/phi/kernels/gpu/flash_attn_kernel.cu`, `paddle/phi/kernels/fusion/gpu/{fused_attention,
multihead_matmul,fused_rope}_kernel.cu`, `paddle/phi/kernels/fusion/cpu/{self_dp_attention,
fused_softmax_mask}_kernel.cc`.
Not supported: dropout in training, key-value caches, the attention weights as an output, layers that are split
over several devices.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.fused.layers import (
    add_bias,
    add_residual,
    inference_dropout,
    refuse_dropout,
    refuse_ring,
)
from paddle2ov.converters.graph.common import Tensor, cast_to, const, const_like, reshape
from paddle2ov.converters.graph.dims import dim_of, dim_vector, index_range, rank_of
from paddle2ov.converters.graph.reshaping import merge_axes
from paddle2ov.converters.normalization import layer_norm_of
from paddle2ov.graph import arrays
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

_HEADS_FIRST = [0, 2, 1, 3]
"""[batch, tokens, heads, width] to [batch, heads, tokens, width], and back."""


def flash_attn(node: NodeContext) -> NamedOutputs:
    """out = softmax(q k^T / sqrt(width) + attn_mask) v, of [batch, tokens, heads, width]; causal from the end."""
    refuse_dropout(node, "dropout")
    q, *shared = (ops.transpose(node.get_input(name), ints(_HEADS_FIRST)) for name in ("q", "k", "v"))
    k, v = (_repeat_kv(value, q) for value in shared)
    causal = node.get_bool("causal", False)
    out: Tensor = _attention(q, k, v, _mask(node, "attn_mask", _causal_mask(q, k) if causal else None))
    if causal and _may_mask_all_keys(q, k):
        # With more queries than keys the first queries see no key: their result is 0.
        queries, keys = dim_of(q, 2), dim_of(k, 2)
        seen = ops.greater_equal(index_range(queries), ops.subtract(queries, keys))
        out = ops.select(ops.unsqueeze(seen, ints([1])), out, const_like(0.0, out))
    return {"out": ops.transpose(out, ints(_HEADS_FIRST))}


def memory_efficient_attention(node: NodeContext) -> NamedOutputs:
    """output = softmax(query key^T * scale + bias) value, all [batch, tokens, heads, width]; causal from the start."""
    refuse_dropout(node, "dropout_p")
    for name in ("cu_seqlens_q", "cu_seqlens_k", "causal_diagonal", "seqlen_k"):
        node.require(not node.has_input(name), f"'{name}' is not supported")
    q, k, v = (ops.transpose(node.get_input(name), ints(_HEADS_FIRST)) for name in ("query", "key", "value"))
    scale = node.get_float("scale")
    mask = _mask(node, "bias", _causal_mask(q, k, from_end=False) if node.get_bool("causal") else None)
    out = _attention(q, k, v, mask, None if scale < 0 else scale)
    return {"output": ops.transpose(out, ints(_HEADS_FIRST))}


def multihead_matmul(node: NodeContext) -> NamedOutputs:
    """out = attention of input @ w + bias, which holds q, k and v concatenated; alpha scales q k^T."""
    x, heads = node.get_input("input"), node.get_int("head_number", 1)
    node.require(
        not node.get_bool("transpose_q", False)
        and node.get_bool("transpose_k", True)
        and not node.get_bool("transpose_v", False),
        "transposed q or v, or k that is not, is not supported",
    )
    projected = ops.matmul(x, ops.reshape(node.get_input("w"), ints([0, -1]), True), False, False)
    projected = ops.add(projected, reshape(node.get_input("bias"), [-1]))
    mask = _mask(node, "bias_qk")
    if mask is not None:
        rank = rank_of(node, output_of(mask))
        node.require(rank == 4, f"a mask of rank {rank} is not supported")
    q, k, v = _split_qkv(projected, heads)
    return {"out": _merge_heads(_attention(q, k, v, mask, node.get_float("alpha", 1.0)))}


def self_dp_attention(node: NodeContext) -> NamedOutputs:
    """out = softmax(alpha q k^T) v of x = [batch, tokens, (q, k, v), heads, width]; [batch, tokens, heads, width]."""
    heads = node.get_int("head_number", 1)
    dim = node.get_input("x").get_partial_shape()[3]
    node.require(dim.is_dynamic or dim == heads, f"x has {dim} heads", head_number=heads)
    x = ops.transpose(node.get_input("x"), ints([2, 0, 3, 1, 4]))
    q, k, v = (ops.gather(x, ints(i), ints(0)) for i in range(3))
    return {"out": ops.transpose(_attention(q, k, v, None, node.get_float("alpha", 1.0)), ints(_HEADS_FIRST))}


def fused_attention(node: NodeContext) -> NamedOutputs:
    """out = x + attention(layer_norm(x)) @ out_linear_weight + bias, or normalized after that instead of before."""
    refuse_ring(node)
    node.require(not node.has_input("cache_kv"), "a key-value cache is not supported")
    x, pre = node.get_input("x"), node.get_bool("pre_layer_norm", False)
    entered = layer_norm_of(node, x, -1, node.get_float("epsilon", 1e-5), "ln_scale", "ln_bias") if pre else x
    weight = node.get_input("qkv_weight")
    if node.get_bool("transpose_qkv_wb", False):
        heads = node.get_int("num_heads")
        projected = ops.matmul(entered, weight, False, False)
    else:
        # [3, heads, width, features]
        size = weight.get_partial_shape()
        heads = size[1].get_length()
        projected = ops.matmul(entered, reshape(weight, [-1, size[3].get_length()]), False, True)
    if node.has_input("qkv_bias"):
        projected = ops.add(projected, reshape(node.get_input("qkv_bias"), [-1]))
    attended: Tensor = _merge_heads(_attention(*_split_qkv(projected, heads), _mask(node, "src_mask")))
    # Dropout scales all attention weights by the same factor, so the result may be scaled instead.
    implementation = "attn_dropout_implementation"
    attended = inference_dropout(node, attended, "attn_dropout_rate", implementation, "upscale_in_train")
    out: Tensor = ops.matmul(attended, node.get_input("out_linear_weight"), False, False)
    out = inference_dropout(node, add_bias(node, out, "out_linear_bias"), "dropout_rate")
    return {"out": add_residual(node, x, out, "ln_scale_2", "ln_bias_2", node.get_float("ln_epsilon", 1e-5))}


def fused_softmax_mask(node: NodeContext) -> NamedOutputs:
    """out = softmax(x + mask) over the last axis."""
    return {"out": ops.softmax(ops.add(node.get_input("x"), node.get_input("mask")), -1)}


def fused_softmax_mask_upper_triangle(node: NodeContext) -> NamedOutputs:
    """out = softmax over the last axis of x [batch, heads, rows, columns], where row i sees columns 0 ... i only."""
    x = node.get_input("x")
    rows, columns = (index_range(dim_of(x, axis)) for axis in (2, 3))
    seen = ops.less_equal(columns, ops.unsqueeze(rows, ints([1])))
    return {"out": ops.softmax(ops.select(seen, x, const_like(-np.inf, x)), -1)}


def fused_rotary_position_embedding(node: NodeContext) -> NamedOutputs:
    """out = x * cos + rotated(x) * sin: pairs (-x1, x0) of neighbours in neox style, of the two halves otherwise."""
    q = node.get_input("q")
    cos, sin = _angles(node, q)
    neighbours = node.get_bool("use_neox_rotary_style", True)
    results: dict[str, Tensor] = {}
    for name in ("q", "k", "v"):
        if not node.has_input(name):
            continue
        x = node.get_input(name)
        half = _width(node, x) // 2
        pairs = ops.reshape(x, ints([0, 0, 0, half, 2] if neighbours else [0, 0, 0, 2, half]), True)
        axis = 4 if neighbours else 3
        first, second = ops.split(pairs, ints(axis), 2).outputs()
        rotated = ops.reshape(ops.concat([ops.negative(second), first], axis), ints([0, 0, 0, 2 * half]), True)
        results[f"out_{name}"] = ops.add(ops.multiply(x, cos), ops.multiply(rotated, sin))
    return results


def _angles(node: NodeContext, x: Output) -> tuple[Tensor, Tensor]:
    """cos and sin, as [batch or 1, tokens, 1, width] (tokens first if time_major)."""
    time_major = node.get_bool("time_major", False)
    axes = [1, 2] if time_major else [0, 2]
    if not (node.has_input("sin") and node.has_input("cos")):  # position_ids are not read then
        angles = _angles_of_base(node, x, 0 if time_major else 1)
        tables = [cast_to(build(angles), x.get_element_type()) for build in (ops.cos, ops.sin)]
    else:
        tables = [reshape(node.get_input(name), [-1, _width(node, x)]) for name in ("cos", "sin")]
        if node.has_input("position_ids"):
            rows = (ops.gather(table, node.get_input("position_ids"), ints(0)) for table in tables)
            tables, axes = [ops.transpose(row, ints([1, 0, 2] if time_major else [0, 1, 2])) for row in rows], [2]
    cos, sin = (ops.unsqueeze(table, ints(axes)) for table in tables)
    return cos, sin


def _angles_of_base(node: NodeContext, x: Output, axis: int) -> Node:
    """[tokens, width]: the position divided by base^(2i / width) for the columns 2i and 2i + 1, in either style."""
    width = _width(node, x)
    base = np.float32(node.get_float("rotary_emb_base", 10000.0))
    columns = (arrays.arange(width) // 2 * 2).astype(np.float32) * np.float32(1 / width)
    tokens = dim_of(x, axis)
    positions = ops.unsqueeze(ops.range(ints(0), tokens, ints(1), "f32"), ints([1]))
    return ops.multiply(positions, const((np.float32(1) / base**columns)[None], Type.f32))


def _width(node: NodeContext, x: Output) -> int:
    width = x.get_partial_shape()[rank_of(node, x) - 1]
    node.require(width.is_static, "heads of unknown width are not supported")
    return int(width.get_length())


def _mask(node: NodeContext, name: str, causal: Tensor | None = None) -> Tensor | None:
    """The optional operand of that name and a causal mask; None without both."""
    if not node.has_input(name):
        return causal
    mask = node.get_input(name)
    return mask if causal is None else ops.add(mask, causal)


def _attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scale: float | None = None) -> Node:
    kind = output_of(q).get_element_type()
    if mask is not None and output_of(mask).get_element_type() != Type.boolean:
        mask = cast_to(mask, kind)
    if scale is None:
        return ops.scaled_dot_product_attention(q, k, v, mask)
    return ops.scaled_dot_product_attention(q, k, v, const(0.0, kind) if mask is None else mask, const(scale, kind))


def _causal_mask(q: Tensor, k: Tensor, from_end: bool = True) -> Node:
    """[tokens of q, tokens of k]: -inf where the key comes after the query, aligned to the end or the start."""
    queries, keys = dim_of(q, 2), dim_of(k, 2)
    rows = ops.range(ops.subtract(keys, queries), keys, ints(1), "i64") if from_end else index_range(queries)
    seen = ops.less_equal(index_range(keys), ops.unsqueeze(rows, ints([1])))
    return ops.select(seen, const_like(0.0, output_of(q)), const_like(-np.inf, output_of(q)))


def _may_mask_all_keys(q: Node, k: Tensor) -> bool:
    queries, keys = (output_of(value).get_partial_shape()[2] for value in (q, k))
    return bool(queries.is_dynamic or keys.is_dynamic or queries.get_length() > keys.get_length())


def _repeat_kv(x: Node, q: Node) -> Tensor:
    """Keys or values with each head repeated for the query heads that share it (grouped-query attention)."""
    own, wanted = x.get_output_partial_shape(0)[1], q.get_output_partial_shape(0)[1]
    if own.is_static and own == wanted:
        return x
    times = ops.divide(dim_vector(q, [1]), dim_vector(x, [1]))
    shape = ops.concat([ints([1, 1]), times, ints([1, 1])], 0)
    spread = ops.broadcast(ops.unsqueeze(x, ints([2])), shape, None, "BIDIRECTIONAL")
    return merge_axes(spread.output(0), [[0], [1, 2], [3], [4]])


def _split_qkv(projected: Tensor, heads: int) -> tuple[Node, Node, Node]:
    """[batch, tokens, 3 * heads * width] as q, k, v of [batch, heads, tokens, width]."""
    parts = ops.split(ops.reshape(projected, ints([0, 0, 3, heads, -1]), True), ints(2), 3).outputs()
    q, k, v = (ops.transpose(ops.squeeze(part, ints([2])), ints(_HEADS_FIRST)) for part in parts)
    return q, k, v


def _merge_heads(attended: Tensor) -> Node:
    return ops.reshape(ops.transpose(attended, ints(_HEADS_FIRST)), ints([0, 0, -1]), True)
