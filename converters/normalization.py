"""Normalization by statistics of the data or of the training set.

Paddle: `batch_norm` (PIR `batch_norm_`), `sync_batch_norm`, `inplace_abn` (legacy only), `layer_norm`,
`group_norm`, `instance_norm`.
Semantics: `paddle/phi/kernels/cpu/{batch_norm,layer_norm,group_norm,instance_norm}_kernel.cc`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const, const_like, reshape
from paddle2ov.converters.graph.dims import (
    checked_dims,
    dim_range,
    dim_vector,
    normalize_axis,
    rank_of,
    shape_of,
    static_rank,
)
from paddle2ov.converters.graph.spatial import channels_last, ranked_dims, to_channels_first, to_channels_last
from paddle2ov.graph.expected_dims import expect_elements
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import static_dims
from paddle2ov.graph.terms import Term, sqrt
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

_SHORT_ROW = 1 << 16
"""So many numbers OpenVINO may sum up in one go: six digits are left."""


def batch_norm(node: NodeContext) -> NamedOutputs:
    """out = (x - mean) / sqrt(variance + epsilon) * scale + bias, per channel, with the statistics of training."""
    x = node.get_input("x")
    dims = checked_dims(node, x)
    rank = len(dims)
    if rank < 2:
        node.refuse(f"an input of rank {rank} has no channels")
    last = channels_last(node) or rank == 2
    channel = rank - 1 if last else 1
    if dims[channel] is None and node.has_input("scale"):
        x = expect_elements(x, [channel], node.input_dims("scale"))
    shape = [-1] if last else [1, -1] + [1] * (rank - 2)
    epsilon = node.get_float("epsilon", 1e-5)
    fixed = node.get_bool("is_test", False) and not node.get_bool("trainable_statistics", False)
    if not (fixed or node.get_bool("use_global_stats", False)):
        return _batch_statistics(node, x, rank, last, shape, epsilon)
    # The saved ones are results for gradients, which do not read them where statistics are fixed.
    kept = {"mean_out": "mean", "variance_out": "variance", "saved_mean": "mean", "saved_variance": "variance"}
    kept["reserve_space"] = "mean"
    unchanged = {result: node.get_input(name) for result, name in kept.items() if node.is_output_used(result)}
    factor, shift = _scale_and_shift(node, epsilon, shape, x.get_element_type())
    out = ops.add(ops.multiply(x, factor), shift)
    if node.get_bool("fuse_with_relu", False):
        out = ops.relu(out)
    return {"out": out, **unchanged}


def inplace_abn(node: NodeContext) -> NamedOutputs:
    """out = activation(batch_norm(x)), where activation is identity, leaky_relu or elu of slope alpha."""
    named = dict(batch_norm(node))
    activation, alpha = node.get_str("activation", ""), node.get_float("alpha", 0.1)
    node.require(activation in ("", "identity", "leakyrelu", "leaky_relu", "elu"), "unknown", activation=activation)
    x = named["out"]
    assert isinstance(x, Node)
    if activation == "elu":
        named["out"] = ops.elu(x, alpha)
    elif activation.startswith("leaky"):
        named["out"] = ops.prelu(x, const([alpha], x.get_element_type()))
    return named


def _scale_and_shift(node: NodeContext, epsilon: float, shape: list[int], kind: Type) -> tuple[Tensor, Tensor]:
    """(factor, shift) such that out = x * factor + shift; constants if the statistics are known."""
    names = ["mean", "variance", *filter(node.has_input, ("scale", "bias"))]
    values: dict[str, Any] = dict(zip(names, map(node.get_known, names), strict=True))
    is_known = not [name for name in names if values[name] is None]
    root: Callable[[Any], Any] = np.sqrt
    if not is_known:
        values, root = {name: Term(node.get_input(name)) for name in names}, sqrt
    factor = values.get("scale", 1) / root(values["variance"] + epsilon)
    shift = values.get("bias", 0) - values["mean"] * factor
    if is_known:
        # Multiply and Add with constants of one consumer each: OpenVINO fuses them into the convolution before.
        return const(factor.reshape(shape), kind), const(shift.reshape(shape), kind)
    return cast_to(reshape(factor.value, shape), kind), cast_to(reshape(shift.value, shape), kind)


def _batch_statistics(
    node: NodeContext, x: Output, rank: int, last: bool, shape: list[int], epsilon: float
) -> NamedOutputs:
    """The training form: mean and (biased) variance of the batch itself, running statistics updated by momentum.

    A channel of one element is unchanged: its scale and bias are not applied.
    """
    channel = rank - 1 if last else 1
    mean, centred, variance = _moments(x, [axis for axis in range(rank) if axis != channel])
    deviation = ops.sqrt(ops.add(variance, const_like(epsilon, x)))
    out = _affine(node, ops.divide(centred, deviation), shape)
    alone = _only_element(x, channel)
    results: dict[str, Tensor] = {"out": _unless(alone, out, x)}
    for name, statistic in (("mean", mean), ("variance", variance)):
        flat = reshape(statistic, [-1])
        if node.is_output_used(f"{name}_out"):
            momentum = node.get_float("momentum", 0.9)
            running = node.get_input(name)
            kept = ops.multiply(running, const_like(momentum, running))
            fresh = cast_to(flat, running.get_element_type())
            moved = ops.add(kept, ops.multiply(fresh, const_like(1.0 - momentum, running)))
            results[f"{name}_out"] = _unless(alone, moved, running)
    nothing = const_like(0.0, x)
    results["saved_mean"] = _unless(alone, reshape(mean, [-1]), nothing)
    if node.is_output_used("saved_variance"):
        inverse = reshape(ops.divide(const_like(1.0, x), deviation), [-1])
        results["saved_variance"] = _unless(alone, inverse, nothing)
    return results


def _only_element(x: Output, channel: int) -> Node | None:
    """Whether each channel has a single element, which Paddle does not normalize; None: they have more."""
    others = [axis for axis in range(static_rank(x)) if axis != channel]
    if any((ranked_dims(x)[axis] or 0) > 1 for axis in others):
        return None
    return ops.equal(ops.reduce_prod(dim_vector(x, others), ints([0]), False), ints(1))


def _unless(condition: Node | None, out: Node, other: Tensor) -> Tensor:
    return out if condition is None else ops.select(condition, other, out)


def layer_norm(node: NodeContext) -> NamedOutputs:
    """out = (x - mean) / sqrt(variance + epsilon) * scale + bias over the dimensions from begin_norm_axis on."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    begin = normalize_axis(node, node.get_int("begin_norm_axis", 1), rank, "begin_norm_axis")
    out = layer_norm_of(node, x, begin, node.get_float("epsilon", 1e-5))
    if not node.is_output_used("mean") and not node.is_output_used("variance"):
        return {"out": out}
    mean, _, variance = _moments(x, list(range(begin, rank)))
    return {"out": out, "mean": reshape(mean, [-1]), "variance": reshape(variance, [-1])}


def layer_norm_of(
    node: NodeContext, x: Output, begin: int, epsilon: float, scale: str = "scale", bias: str = "bias"
) -> Node:
    """x normalized over the dimensions from `begin` on, times scale plus bias if there are any, which are 1-D."""
    rank = rank_of(node, x)
    axes = list(range(rank))[begin:]
    x = _expect_elements(node, x, axes, scale, bias)
    out = ops.mvn(x, ints(axes), True, epsilon, "inside_sqrt")
    for name, combine in ((scale, ops.multiply), (bias, ops.add)):
        if node.has_input(name):
            out = combine(out, reshape_to_normalized(node, name, x, axes[0], rank))
    return out


def reshape_to_normalized(node: NodeContext, name: str, x: Output, begin: int, rank: int) -> Tensor:
    """A 1-D input over the dimensions of `x` from `begin` on, in their shape and of the type of `x`."""
    kind, dims = x.get_element_type(), ranked_dims(x)[begin:]
    if rank - begin == 1:
        return cast_to(node.get_input(name), kind)
    if dims.count(None) <= 1:
        return cast_to(node.get_reshaped(name, [-1 if dim is None else dim for dim in dims]), kind)
    return cast_to(ops.reshape(node.get_input(name), dim_range(x, begin), False), kind)


def _moments(x: Tensor, axes: list[int]) -> tuple[Node, Node, Node]:
    """The mean over axes, which stay with size 1; the distances from it; and the (biased) variance."""
    mean = ops.reduce_mean(x, ints(axes), True)
    centred = ops.subtract(x, mean)
    return mean, centred, ops.reduce_mean(ops.multiply(centred, centred), ints(axes), True)


@works_around("group_normalization_in_residual_block")
def group_norm(node: NodeContext) -> NamedOutputs:
    """y = (x - mean) / sqrt(variance + epsilon) * scale + bias over each group of channels and all positions."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    last = channels_last(node)
    groups = node.get_int("groups")
    epsilon = node.get_float("epsilon", 1e-5)
    node.require(rank > 1, f"an input of rank {rank} has no channels to normalize")
    if last:
        x = to_channels_first(x, rank).output(0)
    x = _expect_elements(node, x, [1])
    channels = x.get_partial_shape()[1]
    fits = groups > 0 and (channels.is_dynamic or channels.get_length() % groups == 0)
    node.require(fits, f"not a divisor of {channels.to_string()} channels", groups=groups)
    # The CPU plugin sums up one channel at a time, in float32. Of a group in a single row, which takes less time where
    # it is short, it loses digits: of a million numbers, four are left.
    whole = static_dims(x)
    is_short = whole is not None and math.prod(whole[1:]) <= _SHORT_ROW * groups
    keeps_channels = channels.is_static and 3 <= rank <= 5 and not is_short
    target = [-1, channels.get_length() // groups] + [0] * (rank - 2) if keeps_channels else [0, groups, -1]
    axes = list(range(1, rank)) if keeps_channels else [2]
    # Not GroupNormalization: OpenVINO 2026.4 crashes compiling the sum of its result and of an elementwise result that
    # it was computed from, as in residual blocks.
    normalized = ops.mvn(ops.reshape(x, ints(target), True), ints(axes), True, epsilon, "inside_sqrt")
    out = ops.reshape(normalized, shape_of(x), False)
    out = _affine(node, out, [1, -1] + [1] * (rank - 2))
    results: dict[str, Node] = {"y": to_channels_last(out, rank) if last else out}
    if node.is_output_used("mean") or node.is_output_used("variance"):
        mean, _, variance = _moments(ops.reshape(x, ints([0, groups, -1]), True), [2])
        results["mean"], results["variance"] = ops.squeeze(mean, ints([2])), ops.squeeze(variance, ints([2]))
    return results


def instance_norm(node: NodeContext) -> NamedOutputs:
    """y = (x - mean) / sqrt(variance + epsilon) * scale + bias over the positions of each sample and channel."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    node.require(rank > 1, f"an input of rank {rank} has no channels to normalize")
    flat = rank == 2  # one position of each channel
    if flat:
        x, rank = ops.unsqueeze(x, ints([2])).output(0), 3
    x = _expect_elements(node, x, [1])
    axes = list(range(2, rank))
    epsilon = node.get_float("epsilon", 1e-5)
    out = _affine(node, ops.mvn(x, ints(axes), True, epsilon, "inside_sqrt"), [1, -1] + [1] * (rank - 2))
    results: dict[str, Node] = {"y": ops.squeeze(out, ints([2])) if flat else out}
    if node.is_output_used("saved_mean") or node.is_output_used("saved_variance"):
        mean, _, variance = _moments(x, axes)
        deviation = ops.sqrt(ops.add(reshape(variance, [-1]), const_like(epsilon, x)))
        results["saved_mean"] = reshape(mean, [-1])
        results["saved_variance"] = ops.divide(const_like(1.0, x), deviation)
    return results


def _expect_elements(
    node: NodeContext, x: Output, axes: Sequence[int], scale: str = "scale", bias: str = "bias"
) -> Output:
    """`x`, which must have as many elements along axes as there are scales and biases."""
    for name in filter(node.has_input, (scale, bias)):
        x = expect_elements(x, axes, node.input_dims(name))
    return x


def _affine(node: NodeContext, out: Node, shape: list[int]) -> Node:
    """`out` * scale + bias, both of them one number per channel, in a shape."""
    for name, combine in (("scale", ops.multiply), ("bias", ops.add)):
        if node.has_input(name):
            out = combine(out, cast_to(node.get_reshaped(name, shape), out.get_element_type()))
    return out
