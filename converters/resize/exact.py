"""Paddle's arithmetic of resizing, where OpenVINO's Interpolate computes something else: sizes, indices, weights.

Semantics: `paddle/phi/kernels/cpu/interpolate_kernel.cc`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, const, dim_of, dim_range, exact_divide, index_range, shape_of
from paddle2ov.converters.graph.spatial import ranked_dims
from paddle2ov.graph import arrays
from paddle2ov.graph.constants import ints
from paddle2ov.graph.cubic import cubic_weights
from paddle2ov.graph.integers import int_divmod
from paddle2ov.graph.opset import ops
from paddle2ov.translation.node_context import NodeContext

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

_MAX_SIZE = 4096


class ResizeParameters(Struct, frozen=True):
    """The parameters of a resize: `sizes` are the new sizes, None if unknown; `scales` are those that fix the ratio.

    `first`: a dimension that becomes 1 is its first element (a ratio of 0), also where corners are not aligned.
    `given`: the sizes are given, not computed from the scales.
    `maybe_single`: spatial dimensions that may shrink to 1, which is known only at run time.
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
    given: bool
    maybe_single: list[int]

    def coordinates(self) -> str:
        """OpenVINO's name of the coordinate transformation."""
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


class SingleScale(float):
    """A scale that Paddle multiplies in single precision; any other one in double precision."""


def attribute_scale(number: float) -> float:
    """A scale that is an attribute: newer programs store and multiply it in double precision, older ones in single."""
    return SingleScale(number) if float(np.float32(number)) == number else number


def tensor_scales(node: NodeContext) -> list[float]:
    """The scales of a tensor of float32 whose value is known."""
    kind = SingleScale if node.semantics.single_scales else float
    return [kind(one) for one in node.get_constant("scale_tensor").reshape(-1).tolist()]


def scaled_sizes(dims: npt.ArrayLike, scale: float) -> Integers:
    """floor(dim * scale), in the precision of the scale."""
    single = isinstance(scale, SingleScale)
    product = np.asarray(dims, np.float32) * np.float32(scale) if single else np.asarray(dims, np.float64) * scale
    sizes: Integers = np.asarray(np.floor(product), np.int64)
    return sizes


def interpolate_sizes(dims: npt.ArrayLike, scale: float) -> Integers:
    """The sizes that OpenVINO's Interpolate gives for a scale, to which it adds 1e-6 against rounding."""
    product = np.asarray(dims, np.float32) * (np.float32(scale) + np.float32(1e-6))
    sizes: Integers = np.asarray(np.floor(product), np.int64)
    return sizes


@lru_cache(maxsize=None, typed=True)
def interpolate_scales_exactly(scale: float) -> bool:
    """Whether Interpolate gives Paddle's size for any dimension."""
    dims = arrays.arange(1, _MAX_SIZE)
    return bool((interpolate_sizes(dims, scale) == scaled_sizes(dims, scale)).all())


@lru_cache(maxsize=None, typed=True)
def _corrections(scale: float) -> tuple[Integers, Integers]:
    """The dimensions for which `_quotient` of the scale gives a wrong size, and by how much."""
    dims = arrays.arange(1, _MAX_SIZE)
    above, below = _quotient(scale)
    wrong = scaled_sizes(dims, scale) - dims * above // below
    found = np.flatnonzero(wrong)
    return dims[found], wrong[found]


def _quotient(scale: float) -> tuple[int, int]:
    """The fraction closest to the scale whose product with a dimension fits in 31 bits."""
    found = Fraction(float(scale)).limit_denominator(max(int(2**15 / max(scale, 1)), 1))
    return found.numerator, found.denominator


def _dynamic_scaled_size(length: Node, scale: float) -> Node:
    """`scaled_sizes` of one dimension known at run time (int64), without floats, which may be rounded to bfloat16."""
    above, below = _quotient(scale)
    product = ops.multiply(ops.convert(length, Type.i32), ops.constant(np.int32(above)))
    size = ops.convert(int_divmod(product, ops.constant(np.int32(below)))[0] if below > 1 else product, Type.i64)
    dims, wrong = _corrections(scale)
    if dims.size:
        hit = ops.convert(ops.equal(length, ops.constant(dims)), Type.i64)
        size = ops.add(size, ops.reduce_sum(ops.multiply(hit, ops.constant(wrong)), ints([0])))
    return size


def dynamic_scaled_sizes(x: Tensor, scales: Sequence[float]) -> Node:
    """`scaled_sizes` of dimensions known at run time."""
    shape = shape_of(x)
    lengths = [ops.gather(shape, ints(2 + i), ints(0)) for i in range(len(scales))]
    sizes = [_dynamic_scaled_size(length, scale) for length, scale in zip(lengths, scales, strict=True)]
    return ops.concat([ops.unsqueeze(size, ints([0])) for size in sizes], 0)


# --- the nearest element --------------------------------------------------------------------------------------------


def _nearest_indices(plan: ResizeParameters, i: int, dim: int, size: int) -> Integers:
    source = plan.ratio(i, dim, size) * arrays.arange(size, dtype=np.float32)
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
    dims = ranked_dims(x)
    resized: Node | None = None
    may_stay = plan.scales is not None and (plan.given or any(1 < scale < 1.5 for scale in plan.scales))
    if may_stay and None in (*dims[2:], *plan.sizes):
        resized = any_resized(x, dynamic_sizes(x, plan))
    for i, size in enumerate(plan.sizes):
        dim = dims[2 + i]
        if dim is not None and size is not None and resized is None:
            indices: Node = ints(_nearest_indices(plan, i, dim, size).tolist())
        else:
            indices = _dynamic_indices(x, plan, i, resized)
        out = ops.gather(out, indices, ints(2 + i))
    return out


def dynamic_sizes(x: Output, plan: ResizeParameters) -> Tensor:
    """The new sizes, of which some may be known at run time only: given, or computed from known scales."""
    if plan.size_tensor is not None:
        return plan.size_tensor
    known = [size for size in plan.sizes if size is not None]
    if len(known) == len(plan.sizes):
        return ints(known)
    assert plan.scales is not None
    return dynamic_scaled_sizes(x, plan.scales)


def any_resized(x: Output, sizes: Tensor) -> Node:
    """Whether any dimension changes its size, 0-D; if none does, Paddle copies x, whatever the scales."""
    dims = dim_range(x, 2)
    return ops.reduce_logical_or(ops.not_equal(sizes, dims), ints([0]), False)


def _dynamic_indices(x: Output, plan: ResizeParameters, i: int, resized: Node | None) -> Node:
    dim, size = dim_of(x, 2 + i), plan.sizes[i]
    length = ops.convert(dim, Type.f32)
    if size is not None:
        result_size = ints(size)
    elif plan.size_tensor is not None:
        result_size = ops.gather(plan.size_tensor, ints(i), ints(0))
    else:
        assert plan.scales is not None
        result_size = _dynamic_scaled_size(dim, plan.scales[i])
    may_stay = plan.scales is not None and (plan.given or 1 < plan.scales[i] < 1.5)
    changes = resized if may_stay else None
    count = ops.convert(result_size, Type.f32)
    if plan.align_corners:
        steps = ops.maximum(ops.subtract(count, ops.constant(np.float32(1))), ops.constant(np.float32(1)))
        ratio: Node = exact_divide(ops.subtract(length, ops.constant(np.float32(1))), steps)
    elif plan.scales is not None:
        ratio = ops.constant(np.float32(1.0 / plan.scales[i]))
        if changes is not None:
            ratio = ops.select(changes, ratio, ops.constant(np.float32(1)))
    else:
        ratio = exact_divide(length, count)
    k = index_range(result_size)
    source = ops.multiply(ops.convert(k, Type.f32), ratio)
    if plan.align_corners:
        source = ops.floor(ops.add(source, ops.constant(np.float32(0.5))))
    # Where the quotient is an integer the rounding of floats decides; elsewhere it must not, not even in bfloat16.
    source_index, rest = int_divmod(*_integer_ratio(plan, i, k, dim, result_size, changes))
    if plan.scales is None or plan.align_corners or not _float_division_is_exact(plan.scales[i]):
        least = ops.subtract(source_index, ops.convert(ops.equal(rest, ops.constant(np.int32(0))), Type.i32))
        source_index = ops.minimum(ops.maximum(ops.convert(source, Type.i32), least), source_index)
    index = ops.convert(source_index, Type.i64)
    return ops.minimum(index, ops.subtract(dim, ints(1))) if plan.given else index


@cache
def _float_division_is_exact(scale: float) -> bool:
    """Whether division by the scale in single precision truncates as exact division does."""
    k, one = arrays.arange(2 * _MAX_SIZE), rational_reciprocal(scale)
    single = k.astype(np.float32) * np.float32(1.0 / scale)
    return bool((single.astype(np.int64) == k * one.numerator // one.denominator).all())


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
        one = rational_reciprocal(plan.scales[i])
        above, below = ints(one.numerator), ints(one.denominator)
        if resized is not None:
            above, below = ops.select(resized, above, ints(1)), ops.select(resized, below, ints(1))
    top = ops.multiply(k, above)
    if plan.align_corners:
        top, below = ops.add(top, below), ops.multiply(below, ints(2))
    return ops.convert(top, Type.i32), ops.convert(below, Type.i32)


# --- linear and cubic by matrices -----------------------------------------------------------------------------------


def by_weight_matrices(x: Output, plan: ResizeParameters, dims: Sequence[int | None]) -> Tensor:
    """A resize whose ratio is not that of its sizes: a matrix product with weights for each dimension."""
    out: Tensor = x
    dtype = x.get_element_type()
    for i, (dim, size) in enumerate(zip(dims, plan.sizes, strict=True)):
        assert dim is not None
        assert size is not None
        axis = 2 + i
        order = [*(a for a in range(plan.rank) if a != axis), axis]
        back = [order.index(a) for a in range(plan.rank)]
        weights = const(_weights(plan, i, dim, size).T, dtype)
        mixed = ops.matmul(ops.transpose(out, ints(order)), weights, False, False)
        out = ops.transpose(mixed, ints(back))
    return out


def _weights(plan: ResizeParameters, i: int, dim: int, size: int) -> Floats:
    """[size, dim]: the weight of each source element in each result."""
    ratio = plan.ratio(i, dim, size)
    k = arrays.arange(size, dtype=np.float32)
    half = plan.half_pixel and not plan.align_corners
    source = ratio * (k + np.float32(0.5)) - np.float32(0.5) if half else ratio * k
    weights = arrays.zeros((size, dim), np.float32)
    if plan.mode == "linear":
        source = np.maximum(source, 0)
        low = np.minimum(source.astype(np.int64), dim - 1)
        fraction = source - low.astype(np.float32)
        np.add.at(weights, (arrays.arange(size), low), 1 - fraction)
        np.add.at(weights, (arrays.arange(size), np.minimum(low + 1, dim - 1)), fraction)
        return weights
    low = np.floor(source).astype(np.int64)
    for offset, weight in enumerate(cubic_weights(source - low.astype(np.float32))):
        np.add.at(weights, (arrays.arange(size), np.clip(low - 1 + offset, 0, dim - 1)), weight)
    return weights
