"""The model as rewrites see it, with an index of its nodes that all of them share."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TypeAlias

from openvino import Model, Node

from paddle2ov.graph.bodies import bodies_of
from paddle2ov.graph.consumers import Changes
from paddle2ov.graph.opaque_values import runtime_zero
from paddle2ov.passes.index import Index, Where
from paddle2ov.typing import known

Counts: TypeAlias = dict[str, int]
"""What a rewrite did: kind -> how often."""
MatchFailures: TypeAlias = dict[str, Counts]
"""Rewrite -> reason why it left a match as it is -> how often."""

log = logging.getLogger("paddle2ov.passes")

_OWNERS = ("If", "Loop", "TensorIterator")


class Graph:
    """A model with an index of its nodes.

    A rewrite changes the graph by `rewire` and `revalidate` alone, which the index takes in. If it leaves a match as it
    is, it reports the reason: `match_failed(...)`.
    """

    def __init__(
        self,
        model: Model,
        match_failures: MatchFailures | None = None,
        *,
        is_body: bool = False,
        is_branch: bool = False,
    ) -> None:
        self.model = model
        self.is_body = is_body
        """Whether the model is the body of a loop, or a branch."""
        self.is_branch = is_branch
        """Whether the model is a branch, which OpenVINO inlines if the condition of the If is constant."""
        self.match_failures: MatchFailures = {} if match_failures is None else match_failures
        self._index: Index | None = None
        self._changes = Changes()
        self._zero: Node | None = None
        self.watch()

    def watch(self) -> None:
        """Takes note of what this thread changes, from now on, until another graph does."""
        self._changes.listen()

    @property
    def index(self) -> Index:
        """The index of the nodes."""
        changes = self._changes
        if self._index is None:
            self._index = Index(self.model)
        elif changes.rewired or changes.revalidated:
            self._index.update(changes.rewired, changes.revalidated)
        else:
            return self._index
        changes.rewired, changes.revalidated = [], []
        return self._index

    def nodes(self, *kinds: str) -> list[Node]:
        """The nodes of some types, one type after the other, those of a type in topological order."""
        index = self.index
        return [index.nodes[place] for kind in kinds for place in index.of_kind(kind)]

    def candidates(self, where: Where) -> Iterator[Node]:
        """The nodes at which a pattern may match, as the graph is by then; none that are made meanwhile."""
        index = self.index
        places = index.places(where)
        if not places:
            return
        version, count = index.version, len(index.kinds)
        of_kind = {kind: index.of_kind(kind) for kind in where.roots}  # as they are now, whatever order they get
        for place in places:
            yield index.nodes[place]
            if self._changes.rewired or self._changes.revalidated or index.version != version:
                break
        else:
            return
        last = index.kinds[place]
        of_kind[last] = of_kind[last][of_kind[last].index(place) + 1 :]
        for kind in where.roots[where.roots.index(last) :]:
            for root in of_kind[kind]:
                if root < count and root in self.index.nodes and index.fitting(where, (root,)):
                    yield index.nodes[root]

    def bodies(self) -> list[Graph]:
        """The bodies of branches and loops."""
        return [
            Graph(body, self.match_failures, is_body=True, is_branch=node.get_type_name() == "If")
            for node in self.nodes(*_OWNERS)
            for body in bodies_of(node)
        ]

    def is_constant(self, node: Node) -> bool:
        """Whether a node is computed from constants alone; not one that is no part of the model any more."""
        place = self.index.place_of(node)
        return place is not None and self.index.is_constant(place)

    def is_independent(self, node: Node, kinds: frozenset[str], opaque: frozenset[str] = frozenset()) -> bool:
        """Whether a node of the model depends on no node of some types; those of types `opaque` depend on none."""
        return self.index.is_independent(known(self.index.place_of(node)), kinds, opaque)

    def runtime_zero(self, node: Node) -> Node:
        """A 0 that no pass folds (`graph/opaque_values.py`), to hide constants behind; one for the whole model.

        A body has one for each `node`, if possible from what that reads: OpenVINO may push constants into bodies.
        """
        inputs = [parameter.output(0) for parameter in self.model.get_parameters()]
        if self.is_body:
            return runtime_zero([*node.input_values(), *inputs])
        if self._zero is None:
            self._zero = runtime_zero(inputs)
        return self._zero

    def match_failed(self, rewrite: str, node: Node, reason: str) -> None:
        """Counts the reason why a rewrite leaves a node as it is, and logs it at the level DEBUG."""
        reasons = self.match_failures.setdefault(rewrite, {})
        reasons[reason] = reasons.get(reason, 0) + 1
        if log.isEnabledFor(logging.DEBUG):
            log.debug("%s leaves %s '%s': %s", rewrite, node.get_type_name(), node.get_friendly_name(), reason)
