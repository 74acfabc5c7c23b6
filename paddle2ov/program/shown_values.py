"""Which variables show their type or rank in what a program computes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Set
from functools import cached_property

from paddle2ov.program.liveness import counterparts
from paddle2ov.program.model import Operator, Program


class ShownValues:
    """Tells of each variable whether a result, or an operator that reads it, shows its type or rank.

    Branches and loops hand variables on. Each question is answered for all variables at once, in one pass.

    Args:
        program: the program.
        used: the variables that anything reads, in all blocks.
    """

    def __init__(self, program: Program, used: Set[str]) -> None:
        self._program = program
        self._used = used
        self._ranks: dict[int, set[str]] = {}

    def type_of(self, name: str) -> bool:
        """Whether anything but a cast reads a variable."""
        return name in self._of_types

    def rank_of(self, name: str, rank: int) -> bool:
        """Whether anything shows that a variable is a number in Paddle, and here a tensor of one element and some rank.

        A slice is refused of a number; where it is broadcast to a tensor of that rank, the results are the same.
        """
        if rank not in self._ranks:
            self._ranks[rank] = self._shown(lambda operator, port: self._shows_rank(operator, port, rank))
        return name in self._ranks[rank]

    @cached_property
    def _of_types(self) -> set[str]:
        return self._shown(lambda operator, port: operator.type != "cast")

    def _shows_rank(self, operator: Operator, port: str, rank: int) -> bool:
        if operator.type in ("slice", "strided_slice") and operator.attributes.get("axes"):
            return False
        if not operator.type.startswith("elementwise_") or operator.attributes.get("axis", -1) != -1:
            return True
        others = operator.inputs.get({"x": "y", "y": "x"}.get(port, ""), ())
        declared = self._program.variables.get(others[0]) if others else None
        return declared is None or declared.shape is None or len(declared.shape) < rank

    def _shown(self, shows: Callable[[Operator, str], bool]) -> set[str]:
        """The variables that are results, or that an operator reads that shows them, by the port at which it does."""
        pending = [output.variable for output in self._program.outputs]
        for operator in self._operators:
            for port, names in operator.inputs.items():
                if (port == "cond") if operator.type == "while" else shows(operator, port):
                    pending += names
        shown: set[str] = set()
        while pending:
            name = pending.pop()
            if name not in shown:
                shown.add(name)
                pending += self._sources.get(name, ())
        return shown

    @cached_property
    def _operators(self) -> list[Operator]:
        """The operators of all blocks with a result that anything reads."""
        return [item for item in self._program.block.walk() if not self._used.isdisjoint(item.output_names())]

    @cached_property
    def _sources(self) -> dict[str, list[str]]:
        """Variable -> those that a branch or a loop hands on to it."""
        sources: defaultdict[str, list[str]] = defaultdict(list)
        for operator in self._operators:
            if operator.type in ("if", "while"):
                for name, source in counterparts(operator):
                    sources[name].append(source)
        return sources
