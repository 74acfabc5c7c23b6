"""Random inputs to run a model on: their numbers, by what reads them, or by what their names say (`im_info`)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from openvino import Model, PartialShape

from paddle2ov.errors import ConversionInputError
from paddle2ov.graph.node_names import LENGTHS_SUFFIX
from paddle2ov.graph.types import bfloat16_bits
from paddle2ov.inputs.channels import channels_last
from paddle2ov.inputs.given_arrays import Inputs
from paddle2ov.inputs.index_ranges import UNLIMITED, Range, index_ranges
from paddle2ov.inputs.linked_sizes import Free, ShapeProbe, Sizes, fit_sizes, spread_sizes
from paddle2ov.inputs.usual_sizes import (
    bounds_of,
    clamp,
    free_dims,
    named_shapes,
    picture_size,
    shapes_by_name,
    usual_sets,
    usual_shape,
    within,
)
from paddle2ov.program import dtypes
from paddle2ov.program.model import Program, Variable
from paddle2ov.program.settings import Settings
from paddle2ov.program.signatures import ROWS, parse_signature
from paddle2ov.program.traits import with_trait
from paddle2ov.translation.input_spec import InputArgument
from paddle2ov.typing import AnyArray

_MAX_ELEMENTS = 2**28
_MAX_INDEX = 10
_MAX_LIMITS = 4
_DISTINCT = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)
_EQUAL = (4, 32, 64, 1)
_SEQUENCES = (3, 2, 4)
_FEW = 8
_HASHED = 2**15
"""What integers are below that may be any, so that what the program makes of them is likely to fit 32 bits."""
_COUNTS = {key: parse_signature(key, ROWS[key]).operands[1] for key in with_trait("counts boxes")}
"""Operators that read how many of their boxes are on each image: which operand the boxes are."""


_PICTURE_SIZES = ("im_shape", "im_size", "im_info")


@dataclass(frozen=True, slots=True)
class Values:
    """How values are drawn that are no indices.

    Attributes:
        limit: what integers are below.
        is_sorted: whether integers are sorted.
        are_sizes: whether floats, of inputs that have few, are sizes of images.
        are_chances: whether floats are in [0, 1).
        are_definite: whether square matrices are positive definite.
    """

    limit: int = _MAX_INDEX
    is_sorted: bool = False
    are_sizes: bool = False
    are_chances: bool = False
    are_definite: bool = False


class RandomInputs:
    """Random inputs for a program: one set where all shapes are fixed, several where they are not.

    Sizes are usual ones, changed where the converted model takes none of these. Floats are uniform in [-1, 1); integers
    are below the size of what they index, the largest index included, else in [0, 10); lengths of sequences are from 1
    to the number of steps; bools are fair. Some names are known by what they mean in PaddleDetection's models:
    `im_shape`, `im_size` and `im_info` are the image's height and width, and a scale of 1 where they have a third
    number; `scale_factor` is 1.

    Args:
        program: the program.
        model: the model that it is converted to, whose shape inference says what fits; None: nothing does.
        shapes: shapes to use, in the forms of `convert(input=...)`, one for each set.
        seed: of the random numbers.
        settings: what is known of the model; sizes that it names are used as well, and none beyond its bounds.
        with_lengths: whether inputs that hold sequences (LoD) hold several, whose lengths are inputs too.

    Attributes:
        sets: the inputs.
        has_chosen_shapes: whether they have the shapes that were given.

    Raises:
        ConversionInputError: a shape does not fit the program or is too large, or the seed is no integer of 0 or more.
    """

    def __init__(
        self,
        program: Program,
        model: Model | None = None,
        shapes: Sequence[InputArgument] = (),
        seed: int = 0,
        settings: Settings | None = None,
        with_lengths: bool = False,
    ) -> None:
        if not isinstance(seed, int | np.integer) or seed < 0:
            raise ConversionInputError(f"seed: {seed!r:.80} is not an integer of 0 or more")
        self._program = program
        self._model = model
        self.has_chosen_shapes = bool(shapes)
        self._probe: ShapeProbe | None = None
        self._seed = seed
        self._sequences = [input_.name for input_ in program.inputs if input_.lod_level == 1] if with_lengths else []
        self._unlimited: list[str] = []
        self._channels_last = channels_last(model) if model is not None else frozenset()
        self._usual = usual_sets(program, self._channels_last)
        self._integers = [
            input_.name for input_ in program.inputs if _storage(input_).kind in "iu" and input_.dtype != "bfloat16"
        ]
        dynamic = any(variable.shape is None or -1 in variable.shape for variable in program.inputs)
        overrides = [shapes_by_name(program, shape) for shape in shapes]
        if not overrides:
            overrides = [bounds_of(program, settings)] * (len(self._usual) if dynamic else 1)
            overrides += named_shapes(program, settings, self._channels_last) if dynamic else []
        self.sets: list[Inputs] = []
        self._bounds: list[dict[str, PartialShape]] = []
        self._fitted: list[Sizes] = []  # before those differ that nothing ties together, as far as the model says
        seen: list[Sizes] = []
        for k, override in enumerate(overrides):
            bounds = within(program, override, model if not shapes else None)
            usual = self._usual[k % len(self._usual)]
            sizes = self._fit(
                {
                    input_.name: usual_shape(input_, bounds.get(input_.name), k, usual, self._channels_last)
                    for input_ in program.inputs
                },
                bounds,
            )
            if not shapes and sizes in seen:
                continue
            seen.append(sizes)
            for name, size in sizes.items():
                if math.prod(size) > _MAX_ELEMENTS:
                    raise ConversionInputError(f"shapes: {list(size)} of '{name}' is too large for random inputs")
            self._bounds.append(bounds)
            self._fitted.append(sizes)
            self.sets.append(self._draw(len(self.sets), self._spread(sizes, bounds), Values()))

    def alternatives(self, k: int) -> Iterator[Inputs]:
        """Other inputs in place of a set that Paddle refuses, with other integers and of other sizes."""
        usual = {input_.name: self.sets[k][input_.name].shape for input_ in self._program.inputs}
        fitted = self._fitted[k]
        tried = [(usual, Values())]
        for start in (fitted, usual, *self._starts(usual, self._bounds[k])):
            sizes = start if start in (fitted, usual) else self._fit(start, self._bounds[k])
            if any(math.prod(shape) > _MAX_ELEMENTS for shape in sizes.values()):
                continue
            for values in (Values(), *self._other_values(sizes)):
                if (sizes, values) not in tried:
                    tried.append((sizes, values))
                    yield self._draw(k, sizes, values)

    def _starts(self, usual: Sizes, bounds: Mapping[str, PartialShape]) -> Iterator[Sizes]:
        """Sizes to start from: all different, all equal, and usual ones with empty inputs that have any (caches)."""
        free = self._free(bounds)
        open_axes = Counter(name for name, _ in free)
        if empty := {name: (0,) * len(shape) for name, shape in usual.items() if 2 < len(shape) == open_axes[name]}:
            yield usual | empty
        for size in (None, *_EQUAL):
            different = iter(_DISTINCT)
            yield {
                name: tuple(
                    clamp(free[name, axis], size or next(different, _DISTINCT[-1])) if (name, axis) in free else length
                    for axis, length in enumerate(shape)
                )
                for name, shape in usual.items()
            }

    def _other_values(self, sizes: Sizes) -> Iterator[Values]:
        if self._integers:
            dims = sorted({dim for shape in sizes.values() for dim in shape}, reverse=True)
            yield from (Values(dim + 1) for dim in dims[:_MAX_LIMITS])
            yield Values(is_sorted=True)
            yield Values(2)
        yield Values(are_chances=True)
        yield Values(are_sizes=True)
        if any(_is_square(shape) for shape in sizes.values()):
            yield Values(are_definite=True)

    def _fit(self, sizes: Sizes, bounds: Mapping[str, PartialShape]) -> Sizes:
        free = self._free(bounds)
        if self._model is None or not (free or self._integers):
            return sizes
        self._probe = self._probe or ShapeProbe(self._model)
        return fit_sizes(self._probe, sizes, free)

    def _spread(self, sizes: Sizes, bounds: Mapping[str, PartialShape]) -> Sizes:
        if self._probe is None or self._probe.at_fault is not None:
            return sizes
        return spread_sizes(self._probe, sizes, self._free(bounds))

    def _free(self, bounds: Mapping[str, PartialShape]) -> Free:
        return {
            (input_.name, axis): dim
            for input_ in self._program.inputs
            for axis, dim in free_dims(input_, bounds.get(input_.name)).items()
        }

    def beyond_32_bits(self) -> Inputs | None:
        """The first set with integers that 32 bits do not hold, where the program takes any, such as to hash them."""
        wide = [name for name in self._unlimited if self.sets[0][name].dtype.itemsize > 4]
        rng, inputs = np.random.default_rng(self._seed), dict(self.sets[0])
        for name in wide:
            inputs[name] = rng.integers(2**31, 2**40, inputs[name].shape).astype(inputs[name].dtype)
        return inputs if wide else None

    def _draw(self, k: int, sizes: Sizes, values: Values) -> Inputs:
        rng = np.random.default_rng([self._seed, k])
        lengths = {name + LENGTHS_SUFFIX: _parts(rng, sizes[name][0], _SEQUENCES[k % 3]) for name in self._sequences}
        ranges: dict[str, Range] = {}
        if self._probe is not None and self._integers:
            self._probe.infer(sizes)
            if self._probe.at_fault is None:
                ranges = index_ranges(self._probe.model, self._integers, sizes, lengths)
        self._unlimited = [name for name, (_, high) in ranges.items() if high == UNLIMITED]
        ranges |= {name: (ranges[name][0], _HASHED) for name in self._unlimited}
        counts = self._counts(sizes)
        pictures = (picture_size(input_, sizes[input_.name], self._channels_last) for input_ in self._program.inputs)
        picture = next((size for size in pictures if size is not None), None)
        inputs = dict(lengths)
        for input_ in self._program.inputs:
            if input_.name in counts and len(sizes[input_.name]) == 1 and sizes[input_.name][0]:
                share = np.full(sizes[input_.name], 1 / sizes[input_.name][0])
                inputs[input_.name] = rng.multinomial(counts[input_.name], share).astype(_storage(input_))
            else:
                inputs[input_.name] = _array(rng, input_, sizes[input_.name], picture, ranges.get(input_.name), values)
        return inputs

    def _counts(self, sizes: Sizes) -> dict[str, int]:
        """The inputs that count the boxes on each image, and how many there are."""
        counts = {}
        for operator in self._program.block.operators if self._integers else ():
            boxes = operator.inputs.get(_COUNTS.get(operator.type, ""), ())
            for name in operator.inputs.get("boxes_num", ()):
                if name in sizes and boxes and boxes[0] in sizes:
                    counts[name] = sizes[boxes[0]][0]
        return counts


def _array(
    rng: np.random.Generator,
    variable: Variable,
    shape: tuple[int, ...],
    picture: tuple[int, int] | None,
    allowed: Range | None,
    values: Values,
) -> AnyArray:
    dtype, storage = variable.dtype or "float32", _storage(variable)
    if variable.name == "scale_factor":
        return np.ones(shape, storage)
    if variable.name in _PICTURE_SIZES and picture is not None and shape[-1:] in ((2,), (3,)):
        return np.broadcast_to(np.array([*picture, 1][: shape[-1]], storage), shape).copy()
    if dtype == "bfloat16":
        return bfloat16_bits(rng.uniform(-1, 1, shape))
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if storage.kind in "iu":
        low, high = allowed or (0, min(values.limit, 2 ** (8 * storage.itemsize - 1)))
        integers = rng.integers(low, high, shape)
        if integers.size:
            integers.flat[rng.integers(integers.size)] = high - 1
        if values.is_sorted and allowed is None and shape:
            integers.sort(axis=-1)
        return integers.astype(storage)
    if values.are_definite and _is_square(shape):
        root = rng.uniform(-1, 1, shape) + (1j * rng.uniform(-1, 1, shape) if storage.kind == "c" else 0)
        definite: AnyArray = root @ np.conj(root).swapaxes(-1, -2) + np.eye(shape[-1])
        return definite.astype(storage)
    if storage.kind == "c":
        return (rng.uniform(-1, 1, shape) + 1j * rng.uniform(-1, 1, shape)).astype(storage)
    if values.are_sizes and math.prod(shape) <= _FEW:
        return rng.integers(8, 32, shape).astype(storage)
    return rng.uniform(0 if values.are_chances else -1, 1, shape).astype(storage)


def _is_square(shape: tuple[int, ...]) -> bool:
    return len(shape) > 1 and shape[-1] == shape[-2]


def _parts(rng: np.random.Generator, rows: int, count: int) -> AnyArray:
    """The lengths of as many sequences as there may be, of one row at least, in this many rows."""
    count = max(min(rows, count), 1)
    return 1 + rng.multinomial(max(rows - count, 0), np.full(count, 1 / count))


def _storage(variable: Variable) -> np.dtype[np.generic]:
    return dtypes.STORAGE.get(variable.dtype or "float32", np.dtype("float32"))
