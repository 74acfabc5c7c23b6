"""Makes all FakeQuantizes that are concatenated unsigned if one of them has an asymmetric range.

OpenVINO 2026.4 quantizes symmetric ranges to signed integers, and others to unsigned ones with a zero point. All inputs
of a Concat get the type of one of them. A convolution of signed integers with zero points stays in floating point, its
weights in integers, and the CPU plugin has no bfloat16 kernel for that.

This changes ranges slightly. It is meant for ranges from a calibration: only `quantize` runs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from openvino import Node

from paddle2ov.graph.constants import constant_of
from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.rule import MatchFailureError, Rule
from paddle2ov.typing import AnyArray

_KEEPING = frozenset(
    (
        *("DepthToSpace", "Interpolate", "MaxPool", "Reshape", "Slice", "SpaceToDepth", "Split", "Squeeze"),
        *("StridedSlice", "Transpose", "Unsqueeze", "VariadicSplit"),
    )
)
"""What OpenVINO computes on integers as they are."""
_LEVELS = 256
_SYMMETRIC = -128 / 127
_TOLERANCE = 0.002
"""The ratio of the ends of a range that OpenVINO takes for symmetric, and how far it may be off, relative to it."""

_FakeQuantizes: TypeAlias = list[Node]


@works_around("signed_integers_with_zero_points")
class AlignZeroPoints(Rule[_FakeQuantizes, _FakeQuantizes]):
    """Widens symmetric ranges that are concatenated with asymmetric ones, so that they get a zero point as well.

    Given:
        Concat of at least two FakeQuantizes with 256 levels, possibly through nodes that keep integers, where some
        ranges are symmetric (from -128/127 of the upper end, for each channel) and others are not.
    Result:
        The same, the symmetric ranges wider by 1/128: from -127/128 of the upper end, with the zero point 127.
    """

    roots = ("Concat",)
    needs = ("FakeQuantize",)
    counts = ("ranges",)

    def pattern(self, graph: Graph, node: Node) -> _FakeQuantizes | None:
        found = {one.get_name(): one for one in _sources(node)}
        return list(found.values()) if len(found) > 1 else None

    def check(self, graph: Graph, match: _FakeQuantizes) -> _FakeQuantizes:
        symmetric = [one for one in match if _is_symmetric(one)]
        if len(symmetric) in (0, len(match)):
            raise MatchFailureError("all are signed, or all unsigned")
        if not all(_keeps_ranges(one) for one in symmetric):
            raise MatchFailureError("a range is not that of 256 levels")
        return symmetric

    def rewrite(self, graph: Graph, plan: _FakeQuantizes) -> Counts:
        for node in plan:
            low, high = (_range_of(node)[i].astype(np.float64) for i in (0, 1))
            step = np.maximum(-low / 127, high / 128)
            for index in (1, 3):
                for offset, multiple in ((0, -127), (1, 128)):
                    end = ops.constant((multiple * step).astype(np.float32))
                    node.input(index + offset).replace_source_output(end.output(0))
        return {"ranges": len(plan)}


def _sources(concat: Node) -> Iterator[Node]:
    """The FakeQuantizes that a Concat reads."""
    for value in concat.input_values():
        node = value.get_node()
        while node.get_type_name() in _KEEPING:
            node = node.input_value(0).get_node()
        if node.get_type_name() == "FakeQuantize":
            yield node
        elif node.get_type_name() == "Concat":
            yield from _sources(node)


def _range_of(node: Node) -> list[AnyArray]:
    """The ends of the ranges that a FakeQuantize reads and gives, two each; none where they are computed."""
    arrays = [constant_of(value) for value in node.input_values()[1:]]
    known = [one for one in arrays if one is not None]
    return known if len(known) == len(arrays) else []


def _is_symmetric(node: Node) -> bool:
    """Whether OpenVINO takes signed integers without zero points for the result."""
    ends = _range_of(node)[2:]
    if not ends:
        return False
    low, high = (one.astype(np.float64) for one in ends)
    if not ((low < 0) & (high > 0)).all():
        return False
    ratio = low / high
    return bool((abs((ratio - _SYMMETRIC) / np.minimum(ratio, _SYMMETRIC)) <= _TOLERANCE).all())


def _keeps_ranges(node: Node) -> bool:
    """Whether a FakeQuantize gives the range that it reads, in 256 levels."""
    low, high, low_out, high_out = _range_of(node)
    same = np.array_equal(low, low_out) and np.array_equal(high, high_out)
    return bool(same and node.get_attributes()["levels"] == _LEVELS)


align_zero_points = AlignZeroPoints()
