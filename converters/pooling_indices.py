"""Max pooling with indices, and its inverse.

Paddle: `max_pool2d_with_index`, `max_pool3d_with_index`, `fractional_max_pool2d`, `fractional_max_pool3d`, `unpool`,
`unpool3d`.
Semantics: `paddle/phi/kernels/funcs/pooling.{cc,h}`, `paddle/phi/kernels/cpu/unpool_kernel.cc`.
Not supported: channels last in unpool, as in Paddle; fractional pooling with windows that Paddle draws at random
(random_u = 0), or along dimensions of unknown size.
"""

from __future__ import annotations

import math
from functools import reduce

import numpy as np
import numpy.typing as npt
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const, const_like
from paddle2ov.converters.graph.dims import dim_of, dim_vector, index_range, rank_of
from paddle2ov.converters.graph.spatial import channels_last, pooling_windows, ranked_dims, window_overhang
from paddle2ov.converters.pooling import Windows, adaptive_sizes
from paddle2ov.graph import arrays
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import known_dims, output_of
from paddle2ov.program.budget import charge_array
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

_FEW = 32
"""The greatest sum of the sizes of a window that is reduced by comparisons, of which there are so many."""


def max_pool_with_index(node: NodeContext) -> NamedOutputs:
    """out, mask = the maximum of each window, and its index within the flattened spatial dimensions (int32).

    A window outside of x has the lowest float32 as its maximum, and the index -1.
    """
    x = node.get_input("x")
    spatial = rank_of(node, x) - 2
    outside = False
    if node.get_bool("global_pooling", False):
        top = ops.adaptive_max_pool(x, ints([1] * spatial), "i32")
    elif node.get_bool("adaptive", False):
        top = ops.adaptive_max_pool(x, adaptive_sizes(node, x), "i32")
    else:
        at = Windows(*pooling_windows(node, spatial), ceil=node.get_bool("ceil_mode", False), dynamic_same=False)
        if sum(at.sizes) <= _FEW and node.is_output_used("mask"):
            maximum, index = _first_maximum(x, at)
            return {"out": maximum, "mask": cast_to(index, _index_type(node))}
        over = window_overhang(ranked_dims(x)[2:], at.sizes, at.strides, at.begin, at.end, at.ceil)
        kernel = [size - missing for size, missing in zip(at.sizes, over, strict=True)]
        geometry = (at.strides, [1] * spatial, at.begin, at.end, kernel, at.rounding)
        top = ops.max_pool(x, *geometry, index_element_type="i32", axis=2)
        each = zip(at.strides, at.end, kernel, strict=True)
        outside = any((step - 1) * at.ceil + pad >= size for step, pad, size in each)
    out, mask = top.output(0), cast_to(top.output(1), _index_type(node))
    if outside:
        mask = ops.select(ops.equal(out, _lowest(out)), const_like(-1, mask), mask)
    return {"out": out, "mask": mask}


def _index_type(node: NodeContext) -> Type:
    """The type of the indices, which Paddle 1 declares as floats and computes as int32."""
    declared = node.declared_output_dtype("mask")
    return declared if declared is not None and declared.is_integral() else Type.i32


def _first_maximum(x: Output, at: Windows) -> tuple[Tensor, Node]:
    """The maximum of each window and its index (int32), by comparisons in the order of Paddle's loop.

    OpenVINO runs MaxPool with indices by its reference, several times as slow. One dimension of the windows is reduced
    after another, the last one first: of equal values, the first in memory counts.
    """
    top: Tensor = _padded_to_windows(x, at)
    offsets: list[Tensor] = []  # of the maximum within its window, one a dimension; floats, as plugins fuse only these
    for axis in reversed(range(len(at.sizes))):
        size, stride = at.sizes[axis], at.strides[axis]
        elements: list[list[Tensor]] = [
            [_window_element(tensor, 2 + axis, i, size, stride) for tensor in (top, *offsets)] for i in range(size)
        ]
        if offsets:
            (top, *offsets), *elements = elements
            chosen = const_like(0, x)
        else:
            top, chosen = _lowest(x), const_like(-1, x)
        for i, (value, *others) in enumerate(elements, start=size - len(elements)):
            greater = ops.greater(value, top)  # false for NaN, which Paddle passes over
            top = ops.select(greater, value, top)
            chosen = ops.select(greater, const_like(i, x), chosen)
            offsets = [ops.select(greater, other, offset) for other, offset in zip(others, offsets, strict=True)]
        offsets = [chosen, *offsets]
    index: Node = const(0, Type.i32)
    first: Node = const(0, Type.i32)  # index of the first element of each window
    for axis, offset in enumerate(offsets):
        dim = ops.convert(dim_of(x, 2 + axis), Type.i32)
        numbers = ops.convert(index_range(dim_of(top, 2 + axis)), Type.i32)
        start = ops.multiply(numbers, const_like(at.strides[axis], dim))
        start = ops.subtract(start, const_like(at.begin[axis], dim))
        first = ops.add(ops.multiply(ops.unsqueeze(first, ints([-1])), dim), start)
        index = ops.add(ops.multiply(index, dim), ops.convert(offset, Type.i32))
    is_empty = ops.less(offsets[-1], const_like(0, x))
    return top, ops.select(is_empty, const_like(-1, index), ops.add(index, first))


def _padded_to_windows(x: Output, at: Windows) -> Output:
    """`x` between paddings of the lowest value, so wide that all windows fit in."""
    more = [(step - 1) * at.ceil for step in at.strides]
    after: Tensor = ints([0, 0, *(pad + rest for pad, rest in zip(at.end, more, strict=True))])
    least = [size - low - high for size, low, high in zip(at.sizes, at.begin, at.end, strict=True)]
    if any(dim is None or dim < size for dim, size in zip(ranked_dims(x)[2:], least, strict=True)):
        # Paddle divides towards zero, so that there is one window if less than a stride is missing, and else none.
        missing = ops.maximum(ops.subtract(ints(least), dim_vector(x, range(2, 2 + len(least)))), ints(0))
        is_one = ops.less(missing, ints([step + rest for step, rest in zip(at.strides, more, strict=True)]))
        after = ops.add(after, ops.concat([ints([0, 0]), ops.select(is_one, missing, ints(0))], 0))
    elif not any(at.begin + at.end + more):
        return x
    return ops.pad(x, ints([0, 0, *at.begin]), after, "constant", _lowest(x)).output(0)


def _lowest(x: Tensor) -> Node:
    """What Paddle begins a maximum with: the lowest float32, which is -inf in a narrower type."""
    is_wide = x.get_element_type() in (Type.f32, Type.f64)
    return const_like(-float(np.finfo(np.float32).max) if is_wide else -math.inf, x)


def _window_element(x: Tensor, axis: int, i: int, size: int, stride: int) -> Tensor:
    """Element `i` of each window along `axis`; a number is that of all of them."""
    if output_of(x).get_partial_shape().rank == 0:
        return x
    stop = i + 1 - size or np.iinfo(np.int64).max
    return ops.slice(x, ints([i]), ints([stop]), ints([stride]), ints([axis]))


def fractional_max_pool(node: NodeContext) -> NamedOutputs:
    """out, mask = as above, over unevenly spaced windows, which follow from random_u; some of them may be empty."""
    x = node.get_input("x")
    dims = known_dims(ranked_dims(x)[2:])
    if dims is None:
        node.refuse("windows along a dimension of unknown size are not supported; give the size with `input`")
    sizes = node.get_ints("output_size")
    kernel = node.get_ints("kernel_size", [0] * len(sizes))
    u = node.get_float("random_u", 0.0)
    node.require(u != 0, "the windows are drawn at random", random_u=u)
    count = len(sizes)
    along = zip(dims, sizes, kernel, strict=True)
    indices_along = [_fractional_windows(dim, size, width, u) for dim, size, width in along]
    windows = [ops.constant(np.maximum(indices, 0)) for indices in indices_along]
    # Each dimension becomes two: windows and their elements.
    taken: Tensor = x
    for i, indices in enumerate(windows):
        taken = ops.gather(taken, indices, ints(2 + 2 * i))
    order = [0, 1, *(2 + 2 * i for i in range(count)), *(3 + 2 * i for i in range(count))]
    flat = ints([0, 0, math.prod(sizes), -1])
    elements = ops.reshape(ops.transpose(taken, ints(order)), flat, True)
    out = ops.reduce_max(elements, ints([3]), True)
    position: Node = ints(0)
    for i, indices in enumerate(windows):
        others = [axis for axis in range(2 * count) if axis not in (i, count + i)]
        position = ops.add(ops.multiply(position, ints(dims[i])), ops.unsqueeze(indices, ints(others)))
    positions = ops.reshape(position, ints([1, 1, math.prod(sizes), -1]), False)
    nowhere = ints(math.prod(dims))  # greater than every index
    first = ops.reduce_min(ops.select(ops.equal(elements, out), positions, nowhere), ints([3]), True)
    charge_array(math.prod(sizes))
    empty = reduce(np.logical_or.outer, [indices[:, 0] < 0 for indices in indices_along]).reshape(1, 1, -1, 1)
    if empty.any():
        out = ops.select(ops.constant(empty), const_like(float(-np.finfo(np.float32).max), out), out)
        first = ops.select(ops.constant(empty), ints(-1), first)
    mask = cast_to(first, _index_type(node))
    target = [0, 0, *sizes]
    return {"out": ops.reshape(out, ints(target), True), "mask": ops.reshape(mask, ints(target), True)}


def _fractional_windows(dim: int, size: int, width: int, u: float) -> npt.NDArray[np.int64]:
    """[size, longest window]: the indices of each window along one dimension; shorter ones repeat their last.

    Those of a window without elements are -1.
    """
    single = np.float32
    alpha = single(dim - width) / single(max(size - 1, 1) if width > 0 else size)  # a single window begins at 0
    shift = single(u)
    if width <= 0:
        base = dim // size
        widest = min(single(base + 2) / alpha - single(1), single(dim + 1 - base) / alpha - single(size - 1))
        shift = single(u) * single(widest)
    k = arrays.arange(size + 1, dtype=np.float32)
    edges = ((k + shift) * alpha).astype(np.int64) - int(shift * alpha)
    start = np.maximum(edges[:-1], 0)
    end = np.minimum(edges[:-1] + width if width > 0 else edges[1:], dim)
    steps = arrays.arange(max(int((end - start).max()), 1))
    charge_array(start.size * steps.size)
    indices: npt.NDArray[np.int64] = np.minimum(start[:, None] + steps[None, :], end[:, None] - 1)
    indices[end <= start] = -1
    return indices


def unpool(node: NodeContext) -> NamedOutputs:
    """out = zeros, with every element of x at its index within the flattened spatial dimensions."""
    x, indices = node.get_input("x"), node.get_input("indices")
    spatial = rank_of(node, x) - 2
    node.require(not channels_last(node), "channels last is not supported")
    if node.has_attribute("output_size") or node.has_input("output_size"):
        if node.is_known("output_size"):
            # Paddle's own function computes it from dimensions that are -1 where the program does not know them.
            sizes = node.get_ints("output_size")
            node.require(min(sizes) >= 0, "a negative size", output_size=sizes)
        size: Node = ops.slice(node.get_tensor("output_size", Type.i64), ints([0]), ints([spatial]), ints([1]))
    else:  # as in programs of Paddle 1: the size before pooling
        kernel, strides = node.get_ints("ksize"), node.get_ints("strides", [1] * spatial)
        pads = node.get_ints("padding", [0] * spatial)
        rest = [k - s - 2 * p for k, s, p in zip(kernel, strides, pads, strict=True)]
        dims = dim_vector(x, range(2, 2 + spatial))
        size = ops.add(ops.multiply(dims, ints(strides)), ints(rest))
    outer = dim_vector(x, [0, 1])
    area = ops.reduce_prod(size, ints([0]), True)
    zeros = ops.broadcast(const_like(0, x), ops.concat([outer, area], 0))
    flat_indices = ops.reshape(cast_to(indices, Type.i64), ints([0, 0, -1]), True)
    filled = ops.scatter_elements_update(zeros, flat_indices, ops.reshape(x, ints([0, 0, -1]), True), ints(2))
    return {"out": ops.reshape(filled, ops.concat([outer, size], 0), False)}
