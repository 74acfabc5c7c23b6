"""Convolution.

Paddle: `conv2d`, `conv3d`, `depthwise_conv2d`, and the forms that Paddle's own passes leave, with a bias
`depthwise_conv2d_bias`, `depthwise_conv3d_bias`, and with an activation `fused_conv2d_add_act`, `fused_conv2d`,
`fused_conv3d`.
Semantics: `paddle/phi/kernels/impl/conv_kernel_impl.h`, `paddle/phi/kernels/cpu/conv_util.h`. Convolution in one
dimension is `unsqueeze2`, `conv2d`, `squeeze2`.
Not supported: activations other than identity, relu, relu6, sigmoid, tanh in the fused form; `split_channels`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from openvino import Node, Output

from paddle2ov.converters.computed_filters import convolve_by_product, has_unknown_shape
from paddle2ov.converters.fused.activation import fused_activation
from paddle2ov.converters.graph.common import Tensor, dim_range, rank_of
from paddle2ov.converters.graph.spatial import (
    begin_end_pads,
    channels_last,
    crop_negative_pads,
    padding_algorithm,
    spatial_dims,
    strides_or_dilations,
    to_channels_first,
    to_channels_last,
    window_overhang,
)
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of, known_dims
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
    activation = node.get_str("activation", "relu")
    node.require(activation in _ACTIVATIONS, "is not supported", activation=activation)
    return {"output": _ACTIVATIONS[activation](out)}


_ACTIVATIONS: dict[str, Callable[[Node], Node]] = {
    "identity": lambda x: x,
    "": lambda x: x,
    "relu": ops.relu,
    "relu6": lambda x: ops.clamp(x, 0.0, 6.0),
    "sigmoid": ops.sigmoid,
    "tanh": ops.tanh,
}


class _Geometry(Struct, frozen=True):
    """Strides, dilations and paddings along the spatial axes of [N, C, ...]; none negative, no filter wider than x."""

    strides: list[int]
    dilations: list[int]
    begin: list[int]
    end: list[int]
    auto_pad: str


def _conv(node: NodeContext) -> Node:
    x, last = node.get_input("input"), channels_last(node)
    rank = rank_of(node, x)
    groups = groups_of(node, dims_of(x), last)
    x, geometry = _normalize_geometry(node, x, last, rank)
    out = _convolve(node, x, geometry, groups)
    if node.has_input("bias"):
        out = ops.add(out, node.get_reshaped("bias", [1, -1] + [1] * (rank - 2)))
    return to_channels_last(out, rank) if last else out


def _normalize_geometry(node: NodeContext, x: Output, last: bool, rank: int) -> tuple[Output, _Geometry]:
    """The input as [N, C, ...], and the same geometry for all the ways in which Paddle writes paddings."""
    spatial = rank - 2
    strides, dilations = (
        strides_or_dilations(node, "strides", spatial),
        strides_or_dilations(node, "dilations", spatial),
    )
    begin, end = begin_end_pads(node, spatial, node.get_ints("paddings", [0] * spatial))
    algorithm = padding_algorithm(node)
    if algorithm != "EXPLICIT":
        begin, end = [0] * spatial, [0] * spatial
    x, begin, end = crop_negative_pads(x, begin, end, last)
    if last:
        x = to_channels_first(x, rank).output(0)
    if algorithm == "SAME":  # sets the dilations to 1 as well
        return x, _Geometry(strides, [1] * spatial, begin, end, "same_upper")
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
    return x, _Geometry(strides, dilations, begin, end, "explicit")


def _convolve(node: NodeContext, x: Output, at: _Geometry, groups: int) -> Node:
    if not node.is_known("filter") and has_unknown_shape(filters := node.get_input("filter")):
        pads = (at.begin, at.end) if at.auto_pad == "explicit" else None
        return convolve_by_product(x, filters, groups, at.strides, at.dilations, pads)
    if groups > 1:
        weights = grouped_filter(node, groups)
        return ops.group_convolution(x, weights, at.strides, at.begin, at.end, at.dilations, at.auto_pad)
<<<<<<< HEAD
    filters = node.get_input("filter")
    return ops.convolution(x, filters, at.strides, at.begin, at.end, at.dilations, at.auto_pad)
=======
    return ops.convolution(x, node.get_input("filter"), at.strides, at.begin, at.end, at.dilations, at.auto_pad)


@works_around("convolution_by_filter_of_unknown_shape")
def _has_unknown_shape(dims: Sequence[int | None] | None) -> bool:
    """Whether the shape of a filter is known only at run time: OpenVINO's CPU plugin has no convolution by such."""
    return dims is None or None in dims


def _pointwise_matmul(x: Output, filters: Output) -> Node:
    """out[n, o, p] = sum over i of filter[o, i] * x[n, i, p]."""
    flat = ops.reshape(x, ints([0, 0, -1]), True)
    weights = ops.reshape(filters, dim_vector(filters, [0, 1]), False)
    spatial_shape = dim_range(x, 2)
    out = ops.matmul(weights, flat, False, False)
    return ops.reshape(out, ops.concat([ints([0, 0]), spatial_shape], 0), True)


def _by_windows(x: Output, filters: Output, at: _Geometry, groups: int) -> Node:
    """A convolution as a product of the filters and of all windows, which are gathered along each spatial axis."""
    spatial = len(at.strides)
    strides, one = ints(at.strides), ints(1)
    sizes, axes = dim_range(filters, 2, 2 + spatial), list(range(2, 2 + spatial))
    spans = ops.add(ops.multiply(ops.subtract(sizes, one), ints(at.dilations)), one)
    dims = dim_vector(x, axes)
    begin, end = _window_pads(dims, spans, at)
    before, after = (ops.concat([ints([0, 0]), pads], 0) for pads in (begin, end))
    out = ops.pad(x, before, after, "constant", const_like(0, x))
    after_first = ops.subtract(ops.add(ops.add(dims, begin), end), spans)
    counts = ops.divide(ops.maximum(ops.add(after_first, strides), ints(0)), strides)
    for i in reversed(range(spatial)):
        size, count = (ops.gather(each, ints(i), ints(0)) for each in (sizes, counts))
        within = ops.multiply(index_range(size), ints(at.dilations[i]))
        starts = ops.multiply(index_range(count), ints(at.strides[i]))
        indices = ops.add(ops.unsqueeze(within, ints([1])), ops.unsqueeze(starts, ints([0])))
        out = ops.gather(out, indices, ints(axes[i]))
    order = [0, 1, *range(2, 2 + 2 * spatial, 2), *range(3, 3 + 2 * spatial, 2)]
    batch, first = dim_vector(x, [0]), dim_vector(filters, [0])
    terms, windows = (ops.reduce_prod(each, ints([0]), True) for each in (dim_range(filters, 1), counts))
    patches = ops.reshape(
        ops.transpose(out, ints(order)), ops.concat([batch, ints([groups]), terms, windows], 0), False
    )
    each_group = ops.divide(first, ints([groups]))
    weights = ops.reshape(filters, ops.concat([ints([groups]), each_group, terms], 0), False)
    out = ops.matmul(weights, patches, False, False)
    return ops.reshape(out, ops.concat([batch, first, counts], 0), False)


def _window_pads(dims: Node, spans: Node, at: _Geometry) -> tuple[Node, Node]:
    """The paddings of an image for windows of these spans, with what the only window reaches beyond its end."""
    strides, zero = ints(at.strides), ints(0)
    if at.auto_pad != "explicit":
        counts = ops.divide(ops.add(dims, ints([step - 1 for step in at.strides])), strides)
        covered = ops.add(ops.multiply(ops.subtract(counts, ints(1)), strides), spans)
        total = ops.maximum(ops.subtract(covered, dims), zero)
        low = ops.divide(total, ints(2))
        return low, ops.subtract(total, low)
    begin, end = ints(at.begin), ints(at.end)
    missing = ops.subtract(spans, ops.add(ops.add(dims, begin), end))
    # Paddle divides towards zero, see `window_overhang`.
    reaches = ops.logical_and(ops.greater(missing, zero), ops.less(missing, strides))
    return begin, ops.add(end, ops.multiply(missing, ops.convert(reaches, Type.i64)))
>>>>>>> b83bbcc (Types, and the pages of coverage and of faults)


def groups_of(node: NodeContext, dims: Sequence[int | None] | None, last: bool) -> int:
    """The number of groups, which fits the channels of the input and the filter [G * A, B, ...]: G * B, and G * A.

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
        node.refuse(f"they do not divide the {first} channels of the result", groups=groups)
    if channels is not None and each is not None and channels != groups * each:
        what = f"an input {_dims_str(dims)} has {channels} channels"
        node.refuse(f"{what}, a filter {_dims_str(filters)} takes {each} of each group", groups=groups)
    return groups


def _dims_str(dims: Sequence[int | None]) -> str:
    return f"[{', '.join('?' if dim is None else str(dim) for dim in dims)}]"


def grouped_filter(node: NodeContext, groups: int) -> Output:
    """The filter [G * A, B, ...] as OpenVINO wants it: [G, A, B, ...]."""
    dims = known_dims(node.input_dims("filter"))
    if dims is not None:
        first, *rest = dims
        return node.get_reshaped("filter", [groups, first // groups, *rest])
    filters = node.get_input("filter")
    rest_dims = dim_range(filters, 1)
    return ops.reshape(filters, ops.concat([ints([groups, -1]), rest_dims], 0), False).output(0)
