"""Transposed convolution.

Paddle: `conv2d_transpose`, `conv3d_transpose`, `depthwise_conv2d_transpose`, `conv2d_transpose_bias`.
Semantics: `paddle/phi/kernels/impl/conv_transpose_kernel_impl.h`, ConvTransposeInferMeta in
`paddle/phi/infermeta/binary.cc`.
"""

from __future__ import annotations

from openvino import Node, Output, Type

from paddle2ov.converters.conv import filter_of_groups, groups_of
from paddle2ov.converters.graph.common import const_like
from paddle2ov.converters.graph.dims import rank_of, shape_of
from paddle2ov.converters.graph.spatial import (
    Geometry,
    channels_last,
    computed_same_pads,
    convolution_windows,
    same_pads,
    spatial_dims,
    to_channels_first,
    to_channels_last,
)
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of, known_dims
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def conv_transpose(node: NodeContext) -> NamedOutputs:
    """out[n, o, p * stride + k * dilation - padding] += x[n, i, p] * filter[i, o, k]; out starts at 0."""
    x, last = node.get_input("x"), channels_last(node)
    rank = rank_of(node, x)
    spatial = rank - 2
    groups = groups_of(node, dims_of(x), last, transposed=True)
    strides, dilations, begin, end, algorithm = convolution_windows(node, spatial)
    dims, filters = spatial_dims(x, last), known_dims(node.input_dims("filter"))
    if filters is None:
        node.refuse("a filter of unknown shape is not supported")
    kernel = filters[2:]
    if last:
        x = to_channels_first(x, rank).output(0)

    crops: tuple[Node, Node] | None = None
    if algorithm == "SAME":
        known = known_dims(dims)
        if known is not None:
            begin, end = same_pads(known, strides, kernel)
        else:
            # Its paddings follow from the size of the input, as in a convolution.
            crops = computed_same_pads(x, strides, ints(kernel))
    least = [
        None if dim is None else (dim - 1) * stride - before - after + dilation * (size - 1) + 1
        for dim, stride, before, after, dilation, size in zip(dims, strides, begin, end, dilations, kernel, strict=True)
    ]
    extra, size = _output_padding_and_size(node, least, strides, dilations)
    out = _backprop(
        x, filter_of_groups(node, groups), Geometry(strides, dilations, begin, end, "explicit"), extra, groups
    )
    if crops is not None or size is not None:
        out = _crop(out, crops, size, spatial)
    if node.has_input("bias"):
        out = ops.add(out, node.get_reshaped("bias", [1, -1] + [1] * spatial))
    return {"out": to_channels_last(out, rank) if last else out}


def _output_padding_and_size(
    node: NodeContext, least: list[int | None], strides: list[int], dilations: list[int]
) -> tuple[list[int], Output | None]:
    """The output padding along each spatial axis, and the size to crop the result to, if any."""
    spatial, is_computed = len(least), not node.is_known("output_size")
    wanted = [] if is_computed else node.get_ints("output_size", [])
    if not is_computed and not wanted:
        extra = node.get_ints("output_padding", []) or [0] * spatial
        limits = [max(pair) for pair in zip(strides, dilations, strict=True)]
        fits = len(extra) == spatial and all(0 <= more < limit for more, limit in zip(extra, limits, strict=True))
        reason = f"{spatial} numbers from 0 to below the strides or dilations are expected"
        node.require(fits, reason, output_padding=extra, strides=strides, dilations=dilations)
        return extra, None
    fits = is_computed or (len(wanted) == spatial and min(wanted) >= 0)
    node.require(fits, f"{spatial} sizes are expected", output_size=wanted)
    known = known_dims(least)
    if is_computed or known is None:
        # The input's size is not known: compute the largest result that an output size may name, then crop.
        return [stride - 1 for stride in strides], node.get_tensor("output_size", Type.i64)
    extra = [size - smallest for size, smallest in zip(wanted, known, strict=True)]
    fits = all(0 <= more < stride for more, stride in zip(extra, strides, strict=True))
    reason = f"it is {extra} more than the least, which is below 0 or not below the strides"
    node.require(fits, reason, output_size=wanted, strides=strides)
    return extra, None


def _crop(out: Node, crops: tuple[Node, Node] | None, size: Output | None, spatial: int) -> Node:
    """`out` without `crops` at its beginning and end; a given `size` takes the place of the crop at the end."""
    axes = ints(list(range(2, 2 + spatial)))
    low = crops[0] if crops is not None else ints([0] * spatial)
    if size is not None:
        stop = ops.add(low, size) if crops is not None else size
    else:
        assert crops is not None
        stop = ops.subtract(ops.gather(shape_of(out), axes, ints(0)), crops[1])
    return ops.slice(out, low, stop, ints([1] * spatial), axes)


def _backprop(x: Output, filters: Output, at: Geometry, extra: list[int], groups: int) -> Node:
    build = ops.convolution_backprop_data if groups == 1 else ops.group_convolution_backprop_data
    begin, end = ([max(pad, 0) for pad in pads] for pads in (at.begin, at.end))
    out = build(x, filters, at.strides, None, begin, end, at.dilations, at.auto_pad, extra)
    if begin == at.begin and end == at.end:
        return out
    # Negative paddings are zeros around the result.
    before, after = (ints([0, 0, *(max(-pad, 0) for pad in pads)]) for pads in (at.begin, at.end))
    return ops.pad(out, before, after, "constant", const_like(0, out))
