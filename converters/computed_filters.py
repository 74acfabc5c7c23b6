"""Convolution by filters whose shape only the run knows, such as the features of a template that a tracker looks for.

OpenVINO's CPU plugin has no convolution by them: they are multiplied with the windows, which are gathered.
"""

from __future__ import annotations

from collections.abc import Sequence

from openvino import Node, Output

from paddle2ov.converters.graph.common import const_like
from paddle2ov.converters.graph.dims import dim_of, dim_range, dim_vector, index_range
from paddle2ov.converters.graph.spatial import Geometry, computed_same_pads
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around


@works_around("convolution_by_filter_of_unknown_shape")
def has_unknown_shape(filters: Output) -> bool:
    """Whether the number or the sizes of filters are known only at run time."""
    dims = dims_of(filters)
    return dims is None or None in dims


def convolve_by_product(x: Output, filters: Output, groups: int, at: Geometry) -> Node:
    """The convolution of x [N, G * B, ...] with filters [G * A, B, ...]: [N, G * A, ...]."""
    x, counts = _windows(x, filters, at)
    batch, number = dim_vector(x, [0]), dim_vector(filters, [0])
    elements = ops.reduce_prod(dim_range(filters, 1), ints(0), True)
    area = ops.reduce_prod(ops.concat(counts, 0), ints(0), True)
    columns = ops.reshape(x, ops.concat([batch, ints([groups]), elements, area], 0), False)
    each = ops.divide(number, ints([groups]))
    rows = ops.reshape(filters, ops.concat([ints([groups]), each, elements], 0), False)
    out = ops.matmul(rows, columns, False, False)
    return ops.reshape(out, ops.concat([batch, number, *counts], 0), False)


def _windows(x: Output, filters: Output, at: Geometry) -> tuple[Output, list[Node]]:
    """What each filter element meets, [N, C, size, ..., count, ...], and how many windows there are along each axis."""
    spatial = len(at.strides)
    is_single = all(dim == 1 for dim in (dims_of(filters) or [None] * 3)[2:])
    if is_single and set(at.strides) == {1} and not any(at.begin + at.end):
        return x, [dim_vector(x, [2 + axis]) for axis in range(spatial)]
    sizes = [dim_of(filters, 2 + axis) for axis in range(spatial)]
    steps = zip(sizes, at.dilations, strict=True)
    reaches = [ops.multiply(ops.subtract(size, ints(1)), ints(step)) for size, step in steps]
    x = _padded(x, reaches, at)
    counts = []
    for axis in range(spatial):
        room = ops.subtract(dim_of(x, 2 + 2 * axis), ops.add(reaches[axis], ints(1)))
        count = ops.add(ops.divide(room, ints(at.strides[axis])), ints(1))
        counts.append(ops.unsqueeze(count, ints(0)))
        first = ops.multiply(index_range(count), ints(at.strides[axis]))
        within = ops.multiply(index_range(sizes[axis]), ints(at.dilations[axis]))
        positions = ops.add(ops.unsqueeze(first, ints(1)), ops.unsqueeze(within, ints(0)))
        x = ops.gather(x, positions, ints(2 + 2 * axis)).output(0)  # [N, C, ..., count, size, ...]
    order = [0, 1, *range(3, 3 + 2 * spatial, 2), *range(2, 2 + 2 * spatial, 2)]
    return ops.transpose(x, ints(order)).output(0), counts


def _padded(x: Output, reaches: Sequence[Node], at: Geometry) -> Output:
    begin, end = ints(at.begin), ints(at.end)
    if at.auto_pad != "explicit":
        sizes = [ops.unsqueeze(ops.add(reach, ints(1)), ints(0)) for reach in reaches]
        begin, end = computed_same_pads(x, at.strides, ops.concat(sizes, 0))
    elif not any(at.begin + at.end):
        return x
    none = ints([0, 0])
    before, after = ops.concat([none, begin], 0), ops.concat([none, end], 0)
    return ops.pad(x, before, after, "constant", const_like(0, x)).output(0)
