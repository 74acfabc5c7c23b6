"""In whose memory the values of a PIR program are: operators that write in place, what branches and loops hand on.

What a branch or a loop hands on is not copied: its results are in the memory of what it yields, and the arguments of a
body in that of the first values. Two results that are given the same value are in one memory.

Source: `paddle/fluid/framework/new_executor/instruction/control_flow/` (if_instruction.cc, while_instruction.cc).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from paddle2ov.program.inplace_writes import InPlaceWrites
from paddle2ov.program.pir_file import Argument, Block, Op, Region, Value, results_of, yielded
from paddle2ov.program.union_find import UnionFind

# Their result is a new one, or the operand itself unchanged.
_NOT_WRITTEN = frozenset(("batch_norm_", "sync_batch_norm_", "share_data_"))
# They write in place although their name does not say so.
_WRITTEN = frozenset(("array_pop",))


def written_operand(name: str, operands: int) -> int | None:
    """The position of the operand whose memory an in-place operator writes its first result to, or None."""
    if not (name.endswith("_") or name in _WRITTEN) or name in _NOT_WRITTEN or not operands:
        return None
    return 1 if name == "assign_out_" and operands > 1 else 0


def _written(op: Op) -> Value | None:
    position = written_operand(op.id.rpartition(".")[2], len(op.operands))
    return None if position is None else op.operands[position]


def _join_in(block: Block, memories: UnionFind[int]) -> None:
    """Joins values that may be in the same memory within one run of a block, those of inner blocks included."""
    for op in block.ops:
        results, is_loop = results_of(op), op.id.endswith(".while")
        pairs: list[tuple[Value | Argument, Value]] = []
        operand = _written(op)
        if operand is not None:
            pairs += [(result, operand) for result in results[:1]]
        for inner in (block for region in op.regions for block in region.blocks):
            _join_in(inner, memories)
            yields = yielded(inner)[1:] if is_loop else yielded(inner)
            pairs += zip(results, yields, strict=False)
            pairs += zip(inner.args, op.operands[1:], strict=False)
        if is_loop:  # which may have no iteration
            pairs += zip(results, op.operands[1:], strict=False)
        for value, other in pairs:
            if value.id and other.id:
                memories.join(value.id, other.id)


def _kept_in_place(body: Block, written: Collection[int]) -> dict[int, int]:
    """The arguments of a loop that its body writes in place: argument -> what the next iteration finds in its memory.

    That is the argument itself, unless the body replaces it by another value, which the next iteration takes.
    """
    roots: dict[int, int] = {}  # result of an operator that writes in place -> what it was written to
    for op in body.ops:
        operand = _written(op)
        if operand is not None:
            roots.update({result.id: roots.get(operand.id, operand.id) for result in results_of(op)[:1]})
    pairs = zip(body.args, yielded(body)[1:], strict=False)
    return {argument.id: roots.get(after.id, after.id) for argument, after in pairs if argument.id in written}


class LoopArguments(Struct, frozen=True):
    """What is known of the arguments of a loop.

    `in_place`: those that the body writes, and that stay in the memory of their first value -> its variables.
    `shared`: groups of arguments, and of values outside, that may be in one memory when an iteration begins.
    """

    in_place: Mapping[int, list[str]]
    shared: Sequence[Sequence[int]]


class ProgramMemory:
    """In whose memory the values of a program are, and what was written there, as far as the program was read.

    Args:
        names: value -> its variables, the table of the reader. Values that are known to be in one memory get the same.
        program: the regions of the program.
    """

    def __init__(self, names: dict[int, list[str]], program: list[Region]) -> None:
        self.writes = InPlaceWrites()
        self._names = names
        self._program = program
        self._written: dict[int, dict[int, None]] = {}  # regions (by id) -> the values that are written inside

    def overwrite(self, operand: Value, result: Value) -> None:
        """Notes that an operator wrote its result into the memory of an operand: later uses see the result."""
        sources, results = self._names.get(operand.id, []), self._names[result.id]
        if len(sources) == len(results):
            self.writes.write(sources, results)
            self._names[result.id] = sources

    def written_in(self, regions: list[Region]) -> list[str]:
        """The variables from outside that regions write in place."""
        written = dict.fromkeys(name for value in self._values_written(regions) for name in self._names.get(value, ()))
        return [name for name in written if name]

    def enter_loop(self, op: Op) -> LoopArguments:
        """What is known of the arguments of a loop.

        An argument that the body writes, and replaces by something else afterwards, is in the memory of its first value
        in the first iteration only: both are clobbered.
        """
        (body,) = op.regions[0].blocks if len(op.regions) == 1 and len(op.regions[0].blocks) == 1 else (None,)
        if body is None:
            return LoopArguments({}, [])
        kept, in_place = _kept_in_place(body, self._values_written(op.regions)), {}
        for argument, first in zip(body.args, op.operands[1:], strict=False):
            names = self._names.get(first.id, [])
            if argument.id not in kept or not names:
                continue
            if kept[argument.id] == argument.id:
                in_place[argument.id] = names
            else:
                self.writes.clobber(names)
                self.writes.clobber(self._names.get(kept[argument.id], ()))
        return LoopArguments(in_place, self._shared_arguments(op, body))

    def begin_iteration(self, loop: LoopArguments) -> None:
        """Notes where the arguments of a body are, once they have variables."""
        for argument, outside in loop.in_place.items():
            names = self._names.get(argument, [])
            if len(outside) == len(names):
                self.writes.write(outside, names)
                self._names[argument] = outside
        for values in loop.shared:
            self._may_alias(values)

    def share_results(self, op: Op, loop: LoopArguments | None) -> None:
        """Notes in whose memory the results of a branch (`loop` is None) or a loop may be."""
        results = results_of(op)
        blocks = [block for region in op.regions for block in region.blocks]
        if loop is not None:
            for result, argument in zip(results, blocks[0].args if blocks else (), strict=False):
                if argument.id in loop.in_place:
                    base = loop.in_place[argument.id]
                    self.writes.write(base, self._names[result.id])
                    self._names[result.id] = base
        sources = [yielded(block) if loop is None else yielded(block)[1:] for block in blocks]
        if loop is not None:
            sources.append(op.operands[1:])
        elif len(blocks) > 1:
            self._join_results(results, sources)
        for source in sources:
            same: dict[tuple[str, ...], list[int]] = {}
            for result, item in zip(results, source, strict=False):
                names = tuple(self._names.get(item.id, ()))
                same.setdefault(names, [item.id]).append(result.id)
            for values in same.values():
                self._may_alias(values)

    def _join_results(self, results: list[Value], sources: list[list[Value]]) -> None:
        """Results that every branch gives the same value are one variable, and those of one outer value are that."""
        joined: dict[tuple[tuple[str, ...], ...], list[str]] = {}
        for result, *branch_values in zip(results, *sources, strict=False):
            names = [self._names.get(item.id, []) for item in branch_values]
            if all(names):
                known = names[0] if all(name == names[0] for name in names) else self._names[result.id]
                self._names[result.id] = joined.setdefault(tuple(map(tuple, names)), known)

    def _shared_arguments(self, op: Op, body: Block) -> list[list[int]]:
        """In the first iteration those of one first value; later those that the iteration before gave one value."""
        if not self._values_written(self._program):
            return []
        memories = UnionFind[int]()
        _join_in(body, memories)
        groups: dict[tuple[str, object], list[int]] = {}
        for argument, first, after in zip(body.args, op.operands[1:], yielded(body)[1:], strict=False):
            groups.setdefault(("first", tuple(self._names.get(first.id, ()))), [first.id]).append(argument.id)
            groups.setdefault(("given", memories.find(after.id)), []).append(argument.id)
        for value in memories:
            if value in self._names:
                groups.setdefault(("given", memories.find(value)), []).append(value)
        return [values for values in groups.values() if len(values) > 1]

    def _may_alias(self, values: Sequence[int]) -> None:
        self.writes.may_alias(*(self._names.get(value, ()) for value in values))

    def _values_written(self, regions: list[Region]) -> dict[int, None]:
        written = self._written.get(id(regions))
        if written is None:
            written = self._written[id(regions)] = {}
            for op in (op for region in regions for inner in region.blocks for op in inner.ops):
                operand = _written(op)
                if operand is not None:
                    written[operand.id] = None
                if op.regions:
                    inside = self._values_written(op.regions)
                    written.update(inside)
                    if op.id.endswith(".while"):
                        written.update(dict.fromkeys(_first_values_written(op, inside)))
        return written


def _first_values_written(loop: Op, written: Collection[int]) -> Iterator[int]:
    """The first values of a loop in whose memory its body writes."""
    for body in (block for region in loop.regions for block in region.blocks):
        kept = _kept_in_place(body, written)
        for argument, first in zip(body.args, loop.operands[1:], strict=False):
            if kept.get(argument.id) == argument.id:
                yield first.id
