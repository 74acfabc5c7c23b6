"""Nodes over constants, which OpenVINO folds wrongly, or computes in one run for all that follow."""

from __future__ import annotations

import math

from openvino import Input, Node, Type

from paddle2ov.graph.consumers import consumers
from paddle2ov.graph.evaluation import evaluate_all
from paddle2ov.graph.node_kinds import CONVOLUTIONS, RECURRENT
from paddle2ov.graph.shapes import static_dims
from paddle2ov.graph.upstream import upstream
from paddle2ov.passes.computed_constants import large_constant
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.index import VARYING, Index
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import at
from paddle2ov.workarounds.remedies import hide

_OTHERS = """
AdaptiveAvgPool AdaptiveMaxPool AvgPool BitwiseAnd BitwiseLeftShift BitwiseNot BitwiseOr BitwiseRightShift BitwiseXor
Bucketize Col2Im CumSum DeformableConvolution DFT Einsum Elu ExtractImagePatches GatherElements GatherND
GroupNormalization HardSigmoid IDFT Inverse IRDFT IsFinite IsInf IsNaN LogSoftmax LRN MaxPool Mod NormalizeL2
PSROIPooling RDFT ReverseSequence ROIAlign ROIPooling Roll SearchSorted Selu SliceScatter SoftSign STFT
"""
_MISFOLDED = ("Abs", "ScatterUpdate")
"""Node types that OpenVINO folds wrongly."""
_SIZED = ("Range",)
"""Node types that OpenVINO folds, where their shape is known."""
_KINDS = CONVOLUTIONS | RECURRENT | frozenset((*_OTHERS.split(), *_MISFOLDED, *_SIZED))
_MAX_WORK = 1 << 27
"""How many elements, and products of matrices, are computed at conversion: a program of a few bytes asks for any."""
_WORK_OF_NODE = 1 << 10
"""What evaluating a node takes at least, in elements."""


def compute(graph: Graph) -> Counts:
    """OpenVINO computes layers over constants in the first run, and lets what reads them overwrite the result.

    So it does with all nodes that it does not fold: the second run reads what an Add wrote in place. Recurrent layers
    over constants do not compile for bfloat16. A ScatterUpdate is folded with the wrong updates if a dimension after
    its axis is 1; an Abs of a computed value is eliminated. A shape from a CumSum of integers does not compile. Nothing
    in float64 is folded, and compiling a polynomial in float64 never ends.

    Given:
        A layer, an indexed gather, or another node that OpenVINO does not fold correctly, all of whose inputs are
        constants, or computed from constants.
    Result:
        A Constant, if the node can be evaluated safely and at once. Any other node (a layer, a node of dynamic shape, a
        gather whose indices are out of range) reads a copy of its data that is made at run time, and is computed by
        each run.
    """
    index, left, sites = graph.index, _MAX_WORK, 0
    wide = _in_float64(index)
    places = [place for place in index.free if place in wide or index.kinds[place] in _KINDS]
    for node in [index.nodes[place] for place in places if _is_computed_anew(graph, place)]:
        if not graph.is_constant(node):
            continue  # each run computes what it reads
        sites += 1
        work = _work(node, left)
        values = evaluate_all(node.outputs(), left, left) if work <= left else [None]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            hide(graph, node.input(0))
            continue
        left -= work
        for output, value in zip(node.outputs(), known, strict=True):
            insert(consumers(output), large_constant(value, output.get_element_type()).output(0), node)
    return {"sites": sites}


def _is_computed_anew(graph: Graph, place: int) -> bool:
    """Whether a node over constants is not folded as it is."""
    node = graph.index.nodes[place]
    kind = node.get_type_name()
    if kind in _SIZED and node.get_element_type() != Type.f64 and static_dims(node) is not None:
        return False
    if kind == "Abs" and node.input_value(0).get_node().get_type_name() == "Constant":
        return False
    if not graph.index.is_constant(place):
        graph.match_failed("constants.compute", node, "it depends on random numbers, a variable, a branch or a loop")
        return False
    if 0 in (static_dims(node) or ()):
        graph.match_failed("constants.compute", node, "it has no elements")
        return False
    return True


def _in_float64(index: Index) -> set[int]:
    """The nodes that compute float64 from constants of float64, through static shapes alone."""
    static, wide = set[int](), set[int]()
    for place in index.free:
        node, sources = index.nodes[place], index.sources[place]
        others = [source for source in sources if index.kinds[source] != "Constant"]
        if index.kinds[place] in (*VARYING, "Result") or not static.issuperset(others):
            continue
        outputs = node.outputs()
        if any(static_dims(output) is None for output in outputs):
            continue
        static.add(place)
        is_wide = any(output.get_element_type() == Type.f64 for output in outputs)
        if is_wide and any(source in wide or _is_wide(index, source) for source in sources):
            wide.add(place)
    return wide


def _is_wide(index: Index, place: int) -> bool:
    return index.kinds[place] == "Constant" and index.nodes[place].get_element_type() == Type.f64


def _work(node: Node, most: int) -> int:
    """How many elements a node and what it is computed from have, for products of matrices how many products.

    It is not counted any further than beyond `most`.
    """
    work = 0
    for item in upstream([node]):
        if item.get_type_name() != "Constant":
            size = sum(math.prod(static_dims(output) or ()) for output in item.outputs())
            depth = (static_dims(item.input_value(0)) or [1])[-1] if item.get_type_name() == "MatMul" else 1
            work += size * depth + _WORK_OF_NODE
        if work > most:
            break
    return work


_DATA = {
    "If": slice(1, None),
    "Loop": slice(2, None),
    "MulticlassNms": slice(2),
    "NonMaxSuppression": slice(2),
    "TensorIterator": slice(None),
}
"""Node type -> the inputs that are not a condition, count or threshold."""
_WITHIN = frozenset(("Parameter", "ReadValue", "RandomUniform"))


@at(*_DATA, when=lambda index, place: index.is_free[place] and index.is_independent(place, _WITHIN))
def computed_once(graph: Graph, node: Node) -> list[Input]:
    """OpenVINO runs loops and branches over constants once, as it compiles, in memory that it overwrites later.

    It crashes if they draw random numbers, and does not compile a suppression over constants.

    Given:
        If, Loop, TensorIterator, MulticlassNms or NonMaxSuppression that depends on no Parameter.
    """
    return node.inputs()[_DATA[node.get_type_name()]]
