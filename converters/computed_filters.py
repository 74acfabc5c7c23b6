"""Convolution by filters whose shape only the run knows, such as the features of a template that a tracker looks for.

OpenVINO's CPU plugin has no convolution by them: they are multiplied with the windows, which are gathered.
"""

from __future__ import annotations

from collections.abc import Sequence

from openvino import Node, Output

from paddle2ov.converters.graph.common import const_like
from paddle2ov.converters.graph.dims import dim_of, dim_range, dim_vector, index_range
from paddle2ov.converters.graph.spatial import computed_same_pads
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around


@works_around("convolution_by_filter_of_unknown_shape")
def has_unknown_shape(filters: Output) -> bool:
    """Whether the number or the sizes of filters are known only at run time."""
    dims = dims_of(filters)
    return dims is None or None in dims


def convolve_by_product(
    x: Output,
    filters: Output,
    groups: int,
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: tuple[Sequence[int], Sequence[int]] | None,
) -> Node:
    """The convolution of x [N, G * B, ...] with filters [G * A, B, ...]: [N, G * A, ...].

    `pads` are those at the begin and at the end of each spatial axis; None stands for SAME, with a window at every
    stride.
    """
    x, counts = _windows(x, filters, strides, dilations, pads)
    batch, number = dim_vector(x, [0]), dim_vector(filters, [0])
    elements = ops.reduce_prod(dim_range(filters, 1), ints(0), True)
    area = ops.reduce_prod(ops.concat(counts, 0), ints(0), True)
    columns = ops.reshape(x, ops.concat([batch, ints([groups]), elements, area], 0), False)
    each = ops.divide(number, ints([groups]))
    rows = ops.reshape(filters, ops.concat([ints([groups]), each, elements], 0), False)
    out = ops.matmul(rows, columns, False, False)
    return ops.reshape(out, ops.concat([batch, number, *counts], 0), False)


def _windows(
    x: Output,
    filters: Output,
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: tuple[Sequence[int], Sequence[int]] | None,
) -> tuple[Output, list[Node]]:
    """What each filter element meets, [N, C, size, ..., count, ...], and how many windows there are along each axis."""
    spatial = len(strides)
    is_single = all(dim == 1 for dim in (dims_of(filters) or [None] * 3)[2:])
    if is_single and set(strides) == {1} and not (pads and any((*pads[0], *pads[1]))):
        return x, [dim_vector(x, [2 + axis]) for axis in range(spatial)]
    sizes = [dim_of(filters, 2 + axis) for axis in range(spatial)]
    reaches = [
        ops.multiply(ops.subtract(size, ints(1)), ints(step)) for size, step in zip(sizes, dilations, strict=True)
    ]
    x = _padded(x, reaches, strides, pads)
    counts = []
    for axis in range(spatial):
        room = ops.subtract(dim_of(x, 2 + 2 * axis), ops.add(reaches[axis], ints(1)))
        count = ops.add(ops.divide(room, ints(strides[axis])), ints(1))
        counts.append(ops.unsqueeze(count, ints(0)))
        first = ops.multiply(index_range(count), ints(strides[axis]))
        within = ops.multiply(index_range(sizes[axis]), ints(dilations[axis]))
        positions = ops.add(ops.unsqueeze(first, ints(1)), ops.unsqueeze(within, ints(0)))
        x = ops.gather(x, positions, ints(2 + 2 * axis)).output(0)  # [N, C, ..., count, size, ...]
    order = [0, 1, *range(3, 3 + 2 * spatial, 2), *range(2, 2 + 2 * spatial, 2)]
    return ops.transpose(x, ints(order)).output(0), counts


def _padded(
    x: Output,
    reaches: Sequence[Node],
    strides: Sequence[int],
    pads: tuple[Sequence[int], Sequence[int]] | None,
) -> Output:
    if pads is None:
        sizes = [ops.unsqueeze(ops.add(reach, ints(1)), ints(0)) for reach in reaches]
        begin, end = computed_same_pads(x, strides, ops.concat(sizes, 0))
    elif any((*pads[0], *pads[1])):
        begin, end = ints(pads[0]), ints(pads[1])
    else:
        return x
    none = ints([0, 0])
    before, after = ops.concat([none, begin], 0), ops.concat([none, end], 0)
    return ops.pad(x, before, after, "constant", const_like(0, x)).output(0)
