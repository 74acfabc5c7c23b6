"""The dimensions of OpenVINO's tensors, as Python's numbers.

They are read by index: iterating over a `PartialShape` or a `Shape` ends with a C++ exception, which takes 20 µs.
"""

from __future__ import annotations

from typing import TypeAlias

from openvino import Node, Output, PartialShape

Dims: TypeAlias = list[int | None]
"""The dimensions of a tensor of known rank; None where one is not known."""


def dims_of(x: Output | Node) -> Dims | None:
    """The dimensions of a tensor; None if its rank is not known."""
    shape = _shape(x)
    if shape.rank.is_dynamic:
        return None
    dims = (shape[i] for i in range(len(shape)))
    return [int(dim.get_length()) if dim.is_static else None for dim in dims]


def static_dims(x: Output | Node) -> list[int] | None:
    """The dimensions of a tensor, if all of them are known."""
    shape = _shape(x)
    if shape.is_dynamic:
        return None
    sizes = shape.to_shape()  # faster than reading each dimension
    return [sizes[i] for i in range(len(sizes))]


def _shape(x: Output | Node) -> PartialShape:
    return x.get_partial_shape() if isinstance(x, Output) else x.get_output_partial_shape(0)


__all__ = ["Dims", "dims_of", "static_dims"]
