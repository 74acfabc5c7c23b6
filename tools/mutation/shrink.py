"""Makes a finding smaller: what can be taken away while the same comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

from tools.mutation import server
from tools.mutation.formats import FORMATS
from tools.mutation.mutant import Mutant
from tools.mutation.trees import Format, Tree, places
from tools.mutation.trial import Result

_MAX_TRIES = 3000
_LIMITS = {"hang": server.Limits(seconds=3, clock=30)}
"""Waiting for each try as long as for the finding would take hours."""

Test = Callable[[Any], bool]


def shrink(mutant: Mutant, result: Result) -> Mutant:
    """A smaller mutant of which the same comes: the same outcome, in the same bucket."""
    tries, limits = count(), _LIMITS.get(result.outcome, server.Limits())

    def is_same(smaller: Mutant) -> bool:
        if next(tries) >= _MAX_TRIES:
            return False
        attempt = server.read(smaller, limits)
        return (attempt.outcome, attempt.bucket) == (result.outcome, result.bucket)

    for name in list(mutant.options):
        fewer = replace(mutant, options={key: value for key, value in mutant.options.items() if key != name})
        mutant = fewer if is_same(fewer) else mutant
    for name in list(mutant.files):
        without = replace(mutant, files={key: value for key, value in mutant.files.items() if key != name})
        mutant = without if is_same(without) else _shrunk(mutant, name, is_same)
    return mutant


def _shrunk(mutant: Mutant, name: str, is_same: Callable[[Mutant], bool]) -> Mutant:
    """With one of its files made smaller."""

    def with_content(content: bytes) -> Mutant:
        return replace(mutant, files={**mutant.files, name: content})

    content = mutant.files[name]
    format = next((format for format in FORMATS.values() if format.file == name), None)
    if format is not None:
        try:
            known = format.render(format.parse(content))
            if is_same(with_content(known)):
                return with_content(_fewer_items(known, format, lambda item: is_same(with_content(item))))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            pass  # it is no program
    return with_content(fewer(content, lambda item: is_same(with_content(item))))


def _fewer_items(content: bytes, format: Format, is_same: Test) -> bytes:
    """Takes parts out of the lists of a program, outermost first, until nothing can be taken."""

    def lists(tree: Tree) -> list[tuple[Any, Any]]:
        found = [(place.path.count("."), place.holder, place.key) for place in places(tree)]
        ordered = sorted(found, key=lambda item: item[0])
        return [(holder, key) for _, holder, key in ordered if isinstance(holder[key], list)]

    def with_list(position: int, part: list[Any]) -> bytes:
        tree = format.parse(content)
        holder, key = lists(tree)[position]
        holder[key] = part
        return format.render(tree)

    def fits(position: int) -> Test:
        return lambda part: is_same(with_list(position, part))

    before = b""
    while before != content:
        before, position = content, 0
        while position < len(found := lists(format.parse(content))):
            holder, key = found[position]
            content = with_list(position, fewer(holder[key], fits(position)))
            position += 1
    return content


def fewer(content: Any, is_same: Test) -> Any:
    """Leaves parts of bytes or of a list out, large ones first."""
    size = len(content)
    while size >= 1:
        place = 0
        while place < len(content):
            rest = content[:place] + content[place + size :]
            if is_same(rest):
                content = rest
            else:
                place += size
        size //= 2
    return content
