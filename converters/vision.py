"""Patches (im2col), deformable convolution, temporal shift, and affine maps per channel.

Paddle: `unfold`, `fold`, `deformable_conv`, `deformable_conv_v1`, `temporal_shift`, `affine_channel`.
Semantics: `paddle/phi/kernels/impl/{unfold,fold,deformable_conv}_kernel_impl.h`,
`paddle/phi/kernels/cpu/{temporal_shift,affine_channel}_kernel.cc`.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Type

from paddle2ov.converters.conv import groups_of
from paddle2ov.converters.graph.common import Tensor, cast_to, const_like
from paddle2ov.converters.graph.dims import dim_range, dim_vector, rank_of, shape_of
from paddle2ov.converters.graph.spatial import (
    begin_end_pads,
    channels_last,
    ranked_dims,
    strides_or_dilations,
    window_overhang,
)
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

_FEW_SHIFTS = 32
"""As many shifted sums, of rows and of columns, are faster than OpenVINO's Col2Im."""


def unfold(node: NodeContext) -> NamedOutputs:
    """out[n, (c, i, j), l] = the element (i, j) of the l-th window of channel c."""
    x = node.get_input("x")
    kernel = _pair(node, "kernel_sizes")
    strides, rates = _pair(node, "strides"), _pair(node, "dilations")
    sizes = [rate * (size - 1) + 1 for rate, size in zip(rates, kernel, strict=True)]
    (begin, end), dims = _paddings(node), ranked_dims(x)[2:]
    end = [pad + over for pad, over in zip(end, window_overhang(dims, sizes, strides, begin, end), strict=True)]
    after: Node = ints(end)
    padded: Tensor = x
    if any(dim is None and size > 1 + a + b for dim, size, a, b in zip(dims, sizes, begin, end, strict=True)):
        # The first window may reach beyond x if the run-time size is small.
        after = ops.maximum(
            after,
            ops.subtract(ints([size - pad for size, pad in zip(sizes, begin, strict=True)]), dim_vector(x, [2, 3])),
        )
    if any(begin + end) or after.get_type_name() != "Constant":
        after = ops.concat([ints([0, 0]), after], 0)
        padded = ops.pad(x, ints([0, 0, *begin]), after, "constant", const_like(0, x))
    # The patches come as [N, (i, j, c), rows, columns].
    patches = ops.extract_image_patches(padded, kernel, strides, rates, "VALID")
    channels = ranked_dims(x)[1]
    area = kernel[0] * kernel[1]
    if channels == 1 or area == 1:
        return {"out": ops.reshape(patches, ints([0, 0, -1]), True)}
    batch = dim_vector(x, [0])
    # Not -1, which is 0 for an empty tensor.
    count = dim_vector(x, [1]) if channels is None else ints([channels])
    positions = ops.reduce_prod(dim_vector(patches, [2, 3]), ints([0]), True)
    split = ops.reshape(patches, ops.concat([batch, ints([area]), count, positions], 0), False)
    swapped = ops.transpose(split, ints([0, 2, 1, 3]))
    merged = ops.multiply(count, ints([area]))
    return {"out": ops.reshape(swapped, ops.concat([batch, merged, positions], 0), False)}


def fold(node: NodeContext) -> NamedOutputs:
    """out[n, c] = the sum of all windows, each at its position: the inverse of unfold."""
    x = node.get_input("x")
    size, kernel = _pair(node, "output_sizes"), _pair(node, "kernel_sizes")
    strides, rates = _pair(node, "strides"), _pair(node, "dilations")
    (begin, end), features = _paddings(node), ranked_dims(x)[1]
    # OpenVINO's Col2Im adds one element after the other, several times as slowly.
    if features is not None and features % (kernel[0] * kernel[1]) == 0 and rates == [1, 1]:
        channels = features // (kernel[0] * kernel[1])
        if strides == kernel and not any(begin + end) and all(a % b == 0 for a, b in zip(size, kernel, strict=True)):
            return {"out": _tiled(x, channels, size, kernel)}
        if strides == [1, 1] and sum(kernel) <= _FEW_SHIFTS and min(begin + end) >= 0:
            return {"out": _overlapped(x, channels, size, kernel, begin, end)}
    return {"out": ops.col2im(x, ints(size), ints(kernel), strides, rates, begin, end)}


def _tiled(x: Tensor, channels: int, size: list[int], kernel: list[int]) -> Node:
    """Windows side by side: their elements are moved."""
    rows, columns = (a // b for a, b in zip(size, kernel, strict=True))
    windows = ops.reshape(x, ints([-1, channels, *kernel, rows, columns]), False)
    return ops.reshape(ops.transpose(windows, ints([0, 1, 4, 2, 5, 3])), ints([-1, channels, *size]), False)


def _overlapped(x: Tensor, channels: int, size: list[int], kernel: list[int], begin: list[int], end: list[int]) -> Node:
    """The sum of all elements of windows at a distance of 1, shifted to their positions: of columns, then of rows."""
    padded = [sum(item) for item in zip(size, begin, end, strict=True)]
    dims = [whole - length + 1 for whole, length in zip(padded, kernel, strict=True)]
    for axis in (1, 0):
        total: Node | None = None
        parts = ops.reshape(x, ints([-1, kernel[axis], *dims]), False)
        for i, part in enumerate(ops.split(parts, ints(1), kernel[axis]).outputs()):
            before, after = [0] * 4, [0] * 4
            before[2 + axis], after[2 + axis] = i, kernel[axis] - 1 - i
            shifted = ops.pad(part, ints(before), ints(after), "constant", const_like(0, part))
            total = shifted if total is None else ops.add(total, shifted)
        assert total is not None
        x, dims[axis] = total.output(0), padded[axis]
    if any(begin + end):
        stops = [a + b for a, b in zip(begin, size, strict=True)]
        x = ops.slice(x, ints(begin), ints(stops), ints([1, 1]), ints([2, 3])).output(0)
    return ops.reshape(x, ints([-1, channels, *size]), False)


def _pair(node: NodeContext, name: str) -> list[int]:
    """Two positive numbers; one counts for both."""
    values = node.get_ints(name)
    values = values * 2 if len(values) == 1 else values
    is_pair = len(values) == 2 and all(0 < value <= 2**30 for value in values)  # OpenVINO adds to them in 32 bits
    node.require(is_pair, "two positive numbers are expected", **{name: values})
    return values


def _paddings(node: NodeContext) -> tuple[list[int], list[int]]:
    """What is added above and on the left, and what is below and on the right."""
    paddings = node.get_ints("paddings")
    node.require(len(paddings) in (1, 2, 4), "1, 2 or 4 numbers are expected", paddings=paddings)
    all_four = paddings * (4 // len(paddings))
    return all_four[:2], all_four[2:]


def deformable_conv(node: NodeContext) -> NamedOutputs:
    """out = a convolution whose taps are moved by offset and weighted by mask, with bilinear interpolation between."""
    x, filters = node.get_input("x"), node.input_dims("filter")
    paddings = node.get_ints("paddings", [0, 0])
    node.require(min(paddings, default=0) >= 0, "negative paddings are not supported", paddings=paddings)
    begin, end = begin_end_pads(node, 2, paddings)
    strides, dilations = strides_or_dilations(node, "strides", 2), strides_or_dilations(node, "dilations", 2)
    groups, parts = groups_of(node, dims_of(x), False), node.get_int("deformable_groups", 1)
    node.require(
        parts >= 1 and (filters is None or filters[1] is None or filters[1] * groups % parts == 0),
        "a number from 1 on that divides the channels is expected",
        deformable_groups=parts,
    )
    offset, weights = node.get_input("offset"), node.get_input("filter")
    mask = node.get_input("mask") if node.has_input("mask") else None
    options = (strides, begin, end, dilations, mask, "explicit", groups, parts)
    return {"out": ops.deformable_convolution(x, offset, weights, *options, bilinear_interpolation_pad=True)}


def temporal_shift(node: NodeContext) -> NamedOutputs:
    """out = x of the frame before (first channels), of the frame after (next as many), and of the same frame (rest)."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    channel = rank - 1 if channels_last(node) else 1
    frames = node.get_int("seg_num")
    channels, ratio = dim_vector(x, [channel]), np.float32(node.get_float("shift_ratio", 0.25))
    shares = [ops.multiply(ops.convert(channels, Type.f32), ops.constant(part)) for part in (ratio, 2 * ratio)]
    first, second = (ops.convert(share, Type.i64) for share in shares)
    rest = dim_range(x, 1)
    clips = ops.reshape(x, ops.concat([ints([-1, frames]), rest], 0), False)
    zeros = [ints([0, 1] + [0] * (rank - 1)) for _ in range(2)]
    padded = ops.pad(clips, zeros[0], zeros[1], "constant", const_like(0, x))
    parts = [
        _slice_channels(padded, 0, frames, ints([0]), first, channel + 1),
        _slice_channels(padded, 2, frames, first, second, channel + 1),
        _slice_channels(clips, 0, frames, second, channels, channel + 1),
    ]
    return {"out": ops.reshape(ops.concat(parts, channel + 1), shape_of(x), False)}


def _slice_channels(source: Node, start: int, frames: int, low: Node, high: Node, axis: int) -> Node:
    begin, end = ops.concat([ints([start]), low], 0), ops.concat([ints([start + frames]), high], 0)
    return ops.slice(source, begin, end, ints([1, 1]), ints([1, axis]))


def affine_channel(node: NodeContext) -> NamedOutputs:
    """out = x * scale + bias, per channel."""
    x = node.get_input("x")
    # Any layout but NCHW has the channels last here.
    layout = node.get_str("data_layout", "AnyLayout")
    shape = [1, -1] + [1] * (rank_of(node, x) - 2) if layout == "NCHW" else [-1]
    scale, bias = (cast_to(node.get_reshaped(name, shape), x.get_element_type()) for name in ("scale", "bias"))
    return {"out": ops.add(ops.multiply(x, scale), bias)}
