"""Sets of what is known to be the same (union-find)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class UnionFind(Generic[T]):
    """Sets that are joined pair by pair, in time that is almost linear in the number of pairs."""

    def __init__(self) -> None:
        self._parents: dict[T, T] = {}

    def __iter__(self) -> Iterator[T]:
        """What was joined with anything, in the order in which it came."""
        return iter(self._parents)

    def join(self, item: T, other: T) -> None:
        """Joins the sets of two items; that of `other` gives the representative."""
        self._parents.setdefault(other, other)
        self._parents[self.find(item)] = self.find(other)

    def find(self, item: T) -> T:
        """The representative of an item's set: the item itself if it was joined with nothing."""
        root = item
        while (parent := self._parents.get(root, root)) != root:
            root = parent
        while (parent := self._parents.get(item, item)) != root:  # compresses the path
            self._parents[item], item = root, parent
        return root
