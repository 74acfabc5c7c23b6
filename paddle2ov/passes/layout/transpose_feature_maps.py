"""Swaps a transpose of tokens and the reshape to or from an image: SVTR, SegFormer, detectors.

Given:
    (a) tokens [B, H·W, C] → Transpose [0, 2, 1] → Reshape [B, C, H, W] → Convolution, where B or another size is
    unknown, (b) image [B, C, H, W] → Reshape [B, C, H·W] → Transpose [0, 2, 1], where all sizes are known and several
    nodes read the tokens, or (c) as (a), with any sizes and readers, and heads instead of C, if the tokens of an image
    take 2 MB or more and C is a power of two. Nothing else reads the tensor in between. An image may have any rank.
Result:
    (a) tokens → Reshape [B, H, W, C] → Transpose [0, 3, 1, 2], which OpenVINO runs as a change of layout, in less than
    half of the time; (b) image → Transpose [0, 2, 3, 1] → Reshape [B, H·W, C], which costs nothing if a convolution has
    computed the image, whose channels are contiguous; (c) tokens → Reshape [B, H·W, 1, C] → Transpose [0, 3, 1, 2] →
    Reshape, in half of the time: the columns that the other kernel reads are at strides that evict each other from the
    cache. OpenVINO rewrites all other cases itself, or runs them as fast; with dynamic shapes (b) would take longer.
"""

from __future__ import annotations

import math

from openvino import Node, Output

from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.consumers import consumers, only_consumer, readers
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import Dims, dims_of
from paddle2ov.passes.constant_operands import reshaped_dims
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import name_after, replace
from paddle2ov.passes.rule import MatchFailureError, at, require, rule


@rule("to images", "to tokens", "widened")
@at("Transpose", when=lambda index, place: index.perm(place) == [0, 2, 1])
def transpose_feature_maps(graph: Graph, transpose: Node) -> Counts | None:
    """Transposes images in place of the sequences of their pixels."""
    follower, source = only_consumer(transpose.output(0)), transpose.input_value(0).get_node()
    old = transpose.output(0)
    if follower is not None and follower.get_type_name() == "Reshape":
        image = follower.output(0)
        if any(reader.get_type_name() in _CONVOLUTIONS for reader in readers(follower)):
            kind, old, new = "to images", image, _image(transpose, follower)
        elif len(dims_of(image) or ()) > 3:
            kind, new = "widened", _with_unit_axis(transpose)
        else:
            return None
    elif source.get_type_name() == "Reshape" and only_consumer(source.output(0)) is not None:
        kind, new = "to tokens", _tokens(transpose, source)
    else:
        return None
    name_after(new.get_node().input_value(0).get_node(), old.get_node(), "feature_map")
    replace(old, new, transpose)
    return {kind: 1}


_CONVOLUTIONS = ("Convolution", "GroupConvolution")
_MIN_ELEMENTS, _MIN_CHANNELS = 1 << 19, 64
"""The smallest image whose transpose gets an axis of size 1."""
_UNKNOWN = "sizes are not known"


def _with_unit_axis(transpose: Node) -> Output:
    x = transpose.input_value(0)
    dims = dims_of(x)
    if dims is None or dims[1] is None or dims[2] is None:
        raise MatchFailureError(_UNKNOWN)
    length, channels = dims[1], dims[2]
    if channels & (channels - 1) or channels < _MIN_CHANNELS or length * channels < _MIN_ELEMENTS:
        raise MatchFailureError("the tokens fit into the cache")
    column = ops.transpose(ops.reshape(x, ints([-1, length, 1, channels]), False), ints([0, 3, 1, 2]))
    return ops.reshape(column, ints([-1, channels, length]), False).output(0)


def _image(transpose: Node, reshape: Node) -> Output:
    x = transpose.input_value(0)
    tokens, image = dims_of(x), reshaped_dims(reshape)
    if tokens is None or image is None:
        raise MatchFailureError(_UNKNOWN)
    if len(image) < 4 or 0 in (*tokens, *image):
        raise MatchFailureError("the other tensor is not a feature map")
    require(None in tokens, "all sizes are known: OpenVINO rewrites that itself")
    batch, length, channels = tokens
    told = ints_of(reshape.input_value(1)) or []
    zeros = [i for i, item in enumerate(told) if item == 0 and reshape.get_attributes()["special_zero"]]
    same_batch = 0 in zeros or (batch is not None and batch == image[0])
    if channels is None or not (1 in zeros or image[1] == channels):
        raise MatchFailureError("the reshape may not keep the channels")
    inner = image[2:]
    if not same_batch and (length is None or None in inner or length != _size(inner)):
        raise MatchFailureError("the reshape may not keep the batch")
    target = [batch if batch is not None else 0, *(-1 if dim is None else dim for dim in inner), channels]
    require(target.count(-1) <= 1, "several sizes of the feature map are not known")
    rank = len(image)
    split = ops.reshape(x, ints(target), True)
    return ops.transpose(split, ints([0, rank - 1, *range(1, rank - 1)])).output(0)


def _tokens(transpose: Node, reshape: Node) -> Output:
    x = reshape.input_value(0)
    image, merged = dims_of(x), dims_of(reshape.output(0))
    if image is None or merged is None or None in image:
        raise MatchFailureError(_UNKNOWN)
    if len(image) < 4 or 0 in image or merged[:2] != image[:2]:
        raise MatchFailureError("the other tensor is not a feature map")
    require(len(consumers(transpose.output(0))) >= 2, "one node reads the tokens: OpenVINO rewrites that itself")
    last = ops.transpose(x, ints([0, *range(2, len(image)), 1]))
    return ops.reshape(last, ints([dim or 0 for dim in (merged[0], merged[2], merged[1])]), False).output(0)


def _size(dims: Dims) -> int:
    return math.prod(dim or 0 for dim in dims)
