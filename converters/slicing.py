"""Slices and strided views of a tensor, as copies: OpenVINO's tensors have no strides.

Paddle: `slice`, `strided_slice`, `crop_tensor` (PIR `crop`), `view_slice` (PIR only), `crop` (legacy only),
`as_strided`, `tensor_unfold`, which is paddle.unfold.
Semantics: `paddle/phi/kernels/funcs/{slice_utils,strided_slice}.h`,
`paddle/phi/kernels/impl/{slice,crop}_kernel_impl.h`,
`paddle/phi/kernels/stride/{as_strided,tensor_unfold}_kernel.cc`.
Refused: axes that the program computes; a view that begins inside of an element or reaches beyond the tensor, for which
Paddle reads foreign memory.
"""

from __future__ import annotations

import math

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, const
from paddle2ov.converters.graph.dims import dim_of, int_vector, normalize_axis, rank_of, shape_of
from paddle2ov.converters.graph.selection import gather_or_empty
from paddle2ov.converters.graph.slice_bounds import SliceBounds
from paddle2ov.graph import arrays
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.permutation import permute
from paddle2ov.graph.shapes import dims_of, static_dims
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.graph.types import numpy_dtype
from paddle2ov.graph.values import ConstantValue
from paddle2ov.program.budget import charge_array
from paddle2ov.translation.node_context import NamedOutputs, NodeContext
from paddle2ov.typing import AnyArray


def slice_(node: NodeContext) -> NamedOutputs:
    """out = input[starts:ends] along axes; the axes in decrease_axis, one element long, are dropped."""
    return _slice(node, "input", None)


def strided_slice(node: NodeContext) -> NamedOutputs:
    """out = x[starts:ends:strides] along axes; a negative stride goes backwards."""
    return _slice(node, "x", "strides")


def _slice(node: NodeContext, name: str, steps: str | None) -> NamedOutputs:
    """A Slice along the axes that are kept, and a Gather by its index along each dropped one."""
    x = node.get_input(name)
    rank = rank_of(node, x)
    axes = [normalize_axis(node, axis, rank, "axes") for axis in node.get_ints("axes")]
    dropped = [normalize_axis(node, axis, rank, "decrease_axis") for axis in node.get_ints("decrease_axis", [])]
    bounds = SliceBounds(node, x, axes, dropped, steps)
    # Before 0-D tensors (Paddle 2.5), dropping all axes left one: the program declares it.
    declared = node.declared_output_shape("out")
    keeps_one = len(set(dropped)) == rank and declared is not None and len(declared) == 1
    dims = _known_dims_slice(x, bounds, bool(dropped)) if not steps and len(axes) == 1 else None
    if dims is not None:
        return {"out": ConstantValue(dims.reshape(()) if dropped and declared != (1,) else dims)}
    kept = [i for i, axis in enumerate(axes) if axis not in dropped and not bounds.is_whole(i)]
    if kept:
        start, end, step = bounds.select(kept)
        x = ops.slice(x, start, bounds.clamped(kept, end, step), step, ints([axes[i] for i in kept])).output(0)
        nothing = _nothing(x, dropped)
        if nothing is not None:
            return {"out": nothing}
    for axis in sorted(set(dropped), reverse=True):
        if axis not in axes:
            x = ops.squeeze(x, ints([axis])).output(0)
            continue
        # For the last element the start is -1, whatever the end.
        index = _index(x, axis, bounds, axes.index(axis))
        if keeps_one and axis == 0:
            index = ops.reshape(index, ints([1]), False)
        x = ops.gather(x, index, ints(axis)).output(0)
    return {"out": x}


def _index(x: Output, axis: int, bounds: SliceBounds, position: int) -> Tensor:
    """The start as an index, 0-D; one before the first element is clamped to it."""
    if bounds.starts.known is None:
        return bounds.starts.scalar(position)
    dim, start = x.get_partial_shape()[axis], bounds.starts.known[position]
    return ints(max(start, -int(dim.get_length())) if dim.is_static else start)


def _nothing(x: Output, dropped: list[int]) -> ConstantValue | None:
    """x without the dropped axes where it has no elements: OpenVINO's CPU plugin divides by 0 in a Gather."""
    dims, storage = static_dims(x), numpy_dtype(x.get_element_type())
    if not dropped or dims is None or 0 not in dims or storage is None:
        return None
    return ConstantValue(arrays.zeros([dim for axis, dim in enumerate(dims) if axis not in dropped], storage))


def _known_dims_slice(x: Output, bounds: SliceBounds, is_one: bool) -> AnyArray | None:
    """The dimensions that a slice takes from the shape of a tensor, where all of them are known.

    OpenVINO folds them as well. Its CPU plugin (2026.4), however, crashes if it does so with an input of a loop that is
    also an input of a loop in that loop.
    """
    maker, storage = x.get_node(), numpy_dtype(x.get_element_type())
    if maker.get_type_name() != "ShapeOf" or bounds.starts.known is None or storage is None:
        return None
    dims = dims_of(maker.input_value(0))
    if bounds.ends.known is None or dims is None:
        return None
    first, last = bounds.starts.known[0], bounds.ends.known[0]
    if is_one:
        first = max(first, -len(dims))
        last = first + 1 or len(dims)
    sliced = dims[first:last]
    return None if None in sliced or (is_one and not sliced) else np.array(sliced, storage)


def view_slice(node: NodeContext) -> NamedOutputs:
    """out = input[begin_idx:end_idx]."""
    begin, end = node.get_int("begin_idx"), node.get_int("end_idx")
    return {"out": slice_along(node.get_input("input"), ints([begin]), ints([end]), 0)}


def crop(node: NodeContext) -> NamedOutputs:
    """out = x[offsets : offsets + shape], by the shape of y if there is one; a shape of -1 reaches to the end."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    axes, has_like = ints(list(range(rank))), node.has_input("y")
    shape = node.get_ints("shape") if node.is_known("shape") and not has_like else None
    if shape is not None:  # the old operator has -1 in front only
        fits = len(shape) == rank and (node.op_type != "crop" or min([0, *shape[1:]]) == 0)
        node.require(fits, "no shape for this input", shape=shape)
    if shape is not None and node.is_known("offsets"):
        offsets = node.get_ints("offsets", []) or [0] * rank
        node.require(len(offsets) == rank, f"{rank} numbers are expected", offsets=offsets)
        ends = [OPEN_END if size == -1 else start + size for start, size in zip(offsets, shape, strict=True)]
        return {"out": ops.slice(x, ints(offsets), ints(ends), ints([1] * rank), axes)}
    start = int_vector(node, "offsets")
    size = shape_of(node.get_input("y")) if has_like else int_vector(node, "shape")
    stop = ops.select(ops.less(size, ints(0)), shape_of(x), ops.add(start, size))
    return {"out": ops.slice(x, start, stop, ints([1] * rank), axes)}


def as_strided(node: NodeContext) -> NamedOutputs:
    """out[i, j, ...] = element offset + i * stride[0] + j * stride[1] + ... of input; the offset is in bytes."""
    x = node.get_input("input")
    dims, strides, offset = node.get_ints("dims"), node.get_ints("stride"), node.get_int("offset", 0)
    node.require(len(dims) == len(strides), "as many strides as dimensions are expected", dims=dims, stride=strides)
    width = x.get_element_type().size
    node.require(offset % width == 0, f"begins inside of an element, which has {width} bytes", offset=offset)
    charge_array(math.prod(dims))
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
    windows = windows_along(x, axis, size, step, windows_first=True).output(0)
    return {"out": permute(windows, [*range(axis + 1), *range(axis + 2, rank + 1), axis + 1])}


def windows_along(x: Output, axis: int, size: int, step: int, windows_first: bool) -> Node:
    """Windows of `size` elements along an axis, one every `step`; it becomes two axes: windows, and their elements."""
    begins = ops.range(ints(0), ops.subtract(dim_of(x, axis), ints(size - 1)), ints(step), "i64")
    offsets = ops.constant(arrays.arange(size, dtype=np.int64))
    rows, columns = (begins, offsets) if windows_first else (offsets, begins)
    indices = ops.add(ops.unsqueeze(rows, ints([1])), ops.unsqueeze(columns, ints([0])))
    return gather_or_empty(x, indices.output(0), axis)
