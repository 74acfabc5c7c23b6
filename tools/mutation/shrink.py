"""Makes a finding smaller: what can be taken away while the same comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

from tools.mutation import server
from tools.mutation.mutant import PARAMETERS, PROGRAM, Mutant
from tools.mutation.plan import FORMATS
from tools.mutation.structure import Format, Tree, lists_in
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
        attempt = server.alone(lambda _: one, 0, limits).result
        return (attempt.outcome, attempt.bucket) == (result.outcome, result.bucket)

    for option in list(mutant.options):
        fewer = replace(mutant, options={name: item for name, item in mutant.options.items() if name != option})
        mutant = fewer if is_same(fewer) else mutant
    if PARAMETERS in mutant.files:
        without = replace(mutant, files={name: file for name, file in mutant.files.items() if name != PARAMETERS})
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
    format = next((FORMATS[kind] for kind, program in PROGRAM.items() if program == name), None)
    if format is None:
        return with_content(_fewer_bytes(content, does_same))
    try:
        known = format.render(format.parse(content))
        return with_content(_fewer_items(known if does_same(known) else content, format, does_same))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):  # it is no program
        return with_content(_fewer_bytes(content, does_same))


def _fewer_items(content: bytes, format: Format, is_same: Test) -> bytes:
    """Takes parts out of the lists of a program, large ones first, until nothing can be taken."""
    before = b""
    while before != content:
        before, position = content, 0
        while position < len(list(lists_in(format.parse(content)))):
            content = _fewer_of_one(content, format, position, is_same)
            position += 1
    return content


def _fewer_of_one(content: bytes, format: Format, position: int, is_same: Test) -> bytes:
    """Takes parts out of one list of a program."""

    def parsed() -> tuple[Tree, list[Any]]:
        tree = format.parse(content)
        return tree, next(islice(lists_in(tree), position, None), [])

    size = len(parsed()[1])
    while size >= 1:
        place = 0
        while True:
            tree, held = parsed()
            if place >= len(held):
                break
            del held[place : place + size]
            fewer = format.render(tree)
            if is_same(fewer):
                content = fewer
            else:
                place += size
        size //= 2
    return content


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
