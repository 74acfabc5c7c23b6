"""Fused operators of Paddle's oneDNN passes, in programs that were saved after optimization.

Paddle: `fused_matmul`, `fused_softplus`, `fused_transpose`, `fused_elementwise_add`, `fused_elementwise_sub`,
`fused_elementwise_mul`, `fused_elementwise_div`.
Semantics: `paddle/phi/kernels/fusion/onednn/*_kernel.cc`. The convolutions, `fused_conv2d` and `fused_conv3d`, are in
`conv.py`.
Not supported: the int8 operators of these passes.
"""

from __future__ import annotations

from collections.abc import Callable

from openvino import Node, Output

from paddle2ov.converters.elementwise import divide
from paddle2ov.converters.fused.activation import fused_activation
from paddle2ov.converters.graph.common import Tensor, multiply_by
from paddle2ov.converters.graph.operands import operands
from paddle2ov.converters.matmul import broadcasting_matmul
from paddle2ov.graph.opset import ints, ops
from paddle2ov.translation.node_context import Converter, NamedOutputs, NodeContext


def fused_matmul(node: NodeContext) -> NamedOutputs:
    """out = activation(matmul_alpha · (x @ y) + residual) · fused_output_scale; x, y, out may be transposed."""
    x, y = (_rearranged(node, node.get_input(name), name.upper()) for name in ("x", "y"))
    trans_x, trans_y = node.get_bool("trans_x", False), node.get_bool("trans_y", False)
    out: Tensor = multiply_by(broadcasting_matmul(x, y, trans_x, trans_y), node.get_float("matmul_alpha", 1.0))
    if node.has_input("residual_data"):
        out = ops.add(out, node.get_input("residual_data"))
    out = multiply_by(fused_activation(node, out), node.get_float("fused_output_scale", 1.0))
    order, shape = node.get_ints("fused_transpose_Out", []), node.get_ints("fused_reshape_Out", [])
    if order and shape:
        out = ops.reshape(ops.transpose(out, ints(order)), ints(shape), True)
    return {"out": out}


def _rearranged(node: NodeContext, x: Output, name: str) -> Output:
    shape, order = node.get_ints(f"fused_reshape_{name}", []), node.get_ints(f"fused_transpose_{name}", [])
    if shape and order:
        x = ops.transpose(ops.reshape(x, ints(shape), True), ints(order)).output(0)
    return x


def fused_softplus(node: NodeContext) -> NamedOutputs:
    """out = activation(ln(1 + e^(beta · x)) / beta)."""
    beta = node.get_float("beta", 1.0)
    curve = ops.softplus(multiply_by(node.get_input("x"), beta))
    return {"out": fused_activation(node, multiply_by(curve, 1 / beta))}


def fused_transpose(node: NodeContext) -> NamedOutputs:
    """out = x squeezed, transposed, then unsqueezed or reshaped."""
    kind = node.get_str("output_data_type", "")
    node.require(kind in ("", "fp32"), "is not supported", output_data_type=kind)
    scale, shift = node.get_float("scale", 1.0), node.get_float("shift", 0.0)
    node.require(scale == 1 and shift == 0, "are not supported", scale=scale, shift=shift)
    x: Tensor = node.get_input("x")
    if squeezed := node.get_ints("fused_squeeze2_axes", []):
        x = ops.squeeze(x, ints(squeezed))
    x = ops.transpose(x, ints(node.get_ints("axis")))
    shape = node.get_ints("fused_reshape2_shape", [])
    if node.get_ints("fused_unsqueeze2_axes", []):
        x = _unsqueezed(node, x)
    elif shape:
        x = ops.reshape(x, ints(shape), True)
    return {"out": x}


def fused_elementwise(build: Callable[..., Node]) -> Converter:
    """A converter for a binary element-wise operation with a fused activation."""

    def convert(node: NodeContext) -> NamedOutputs:
        """out = activation(x op y) · fused_output_scale, unsqueezed."""
        out = multiply_by(fused_activation(node, build(*operands(node))), node.get_float("fused_output_scale", 1.0))
        return {"out": _unsqueezed(node, out)}

    return convert


def _unsqueezed(node: NodeContext, x: Tensor) -> Tensor:
    axes = node.get_ints("fused_unsqueeze2_axes", [])
    return ops.unsqueeze(x, ints(axes)) if axes else x


fused_elementwise_add = fused_elementwise(ops.add)
fused_elementwise_sub = fused_elementwise(ops.subtract)
fused_elementwise_mul = fused_elementwise(ops.multiply)
fused_elementwise_div = fused_elementwise(divide)
