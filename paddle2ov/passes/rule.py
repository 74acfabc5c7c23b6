"""Local rewrites as rules: a pattern that matches, a check that may refuse the match with a reason, the rewrite."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import ClassVar, Generic, TypeVar

from openvino import Node

from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.index import Index
from paddle2ov.passes.where import Where

Match = TypeVar("Match")
"""What `pattern` finds: a node, or a Struct of nodes."""
Plan = TypeVar("Plan")
"""What `check` makes of it for `rewrite`; often the match itself."""


class MatchFailureError(Exception):
    """A match must not be rewritten, for a reason: `raise MatchFailureError("the weight has another reader")`.

    The reason is a string literal: reports count by it.
    """


class Local(ABC):
    """A rewrite that looks at one node after the other.

    It is called with a graph, which it changes in place, and returns what it did: kind -> how often.

    Attributes:
        looks_at: the nodes that it looks at: it need not be called for a graph without any.
        counts: the kinds that it counts.
    """

    __name__: str
    looks_at: Where
    counts: tuple[str, ...]

    @abstractmethod
    def __call__(self, graph: Graph) -> Counts:
        """Changes the graph."""


class Rule(Local, Generic[Match, Plan]):
    """A rewrite of one match after the other; its docstring gives the pattern (`Given`) and the replacement (`Result`).

    Its name is that of its module.
    """

    roots: ClassVar[Collection[str]]
    """The types of the nodes at which the pattern may match."""
    needs: ClassVar[Collection[str]] = ()
    """Rarer node types that every match contains: without them in the graph, no match is looked for."""
    reads: ClassVar[Collection[str]] = ()
    """Node types of which one must be among the nodes that a root reads; if there are any."""
    read_by: ClassVar[Collection[str]] = ()
    """Node types of which one must be among the nodes that read a root; if there are any."""

    def __init__(self) -> None:
        self.__name__ = type(self).__module__.rpartition(".")[2]
        near = frozenset(self.reads), frozenset(self.read_by)
        self.looks_at = Where(tuple(self.roots), frozenset(self.needs), *near, self.may_match)

    def may_match(self, index: Index, place: int) -> bool:
        """Whether the index leaves open that the pattern matches at a root."""
        return True

    @abstractmethod
    def pattern(self, graph: Graph, node: Node) -> Match | None:
        """The match at a node; None, as for most nodes, if there is none."""

    @abstractmethod
    def check(self, graph: Graph, match: Match) -> Plan:
        """What is needed to rewrite a match.

        Raises:
            MatchFailureError: it must stay as it is.
        """

    @abstractmethod
    def rewrite(self, graph: Graph, plan: Plan) -> Counts:
        """Changes the graph; returns what to count."""

    def __call__(self, graph: Graph) -> Counts:
        """Rewrites every match that passes the check."""
        done = dict.fromkeys(self.counts, 0)
        for node in graph.candidates(self.looks_at):
            match = self.pattern(graph, node)
            if match is None:
                continue
            try:
                plan = self.check(graph, match)
            except MatchFailureError as failure:
                graph.match_failed(self.__name__, node, str(failure))
                continue
            for kind, count in self.rewrite(graph, plan).items():
                done[kind] += count
        return done
