"""Element-wise operators that Paddle's passes fuse into one, and a sum with layer normalization.

Paddle: `fused_elemwise_activation`, `fused_elemwise_add_activation`, `fused_bias_residual_layernorm`,
`fusion_transpose_flatten_concat`.
Semantics: `paddle/phi/kernels/funcs/fused_elemwise_activation_functor.h`,
`paddle/phi/kernels/fusion/cpu/fused_layer_norm_avx_kernel.cc`,
`paddle/phi/kernels/fusion/gpu/fusion_transpose_flatten_concat_kernel.cu`.
Not supported: results in int8.
"""

from __future__ import annotations

from collections.abc import Callable

from openvino import Node

from paddle2ov.converters.graph.common import Tensor, const_like, dim_range, normalize_axis, rank_of, reshape
from paddle2ov.converters.graph.operands import operands
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

_BINARY: dict[str, Callable[[Tensor, Tensor], Node]] = {"elementwise_add": ops.add, "elementwise_mul": ops.multiply}
_FUSED = {
    *(("elementwise_add", name) for name in ("scale", "relu")),
    *(("elementwise_mul", name) for name in ("scale", "tanh", "sigmoid")),
    *((name, "elementwise_add") for name in ("scale", "relu", "tanh", "gelu")),
}
"""The pairs that Paddle supports."""


def fused_elemwise_activation(node: NodeContext) -> NamedOutputs:
    """out = first(x, second(y)) if the first function is binary, first(second(x, y)) if the second is."""
    x, y = operands(node)
    pair = tuple(node.get_attribute("functor_list"))
    node.require(pair in _FUSED, "Paddle has no such pair", functor_list=list(pair))
    first, second = pair
    if first in _BINARY:
        inner = _unary(node, second, y)
        out = _BINARY[first](x, inner)
    else:
        inner = _BINARY[second](x, y)
        out = _unary(node, first, inner)
    return {"out": out, "intermediate_out": inner}


def _unary(node: NodeContext, name: str, x: Tensor) -> Node:
    if name == "scale":
        return ops.multiply(x, const_like(node.get_float("scale", 0.0), x))
    if name == "gelu":
        return ops.gelu(x, "tanh")
    return {"relu": ops.relu, "tanh": ops.tanh, "sigmoid": ops.sigmoid}[name](x)


def fused_bias_residual_layernorm(node: NodeContext) -> NamedOutputs:
    """residual_out = x + residual_alpha · residual + bias; out = layer_norm of it, or it without scale and bias."""
    scale = node.get_float("quant_scale")
    node.require(scale <= 0, "a result in int8 is not supported", quant_scale=scale)
    x = node.get_input("x")
    rank = rank_of(node, x)
    begin = normalize_axis(node, node.get_int("begin_norm_axis"), rank, "begin_norm_axis")
    trailing = dim_range(x, begin)
    total: Tensor = x
    if node.has_input("residual"):
        residual = node.get_input("residual")
        alpha = const_like(node.get_float("residual_alpha"), x)
        total = ops.add(total, ops.multiply(residual, alpha))
    normalized = node.has_input("norm_weight") or node.has_input("norm_bias")
    # With only a bias to add, Paddle's kernels normalize x without it.
    if node.has_input("bias") and (node.has_input("residual") or not normalized):
        total = ops.add(total, ops.reshape(node.get_input("bias"), trailing, False))
    results: dict[str, Tensor] = {"out": total, "residual_out": total}
    if not normalized:
        return results
    out = ops.mvn(total, ints(list(range(begin, rank))), True, node.get_float("epsilon"), "inside_sqrt")
    if node.has_input("norm_weight"):
        out = ops.multiply(out, ops.reshape(node.get_input("norm_weight"), trailing, False))
    if node.has_input("norm_bias"):
        out = ops.add(out, ops.reshape(node.get_input("norm_bias"), trailing, False))
    return {**results, "out": out}


def fusion_transpose_flatten_concat(node: NodeContext) -> NamedOutputs:
    """out = the inputs, each transposed and flattened to a matrix at flatten_axis, concatenated along concat_axis."""
    perm, flatten, axis = node.get_ints("trans_axis"), node.get_int("flatten_axis"), node.get_int("concat_axis")
    node.require(axis in (0, 1), "the result is a matrix", concat_axis=axis)
    flat = []
    for x in node.get_inputs("x"):
        moved = ops.transpose(x, ints(perm))
        rows = dim_range(moved, 0, flatten)
        size = ops.concat([ops.reduce_prod(rows, ints([0]), True), ints([-1])], 0)
        flat.append(ops.reshape(moved, size, False) if flatten else reshape(moved, [1, -1]))
    return {"out": ops.concat(flat, axis)}
