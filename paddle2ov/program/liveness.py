"""Liveness analysis: one backward pass over all blocks of a program, before anything is translated.

The inputs of an operator are live if one of its results is. Of an operator that owns blocks, each result makes only its
own part of them live, so that what only an unused result needs is removed:

- `if`: result i needs value i of both blocks, and the condition.
- `while`: result i needs its initial value x[i] and value i of each iteration. So does every argument of the body that
  an iteration reads: a loop carries what its results need, directly or over several iterations.
- `recurrent`: as `while` for the states; a stacked result needs its value of each iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from paddle2ov.program.model import Block, Operator


class Liveness(Struct, frozen=True):
    """What is live in a program.

    Attributes:
        names: the variables that a live operator reads, or that are wanted; of all blocks.
        operators: the `id` of each live operator; of all blocks.
    """

    names: frozenset[str]
    operators: frozenset[int]

    def needs(self, operator: Operator) -> bool:
        """Whether the operator is live."""
        return id(operator) in self.operators

    def prune(self, block: Block) -> Block:
        """A copy of the block without dead operators, in inner blocks as well."""
        kept = [
            replace(operator, blocks=tuple(map(self.prune, operator.blocks))) if operator.blocks else operator
            for operator in block.operators
            if id(operator) in self.operators
        ]
        return Block(block.index, kept, block.inputs, block.outputs)


def liveness(block: Block, wanted: Iterable[str], given: Iterable[str] = ()) -> Liveness:
    """What of a main block and its inner blocks the variables `wanted` need. Visits each variable and operator once.

    Args:
        block: the block.
        wanted: the variables to compute.
        given: variables that are inputs, so that what computes them in the block is not needed.
    """
    writers: dict[str, tuple[Operator, ...]] = {}
    across: dict[str, list[str]] = {}
    _note(block, frozenset(given), writers, across, set())
    pending = list(wanted)
    names: set[str] = set()
    operators: set[int] = set()
    while pending:
        name = pending.pop()
        if name in names or not name:
            continue
        names.add(name)
        for operator in writers.get(name, ()):
            if id(operator) not in operators:
                operators.add(id(operator))
                if operator.blocks:
                    pending += _reads(operator)
                else:
                    for read in operator.inputs.values():
                        pending += read
        if name in across:
            pending += across[name]
    return Liveness(frozenset(names), frozenset(operators))


def prune(block: Block, wanted: Iterable[str], given: Iterable[str] = ()) -> tuple[Block, frozenset[str]]:
    """The block without the operators that `wanted` does not need, and every variable that is read; see `liveness`."""
    live = liveness(block, wanted, given)
    return live.prune(block), live.names


def count_operators(block: Block) -> int:
    """The number of operators of a block and its inner blocks, those of a block that several operators own once."""
    pending, seen, count = [block.operators], set(), 0
    while pending:
        operators = pending.pop()
        if id(operators) not in seen:
            seen.add(id(operators))
            count += len(operators)
            pending += [inner.operators for operator in operators for inner in operator.blocks]
    return count


def count_walked(block: Block) -> int:
    """How many operators `Block.walk` would yield, which visits a shared block once for each of its owners."""
    counts: dict[int, int] = {}

    def count(block: Block) -> int:
        if id(block.operators) not in counts:
            inner = (item for operator in block.operators for item in operator.blocks)
            counts[id(block.operators)] = len(block.operators) + sum(map(count, inner))
        return counts[id(block.operators)]

    return count(block)


def _note(
    block: Block,
    given: frozenset[str],
    writers: dict[str, tuple[Operator, ...]],
    across: dict[str, list[str]],
    noted: set[int],
) -> None:
    """Notes which operators write each variable, and what it needs across the border of a block.

    Several blocks may share their operators, which are `noted` once.
    """
    if id(block.operators) in noted:
        return
    noted.add(id(block.operators))
    for operator in block.operators:
        alone = (operator,)
        for names in operator.outputs.values():
            for name in names:
                if name and name not in given:
                    writers[name] = alone if name not in writers else (*writers[name], operator)
        if operator.blocks:
            for inner in operator.blocks:
                _note(inner, frozenset(), writers, across, noted)
            for name, counterpart in counterparts(operator):
                if name not in given:
                    across.setdefault(name, []).append(counterpart)


def _reads(operator: Operator) -> Iterable[str]:
    """What an operator with blocks needs, whichever of its results is live."""
    if operator.type == "if":
        return operator.inputs.get("cond", ())
    if operator.type == "while":
        return [*operator.inputs.get("cond", ()), *(name for block in operator.blocks for name in block.outputs[:1])]
    if operator.type == "recurrent":
        return operator.inputs.get("x", ())[:1]  # its length is the number of iterations
    return [*operator.input_names(), *(name for block in operator.blocks for name in block.outputs)]


def counterparts(operator: Operator) -> Iterable[tuple[str, str]]:
    """Pairs of a variable and one that it needs on the other side of the border of a block.

    If a malformed program has different numbers on both sides, the translation of the operator reports it.
    """
    results = operator.outputs.get("out", ())
    if operator.type == "if":
        return [pair for block in operator.blocks for pair in zip(results, block.outputs, strict=False)]
    if operator.type == "while":
        before = operator.inputs.get("x", ())
        return [
            pair for block in operator.blocks for pair in _carried(results, before, block.inputs, block.outputs[1:])
        ]
    if operator.type == "recurrent":
        sequences, states = operator.inputs.get("x", ()), operator.inputs.get("states", ())
        return [
            pair
            for block in operator.blocks
            for pair in (
                *zip(block.inputs, sequences, strict=False),
                *_carried(results, states, block.inputs[len(sequences) :], block.outputs),
                *zip(results[len(states) :], block.outputs[len(states) :], strict=False),
            )
        ]
    return ()


def _carried(
    results: Sequence[str], before: Sequence[str], inside: Sequence[str], after: Sequence[str]
) -> Iterable[tuple[str, str]]:
    """What a loop's results and the arguments of its body need: the initial value, and that of the next iteration."""
    for result, entering, argument, leaving in zip(results, before, inside, after, strict=False):
        yield from ((result, entering), (result, leaving), (argument, entering), (argument, leaving))
