"""Tracks in-place writes while a PIR program is read: what the memory of each variable holds.

Every write makes a version: a variable of its own. Later uses of the variable, under any name that is known to be of
the same memory, mean the last version. A result of a branch or a loop may be in the memory of one variable or of
another, which is known only at run time: a write to it clobbers the other variable, and reading that is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from paddle2ov.errors import ModelReadError


class InPlaceWrites:
    """The last version of each variable that was written in place.

    Attributes:
        any: whether there may be anything but first versions; `current` need not be asked before.
    """

    def __init__(self) -> None:
        self.any = False
        self._last: dict[str, str] = {}
        self._journal: list[tuple[str, str | None]] = []  # what `_last` held before each change
        self._groups: dict[str, list[set[str]]] = {}  # variable -> groups that may be in one memory, which it is in
        self._clobbered: set[str] = set()

    def current(self, names: list[str]) -> list[str]:
        """The variables that hold what these hold now.

        Raises:
            ModelReadError: one of them may have been written through another one.
        """
        for name in names:
            if name in self._clobbered:
                raise ModelReadError(
                    f"'{name}' is read after another variable was written that may be in the same memory, as a branch "
                    "or a loop gives it; let the program copy it before (`paddle.assign`)"
                )
        return [self._last.get(name, name) for name in names]

    def write(self, names: Sequence[str], versions: Sequence[str]) -> None:
        """Notes that variables were written: `versions` hold what their memory holds now."""
        self.any = True
        for name, version in zip(names, versions, strict=True):
            self._journal.append((name, self._last.get(name)))
            self._last[name] = version
            for group in self._groups.pop(name, ()):
                group.discard(name)
                self._clobbered |= group
                group.clear()

    def may_alias(self, *values: Sequence[str]) -> None:
        """Notes that values may be in the same memory: their first variables, their second ones and so on."""
        for names in zip(*values, strict=False):
            group = set(filter(None, names))
            if len(group) > 1:
                for name in group:
                    self._groups.setdefault(name, []).append(group)

    def clobber(self, names: Iterable[str]) -> None:
        """Marks variables as clobbered: what they hold is not known, and reading them from here on is an error."""
        self.any = True
        self._clobbered.update(filter(None, names))

    def mark(self) -> int:
        """The present state, for `roll_back`."""
        return len(self._journal)

    def roll_back(self, mark: int) -> None:
        """Forgets the versions since a mark: of a block, only what it yields is visible outside.

        What was clobbered stays so, as the block may have run.
        """
        while len(self._journal) > mark:
            name, before = self._journal.pop()
            if before is None:
                del self._last[name]
            else:
                self._last[name] = before
