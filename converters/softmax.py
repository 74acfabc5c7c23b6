"""Activations along an axis, or with tensors as parameters.

Paddle: `softmax`, `log_softmax`, `prelu`, `rrelu`, `maxout`, `swiglu`.
Semantics: `paddle/phi/kernels/impl/softmax_kernel_impl.h`,
`paddle/phi/kernels/cpu/{log_softmax,prelu,rrelu}_kernel.cc`,
`paddle/phi/kernels/impl/maxout_kernel_impl.h`, `paddle/phi/kernels/cpu/swiglu_kernel.cc`.

Refused: `rrelu` in training mode, which is random.
"""

from __future__ import annotations

import math

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import cast_to, const_like
from paddle2ov.converters.graph.dims import dim_range, dim_vector, normalize_axis, rank_of
from paddle2ov.converters.graph.operands import real_input
from paddle2ov.graph.expected_dims import expect_elements
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of, known_dims, output_of
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def softmax(node: NodeContext) -> NamedOutputs:
    """out = e^x / Σ e^x over axis, where x is at least its maximum - 64 if that can be told; 1 for a 0-D tensor."""
    x, axis = _input_and_axis(node)
    if axis is None:
        return {"out": const_like(1, x)}
    return {"out": ops.softmax(bounded_logits(x, axis) if node.semantics.bounded_logits else x, axis)}


def log_softmax(node: NodeContext) -> NamedOutputs:
    """out = x - ln Σ e^x over axis, where x is at least its maximum - 64; 0 for a 0-D tensor."""
    x, axis = _input_and_axis(node)
    if axis is None:
        return {"out": const_like(0, x)}
    return {"out": ops.log_softmax(bounded_logits(x, axis), axis)}


def bounded_logits(x: Output, axis: int) -> Node:
    """x less its maximum over the axis, but at least -64: Paddle's kernels bound what they exponentiate."""
    most = ops.reduce_max(x, ints([axis]), True)
    bounded = ops.maximum(ops.subtract(x, most), const_like(-64, x))
    return ops.add(bounded, ops.multiply(most, const_like(0, x)))  # NaN if the maximum is infinite


def _input_and_axis(node: NodeContext) -> tuple[Output, int | None]:
    x = real_input(node)
    if (declared := node.declared_output_dtype()) is not None and declared.is_real():
        x = output_of(cast_to(x, declared))
    rank = rank_of(node, x)
    axis = normalize_axis(node, node.get_int("axis", -1), rank)
    return x, axis if rank else None


def prelu(node: NodeContext) -> NamedOutputs:
    """out = x where x > 0, alpha · x elsewhere; alpha is one number ("all"), one per channel, or one per element."""
    x = real_input(node)
    mode, data_format = node.get_str("mode", "all"), node.get_str("data_format", "NCHW")
    node.require(mode in ("all", "channel", "element"), "unknown mode", mode=mode)
    rank = rank_of(node, x)
    if mode == "all":
        slope = node.get_reshaped("alpha", [1])
    elif mode == "channel":
        node.require(rank >= 2, "per channel needs a channel dimension", mode=mode)
        # "NC", "NCL", "NCHW", "NCDHW" have it at index 1, as has the empty layout of older Paddles.
        axis = rank - 1 if data_format.endswith("C") and len(data_format) > 2 else 1
        channels, dims = (dims_of(x) or [None] * rank)[axis], known_dims(node.input_dims("alpha"))
        if channels is not None and dims is not None:
            node.require(math.prod(dims) == channels, f"slopes of shape {dims} for {channels} channels", mode=mode)
        x = expect_elements(x, [axis], node.input_dims("alpha"))
        slope = node.get_reshaped("alpha", [-1 if i == axis else 1 for i in range(rank)])
    else:
        inner = dim_range(x, 1)
        slope = ops.reshape(node.get_input("alpha"), ops.concat([ints([1]), inner], 0), False).output(0)
    return {"out": ops.prelu(x, cast_to(slope, x.get_element_type()))}


def rrelu(node: NodeContext) -> NamedOutputs:
    """out = x where x >= 0, noise · x elsewhere; at inference noise is the mean of lower and upper."""
    node.require(node.get_bool("is_test", False), "random in training mode", is_test=False)
    x = real_input(node)
    slope = (node.get_float("lower", 1 / 8) + node.get_float("upper", 1 / 3)) / 2
    out = ops.prelu(x, ops.constant(np.array([slope]), x.get_element_type()))
    noise = ops.select(ops.less(x, const_like(0, x)), const_like(slope, x), const_like(1, x))
    return {"out": out, "noise": noise}


def maxout(node: NodeContext) -> NamedOutputs:
    """out = the maximum over groups of neighbouring channels, `groups` in each."""
    x = real_input(node)
    groups = node.get_int("groups")
    axis = normalize_axis(node, node.get_int("axis", 1), rank_of(node, x))
    # Not -1, which is 0 for an empty tensor.
    channels = ops.divide(dim_vector(x, [axis]), ints(groups))
    shape = ops.concat([dim_range(x, 0, axis), channels, ints([groups]), dim_range(x, axis + 1)], 0)
    grouped = ops.reshape(x, shape, False)
    return {"out": ops.reduce_max(grouped, ints([axis + 1]), False)}


def swiglu(node: NodeContext) -> NamedOutputs:
    """out = x · sigmoid(x) · y; without y, x is split in two halves along its last axis."""
    x = real_input(node)
    if node.has_input("y"):
        return {"out": ops.multiply(ops.swish(x, const_like(1, x)), real_input(node, "y"))}
    gate, value = ops.split(x, ops.constant(np.int64(rank_of(node, x) - 1), Type.i64), 2).outputs()
    return {"out": ops.multiply(ops.swish(gate, const_like(1, gate)), value)}
