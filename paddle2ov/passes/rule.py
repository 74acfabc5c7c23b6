"""Rewrites of one match after the other, at nodes of some types."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from typing import Generic, TypeVar

from msgspec import Struct
from openvino import Node

from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.index import When, Where

Result_co = TypeVar("Result_co", covariant=True)


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


class Visitor(Struct, Generic[Result_co], frozen=True):
    """A function that looks at one node of a graph, and the nodes that it looks at."""

    visit: Callable[[Graph, Node], Result_co]
    where: Where


def at(
    *roots: str,
    needs: Collection[str] = (),
    reads: Collection[str] = (),
    read_by: Collection[str] = (),
    when: When | None = None,
) -> Callable[[Callable[[Graph, Node], Result_co]], Visitor[Result_co]]:
    """Makes a visitor of a function.

    Args:
        roots: the types of the nodes that it looks at.
        needs: rarer types that every match contains: without them in the graph, it looks at none.
        reads: types of which one is among the nodes that each of them reads, if there are any.
        read_by: types of which one is among the nodes that read each of them, if there are any.
        when: what else the index tells of each of them.
    """
    where = Where(roots, frozenset(needs), frozenset(reads), frozenset(read_by), when)
    return lambda visit: Visitor(visit, where)


class Rule:
    """A rewrite that looks at one node after the other.

    It is called with a graph, which it changes in place, and returns what it did: kind -> how often. Its
    docstring is that of its module, which gives the pattern (`Given`) and what is made of it (`Result`).

    Attributes:
        looks_at: the nodes that it looks at: it need not be called for a graph without any.
        counts: the kinds that it counts.
    """

    def __init__(self, visitor: Visitor[Counts | None], *counts: str) -> None:
        self.__name__, self.__doc__ = visitor.visit.__name__, sys.modules[visitor.visit.__module__].__doc__
        self.looks_at, self.counts = visitor.where, counts
        self._visit = visitor.visit

    def __call__(self, graph: Graph) -> Counts:
        """Changes the graph; a match that must stay as it is, is noted with the reason."""
        done = dict.fromkeys(self.counts, 0)
        for node in graph.candidates(self.looks_at):
            try:
                counted = self._visit(graph, node)
            except MatchFailureError as failure:
                graph.match_failed(self.__name__, node, str(failure))
            else:
                for kind, count in (counted or {}).items():
                    done[kind] += count
        return done


def rule(*counts: str) -> Callable[[Visitor[Counts | None]], Rule]:
    """Makes a rule of a visitor, which changes what matches at a node.

    The visitor returns what to count of these kinds; None where nothing matches.
    """
    return lambda visitor: Rule(visitor, *counts)
