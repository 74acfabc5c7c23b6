"""Checks at run time that a tensor has the dimensions that the program requires.

OpenVINO checks the shapes of most inputs when a model runs, but not all: a matrix product with constant weights reads
whatever memory comes next, and a scale per channel broadcasts a single channel. The check is a Reshape to the expected
dimensions and a trailing 1, which moves no data and fails for any other shape.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from openvino import Node, Output

from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import Dims, dims_of, known_dims
from paddle2ov.graph.workarounds import works_around

_EXPECTED = "paddle_expected_dims"
"""The key in `rt_info` that tells these nodes from Reshapes of the program."""


@works_around("reshape_after_reduction")
def expect_dims(x: Output, sizes: Mapping[int, int]) -> Output:
    """The same tensor, checked to have the given dimensions on some axes; not checked if these are static."""
    dims = dims_of(x)
    if dims is None or all(dims[axis] is not None for axis in sizes):
        return x
    shape = [0] * len(dims)  # 0: the dimension stays
    for axis, size in sizes.items():
        shape[axis] = size
    # Through one rank more: OpenVINO 2026.4 eliminates a Reshape after a reduction to the same rank.
    checked = ops.reshape(x, np.array([*shape, 1], np.int64), True)
    checked.get_rt_info()[_EXPECTED] = " ".join(map(str, shape))
    return ops.squeeze(checked, np.array([len(dims)], np.int64)).output(0)


def expect_elements(x: Output, axes: Sequence[int], weights: Dims | None) -> Output:
    """The same tensor, checked to have as many elements along `axes` as `weights`, if only one of them is dynamic."""
    dims = dims_of(x)
    if dims is None or weights is None:
        return x
    unknown, counted = [axis for axis in axes if dims[axis] is None], known_dims(weights)
    if len(unknown) != 1 or counted is None:
        return x
    known = math.prod(size for axis in axes if (size := dims[axis]) is not None)
    count = math.prod(counted)
    if not count or not known or count % known:
        return x
    return expect_dims(x, {unknown[0]: count // known})


def expected_dims(node: Node) -> list[int] | None:
    """What a node of `expect_dims` expects, with 0 for dimensions that may be any; None for other nodes."""
    info = node.get_rt_info()
    return [int(size) for size in str(info[_EXPECTED].value).split()] if _EXPECTED in info else None


@works_around("length_lost_by_model_reshape")
def of_length(values: Output | Node, count: int) -> Output:
    """A tensor with this many elements once they are known, as a vector of that length.

    Through a matrix of one row: `Model.reshape` makes [-1] of every constant shape of one dimension.
    """
    row = ops.reshape(values, np.array([1, count], np.int64), False)
    return ops.squeeze(row, np.array([0], np.int64)).output(0)
