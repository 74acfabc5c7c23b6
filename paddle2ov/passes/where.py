"""Where a rewrite looks for its pattern, by what the index tells of a node."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import TypeAlias

from msgspec import Struct

from paddle2ov.passes.index import Index

When: TypeAlias = Callable[[Index, int], bool]
"""Whether a pattern may match at the place of a node."""


class Where(Struct, frozen=True):
    """The nodes at which a pattern may match, as far as the index tells: at any others it is not looked for.

    Attributes:
        roots: their types.
        needs: rarer types that every match contains somewhere: without them in the graph, there is none.
        reads: types of which one is among the nodes that they read; any where there are none.
        read_by: types of which one is among the nodes that read them; any where there are none.
        when: what else is true of them.
    """

    roots: tuple[str, ...]
    needs: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    read_by: frozenset[str] = frozenset()
    when: When | None = None

    def may_match_among(self, kinds: Set[str]) -> bool:
        """Whether a pattern may match in a graph with nodes of these types."""
        return kinds >= self.needs and not kinds.isdisjoint(self.roots)
