"""Builds a random program, step by step.

A step is a function of a `Maker`: it takes values that are there, most often late ones, and adds calls that read them;
where nothing fits it raises StopIteration. It knows the sizes of every value in every set of inputs, so that what it
adds is valid in all of them. Values stay of the size of 1: weights are scaled, products have a bounded factor. Of
integers the maker knows how large they may be (`bounds`), and keeps them within what float32 holds exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from gen_models.programs.chance import Chance
from gen_models.programs.program import SETS, Call, Dim, Program, Value, is_fixed

MAX_BOUND = 1 << 22
"""The largest integer: sums over an axis, and quotients, are exact to 24 bits."""
FLOAT, INTEGERS = ("float32",), ("int32", "int64")
ANY = (*FLOAT, *INTEGERS, "bool")
"""The types of values that have no arithmetic done to them."""
STEPS: dict[Callable[[Maker], None], float] = {}
"""Step -> how often it is taken."""


def step(weight: float) -> Callable[[Callable[[Maker], None]], Callable[[Maker], None]]:
    """Registers a step."""

    def register(function: Callable[[Maker], None]) -> Callable[[Maker], None]:
        STEPS[function] = weight
        return function

    return register


def static_dim(size: int) -> Dim:
    """An axis of one size."""
    return (size,) * SETS


def derived_dim(function: Callable[..., int], *dims: Dim) -> Dim:
    """An axis whose size is computed from those of others in each set."""
    return tuple(function(*each) for each in zip(*dims, strict=True))


def product_dim(*dims: Dim) -> Dim:
    """Axes that become one."""
    return derived_dim(lambda *sizes: math.prod(sizes), *dims)


@dataclass(frozen=True)
class Counter:
    """The induction variable of a loop over an axis of these sizes."""

    number: int
    dim: Dim

    def __str__(self) -> str:
        return f"v{self.number}"


class Maker(Chance):
    """A program of the seed; `learned` is the probability that a step takes a parameter in place of a value."""

    def __init__(self, seed: int, is_unknown: bool, learned: float, most_elements: int) -> None:
        super().__init__(seed)
        self.most_elements = most_elements
        self.is_unknown, self.learned = is_unknown, learned
        self.values: dict[int, Value] = {}
        self.inputs: dict[int, tuple[int, ...]] = {}
        self.known: dict[int, tuple[Any, ...]] = {}
        self.members: dict[str, str] = {}
        self.calls: list[Call] = []
        self.visible: list[Value] = []
        self.counters: list[Counter] = []
        self.writable: list[Value] = []
        self.depth = 0
        self.is_smooth = False
        self._is_steady = True
        self.read: set[int] = set()
        self.varying: set[int] = set()
        self.parameters: dict[tuple[int, ...], list[Value]] = {}
        self.bounds: dict[int, int] = {}

    @property
    def is_steady(self) -> bool:
        """Whether no small error makes a step, see `Program`; of a program that is to be smooth none is made."""
        return self._is_steady

    @is_steady.setter
    def is_steady(self, value: bool) -> None:
        if self.is_smooth and not value:
            raise StopIteration
        self._is_steady = value

    # --- chance ---

    def number(self, low: float = -1.0, high: float = 1.0) -> float:
        return round(float(self.rng.uniform(low, high)), 2)

    def axis(self, x: Value) -> int:
        """An axis from the front."""
        return self.below(x.rank)

    def spelled(self, axis: int, rank: int) -> int:
        """The axis, counted from either end."""
        return axis - rank if self.chance(0.3) else axis

    # --- values ---

    def new(self, dims: Sequence[Dim], dtype: str = "float32") -> Value:
        value = Value(len(self.values), tuple(dims), dtype)
        if max(math.prod(value.shape(which)) for which in range(SETS)) > self.most_elements:
            raise StopIteration
        self.values[value.number] = value
        return value

    def input(self, dims: Sequence[Dim], dtype: str = "float32", data: tuple[Any, ...] | None = None) -> Value:
        value = self.new(dims, dtype)
        hidden = [not is_fixed(dim) or (self.is_unknown and data is None and self.chance(0.3)) for dim in dims]
        self.inputs[value.number] = tuple(-1 if item else dim[0] for item, dim in zip(hidden, dims, strict=True))
        if data is not None:
            self.known[value.number] = data
        self.visible.append(value)
        self.varying.add(value.number)
        self.bounds[value.number] = 10  # as inputs are drawn
        return value

    def member(self, text: str) -> str:
        """A parameter or a layer, as the program names it."""
        name = f"m{len(self.members)}"
        self.members[name] = text
        return f"self.{name}"

    def weight(self, *shape: int, fan_in: int = 0, low: float = -1.0, high: float = 1.0) -> str:
        """A parameter; with `fan_in` its values are small enough to sum so many products."""
        bound = round(min(1.0, math.sqrt(2 / fan_in)), 3) if fan_in else 0.0
        low, high = (-bound, bound) if fan_in else (low, high)
        return self.member(f"self.create_parameter({list(shape)}, default_initializer=U({low}, {high}))")

    def add(self, code: str, dims: Sequence[Dim], dtype: str = "float32", bound: int | None = None) -> Value:
        """Adds a call that gives one value; integers lie within `bound`, or that of those that the call reads."""
        return self.add_all(code, [(dims, dtype)], bound)[0]

    def add_all(self, code: str, given: Sequence[tuple[Sequence[Dim], str]], bound: int | None = None) -> list[Value]:
        """Adds a call that gives several."""
        made = [self.new(dims, dtype) for dims, dtype in given]
        call = Call(code, tuple(item.number for item in made))
        if bound is None:
            bound = max((self.bounds.get(number, 1) for number in call.own_reads()), default=1)
        if bound > MAX_BOUND:
            raise StopIteration
        self.bounds |= {item.number: bound for item in made if item.dtype in INTEGERS}
        self.append(call)
        self.visible += made
        return made

    def append(self, call: Call) -> None:
        self.read |= call.reads()
        if call.bodies or call.own_reads() & self.varying:
            self.varying |= {*call.gives}
        self.calls.append(call)

    def take(
        self,
        fits: Callable[[Value], bool] = lambda value: True,
        rank: tuple[int, int] = (1, 5),
        is_plain: bool = False,
        writable: bool = False,
        dtypes: tuple[str, ...] = FLOAT,
    ) -> Value:
        """A value; StopIteration if none fits. `is_plain`: none that is the same in every run."""
        pool = self.writable if writable else self.visible
        if is_plain:
            pool = [item for item in pool if item.number in self.varying]
        candidates = [item for item in pool if rank[0] <= item.rank <= rank[1] and item.dtype in dtypes and fits(item)]
        if not candidates:
            raise StopIteration
        picked = candidates[-min(int(self.rng.geometric(0.3)), len(candidates))]
        if picked.dtype in FLOAT and not is_plain and all(map(is_fixed, picked.dims)) and self.chance(self.learned):
            return self.parameter(*picked.shape(0))
        return picked

    def with_channels(self, rank: tuple[int, int] = (4, 4), least: int = 1) -> tuple[Value, int]:
        """A value with channels first, and their number; other axes are not smaller than `least`."""
        x = self.take(lambda one: is_fixed(one.dims[1]) and min(map(min, one.dims[2:])) >= least, rank)
        return x, x.dims[1][0]

    def parameter(self, *shape: int) -> Value:
        """A parameter as data, which others may have taken before."""
        made = self.parameters.setdefault(shape, [])
        usable = [item for item in made if item in self.visible]
        if usable and self.chance(0.4):
            return usable[self.below(len(usable))]
        value = self.add(self.weight(*shape), [static_dim(size) for size in shape])
        made.append(value)
        return value

    def size(self, x: Value, axis: int) -> str:
        """The size of an axis as text: a number where it is known, else (and now and then) computed."""
        if is_fixed(x.dims[axis]) and not self.chance(0.2):
            return str(x.dims[axis][0])
        return f"paddle.shape({x})[{axis}]" if self.chance(0.3) else f"{x}.shape[{axis}]"

    # --- bodies ---

    @contextmanager
    def body(self) -> Iterator[list[Call]]:
        """Calls of a body: what they give is not seen after it."""
        outer = self.calls, list(self.visible), list(self.counters), list(self.writable)
        self.calls, self.depth = [], self.depth + 1
        try:
            yield self.calls
        finally:
            (self.calls, self.visible, self.counters, self.writable), self.depth = outer, self.depth - 1

    def some_steps(self, least: int, most: int, of: str = "") -> None:
        """Takes `least` to `most` steps, all of one module if it is given."""
        steps = [step for step in STEPS if step.__module__.endswith(of)]
        weights = np.array([STEPS[step] for step in steps])
        wanted = least + self.below(most - least + 1)
        for _ in range(6 * most):
            calls, visible, members, read = len(self.calls), len(self.visible), dict(self.members), set(self.read)
            try:
                steps[self.rng.choice(len(steps), p=weights / weights.sum())](self)
            except StopIteration:
                del self.calls[calls:], self.visible[visible:]
                self.members, self.read = members, read
                continue
            wanted -= 1
            if not wanted:
                return

    def program(self) -> Program:
        """What has been made: results are values that nothing reads, now and then others too."""
        made = [item for item in self.visible if item.number not in self.inputs]
        results = [item.number for item in made if item.number not in self.read]
        more = [item.number for item in self.visible if item.number in self.read]
        if more and self.chance(0.4):
            results.insert(self.below(len(results) + 1), self.among(*more))
        whole = Program(
            self.inputs, self.values, self.members, tuple(self.calls), tuple(results), self.is_steady, self.known
        )
        return whole.kept()
