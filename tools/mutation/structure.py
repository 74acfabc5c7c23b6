"""Mutations of a program as a tree of plain values: what both formats share.

Each takes random numbers, the tree, which it changes, and the tree of another program to take pieces from. Where there
is nothing to change, it raises what Python raises there: a LookupError, a TypeError or a ValueError.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from tools.mutation import extremes

Tree = dict[str, Any]
Mutation = Callable[[Random, Tree, Tree], None]

_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 0.5, 1e300, "", "x", [], {}, [[]], [0], {"#": ""}, {"%": 0}),
    *extremes.INTS,
    *extremes.BEYOND,
)


class Format(ABC):
    """What is where in the trees of a format.

    Attributes:
        kind: the key of an operator's type.
        attributes: the key of its attributes.
        name: the key of an attribute's name.
        input: the type of operators that are inputs.
        ends: the types of operators that are inputs, results or parameters.
    """

    kind: str
    attributes: str
    name: str
    input: str
    ends: tuple[str, ...]

    @abstractmethod
    def parse(self, content: bytes) -> Tree:
        """The tree of a file."""

    @abstractmethod
    def render(self, tree: Tree) -> bytes:
        """The file of a tree."""

    @abstractmethod
    def blocks(self, tree: Tree) -> list[Tree]:
        """All blocks, outermost first; each has a list `ops`."""

    @abstractmethod
    def operands(self, op: Tree) -> list[list[Any]]:
        """The lists of what an operator reads."""

    @abstractmethod
    def results(self, op: Tree) -> list[list[Any]]:
        """The lists of what an operator writes."""

    @abstractmethod
    def values(self, tree: Tree) -> list[Any]:
        """What operators may read, as it stands in `operands`."""

    @abstractmethod
    def odd_values(self, tree: Tree) -> tuple[Any, ...]:
        """What they may not."""

    @abstractmethod
    def renew(self, tree: Tree, op: Tree) -> None:
        """Gives the results of a copied operator names of their own, where each is to be written once."""

    @abstractmethod
    def as_operand(self, result: Any) -> Any:
        """What an operator reads of a result."""

    @abstractmethod
    def types(self, tree: Tree) -> list[Tree]:
        """The types of tensors."""

    @abstractmethod
    def dims(self, kind: Tree) -> list[int]:
        """The dimensions of a type, which may be changed in place."""

    @abstractmethod
    def input_type(self, tree: Tree, op: Tree) -> Tree:
        """The type of an input."""

    @abstractmethod
    def set_dtype(self, rng: Random, kind: Tree) -> None:
        """Changes the element type of a type."""

    @abstractmethod
    def make_extreme(self, rng: Random, attribute: Tree) -> None:
        """Changes the value of an attribute."""

    @abstractmethod
    def make_constant(self, rng: Random, op: Tree, kind: Tree, dims: list[int]) -> None:
        """Makes an input a constant of dimensions."""

    @abstractmethod
    def own_mutations(self) -> dict[str, tuple[Mutation, ...]]:
        """Those of this format alone, by family."""

    def families(self) -> dict[str, tuple[Mutation, ...]]:
        """All mutations, by family, as often as they are to be drawn."""
        shared: dict[str, tuple[Mutation, ...]] = {
            "attributes": (*[self.change_attribute] * 12, self.drop_attribute, self.add_attribute),
            "constants": (self.input_to_constant, self.input_to_constant),
            "operands": (self.retarget, self.retarget, self.change_operands, self.change_results),
            "operators": (
                *(self.drop_operator, self.repeat_operator, self.swap_operators),
                *(self.rename_operator, self.rename_operator, self.foreign_operator, self.foreign_operator),
            ),
            "types": (self.change_dtype, self.change_dtype, self.change_type),
            "shapes": (self.change_shape, self.change_input_shape, self.change_input_shape),
            "blocks": (),
            "any value": (self.change_any,),
            "growth": (self.chain_bomb,),
        }
        own = self.own_mutations()
        return {family: (*mutations, *own.get(family, ())) for family, mutations in shared.items()}

    def operators(self, tree: Tree) -> list[Tree]:
        return [op for block in self.blocks(tree) for op in block["ops"]]

    def computing(self, tree: Tree) -> list[Tree]:
        """The operators that are not inputs, results or parameters."""
        return [op for op in self.operators(tree) if op[self.kind] not in self.ends] or self.operators(tree)

    # Operators

    def drop_operator(self, rng: Random, tree: Tree, other: Tree) -> None:
        ops = rng.choice(self.blocks(tree))["ops"]
        del ops[rng.randrange(len(ops))]

    def repeat_operator(self, rng: Random, tree: Tree, other: Tree) -> None:
        ops = rng.choice(self.blocks(tree))["ops"]
        again = copy.deepcopy(rng.choice(ops))
        if rng.random() < 0.7:
            self.renew(tree, again)
        ops.insert(rng.randint(0, len(ops)), again)

    def swap_operators(self, rng: Random, tree: Tree, other: Tree) -> None:
        ops = rng.choice(self.blocks(tree))["ops"]
        a, b = rng.sample(range(len(ops)), 2)
        ops[a], ops[b] = ops[b], ops[a]

    def rename_operator(self, rng: Random, tree: Tree, other: Tree) -> None:
        """Another operator's type, with the operands and attributes as they are."""
        rng.choice(self.computing(tree))[self.kind] = rng.choice(self.operators(other))[self.kind]

    def foreign_operator(self, rng: Random, tree: Tree, other: Tree) -> None:
        """An operator of another program, in place of one or before it, on values of this one."""
        ops, known = rng.choice(self.blocks(tree))["ops"], self.values(tree)
        op = copy.deepcopy(rng.choice(self.computing(other)))
        for operands in self.operands(op):
            operands[:] = [rng.choice(known) for _ in operands]
        self.renew(tree, op)
        place, is_replaced = rng.randrange(len(ops)), rng.random() < 0.6
        if is_replaced:
            free = [result for results in self.results(ops[place]) for result in results]
            for results in self.results(op):
                results[:] = [free.pop(0) if free else result for result in results]
        ops[place : place + is_replaced] = [op]

    # Operands and results

    def retarget(self, rng: Random, tree: Tree, other: Tree) -> None:
        operands = rng.choice([held for op in self.operators(tree) for held in self.operands(op) if held])
        known = self.values(tree) if rng.random() < 0.75 else self.odd_values(tree)
        operands[rng.randrange(len(operands))] = rng.choice(known)

    def change_operands(self, rng: Random, tree: Tree, other: Tree) -> None:
        operands = rng.choice([held for op in self.operators(tree) for held in self.operands(op)])
        self._change_list(rng, operands, self.values(tree))

    def change_results(self, rng: Random, tree: Tree, other: Tree) -> None:
        results = rng.choice([held for op in self.operators(tree) for held in self.results(op) if held])
        self._change_list(rng, results, results)

    def _change_list(self, rng: Random, held: list[Any], known: list[Any]) -> None:
        draw = rng.random()
        if held and draw < 0.3:
            del held[rng.randrange(len(held))]
        elif held and draw < 0.4:
            held.clear()
        elif len(held) > 1 and draw < 0.6:
            rng.shuffle(held)
        else:
            held += copy.deepcopy(rng.choices(known, k=rng.choice((1, 1, 2, 10, 1000))))

    # Types and shapes

    def change_shape(self, rng: Random, tree: Tree, other: Tree) -> None:
        dims = self.dims(rng.choice(self.types(tree)))
        dims[:] = extremes.shape(rng, dims)

    def change_input_shape(self, rng: Random, tree: Tree, other: Tree) -> None:
        """What is declared of an input, and what its operator says."""
        op = rng.choice([op for op in self.operators(tree) if op[self.kind] == self.input])
        dims = self.dims(self.input_type(tree, op))
        self.declare(op, dims, extremes.shape(rng, dims))

    def declare(self, op: Tree, dims: list[int], shape: list[int]) -> None:
        """Gives an input another shape."""
        dims[:] = shape

    def change_dtype(self, rng: Random, tree: Tree, other: Tree) -> None:
        self.set_dtype(rng, rng.choice(self.types(tree)))

    def change_type(self, rng: Random, tree: Tree, other: Tree) -> None:
        alter(rng, rng.choice(self.types(tree)), rng.choice(self.types(other)))

    # Attributes

    def change_attribute(self, rng: Random, tree: Tree, other: Tree) -> None:
        attributes = rng.choice([attributes for op in self.computing(tree) if (attributes := self.changeable(op))])
        self.make_extreme(rng, rng.choice(attributes))

    def changeable(self, op: Tree) -> list[Tree]:
        """The attributes of an operator that are more than bookkeeping."""
        return [attribute for attribute in op.get(self.attributes, ()) if self.name in attribute]

    def drop_attribute(self, rng: Random, tree: Tree, other: Tree) -> None:
        attributes = rng.choice([op for op in self.computing(tree) if op.get(self.attributes)])[self.attributes]
        if rng.random() < 0.8:
            del attributes[rng.randrange(len(attributes))]
        else:
            attributes.clear()

    def add_attribute(self, rng: Random, tree: Tree, other: Tree) -> None:
        """An attribute of another operator, or one with the name of another."""
        donors = [donor for op in self.operators(other) for donor in op.get(self.attributes, ())]
        attribute, own = copy.deepcopy(rng.choice(donors)), rng.choice(self.computing(tree))
        attributes = own.setdefault(self.attributes, [])
        if attributes and rng.random() < 0.5:
            attribute[self.name] = rng.choice(attributes)[self.name]
        attributes.insert(0, attribute)

    # Constants

    def input_to_constant(self, rng: Random, tree: Tree, other: Tree) -> None:
        """An input becomes a constant, so that what follows is folded."""
        inputs = [op for op in self.operators(tree) if op[self.kind] == self.input]
        for op in inputs if rng.random() < 0.5 else [rng.choice(inputs)]:
            kind = self.input_type(tree, op)
            dims = [abs(size) if abs(size) < 100 else 2 for size in self.dims(kind)]
            if rng.random() < 0.3:
                dims = [size if size in (0, 1, 2, 3, -1) else 2 for size in extremes.shape(rng, dims)][:8]
            self.make_constant(rng, op, kind, dims)

    # Anything

    def change_any(self, rng: Random, tree: Tree, other: Tree) -> None:
        """Any value of the tree becomes another."""
        alter(rng, tree, other)

    # Growth

    def chain_bomb(self, rng: Random, tree: Tree, other: Tree) -> None:
        """An operator many times, each on the result of the last one; what read it reads the last."""
        chosen = [
            (block["ops"], place)
            for block in self.blocks(tree)
            for place, op in enumerate(block["ops"])
            if op[self.kind] not in self.ends and any(self.operands(op)) and any(self.results(op))
        ]
        ops, place = rng.choice(chosen)
        op, later = ops[place], ops[place + 1 :]
        last = first = self.as_operand(next(filter(None, self.results(op)))[0])
        for i in range(rng.choice((3, 10, 40, 150))):
            again = copy.deepcopy(op)
            lists = list(filter(None, self.operands(again)))
            for operands in lists if rng.random() < 0.5 else lists[:1]:
                operands[:] = [last for _ in operands]
            self.renew(tree, again)
            last = self.as_operand(next(filter(None, self.results(again)))[0])
            ops.insert(place + 1 + i, again)
        for operands in (operands for reader in later for operands in self.operands(reader)):
            operands[:] = [last if operand == first else operand for operand in operands]


def alter(rng: Random, tree: Any, other: Any) -> None:
    """Any value in a tree becomes another one, one of another tree, several, or goes."""
    holder, key = rng.choice(list(places(tree)))
    draw = rng.random()
    if draw < 0.15:
        del holder[key]
    elif draw < 0.5:
        donor, place = rng.choice(list(places(other if draw < 0.35 else tree)))
        holder[key] = copy.deepcopy(donor[place])
    elif draw < 0.6 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif draw < 0.65 and isinstance(holder, list):
        holder[key:key] = [holder[key]] * rng.choice((10, 100, 1000))
    else:
        holder[key] = copy.deepcopy(rng.choice(_VALUES))


def places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Each dictionary and list of a tree, with each of its keys."""
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], dict | list):
            yield from places(node[key])


def lists_in(node: Any) -> Iterator[list[Any]]:
    """All lists of a tree, outermost first."""
    waiting = [node]
    while waiting:
        tree = waiting.pop(0)
        if isinstance(tree, list):
            yield tree
        children = tree.values() if isinstance(tree, dict) else tree
        waiting += [child for child in children if isinstance(child, dict | list)]
