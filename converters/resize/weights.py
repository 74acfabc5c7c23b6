"""Linear and cubic resizes whose ratio is not that of their sizes: by matrices of weights.

Semantics: `paddle/phi/kernels/cpu/interpolate_kernel.cc`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from openvino import Output

from paddle2ov.converters.graph.common import Tensor, const
from paddle2ov.converters.resize.scaled_sizes import ResizeParameters
from paddle2ov.graph import arrays
from paddle2ov.graph.cubic import cubic_weights
from paddle2ov.graph.opset import ints, ops

Floats = npt.NDArray[np.float32]


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
