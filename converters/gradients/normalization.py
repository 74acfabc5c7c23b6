"""Gradients of softmaxes, losses and norms.

Semantics: `paddle/phi/kernels/impl/{softmax,huber_loss,kldiv_loss}_grad_kernel_impl.h`,
`paddle/phi/kernels/cpu/{log_softmax,cross_entropy,bce_loss,sigmoid_cross_entropy_with_logits,layer_norm,batch_norm,
group_norm,instance_norm,prelu,swiglu}_grad_kernel.cc`.
Refused: `batch_norm` with the statistics of its batch, as in training; cross entropies of what is no softmax yet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from openvino import Type

from paddle2ov.converters.gradients.terms import gradient, operand, results
from paddle2ov.converters.graph.common import cast_to, const, const_like
from paddle2ov.converters.graph.dims import (
    dim_of,
    dim_range,
    dim_vector,
    index_range,
    normalize_axis,
    rank_of,
    shape_of,
)
from paddle2ov.converters.graph.spatial import channels_last
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.terms import Term, exp, maximum, minimum, select, sigmoid, sqrt
from paddle2ov.translation.node_context import Converter, NamedOutputs, NodeContext


def _summed(x: Term, axes: Sequence[int], keepdims: bool = True) -> Term:
    return Term(ops.reduce_sum(x.value, ints(list(axes)), keepdims))


def _averaged(x: Term, axes: Sequence[int]) -> Term:
    return Term(ops.reduce_mean(x.value, ints(list(axes)), True))


def _reshaped(x: Term, shape: Any) -> Term:
    return Term(ops.reshape(x.value, shape, False))


def _along_axis(formula: Callable[[Term, Term, list[int]], Term]) -> Converter:
    """A converter of a formula of out, out_grad and the axis, of which a 0-D tensor has none."""

    def convert(node: NodeContext) -> NamedOutputs:
        """x_grad, of the gradient of a softmax."""
        out, out_grad = operand(node, "out"), operand(node, "out_grad")
        rank = rank_of(node, out.value)
        axes = [normalize_axis(node, node.get_int("axis", -1), rank)] if rank else []
        return {"x_grad": formula(out, out_grad, axes).value}

    return convert


softmax = _along_axis(lambda out, out_grad, axes: out * (out_grad - _summed(out * out_grad, axes)))
log_softmax = _along_axis(lambda out, out_grad, axes: out_grad - exp(out) * _summed(out_grad, axes))


def cross_entropy(node: NodeContext) -> NamedOutputs:
    """input_grad = (softmax - label) · loss_grad, of a label as one-hot; 0 where it is ignored."""
    node.require(node.get_bool("use_softmax", True), "the gradient is not supported", use_softmax=False)
    out, loss_grad, label = operand(node, "softmax"), operand(node, "loss_grad"), node.get_input("label")
    rank = rank_of(node, out.value)
    axis = normalize_axis(node, node.get_int("axis", -1), rank)
    if node.get_bool("soft_label", False):
        return {"input_grad": ((out - Term(label)) * loss_grad).value}
    classes = cast_to(ops.unsqueeze(label, ints([axis])) if rank_of(node, label) < rank else label, Type.i64)
    shape = [-1 if i == axis else 1 for i in range(rank)]
    numbers = ops.reshape(index_range(dim_of(out.value, axis)), ints(shape), False)
    input_grad = (out - Term(ops.convert(ops.equal(classes, numbers), out.value.get_element_type()))) * loss_grad
    kept = ops.not_equal(classes, const_like(node.get_int("ignore_index", -100), classes))
    return {"input_grad": select(Term(kept), input_grad, 0.0, input_grad).value}


def _clipped(residual: Term, delta: float) -> Term:
    if delta < 0:  # no residual is within
        return select(residual > 0, delta, -delta, residual)
    return maximum(minimum(residual, delta), -delta)


huber_loss = gradient(
    input_grad=lambda residual, out_grad, delta=1.0: -_clipped(residual, delta) * out_grad,
    label_grad=lambda residual, out_grad, delta=1.0: _clipped(residual, delta) * out_grad,
)
bce_loss = gradient(
    input_grad=lambda input, label, out_grad: out_grad * (input - label) / maximum((1 - input) * input, 1e-12)
)


def kldiv_loss(node: NodeContext) -> NamedOutputs:
    """x_grad = -label · out_grad, of a mean its part; 0 where the label is not positive."""
    label, out_grad, x = operand(node, "label"), operand(node, "out_grad"), node.get_input("x")
    if node.get_bool("log_target", False):
        x_grad = -exp(label) * out_grad
    else:
        x_grad = select(label > 0, -(label * out_grad), 0.0, label)
    kind = node.get_str("reduction", "mean")
    if kind in ("mean", "batchmean"):
        dims = shape_of(x) if kind == "mean" else dim_vector(x, [0])
        x_grad = x_grad / Term(ops.convert(ops.reduce_prod(dims, ints([0]), False), x.get_element_type()))
    return {"x_grad": x_grad.value}


def sigmoid_cross_entropy(node: NodeContext) -> NamedOutputs:
    """x_grad = (sigmoid(x) - label) · out_grad; 0 where the label is ignored."""
    node.require(not node.get_bool("normalize", False), "the gradient is not supported", normalize=True)
    x, label, out_grad = (operand(node, name) for name in ("x", "label", "out_grad"))
    derivative = sigmoid(x) - label
    if node.has_input("pos_weight"):
        weight = operand(node, "pos_weight")
        derivative = sigmoid(x) * (label * (weight - 1) + 1) - label * weight
    ignored = label.equals(node.get_int("ignore_index", -100))
    return {"x_grad": select(ignored, 0.0, derivative * out_grad, derivative).value}


def _normalized(x: Term, mean: Term, variance: Term, epsilon: float) -> tuple[Term, Term]:
    """x with mean 0 and variance 1, and the inverse of its deviation."""
    inverse = 1 / sqrt(variance + epsilon)
    return (x - mean) * inverse, inverse


def _norm(
    node: NodeContext, x: Term, given: Term, axes: list[int], scale: Term | None, dims: list[int]
) -> NamedOutputs:
    """The gradients of a norm by the statistics over axes; `dims` are those that scale and bias are summed over."""
    mean = _averaged(x, axes)
    variance = _averaged((x - mean) * (x - mean), axes)
    normal, inverse = _normalized(x, mean, variance, node.get_float("epsilon", 1e-5))
    scaled = given if scale is None else given * scale
    gradients = {
        "x": lambda: (scaled - _averaged(scaled, axes) - normal * _averaged(scaled * normal, axes)) * inverse,
        "scale": lambda: _summed(given * normal, dims),
        "bias": lambda: _summed(given, dims),
    }
    shaped = {f"{name}_grad": partial(_like, node, value, name) for name, value in gradients.items()}
    return results(node, shaped)


def _like(node: NodeContext, value: Callable[[], Term], name: str) -> Term:
    return _reshaped(value(), shape_of(node.get_input(name if node.has_input(name) else "scale")))


def layer_norm(node: NodeContext) -> NamedOutputs:
    """The gradients of (x - mean) / deviation · scale + bias over the last axes."""
    x, out_grad = operand(node, "x"), operand(node, "out_grad")
    rank = rank_of(node, x.value)
    begin = normalize_axis(node, node.get_int("begin_norm_axis", 1), rank, "begin_norm_axis")
    scale = _reshaped(operand(node, "scale"), dim_range(x.value, begin)) if node.has_input("scale") else None
    return _norm(node, x, out_grad, list(range(begin, rank)), scale, list(range(begin)))


def instance_norm(node: NodeContext) -> NamedOutputs:
    """The gradients of (x - mean) / deviation · scale + bias over each image's channels."""
    x, y_grad = operand(node, "x"), operand(node, "y_grad")
    axes = list(range(2, rank_of(node, x.value)))
    scale = _reshaped(operand(node, "scale"), ints([1, -1] + [1] * len(axes))) if node.has_input("scale") else None
    return _norm(node, x, y_grad, axes, scale, [0, *axes])


def group_norm(node: NodeContext) -> NamedOutputs:
    """The gradients of (x - mean) / deviation · scale + bias over groups of channels."""
    node.require(not channels_last(node), "the gradient is not supported", data_format="NHWC")
    x, y_grad = node.get_input("x"), node.get_input("y_grad")
    rank, groups = rank_of(node, x), node.get_int("groups")
    channels = ops.divide(dim_vector(x, [1]), ints([groups]))
    shape = ops.concat([dim_vector(x, [0]), ints([groups]), channels, dim_range(x, 2)], 0)
    normed, by_out = (Term(ops.reshape(value, shape, False)) for value in (x, y_grad))
    per_channel = ops.concat([ints([1, groups]), channels, ints([1] * (rank - 2))], 0)
    scale = _reshaped(operand(node, "scale"), per_channel) if node.has_input("scale") else None
    axes = list(range(2, rank + 1))
    return _norm(node, normed, by_out, axes, scale, [0, *axes[1:]])


def batch_norm(node: NodeContext) -> NamedOutputs:
    """The gradients of (x - mean) / deviation · scale + bias, whose statistics are those of training."""
    fixed = node.get_bool("is_test", False) and not node.get_bool("trainable_statistics", False)
    node.require(
        fixed or node.get_bool("use_global_stats", False),
        "the gradient of batch statistics is for training",
        is_test=False,
    )
    x, out_grad = operand(node, "x"), operand(node, "out_grad")
    rank = rank_of(node, x.value)
    channel = rank - 1 if channels_last(node) or rank == 2 else 1
    shape = ints([-1 if axis == channel else 1 for axis in range(rank)])
    mean, variance = (_reshaped(operand(node, f"{name}_out"), shape) for name in ("mean", "variance"))
    normal, inverse = _normalized(x, mean, variance, node.get_float("epsilon", 1e-5))
    axes = [axis for axis in range(rank) if axis != channel]
    scale = _reshaped(operand(node, "scale"), shape) if node.has_input("scale") else Term(const(1.0, Type.f32))
    gradients = {
        "x_grad": lambda: out_grad * scale * inverse,
        "scale_grad": lambda: _summed(out_grad * normal, axes, False),
        "bias_grad": lambda: _summed(out_grad, axes, False),
    }
    return results(node, gradients)


def prelu(node: NodeContext) -> NamedOutputs:
    """x_grad = out_grad, times alpha where x is not positive; alpha_grad = the sum of out_grad · x there."""
    x, out_grad, alpha = (operand(node, name) for name in ("x", "out_grad", "alpha"))
    rank, mode = rank_of(node, x.value), node.get_str("mode", "all")
    channel = rank - 1 if channels_last(node) else 1
    shape = ints([-1 if axis == channel else 1 for axis in range(rank)])
    if mode == "element":
        shape = ops.concat([ints([1]), dim_range(x.value, 1)], 0)
    slope = _reshaped(alpha, shape)
    axes = [
        axis for axis in range(rank) if axis == 0 or not (mode == "element" or (mode == "channel" and axis == channel))
    ]
    gradients = {
        "x_grad": lambda: select(x > 0, out_grad, out_grad * slope, out_grad),
        "alpha_grad": lambda: _like(node, lambda: _summed(select(x > 0, 0.0, out_grad * x, out_grad), axes), "alpha"),
    }
    return results(node, gradients)


def swiglu(node: NodeContext) -> NamedOutputs:
    """The gradients of silu(x) · y; of x alone, whose halves they are, of both together."""
    x, out_grad = operand(node, "x"), operand(node, "out_grad")
    halved = not node.has_input("y")
    if halved:
        halves = ops.split(x.value, ints(-1), 2)
        left, right = Term(halves.output(0)), Term(halves.output(1))
    else:
        left, right = x, operand(node, "y")
    gate = sigmoid(left)
    by_x, by_y = out_grad * right * gate * (left * (1 - gate) + 1), out_grad * left * gate
    if halved:
        return {"x_grad": ops.concat([by_x.value, by_y.value], -1)}
    return results(node, {"x_grad": lambda: by_x, "y_grad": lambda: by_y})


atan2 = gradient(
    x_grad=lambda x, y, out_grad: out_grad * y / (x * x + y * y),
    y_grad=lambda x, y, out_grad: -(out_grad * x) / (x * x + y * y),
)
