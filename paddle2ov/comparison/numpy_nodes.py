"""Evaluates nodes that sum many products (convolutions, MatMuls) by NumPy in float64.

OpenVINO has no evaluation of convolutions, sums naively in float32, interpolates slowly, and scatters wrongly.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from paddle2ov.graph.workarounds import works_around
from paddle2ov.typing import AnyArray

Attributes = Mapping[str, Any]
Arrays = Sequence[AnyArray]
_ALL = slice(None)


def _matmul(attributes: Attributes, given: Arrays) -> AnyArray:
    a, b = given
    if attributes["transpose_a"] and a.ndim > 1:
        a = np.swapaxes(a, -1, -2)
    if attributes["transpose_b"] and b.ndim > 1:
        b = np.swapaxes(b, -1, -2)
    return np.asarray(np.matmul(a, b))


def _group_convolution(attributes: Attributes, given: Arrays) -> AnyArray:
    """Sums over the positions of the kernel: each is a matrix product."""
    x, weights = given  # [N, G * C, *D], [G, O, C, *K]
    groups, outputs, channels = weights.shape[:3]
    kernel = weights.shape[3:]
    strides, dilations = attributes["strides"], attributes["dilations"]
    extents = [(k - 1) * step + 1 for k, step in zip(kernel, dilations, strict=True)]
    pads = _pads(attributes, x.shape[2:], extents)
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    sizes = [(size - extent) // stride + 1 for size, extent, stride in zip(x.shape[2:], extents, strides, strict=True)]
    batch, area = x.shape[0], int(np.prod(sizes))
    result = np.zeros((batch, groups, outputs, area), x.dtype)
    for position in itertools.product(*map(range, kernel)):
        window = [
            slice(at * step, at * step + (size - 1) * stride + 1, stride)
            for at, step, size, stride in zip(position, dilations, sizes, strides, strict=True)
        ]
        seen: Any = (_ALL, _ALL, *window)
        at_position: Any = (_ALL, _ALL, _ALL, *position)
        read = x[seen].reshape(batch, groups, channels, area)
        factor = weights[at_position]
        result += factor * read if channels == outputs == 1 else np.matmul(factor, read)
    return result.reshape(batch, groups * outputs, *sizes)


def _pads(attributes: Attributes, sizes: Sequence[int], extents: Sequence[int]) -> list[tuple[int, int]]:
    mode = str(attributes["auto_pad"])
    if mode == "valid":
        return [(0, 0)] * len(sizes)
    if mode in ("same_upper", "same_lower"):
        pads = []
        for size, extent, stride in zip(sizes, extents, attributes["strides"], strict=True):
            whole = max(0, (-(-size // stride) - 1) * stride + extent - size)
            less, more = whole // 2, whole - whole // 2
            pads.append((less, more) if mode == "same_upper" else (more, less))
        return pads
    return list(zip(attributes["pads_begin"], attributes["pads_end"], strict=True))


def _reduction(function: Callable[..., AnyArray], attributes: Attributes, given: Arrays) -> AnyArray:
    x, axes = given
    along = tuple(int(axis) for axis in axes.reshape(-1))
    return np.asarray(function(x, axis=along, keepdims=bool(attributes["keep_dims"])))


@works_around("resize_of_three_axes_folded")
def _interpolate(attributes: Attributes, given: Arrays) -> AnyArray | None:
    """Linear interpolation along one axis after the other; None in other modes.

    OpenVINO 2026.4 evaluates `linear_onnx` wrongly where the first of three axes keeps its size.
    """
    if attributes["mode"] != "linear_onnx" or any((*attributes["pads_begin"], *attributes["pads_end"])):
        return None
    x = given[0]
    by_scales = attributes["shape_calculation_mode"] == "scales"
    wanted, last = (given[2 if by_scales else 1], 3) if len(given) == 4 or len(given[1]) == 0 else (given[1], 2)
    axes = given[last] if len(given) > last else np.arange(x.ndim)
    for axis, value in zip(axes.tolist(), wanted.tolist(), strict=True):
        size = x.shape[axis]
        count = int(size * value + 1e-6) if by_scales else int(value)
        scale = float(value) if by_scales else count / size
        if scale == 1 or count == size:
            continue
        at = _coordinates(str(attributes["coordinate_transformation_mode"]), count, size, scale)
        at = np.clip(at, 0, size - 1)
        low = np.floor(at).astype(np.int64)
        along = [1] * x.ndim
        along[axis] = count
        weight = (at - low).reshape(along).astype(x.dtype)
        high = np.minimum(low + 1, size - 1)
        x = np.take(x, low, axis) * (1 - weight) + np.take(x, high, axis) * weight
    return x


def _coordinates(mode: str, count: int, size: int, scale: float) -> AnyArray:
    """Where the elements of the result lie among those of the input."""
    at = np.arange(count, dtype=np.float64)
    if mode == "align_corners":
        return at * (size - 1) / max(count - 1, 1)
    if mode == "asymmetric":
        return at / scale
    if mode == "tf_half_pixel_for_nn":
        return (at + 0.5) / scale
    if mode == "pytorch_half_pixel" and count == 1:
        return np.zeros(1)
    return (at + 0.5) / scale - 0.5


def _softmax(attributes: Attributes, given: Arrays) -> AnyArray:
    x = given[0]
    axis = int(attributes["axis"])
    with np.errstate(invalid="ignore"):
        power = np.exp(x - x.max(axis, keepdims=True, initial=-np.inf))
    return np.asarray(power / power.sum(axis, keepdims=True))


@works_around("scatter_update_of_constants")
def _scatter_update(attributes: Attributes, given: Arrays) -> AnyArray:
    data, indices, updates, axis = given
    first = int(axis.reshape(-1)[0]) % data.ndim
    result = np.moveaxis(data.copy(), first, 0)
    places = indices.reshape(-1).astype(np.int64)
    rows = np.moveaxis(updates.reshape(*data.shape[:first], len(places), *data.shape[first + 1 :]), first, 0)
    for place, row in zip(places, rows, strict=True):  # the last of several to one place counts
        result[place] = row
    return np.moveaxis(result, 0, first)


FLOAT64: dict[str, Callable[[Attributes, Arrays], AnyArray | None]] = {
    "Convolution": lambda attributes, given: _group_convolution(attributes, (given[0], given[1][np.newaxis])),
    "GroupConvolution": _group_convolution,
    "Interpolate": _interpolate,
    "MatMul": _matmul,
    "ReduceMean": partial(_reduction, np.mean),
    "ReduceSum": partial(_reduction, np.sum),
    "ScatterUpdate": _scatter_update,
    "Softmax": _softmax,
}
"""Type of a node -> (attributes, inputs) -> its result, or None where it is not one of these."""
