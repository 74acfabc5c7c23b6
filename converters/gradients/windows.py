"""Gradients of convolutions and poolings: of windows that slide over a tensor.

Semantics: `paddle/phi/kernels/impl/conv_grad_kernel_impl.h`, `paddle/phi/kernels/funcs/pooling.cc`.
Refused: windows of `SAME` over dimensions that are not known, adaptive averages of windows of several sizes, averages
over windows that reach beyond the paddings. The gradient of a maximum goes to the first of equal elements of a window.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from openvino import Output

from paddle2ov.converters.conv import filter_of_groups, groups_of, normalize_geometry
from paddle2ov.converters.graph.common import Tensor, const, const_like
from paddle2ov.converters.graph.dims import dim_range, dim_vector, rank_of, shape_of
from paddle2ov.converters.graph.spatial import (
    Geometry,
    channels_last,
    same_pads,
    spatial_dims,
    to_channels_first,
    to_channels_last,
)
from paddle2ov.converters.pooling import Windows, windows_of
from paddle2ov.graph.arrays import eye, ones as filled_with_ones
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of, known_dims, output_of
from paddle2ov.program.budget import charge_repeats
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def conv(node: NodeContext) -> NamedOutputs:
    """input_grad = out_grad, spread by the filter; filter_grad = the products of windows of input with out_grad."""
    last, out = channels_last(node), node.get_input("out_grad")
    rank = rank_of(node, out)
    groups = groups_of(node, dims_of(node.get_input("input")), last)
    x, at = _explicit(node, node.get_input("input"), last, rank)
    out = to_channels_first(out, rank).output(0) if last else out
    gradients: dict[str, Tensor] = {}
    if node.is_output_used("input_grad"):
        build = ops.group_convolution_backprop_data if groups > 1 else ops.convolution_backprop_data
        none, filters = [0] * len(at.strides), filter_of_groups(node, groups)
        whole = build(out, filters, at.strides, None, none, none, at.dilations, "EXPLICIT", none)
        cut = _cut(whole, x, at.strides, at.begin)
        gradients["input_grad"] = to_channels_last(cut, rank) if last else cut
    if node.is_output_used("filter_grad"):
        gradients["filter_grad"] = _filter_gradient(node, x, out, at, groups)
    return gradients


def conv_transpose(node: NodeContext) -> NamedOutputs:
    """x_grad = the convolution of out_grad by the filter; filter_grad = products of windows of out_grad with x."""
    last, x = channels_last(node), node.get_input("x")
    rank = rank_of(node, x)
    groups = node.get_int("groups", 1)
    out, at = _explicit(node, node.get_input("out_grad"), last, rank)
    x = to_channels_first(x, rank).output(0) if last else x
    gradients: dict[str, Tensor] = {}
    if node.is_output_used("x_grad"):
        grouped = ops.group_convolution if groups > 1 else ops.convolution
        whole = grouped(out, filter_of_groups(node, groups), at.strides, at.begin, at.end, at.dilations)
        axes = list(range(2, rank))
        cut = ops.slice(whole, ints([0] * len(axes)), dim_vector(x, axes), ints([1] * len(axes)), ints(axes))
        gradients["x_grad"] = to_channels_last(cut, rank) if last else cut
    if node.is_output_used("filter_grad"):
        gradients["filter_grad"] = _filter_gradient(node, out, x, at, groups)
    return gradients


def _explicit(node: NodeContext, x: Output, last: bool, rank: int) -> tuple[Output, Geometry]:
    """The input as [N, C, ...] and its windows, with paddings that are known."""
    before = x.get_partial_shape()
    x, at = normalize_geometry(node, x, last, rank)
    node.require(last or x.get_partial_shape() == before, "negative paddings are not supported in a gradient")
    if at.auto_pad == "explicit":
        return x, at
    dims, kernel = known_dims(spatial_dims(x, False)), known_dims((node.input_dims("filter") or [None])[2:])
    if dims is None or kernel is None:
        node.refuse("the paddings depend on dimensions that are not known", padding_algorithm="SAME")
    return x, Geometry(at.strides, at.dilations, *same_pads(dims, at.strides, kernel), "explicit")


def _cut(whole: Tensor, x: Output, strides: Sequence[int], begin: Sequence[int]) -> Tensor:
    """The part of what was spread that belongs to x, and not to its paddings; zeros where no window reaches."""
    axes = list(range(2, 2 + len(strides)))
    more = ints([0, 0, *(stride - 1 + pad for stride, pad in zip(strides, begin, strict=True))])
    padded = ops.pad(whole, ints([0] * (2 + len(axes))), more, "constant", const_like(0, whole))
    end = ops.add(dim_vector(x, axes), ints(list(begin)))
    return ops.slice(padded, ints(list(begin)), end, ints([1] * len(axes)), ints(axes))


def _positions(x: Output, out: Output, sizes: Sequence[int], at: Geometry, filler: Tensor) -> Iterator[Tensor]:
    """For each position in a window, the elements of x there, one for each window."""
    axes = list(range(2, 2 + len(sizes)))
    reach = [stride + dilation * size for stride, dilation, size in zip(at.strides, at.dilations, sizes, strict=True)]
    more = [0, 0, *(max(pad, 0) + beyond for pad, beyond in zip(at.end, reach, strict=True))]
    padded = ops.pad(x, ints([0, 0, *at.begin]), ints(more), "constant", filler)
    span = ops.add(ops.multiply(ops.subtract(dim_vector(out, axes), ints(1)), ints(at.strides)), ints(1))
    charge_repeats(math.prod(sizes))
    for position in itertools.product(*map(range, sizes)):
        start = ints([index * dilation for index, dilation in zip(position, at.dilations, strict=True)])
        yield ops.slice(padded, start, ops.add(start, span), ints(at.strides), ints(axes))


def _filter_gradient(node: NodeContext, x: Output, out: Output, at: Geometry, groups: int) -> Tensor:
    """For each position in a window, the product of the elements there, [N, G, B, P], with out, [N, G, A, P]."""
    dims = node.input_dims("filter")
    sizes = None if dims is None else known_dims(dims[2:])
    if sizes is None:
        node.refuse("the gradient of a filter of unknown size is not supported")
    flat = [_grouped(position, groups) for position in _positions(x, out, sizes, at, const_like(0, x))]
    grouped_out = _grouped(out, groups)
    products = [ops.reduce_sum(ops.matmul(grouped_out, item, False, True), ints([0]), False) for item in flat]
    stacked = ops.concat([ops.unsqueeze(product, ints([-1])) for product in products], -1)
    return ops.reshape(stacked, shape_of(node.get_input("filter")), False)


def _grouped(x: Tensor, groups: int) -> Tensor:
    """[N, G * C, ...] as [N, G, C, P]."""
    channels = ops.divide(dim_vector(x, [1]), ints(groups))
    return ops.reshape(x, ops.concat([dim_vector(x, [0]), ints([groups]), channels, ints([-1])], 0), False)


def pool(node: NodeContext) -> NamedOutputs:
    """x_grad = the gradient of each window, shared by its elements, or of the first one that is the maximum."""
    x, out, out_grad = (node.get_input(name) for name in ("x", "out", "out_grad"))
    last = channels_last(node)
    mode, rank = node.get_str("pooling_type"), rank_of(node, x)
    if last:
        x, out, out_grad = (to_channels_first(value, rank).output(0) for value in (x, out, out_grad))
    gradient = _pooled(node, x, out, out_grad, mode)
    return {"x_grad": to_channels_last(gradient, rank) if last else gradient}


def _pooled(node: NodeContext, x: Output, out: Output, given: Output, mode: str) -> Tensor:
    axes = list(range(2, rank_of(node, x)))
    adaptive, dims = node.get_bool("adaptive", False), spatial_dims(x, False)
    whole = node.get_bool("global_pooling", False) or (adaptive and set(node.get_ints("kernel_size")) == {1})
    if mode == "avg" and whole:
        count = ops.convert(ops.reduce_prod(dim_vector(x, axes), ints([0]), False), given.get_element_type())
        return ops.broadcast(ops.divide(given, count), shape_of(x))
    at = _pool_windows(node, dims, adaptive, whole)
    none = [0] * len(axes)
    geometry = Geometry(at.strides, [1] * len(axes), at.begin, at.end, "explicit")
    # One image at a time, with the positions of a window as channels.
    images = [
        ops.reshape(value, ops.concat([ints([-1, 1]), dim_range(value, 2)], 0), False).output(0)
        for value in (x, out, given)
    ]
    if mode == "avg":
        node.require(not at.ceil, "the gradient of an average is not supported", ceil_mode=True)
        shared = _shared(images[0], images[2], at, node.get_bool("exclusive", True), geometry)
        kernel = const(filled_with_ones([1, 1, *at.sizes]), x.get_element_type())
    else:
        shared = _first_maxima(images, at, geometry)
        positions = int(np.prod(at.sizes))
        kernel = const(eye(positions, positions).reshape([positions, 1, *at.sizes]), x.get_element_type())
    spread = ops.convolution_backprop_data(
        shared, kernel, at.strides, None, none, none, [1] * len(axes), "EXPLICIT", none
    )
    return ops.reshape(_cut(spread, images[0], at.strides, at.begin), shape_of(x), False)


def _pool_windows(node: NodeContext, dims: list[int | None], adaptive: bool, whole: bool) -> Windows:
    none = [0] * len(dims)
    if not adaptive and not whole:
        at = windows_of(node, dims)
        node.require(
            not at.dynamic_same, "the paddings depend on dimensions that are not known", padding_algorithm="SAME"
        )
        return at
    sizes = [1] * len(dims) if whole else node.get_ints("kernel_size")
    known = known_dims(dims)
    if known is None or any(dim % size for dim, size in zip(known, sizes, strict=True)):
        node.refuse(
            "the gradient of adaptive windows of several, or unknown, sizes is not supported", kernel_size=sizes
        )
    windows = [dim // size for dim, size in zip(known, sizes, strict=True)]
    return Windows(windows, windows, none, none, ceil=False, dynamic_same=False)


def _shared(x: Output, given: Output, at: Windows, exclusive: bool, geometry: Geometry) -> Tensor:
    """The gradient of each window, divided by the number of its elements."""
    if not exclusive or not any(at.begin + at.end):
        return ops.divide(given, const_like(float(np.prod(at.sizes)), given))
    ones = ops.broadcast(const_like(1, x), ops.concat([ints([1]), dim_range(x, 1)], 0))
    kernel = const(filled_with_ones([1, 1, *at.sizes]), x.get_element_type())
    return ops.divide(given, ops.convolution(ones, kernel, at.strides, at.begin, at.end, geometry.dilations))


def _first_maxima(images: list[Output], at: Windows, geometry: Geometry) -> Tensor:
    """For each position in a window, the gradients of the windows of which it is the first maximum."""
    x, out, out_grad = images
    lowest = const_like(float(np.finfo(np.float32).min), x)
    columns = ops.concat([*_positions(x, out, at.sizes, geometry, lowest)], 1)
    equal = ops.convert(ops.equal(columns, out), out_grad.get_element_type())
    is_first = ops.less_equal(ops.cum_sum(equal, ints(1)), const_like(1, output_of(out_grad)))
    return ops.multiply(ops.multiply(equal, ops.convert(is_first, out_grad.get_element_type())), out_grad)
