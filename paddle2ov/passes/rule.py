"""Rewrites of one match after the other: a finder looks at nodes of some types, a change is made of what it finds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Generic, TypeAlias, TypeVar

from openvino import Node

from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.index import When, Where

Site = TypeVar("Site")
"""What a finder finds and a change is made of: an input, a node, or a Struct of both."""
Find: TypeAlias = Callable[[Graph, Node], Sequence[Site] | None]
"""What there is to change at a node; None, as for most nodes, if the pattern does not match there."""


class MatchFailureError(Exception):
    """A match must stay as it is, for a reason: `raise MatchFailureError("the weight has another reader")`.

    The reason is a string literal: reports count by it.
    """


def require(holds: object, reason: str) -> None:
    """Leaves a match as it is, for a reason, unless something holds.

    Raises:
        MatchFailureError: it does not.
    """
    if not holds:
        raise MatchFailureError(reason)


class Finder(Generic[Site]):
    """Looks for a pattern at nodes of some types.

    Attributes:
        find: the function that looks at a node.
        where: the nodes that it looks at.
    """

    def __init__(self, find: Find[Site], where: Where) -> None:
        self.find, self.where = find, where
        self.__doc__ = find.__doc__

    def sites(self, graph: Graph, rewrite: str) -> Iterator[Site]:
        """What is found, at one node after the other, as the graph is by then; a rewrite's match failures are noted."""
        for node in graph.candidates(self.where):
            try:
                found = self.find(graph, node)
            except MatchFailureError as failure:
                graph.match_failed(rewrite, node, str(failure))
            else:
                yield from found or ()


def at(
    *roots: str,
    needs: Collection[str] = (),
    reads: Collection[str] = (),
    read_by: Collection[str] = (),
    when: When | None = None,
) -> Callable[[Find[Site]], Finder[Site]]:
    """Makes a finder of a function.

    Args:
        roots: the types of the nodes that it looks at.
        needs: rarer types that every match contains: without them in the graph, it looks at none.
        reads: types of which one is among the nodes that each of them reads, if there are any.
        read_by: types of which one is among the nodes that read each of them, if there are any.
        when: what else the index tells of each of them.
    """
    where = Where(roots, frozenset(needs), frozenset(reads), frozenset(read_by), when)
    return lambda find: Finder(find, where)


class Rule(Generic[Site]):
    """A rewrite that changes what a finder finds.

    It is called with a graph, which it changes in place, and returns what it did: kind -> how often. It has the name
    and the docstring of its module, which gives the pattern (`Given`) and what is made of it (`Result`).

    Attributes:
        looks_at: the nodes that it looks at: it need not be called for a graph without any.
        counts: the kinds that it counts.
    """

    def __init__(self, finder: Finder[Site], change: Callable[[Graph, Site], Counts | None], *counts: str) -> None:
        """A change returns what to count of it; None counts one of the only kind."""
        module = finder.find.__module__
        self.__name__, self.__doc__ = module.rpartition(".")[2], sys.modules[module].__doc__
        self.looks_at, self.counts = finder.where, counts
        self._finder, self._change = finder, change

    def __call__(self, graph: Graph) -> Counts:
        done = dict.fromkeys(self.counts, 0)
        for site in self._finder.sites(graph, self.__name__):
            counted = self._change(graph, site)
            for kind, count in ({self.counts[0]: 1} if counted is None else counted).items():
                done[kind] += count
        return done
