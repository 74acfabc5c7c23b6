"""Sampling at positions of a grid, and grids of affine maps.

Paddle: `grid_sampler` (PIR `grid_sample`), `affine_grid`.
Semantics: `paddle/phi/kernels/cpu/grid_sample_kernel.cc`, `grid_sample_utils.h`, `affine_grid_kernel.cc`.
The nearest mode rounds ties to even, before Paddle 3.2 away from zero.
OpenVINO's GridSample has no third dimension: there the elements are gathered.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import reduce

from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import cast_to, const_like, folded
from paddle2ov.converters.graph.dims import dim_of, dim_vector, rank_of
from paddle2ov.converters.graph.exact import round_half_away
from paddle2ov.converters.graph.spatial import ranked_dims
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.terms import Term, abs_, floor, maximum, minimum, select
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def grid_sampler(node: NodeContext) -> NamedOutputs:
    """out[n, c, p] = x[n, c] at the position grid[n, p], which runs from -1 to 1 in each dimension (x first)."""
    x, grid = node.get_input("x"), node.get_input("grid")
    rank = rank_of(node, x)
    node.require(rank in (4, 5), f"an input of rank {rank} is not supported")
    mode = node.get_str("mode", "bilinear")
    padding = node.get_str("padding_mode", "zeros")
    align = node.get_bool("align_corners", True)
    node.require(mode in ("bilinear", "nearest"), "unknown", mode=mode)
    node.require(padding in ("zeros", "border", "reflection"), "unknown", padding_mode=padding)
    away = mode == "nearest" and node.semantics.ties_away
    if rank == 4 and not away:
        options = {"mode": mode, "padding_mode": padding, "align_corners": align}
        return {"out": ops.grid_sample(x, grid, options)}
    return {"out": _sample(x, grid, rank, mode, padding, align, away)}


def _sample(x: Output, grid: Output, rank: int, mode: str, padding: str, align: bool, away: bool) -> Node:
    spatial = rank - 2
    sizes = [dim_of(x, 2 + i) for i in range(spatial)]
    # The grid's last dimension has the innermost coordinate first.
    in_grid = [_coordinate(grid, spatial - 1 - i, sizes[i], padding, align).value for i in range(spatial)]
    # [N, P] from here on. As the very first step this would leave so long a chain to OpenVINO 2026.4 that its compiler
    # of elementwise chains runs out of registers (nearest, reflection, an unknown size).
    coordinates = [ops.reshape(coordinate, ints([0, -1]), True) for coordinate in in_grid]
    flat = ops.reshape(x, ints([0, 0, -1]), True)
    if mode == "nearest":
        rounded = [round_half_away(item) if away else ops.round(item, "half_to_even") for item in coordinates]
        out = _gather(flat, rounded, sizes, coordinates if away and rank == 5 else rounded)
    else:
        out = _interpolate_linear(flat, coordinates, sizes)
    target = ops.concat([dim_vector(x, [0, 1]), dim_vector(grid, range(1, rank - 1))], 0)
    return ops.reshape(out, target, False)


def _coordinate(grid: Output, index: int, size: Node, padding: str, align: bool) -> Term:
    """One coordinate in elements of x, in the shape of the grid."""
    raw, length = Term(ops.gather(grid, ints(index), ints(-1))), Term(ops.convert(size, grid.get_element_type()))
    top = length - 1
    coordinate = (raw + 1) * (top * 0.5) if align else (raw + 1) * (length * 0.5) - 0.5
    if padding == "zeros":
        return coordinate
    if padding == "reflection":
        half = 0 if align else 0.5
        period = (top if align else length) * 2
        distance = abs_(coordinate + half)
        rest = distance - floor(distance / period) * period
        coordinate = minimum(rest, period - rest) - half
        if align:
            return select(top.equals(0), 0, coordinate)
    return minimum(maximum(coordinate, 0), top)


@works_around("gather_in_one_batch")
def _gather(flat: Node, coordinates: Sequence[Node], sizes: Sequence[Node], bounded: Sequence[Node]) -> Node:
    """Elements at integer coordinates, 0 where one of `bounded` is outside: [N, C, P]."""
    positions: list[Node] = []
    within: list[Node] = []
    for coordinate, size, bound in zip(coordinates, sizes, bounded, strict=True):
        last = ops.subtract(size, ints(1))
        top = ops.convert(last, bound.get_element_type())
        from_first = ops.greater_equal(bound, const_like(0, bound))
        within.append(ops.logical_and(from_first, ops.less_equal(bound, top)))
        clamped = ops.minimum(ops.maximum(ops.convert(coordinate, Type.i64), ints(0)), last)
        positions.append(ops.add(ops.multiply(positions[-1], size), clamped) if positions else clamped)
    index, inside = positions[-1], reduce(ops.logical_and, within)
    if ranked_dims(flat.output(0))[1] == 1:
        # Not by batch_dims: OpenVINO 2026.4 crashes on them where there is a single row.
        elements = ops.gather_elements(flat, ops.unsqueeze(index, ints(1)), 2)
    else:
        elements = ops.gather(flat, index, ints(2), 1)
    return ops.select(ops.unsqueeze(inside, ints(1)), elements, const_like(0, elements))


def _interpolate_linear(flat: Node, coordinates: list[Node], sizes: list[Node]) -> Node:
    low = [ops.floor(coordinate) for coordinate in coordinates]
    values: list[Node] = []
    for corner in itertools.product((0, 1), repeat=len(coordinates)):
        corner_coordinates: list[Node] = []
        parts: list[Node] = []
        for coordinate, start, step in zip(coordinates, low, corner, strict=True):
            part = ops.subtract(coordinate, start)
            corner_coordinates.append(ops.add(start, const_like(1, start)) if step else start)
            parts.append(part if step else ops.subtract(const_like(1, part), part))
        weight = ops.unsqueeze(reduce(ops.multiply, parts), ints(1))
        values.append(ops.multiply(_gather(flat, corner_coordinates, sizes, corner_coordinates), weight))
    return reduce(ops.add, values)


def affine_grid(node: NodeContext) -> NamedOutputs:
    """output[n, p] = theta[n] (p, 1): positions of the regular grid of output_shape, mapped, x first."""
    theta = node.get_input("input")
    declared = node.declared_input_shape("input") or (-1, -1)
    sizes = node.get_ints("output_shape")[2:] if node.is_known("output_shape") else None
    spatial = (ranked_dims(theta)[1] or declared[1]) if sizes is None else len(sizes)
    node.require(spatial in (2, 3), "the grid's rank is not known")
    kind = theta.get_element_type()
    align = node.get_bool("align_corners", True)
    if sizes is not None:
        node.require(min(sizes) >= 0, "a negative size", output_shape=sizes)
        shape: Node = ints(sizes)
    else:
        shape = ops.gather(node.get_tensor("output_shape", Type.i64), ints(list(range(2, 2 + spatial))), ints(0))
    mapped = ops.matmul(_grid(shape, spatial, kind, align), theta, False, True)
    batch = dim_vector(theta, [0])
    return {"output": ops.reshape(mapped, folded(ops.concat([batch, shape, ints([spatial])], 0)), False)}


def _grid(shape: Node, spatial: int, kind: Type, align: bool) -> Node:
    """[1, positions, spatial + 1]: from -1 to 1 along each axis, and 1. NaN for an aligned size of 1, as in Paddle."""
    full = ops.concat([shape, ints([1])], 0)
    parts = []
    for axis in reversed(range(spatial)):
        size = ops.convert(ops.gather(shape, ints(axis), ints(0)), Type.f32)
        count = ops.subtract(size, const_like(1, size))
        step = ops.divide(const_like(2, size), count if align else size)
        k = ops.range(const_like(0, size), size, const_like(1, size), Type.f32)
        line = ops.multiply(k, step)
        line = ops.subtract(line, const_like(1, line) if align else ops.divide(count, size))
        reshaped = ops.reshape(line, ints([-1 if i == axis else 1 for i in range(spatial + 1)]), False)
        parts.append(ops.broadcast(reshaped, full))
    parts.append(ops.broadcast(const_like(1, parts[0]), full))
    return folded(cast_to(ops.reshape(ops.concat(parts, spatial), ints([1, -1, spatial + 1]), False), kind))
