"""Pads small filters of grouped convolutions with zeros to 9 elements.

In bfloat16, OpenVINO 2026.4 computes a grouped convolution of few pixels and dynamic dimensions (the batch counts as
well) wrongly if each group has one input channel and several filters of fewer than 9 elements, and a per-channel
constant is added. Running on several threads may hide it.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from openvino import Node

from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import create, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule

_SIDES: Mapping[int, tuple[int, ...]] = {1: (9,), 2: (3, 3), 3: (1, 3, 3)}
"""The least size of filters along each spatial axis, by their number."""


class _Filters(Struct, frozen=True):
    """A grouped convolution, and how many zeros its filters need after the last element of each axis."""

    convolution: Node
    missing: list[int]


@works_around("small_group_filters")
class AvoidSmallGroupFilters(Rule[Node, _Filters]):
    """Pads filters of several per input channel with zeros.

    Given:
        GroupConvolution with a dynamic dimension, one input channel and several filters in each group, and filters of
        more than one element.
    Result:
        The same with filters of at least `_SIDES`, and as much more padding at the end.
    """

    roots = ("GroupConvolution",)
    counts = ("filters",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        dims = dims_of(node.input_value(0))
        return node if dims is None or None in (dims[0], *dims[2:]) else None

    def check(self, graph: Graph, match: Node) -> _Filters:
        if match.get_attributes()["auto_pad"] != "explicit":
            raise MatchFailureError("the padding is not explicit")
        filters = dims_of(match.input_value(1))
        if filters is None or None in filters:
            raise MatchFailureError("the sizes of the filters are not known")
        if filters[1] == 1 or filters[2] != 1:
            raise MatchFailureError("a group has several channels, or one filter")
        kernel = [size or 0 for size in filters[3:]]
        missing = [max(side - size, 0) for side, size in zip(_SIDES[len(kernel)], kernel, strict=True)]
        if max(kernel) == 1 or not any(missing):
            raise MatchFailureError("the filters are large, or single elements")
        return _Filters(match, missing)

    def rewrite(self, graph: Graph, plan: _Filters) -> Counts:
        node, attributes = plan.convolution, plan.convolution.get_attributes()
        x, filters = node.input_values()
        zero = ops.constant(0.0, filters.get_element_type())
        ends = [0, 0, 0, *plan.missing]
        wider = ops.pad(filters, ints([0] * len(ends)), ints(ends), "constant", zero).output(0)
        gaps = [missing * step for missing, step in zip(plan.missing, attributes["dilations"], strict=True)]
        attributes["pads_end"] = [int(pad) + gap for pad, gap in zip(attributes["pads_end"], gaps, strict=True)]
        replace(node.output(0), create("GroupConvolution", [x, wider], attributes).output(0))
        return {"filters": 1}


avoid_small_group_filters = AvoidSmallGroupFilters()
