"""Helpers of the suppressions: selected indices as rows (group, ..., index), and the selection among them."""

from __future__ import annotations

import numpy as np
from openvino import Node, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const
from paddle2ov.converters.graph.dims import dim_of, dim_vector, index_range
from paddle2ov.converters.lod.sequences import segment_ids
from paddle2ov.graph.opset import ints, ops
from paddle2ov.translation.node_context import NodeContext


def indices_where(mask: Tensor) -> Node:
    """The indices at which a 1-D mask is true, [M]."""
    return ops.squeeze(ops.non_zero(mask, "i64"), ints(0))


def best_per_image(image: Tensor, scores: Tensor, images: Tensor, limit: int) -> Node:
    """The indices, ascending, of the `limit` best scores of each image; among equal scores the first win.

    image [M]: the image of each score; images: how many there are, 0-D.
    """
    # An extra entry of no image keeps TopK from being empty.
    image = ops.concat([image, ints([-1])], 0)
    scores = ops.concat([scores, const([-np.inf], Type.f32)], 0)
    own = ops.equal(image, ops.unsqueeze(index_range(images), ints(1)))
    table = ops.select(own, scores, const(-np.inf, Type.f32))  # [images, M + 1]
    k = ops.minimum(ints(limit), ops.squeeze(dim_vector(table, [1]), ints(0)))
    least = ops.reduce_min(ops.topk(table, k, 1, "max", "none", index_element_type="i64").output(0), ints(1), True)
    better, tied = ops.greater(table, least), ops.logical_and(own, ops.equal(table, least))
    missing = ops.subtract(k, ops.reduce_sum(cast_to(better, Type.i64), ints(1), True))
    first = ops.less_equal(ops.cum_sum(cast_to(tied, Type.i64), ints(1)), missing)
    chosen = ops.logical_or(better, ops.logical_and(tied, first))
    return indices_where(ops.reduce_logical_or(chosen, ints(0), False))


def image_of_rows(node: NodeContext, counts: str, rows: str) -> tuple[Node, Node]:
    """The image of each row, int64, and how many images there are, 0-D.

    The operand `counts` says how many rows each image has, or their LoD; without both there is one image.
    """
    lengths = node.get_tensor(counts, Type.i64) if node.has_input(counts) else node.sequence_lengths(rows)
    total = dim_of(node.get_input(rows), 0)
    if lengths is None:
        return ops.broadcast(ints(0), ops.unsqueeze(total, ints(0))), ints(1)
    return segment_ids(lengths, total), dim_of(lengths, 0)


def count_per_image(image: Tensor, images: Tensor) -> Node:
    """The number of entries of each image, int32 [images]."""
    own = ops.equal(image, ops.unsqueeze(index_range(images), ints(1)))
    return ops.reduce_sum(cast_to(own, Type.i32), ints(1), False)


def column(rows: Tensor, i: int) -> Node:
    """Column `i` of a matrix, 1-D."""
    return ops.gather(rows, ints(i), ints(1))


def columns(rows: Tensor, *which: int) -> Node:
    """Some columns of a matrix."""
    return ops.gather(rows, ints(which), ints(1))
