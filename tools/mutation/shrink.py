"""Makes a finding smaller: what can be taken away while the same comes of it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any

from tools.mutation import legacy, pir, server
from tools.mutation.mutant import PARAMETERS, PROGRAM, Mutant
from tools.mutation.trial import Result

_MOST_TRIES = 1500


def shrink(mutant: Mutant, result: Result) -> Mutant:
    """A smaller mutant of which the same comes: the same outcome, in the same bucket."""
    tries = 0

    def is_same(one: Mutant) -> bool:
        nonlocal tries
        tries += 1
        if tries > _MOST_TRIES:
            return False
        found = server.alone(lambda _: one, 0).result
        return (found.outcome, found.bucket) == (result.outcome, result.bucket)

    for option in list(mutant.options):
        fewer = replace(mutant, options={name: one for name, one in mutant.options.items() if name != option})
        mutant = fewer if is_same(fewer) else mutant
    if PARAMETERS in mutant.files:
        without = replace(mutant, files={name: one for name, one in mutant.files.items() if name != PARAMETERS})
        mutant = without if is_same(without) else mutant
    for name in list(mutant.files):
        mutant = _shrunk(mutant, name, is_same)
    return mutant


def _shrunk(mutant: Mutant, name: str, is_same: Callable[[Mutant], bool]) -> Mutant:
    """With one of its files made smaller."""

    def with_content(content: bytes) -> Mutant:
        return replace(mutant, files={**mutant.files, name: content})

    def does_same(content: bytes) -> bool:
        return is_same(with_content(content))

    smaller = {PROGRAM["pir"]: _smaller_tree, PROGRAM["legacy"]: _smaller_program}.get(name)
    content = mutant.files[name]
    return with_content(
        _fewer_bytes(content, does_same) if smaller is None else _while_smaller(content, smaller, does_same)
    )


def _while_smaller(
    content: bytes, smaller: Callable[[bytes], Iterator[bytes]], is_same: Callable[[bytes], bool]
) -> bytes:
    """Takes the first smaller one that does the same, and begins again."""
    is_changing = True
    while is_changing:
        is_changing = False
        for one in smaller(content):
            if len(one) < len(content) and is_same(one):
                content, is_changing = one, True
                break
    return content


def _fewer_bytes(content: bytes, is_same: Callable[[bytes], bool]) -> bytes:
    """Delta debugging: parts are left out, large ones first."""
    size = max(len(content) // 2, 1)
    while size >= 1 and content:
        place = 0
        while place < len(content):
            fewer = content[:place] + content[place + size :]
            if is_same(fewer):
                content = fewer
            else:
                place += size
        size //= 2
    return content


def _smaller_tree(content: bytes) -> Iterator[bytes]:
    """PIR programs with less in them; bytes that are no JSON are cut."""
    try:
        tree = pir.parse(content)
        blocks = list(pir.blocks(tree))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return
    for block in range(len(blocks)):
        yield from _without(tree, partial(_operators_of, block=block))
    for op, found in enumerate(pir.operators(tree)):
        for part in ("A", "I", "O", "regions", "OA", "DA", "QA"):
            if isinstance(found.get(part), list):
                yield from _without(tree, partial(_part_of, op=op, part=part))


def _operators_of(tree: pir.Tree, block: int) -> list[Any]:
    found: list[Any] = list(pir.blocks(tree))[block]["ops"]
    return found


def _part_of(tree: pir.Tree, op: int, part: str) -> list[Any]:
    found: list[Any] = pir.operators(tree)[op][part]
    return found


def _without(tree: Any, of: Callable[[Any], list[Any]]) -> Iterator[bytes]:
    """Trees without a part of a list: the half of it, ..., one."""
    count = len(of(tree))
    size = count
    while size >= 1:
        for place in range(0, count, size):
            fewer = copy.deepcopy(tree)
            del of(fewer)[place : place + size]
            yield pir.render(fewer)
        size //= 2


def _smaller_program(content: bytes) -> Iterator[bytes]:
    """Legacy programs with less in them."""
    try:
        program = legacy.parse(content)
    except Exception:  # of protobuf: bytes that are none
        return

    def without(of: Callable[[Any], Any]) -> Iterator[bytes]:
        count = len(of(program))
        size = count
        while size >= 1:
            for place in range(0, count, size):
                fewer = type(program)()
                fewer.CopyFrom(program)
                del of(fewer)[place : place + size]
                yield legacy.render(fewer)
            size //= 2

    yield from without(attrgetter("blocks"))
    for index, block in enumerate(program.blocks):
        for part in ("ops", "vars"):
            yield from without(partial(_in_block, index=index, part=part))
        for op in range(len(block.ops)):
            for part in ("attrs", "inputs", "outputs"):
                yield from without(partial(_in_operator, index=index, op=op, part=part))


def _in_block(program: Any, index: int, part: str) -> Any:
    return getattr(program.blocks[index], part)


def _in_operator(program: Any, index: int, op: int, part: str) -> Any:
    return getattr(program.blocks[index].ops[op], part)
