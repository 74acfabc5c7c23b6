"""Maximum pooling that tells where the maxima were, and its inverse.

Paddle: `max_pool2d_with_index`, `max_pool3d_with_index`, `unpool`, `unpool3d`.
Semantics: `paddle/phi/kernels/funcs/pooling.cc`, `paddle/phi/kernels/cpu/unpool_kernel.cc`.
Not supported: channels last in unpool, as in Paddle.
"""

from __future__ import annotations

from openvino import Type

from paddle2ov.converters.common import cast_to, const_like, ints, rank_of, shape_of
from paddle2ov.converters.pooling import adaptive_sizes
from paddle2ov.converters.spatial import channels_last, pads_of
from paddle2ov.node_context import NamedOutputs, NodeContext
from paddle2ov.opset import ops


def max_pool_with_index(node: NodeContext) -> NamedOutputs:
    """out, mask = the maximum of each window, and its position within the flattened spatial dimensions (int32)"""
    x = node.get_input("x")
    spatial = rank_of(node, x) - 2
    if node.get_attribute("global_pooling", False):
        top = ops.adaptive_max_pool(x, ints([1] * spatial), "i32")
    elif node.get_attribute("adaptive", False):
        top = ops.adaptive_max_pool(x, adaptive_sizes(node, x), "i32")
    else:
        kernel = node.get_ints("kernel_size")
        begin, end = pads_of(node, spatial, node.get_ints("paddings", [0] * spatial))
        top = ops.max_pool(
            x,
            node.get_ints("strides", [1] * spatial),
            [1] * spatial,
            begin,
            end,
            kernel,
            "ceil" if node.get_attribute("ceil_mode", False) else "floor",
            index_element_type="i32",
            axis=2,
        )
    return {"out": top.output(0), "mask": cast_to(top.output(1), node.output_dtype("mask") or Type.i32)}


def unpool(node: NodeContext) -> NamedOutputs:
    """out = zeros, with every element of x at its index within the flattened spatial dimensions"""
    x, indices = node.get_input("x"), node.get_input("indices")
    spatial = rank_of(node, x) - 2
    node.require(not channels_last(node), "channels last is not supported")
    size = ops.slice(node.get_tensor("output_size", Type.i64), ints([0]), ints([spatial]), ints([1]))
    outer = ops.gather(shape_of(x), ints([0, 1]), ints(0))
    area = ops.reduce_prod(size, ints([0]), True)
    zeros = ops.broadcast(const_like(0, x), ops.concat([outer, area], 0))
    places = ops.reshape(cast_to(indices, Type.i64), ints([0, 0, -1]), True)
    filled = ops.scatter_elements_update(zeros, places, ops.reshape(x, ints([0, 0, -1]), True), ints(2))
    return {"out": ops.reshape(filled, ops.concat([outer, size], 0), False)}
