"""The dimensions of OpenVINO's tensors, as Python integers.

They are parsed from the text of a shape, such as "[1,3,?,2..8]": this takes 2 µs, a Python object for each dimension 10
µs. Iterating over a `PartialShape` or a `Shape` ends with a C++ exception, which takes another 20 µs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from openvino import Node, Output

_FEW = 16
Dims: TypeAlias = list[int | None]
"""The dimensions of a tensor of known rank; None where one is not known."""


def output_of(x: Output | Node) -> Output:
    """The output of a node that has one; an output as it is."""
    return x.output(0) if isinstance(x, Node) else x


def dims_of(x: Output | Node) -> Dims | None:
    """The dimensions of a tensor; None if its rank is not known."""
    shape = x.get_partial_shape() if isinstance(x, Output) else x.get_output_partial_shape(0)
    dims = parsed(shape.to_string())
    return None if dims is None else list(dims)


def least_dims(x: Output | Node) -> list[int]:
    """The least that each dimension of a tensor of known rank may be."""
    parts = output_of(x).get_partial_shape().to_string()[1:-1].split(",")
    return [int(part.partition("..")[0]) if part[:1].isdigit() else 0 for part in parts]


def static_dims(x: Output | Node) -> list[int] | None:
    """The dimensions of a tensor, if all of them are known."""
    return known_dims(dims_of(x))


def known_dims(dims: Sequence[int | None] | None) -> list[int] | None:
    """The same dimensions, if all of them are known."""
    if dims is None or None in dims:
        return None
    return [dim for dim in dims if dim is not None]


@lru_cache(maxsize=4096)
def parsed(text: str) -> tuple[int | None, ...] | None:
    """The dimensions in the text of a shape; None if it has no rank."""
    if text == "[...]":
        return None
    return tuple(int(part) if part.isdigit() else None for part in text[1:-1].split(",") if part)


def is_single(value: Output) -> bool:
    """Whether a tensor is known to have one element."""
    dims = dims_of(value)
    return dims is not None and all(dim == 1 for dim in dims)


def are_few(value: Output) -> bool:
    """Whether a tensor has no more elements than sizes are computed in."""
    dims = parsed(value.get_partial_shape().to_string())
    return dims is not None and None not in dims and math.prod(filter(None, dims)) <= _FEW
