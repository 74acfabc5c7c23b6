"""Recurrences over packed sequences that take one row after the other: their steps have known shapes."""

from __future__ import annotations

from openvino import Node, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const_like, dim_vector
from paddle2ov.converters.lod.sequences import row_starts, slice_dims
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.slices import OPEN_END
from paddle2ov.graph.values import SequenceLayout, SequenceLengths


def is_by_row(layout: SequenceLayout) -> bool:
    """Whether recurrences over sequences are computed row by row."""
    return layout.few if isinstance(layout, SequenceLengths) else isinstance(layout, int) and layout == 1


def goes_on(continuation: Tensor) -> Node:
    """What `continuations` says of a row, as a boolean."""
    return ops.greater(continuation, const_like(0, continuation))


def continuations(x: Tensor, layout: SequenceLengths) -> tuple[Node, Node]:
    """Whether each row of x [rows, ...] goes on from the row before, and the next one from it: 1 or 0, [rows, 1].

    They are of x's type: OpenVINO's CPU plugin takes longer for the booleans of a loop than for a step.
    """
    none, all_rows = (
        ops.reshape(const_like(0, x), ints([1]), False),
        ops.broadcast(const_like(1, x), dim_vector(x, [0])),
    )
    starts = row_starts(cast_to(layout.output, Type.i64))
    begins = ops.broadcast(none, ops.shape_of(starts, Type.i64))
    inside = ops.scatter_update(ops.concat([all_rows, none], 0), starts, begins, ints(0))
    inside = ops.unsqueeze(inside, ints([1]))
    return slice_dims(inside, 0, -1), slice_dims(inside, 1, OPEN_END)
