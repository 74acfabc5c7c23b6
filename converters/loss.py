"""Losses that occur in inference programs.

Paddle: `softmax_with_cross_entropy` (PIR `cross_entropy_with_softmax`), `label_smooth`, `bce_loss`, `huber_loss`,
`log_loss`.
Semantics: `paddle/phi/kernels/cpu/{cross_entropy,label_smooth,bce_loss}_kernel.cc`,
`impl/{huber_loss,log_loss}_kernel_impl.h`,
`paddle/phi/kernels/funcs/cross_entropy.cc`.
"""

from __future__ import annotations

import math

from openvino import Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const_like, dim_of, normalize_axis, rank_of
from paddle2ov.converters.softmax import bounded_logits
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def softmax_with_cross_entropy(node: NodeContext) -> NamedOutputs:
    """loss = -log(softmax(input)[label]), or -sum(label * log(softmax(input))) for soft labels; 0 at `ignore_index`."""
    x, target = node.get_input("input"), node.get_input("label")
    rank = rank_of(node, x)
    axis = normalize_axis(node, node.get_int("axis", -1), rank)
    softmax: Tensor
    if node.get_bool("use_softmax", True):
        logits = bounded_logits(x, axis)
        softmax, logarithm = ops.softmax(logits, axis), ops.log_softmax(logits, axis)
    else:
        softmax, logarithm = x, ops.maximum(ops.log(x), const_like(-1e20, x))
    if node.get_bool("soft_label", False):
        cross_entropy = ops.reduce_sum(ops.multiply(target, logarithm), ints([axis]), True)
        return {"softmax": softmax, "loss": ops.negative(cross_entropy)}
    label: Tensor = target if rank_of(node, target) >= rank else ops.unsqueeze(target, ints([axis]))
    label = cast_to(label, Type.i64)  # the ignored index may be out of range for a narrow type
    ignored = ops.equal(label, const_like(node.get_int("ignore_index", -100), label))
    class_indices = ops.select(ignored, const_like(0, label), label)
    loss = ops.negative(ops.gather_elements(logarithm, class_indices, axis))
    return {"softmax": softmax, "loss": ops.select(ignored, const_like(0, x), loss)}


def label_smooth(node: NodeContext) -> NamedOutputs:
    """out = (1 - epsilon) * label + epsilon * prior_dist; without a prior, 1 / (number of classes) for it."""
    label, epsilon = node.get_input("label"), node.get_float("epsilon", 0.0)
    kept = ops.multiply(label, const_like(1.0 - epsilon, label))
    if node.has_input("prior_dist"):
        prior = ops.multiply(node.get_input("prior_dist"), const_like(epsilon, label))
        return {"out": ops.add(kept, ops.reshape(prior, ints([-1]), False))}
    classes = cast_to(dim_of(label, -1), label.get_element_type())
    return {"out": ops.add(kept, ops.divide(const_like(epsilon, label), classes))}


def bce_loss(node: NodeContext) -> NamedOutputs:
    """out = -(label * log(input) + (1 - label) * log(1 - input)), with logarithms of at least -100."""
    x, label = node.get_input("input"), node.get_input("label")
    yes = ops.maximum(ops.log(x), const_like(-100.0, x))
    no = ops.maximum(ops.log(ops.subtract(const_like(1.0, x), x)), const_like(-100.0, x))
    unlike = ops.multiply(ops.subtract(label, const_like(1.0, x)), no)
    return {"out": ops.subtract(unlike, ops.multiply(label, yes))}


def huber_loss(node: NodeContext) -> NamedOutputs:
    """residual = label - input; out = residual^2 / 2 up to delta, delta * (|residual| - delta / 2) beyond."""
    x, label, delta = node.get_input("input"), node.get_input("label"), node.get_float("delta")
    residual = ops.subtract(label, x)
    size = ops.abs(residual)
    near = ops.multiply(ops.multiply(residual, residual), const_like(0.5, x))
    far = ops.multiply(ops.subtract(size, const_like(0.5 * delta, x)), const_like(delta, x))
    return {"out": ops.select(ops.less_equal(size, const_like(delta, x)), near, far), "residual": residual}


@works_around("constants_of_sums_merged")
def log_loss(node: NodeContext) -> NamedOutputs:
    """out = -label * log(input + epsilon) - (1 - label) * log(1 - input + epsilon)."""
    x, label, epsilon = node.get_input("input"), node.get_input("label"), node.get_float("epsilon")
    yes = ops.log(ops.add(x, const_like(epsilon, x)))
    # A Maximum between the sums, which OpenVINO would fold into one: 1 + epsilon, rounded, minus x.
    rest = ops.maximum(const_like(-math.inf, x), ops.subtract(const_like(1.0, x), x))
    no = ops.log(ops.add(rest, const_like(epsilon, x)))
    unlike = ops.multiply(ops.subtract(label, const_like(1.0, x)), no)
    return {"out": ops.subtract(unlike, ops.multiply(label, yes))}
