"""Which segment of a tensor each row is in."""

from __future__ import annotations

from openvino import Node, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, index_range
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops


def segment_ids(lengths: Tensor, rows: Tensor) -> Node:
    """The index of the segment that each row belongs to, int64 [rows]; `rows` is their number, 0-D."""
    ends = ops.cum_sum(cast_to(lengths, Type.i64), ints(0))
    number = ops.unsqueeze(index_range(rows), ints(1))
    return ops.reduce_sum(cast_to(ops.greater_equal(number, ends), Type.i64), ints(1), False)
