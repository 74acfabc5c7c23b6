"""Convolutions that OpenVINO computes wrongly in bfloat16."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openvino import Node, Output

from paddle2ov.graph.opset import create, ints, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, at, require

_CONVOLUTIONS = ("Convolution", "GroupConvolution")
_SIDES: Mapping[int, tuple[int, ...]] = {1: (9,), 2: (3, 3), 3: (1, 3, 3)}
"""The least size of small filters along each spatial axis, by their number."""


def _replace_convolution(node: Node, x: Output | Node, filters: Output | Node, **changed: Any) -> None:
    """Puts another convolution in the place of one, with some attributes changed."""
    inputs = [value.output(0) if isinstance(value, Node) else value for value in (x, filters)]
    made = create(node.get_type_name(), inputs, {**node.get_attributes(), **changed})
    replace(node.output(0), made.output(0))


@at(*_CONVOLUTIONS, when=lambda index, place: (index.dims(place) or [None])[-1] == 1)
def stride_to_width_1(graph: Graph, node: Node) -> list[tuple[Node, int]] | None:
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
        raise MatchFailureError("the width of the image or of the filter is not known")
    if attributes["auto_pad"].startswith("same") and (image is None or None in image[2:]):
        raise MatchFailureError("the paddings along the other axes are computed by the run")
    padded = width + attributes["pads_begin"][-1] + attributes["pads_end"][-1]
    return [(node, padded - (attributes["dilations"][-1] * (taps - 1) + 1))]  # what the only window leaves out


def drop_stride(graph: Graph, site: tuple[Node, int]) -> None:
    """The stride along the width is 1, over the columns that the only window reaches."""
    node, left = site
    attributes, (x, filters) = node.get_attributes(), node.input_values()
    *pads, last = attributes["pads_end"]
    less = min(left, last)
    if left > less:
        axis = ints([len(x.get_partial_shape()) - 1])
        x = ops.slice(x, ints([0]), ints([less - left]), ints([1]), axis).output(0)
    strides = [*list(attributes["strides"])[:-1], 1]
    _replace_convolution(node, x, filters, pads_end=[*pads, last - less], strides=strides, auto_pad="explicit")


@at("GroupConvolution")
def small_group_filters(graph: Graph, node: Node) -> list[tuple[Node, list[int]]] | None:
    """OpenVINO is wrong for few pixels, unknown sizes, and several filters of fewer than 9 elements in each group.

    A constant for each channel must be added; running on several threads may hide it.

    Given:
        GroupConvolution with an unknown dimension (the batch counts as well), one input channel and several filters in
        each group, and filters of more than one element.
    """
    dims = dims_of(node.input_value(0))
    if dims is not None and None not in (dims[0], *dims[2:]):
        return None
    require(node.get_attributes()["auto_pad"] == "explicit", "the padding is not explicit")
    filters = dims_of(node.input_value(1))
    if filters is None or None in filters:
        raise MatchFailureError("the sizes of the filters are not known")
    if filters[1] == 1 or filters[2] != 1:
        raise MatchFailureError("a group has several channels, or one filter")
    kernel = [size or 0 for size in filters[3:]]
    missing = [max(side - size, 0) for side, size in zip(_SIDES[len(kernel)], kernel, strict=True)]
    if max(kernel) == 1 or not any(missing):
        raise MatchFailureError("the filters are large, or single elements")
    return [(node, missing)]


def pad_filters(graph: Graph, site: tuple[Node, list[int]]) -> None:
    """The filters are padded with zeros to 9 elements, and the image by as much at the end."""
    node, missing = site
    attributes, (x, filters) = node.get_attributes(), node.input_values()
    ends = [0, 0, 0, *missing]
    zero = ops.constant(0.0, filters.get_element_type())
    wider = ops.pad(filters, ints([0] * len(ends)), ints(ends), "constant", zero)
    gaps = [count * step for count, step in zip(missing, attributes["dilations"], strict=True)]
    pads = [int(pad) + gap for pad, gap in zip(attributes["pads_end"], gaps, strict=True)]
    _replace_convolution(node, x, wider, pads_end=pads)
