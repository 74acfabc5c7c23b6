"""Greedy bipartite matching of rows and columns, the largest value first.

Paddle: `bipartite_match`, `similarity_focus` (legacy only).
Semantics: `paddle/phi/kernels/cpu/bipartite_match_kernel.cc`, and `paddle/fluid/operators/similarity_focus_op.h` of
Paddle 2.6. Among equal values the first column wins, then the first row; Paddle's order is that of `std::sort` in
`similarity_focus`, and in `bipartite_match` from 130 rows on.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const, const_like
from paddle2ov.converters.graph.dims import dim_of, dim_range, dim_vector, index_range, normalize_axis, shape_of
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.converters.lod.sequences import dense_input, padded_length, padded_lengths
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.values import NO_LOD, LoDTensor
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

_SORTED_FROM = 130
"""From this number of rows on Paddle sorts all pairs, and takes those above 0; below it, those from 1e-6 on."""


def bipartite_match(node: NodeContext) -> NamedOutputs:
    """The row that each column of dist_mat is matched with (-1: none) and its value; per image, [images, columns]."""
    kind = node.get_str("match_type", "bipartite")
    node.require(kind in ("bipartite", "per_prediction"), "unknown", match_type=kind)
    if node.has_sequences("dist_mat"):
        x, count = dense_input(node, "dist_mat")
        rows = ops.unsqueeze(padded_lengths(x, count), ints([1, 2]))
    else:
        x = ops.unsqueeze(node.get_input("dist_mat"), ints([0]))
        rows = padded_length(x)
    x = _without_nan(x)
    many = ops.greater_equal(rows, ints(_SORTED_FROM))
    near = ops.greater_equal(x, const_like(1e-6, x))
    allowed = ops.select(many, ops.greater(x, const_like(0, x)), near)
    none = dim_vector(x, [0, 2])
    matched, distance = _greedy_matching(_only(x, allowed))
    if kind == "per_prediction":
        threshold, nothing = const_like(node.get_float("dist_threshold", 0.5), x), const_like(-np.inf, x)
        allowed = ops.logical_and(near, ops.greater_equal(x, threshold))
        padding = ops.broadcast(nothing, ops.concat([dim_vector(x, [0]), ints([1]), dim_vector(x, [2])], 0))
        # TopK takes no empty axis.
        best, where = _best(ops.concat([_only(x, allowed), padding], 1), 1)
        is_new_match = ops.logical_and(ops.less(matched, ints(0)), ops.greater(best, nothing))
        matched, distance = ops.select(is_new_match, where, matched), ops.select(is_new_match, best, distance)
    # In the shape that the program declares, however much of the shape of the distances is known.
    matched, distance = (ops.reshape(value, none, False) for value in (matched, distance))
    return {
        "col_to_row_match_indices": LoDTensor(ops.convert(matched, Type.i32), NO_LOD),
        "col_to_row_match_dist": LoDTensor(distance, NO_LOD),
    }


def similarity_focus(node: NodeContext) -> NamedOutputs:
    """out = 1 at the matched pairs of rows and columns of the slices of x given by indexes, else 0."""
    x, axis, indexes = node.get_input("x"), node.get_int("axis"), node.get_ints("indexes")
    node.require(axis in (1, 2, 3), "1, 2 or 3 is expected", axis=axis)
    node.require(len(indexes) > 0, "one or more are expected", indexes=indexes)
    size = x.get_partial_shape()[axis]
    for index in indexes:
        node.require(index >= 0, "none may be negative", indexes=indexes)
        if size.is_static:
            normalize_axis(node, index, size.get_length(), "indexes")
    slices = ops.gather(x, ints(indexes), ints(axis))
    slices = ops.transpose(slices, ints([0, axis, *[i for i in (1, 2, 3) if i != axis]]))  # [N, slices, rows, columns]
    dims = shape_of(slices)
    slices = ops.reshape(slices, ops.concat([ints([-1]), dim_range(slices, 2)], 0), False)
    lowest = float(np.finfo(np.float32).min)  # the remaining rows and columns are matched, however small the values
    matched, _ = _greedy_matching(ops.maximum(_without_nan(slices), const_like(lowest, x)))
    rows = ops.unsqueeze(index_range(dim_of(slices, 1)), ints([0, 2]))
    mask = ops.equal(ops.unsqueeze(matched, ints([1])), rows)
    mask = ops.reduce_logical_or(ops.reshape(mask, dims, False), ints([1]), False)
    ones = cast_to(ops.unsqueeze(mask, ints([axis])), x.get_element_type())
    return {"out": ops.broadcast(ones, shape_of(x))}


def _without_nan(x: Tensor) -> Node:
    """NaN as -∞, which is never matched; OpenVINO's CPU plugin compares it as the largest."""
    return ops.select(ops.is_nan(x), const_like(-np.inf, x), x)


def _only(x: Tensor, allowed: Tensor) -> Node:
    return ops.select(allowed, x, const_like(-np.inf, x))


def _best(x: Tensor, axis: int) -> tuple[Node, Node]:
    """The maximum along an axis of [images, rows, columns], and its index; the first among equal ones."""
    topk = ops.topk(x, ints(1), axis, "max", "value", index_element_type="i64", stable=True)
    return ops.squeeze(topk.output(0), ints([axis])), ops.squeeze(topk.output(1), ints([axis]))


def _greedy_matching(x: Tensor) -> tuple[Tensor, Tensor]:
    """For each column of [images, rows, columns] the row that it is matched with (or -1), and the value there (or 0).

    -∞ is never matched. Taking one pair at a time, the largest first, gives the same as taking at once all pairs whose
    value is the maximum of its row and of its column, until none is left, which takes fewer iterations.
    """
    kind, columns = x.get_element_type(), dim_vector(x, [0, 2])

    def take_best(_: Tensor, state: Outputs, __: Outputs) -> tuple[list[Tensor], Tensor]:
        left, matched, distance = state
        nothing = const_like(-np.inf, left)
        best, row = _best(left, 1)
        _, column = _best(left, 2)
        mutual = ops.equal(ops.gather_elements(column, row, 1), index_range(dim_of(left, 2)))
        taken = ops.logical_and(mutual, ops.greater(best, nothing))
        indices = ops.unsqueeze(index_range(dim_of(left, 1)), ints([0, 2]))
        both = ops.logical_and(ops.equal(ops.unsqueeze(row, ints([1])), indices), ops.unsqueeze(taken, ints([1])))
        gone = ops.logical_or(ops.unsqueeze(taken, ints([1])), ops.reduce_logical_or(both, ints([2]), True))
        rest = ops.select(gone, nothing, left)
        return [rest, ops.select(taken, row, matched), ops.select(taken, best, distance)], _any(rest)

    count = ops.multiply(dim_of(x, 2), cast_to(_any(x), Type.i64))
    start = [x, ops.broadcast(ints(-1), columns), ops.broadcast(const(0, kind), columns)]
    _, matched, distance = loop(count, start, [], take_best)
    return matched, distance


def _any(x: Tensor) -> Node:
    """Whether any value is left."""
    return ops.reduce_logical_or(ops.greater(x, const_like(-np.inf, x)), ints([0, 1, 2]), False)
