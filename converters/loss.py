"""Losses that occur in inference programs, and accuracy.

Paddle: `softmax_with_cross_entropy` (PIR `cross_entropy_with_softmax`), `label_smooth`, `bce_loss`, `huber_loss`,
`log_loss`, `nll_loss`, `kldiv_loss`, `sigmoid_cross_entropy_with_logits`, `hinge_loss`, `identity_loss`, `accuracy`.
Semantics: `paddle/phi/kernels/cpu/{cross_entropy,label_smooth,bce_loss,nll_loss,sigmoid_cross_entropy_with_logits,
identity_loss,accuracy}_kernel.cc`, `paddle/phi/kernels/impl/{huber_loss,log_loss,kldiv_loss}_kernel_impl.h`,
`paddle/phi/kernels/funcs/cross_entropy.cc`, EigenHingeLoss in `paddle/phi/kernels/funcs/eigen`.
A label out of range is an error in Paddle; OpenVINO does not check it.
"""

from __future__ import annotations

import math

from openvino import Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const_like
from paddle2ov.converters.graph.dims import dim_of, input_along_axis, rank_of
from paddle2ov.converters.graph.reshaping import scalar_as_declared
from paddle2ov.converters.softmax import bounded_logits
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.terms import Term, abs_, log, maximum, select
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def softmax_with_cross_entropy(node: NodeContext) -> NamedOutputs:
    """loss = -log(softmax(input)[label]), or -sum(label * log(softmax(input))) for soft labels; 0 at `ignore_index`."""
    (x, rank, axis), target = input_along_axis(node, -1, "input"), node.get_input("label")
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
    x, label = _terms(node, "input", "label")
    yes, no = maximum(log(x), -100.0), maximum(log(1 - x), -100.0)
    return {"out": ((label - 1) * no - label * yes).value}


def huber_loss(node: NodeContext) -> NamedOutputs:
    """residual = label - input; out = residual^2 / 2 up to delta, delta * (|residual| - delta / 2) beyond."""
    (x, label), delta = _terms(node, "input", "label"), node.get_float("delta")
    residual = label - x
    size = abs_(residual)
    out = select(size <= delta, residual * residual * 0.5, (size - 0.5 * delta) * delta)
    return {"out": out.value, "residual": residual.value}


@works_around("constants_of_sums_merged")
def log_loss(node: NodeContext) -> NamedOutputs:
    """out = -label * log(input + epsilon) - (1 - label) * log(1 - input + epsilon)."""
    (x, label), epsilon = _terms(node, "input", "label"), node.get_float("epsilon")
    # A Maximum between the sums, which OpenVINO would fold into one: 1 + epsilon, rounded, minus x.
    yes, no = log(x + epsilon), log(maximum(1 - x, -math.inf) + epsilon)
    return {"out": ((label - 1) * no - label * yes).value}


def nll_loss(node: NodeContext) -> NamedOutputs:
    """out = -weight[label] * input[label], 0 at `ignore_index`; their sum or mean by weight, and the sum of weights.

    Paddle leaves the sum of weights at 0 where nothing is reduced.
    """
    x, label = node.get_input("input"), ops.unsqueeze(node.get_input("label"), ints([1]))
    ignored = ops.equal(label, const_like(node.get_int("ignore_index", -100), label))
    class_indices = cast_to(ops.select(ignored, const_like(0, label), label), Type.i64)
    counted: Tensor = cast_to(ops.logical_not(ignored), x.get_element_type())
    if node.has_input("weight"):
        counted = ops.multiply(ops.gather(node.get_input("weight"), class_indices, ints(0)), counted)
    losses = ops.negative(ops.multiply(ops.gather_elements(x, class_indices, 1), counted))
    losses = ops.select(ignored, const_like(0, x), losses)  # a logarithm of 0 times no weight would be NaN
    axes = ints(list(range(rank_of(node, x))))
    reduction = node.get_str("reduction", "mean")
    if reduction == "none":
        nothing = scalar_as_declared(node, const_like(0, x), "total_weight")
        return {"out": ops.squeeze(losses, ints([1])), "total_weight": nothing}
    node.require(reduction in ("mean", "sum"), "unknown", reduction=reduction)
    weights = ops.reduce_sum(counted, axes, False)
    total = ops.reduce_sum(losses, axes, False)
    if reduction == "mean":
        divisor = ops.select(ops.equal(weights, const_like(0, x)), const_like(1, x), weights)
        total = ops.divide(total, divisor)
    return {"out": scalar_as_declared(node, total), "total_weight": scalar_as_declared(node, weights, "total_weight")}


def kldiv_loss(node: NodeContext) -> NamedOutputs:
    """out = label * (log(label) - x), 0 where label <= 0; with `log_target` e^label * (label - x)."""
    x, label = node.get_input("x"), node.get_input("label")
    if node.get_bool("log_target", False):
        losses = ops.multiply(ops.exp(label), ops.subtract(label, x))
    else:
        nothing = ops.less_equal(label, const_like(0, label))
        logarithm = ops.log(ops.select(nothing, const_like(1, label), label))
        losses = ops.select(nothing, const_like(0, x), ops.multiply(label, ops.subtract(logarithm, x)))
    reduction = node.get_str("reduction", "mean")
    if reduction == "none":
        return {"out": losses}
    node.require(reduction in ("mean", "sum", "batchmean"), "unknown", reduction=reduction)
    axes = ints(list(range(rank_of(node, x))))
    out = (ops.reduce_mean if reduction == "mean" else ops.reduce_sum)(losses, axes, False)
    if reduction == "batchmean":
        out = ops.divide(out, cast_to(dim_of(x, 0), x.get_element_type()))
    return {"out": scalar_as_declared(node, out)}


def sigmoid_cross_entropy_with_logits(node: NodeContext) -> NamedOutputs:
    """out = max(x, 0) - x * label + log(1 + e^-|x|); with pos_weight (1 - label) * x + pos_weight * log(1 + e^-x)."""
    x, label = node.get_input("x"), node.get_input("label")
    ignored_label = node.get_int("ignore_index", -100)
    weighted = node.has_input("pos_weight")
    if weighted and not node.semantics.weighted_rest:
        unlike = ops.multiply(ops.subtract(const_like(1, x), label), x)
        out = ops.add(unlike, ops.multiply(node.get_input("pos_weight"), ops.softplus(ops.negative(x))))
    else:
        rest = ops.softplus(ops.negative(ops.abs(x)))
        if weighted:  # as Paddle 2.6 does
            rest = ops.multiply(node.get_input("pos_weight"), rest)
        out = ops.add(ops.subtract(ops.relu(x), ops.multiply(x, label)), rest)
    ignored = ops.equal(ops.convert(label, Type.i32), const_like(ignored_label, ops.convert(label, Type.i32)))
    out = ops.select(ignored, const_like(0, x), out)
    if node.get_bool("normalize", False):
        apart = ops.abs(ops.subtract(label, const_like(ignored_label, label)))
        counted = ops.convert(ops.greater(apart, const_like(1e-6, label)), x.get_element_type())
        out = ops.divide(out, ops.reduce_sum(counted, ints(list(range(rank_of(node, x)))), False))
    return {"out": out}


def hinge_loss(node: NodeContext) -> NamedOutputs:
    """loss = max(0, 1 - logits * (2 * labels - 1))."""
    x, label = _terms(node, "logits", "labels")
    return {"loss": ops.relu((1 - x * (label * 2 - 1)).value)}


def _terms(node: NodeContext, *names: str) -> list[Term]:
    return [Term(node.get_input(name)) for name in names]


def identity_loss(node: NodeContext) -> NamedOutputs:
    """out = the sum of x (reduction 0), its mean (1), or x itself (2)."""
    x, reduction = node.get_input("x"), node.get_int("reduction", 1)
    node.require(reduction in (0, 1, 2), "unknown", reduction=reduction)
    if reduction == 2:
        return {"out": x}
    axes = ints(list(range(rank_of(node, x))))
    return {"out": scalar_as_declared(node, (ops.reduce_mean if reduction else ops.reduce_sum)(x, axes, False))}


def accuracy(node: NodeContext) -> NamedOutputs:
    """accuracy = correct / total; correct = the number of rows whose indices contain the label."""
    indices = node.get_input("indices")
    rows = dim_of(node.get_input("x"), 0)
    label = ops.reshape(node.get_input("label"), ints([-1, 1]), False)
    label = ops.slice(label, ints([0]), ops.unsqueeze(rows, ints(0)), ints([1]))
    hits = ops.reduce_logical_or(ops.equal(indices, cast_to(label, indices.get_element_type())), ints([1]), False)
    correct, total = ops.reduce_sum(ops.convert(hits, Type.i32), ints([0]), False), ops.convert(rows, Type.i32)
    share = ops.divide(ops.convert(correct, Type.f32), ops.convert(total, Type.f32))
    outputs = {"accuracy": share, "correct": correct, "total": total}
    return {name: scalar_as_declared(node, value, name) for name, value in outputs.items()}
