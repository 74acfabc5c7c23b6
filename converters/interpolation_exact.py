"""Paddle's arithmetic of resizing, for what OpenVINO's Interpolate computes otherwise: sizes, elements, weights.

Semantics: `paddle/phi/kernels/cpu/interpolate_kernel.cc`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from openvino import Node, Output, Type

from paddle2ov.converters.common import ints, shape_of
from paddle2ov.converters.spatial import known_dims
from paddle2ov.opset import ops

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

_LARGEST = 4096


@dataclass(frozen=True)
class Resize:
    """What is asked for: `sizes` holds the new sizes that are known; `scales` are those that fix the ratio.

    `first`: a dimension that becomes 1 is its first element (a ratio of 0), also where corners are not aligned.
    """

    mode: str
    align_corners: bool
    half_pixel: bool
    rank: int
    sizes: list[int | None]
    size_tensor: Output | None
    scales: list[float] | None
    scale_tensor: Output | None
    first: bool

    def coordinates(self) -> str:
        """OpenVINO's name for the transformation of coordinates."""
        if self.align_corners:
            return "align_corners"
        return "half_pixel" if self.half_pixel else "asymmetric"

    def ratio(self, i: int, dim: int, size: int) -> np.float32:
        """Source coordinate per result coordinate of spatial dimension i."""
        if size <= 1 and (self.align_corners or self.first):
            return np.float32(0)
        if self.align_corners:
            return np.float32(dim - 1) / np.float32(size - 1)
        if self.scales is not None:
            return np.float32(1.0 / self.scales[i])
        return np.float32(dim) / np.float32(size)


# --- sizes that follow from a scale ---------------------------------------------------------------------------------


def scaled(dims: npt.ArrayLike, scale: float) -> Integers:
    """floor(dim * scale): in double precision where the program writes the scale so (newer ones), else in single."""
    single = np.float32(scale)
    product = np.asarray(dims, np.float32) * single if float(single) == scale else np.asarray(dims, np.float64) * scale
    sizes: Integers = np.asarray(np.floor(product), np.int64)
    return sizes


def interpolate_sizes(dims: npt.ArrayLike, scale: float) -> Integers:
    """The sizes that OpenVINO's Interpolate gives for a scale: it adds a millionth against rounding."""
    product = np.asarray(dims, np.float32) * (np.float32(scale) + np.float32(1e-6))
    sizes: Integers = np.asarray(np.floor(product), np.int64)
    return sizes


@cache
def interpolate_scales_exactly(scale: float) -> bool:
    """Whether Interpolate gives Paddle's size for any dimension."""
    dims = np.arange(1, _LARGEST)
    return bool((interpolate_sizes(dims, scale) == scaled(dims, scale)).all())


@cache
def _corrections(scale: float) -> tuple[Integers, Integers]:
    """The dimensions whose product with the scale comes out wrong in single precision, and by how much."""
    dims = np.arange(1, _LARGEST)
    wrong = scaled(dims, scale) - np.floor(dims.astype(np.float32) * np.float32(scale)).astype(np.int64)
    found = np.flatnonzero(wrong)
    return dims[found], wrong[found]


def _scaled_one_later(length: Node, scale: float) -> Node:
    """`scaled` of one dimension (int64) that is not known yet."""
    product = ops.multiply(ops.convert(length, Type.f32), ops.constant(np.float32(scale)))
    size = ops.convert(ops.floor(product), Type.i64)
    dims, wrong = _corrections(scale)
    if dims.size:
        hit = ops.convert(ops.equal(length, ops.constant(dims)), Type.i64)
        size = ops.add(size, ops.reduce_sum(ops.multiply(hit, ops.constant(wrong)), ints([0])))
    return size


def scaled_later(x: Output | Node, scales: Sequence[float], first: int = 2) -> Node:
    """`scaled` of dimensions that are not known yet."""
    shape = shape_of(x)
    lengths = [ops.gather(shape, ints(first + i), ints(0)) for i in range(len(scales))]
    sizes = [_scaled_one_later(length, scale) for length, scale in zip(lengths, scales, strict=True)]
    return ops.concat([ops.unsqueeze(size, ints([0])) for size in sizes], 0)


# --- the nearest element --------------------------------------------------------------------------------------------


def _nearest_indices(plan: Resize, i: int, dim: int, size: int) -> Integers:
    source = plan.ratio(i, dim, size) * np.arange(size, dtype=np.float32)
    if plan.align_corners:
        source = np.floor(source.astype(np.float64) + 0.5).astype(np.float32)
    return source.astype(np.int64)


def nearest_is_exact(plan: Resize, dims: Sequence[int | None]) -> bool:
    """Whether Interpolate picks Paddle's elements: no result may lie on a boundary that rounding could cross."""
    for i, (dim, size) in enumerate(zip(dims, plan.sizes, strict=True)):
        if dim is None or size is None:
            scale = plan.scales[i] if plan.scales is not None else 0.0
            if plan.align_corners or size is not None or scale != int(scale) or not 1 <= scale <= 32:
                return False
            continue
        k = np.arange(size)
        if plan.align_corners:
            top, bottom = 2 * k * (dim - 1) + max(size - 1, 1), 2 * max(size - 1, 1)
        else:
            top, bottom = k * dim, size
        safe = (size % dim == 0 and size // dim <= 32) or dim % size == 0 or not (top[1:] % bottom == 0).any()
        if not safe or (top // bottom != _nearest_indices(plan, i, dim, size)).any():
            return False
    return True


def nearest(x: Output, plan: Resize) -> Node:
    """The elements that Paddle's arithmetic names, one dimension after the other."""
    out: Output | Node = x
    dims = known_dims(x)
    may_stay = plan.scales is not None and None in dims[2:] and any(1 < scale < 1.5 for scale in plan.scales)
    resized = any_resized(x, plan.scales) if plan.scales is not None and may_stay else None
    for i, size in enumerate(plan.sizes):
        dim = dims[2 + i]
        if dim is not None and size is not None and resized is None:
            indices: Node = ints(_nearest_indices(plan, i, dim, size).tolist())
        else:
            indices = _indices_later(x, plan, i, size, resized)
        out = ops.gather(out, indices, ints(2 + i))
    return out


def any_resized(x: Output, scales: Sequence[float]) -> Node:
    """Whether any dimension changes its size, 0-D: where all keep theirs, Paddle copies, whatever the scales."""
    dims = ops.slice(shape_of(x), ints([2]), ints([2 + len(scales)]), ints([1]))
    return ops.reduce_logical_or(ops.not_equal(scaled_later(x, scales), dims), ints([0]), False)


def _indices_later(x: Output, plan: Resize, i: int, size: int | None, resized: Node | None) -> Node:
    whole = ops.gather(shape_of(x), ints(2 + i), ints(0))
    length = ops.convert(whole, Type.f32)
    if size is None:
        assert plan.scales is not None
        count: Node = ops.convert(_scaled_one_later(whole, plan.scales[i]), Type.f32)
    else:
        count = ops.constant(np.float32(size))
    if plan.align_corners:
        steps = ops.maximum(ops.subtract(count, ops.constant(np.float32(1))), ops.constant(np.float32(1)))
        ratio: Node = ops.divide(ops.subtract(length, ops.constant(np.float32(1))), steps)
    elif plan.scales is not None:
        ratio = ops.constant(np.float32(1.0 / plan.scales[i]))
        if resized is not None and 1 < plan.scales[i] < 1.5:
            ratio = ops.select(resized, ratio, ops.constant(np.float32(1)))
    else:
        ratio = ops.divide(length, count)
    k = ops.range(ops.constant(np.float32(0)), count, ops.constant(np.float32(1)), Type.f32)
    source = ops.multiply(k, ratio)
    if plan.align_corners:
        source = ops.floor(ops.add(source, ops.constant(np.float32(0.5))))
    return ops.convert(source, Type.i64)


# --- linear and cubic by matrices -----------------------------------------------------------------------------------


def by_weights(x: Output, plan: Resize, dims: Sequence[int | None]) -> Node:
    """A resize whose ratio is not that of its sizes: each dimension is multiplied by a matrix of weights."""
    out: Output | Node = x
    dtype = x.get_element_type()
    for i, (dim, size) in enumerate(zip(dims, plan.sizes, strict=True)):
        assert dim is not None
        assert size is not None
        axis = 2 + i
        order = [*(a for a in range(plan.rank) if a != axis), axis]
        back = [order.index(a) for a in range(plan.rank)]
        weights = ops.constant(_weights(plan, i, dim, size).T, dtype)
        mixed = ops.matmul(ops.transpose(out, ints(order)), weights, False, False)
        out = ops.transpose(mixed, ints(back))
    return out


def _weights(plan: Resize, i: int, dim: int, size: int) -> Floats:
    """[size, dim]: how much of each source element a result takes."""
    ratio = plan.ratio(i, dim, size)
    k = np.arange(size, dtype=np.float32)
    half = plan.half_pixel and not plan.align_corners
    source = ratio * (k + np.float32(0.5)) - np.float32(0.5) if half else ratio * k
    weights = np.zeros((size, dim), np.float32)
    if plan.mode == "linear":
        source = np.maximum(source, 0)
        low = np.minimum(source.astype(np.int64), dim - 1)
        part = source - low.astype(np.float32)
        np.add.at(weights, (np.arange(size), low), 1 - part)
        np.add.at(weights, (np.arange(size), np.minimum(low + 1, dim - 1)), part)
        return weights
    low = np.floor(source).astype(np.int64)
    for offset, part in enumerate(_cubic(source - low.astype(np.float32))):
        np.add.at(weights, (np.arange(size), np.clip(low - 1 + offset, 0, dim - 1)), part)
    return weights


def _cubic(t: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    def near(x: Floats) -> Floats:
        return ((1.25 * x - 2.25) * x) * x + 1

    def far(x: Floats) -> Floats:
        return ((-0.75 * x + 3.75) * x - 6) * x + 3

    return far(t + 1), near(t), near(1 - t), far(2 - t)
