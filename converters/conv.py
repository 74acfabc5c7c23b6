"""Convolution.

Paddle: `conv2d`, `conv3d`, `depthwise_conv2d`, and the forms that Paddle's own passes leave, with a bias
`depthwise_conv2d_bias`, `depthwise_conv3d_bias`, and with an activation `fused_conv2d_add_act`, `fused_conv2d`,
`fused_conv3d`.
Semantics: `paddle/phi/kernels/impl/conv_kernel_impl.h`, `paddle/phi/kernels/cpu/conv_util.h`. Convolution in one
dimension is `unsqueeze2`, `conv2d`, `squeeze2`.
Not supported: activations other than identity, relu, relu6, sigmoid, tanh, gelu in the fused form; `split_channels`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from openvino import Node, Output

from paddle2ov.converters.fused.activation import apply_activation, fused_activation
from paddle2ov.converters.graph.common import Tensor, const_like
from paddle2ov.converters.graph.dims import checked_dims, dim_of, dim_range, dim_vector, index_range
from paddle2ov.converters.graph.spatial import (
    Geometry,
    channels_last,
    computed_same_pads,
    convolution_windows,
    crop_negative_pads,
    spatial_dims,
    to_channels_first,
    to_channels_last,
    window_overhang,
)
from paddle2ov.graph import arrays
from paddle2ov.graph.constants import constant_of
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.permutation import permute
from paddle2ov.graph.shapes import dims_of, known_dims, static_dims
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def conv(node: NodeContext) -> NamedOutputs:
    """out[n, o, p] = sum over i, k of input[n, i, p * stride + k * dilation - padding] * filter[o, i, k] (+ bias)."""
    return {"out": _fused_epilogue(node, _conv(node))}


def fused_conv(node: NodeContext) -> NamedOutputs:
    """output = activation(convolution + bias + residual)."""
    return {"output": _fused_epilogue(node, _conv(node))}


def _fused_epilogue(node: NodeContext, out: Node) -> Tensor:
    """`out` after what Paddle's oneDNN passes fused into a convolution: addition of a residual, and an activation."""
    if not node.has_any_attribute(_FUSED):
        return out
    if node.get_bool("fuse_residual_connection", False):
        out = ops.add(out, node.get_input("residual_data"))
    return fused_activation(node, out)


_FUSED = frozenset(("fuse_activation", "fuse_brelu", "fuse_relu", "fuse_residual_connection"))


def fused_conv2d_add_act(node: NodeContext) -> NamedOutputs:
    """output = activation(conv2d(input, filter) + bias + residual)."""
    node.require(not node.get_attribute("split_channels", []), "is not supported", split_channels="...")
    out: Node = _conv(node)
    if node.has_input("residual_data"):
        out = ops.add(out, node.get_input("residual_data"))
    return {"output": apply_activation(node, out, node.get_str("activation", "relu"))}


_FILTERS = 8
"""As many fill a vector (AVX2), and take no longer than one."""
_LARGEST = 1 << 12
"""Elements of a filter that others of zeros are put beside: seven times as many are stored."""


def _conv(node: NodeContext) -> Node:
    x, last = node.get_input("input"), channels_last(node)
    dims = checked_dims(node, x)
    rank, groups = len(dims), groups_of(node, dims, last)
    x, geometry = normalize_geometry(node, x, last, rank)
    out = _convolve(node, x, geometry, groups)
    if node.has_input("bias"):
        out = ops.add(out, node.get_reshaped("bias", [1, -1] + [1] * (rank - 2)))
    return to_channels_last(out, rank) if last else out


def normalize_geometry(node: NodeContext, x: Output, last: bool, rank: int) -> tuple[Output, Geometry]:
    """The input as [N, C, ...], and the same geometry for all the ways in which Paddle writes paddings."""
    strides, dilations, begin, end, algorithm = convolution_windows(node, rank - 2)
    x, begin, end = crop_negative_pads(x, begin, end, last)
    if last:
        x = to_channels_first(x, rank).output(0)
    if algorithm == "SAME":
        return x, Geometry(strides, dilations, begin, end, "same_upper")
    filters = node.input_dims("filter")
    if filters is not None and max(dilations) > 1:
        # Dilation means nothing along an axis of one element. OpenVINO 2026.4 reads beyond the image with it, in
        # bfloat16: with stride 2 and paddings 2 and 1 it may end the process.
        dilations = [1 if dim == 1 else step for dim, step in zip(filters[2:], dilations, strict=True)]
    # With a stride of 1 no window reaches beyond what it slides over.
    if filters is not None and None not in filters[2:] and max(strides) > 1:
        sizes = [dilation * ((dim or 1) - 1) + 1 for dim, dilation in zip(filters[2:], dilations, strict=True)]
        over = window_overhang(spatial_dims(x, False), sizes, strides, begin, end)
        end = [pad + missing for pad, missing in zip(end, over, strict=True)]
    return x, Geometry(strides, dilations, begin, end, "explicit")


def _convolve(node: NodeContext, x: Output, at: Geometry, groups: int) -> Node:
    if not node.is_known("filter") and static_dims(node.get_input("filter")) is None:
        return _convolve_by_product(x, node.get_input("filter"), groups, at)
    build = ops.group_convolution if groups > 1 else ops.convolution
    filters = filter_of_groups(node, groups)
    shape = node.input_dims("filter")
    if groups == 1 and shape is not None and shape[1] == 1:
        return _convolve_channel(x, filters, at)
    return build(x, filters, at.strides, at.begin, at.end, at.dilations, at.auto_pad)


@works_around("convolution_by_filter_of_unknown_shape")
def _convolve_by_product(x: Output, filters: Output, groups: int, at: Geometry) -> Node:
    """The convolution of x [N, G * B, ...] with filters [G * A, B, ...] of a shape that the run computes.

    A tracker looks for the features of a template so. OpenVINO's CPU plugin has no such convolution: the filters are
    multiplied with the windows, which are gathered.
    """
    x, counts = _windows(x, filters, at)
    batch, number = dim_vector(x, [0]), dim_vector(filters, [0])
    elements = ops.reduce_prod(dim_range(filters, 1), ints(0), True)
    area = ops.reduce_prod(ops.concat(counts, 0), ints(0), True)
    columns = ops.reshape(x, ops.concat([batch, ints([groups]), elements, area], 0), False)
    each = ops.divide(number, ints([groups]))
    rows = ops.reshape(filters, ops.concat([ints([groups]), each, elements], 0), False)
    out = ops.matmul(rows, columns, False, False)
    return ops.reshape(out, ops.concat([batch, number, *counts], 0), False)


def _windows(x: Output, filters: Output, at: Geometry) -> tuple[Output, list[Node]]:
    """What each filter element meets, [N, C, size, ..., count, ...], and how many windows there are along each axis."""
    spatial = len(at.strides)
    is_single = all(dim == 1 for dim in (dims_of(filters) or [None] * 3)[2:])
    if is_single and set(at.strides) == {1} and not any(at.begin + at.end):
        return x, [dim_vector(x, [2 + axis]) for axis in range(spatial)]
    sizes = [dim_of(filters, 2 + axis) for axis in range(spatial)]
    steps = zip(sizes, at.dilations, strict=True)
    reaches = [ops.multiply(ops.subtract(size, ints(1)), ints(step)) for size, step in steps]
    x = _padded(x, reaches, at)
    counts = []
    for axis in range(spatial):
        room = ops.subtract(dim_of(x, 2 + 2 * axis), ops.add(reaches[axis], ints(1)))
        count = ops.add(ops.divide(room, ints(at.strides[axis])), ints(1))
        counts.append(ops.unsqueeze(count, ints(0)))
        first = ops.multiply(index_range(count), ints(at.strides[axis]))
        within = ops.multiply(index_range(sizes[axis]), ints(at.dilations[axis]))
        positions = ops.add(ops.unsqueeze(first, ints(1)), ops.unsqueeze(within, ints(0)))
        x = ops.gather(x, positions, ints(2 + 2 * axis)).output(0)  # [N, C, ..., count, size, ...]
    order = [0, 1, *range(3, 3 + 2 * spatial, 2), *range(2, 2 + 2 * spatial, 2)]
    return ops.transpose(x, ints(order)).output(0), counts


def _padded(x: Output, reaches: Sequence[Node], at: Geometry) -> Output:
    begin, end = ints(at.begin), ints(at.end)
    if at.auto_pad != "explicit":
        sizes = [ops.unsqueeze(ops.add(reach, ints(1)), ints(0)) for reach in reaches]
        begin, end = computed_same_pads(x, at.strides, ops.concat(sizes, 0))
    elif not any(at.begin + at.end):
        return x
    none = ints([0, 0])
    before, after = ops.concat([none, begin], 0), ops.concat([none, end], 0)
    return ops.pad(x, before, after, "constant", const_like(0, x)).output(0)


def _convolve_channel(x: Output, filters: Output, at: Geometry) -> Node:
    """The convolution of a single channel."""
    strides = at.strides
    if _cover_rows(x, filters, at):
        # As many channels as the rows have elements: half of the time, as OpenVINO's kernels go through channels.
        x, filters = (permute(value, [0, 3, 2, 1]) for value in (x, filters))
        strides = [strides[0], 1]
    alone = _beside_zeros(filters) if max(strides) == 1 else None
    used = filters if alone is None else alone
    out = ops.convolution(x, used, strides, at.begin, at.end, at.dilations, at.auto_pad)
    return out if alone is None else ops.slice(out, ints([0]), ints([1]), ints([1]), ints([1]))


def _cover_rows(x: Output, filters: Output, at: Geometry) -> bool:
    """Whether 2-D filters of a single channel cover whole rows, such as those of embedded words."""
    dims, shape = dims_of(x) or [], dims_of(filters) or []
    return (
        len(dims) == len(shape) == 4
        and dims[1] == shape[1] == 1
        and dims[3] == shape[3] not in (None, 1)
        and at.begin[1] == at.end[1] == 0
        and at.dilations[1] == 1
        and at.auto_pad == "explicit"
        and constant_of(filters) is not None
    )


def _beside_zeros(filters: Output) -> Node | None:
    """A single 2-D filter of a single channel, as a blur has it, with others of zeros; None for any other.

    OpenVINO's kernel for one filter takes ten times as long as that for eight: 33 and 0.7 ms for one of 11 x 11 on
    three images of 64 x 64 (AVX2).
    """
    dims, array = dims_of(filters) or [], constant_of(filters)
    if array is None or len(dims) != 4 or dims[:2] != [1, 1] or array.dtype != np.float32:
        return None
    if min(array.shape[2:]) == 1 or array.size > _LARGEST:  # rows are those of sequences, which rewrites look for
        return None
    return ops.constant(np.concatenate([array, arrays.zeros([_FILTERS - 1, *array.shape[1:]], np.float32)]))


def groups_of(node: NodeContext, dims: Sequence[int | None] | None, last: bool, transposed: bool = False) -> int:
    """The number of groups, which fits the channels of the input and the filter [G * A, B, ...]: G * B, and G * A.

    The filter of a transposed convolution is [G * B, A, ...].

    Raises:
        OpConversionError: it does not.
    """
    groups, filters = node.get_int("groups", 1), node.input_dims("filter")
    node.require(groups >= 1, "1 or more is expected", groups=groups)
    if filters is None or dims is None:
        return groups
    if len(filters) != len(dims):
        node.refuse(f"a filter {_dims_str(filters)} does not fit an input {_dims_str(dims)}")
    channels, (first, each) = dims[-1 if last else 1], filters[:2]
    if first is not None and first % groups:
        node.refuse(f"they do not divide the {first} channels of the filter {_dims_str(filters)}", groups=groups)
    taken = each
    if transposed:
        taken = None if first is None else first // groups
    if channels is not None and taken is not None and channels != groups * taken:
        what = f"an input {_dims_str(dims)} has {channels} channels"
        node.refuse(f"{what}, a filter {_dims_str(filters)} takes {taken} of each group", groups=groups)
    return groups


def _dims_str(dims: Sequence[int | None]) -> str:
    return f"[{', '.join('?' if dim is None else str(dim) for dim in dims)}]"


def filter_of_groups(node: NodeContext, groups: int) -> Output:
    """The filter [G * A, B, ...] as OpenVINO wants it: [G, A, B, ...], or as it is for a single group."""
    if groups == 1:
        return node.get_input("filter")
    dims = known_dims(node.input_dims("filter"))
    if dims is not None:
        first, *rest = dims
        return node.get_reshaped("filter", [groups, first // groups, *rest])
    filters = node.get_input("filter")
    rest_dims = dim_range(filters, 1)
    return ops.reshape(filters, ops.concat([ints([groups, -1]), rest_dims], 0), False).output(0)
