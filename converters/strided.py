"""Strided views of a tensor, as copies: OpenVINO's tensors have no strides.

Paddle: `as_strided`, `tensor_unfold`.
Semantics: `paddle/phi/kernels/stride/{as_strided,tensor_unfold}_kernel.cc`. The latter is `paddle.unfold`.
Refused: a view that begins inside of an element or reaches beyond the tensor, for which Paddle reads foreign memory.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Type

from paddle2ov.converters.graph.common import const, dim_of, normalize_axis, rank_of
from paddle2ov.converters.graph.reshaping import transpose_to
from paddle2ov.converters.graph.selection import gather_or_empty
from paddle2ov.graph import arrays
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import static_dims
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def as_strided(node: NodeContext) -> NamedOutputs:
    """out[i, j, ...] = element offset + i * stride[0] + j * stride[1] + ... of input; the offset is in bytes."""
    x = node.get_input("input")
    dims, strides, offset = node.get_ints("dims"), node.get_ints("stride"), node.get_int("offset", 0)
    node.require(len(dims) == len(strides), "as many strides as dimensions are expected", dims=dims, stride=strides)
    width = x.get_element_type().size
    node.require(offset % width == 0, f"begins inside of an element, which has {width} bytes", offset=offset)
    indices = np.array(offset // width)
    for size, stride in zip(dims, strides, strict=True):
        indices = indices[..., None] + arrays.arange(size) * stride
    if indices.size == 0:
        return {"out": ops.broadcast(const(0, x.get_element_type()), ints(dims))}
    shape = static_dims(x)
    fits = indices.min() >= 0 and (shape is None or indices.max() < np.prod(shape))
    node.require(fits, f"reaches beyond the tensor of shape {shape}", dims=dims, stride=strides, offset=offset)
    return {"out": ops.gather(ops.reshape(x, ints([-1]), False), const(indices, Type.i64), ints(0))}


def tensor_unfold(node: NodeContext) -> NamedOutputs:
    """out = windows of `size` elements along axis, one every `step`; the window is the last dimension."""
    x = node.get_input("input")
    rank = rank_of(node, x)
    size, step = node.get_int("size"), node.get_int("step")
    axis = normalize_axis(node, node.get_int("axis"), rank)
    node.require(size > 0 and step > 0, "a size and a step from 1 on are expected", size=size, step=step)
    if rank == 0:
        return {"out": ops.reshape(x, ints([1]), False)}
    length = x.get_partial_shape()[axis]
    most = length.get_length() if length.is_static else None
    node.require(most is None or size <= most, f"axis {axis} has {most} elements", size=size)
    last: Node = dim_of(x, axis)
    begins = ops.range(ints(0), ops.subtract(last, ints(size - 1)), ints(step), "i64")
    indices = ops.add(ops.unsqueeze(begins, ints([1])), ints(list(range(size))))
    windows = gather_or_empty(x, indices.output(0), axis).output(0)
    return {"out": transpose_to(windows, [*range(axis + 1), *range(axis + 2, rank + 1), axis + 1])}
