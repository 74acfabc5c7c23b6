"""NumPy's functions that create arrays, for sizes that a program decides: they refuse arrays that are too large.

Each has the arguments of NumPy's function of that name, and raises `BudgetError` before it creates an array of more
than `MAX_ARRAY_ELEMENTS`. Converters create arrays with these only. The last three bound copies of constants.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle2ov.program.budget import COPIES, charge_array, charge_copy, current
from paddle2ov.typing import AnyArray

if TYPE_CHECKING:
    import numpy.typing as npt

Shape = int | Sequence[int]


def arange(start: float, stop: float | None = None, step: float = 1, dtype: npt.DTypeLike = None) -> AnyArray:
    """start, start + step, ... below stop; from 0 if only one number is given, as `np.arange`."""
    first, last = (0, start) if stop is None else (start, stop)
    charge_array(math.ceil((last - first) / step))
    return np.arange(first, last, step, dtype)


def full(shape: Shape, value: Any, dtype: npt.DTypeLike = None) -> AnyArray:
    """`value` everywhere."""
    charge_array(_count(shape), _itemsize(dtype))
    return np.full(shape, value, dtype)


def zeros(shape: Shape, dtype: npt.DTypeLike = None) -> AnyArray:
    """0 everywhere."""
    return full(shape, 0, np.float64 if dtype is None else dtype)


def ones(shape: Shape, dtype: npt.DTypeLike = None) -> AnyArray:
    """1 everywhere."""
    return full(shape, 1, np.float64 if dtype is None else dtype)


def eye(rows: int, columns: int, dtype: npt.DTypeLike = None) -> AnyArray:
    """1 on the diagonal, else 0."""
    charge_array(rows * columns, _itemsize(dtype))
    return np.eye(rows, columns, dtype=dtype)


def indices(sizes: Sequence[int]) -> AnyArray:
    """The indices of each element of a grid."""
    charge_array(math.prod(sizes) * len(sizes))
    return np.indices(sizes)


def tile(values: npt.ArrayLike, repeats: Shape) -> AnyArray:
    """The array, repeated along its axes."""
    array = np.asarray(values)
    charge_array(array.size * _count(repeats), array.itemsize)
    return np.tile(array, repeats)


def repeat(array: AnyArray, repeats: int | Sequence[int] | AnyArray, axis: int | None = None) -> AnyArray:
    """The elements, or slices along an axis, each repeated."""
    counts = np.asarray(repeats)
    length = array.size if axis is None else array.shape[axis]
    total = int(counts) * length if counts.ndim == 0 else sum(map(int, counts))
    charge_array(total * (array.size // max(length, 1)), array.itemsize)
    return np.repeat(array, repeats, axis)


def broadcast(array: AnyArray, shape: Sequence[int]) -> AnyArray:
    """The array in a shape that it broadcasts to, as an array of its own."""
    charge_array(math.prod(shape), array.itemsize)
    return np.array(np.broadcast_to(array, tuple(shape)))


def copied(array: AnyArray) -> AnyArray:
    """A copy of the elements of a constant, of which a rewrite may make any number.

    Raises:
        BudgetError: too much has been copied.
    """
    charge_copy(array.nbytes)
    return array.copy()


def converted(array: AnyArray, dtype: npt.DTypeLike) -> AnyArray:
    """The elements of a constant in another type, of which a converter may make any number."""
    charge_copy(array.size * _itemsize(dtype))
    return array.astype(dtype)


def affords_copy(size: int) -> bool:
    """Whether a rewrite that can do without may copy so many bytes; if it may, they are charged."""
    budget = current()
    return budget is None or budget.affords(COPIES, size)


def _count(shape: Shape) -> int:
    return int(shape) if isinstance(shape, int | np.integer) else math.prod(map(int, shape))


def _itemsize(dtype: npt.DTypeLike) -> int:
    return np.dtype(dtype).itemsize
