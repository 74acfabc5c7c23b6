"""What a resize computes, and the sizes that its scales give in Paddle's arithmetic.

Semantics: `paddle/phi/kernels/cpu/interpolate_kernel.cc`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor
from paddle2ov.converters.graph.dims import dim_of, dim_range
from paddle2ov.graph import arrays
from paddle2ov.graph.integers import int_divmod
from paddle2ov.graph.opset import ints, ops
from paddle2ov.translation.node_context import NodeContext

Integers = npt.NDArray[np.int64]

MAX_SIZE = 4096
"""The largest dimension for which sizes and indices are compared beforehand."""


class ResizeParameters(Struct, frozen=True):
    """The parameters of a resize: `sizes` are the new sizes, None if unknown; `scales` are those that fix the ratio.

    `first`: a dimension that becomes 1 is its first element (a ratio of 0), also where corners are not aligned.
    `given`: the sizes are given, not computed from the scales.
    `maybe_single`: spatial dimensions that may shrink to 1, which is known only at run time.
    `single`: scales of a tensor are multiplied in single precision.
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
    single: bool


class SingleScale(float):
    """A scale that Paddle multiplies in single precision; any other one in double precision."""


def attribute_scale(number: float) -> float:
    """A scale that is an attribute: newer programs store and multiply it in double precision, older ones in single."""
    return SingleScale(number) if float(np.float32(number)) == number else number


def tensor_scales(node: NodeContext) -> list[float]:
    """The scales of a tensor of float32 whose value is known."""
    kind = SingleScale if node.semantics.single_scales else float
    return [kind(value) for value in node.get_constant("scale_tensor").reshape(-1).tolist()]


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


@lru_cache(maxsize=256, typed=True)
def interpolate_scales_exactly(scale: float) -> bool:
    """Whether Interpolate gives Paddle's size for any dimension."""
    dims = arrays.arange(1, MAX_SIZE)
    return bool((interpolate_sizes(dims, scale) == scaled_sizes(dims, scale)).all())


@lru_cache(maxsize=256, typed=True)
def _corrections(scale: float) -> tuple[Integers, Integers]:
    """The dimensions for which `_quotient` of the scale gives a wrong size, and by how much."""
    dims = arrays.arange(1, MAX_SIZE)
    above, below = _quotient(scale)
    wrong = scaled_sizes(dims, scale) - dims * above // below
    indices = np.flatnonzero(wrong)
    return dims[indices], wrong[indices]


def _quotient(scale: float) -> tuple[int, int]:
    """The fraction closest to the scale whose product with a dimension fits in 31 bits."""
    fraction = Fraction(float(scale)).limit_denominator(max(int(2**15 / max(scale, 1)), 1))
    return fraction.numerator, fraction.denominator


def dynamic_scaled_size(length: Node, scale: float) -> Node:
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
    sizes = [dynamic_scaled_size(dim_of(x, 2 + i), scale) for i, scale in enumerate(scales)]
    return ops.concat([ops.unsqueeze(size, ints([0])) for size in sizes], 0)


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
