"""Layers that Paddle's passes and its incubating layers fuse into one operator.

Paddle: `fc`, `fused_gemm_epilogue`, `fused_feedforward`, `fused_bias_dropout_residual_layer_norm`, `fused_dropout_add`,
`fused_embedding_eltwise_layernorm`, `fusion_squared_mat_sub`, `fusion_repeated_fc_relu`, `fused_elemwise_activation`,
`fused_elemwise_add_activation`, `fused_bias_residual_layernorm`, `fusion_transpose_flatten_concat`.
Semantics: `paddle/phi/kernels/fusion/cpu/{fc,fusion_squared_mat_sub,fusion_repeated_fc_relu,
fused_layer_norm_avx}_kernel.cc`, `paddle/phi/kernels/fusion/gpu/{fused_*,fusion_transpose_flatten_concat}_kernel.cu`,
`paddle/phi/kernels/funcs/fused_elemwise_activation_functor.h`.
Not supported: dropout in training, activations not listed here, padded weights of `fc`, results in int8,
layers that are split over several devices.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from openvino import Node

from paddle2ov.converters.fused.activation import apply_activation, fused_activation
from paddle2ov.converters.graph.common import Tensor, const_like, reshape
from paddle2ov.converters.graph.dims import dim_range, normalize_axis, rank_of
from paddle2ov.converters.graph.operands import operands
from paddle2ov.converters.graph.reshaping import merge_axes
from paddle2ov.converters.matmul import flattened_matmul
from paddle2ov.converters.normalization import layer_norm_of
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def fc(node: NodeContext) -> NamedOutputs:
    """out = activation(input @ w + bias), with the input flattened at `in_num_col_dims`."""
    node.require(not node.get_bool("padding_weights", False), "padded weights are not supported", padding_weights=True)
    x, w = node.get_input("input"), node.get_input("w")
    out: Tensor = flattened_matmul(node, x, w, node.get_int("in_num_col_dims", 1), 1)
    out = apply_activation(node, add_bias(node, out, "bias"), node.get_str("activation_type", ""))
    if node.has_input("residual_data"):  # as Paddle's passes for oneDNN have it
        out = ops.add(out, node.get_input("residual_data"))
    return {"out": fused_activation(node, out)}


def fused_gemm_epilogue(node: NodeContext) -> NamedOutputs:
    """out = activation(x @ y + bias); gelu is cuBLAS's, by tanh. A transposed x has its first dimension summed over."""
    trans_x, trans_y = node.get_bool("trans_x", False), node.get_bool("trans_y", False)
    x = node.get_input("x")
    rank = rank_of(node, x)
    if trans_x and rank > 2:
        x, trans_x = ops.transpose(x, ints([*range(1, rank), 0])).output(0), False
    out = ops.add(ops.matmul(x, node.get_input("y"), trans_x, trans_y), node.get_input("bias"))
    activation = node.get_str("activation", "none")
    return {"out": apply_activation(node, out, activation, gelu="tanh")}


def fused_feedforward(node: NodeContext) -> NamedOutputs:
    """out = x + linear2(activation(linear1(layer_norm(x)))), or normalized after that instead of before."""
    refuse_ring(node)
    x, pre = node.get_input("x"), node.get_bool("pre_layer_norm", False)
    out: Tensor = layer_norm_of(node, x, -1, node.get_float("ln1_epsilon", 1e-5), "ln1_scale", "ln1_bias") if pre else x
    out = add_bias(node, ops.matmul(out, node.get_input("linear1_weight"), False, False), "linear1_bias")
    out = apply_activation(node, out, node.get_str("act_method", "gelu"))
    out = inference_dropout(node, out, "dropout1_prob", "dropout1_implementation")
    out = add_bias(node, ops.matmul(out, node.get_input("linear2_weight"), False, False), "linear2_bias")
    out = inference_dropout(node, out, "dropout2_prob", "dropout2_implementation")
    return {"out": add_residual(node, x, out, "ln2_scale", "ln2_bias", node.get_float("ln2_epsilon", 1e-5))}


def fused_bias_dropout_residual_layer_norm(node: NodeContext) -> NamedOutputs:
    """y = layer_norm(residual + x + bias)."""
    entered = inference_dropout(node, add_bias(node, node.get_input("x"), "bias"), "dropout_rate")
    total = ops.add(node.get_input("residual"), entered).output(0)
    y = layer_norm_of(node, total, -1, node.get_float("ln_epsilon", 1e-5), "ln_scale", "ln_bias")
    return {"y": y, "bias_dropout_residual_out": total}


def fused_dropout_add(node: NodeContext) -> NamedOutputs:
    """out = x + y; x * (1 - p) + y in any mode but "upscale_in_train"."""
    return {"out": ops.add(inference_dropout(node, node.get_input("x"), "p", "mode"), node.get_input("y"))}


def fused_embedding_eltwise_layernorm(node: NodeContext) -> NamedOutputs:
    """out = layer_norm(embs[0][ids[0]] + embs[1][ids[1]] + ...)."""
    rows: list[Node] = []
    for ids, table in zip(node.get_inputs("ids"), node.get_inputs("embs"), strict=True):
        flat = ops.squeeze(ids, ints([2])) if rank_of(node, ids) == 3 else ids
        rows.append(ops.gather(table, flat, ints(0)))
    node.require(bool(rows), "no tables")
    total = reduce(ops.add, rows).output(0)
    return {"out": layer_norm_of(node, total, -1, node.get_float("epsilon", 1e-5))}


def fusion_squared_mat_sub(node: NodeContext) -> NamedOutputs:
    """out = ((x @ y)^2 - x^2 @ y^2) * scalar."""
    x, y = node.get_input("x"), node.get_input("y")
    product = ops.matmul(x, y, False, False)
    squares = ops.matmul(ops.multiply(x, x), ops.multiply(y, y), False, False)
    out = ops.subtract(ops.multiply(product, product), squares)
    return {"out": ops.multiply(out, const_like(node.get_float("scalar", 1.0), out))}


def fusion_repeated_fc_relu(node: NodeContext) -> NamedOutputs:
    """out = relu(... relu(x @ w[0] + bias[0]) ... @ w[n-1] + bias[n-1])."""
    out: Tensor = node.get_input("x")
    for w, bias in zip(node.get_inputs("w"), node.get_inputs("bias"), strict=True):
        out = ops.relu(ops.add(ops.matmul(out, w, False, False), reshape(bias, [-1])))
    return {"out": out}


def add_bias(node: NodeContext, x: Tensor, name: str) -> Tensor:
    """x plus the bias `name` along the last axis, if there is one."""
    return ops.add(x, reshape(node.get_input(name), [-1])) if node.has_input(name) else x


def add_residual(node: NodeContext, x: Tensor, out: Tensor, scale: str, bias: str, epsilon: float) -> Tensor:
    """What leaves a layer: x + out, unless that is switched off; normalized where `x` was not before it entered."""
    total = ops.add(x, out) if node.get_bool("add_residual", True) else out
    before = node.get_bool("pre_layer_norm", False)
    return total if before else layer_norm_of(node, output_of(total), -1, epsilon, scale, bias)


def inference_dropout(
    node: NodeContext,
    x: Tensor,
    rate: str,
    mode: str = "dropout_implementation",
    default_mode: str = "downgrade_in_infer",
) -> Tensor:
    """What a dropout does at inference: nothing, or x * (1 - rate) if training did not scale the elements it kept."""
    refuse_dropout(node, rate, 0.5)
    probability = node.get_float(rate, 0.5)
    if probability == 0 or node.get_str(mode, default_mode) == "upscale_in_train":
        return x
    return ops.multiply(x, const_like(1.0 - probability, x))


def refuse_dropout(node: NodeContext, rate: str, default: float = 0.0) -> None:
    """Refuses a dropout in training."""
    probability = node.get_float(rate, default)
    if probability != 0:
        node.require(node.get_bool("is_test", False), "dropout in training is not supported", **{rate: probability})


def refuse_ring(node: NodeContext) -> None:
    """Refuses a layer that is split over several devices (tensor parallelism)."""
    ring = node.get_int("ring_id", -1)
    node.require(ring < 0, "a layer that is split over several devices is not supported", ring_id=ring)


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
    out: Tensor
    inner: Tensor
    if first in _BINARY:
        inner = _unary(node, second, y)
        out = _BINARY[first](x, inner)
    else:
        inner = _BINARY[second](x, y)
        out = _unary(node, first, inner)
    return {"out": out, "intermediate_out": inner}


def _unary(node: NodeContext, name: str, x: Tensor) -> Tensor:
    if name == "scale":
        return ops.multiply(x, const_like(node.get_float("scale", 0.0), x))
    return apply_activation(node, x, name, gelu="tanh")


def fused_bias_residual_layernorm(node: NodeContext) -> NamedOutputs:
    """residual_out = x + residual_alpha · residual + bias; out = layer_norm of it, or it without scale and bias."""
    scale = node.get_float("quant_scale")
    node.require(scale <= 0, "a result in int8 is not supported", quant_scale=scale)
    x = node.get_input("x")
    rank = rank_of(node, x)
    begin = normalize_axis(node, node.get_int("begin_norm_axis"), rank, "begin_norm_axis")
    total: Tensor = x
    if node.has_input("residual"):
        residual = node.get_input("residual")
        alpha = const_like(node.get_float("residual_alpha"), x)
        total = ops.add(total, ops.multiply(residual, alpha))
    normalized = node.has_input("norm_weight") or node.has_input("norm_bias")
    # With only a bias to add, Paddle's kernels normalize x without it.
    if node.has_input("bias") and (node.has_input("residual") or not normalized):
        total = ops.add(total, ops.reshape(node.get_input("bias"), dim_range(x, begin), False))
    out = total
    if normalized:
        out = layer_norm_of(node, output_of(total), begin, node.get_float("epsilon"), "norm_weight", "norm_bias")
    return {"out": out, "residual_out": total}


def fusion_transpose_flatten_concat(node: NodeContext) -> NamedOutputs:
    """out = the inputs, each transposed and flattened to a matrix at flatten_axis, concatenated along concat_axis."""
    perm, flatten, axis = node.get_ints("trans_axis"), node.get_int("flatten_axis"), node.get_int("concat_axis")
    node.require(axis in (0, 1), "the result is a matrix", concat_axis=axis)
    moved = [ops.transpose(x, ints(perm)).output(0) for x in node.get_inputs("x")]
    groups = [range(flatten), range(flatten, len(perm))]
    return {"out": ops.concat([merge_axes(x, groups) for x in moved], axis)}
