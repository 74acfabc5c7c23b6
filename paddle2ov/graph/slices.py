"""Slices of a range along an axis and in reverse, and what stands for their open ends."""

from __future__ import annotations

from collections.abc import Sequence

from openvino import Node, Output

from paddle2ov.graph.node_factory import NodeInput
from paddle2ov.graph.opset import ints, ops

OPEN_END = 2**31 - 1
"""The end of a Slice that goes on to the last element, as Paddle's programs have it too.

Where OpenVINO would compute with it, `ops.slice` puts the limit of int64 in its place (`safe_functions.py`).
"""
BEFORE_FIRST = -(2**31)
"""The end of a Slice backwards that includes the first element: a number below -dim."""


def slice_along(x: Node | Output, start: NodeInput, stop: NodeInput, axis: int) -> Node:
    """The elements from start to stop along one axis; both bounds are [1]."""
    return ops.slice(x, start, stop, ints([1]), ints([axis]))


def reverse_along(x: Node | Output, axes: Sequence[int]) -> Node:
    """`x` reversed along one axis or more."""
    count = len(axes)
    return ops.slice(x, ints([-1] * count), ints([BEFORE_FIRST] * count), ints([-1] * count), ints(axes))
