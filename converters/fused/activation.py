"""The activation that Paddle's oneDNN passes fuse into the operator before it.

Semantics: `OneDNNActivationMap` in `paddle/phi/backends/onednn/onednn_reuse.h`, oneDNN's eltwise primitive.
"""

from __future__ import annotations

from collections.abc import Callable

from openvino import Node

from paddle2ov.converters.graph.common import Tensor, const_like, multiply_by
from paddle2ov.graph.opset import ints, ops
from paddle2ov.translation.node_context import NodeContext


def fused_activation(node: NodeContext, x: Tensor) -> Tensor:
    """oneDNN's function of that name, with alpha and beta as oneDNN defines them."""
    name = node.get_str("fuse_activation", "")
    if name in ("", "identity"):
        return _of_paddle_1(node, x)
    alpha, beta = node.get_float("fuse_alpha", 0.0), node.get_float("fuse_beta", 0.0)
    if name in _PLAIN:
        return _PLAIN[name](x)
    if name in ("relu", "leaky_relu"):
        return ops.relu(x) if alpha == 0 else ops.prelu(x, ops.unsqueeze(const_like(alpha, x), ints([0])))
    if name == "relu6":  # up to Paddle 2.2 alpha is the bound
        return ops.clamp(x, 0.0, beta or alpha)
    if name == "clip":
        return ops.clamp(x, alpha, beta)
    if name == "swish":
        return ops.swish(x, const_like(alpha, x))
    node.require(name in ("hard_sigmoid", "hard_swish"), "is not supported", fuse_activation=name)
    if name == "hard_swish" and alpha == beta == 0:  # oneDNN 2 has only these
        alpha, beta = 1 / 6, 0.5
    gate = ops.clamp(ops.add(multiply_by(x, alpha), const_like(beta, x)), 0.0, 1.0)
    return gate if name == "hard_sigmoid" else ops.multiply(x, gate)


def apply_activation(node: NodeContext, x: Tensor, name: str, gelu: str = "erf") -> Tensor:
    """The activation that a fused operator names; an empty name, "none" and "identity" stand for none."""
    known = {"relu": ops.relu, "sigmoid": ops.sigmoid, "tanh": ops.tanh}
    if name in ("", "none", "identity"):
        return x
    if name == "gelu":
        return ops.gelu(x, gelu)
    if name == "relu6":
        return ops.clamp(x, 0.0, 6.0)
    if name not in known:
        node.refuse("this activation is not supported", activation=name)
    return known[name](x)


def _of_paddle_1(node: NodeContext, x: Tensor) -> Tensor:
    """The activation of convolutions that have one attribute per activation."""
    if node.get_bool("fuse_brelu", False):
        return ops.clamp(x, 0.0, node.get_float("fuse_brelu_threshold", 6.0))
    return ops.relu(x) if node.get_bool("fuse_relu", False) else x


_PLAIN: dict[str, Callable[[Tensor], Node]] = {
    "abs": ops.abs,
    "gelu": lambda x: ops.gelu(x, "erf"),
    "gelu_erf": lambda x: ops.gelu(x, "erf"),
    "gelu_tanh": lambda x: ops.gelu(x, "tanh"),
    "mish": ops.mish,
    "sigmoid": ops.sigmoid,
    "sqrt": ops.sqrt,
    "tanh": ops.tanh,
}
