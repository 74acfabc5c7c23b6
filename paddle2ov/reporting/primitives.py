"""Maps the operators of the program to the nodes of the compiled graph (primitives)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from openvino import CompiledModel

from paddle2ov.compilation.runtime_info import runtime_info
from paddle2ov.graph.node_kinds import BINARY, UNARY
from paddle2ov.graph.upstream import reached
from paddle2ov.reporting.contents import Primitive, PrimitiveNode, ReportedOperator
from paddle2ov.reporting.origins import Origins, prefixes

_NO_PRIMITIVE = ("Const", "Input", "Output")
_HEAVY = frozenset(
    ("Convolution", "GroupConvolution", "ConvolutionBackpropData", "GroupConvolutionBackpropData", "MatMul")
)
_OWN = (*_NO_PRIMITIVE, "Reorder")
_FUSED = _HEAVY | {*BINARY, *UNARY}
"""Types of nodes that OpenVINO fuses into others, whose names may get lost."""


def primitives_of(compiled: CompiledModel, origins: Origins, times: Mapping[str, float]) -> list[Primitive]:
    """The nodes of the compiled graph in the order of execution, with the operators that they compute.

    `origins` are the nodes of the model before, `times` the microseconds of primitives by their names.
    """
    ordered = compiled.get_runtime_model().get_ordered_ops()
    constant: set[str] = set()
    for node in ordered:
        sources = [value.get_node().get_friendly_name() for value in node.input_values()]
        if runtime_info(node, "layerType") == "Const" or (sources and all(name in constant for name in sources)):
            constant.add(node.get_friendly_name())  # OpenVINO runs such nodes once, as it compiles
    kept = [node for node in ordered if node.get_friendly_name() not in constant]
    kept.sort(key=lambda node: int(runtime_info(node, "execOrder") or 0))
    place = {node.get_friendly_name(): i for i, node in enumerate(kept)}
    primitives: list[Primitive] = []
    located: dict[int, list[int]] = {}  # a node that OpenVINO takes apart is in several
    for i, node in enumerate(kept):
        sources = [value.get_node().get_friendly_name() for value in node.input_values()]
        name = node.get_friendly_name()
        primitive = Primitive(
            i,
            name,
            runtime_info(node, "layerType"),
            runtime_info(node, "primitiveType"),
            runtime_info(node, "runtimePrecision"),
            runtime_info(node, "outputLayouts"),
            times.get(name),
            inputs=sorted({place[source] for source in sources if source in place}),
        )
        primitives.append(primitive)
        if primitive.layer in _NO_PRIMITIVE:
            continue
        for original in origins.split(runtime_info(node, "originalLayersNames")):
            for k in origins.find(original):
                located.setdefault(k, []).append(i)
    inferred = _infer(origins, {k: ids[0] for k, ids in located.items()}, primitives)
    for k, traced in enumerate(origins.nodes):
        for i in dict.fromkeys(located.get(k, [inferred[k]] if k in inferred else [])):
            guessed = k in inferred or traced.guessed
            primitives[i].nodes.append(
                PrimitiveNode(traced.name, traced.type, traced.operator, traced.operators, guessed)
            )
    for primitive in primitives:
        _name_operators(primitive)
    _assign_nameless(primitives)
    return primitives


def _infer(origins: Origins, located: Mapping[int, int], primitives: Sequence[Primitive]) -> dict[int, int]:
    """Infers the primitives of nodes that compute but that none lists: OpenVINO's transformations lose some names.

    A node is in the primitive that all of its readers are in, or in one that this primitive reads and that lists no
    node of the model. At the end of a chain it is in the primitive that all of its sources are in. Nodes that
    neither compute nor are listed are skipped.
    """
    nodes = origins.nodes
    named = set(located.values())
    inferred: dict[int, int] = {}
    readers: list[list[int]] = [[] for _ in nodes]
    for k, node in enumerate(nodes):
        for source in node.sources:
            readers[source].append(k)

    def place_of(k: int) -> int | None:
        return located.get(k, inferred.get(k))

    def is_skipped(k: int) -> bool:
        return place_of(k) is None and not nodes[k].computes

    def primitives_around(k: int, near: Callable[[int], Sequence[int]]) -> set[int | None]:
        around = reached(near(k), lambda nearby: near(nearby) if is_skipped(nearby) else ())
        return {place_of(nearby) for nearby in around if not is_skipped(nearby)}

    lost = [k for k, node in enumerate(nodes) if k not in located and node.varies and node.computes]
    for k in reversed(lost):
        read_in = primitives_around(k, lambda node: readers[node])
        place = read_in.pop() if len(read_in) == 1 else None
        if place is not None:
            nameless = _nameless_input(primitives, place, named)
            inferred[k] = place if nameless is None else nameless
    for k in lost:
        if k in inferred or nodes[k].type not in _FUSED:
            continue
        made_in = primitives_around(k, lambda node: [source for source in nodes[node].sources if nodes[source].varies])
        place = made_in.pop() if len(made_in) == 1 else None
        # Of the heavy ones, only a depthwise convolution is taken into another primitive.
        if place is not None and (
            nodes[k].type not in _HEAVY
            or (nodes[k].type == "GroupConvolution" and primitives[place].layer == "Convolution")
        ):
            inferred[k] = place
    return inferred


def _nameless_input(primitives: Sequence[Primitive], place: int, named: set[int]) -> int | None:
    """An input of a primitive, Reorders skipped, that computes in floating point and lists no node of the model."""
    for source in primitives[place].inputs:
        primitive = primitives[source]
        if primitive.layer == "Reorder":
            source = primitive.inputs[0] if primitive.inputs else source
            primitive = primitives[source]
        if source not in named and primitive.layer not in _OWN and primitive.precision.startswith(("f", "bf")):
            return source
    return None


def _name_operators(primitive: Primitive) -> None:
    named = [node for node in primitive.nodes if any(prefix == node.name for prefix in prefixes(primitive.name))]
    heavy = [node for node in primitive.nodes if node.type in _HEAVY]
    main = next(iter(heavy or named or primitive.nodes), None)
    primitive.operators = sorted({operator for node in primitive.nodes for operator in node.operators})
    if main is None:
        return
    primitive.operator = main.operator
    if primitive.layer == "Subgraph":  # compiled from its nodes; none of them is the main one
        primitive.chain = [node.type for node in primitive.nodes]
    else:
        primitive.chain = [main.type, *(node.type for node in primitive.nodes if node is not main)]


def _assign_nameless(primitives: Sequence[Primitive]) -> None:
    """Assigns primitives that OpenVINO's transformations made, and that list no node of the model, to their readers."""
    for primitive in reversed(primitives):
        for source in primitive.inputs:
            orphan = primitives[source]
            if orphan.operator is None and primitive.operator is not None and orphan.layer not in _OWN:
                orphan.operator, orphan.operators = primitive.operator, [primitive.operator]
    for primitive in primitives:
        if primitive.operator is None and primitive.layer not in _OWN:
            made_by = [primitives[source].operator for source in primitive.inputs]
            primitive.operator = next((operator for operator in made_by if operator is not None), None)
            primitive.operators = [] if primitive.operator is None else [primitive.operator]


def fill_fates(operators: Sequence[ReportedOperator], origins: Origins, primitives: Sequence[Primitive]) -> None:
    """Fills in what became of each operator."""
    nodes: dict[int, list[int]] = {}
    for k, node in enumerate(origins.nodes):
        for operator_id in node.operators:
            nodes.setdefault(operator_id, []).append(k)
    led: dict[int, list[Primitive]] = {}
    inside: dict[int, list[int]] = {}
    for primitive in primitives:
        if primitive.operator is not None:
            led.setdefault(primitive.operator, []).append(primitive)
        for number in primitive.operators:
            inside.setdefault(number, []).append(primitive.id)
    for operator in operators:
        operator.primitives = inside.get(operator.id, [])
        times = [primitive.microseconds for primitive in led.get(operator.id, ()) if primitive.microseconds is not None]
        operator.microseconds = float(np.sum(times)) if times else None
        mine = [origins.nodes[k] for k in nodes.get(operator.id, ())]
        if operator.fate == "unused":
            continue
        if operator.owner is not None:
            operator.fate = "inner"
        elif operator.id in led:
            operator.fate = "primitive"
        elif operator.id in inside:
            operator.fate = "fused"
        elif any(node.varies and node.computes for node in mine):
            operator.fate = "merged"
        elif mine:
            operator.fate = "removed" if any(node.varies for node in mine) else "folded"
        else:
            operator.fate = "converted"
