"""Makes a finding smaller: what can be taken away while the same comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from google.protobuf.message import DecodeError

from tools.mutation import legacy, pir, server
from tools.mutation.mutant import PARAMETERS, PROGRAM, Mutant
from tools.mutation.trial import Result

_MAX_TRIES = 3000
_LIMITS = {"hang": server.Limits(seconds=3, clock=30)}
"""Waiting for each try as long as for the finding would take hours."""

Test = Callable[[bytes], bool]


def shrink(mutant: Mutant, result: Result) -> Mutant:
    """A smaller mutant of which the same comes: the same outcome, in the same bucket."""
    tries = 0
    limits = _LIMITS.get(result.outcome, server.Limits())

    def is_same(one: Mutant) -> bool:
        nonlocal tries
        tries += 1
        if tries > _MAX_TRIES:
            return False
        found = server.alone(lambda _: one, 0, limits).result
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

    content = mutant.files[name]
    of_format = {PROGRAM["pir"]: (pir, _lists_of_pir), PROGRAM["legacy"]: (legacy, _lists_of_legacy)}.get(name)
    if of_format is None:
        return with_content(_fewer_bytes(content, does_same))
    format, lists = of_format
    try:
        content = known if does_same(known := format.known(content)) else content
        return with_content(_fewer_items(content, format, lists, does_same))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, DecodeError):  # it is no program
        return with_content(_fewer_bytes(content, does_same))


def _fewer_items(content: bytes, format: Any, lists: Callable[[Any], list[Any]], is_same: Test) -> bytes:
    """Takes parts out of the lists of a program, large ones first, until nothing can be taken."""
    before = b""
    while before != content:
        before, position = content, 0
        while position < len(lists(format.parse(content))):
            content = _fewer_of_one(content, format, partial(_list_at, lists, position), is_same)
            position += 1
    return content


def _fewer_of_one(content: bytes, format: Any, of: Callable[[Any], Any], is_same: Test) -> bytes:
    """Takes parts out of one list of a program."""
    size = len(of(format.parse(content)))
    while size >= 1:
        place = 0
        while place < len(of(tree := format.parse(content))):
            del of(tree)[place : place + size]
            fewer = format.render(tree)
            if is_same(fewer):
                content = fewer
            else:
                place += size
        size //= 2
    return content


def _list_at(lists: Callable[[Any], list[Any]], position: int, tree: Any) -> Any:
    held = lists(tree)
    return held[position] if position < len(held) else []


def _lists_of_pir(tree: pir.Tree) -> list[list[Any]]:
    """Operators first: the lists of one that is taken away go with it."""
    blocks = [block["ops"] for block in pir.blocks(tree)]
    parts = [op.get(part) for op in pir.operators(tree) for part in ("regions", "A", "I", "O", "OA", "DA", "QA")]
    return [*blocks, *(one for one in parts if isinstance(one, list))]


def _lists_of_legacy(program: Any) -> list[Any]:
    blocks = [held for block in program.blocks for held in (block.ops, block.vars)]
    return [
        program.blocks,
        *blocks,
        *(part for op in legacy.operators(program) for part in (op.attrs, op.inputs, op.outputs)),
    ]


def _fewer_bytes(content: bytes, is_same: Test) -> bytes:
    """Leaves parts of a file out, large ones first."""
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
