"""What stays in floating point whatever it would gain: first convolutions, choices among scores, boxes in pixels."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

from openvino import Model, Node

from paddle2ov.graph.bodies import bodies_of, walk
from paddle2ov.graph.upstream import reached

COMPARISONS = ("Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NotEqual")
"""Types of nodes whose results are steps: rounding what they read gains nothing and exchanges them."""

_SELECTIONS = frozenset(("MatrixNms", "MulticlassNms", "NonMaxSuppression", "NonZero", "SearchSorted", "TopK"))
"""Types of nodes that sort or select: scores of 8 bits tie."""
_UNCOMPUTED = frozenset(("Constant", "Parameter", "Result"))

_MIN_WEIGHTS = 64
"""Products with fewer are part of what computes boxes: the corners, or the mean of the distances to a side."""

_MAX_FIRST = 4
_MAX_FIRST_SHARE = 0.1
"""The largest number, and share, of first convolutions that stay in floating point: see `first_convolutions`."""


def floating_nodes(model: Model) -> list[str]:
    """The names of the nodes that lose by 8 bits, where no layer gains.

    These are what no layer reads, and what stands between layers on both sides of a selection or of a power series.
    NNCF leaves out what leads from a layer to a NonMaxSuppression or TopK, but not what stands beside these in a
    suppression, nor what computes boxes. It quantizes the bodies of branches, but not of loops. Where computed
    constants index a table, as in windowed attention, it raises KeyError unless that Gather is left out.
    """
    nodes = {node.get_name(): node for node in model.get_ordered_ops()}
    sources = {name: [value.get_node().get_name() for value in node.input_values()] for name, node in nodes.items()}
    readers: dict[str, list[str]] = {name: [] for name in nodes}
    varying: set[str] = set()
    layers: set[str] = set()
    seeds: list[str] = []
    floating: set[str] = set()
    for name, node in nodes.items():
        for source in sources[name]:
            readers[source].append(name)
        if node.get_type_name() == "Parameter" or not varying.isdisjoint(sources[name]):
            varying.add(name)
        if _is_layer(node, varying):
            layers.add(name)
        elif node.get_type_name() in _SELECTIONS or _is_power_series(node):
            seeds.append(name)
        elif node.get_type_name() == "Gather" and name not in varying:
            floating.add(name)
    read_by_layers = _reached([source for layer in layers for source in sources[layer]], sources)
    floating |= nodes.keys() - layers - read_by_layers
    floating |= _reached(seeds, sources, layers) | _reached(seeds, readers, layers)
    chosen = (node for name, node in nodes.items() if name in floating)
    return [node.get_friendly_name() for node in chosen if node.get_type_name() not in _UNCOMPUTED]


def first_convolutions(model: Model) -> list[str]:
    """The names of the convolutions that read the picture, or nearly so.

    What they round reaches all that follows, and their few channels gain little in int8 (docs/benchmarks.md).
    """
    convolutions = [
        node.get_friendly_name() for node in model.get_ordered_ops() if "Convolution" in node.get_type_name()
    ]
    return convolutions[: min(_MAX_FIRST, int(_MAX_FIRST_SHARE * len(convolutions)))]


def _reached(seeds: Iterable[str], edges: Mapping[str, list[str]], stops: Collection[str] = ()) -> set[str]:
    """The names that edges lead to from `seeds`, these included, without passing `stops`."""
    return reached(set(seeds).difference(stops), lambda name: set(edges[name]).difference(stops))


def _is_layer(node: Node, varying: Collection[str]) -> bool:
    """Whether a node has enough weights for int8 to gain something, or is a branch that holds such nodes.

    Results of nodes that are not `varying` are constant; in a branch all may be weights.
    """
    kind = node.get_type_name()
    if kind == "If":
        return any(_is_layer(inner, ()) for body in bodies_of(node) for inner in walk(body))
    if "Convolution" in kind:
        weights = [node.input_value(1)]
    elif kind == "MatMul":
        weights = [value for value in node.input_values() if value.get_node().get_name() not in varying]
    else:
        return kind.endswith(("Cell", "Sequence"))
    shapes = (value.get_partial_shape() for value in weights)
    return any(shape.is_dynamic or math.prod(shape.to_shape()) >= _MIN_WEIGHTS for shape in shapes)


def _is_power_series(node: Node) -> bool:
    """Whether this is `(a * x + b) * x`, as in Horner's rule: what paddle2ov computes functions by."""
    if node.get_type_name() != "Multiply":
        return False
    total, x = (value.get_node() for value in node.input_values())
    if total.get_type_name() != "Add":
        return False
    before = total.input_value(0).get_node()
    return before.get_type_name() == "Multiply" and x.get_name() == before.input_value(1).get_node().get_name()
