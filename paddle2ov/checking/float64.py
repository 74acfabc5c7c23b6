"""Nodes that sum many products, in float64 by NumPy.

OpenVINO's evaluation of these is missing (convolutions), or sums naively in float32.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from paddle2ov.program.model import AnyArray

Attributes = Mapping[str, Any]
Arrays = Sequence[AnyArray]


def _matmul(attributes: Attributes, given: Arrays) -> AnyArray:
    a, b = given
    if attributes["transpose_a"] and a.ndim > 1:
        a = np.swapaxes(a, -1, -2)
    if attributes["transpose_b"] and b.ndim > 1:
        b = np.swapaxes(b, -1, -2)
    return np.asarray(np.matmul(a.astype(np.float64), b.astype(np.float64)))


def _convolution(attributes: Attributes, given: Arrays) -> AnyArray:
    x, weights = given
    return _group_convolution(attributes, (x, weights[np.newaxis]))


def _group_convolution(attributes: Attributes, given: Arrays) -> AnyArray:
    """Sums over the positions of the kernel: each is a matrix product."""
    x, weights = given  # [N, G * C, *D], [G, O, C, *K]
    groups, outputs, channels = weights.shape[:3]
    kernel = weights.shape[3:]
    strides, dilations = attributes["strides"], attributes["dilations"]
    extents = [(k - 1) * step + 1 for k, step in zip(kernel, dilations, strict=True)]
    pads = _pads(attributes, x.shape[2:], extents)
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *pads])
    weights = weights.astype(np.float64)
    sizes = [(size - extent) // stride + 1 for size, extent, stride in zip(x.shape[2:], extents, strides, strict=True)]
    batch, area = x.shape[0], int(np.prod(sizes))
    result = np.zeros((batch, groups, outputs, area))
    for position in itertools.product(*map(range, kernel)):
        window = tuple(
            slice(at * step, at * step + (size - 1) * stride + 1, stride)
            for at, step, size, stride in zip(position, dilations, sizes, strides, strict=True)
        )
        read = x[(slice(None), slice(None), *window)].reshape(batch, groups, channels, area)
        factor = weights[(..., *position)]
        result += factor * read if channels == outputs == 1 else np.matmul(factor, read)
    return result.reshape(batch, groups * outputs, *sizes)


def _pads(attributes: Attributes, sizes: Sequence[int], extents: Sequence[int]) -> list[tuple[int, int]]:
    mode = str(attributes["auto_pad"])
    if mode == "valid":
        return [(0, 0)] * len(sizes)
    if mode in ("same_upper", "same_lower"):
        found = []
        for size, extent, stride in zip(sizes, extents, attributes["strides"], strict=True):
            whole = max(0, (-(-size // stride) - 1) * stride + extent - size)
            less, more = whole // 2, whole - whole // 2
            found.append((less, more) if mode == "same_upper" else (more, less))
        return found
    return list(zip(attributes["pads_begin"], attributes["pads_end"], strict=True))


def _reduction(function: Callable[..., AnyArray]) -> Callable[[Attributes, Arrays], AnyArray]:
    def reduce(attributes: Attributes, given: Arrays) -> AnyArray:
        x, axes = given
        along = tuple(int(one) for one in axes.reshape(-1))
        return np.asarray(function(x.astype(np.float64), axis=along, keepdims=bool(attributes["keep_dims"])))

    return reduce


def _softmax(attributes: Attributes, given: Arrays) -> AnyArray:
    x = given[0].astype(np.float64)
    axis = int(attributes["axis"])
    with np.errstate(invalid="ignore"):
        power = np.exp(x - x.max(axis, keepdims=True, initial=-np.inf))
    return np.asarray(power / power.sum(axis, keepdims=True))


FLOAT64: dict[str, Callable[[Attributes, Arrays], AnyArray]] = {
    "Convolution": _convolution,
    "GroupConvolution": _group_convolution,
    "MatMul": _matmul,
    "ReduceMean": _reduction(np.mean),
    "ReduceSum": _reduction(np.sum),
    "Softmax": _softmax,
}
"""Type of a node -> (attributes, inputs) -> its result."""

__all__ = ["FLOAT64"]
