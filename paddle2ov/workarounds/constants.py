"""Nodes over constants, which OpenVINO folds wrongly, or computes in one run for all that follow.

The work of computing them here is bounded: a program of a few bytes could ask for any amount.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

import numpy as np
from openvino import Input, Node, Output, Tensor, Type
from openvino.op import Constant

from paddle2ov.errors import RewriteError
from paddle2ov.graph.consumers import consumers
from paddle2ov.graph.evaluation import evaluate, evaluate_all, is_safe
from paddle2ov.graph.shapes import static_dims
from paddle2ov.graph.upstream import upstream
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.index import VARYING, Index
from paddle2ov.workarounds.constants_apart import DATA_MOVEMENT, compute_apart
from paddle2ov.workarounds.remedies import hide
from paddle2ov.workarounds.row import at

_LAYERS = """
AvgPool Convolution ConvolutionBackpropData GRUSequence GroupConvolution GroupConvolutionBackpropData LSTMSequence
MaxPool RNNSequence
"""
_OTHERS = """
AdaptiveAvgPool AdaptiveMaxPool BitwiseAnd BitwiseLeftShift BitwiseNot BitwiseOr BitwiseRightShift BitwiseXor Bucketize
Col2Im DFT Einsum Elu ExtractImagePatches GroupNormalization HardSigmoid IDFT IRDFT Inverse IsFinite IsInf IsNaN LRN
LogSoftmax NormalizeL2 RDFT Roll STFT SearchSorted Selu SliceScatter SoftSign
"""
_INDEXED = ("GatherElements", "GatherND")
"""Node types that read wherever an index says."""
_UNSAFE = ("DeformableConvolution", "Mod", "PSROIPooling", "ROIAlign", "ROIPooling", "ReverseSequence")
"""Node types that OpenVINO does not fold either, and that no conversion computes: they trust what they read."""
_MISFOLDED = ("Abs", "ScatterUpdate")
"""Node types that OpenVINO folds wrongly."""
_SIZED = ("Range",)
"""Node types that OpenVINO folds, where their shape is known."""
_KINDS = frozenset((*_LAYERS.split(), *_OTHERS.split(), *_INDEXED, *_UNSAFE, *_MISFOLDED, *_SIZED))
_MAX_INDICES = 1 << 16
_MAX_MOVED = 1 << 16
_MAX_NODES = 1 << 16
_MAX_ELEMENTS = 1 << 24
"""The size of all tensors together."""
_MAX_MOVED_ELEMENTS = 1 << 28
"""The same of nodes that only move elements: an array that is written row by row counts as often as that."""
_MAX_MULTIPLY_ADDS = 1 << 32
"""How many multiply-adds may be computed, which takes a second."""


def compute(graph: Graph) -> Counts:
    """OpenVINO computes layers over constants in the first run, and lets what reads them overwrite the result.

    So it does with all nodes that it does not fold: the second run reads what an Add wrote in place. Recurrent layers
    over constants do not compile for bfloat16. A ScatterUpdate is folded with the wrong updates if a dimension after
    its axis is 1; an Abs of a computed value is eliminated. Nothing in float64 is folded, and compiling a polynomial in
    float64 never ends.

    Given:
        A layer, an indexed gather, or another node that OpenVINO does not fold correctly, all of whose inputs are
        constants, or computed from constants.
    Result:
        Constants. A node of dynamic shape (the elements that a mask finds), one that cannot be computed safely
        (`ROIAlign`), and a gather whose indices are unknown or out of range, read a copy of their data that is computed
        at run time.
    """
    nodes, hidden = _constant_nodes(graph)
    if hidden:
        _hide_data(graph, hidden)
        nodes, _ = _constant_nodes(graph)  # what is computed from their results is computed by each run, too
    outputs = [output for node in nodes.values() for output in node.outputs() if _has_other_consumer(output, nodes)]
    if outputs:
        _check_work(nodes.values())
        read = [consumers(output) for output in outputs]
        for ports, value in zip(read, _moved(nodes.values(), outputs) or compute_apart(outputs), strict=True):
            constant = Constant(value)
            for port in ports:
                port.replace_source_output(constant.output(0))
    return {"sites": len(nodes) + len(hidden)}


def _hide_data(graph: Graph, nodes: Sequence[Node]) -> None:
    """Has every run compute nodes over constants."""
    for node in nodes:
        hide(graph, node.input(0))


def _constant_nodes(graph: Graph) -> tuple[dict[str, Node], list[Node]]:
    """The nodes to compute, by name, and those that each run has to compute."""
    index = graph.index
    computable, hidden = {}, []
    for place in [*(place for place in index.free if index.kinds[place] in _KINDS), *_in_float64(index)]:
        node = index.nodes[place]
        if _is_folded(node):
            continue
        if not index.is_constant(place):
            graph.match_failed(
                "constants.compute", node, "it depends on random numbers, a variable, a branch or a loop"
            )
        elif 0 in (static_dims(node) or ()):
            graph.match_failed("constants.compute", node, "it has no elements")
        elif static_dims(node) is None or not _is_computable(node):
            hidden.append(node)
        else:
            computable[node.get_name()] = node
    return computable, hidden


def _is_computable(node: Node) -> bool:
    """Whether a node of known shape reads nothing beyond its inputs."""
    kind = node.get_type_name()
    return kind not in _UNSAFE and (kind not in _INDEXED or _is_indexed_within(node))


def _is_folded(node: Node) -> bool:
    """Whether OpenVINO folds it as it is."""
    if node.get_type_name() in _SIZED and node.get_element_type() != Type.f64:
        return static_dims(node) is not None
    return node.get_type_name() == "Abs" and node.input_value(0).get_node().get_type_name() == "Constant"


def _in_float64(index: Index) -> list[int]:
    """The nodes that compute float64 from constants of float64, through static shapes alone."""
    static: set[int] = set()
    wide: list[int] = []
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
            wide.append(place)
    return wide


def _is_wide(index: Index, place: int) -> bool:
    return index.kinds[place] == "Constant" and index.nodes[place].get_element_type() == Type.f64


def _has_other_consumer(output: Output, found: Collection[str]) -> bool:
    """Whether a node that is not computed here reads a value, so that it needs a Constant."""
    return any(port.get_node().get_name() not in found for port in consumers(output))


def _moved(nodes: Iterable[Node], outputs: Sequence[Output]) -> list[Tensor] | None:
    """The values of outputs of nodes that only move elements, in a tenth of the time of compiling; None for others."""
    if any(node.get_type_name() not in DATA_MOVEMENT for node in upstream(nodes)):
        return None
    values = evaluate_all(outputs, _MAX_MOVED, _MAX_MOVED)
    known = [Tensor(value) for value in values if value is not None]
    return known if len(known) == len(values) else None


def _is_indexed_within(node: Node) -> bool:
    """Whether the indices of a node are known, and none is out of range, where anything might be read."""
    dims = static_dims(node.input_value(0))
    rest = [evaluate(value, _MAX_INDICES, _MAX_INDICES) for value in node.input_values()[1:]]
    if dims is None or any(item is None for item in rest):
        return False
    return is_safe(node, [np.broadcast_to(np.float32(0), dims), *(item for item in rest if item is not None)])


def _check_work(layers: Iterable[Node]) -> None:
    """Refuses what takes too much time or memory to compute, before any of it is computed."""
    elements = moved = products = 0
    for count, node in enumerate(upstream(layers), 1):
        if node.get_type_name() == "Constant":
            continue
        size = sum(math.prod(static_dims(output) or ()) for output in node.outputs())
        if node.get_type_name() in DATA_MOVEMENT:
            moved += size
        else:
            elements += size
            products += size * _products(node)
        if (
            count > _MAX_NODES
            or elements > _MAX_ELEMENTS
            or moved > _MAX_MOVED_ELEMENTS
            or products > _MAX_MULTIPLY_ADDS
        ):
            raise RewriteError(
                "constants.compute",
                f"'{node.get_friendly_name()}' is computed from constants alone, and OpenVINO computes it wrongly "
                f"unless it is computed at conversion, which is done for {_MAX_ELEMENTS} elements, "
                f"{_MAX_MOVED_ELEMENTS} that only move, and {_MAX_MULTIPLY_ADDS} products at most",
            )


def _products(node: Node) -> int:
    """How many products, at most, each element of a result is the sum of."""
    if node.get_type_name() not in _KINDS:
        return 1
    kernel = node.get_attributes().get("kernel")
    if kernel is not None:
        return math.prod(int(item) for item in kernel)
    weights = [static_dims(value) for value in node.input_values()[1:]]
    return max((math.prod(dims[1:]) for dims in weights if dims is not None and len(dims) > 2), default=1)


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
def computed_once(graph: Graph, node: Node) -> list[Input] | None:
    """OpenVINO runs loops and branches over constants once, as it compiles, in memory that it overwrites later.

    It crashes if they draw random numbers, and does not compile a suppression over constants.

    Given:
        If, Loop, TensorIterator, MulticlassNms or NonMaxSuppression that depends on no Parameter.
    """
    return node.inputs()[_DATA[node.get_type_name()]] if graph.is_independent(node, _WITHIN) else None
