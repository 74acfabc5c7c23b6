"""Which values of a PIR block may be in the same memory.

What a branch or a loop hands on is not copied: its results are in the memory of what it yields, and the arguments of a
body in that of the first values. Two results that are given the same value are in one memory.

Source: `paddle/fluid/framework/new_executor/instruction/control_flow/` (if_instruction.cc, while_instruction.cc).
"""

from __future__ import annotations

from collections.abc import Collection

from paddle2ov.program.pir_file import Block, results_of, written_operand, yielded


class Memories:
    """Values that may be in the same memory within one run of a block, those of inner blocks included."""

    def __init__(self, block: Block) -> None:
        self._parents: dict[int, int] = {}
        self._join_in(block)

    def of(self, value: int) -> int:
        """The memory of a value: another value stands for it."""
        found = value
        while (parent := self._parents.get(found, found)) != found:
            found = parent
        while (parent := self._parents.get(value, value)) != found:
            self._parents[value], value = found, parent
        return found

    def values(self) -> list[int]:
        """The values that may be in the memory of others."""
        return list(self._parents)

    def _join(self, value: int, other: int) -> None:
        if value and other:
            self._parents.setdefault(other, other)
            self._parents[self.of(value)] = self.of(other)

    def _join_in(self, block: Block) -> None:
        for op in block.ops:
            results, is_loop = results_of(op), op.id.endswith(".while")
            operand = written_operand(op, op.id.rpartition(".")[2])
            if operand is not None:
                for result in results[:1]:
                    self._join(result.id, operand.id)
            for inner in (one for region in op.regions for one in region.blocks):
                self._join_in(inner)
                given = yielded(inner)[1:] if is_loop else yielded(inner)
                for result, one in zip(results, given, strict=False):
                    self._join(result.id, one.id)
                for argument, first in zip(inner.args, op.operands[1:], strict=False):
                    self._join(argument.id, first.id)
            if is_loop:  # which may have no iteration
                for result, first in zip(results, op.operands[1:], strict=False):
                    self._join(result.id, first.id)


def kept_in_place(body: Block, written: Collection[int]) -> dict[int, int]:
    """The arguments of a loop that its body writes in place: argument -> what the next iteration finds in its memory.

    That is the argument itself, unless the body replaces it by another value, which the next iteration takes.

    Args:
        body: the body.
        written: the values that the body writes in place.
    """
    roots: dict[int, int] = {}  # result of an operator that writes in place -> what it was written to
    for op in body.ops:
        operand = written_operand(op, op.id.rpartition(".")[2])
        if operand is not None:
            roots.update({result.id: roots.get(operand.id, operand.id) for result in results_of(op)[:1]})
    pairs = zip(body.args, yielded(body)[1:], strict=False)
    return {argument.id: roots.get(given.id, given.id) for argument, given in pairs if argument.id in written}


__all__ = ["Memories", "kept_in_place"]
