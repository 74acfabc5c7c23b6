"""Sequences as tensors: positions, look-ahead convolution, click features, windows of an image as a sequence.

Paddle: `add_position_encoding`, `row_conv`, `cvm`, `im2sequence`.
Semantics: `paddle/phi/kernels/cpu/{add_position_encoding,row_conv}_kernel.cc`,
`paddle/phi/kernels/impl/{cvm,im2sequence}_kernel_impl.h`.

Refused: `im2sequence` with a size for each image.
"""

from __future__ import annotations

from openvino import Node, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const, const_like, reshape
from paddle2ov.converters.graph.dims import dim_of, dim_vector, rank_of
from paddle2ov.converters.lod.sequences import dense_input, from_dense
from paddle2ov.graph import arrays
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.graph.values import LoDTensor, SequenceLayout
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def _batch(node: NodeContext) -> tuple[Tensor, SequenceLayout | None]:
    """x as [batch, steps, features], and the number of sequences if it is an LoD tensor."""
    x = node.get_input("x")
    if rank_of(node, x) == 3:
        return x, None
    return dense_input(node, "x")


def add_position_encoding(node: NodeContext) -> NamedOutputs:
    """out = alpha · x + beta · [sin(p · r), cos(p · r)] for position p and rate r = 10000^(-k / (h - 1)), k < h."""
    x, layout = _batch(node)
    size = (node.declared_input_shape("x") or [-1])[-1]
    node.require(size >= 0, "the number of features must be known")
    half = size // 2
    exponents = arrays.arange(half) / (half - 1) if half > 1 else arrays.ones(1)
    rates = const(10000.0**-exponents, Type.f32)
    positions = ops.range(ints(0), dim_of(x, 1), ints(1), "f32")
    angles = ops.multiply(ops.unsqueeze(positions, ints([1])), rates)
    waves = cast_to(ops.concat([ops.sin(angles), ops.cos(angles)], 1), x.get_element_type())
    scaled = ops.multiply(x, const_like(node.get_float("alpha", 1.0), x))
    out = ops.add(scaled, ops.multiply(waves, const_like(node.get_float("beta", 1.0), x)))
    return {"out": out if layout is None else from_dense(out, layout)}


def row_conv(node: NodeContext) -> NamedOutputs:
    """out[t, d] = the sum over w of filter[w, d] · x[t + w, d]: features of this and of the following steps."""
    (x, layout), declared = _batch(node), node.declared_input_shape("filter")
    if declared is None or min(declared) < 0:
        node.refuse("the shape of the filter must be known")
    ahead, size = declared
    filters = ops.transpose(node.get_reshaped("filter", [ahead, size]), ints([1, 0]))
    weights = reshape(filters, [size, 1, 1, ahead])
    out: Node = ops.group_convolution(ops.transpose(x, ints([0, 2, 1])), weights, [1], [0], [ahead - 1], [1])
    out = ops.transpose(out, ints([0, 2, 1]))
    return {"out": out if layout is None else from_dense(out, layout)}


def cvm(node: NodeContext) -> NamedOutputs:
    """out = x with its first two columns, shows s and clicks c, as log(s + 1), log(c + 1) - log(s + 1); or without."""
    x = node.get_input("x")
    rest = slice_along(x, ints([2]), ints([OPEN_END]), 1)
    if not node.get_bool("use_cvm", True):
        return {"out": rest}
    one = const_like(1, x)
    shows, clicks = (ops.log(ops.add(ops.gather(x, ints([i]), ints(1)), one)) for i in (0, 1))
    return {"out": ops.concat([shows, ops.subtract(clicks, shows), rest], 1)}


def im2sequence(node: NodeContext) -> NamedOutputs:
    """out[(n, l), (c, i, j)] = the element (i, j) of the l-th window of channel c of image n."""
    x = node.get_input("x")
    node.require(not node.has_input("y"), "a size for each image is not supported", y="tensor")
    kernel, strides = node.get_ints("kernels"), node.get_ints("strides", [1, 1])
    top, left, bottom, right = node.get_ints("paddings", [0, 0, 0, 0])
    padded: Node = ops.pad(x, ints([0, 0, top, left]), ints([0, 0, bottom, right]), "constant", const_like(0, x))
    # The patches come as [N, (i, j, c), rows, columns].
    patches = ops.extract_image_patches(padded, kernel, strides, [1, 1], "VALID")
    area, channels = kernel[0] * kernel[1], dim_vector(x, [1])
    batch, spatial = dim_vector(patches, [0]), dim_vector(patches, [2, 3])
    split = ops.reshape(patches, ops.concat([batch, ints([area]), channels, spatial], 0), False)
    ordered = ops.transpose(split, ints([0, 3, 4, 2, 1]))
    size = ops.concat([ints([-1]), ops.multiply(channels, ints([area]))], 0)
    return {"out": LoDTensor(ops.reshape(ordered, size, False), batch.output(0))}
