"""Mutations of a program, or of other data, as a tree of plain values.

A place in a tree is known by its path: the keys that lead to it, with `*` for any element of a list
(`.program.regions.*.blocks.*.ops.*.I.*.%`). What a format calls operators, operands, types, ... are patterns of
paths; what is done at a place depends on the value alone.
"""

from __future__ import annotations

import copy
import math
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from tools.mutation import values

Tree = dict[str, Any]
Mutation = Callable[[Random, Tree, Tree], None]
"""Changes the first tree, with pieces of the other; a LookupError, TypeError or ValueError where it cannot."""


class Place(NamedTuple):
    """Where a value stands in a tree."""

    path: str
    holder: Any
    key: Any


def places(tree: Any) -> Iterator[Place]:
    """All places of a tree, outermost first."""
    waiting = deque([("", tree)])
    while waiting:
        path, node = waiting.popleft()
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            here = f"{path}.{key if isinstance(node, dict) else '*'}"
            if isinstance(node[key], dict | list):
                waiting.append((here, node[key]))
            yield Place(here, node, key)


def find(tree: Any, pattern: str) -> list[Place]:
    """The places whose path, from the innermost operator on, matches a pattern."""
    return [place for place in places(tree) if _matches(pattern, place.path)]


@lru_cache(10_000)
def _matches(pattern: str, path: str) -> bool:
    return re.search(pattern, path.rpartition(".ops.*")[2]) is not None


def draw(rng: Random, found: list[Place]) -> Place:
    """One of some places; each path is as likely as another, however many places it has."""
    by_path = defaultdict(list)
    for place in found:
        by_path[place.path].append(place)
    return rng.choice(by_path[rng.choice(list(by_path))])


def alter(rng: Random, tree: Any, other: Any, pattern: str = "") -> None:
    """A value becomes an extreme one, one of another tree or of any type; it goes, or stands there several times."""
    path, holder, key = draw(rng, find(tree, pattern))
    chance = rng.random()
    if chance < 0.6 and not isinstance(holder[key], dict):
        _put(holder, key, values.extreme(rng, holder[key]))
    elif chance < 0.75:
        del holder[key]
    elif chance < 0.85 and isinstance(holder, list):
        holder[key:key] = [copy.deepcopy(holder[key]) for _ in range(rng.choice((1, 1, 1, 10, 1000)))]
    elif chance < 0.95:
        donors = [place for place in places(other) if place.path == path] or list(places(other))
        _, donor, donor_key = rng.choice(donors)
        holder[key] = copy.deepcopy(donor[donor_key])
    else:
        holder[key] = copy.deepcopy(rng.choice(values.OTHERS))


def _put(holder: Any, key: Any, value: Any) -> None:
    """Sets a value; numbers that JSON does not have go where PIR writes them."""
    if key == "D" and isinstance(value, float) and not math.isfinite(value):
        del holder["D"]
        key, value = "VD", "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"
    holder[key] = value


@dataclass(frozen=True)
class Format:
    """What is where in the trees of a format.

    Attributes:
        file: the name of the program's file.
        parse: makes the tree of a file.
        render: makes the file of a tree.
        kind: the key of an operator's type.
        reads: the paths, from an operator on, of what it reads.
        writes: the paths of what it writes.
        dims: the paths of lists of dimensions.
        fresh: makes the name of a value that there is not yet; None if values may be written twice.
        ends: the types of operators that are inputs, results or parameters.
        constants: the types of operators that make constants.
        altered: family -> patterns of the paths where `alter` changes something, as often as each is to be drawn.
        own: family -> mutations of this format alone.
        to_constant: makes an input's operator one of a constant.
    """

    file: str
    parse: Callable[[bytes], Tree]
    render: Callable[[Tree], bytes]
    kind: str
    reads: str
    writes: str
    dims: str
    fresh: Callable[[list[Any]], Any] | None
    ends: tuple[str, ...]
    constants: tuple[str, ...]
    altered: dict[str, tuple[str, ...]]
    own: dict[str, tuple[Mutation, ...]]
    to_constant: Callable[[Random, Tree, Tree], None]

    def families(self) -> dict[str, tuple[Mutation, ...]]:
        """All mutations, by family, as often as they are to be drawn."""
        shared: dict[str, tuple[Mutation, ...]] = {
            "constants": (self.input_to_constant, self.input_to_constant, self.change_constant),
            "operands": (self.retarget, self.retarget),
            "operators": (self.swap_operators, *[self.foreign_operator] * 3, self.repeat_operator),
            "shapes": (self.change_shape,),
            "growth": (self.chain_bomb,),
        }
        at_places = {name: tuple(map(_alteration, patterns)) for name, patterns in self.altered.items()}
        return {
            name: (*shared.get(name, ()), *at_places.get(name, ()), *self.own.get(name, ()))
            for name in {**self.altered, **shared}
        }

    def blocks(self, tree: Tree) -> list[list[Tree]]:
        """The lists of operators."""
        return [place.holder["ops"] for place in places(tree) if place.key == "ops"]

    def computing(self, tree: Tree) -> list[Tree]:
        """The operators that are not inputs, results or parameters."""
        ops = [op for block in self.blocks(tree) for op in block]
        return [op for op in ops if op[self.kind] not in self.ends] or ops

    def written(self, tree: Tree) -> list[Any]:
        """The names of all values that operators write."""
        return [place.holder[place.key] for place in find(tree, self.writes)]

    def renew(self, known: list[Any], op: Tree) -> None:
        """Gives what a copied operator writes names of its own, and adds them to those that are known."""
        if self.fresh is not None:
            for place in find({"ops": [op]}, self.writes):
                known.append(self.fresh(known))
                place.holder[place.key] = known[-1]

    def change_constant(self, rng: Random, tree: Tree, other: Tree) -> None:
        op = rng.choice([op for block in self.blocks(tree) for op in block if op[self.kind] in self.constants])
        alter(rng, {"ops": [op]}, other, self.altered["attributes"][0])

    def input_to_constant(self, rng: Random, tree: Tree, other: Tree) -> None:
        """Inputs become constants, so that what follows is folded."""
        inputs = [op for block in self.blocks(tree) for op in block if op[self.kind] == self.ends[0]]
        for op in inputs if rng.random() < 0.5 else [rng.choice(inputs)]:
            self.to_constant(rng, tree, op)

    def retarget(self, rng: Random, tree: Tree, other: Tree) -> None:
        """An operand becomes another value of the program."""
        _, holder, key = rng.choice(find(tree, self.reads))
        holder[key] = rng.choice(self.written(tree))

    def swap_operators(self, rng: Random, tree: Tree, other: Tree) -> None:
        ops = rng.choice(self.blocks(tree))
        a, b = rng.sample(range(len(ops)), 2)
        ops[a], ops[b] = ops[b], ops[a]

    def repeat_operator(self, rng: Random, tree: Tree, other: Tree) -> None:
        ops = rng.choice(self.blocks(tree))
        again = copy.deepcopy(rng.choice(ops))
        self.renew(self.written(tree), again)
        ops.insert(rng.randint(0, len(ops)), again)

    def foreign_operator(self, rng: Random, tree: Tree, other: Tree) -> None:
        """An operator of another program in place of one or before it, on values of this one; or its type alone."""
        ops = rng.choice(self.blocks(tree))
        place, foreign = rng.randrange(len(ops)), copy.deepcopy(rng.choice(self.computing(other)))
        if rng.random() < 0.3:
            ops[place][self.kind] = foreign[self.kind]
            return
        known, is_replaced = self.written(tree), rng.random() < 0.6
        for _, holder, key in find({"ops": [foreign]}, self.reads):
            holder[key] = rng.choice(known)
        self.renew(known, foreign)
        if is_replaced:
            results = [find({"ops": [op]}, self.writes) for op in (foreign, ops[place])]
            for new, old in zip(*results, strict=False):
                new.holder[new.key] = old.holder[old.key]
        ops[place : place + is_replaced] = [foreign]

    def change_shape(self, rng: Random, tree: Tree, other: Tree) -> None:
        """A shape, and where an input's operator says the same, that too."""
        _, holder, key = rng.choice(
            [place for place in find(tree, self.dims) if isinstance(place.holder[place.key], list)]
        )
        old, new = holder[key], values.shape(rng, holder[key])
        holder[key] = new
        for op in (op for block in self.blocks(tree) for op in block if op[self.kind] == self.ends[0]):
            for place in places(op):
                if place.holder[place.key] == old:
                    place.holder[place.key] = new

    def chain_bomb(self, rng: Random, tree: Tree, other: Tree) -> None:
        """An operator many times, each on the result of the last one; what read it reads the last."""
        ops, place = rng.choice([
            (block, place)
            for block in self.blocks(tree)
            for place, op in enumerate(block)
            if op[self.kind] not in self.ends and self.written({"ops": [op]}) and find({"ops": [op]}, self.reads)
        ])  # fmt: skip
        op, later = ops[place], ops[place + 1 :]
        known = self.written(tree)
        last = first = self.written({"ops": [op]})[0]
        for i in range(rng.choice((3, 10, 40, 150))):
            again = copy.deepcopy(op)
            operands = find({"ops": [again]}, self.reads)
            for item in operands if rng.random() < 0.5 else operands[:1]:
                item.holder[item.key] = last
            self.renew(known, again)
            last = self.written({"ops": [again]})[0]
            ops.insert(place + 1 + i, again)
        for item in find({"ops": later}, self.reads):
            if item.holder[item.key] == first:
                item.holder[item.key] = last


def _alteration(pattern: str) -> Mutation:
    return lambda rng, tree, other: alter(rng, tree, other, pattern)
