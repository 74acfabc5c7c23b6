"""Activation functions.

Paddle: `relu`, `relu6`, `leaky_relu`, `elu`, `celu`, `selu`, `gelu`, `sigmoid`, `hard_sigmoid`, `hard_swish`, `swish`,
`silu`, `mish`, `softplus`, `softsign`, `softshrink`, `hard_shrink`, `tanh_shrink`, `thresholded_relu`, `stanh`,
`logsigmoid`, `tanh`, `brelu` (PIR `hardtanh`), `soft_relu`.
Semantics: `paddle/phi/kernels/funcs/activation_functor.h`, `paddle/phi/kernels/cpu/{activation,gelu,selu}_kernel.cc`.

Legacy programs carry `beta` of `swish`, `threshold`, `scale` and `offset` of `hard_swish`, and `threshold` of `relu6`;
they are honoured in programs of Paddle before 2.6 (later kernels have the defaults built in).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from openvino import Output

from paddle2ov.converters.graph.common import Tensor, const_like
from paddle2ov.converters.graph.operands import real_input
from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import Converter, NamedOutputs, NodeContext


def unary(build: Callable[[Output], Tensor]) -> Converter:
    """A converter for out = build(x) on floating-point numbers; integers are converted first, as Paddle 3 does."""

    def convert(node: NodeContext) -> NamedOutputs:
        """out = f(x)."""
        return {"out": build(real_input(node))}

    return convert


def _old_attribute(node: NodeContext, name: str, default: float) -> float:
    """The attribute of a program of Paddle before 2.6, whose kernels read it; the default in newer ones."""
    value = node.get_float(name, default)
    return value if node.semantics.read_attributes else default


def relu6(node: NodeContext) -> NamedOutputs:
    """out = min(max(x, 0), threshold)."""
    return {"out": ops.clamp(real_input(node), 0.0, _old_attribute(node, "threshold", 6.0))}


def leaky_relu(node: NodeContext) -> NamedOutputs:
    """out = x where x > 0, negative_slope · x elsewhere; before Paddle 2.0 the larger of both."""
    x = real_input(node)
    slope = node.get_float("negative_slope", 0.02)
    if node.semantics.joins_parts and not 0 <= slope <= 1:
        return {"out": ops.maximum(x, ops.multiply(x, const_like(slope, x)))}
    return {"out": ops.prelu(x, ops.constant(np.array([slope]), x.get_element_type()))}


def elu(node: NodeContext) -> NamedOutputs:
    """out = x where x >= 0, alpha · (e^x - 1) elsewhere; before Paddle 2.3 max(x, 0) + min(alpha · (e^x - 1), 0)."""
    x = real_input(node)
    alpha = node.get_float("alpha", 1.0)
    if node.semantics.joins_parts and alpha < 0:
        growth = ops.multiply(ops.subtract(ops.exp(x), const_like(1, x)), const_like(alpha, x))
        return {"out": ops.add(ops.relu(x), ops.minimum(growth, const_like(0, x)))}
    return {"out": ops.elu(x, alpha)}


def celu(node: NodeContext) -> NamedOutputs:
    """out = x where x >= 0, alpha · (e^(x / alpha) - 1) elsewhere, which is 0 for an alpha of 0."""
    x = real_input(node)
    alpha = node.get_float("alpha", 1.0)
    if alpha == 0:
        return {"out": ops.relu(x)}
    if alpha == 1:
        return {"out": ops.elu(x, 1.0)}
    growth = ops.subtract(ops.exp(ops.divide(x, const_like(alpha, x))), const_like(1, x))
    return {"out": ops.select(ops.less(x, const_like(0, x)), ops.multiply(growth, const_like(alpha, x)), x)}


@works_around("selu_of_alpha_zero")
def selu(node: NodeContext) -> NamedOutputs:
    """out = scale · (x where x > 0, alpha · (e^x - 1) elsewhere)."""
    x = real_input(node)
    scale = node.get_float("scale", 1.0507009873554804934193349852946)
    alpha = node.get_float("alpha", 1.6732632423543772848170429916717)
    if alpha == 0:  # OpenVINO's Selu takes 0 for "not given"
        return {"out": ops.multiply(ops.relu(x), const_like(scale, x))}
    return {"out": ops.selu(x, const_like(alpha, x), const_like(scale, x))}


def gelu(node: NodeContext) -> NamedOutputs:
    """out = x · Φ(x), Φ of the normal distribution by erf, or approximately by tanh."""
    return {"out": ops.gelu(real_input(node), "tanh" if node.get_bool("approximate", False) else "erf")}


@works_around("hard_sigmoid_of_alpha_zero")
def hard_sigmoid(node: NodeContext) -> NamedOutputs:
    """out = min(max(slope · x + offset, 0), 1)."""
    x = real_input(node)
    slope, offset = node.get_float("slope", 0.2), node.get_float("offset", 0.5)
    if math.isclose(slope, 1 / 6, rel_tol=1e-6) and offset == 0.5:
        return {"out": ops.hsigmoid(x)}
    # The CPU plugin has HardSigmoid neither as a post-op nor vectorized, and takes 0 for "not given".
    line = ops.add(ops.multiply(x, const_like(slope, x)), const_like(offset, x))
    return {"out": ops.clamp(line, 0.0, 1.0)}


def hard_swish(node: NodeContext) -> NamedOutputs:
    """out = x · min(max(x + offset, 0), threshold) / scale."""
    x = real_input(node)
    threshold, scale = _old_attribute(node, "threshold", 6.0), _old_attribute(node, "scale", 6.0)
    offset = _old_attribute(node, "offset", 3.0)
    if (threshold, scale, offset) == (6, 6, 3):
        return {"out": ops.hswish(x)}
    node.require(threshold >= 0, "a negative threshold has no gate between 0 and it", threshold=threshold)
    gate = ops.clamp(ops.add(x, const_like(offset, x)), 0.0, threshold)
    return {"out": ops.divide(ops.multiply(gate, x), const_like(scale, x))}


def swish(node: NodeContext) -> NamedOutputs:
    """out = x · sigmoid(beta · x)."""
    x = real_input(node)
    beta = _old_attribute(node, "beta", 1.0)
    return {"out": ops.swish(x, const_like(beta, x))}


def mish(node: NodeContext) -> NamedOutputs:
    """out = x · tanh(ln(1 + e^x)), and x · tanh(x) where x > lambda."""
    x = real_input(node)
    threshold = node.get_float("lambda", 20.0)
    if threshold >= _LINEAR_FROM:
        return {"out": ops.mish(x)}
    beyond = ops.greater(x, const_like(threshold, x))
    return {"out": ops.select(beyond, ops.multiply(x, ops.tanh(x)), ops.mish(x))}


def softplus(node: NodeContext) -> NamedOutputs:
    """out = ln(1 + e^(beta · x)) / beta, which is infinite for a beta of 0, and x where beta · x > threshold."""
    x = real_input(node)
    beta, threshold = node.get_float("beta", 1.0), node.get_float("threshold", 20.0)
    if beta == 1 and threshold >= _LINEAR_FROM:
        return {"out": ops.softplus(x)}
    scaled = ops.multiply(x, const_like(beta, x)) if beta != 1 else x
    curve = ops.softplus(scaled)
    if beta != 1:
        curve = ops.divide(curve, const_like(beta, x))
    if threshold >= _LINEAR_FROM and abs(beta) < _SAFE_FACTOR:
        return {"out": curve}
    return {"out": ops.select(ops.greater(scaled, const_like(threshold, x)), x, curve)}


_SAFE_FACTOR = 1e6
"""By a larger one a product with what a network computes may overflow."""
_LINEAR_FROM = 17.0
"""From here on ln(1 + e^x) = x in float32, so a larger threshold changes nothing."""


def softshrink(node: NodeContext) -> NamedOutputs:
    """out = x - threshold where x > threshold, x + threshold where x < -threshold, 0 elsewhere."""
    x = real_input(node)
    threshold = node.get_float("threshold", 0.5)
    node.require(threshold >= 0, "negative", threshold=threshold)
    return {"out": ops.subtract(x, ops.clamp(x, -threshold, threshold))}


def hard_shrink(node: NodeContext) -> NamedOutputs:
    """out = x where x > threshold or x < -threshold, 0 elsewhere; before Paddle 2.0 2x where both hold."""
    x = real_input(node)
    threshold = node.get_float("threshold", 0.5)
    if node.semantics.joins_parts and threshold < 0:
        return {"out": ops.select(ops.less(ops.abs(x), const_like(-threshold, x)), ops.add(x, x), x)}
    kept = ops.logical_or(ops.greater(x, const_like(threshold, x)), ops.less(x, const_like(-threshold, x)))
    return {"out": ops.select(kept, x, const_like(0, x))}


def thresholded_relu(node: NodeContext) -> NamedOutputs:
    """out = x where x > threshold, value elsewhere."""
    x = real_input(node)
    above = ops.greater(x, const_like(node.get_float("threshold", 1.0), x))
    return {"out": ops.select(above, x, const_like(node.get_float("value", 0.0), x))}


def stanh(node: NodeContext) -> NamedOutputs:
    """out = scale_b · tanh(scale_a · x)."""
    x = real_input(node)
    scale_a, scale_b = node.get_float("scale_a", 0.67), node.get_float("scale_b", 1.7159)
    return {"out": ops.multiply(ops.tanh(ops.multiply(x, const_like(scale_a, x))), const_like(scale_b, x))}


def brelu(node: NodeContext) -> NamedOutputs:
    """out = min(max(x, t_min), t_max)."""
    x = real_input(node)
    low, high = node.get_float("t_min", 0.0), node.get_float("t_max", 24.0)
    if low <= high:
        return {"out": ops.clamp(x, low, high)}
    return {"out": ops.minimum(ops.maximum(x, const_like(low, x)), const_like(high, x))}


def soft_relu(node: NodeContext) -> NamedOutputs:
    """out = ln(1 + e^min(max(x, -threshold), threshold))."""
    threshold = node.get_float("threshold", 40.0)
    return {"out": ops.softplus(ops.clamp(real_input(node), -threshold, threshold))}


relu = unary(ops.relu)
sigmoid = unary(ops.sigmoid)
silu = unary(lambda x: ops.swish(x, const_like(1, x)))
softsign = unary(ops.softsign)
tanh = unary(ops.tanh)
tanh_shrink = unary(lambda x: ops.subtract(x, ops.tanh(x)))
logsigmoid = unary(lambda x: ops.negative(ops.softplus(ops.negative(x))))
