"""The model as rewrites see it: its nodes by type, listed once for all of them."""

from __future__ import annotations

import logging
from collections.abc import Hashable
from typing import TypeAlias

from openvino import Model, Node

from paddle2ov.graph.bodies import bodies_of
from paddle2ov.graph.opaque_values import runtime_zero
from paddle2ov.passes.consumers import readers
from paddle2ov.passes.independence import VARYING, Independence

Counts: TypeAlias = dict[str, int]
"""What a rewrite did: kind -> how often."""
MatchFailures: TypeAlias = dict[str, Counts]
"""Rewrite -> reason why it left a match as it is -> how often."""

log = logging.getLogger("paddle2ov.passes")

_OWNERS = ("If", "Loop", "TensorIterator")


class Graph:
    """A model with its nodes listed by type.

    A rewrite that changes something must call `changed()`, after which the nodes are listed again. If it leaves a match
    as it is, it reports the reason: `match_failed(...)`.
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
        self._by_type: dict[str, list[Node]] = {}
        self._read_only_by: dict[tuple[str, str], bool] = {}
        self._zero: Node | None = None
        self._independences: dict[Hashable, Independence] = {}

    def nodes(self, *kinds: str) -> list[Node]:
        """The nodes of some types, one type after the other, those of a type in topological order."""
        if not self._by_type:
            self._by_type = _listed(self.model)
        if len(kinds) == 1:
            return self._by_type.get(kinds[0], [])
        return [node for kind in kinds for node in self._by_type.get(kind, ())]

    def bodies(self) -> list[Graph]:
        """The bodies of branches and loops."""
        return [
            Graph(body, self.match_failures, is_body=True, is_branch=node.get_type_name() == "If")
            for node in self.nodes(*_OWNERS)
            for body in bodies_of(node)
        ]

    def is_read_only_by(self, node: Node, kind: str) -> bool:
        """Whether only nodes of one type read a node; the first answer is cached until `changed()`."""
        key = node.get_name(), kind
        if key not in self._read_only_by:
            self._read_only_by[key] = all(reader.get_type_name() == kind for reader in readers(node))
        return self._read_only_by[key]

    def is_constant(self, node: Node) -> bool:
        """Whether a node is computed from constants alone; the first answer is cached until `changed()`."""
        return self.independence("Parameter", *VARYING)(node)

    def independence(self, *kinds: str, opaque: tuple[str, ...] = ()) -> Independence:
        """Tells whether a node depends on no node of some types; the answers are cached until `changed()`."""
        key = kinds, opaque
        if key not in self._independences:
            self._independences[key] = Independence(kinds, opaque)
        return self._independences[key]

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

    def changed(self) -> None:
        """Drops what is cached, as the graph has changed."""
        self._by_type = {}
        self._read_only_by = {}
        self._independences = {}

    def match_failed(self, rewrite: str, node: Node, reason: str) -> None:
        """Counts the reason why a rewrite leaves a node as it is, and logs it at the level DEBUG."""
        reasons = self.match_failures.setdefault(rewrite, {})
        reasons[reason] = reasons.get(reason, 0) + 1
        if log.isEnabledFor(logging.DEBUG):
            log.debug("%s leaves %s '%s': %s", rewrite, node.get_type_name(), node.get_friendly_name(), reason)


def _listed(model: Model) -> dict[str, list[Node]]:
    """The nodes by type, without those in bodies.

    One list of all takes as long as three runs of OpenVINO's matcher, which finds some types, in bodies as well.
    """
    found: dict[str, list[Node]] = {}
    for node in model.get_ordered_ops():
        found.setdefault(node.get_type_name(), []).append(node)
    return found
