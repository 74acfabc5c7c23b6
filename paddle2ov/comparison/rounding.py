"""How far rounding may take results: the network is computed several times with random errors of the precision.

Every value is a tuple of lanes: the first is computed as it is; in the others, every node that rounds gets a random
error of the precision, in its result and, where it sums, in each of its inputs (Monte Carlo arithmetic). The lanes of a
result then spread as far as the rounding of this network, on these inputs, can take it. What chooses (comparisons,
sorts, suppression, rounding to integers) chooses in all lanes as in the first; see `choices.py`. A tuple of one element
is a value without errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from openvino import Node, Tensor, Type

from paddle2ov.comparison.differences import beyond, distances, root_mean_square, scale_of
from paddle2ov.comparison.sensitivity import CARRIES_SCORES, CHOOSES, MOVES, SUMS
from paddle2ov.comparison.tensors import is_float, to_array, to_tensor
from paddle2ov.typing import AnyArray

Lanes = tuple[Tensor, ...]

LANES = 3
UNITS = {"f32": 2.0**-20, "f16": 2.0**-10, "bf16": 2.0**-8}
"""The random error of one node, relative to the value.

Of a narrow type it is two roundings: sums and functions are computed in float32, the result is rounded. Of float32 it
is 16: sums are in any order, and functions (`exp`, `erf`, ...) are approximations of some units in the last place.
"""
_PLACE = 2.0**-23
"""The error of a place in a tensor, as a fraction of its size: that of a number of float32."""
_ELEMENT = 8.0
"""How many spreads an element may be off."""
_MEAN = 4.0
"""How many spreads the root of the mean square of all elements may be off."""


def chooses(node: Node) -> bool:
    """Whether a node may turn a small error of its inputs into a larger error of its output."""
    kind = node.get_type_name()
    if kind == "Convert":
        return not is_float(node.get_output_element_type(0)) and is_float(node.get_input_element_type(0))
    return kind in CHOOSES and any(is_float(node.get_input_element_type(i)) for i in range(node.get_input_size()))


@dataclass(slots=True)
class Rounding:
    """The random errors of a precision ("f32", "bf16" or "f16"), in this many lanes; with one there are none."""

    precision: str = "f32"
    lanes: int = LANES

    @property
    def unit(self) -> float:
        """The error of one node."""
        return UNITS[self.precision]

    def given(self, value: Lanes, seed: Sequence[int]) -> Lanes:
        """An input or constant of the model as a node reads it; narrow types round these as well."""
        return self._with_errors(value, seed) if self.precision != "f32" else value

    def read(self, node: str, values: Sequence[Lanes], fixed: Collection[int], seed: Sequence[int]) -> list[Lanes]:
        """What a node reads, with the errors of its sums; constants (`fixed`), which are their factors, stay."""
        if node == "Interpolate":
            values = [values[0], *((value[0],) for value in values[1:])]  # scales say how many elements there are
        if node not in SUMS:
            return list(values)
        return [value if i in fixed else self._with_errors(value, (*seed, i)) for i, value in enumerate(values)]

    def written(self, node: Node, read: Sequence[Lanes], values: Sequence[Lanes], seed: Sequence[int]) -> list[Lanes]:
        """What a node wrote, with its errors."""
        kind = node.get_type_name()
        if kind == "FakeQuantize":
            return [self._with_levels(values[0], node, read, seed)]
        if noise := max(map(_noise, read), default=0.0) if kind in CARRIES_SCORES else 0.0:
            return [
                self._changed(value, (*seed, i), lambda array, random: array + _ELEMENT * noise * random)
                for i, value in enumerate(values)
            ]
        if kind in MOVES | CARRIES_SCORES or chooses(node):
            return list(values)
        if (
            kind == "Interpolate"
            and self.lanes > 1
            and _is_rounded(values[0])
            and node.get_attributes()["mode"] != "nearest"
        ):
            off = _off_by_coordinates(to_array(read[0][0]), tuple(values[0][0].shape))
            values = [self._changed(values[0], (*seed, 1), lambda array, random: array + off * random)]
        return [self._with_errors(value, (*seed, i)) for i, value in enumerate(values)]

    def _with_errors(self, value: Lanes, seed: Sequence[int]) -> Lanes:
        unit = unit_of(value[0].get_element_type(), self.unit)
        return self._changed(value, seed, lambda array, random: array * (1 + unit * random))

    def _with_levels(self, value: Lanes, node: Node, read: Sequence[Lanes], seed: Sequence[int]) -> Lanes:
        """Quantized values may be one level off."""
        low, high = (to_array(read[i][0]).astype(np.float64) for i in (3, 4))
        step = np.abs(np.asarray(high - low)) / max(int(node.get_attributes()["levels"]) - 1, 1)
        return self._changed(value, seed, lambda array, random: array + step * random)

    def _changed(self, value: Lanes, seed: Sequence[int], change: Callable[[AnyArray, AnyArray], AnyArray]) -> Lanes:
        if self.lanes == 1 or not _is_rounded(value):
            return value
        lanes = [value[0]]
        rng = np.random.default_rng([self.lanes, *map(abs, seed)])
        kind = value[0].get_element_type()
        for k in range(1, self.lanes):
            array = to_array(value[k] if len(value) > 1 else value[0])
            random = np.asarray(rng.uniform(-1, 1, array.shape), np.float32)
            with np.errstate(invalid="ignore", over="ignore"):
                lanes.append(to_tensor(change(array.astype(np.float64), random), kind))
        return tuple(lanes)


EXACT = Rounding(lanes=1)
"""No errors."""


def _off_by_coordinates(x: AnyArray, shape: Sequence[int]) -> float:
    """What a resize may be off because the places where it reads are numbers of float32, up to the size of an axis."""
    off = 0.0
    for axis, (before, after) in enumerate(zip(x.shape, shape, strict=True)):
        if before != after and x.size:
            with np.errstate(invalid="ignore", over="ignore"):  # between infinities
                off += before * _PLACE * _typical(np.diff(x.astype(np.float64), axis=axis))
    return off


def _is_rounded(value: Lanes) -> bool:
    return is_float(value[0].get_element_type()) and value[0].size > 0


def _noise(value: Lanes) -> float:
    """The spread of a tensor."""
    if len(value) == 1 or not _is_rounded(value):
        return 0.0
    return _typical(_spread(value, to_array(value[0]).astype(np.float64)))


def _spread(value: Lanes, first: AnyArray) -> AnyArray:
    """How far the lanes are from the first, element by element."""
    spread: AnyArray = np.zeros(first.shape)
    for item in value[1:]:
        spread = np.maximum(spread, distances(to_array(item), first))
    return spread


def _usual_fraction(spread: AnyArray, values: AnyArray) -> float:
    """The median of the spreads as fractions of the values: two lanes of a large element may be close by chance."""
    counted = np.isfinite(spread) & np.isfinite(values) & (values != 0)
    return float(np.median(spread[counted] / np.abs(values[counted]))) if counted.any() else 0.0


def _typical(array: AnyArray) -> float:
    """The root mean square of the finite elements."""
    return root_mean_square(array[np.isfinite(array)])


@dataclass(frozen=True, slots=True)
class Difference:
    """A result of the device beside what it should be.

    Attributes:
        absolute: the largest difference; infinite where only one of them is finite or NaN, or the shapes differ.
        relative: that difference as a fraction of the largest value.
        allowed: what rounding allows at the element that exceeds it most, or at the one that comes nearest to that.
        wrong: how many elements are off by more than rounding allows.
        elements: how many there are.
        reason: what differs, with the worst element; "" if nothing does.
    """

    absolute: float = 0.0
    relative: float = 0.0
    allowed: float = 0.0
    wrong: int = 0
    elements: int = 0
    reason: str = ""


def unit_of(kind: Type, unit: float) -> float:
    """The error of one node whose result has an element type: that of the type, where it is narrower."""
    return max(unit, UNITS.get(kind.get_type_name(), 0.0))


def compare(got: Tensor, value: Lanes, unit: float) -> Difference:
    """Compares what the device computed with the lanes of what it should be.

    Shapes, types, integers and bools must be the same. Floats may be off by what the lanes spread: each by several
    times its own spread, that of all elements (their root mean square), or the usual one of its size (the median of
    the fractions), and all together by less.
    """
    kind, want = value[0].get_element_type(), to_array(value[0])
    if got.get_element_type() != kind or tuple(got.shape) != want.shape:
        text = f"{got.get_element_type().get_type_name()} {list(got.shape)}"
        reason = f"{text} instead of {kind.get_type_name()} {list(want.shape)}"
        return Difference(math.inf, math.inf, 0.0, want.size, want.size, reason)
    have = to_array(got)
    away = distances(have, want)
    if not is_float(kind):
        limit: AnyArray = np.zeros(away.shape)
        mean_limit = math.inf
    else:
        b = want.astype(np.float64)
        spread = _spread(value, b)
        typical = _typical(spread)
        with np.errstate(invalid="ignore"):
            least = unit_of(kind, unit) * np.where(np.isfinite(b), np.abs(b), 0.0) + np.finfo(np.float32).tiny
            limit = _ELEMENT * np.maximum(np.maximum(spread, typical), _usual_fraction(spread, b) * np.abs(b)) + least
        limit = np.where(np.isnan(limit), 0.0, limit)
        mean_limit = _MEAN * typical + _typical(least)
    wrong, worst = beyond(away, limit)
    mean = _typical(np.where(np.isfinite(limit), away, 0.0))
    absolute, allowed, reason = float(away.max(initial=0.0)), float(limit.max(initial=0.0)), ""
    if wrong:
        allowed = float(limit[worst])
        reason = (
            f"{wrong} of {want.size} elements; the worst at {list(worst)}: {have[worst].item()!r} instead of "
            f"{want[worst].item()!r}, rounding allows {allowed:.2g}"
        )
    elif mean > mean_limit:
        wrong = 1
        reason = f"the mean square of all differences is {mean:.2g}, rounding allows {mean_limit:.2g}"
    return Difference(absolute, absolute / scale_of(want), allowed, wrong, want.size, reason)
