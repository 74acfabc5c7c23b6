"""What a local rewrite is: a pattern that finds it, a check that says whether it may fire or why not, the change."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import ClassVar, Generic, TypeVar

from openvino import Node

from paddle2ov.passes.graph import Counts, Graph

Match = TypeVar("Match")
Plan = TypeVar("Plan")


class Refusal(Exception):  # noqa: N818 (it is no error)
    """Why a rule leaves alone what its pattern has found: `raise Refusal("the weight has another reader")`.

    The reason is a constant of the code: reports count by it.
    """


class Rule(ABC, Generic[Match, Plan]):
    """A rewrite of one place after the other; its docstring says `Given` which structure it makes which `Result`.

    A rule is called with a graph, which it changes in place, and returns what it did: kind -> how often. It goes by the
    name of its module.
    """

    roots: ClassVar[Collection[str]]
    """The kinds of nodes at which a pattern is looked for."""
    needs: ClassVar[Collection[str]] = ()
    """Kinds without which there is none, and which are rarer than `roots`: without them nothing else is looked for."""
    counts: ClassVar[tuple[str, ...]]
    """What a rule counts."""

    def __init__(self) -> None:
        self.__name__ = type(self).__module__.rpartition(".")[2]

    @abstractmethod
    def pattern(self, graph: Graph, node: Node) -> Match | None:
        """What has been found at a node; None, as for most nodes, if it is something else."""

    @abstractmethod
    def check(self, graph: Graph, match: Match) -> Plan:
        """What to make of it.

        Raises:
            Refusal: it must stay as it is.
        """

    @abstractmethod
    def rewrite(self, graph: Graph, plan: Plan) -> Counts:
        """Changes the graph; returns what to count."""

    def __call__(self, graph: Graph) -> Counts:
        """Looks for the pattern everywhere, and rewrites what passes the check."""
        done = dict.fromkeys(self.counts, 0)
        if not all(graph.nodes(kind) for kind in self.needs):
            return done
        for node in graph.nodes(*self.roots):
            match = self.pattern(graph, node)
            if match is None:
                continue
            try:
                plan = self.check(graph, match)
            except Refusal as refusal:
                graph.refused(self.__name__, node, str(refusal))
                continue
            for kind, count in self.rewrite(graph, plan).items():
                done[kind] += count
        if any(done.values()):
            graph.changed()
        return done


__all__ = ["Refusal", "Rule"]
