"""Resizes to the nearest element by Paddle's arithmetic, where OpenVINO's Interpolate picks others: by indices.

Semantics: `paddle/phi/kernels/cpu/interpolate_kernel.cc`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, exact_divide
from paddle2ov.converters.graph.dims import dim_of, index_range
from paddle2ov.converters.graph.spatial import ranked_dims
from paddle2ov.converters.resize.scaled_sizes import (
    MAX_SIZE,
    Integers,
    ResizeParameters,
    any_resized,
    dynamic_sizes,
)
from paddle2ov.graph import arrays
from paddle2ov.graph.integers import int_divmod
from paddle2ov.graph.opset import ints, ops


def _nearest_indices(plan: ResizeParameters, i: int, dim: int, size: int) -> Integers:
    if plan.align_corners:
        ratio = np.float32(dim - 1) / np.float32(max(size - 1, 1))
    elif plan.scales is not None:
        ratio = np.float32(1.0 / plan.scales[i])
    else:
        ratio = np.float32(dim) / np.float32(max(size, 1))
    source = ratio * arrays.arange(size, dtype=np.float32)
    if plan.align_corners:
        source = np.floor(source.astype(np.float64) + 0.5).astype(np.float32)
    return np.minimum(source.astype(np.int64), dim - 1)


def nearest_is_exact(plan: ResizeParameters, dims: Sequence[int | None]) -> bool:
    """Whether Interpolate picks Paddle's elements: no coordinate may lie on a boundary that rounding could cross."""
    for i, (dim, size) in enumerate(zip(dims, plan.sizes, strict=True)):
        if dim is None or size is None:
            scale = plan.scales[i] if plan.scales is not None else 0.0
            if plan.align_corners or size is not None or scale != int(scale) or not 1 <= scale <= 32:
                return False
            continue
        k = arrays.arange(size)
        if plan.align_corners:
            top, bottom = 2 * k * (dim - 1) + max(size - 1, 1), 2 * max(size - 1, 1)
        else:
            top, bottom = k * dim, size
        safe = (size % dim == 0 and size // dim <= 32) or dim % size == 0 or not (top[1:] % bottom == 0).any()
        if not safe or (top // bottom != _nearest_indices(plan, i, dim, size)).any():
            return False
    return True


def nearest(x: Output, plan: ResizeParameters) -> Tensor:
    """A nearest resize by Paddle's arithmetic: a Gather for each dimension."""
    out: Tensor = x
    dims, sizes = ranked_dims(x)[2:], dynamic_sizes(x, plan)
    resized: Node | None = None
    may_stay = plan.scales is not None and (plan.given or any(1 < scale < 1.5 for scale in plan.scales))
    if may_stay and None in (*dims, *plan.sizes):
        resized = any_resized(x, sizes)
    for i, (dim, size) in enumerate(zip(dims, plan.sizes, strict=True)):
        if dim is not None and size is not None and resized is None:
            indices: Node = ints(_nearest_indices(plan, i, dim, size).tolist())
        else:
            result_size = ops.gather(sizes, ints(i), ints(0)) if size is None else ints(size)
            indices = _dynamic_indices(plan, i, dim_of(x, 2 + i), result_size, resized)
        out = ops.gather(out, indices, ints(2 + i))
    return out


def _dynamic_indices(plan: ResizeParameters, i: int, dim: Node, result_size: Node, resized: Node | None) -> Node:
    length, count = ops.convert(dim, Type.f32), ops.convert(result_size, Type.f32)
    if plan.align_corners:
        steps = ops.maximum(ops.subtract(count, ops.constant(np.float32(1))), ops.constant(np.float32(1)))
        ratio: Node = exact_divide(ops.subtract(length, ops.constant(np.float32(1))), steps)
    elif plan.scales is not None:
        ratio = ops.constant(np.float32(1.0 / plan.scales[i]))
        if resized is not None:
            ratio = ops.select(resized, ratio, ops.constant(np.float32(1)))
    else:
        ratio = exact_divide(length, count)
    k = index_range(result_size)
    source = ops.multiply(ops.convert(k, Type.f32), ratio)
    if plan.align_corners:
        source = ops.floor(ops.add(source, ops.constant(np.float32(0.5))))
    # Where the quotient is an integer the rounding of floats decides; elsewhere it must not, not even in bfloat16.
    source_index, rest = int_divmod(*_integer_ratio(plan, i, k, dim, result_size, resized))
    if plan.scales is None or plan.align_corners or not _float_division_is_exact(plan.scales[i]):
        least = ops.subtract(source_index, ops.convert(ops.equal(rest, ops.constant(np.int32(0))), Type.i32))
        source_index = ops.minimum(ops.maximum(ops.convert(source, Type.i32), least), source_index)
    index = ops.convert(source_index, Type.i64)
    return ops.minimum(index, ops.subtract(dim, ints(1))) if plan.given else index


@lru_cache(maxsize=256)
def _float_division_is_exact(scale: float) -> bool:
    """Whether division by the scale in single precision truncates as exact division does."""
    k, ratio = arrays.arange(2 * MAX_SIZE), rational_reciprocal(scale)
    single = k.astype(np.float32) * np.float32(1.0 / scale)
    return bool((single.astype(np.int64) == k * ratio.numerator // ratio.denominator).all())


def rational_reciprocal(scale: float) -> Fraction:
    """1 / scale as a fraction of small integers."""
    return Fraction(1.0 / scale).limit_denominator(2**15)


def _integer_ratio(
    plan: ResizeParameters, i: int, k: Node, length: Node, count: Node, resized: Node | None
) -> tuple[Node, Node]:
    """The source indices of results, as numerators and denominators (i32)."""
    above, below = length, count
    if plan.align_corners:
        below = ops.maximum(ops.subtract(count, ints(1)), ints(1))
        above = ops.multiply(ops.subtract(length, ints(1)), ints(2))
    elif plan.scales is not None:
        ratio = rational_reciprocal(plan.scales[i])
        above, below = ints(ratio.numerator), ints(ratio.denominator)
        if resized is not None:
            above, below = ops.select(resized, above, ints(1)), ops.select(resized, below, ints(1))
    top = ops.multiply(k, above)
    if plan.align_corners:
        top, below = ops.add(top, below), ops.multiply(below, ints(2))
    return ops.convert(top, Type.i32), ops.convert(below, Type.i32)
