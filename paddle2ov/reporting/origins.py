"""Which Paddle operator a node of the converted model comes from.

The conversion notes for each node's name which operators it comes from (`ConversionReport.origins`, see
`graph/provenance.py`). Names are unique, and survive OpenVINO's own transformations, `save_model` and `read_model`, so
that a model that was read back is traced likewise. A node that was added later (built-in preprocessing, quantization)
belongs to the operator whose node or result its name begins with, up to a "/"; or else, which is a guess, to those that
read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from openvino import Model, Node

from paddle2ov.graph.constants import constant_of
from paddle2ov.graph.node_kinds import NEUTRAL

_STRUCTURE = frozenset(("Constant", "Parameter", "Result"))
_MOVES = frozenset(("Reshape", "Squeeze", "Unsqueeze", "Transpose", "Convert", "ConvertLike", "Broadcast", "Tile"))


@dataclass(slots=True)
class TracedNode:
    """A node of the converted model.

    Attributes:
        name: its friendly name.
        type: its OpenVINO type.
        operators: the operators that it comes from, the one that matters most first.
        sources: the nodes that it reads, by position among all traced nodes; constants and inputs are not traced.
        varies: whether its value depends on the model's inputs, beyond shapes that are known.
        computes: whether it computes numbers: it does more than move data or add 0, and its result is not an integer.
        guessed: whether its operators were taken from its readers, not from its name.
    """

    name: str
    type: str
    operators: tuple[int, ...]
    sources: tuple[int, ...]
    varies: bool
    computes: bool
    guessed: bool = False

    @property
    def operator(self) -> int | None:
        """The operator that matters most, or None."""
        return self.operators[0] if self.operators else None


@dataclass(slots=True)
class Origins:
    """The nodes of a model, in topological order, and the operators that they come from."""

    nodes: list[TracedNode] = field(default_factory=list)
    _by_name: dict[str, list[int]] = field(default_factory=dict)

    def find(self, name: str) -> list[int]:
        """The nodes of a name or, as OpenVINO's transformations append to names, of its longest prefix before a "/"."""
        for prefix in prefixes(name):
            if prefix in self._by_name:
                return self._by_name[prefix]
        return []

    def split(self, names: str) -> list[str]:
        """Splits a list of names at its commas, except those that are part of a name."""
        pieces = names.split(",")
        joined = []
        while pieces:
            most = next((n for n in range(len(pieces), 1, -1) if ",".join(pieces[:n]) in self._by_name), 1)
            joined.append(",".join(pieces[:most]))
            del pieces[:most]
        return [name for name in joined if name]


def prefixes(name: str) -> Iterator[str]:
    """A name, and its prefixes before each "/", the longest first."""
    yield name
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


def trace(model: Model, writers: Mapping[str, int], noted: Mapping[str, tuple[int, ...]] | None = None) -> Origins:
    """Finds out which operator each node of a converted model comes from; it may be read back from its IR.

    `writers`: variable of the program -> the operator that writes it; `noted`: name of a node -> the operators that it
    comes from, as the conversion noted.
    """
    known = {name: (operator,) for name, operator in writers.items()} | dict(noted or {})
    ordered: list[Node] = [node for node in model.get_ordered_ops() if node.get_type_name() not in _STRUCTURE]
    place = {node.get_name(): i for i, node in enumerate(ordered)}
    origins = Origins()
    varying = {node.get_name() for node in model.get_parameters()}
    readers: list[list[int]] = [[] for _ in ordered]
    for i, node in enumerate(ordered):
        inputs = [value.get_node() for value in node.input_values()]
        sources = tuple(place[source.get_name()] for source in inputs if source.get_name() in place)
        for source in sources:
            readers[source].append(i)
        varies = any(source.get_name() in varying for source in inputs) or not inputs
        if node.get_type_name() == "ShapeOf" and node.get_input_partial_shape(0).is_static:
            varies = False
        if varies:
            varying.add(node.get_name())
        name = node.get_friendly_name()
        operators = next((known[prefix] for prefix in prefixes(name) if prefix in known), ())
        origins.nodes.append(TracedNode(name, node.get_type_name(), operators, sources, varies, _computes(node)))
        origins._by_name.setdefault(name, []).append(i)
    for i in reversed(range(len(ordered))):
        if origins.nodes[i].operator is None:
            read_by = [reader_id for k in readers[i] if (reader_id := origins.nodes[k].operator) is not None]
            origins.nodes[i].operators, origins.nodes[i].guessed = tuple(sorted(read_by)[:1]), True
    for traced in origins.nodes:  # what is left is read by results only
        if traced.operator is None:
            made_by = [origins.nodes[k].operator for k in traced.sources]
            traced.operators = next(((operator,) for operator in made_by if operator is not None), ())
    return origins


def _computes(node: Node) -> bool:
    kind = node.get_type_name()
    if kind in _MOVES or not node.get_output_element_type(0).is_real():
        return False
    if kind not in NEUTRAL:
        return True
    for i in (0, 1):
        array = constant_of(node.input_value(i))
        if array is not None and array.size and (i == 1 or kind in ("Add", "Multiply")):
            return not bool(np.all(array == NEUTRAL[kind]))
    return True
