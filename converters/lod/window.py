"""Sliding windows over sequences.

Paddle: `sequence_conv`, `fusion_seqconv_eltadd_relu`, `sequence_enumerate`.
Semantics: `paddle/phi/kernels/fusion/cpu/fusion_seqconv_eltadd_relu_kernel.cc`, and
`paddle/fluid/operators/sequence_ops/sequence_{conv,enumerate}_op.h` of Paddle 2.6.
Refused: trainable padding.
"""

from __future__ import annotations

import numpy as np
from openvino import Node

from paddle2ov.converters.graph.common import Tensor, const_like
from paddle2ov.converters.graph.dims import index_range
from paddle2ov.converters.lod.sequences import dense_input, from_dense, padded_length
from paddle2ov.graph import arrays
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.slices import slice_along
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def sequence_conv(node: NodeContext) -> NamedOutputs:
    """out[t] = [x[t + start], ..., x[t + start + length - 1]] @ filter; zeros beyond the sequence."""
    x, layout = dense_input(node, "x")
    node.require(not node.get_bool("paddingTrainable", False), "is not supported", paddingTrainable=True)
    return {"out": from_dense(_convolved(node, x), layout)}


def fusion_seqconv_eltadd_relu(node: NodeContext) -> NamedOutputs:
    """out = relu(sequence_conv(x, filter) + bias)."""
    x, layout = dense_input(node, "x")
    bias = ops.reshape(node.get_input("bias"), ints([-1]), False)
    return {"out": from_dense(ops.relu(ops.add(_convolved(node, x), bias)), layout)}


def _convolved(node: NodeContext, x: Tensor) -> Node:
    """[count, steps, width] with the filter [length * width, out]."""
    start, length = node.get_int("contextStart", 0), node.get_int("contextLength")
    stride = node.get_int("contextStride", 1)
    node.require(stride == 1, "only 1 is supported", contextStride=stride)
    declared = node.declared_input_shape("filter")
    if declared is None or min(declared) < 0:
        node.refuse("the shape of the filter must be known")
    width = declared[0] // length
    filters = ops.transpose(node.get_reshaped("filter", [length, width, declared[1]]), ints([2, 1, 0]))
    channels = ops.transpose(x, ints([0, 2, 1]))
    sides = [max(-start, 0)], [max(start + length - 1, 0)]
    before, after = (ints([0, 0, *side]) for side in sides)
    padded = ops.pad(channels, before, after, "constant", const_like(0, channels))
    if start > 0 or start + length < 1:
        # The window does not contain its step. (A negative Pad beyond the size corrupts memory in OpenVINO 2026.4.)
        first = ints([max(start, 0)])
        last = ops.add(ops.add(first, padded_length(x)), ints([length - 1]))
        padded = slice_along(padded, first, last, 2)
    return ops.transpose(ops.convolution(padded, filters, [1], [0], [0], [1]), ints([0, 2, 1]))


def sequence_enumerate(node: NodeContext) -> NamedOutputs:
    """out[t, k] = x[t + k] for k < win_size; pad_value beyond the end of the sequence."""
    value = node.get_int("pad_value", 0)
    x, layout = dense_input(node, "x", filling=value)
    size = node.get_int("win_size")
    flat = ops.squeeze(x, ints([2]))
    pad = const_like(value, x)
    padded = ops.pad(flat, ints([0, 0]), ints([0, size - 1]), "constant", pad)
    indices = index_range(ops.squeeze(padded_length(x), ints([0])))
    each = ops.add(ops.unsqueeze(indices, ints([1])), ops.constant(arrays.arange(size, dtype=np.int64)))
    return {"out": from_dense(ops.gather(padded, each, ints(1)), layout)}
