"""Convolutions that OpenVINO computes wrongly in bfloat16."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec import Struct
from openvino import Node, Output, Type

from paddle2ov.graph.opset import create, ints, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.index import Index
from paddle2ov.passes.replacement import replace
from paddle2ov.workarounds.row import Skip, at

_CONVOLUTIONS = ("Convolution", "GroupConvolution")
_MAX_CHANNELS = 16
_SIDES: Mapping[int, tuple[int, ...]] = {1: (9,), 2: (3, 3), 3: (1, 3, 3)}
"""The least size of small filters along each spatial axis, by their number."""


def _replace_convolution(node: Node, x: Output | Node, filters: Output | Node, **changed: Any) -> None:
    """Puts another convolution in the place of one, with some attributes changed."""
    inputs = [value.output(0) if isinstance(value, Node) else value for value in (x, filters)]
    made = create(node.get_type_name(), inputs, {**node.get_attributes(), **changed})
    replace(node.output(0), made.output(0))


class _Plane(Struct, frozen=True):
    """A convolution, and the plane of its filter that meets the image."""

    convolution: Node
    plane: int


def _may_be_volume(index: Index, place: int) -> bool:
    dims = index.dims(place)
    return dims is None or len(dims) == 5


@at(*_CONVOLUTIONS, when=_may_be_volume)
def deep_filter(graph: Graph, node: Node) -> list[_Plane] | Skip | None:
    """OpenVINO computes garbage over depth 1 by a deeper filter, for an odd number of channels below 16.

    Given:
        3-D Convolution or GroupConvolution over depth 1, padded by as much as its filter is deeper: the output has
        depth 1 as well.
    """
    dims = dims_of(node.input_value(0))
    if dims is None or len(dims) != 5 or dims[2] != 1:
        return None
    filters, out = dims_of(node.input_value(1)), dims_of(node.output(0))
    if filters is not None and filters[-3] == 1:
        return None
    if filters is None or filters[-3] is None or out is None or out[2] != 1:
        return Skip("the depth of the filter is not known, or the result is deeper")
    attributes = node.get_attributes()
    before, dilation = attributes["pads_begin"][0], attributes["dilations"][0]
    if before % dilation or before // dilation >= filters[-3]:
        return Skip("no plane of the filter meets the image")
    return [_Plane(node, before // dilation)]


def _without_depth_padding(node: Node) -> dict[str, list[int]]:
    """Paddings with none along the depth, where padding to the same size (auto_pad) is none as well."""
    attributes = node.get_attributes()
    return {name: [0, *list(attributes[name])[1:]] for name in ("pads_begin", "pads_end")}


def cut_filter(graph: Graph, site: _Plane) -> None:
    """The filter is the plane that meets the image; the others meet only padding."""
    x, filters = site.convolution.input_values()
    axis = ints([len(filters.get_partial_shape()) - 3])
    cut = ops.slice(filters, ints([site.plane]), ints([site.plane + 1]), ints([1]), axis)
    _replace_convolution(site.convolution, x, cut, **_without_depth_padding(site.convolution))


@at(*_CONVOLUTIONS, when=_may_be_volume)
def shallow_image(graph: Graph, node: Node) -> list[Node] | Skip | None:
    """OpenVINO computes garbage over a depth that may be 1, where `deep_filter` cannot cut the filter.

    Given:
        3-D Convolution or GroupConvolution over a depth that is unknown or 1, with padding along the depth and an odd
        number of channels (per group) below 16.
    """
    dims = dims_of(node.input_value(0))
    if dims is None or len(dims) != 5 or dims[2] not in (None, 1):
        return None
    attributes, filters = node.get_attributes(), dims_of(node.input_value(1))
    channels = None if filters is None else filters[-4]
    if channels is not None and (channels >= _MAX_CHANNELS or channels % 2 == 0):
        return Skip("the number of channels is even, or large")
    pads = int(attributes["pads_begin"][0]), int(attributes["pads_end"][0])
    if attributes["auto_pad"] != "explicit" or min(pads) < 0 or not sum(pads):
        return Skip("the depth is not padded, or the padding is not explicit")
    return [node]


def pad_by_planes(graph: Graph, node: Node) -> None:
    """Planes of zeros are joined to the image (Concat): OpenVINO would fuse a Pad into the convolution."""
    x, filters = node.input_values()
    shape, zero = ops.shape_of(x, Type.i64), ops.constant(np.float32(0), x.get_element_type())
    sizes = [ops.gather(shape, ints(axes), ints(0)) for axes in ([0, 1], [3, 4])]
    counts = [int(node.get_attributes()[name][0]) for name in ("pads_begin", "pads_end")]
    before, after = (
        [ops.broadcast(zero, ops.concat([sizes[0], ints([count]), sizes[1]], 0)).output(0)] if count else []
        for count in counts
    )
    deeper = ops.concat([*before, x, *after], 2)
    _replace_convolution(node, deeper, filters, **_without_depth_padding(node))


class _Window(Struct, frozen=True):
    """A convolution, and how many columns at the end of its padded image the only window leaves out."""

    convolution: Node
    left: int


@at(*_CONVOLUTIONS, when=lambda index, place: (index.dims(place) or [None])[-1] == 1)
def stride_to_width_1(graph: Graph, node: Node) -> list[_Window] | Skip | None:
    """OpenVINO computes garbage if an output has width 1, a stride above 1 along it, and other sizes above 1.

    Given:
        Convolution or GroupConvolution of at least two spatial axes, with a stride along the last one, along which its
        output has size 1.
    """
    dims = dims_of(node.output(0))
    if dims is None or len(dims) < 4 or dims[-1] != 1:
        return None
    attributes = node.get_attributes()
    if attributes["strides"][-1] <= 1:
        return None
    image, filters = dims_of(node.input_value(0)), dims_of(node.input_value(1))
    width, taps = (None if dims is None else dims[-1] for dims in (image, filters))
    if width is None or taps is None:
        return Skip("the width of the image or of the filter is not known")
    if attributes["auto_pad"].startswith("same") and (image is None or None in image[2:]):
        return Skip("the paddings along the other axes are computed by the run")
    padded = width + attributes["pads_begin"][-1] + attributes["pads_end"][-1]
    return [_Window(node, padded - (attributes["dilations"][-1] * (taps - 1) + 1))]


def drop_stride(graph: Graph, site: _Window) -> None:
    """The stride along the width is 1, over the columns that the only window reaches."""
    node, attributes = site.convolution, site.convolution.get_attributes()
    x, filters = node.input_values()
    *pads, last = attributes["pads_end"]
    less = min(site.left, last)
    if site.left > less:
        axis = ints([len(x.get_partial_shape()) - 1])
        x = ops.slice(x, ints([0]), ints([less - site.left]), ints([1]), axis).output(0)
    strides = [*list(attributes["strides"])[:-1], 1]
    _replace_convolution(node, x, filters, pads_end=[*pads, last - less], strides=strides, auto_pad="explicit")


class _Filters(Struct, frozen=True):
    """A grouped convolution, and how many zeros its filters need after the last element of each axis."""

    convolution: Node
    missing: list[int]


@at("GroupConvolution")
def small_group_filters(graph: Graph, node: Node) -> list[_Filters] | Skip | None:
    """OpenVINO is wrong for few pixels, unknown sizes, and several filters of fewer than 9 elements in each group.

    A constant for each channel must be added; running on several threads may hide it.

    Given:
        GroupConvolution with an unknown dimension (the batch counts as well), one input channel and several filters in
        each group, and filters of more than one element.
    """
    dims = dims_of(node.input_value(0))
    if dims is not None and None not in (dims[0], *dims[2:]):
        return None
    if node.get_attributes()["auto_pad"] != "explicit":
        return Skip("the padding is not explicit")
    filters = dims_of(node.input_value(1))
    if filters is None or None in filters:
        return Skip("the sizes of the filters are not known")
    if filters[1] == 1 or filters[2] != 1:
        return Skip("a group has several channels, or one filter")
    kernel = [size or 0 for size in filters[3:]]
    missing = [max(side - size, 0) for side, size in zip(_SIDES[len(kernel)], kernel, strict=True)]
    if max(kernel) == 1 or not any(missing):
        return Skip("the filters are large, or single elements")
    return [_Filters(node, missing)]


def pad_filters(graph: Graph, site: _Filters) -> None:
    """The filters are padded with zeros to 9 elements, and the image by as much at the end."""
    node, attributes = site.convolution, site.convolution.get_attributes()
    x, filters = node.input_values()
    ends = [0, 0, 0, *site.missing]
    zero = ops.constant(0.0, filters.get_element_type())
    wider = ops.pad(filters, ints([0] * len(ends)), ints(ends), "constant", zero)
    gaps = [missing * step for missing, step in zip(site.missing, attributes["dilations"], strict=True)]
    pads = [int(pad) + gap for pad, gap in zip(attributes["pads_end"], gaps, strict=True)]
    _replace_convolution(node, x, wider, pads_end=pads)
