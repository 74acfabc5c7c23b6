"""A random program as plain data: calls as text, with operands by their numbers; it can be saved, shrunk and run again.

    {"inputs": {"0": [-1, 3]}, "values": {"0": {"dims": [[4, 1, 2], [3, 3, 3]], "dtype": "float32"}, ...},
     "members": {}, "calls": [{"code": "paddle.tanh(v0)", "gives": [1]}], "results": [1]}

The dimensions of a value are its sizes in each set of inputs. Operands are read off the text of a call: `v3` is the
value of number 3, `self.m1` a parameter or layer. A call with two bodies is an `if`, one with a single body a loop.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gen_models.harness.spec import TensorSpec, tensor

SETS = 3
"""Sets of inputs of a program, of a large, a small and a middle size."""

Dim = tuple[int, ...]
"""The sizes of one axis in each set."""


def is_fixed(dim: Dim) -> bool:
    """Whether the axis has one size in all sets."""
    return len(set(dim)) == 1


def resolve(names: Mapping[int, int], number: int) -> int:
    """The number that replaces a number, after any number of replacements."""
    while number in names:
        number = names[number]
    return number


@dataclass(frozen=True)
class Value:
    """A tensor of a program; its text is its name there."""

    number: int
    dims: tuple[Dim, ...]
    dtype: str = "float32"

    def __str__(self) -> str:
        return f"v{self.number}"

    @property
    def rank(self) -> int:
        return len(self.dims)

    def replaced(self, axis: int, *dims: Dim) -> list[Dim]:
        """The dimensions with others, or none, in place of one."""
        return [*self.dims[:axis], *dims, *self.dims[axis + 1 :]]

    def reduced(self, axes: Collection[int], keep: bool) -> list[Dim]:
        """The dimensions that are left of some of them: 1, or none."""
        kept = [axis for axis in range(self.rank) if keep or axis not in axes]
        return [(1,) * SETS if axis in axes else self.dims[axis] for axis in kept]

    def shape(self, which: int) -> tuple[int, ...]:
        """The shape in one set of inputs."""
        return tuple(dim[which] for dim in self.dims)


@dataclass(frozen=True)
class Call:
    """One call, and the numbers of the values that it gives; without any it writes to the first value of its text.

    An `if` has its condition as code and two bodies; a loop has its head as code (`for v7 in range(...)`, or the two
    lines of a `while`) and one. `yields` says for each body which of its values become those that the call gives; in
    a loop these begin as `starts`.
    """

    code: str
    gives: tuple[int, ...] = ()
    bodies: tuple[tuple[Call, ...], ...] = ()
    yields: tuple[tuple[int, ...], ...] = ()
    starts: tuple[int, ...] = ()

    def own_reads(self) -> set[int]:
        """The values that its own text names (a loop's counter too), and those that a loop starts with."""
        return {int(number) for number in re.findall(r"\bv(\d+)\b", self.code)} | set(self.starts)

    def reads(self) -> set[int]:
        """The values that it names, those of its bodies too."""
        inner = {number for body in self.bodies for call in body for number in call.reads() | set(call.gives)}
        return self.own_reads() | inner | {number for numbers in self.yields for number in numbers}

    def writes(self) -> set[int]:
        """The values that it writes to in place."""
        if self.bodies:
            return {number for body in self.bodies for call in body for number in call.writes()}
        match = re.match(r"v(\d+)\b", self.code)
        return {int(match[1])} if match and not self.gives else set()

    def renamed(self, names: Mapping[int, int]) -> Call:
        """The call with other values in place of some that it reads."""
        return dataclasses.replace(
            self,
            code=re.sub(r"\bv(\d+)\b", lambda found: f"v{resolve(names, int(found[1]))}", self.code),
            bodies=tuple(tuple(call.renamed(names) for call in body) for body in self.bodies),
            yields=tuple(tuple(resolve(names, number) for number in numbers) for numbers in self.yields),
            starts=tuple(resolve(names, number) for number in self.starts),
        )

    def members(self) -> set[str]:
        """The parameters and layers that it names."""
        inner = {name for body in self.bodies for call in body for name in call.members()}
        return set(re.findall(r"\bself\.(\w+)", self.code)) | inner

    def to_json(self) -> dict[str, Any]:
        plain: dict[str, Any] = {"code": self.code, "gives": list(self.gives)}
        if self.bodies:
            plain["bodies"] = [[call.to_json() for call in body] for body in self.bodies]
            plain["yields"] = [list(numbers) for numbers in self.yields]
            plain["starts"] = list(self.starts)
        return plain

    @staticmethod
    def from_json(plain: dict[str, Any]) -> Call:
        bodies = tuple(tuple(Call.from_json(call) for call in body) for body in plain.get("bodies", ()))
        yields = tuple(tuple(numbers) for numbers in plain.get("yields", ()))
        return Call(plain["code"], tuple(plain["gives"]), bodies, yields, tuple(plain.get("starts", ())))


@dataclass(frozen=True)
class Program:
    """Calls, the inputs with their declared dimensions, what the calls name, and what is returned.

    `is_steady` is False where a small error may change a result by a step (a comparison, an order).
    """

    inputs: dict[int, tuple[int, ...]]
    values: dict[int, Value]
    members: dict[str, str]
    calls: tuple[Call, ...]
    results: tuple[int, ...]
    is_steady: bool = True
    known: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    """The data of inputs that are not random (counts), one for each set."""

    def tensors(self, which: int) -> dict[str, TensorSpec]:
        """The inputs of one set."""
        return {
            f"v{number}": tensor(
                self.values[number].shape(which),
                self.values[number].dtype,
                values=self.known[number][which] if number in self.known else None,
                dims=declared,
            )
            for number, declared in self.inputs.items()
        }

    def kept(self) -> Program:
        """The program without what no result needs."""
        calls = live(self.calls, self.results)
        needed = {number for call in calls for number in call.reads() | set(call.gives)} | set(self.results)
        inputs = {number: dims for number, dims in self.inputs.items() if number in needed}
        members = {name for call in calls for name in call.members()}
        return dataclasses.replace(
            self,
            calls=calls,
            inputs=inputs,
            values={number: value for number, value in self.values.items() if number in needed},
            members={name: text for name, text in self.members.items() if name in members},
            known={number: data for number, data in self.known.items() if number in inputs},
        )

    def walk(self) -> Iterator[Call]:
        """All calls, those of bodies too."""
        return _walk(self.calls)

    def to_json(self) -> dict[str, Any]:
        return {
            "inputs": {str(number): list(dims) for number, dims in self.inputs.items()},
            "values": {
                str(value.number): {"dims": [list(dim) for dim in value.dims], "dtype": value.dtype}
                for value in self.values.values()
            },
            "members": self.members,
            "calls": [call.to_json() for call in self.calls],
            "results": list(self.results),
            "is_steady": self.is_steady,
            "known": {str(number): list(data) for number, data in self.known.items()},
        }

    @staticmethod
    def from_json(plain: dict[str, Any]) -> Program:
        return Program(
            inputs={int(number): tuple(dims) for number, dims in plain["inputs"].items()},
            values={
                int(number): Value(int(number), tuple(tuple(dim) for dim in value["dims"]), value["dtype"])
                for number, value in plain["values"].items()
            },
            members=plain["members"],
            calls=tuple(Call.from_json(call) for call in plain["calls"]),
            results=tuple(plain["results"]),
            is_steady=plain["is_steady"],
            known={int(number): tuple(data) for number, data in plain["known"].items()},
        )

    def digest(self) -> str:
        """Short name of its content."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()[:12]


def live(calls: Iterable[Call], wanted: Iterable[int]) -> tuple[Call, ...]:
    """The calls that the wanted values need."""
    needed, kept = set(wanted), []
    for call in reversed(tuple(calls)):
        if not needed & (set(call.gives) | call.writes()):
            continue
        if call.bodies:
            call = _trimmed(call, needed)
        needed |= call.reads()
        kept.append(call)
    return tuple(reversed(kept))


def _trimmed(call: Call, needed: set[int]) -> Call:
    """An `if` or a loop without the values that nothing needs, neither outside nor, carried on, inside."""
    kept = {number for number in call.gives if number in needed}
    while True:
        places = [place for place, number in enumerate(call.gives) if number in kept]
        yields = tuple(tuple(numbers[place] for place in places) for numbers in call.yields)
        bodies = tuple(
            live(body, {*numbers, *call.writes()}) for body, numbers in zip(call.bodies, yields, strict=True)
        )
        starts = tuple(call.starts[place] for place in places) if call.starts else ()
        trimmed = Call(call.code, tuple(call.gives[place] for place in places), bodies, yields, starts)
        inside = (trimmed.reads() | trimmed.writes()) & set(call.gives) if call.starts else set()
        if inside <= kept:
            return trimmed
        kept |= inside


def _walk(calls: Iterable[Call]) -> Iterator[Call]:
    for call in calls:
        yield call
        for body in call.bodies:
            yield from _walk(body)
