"""Makes dimensions of inputs static that every run must have, although the program leaves them open.

A program may declare an input as [-1, -1] and multiply it with a weight of [8, 4]: it runs for no last dimension but 8.
The model says so in the shape of its input, so that OpenVINO refuses anything else before it runs.

OpenVINO's own shape inference finds the dimensions that are those of an input: each unknown dimension of an input gets
a symbol, which is carried through the graph. Where the symbol meets a known dimension that it must equal, the input has
that dimension. Nothing is concluded from broadcasting, where 1 is allowed as well, nor from what a branch or a loop
computes, which may not run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from openvino import Dimension, Model, Node, PartialShape, Symbol

from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.consumers import consumers, readers
from paddle2ov.graph.expected_dims import expected_dims
from paddle2ov.graph.node_kinds import BINARY, CONVOLUTIONS, REDUCTIONS, UNARY
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.index import Index
from paddle2ov.passes.replacement import insert

_Shapes: TypeAlias = Sequence[Any]
"""The shapes of a node's inputs, and of its first output: each a sequence of Dimensions, or of numbers and None."""
_Required: TypeAlias = tuple[Any, Sequence[Any]]
"""A dimension, and those whose product it must be."""
_Places: TypeAlias = list[tuple[Symbol, int, int]]
"""Symbols of the unknown dimensions of inputs, each with the index of the input and of the dimension."""


def narrow_inputs(graph: Graph) -> int:
    """Gives the inputs of a model the dimensions that every run must have; returns how many.

    The checks of these dimensions in the graph are removed.
    """
    model, inputs = graph.model, graph.model.get_parameters()
    before = [input_.get_partial_shape() for input_ in inputs]
    if not any(shape.rank.is_static and shape.is_dynamic for shape in before):
        return 0
    index = graph.index
    checks = [node for node in graph.nodes("Reshape") if expected_dims(node) is not None]
    nodes = [index.nodes[place] for kind in _REQUIREMENTS for place in index.of_kind(kind) if _may_tell(index, place)]
    nodes += [check for check in checks if _open(check)]
    if not nodes:
        return 0
    shapes = list(before)
    try:
        while implied := _implied(model, nodes, shapes):
            for (number, axis), size in implied.items():
                dims = [copy_dim(dim) for dim in shapes[number]]
                dims[axis] = Dimension(size)
                shapes[number] = PartialShape(dims)
        _validate(graph, shapes)
    except RuntimeError:  # no input fits the program: each run reports it
        shapes = before
        _validate(graph, shapes)
    for check in checks:
        if not _open(check):
            for squeeze in readers(check):
                insert(consumers(squeeze.output(0)), check.input_value(0), check)
    return sum(map(_count_open, before)) - sum(map(_count_open, shapes))


def _implied(model: Model, nodes: list[Node], shapes: list[PartialShape]) -> dict[tuple[int, int], int]:
    """The unknown dimensions of inputs, as (input, axis), that must have a known size; contradictions are left out."""
    places = _symbolic(model, shapes)
    required_sizes: dict[tuple[int, int], set[int]] = {}
    for node in nodes:
        for unknown, known in _open(node):
            for symbol, index, axis in places if unknown.has_symbol() else ():
                if unknown.get_symbol() == symbol and unknown.compatible(known):
                    required_sizes.setdefault((index, axis), set()).add(known.get_length())
    return {place: sizes.pop() for place, sizes in required_sizes.items() if len(sizes) == 1}


def _symbolic(model: Model, shapes: list[PartialShape]) -> _Places:
    """Infers the shapes of the model with symbols for the unknown dimensions of its inputs."""
    places: _Places = []
    for index, (parameter, shape) in enumerate(zip(model.get_parameters(), shapes, strict=True)):
        if shape.rank.is_static:
            dims = [copy_dim(shape[axis]) for axis in range(len(shape))]
            for axis, dim in enumerate(dims):
                if dim.is_dynamic:
                    dim.set_symbol(Symbol())
                    places.append((dim.get_symbol(), index, axis))
            parameter.set_partial_shape(PartialShape(dims))
    for node in model.get_ordered_ops():
        infer_with_symbols(node)
    return places


def infer_with_symbols(node: Node) -> None:
    """Infers the shapes of a node's results, whose dimensions have the symbol of another one only if they are equal."""
    kind = node.get_type_name()
    if kind not in ("If", "Loop", "TensorIterator"):  # in bodies, which may not run, OpenVINO merges symbols
        node.validate_and_infer_types()
    if kind in BINARY or kind in _BROADCASTING:
        _forget_broadcast(node, _BROADCASTING.get(kind, 0))
    elif kind not in _TRUSTED or (kind == "Broadcast" and node.get_attributes()["mode"] != "numpy"):
        for output in node.outputs():
            shape = forget_symbols(output.get_partial_shape())
            node.set_output_type(output.get_index(), output.get_element_type(), shape)


_BROADCASTING = {"MatMul": 2, "Select": 0}
"""Node types whose inputs broadcast, but for this many of the last dimensions."""


def _forget_broadcast(node: Node, own: int) -> None:
    """Leaves symbols to dimensions of the result, but for the last `own`, only where no operand may broadcast them.

    OpenVINO takes the symbol of one operand where the dimension of the other one has none.
    """
    shape, sides = node.get_output_partial_shape(0), [value.get_partial_shape() for value in node.input_values()]
    if shape.rank.is_dynamic or any(side.rank.is_dynamic for side in sides):
        return
    dims = [shape[axis] for axis in range(len(shape))]
    for place, dim in enumerate(dims[: len(dims) - own], -len(dims)):
        against = [side[place + len(side)] for side in sides if place + len(side) >= 0]
        if dim.has_symbol() and not all(
            item == 1 or (item.has_symbol() and item.get_symbol() == dim.get_symbol()) for item in against
        ):
            dims[place] = copy_dim(dim)
    node.set_output_type(0, node.get_output_element_type(0), PartialShape(dims))


def _validate(graph: Graph, shapes: list[PartialShape]) -> None:
    """Infers the shapes of the model for these shapes of its inputs, without symbols."""
    for parameter, shape in zip(graph.model.get_parameters(), shapes, strict=True):
        parameter.set_partial_shape(forget_symbols(shape))
    graph.model.validate_nodes_and_infer_types()
    graph.index.forget_dims()


def forget_symbols(shape: PartialShape) -> PartialShape:
    """The shape without symbols."""
    return shape if shape.rank.is_dynamic else PartialShape([copy_dim(shape[i]) for i in range(len(shape))])


def copy_dim(dim: Dimension) -> Dimension:
    """The dimension without its symbol."""
    return Dimension(dim.get_min_length(), dim.get_max_length())


def _count_open(shape: PartialShape) -> int:
    return sum(shape[i].is_dynamic for i in range(len(shape))) if shape.rank.is_static else 0


def _may_tell(index: Index, place: int) -> bool:
    """Whether one of two dimensions that must be equal is known, and the other one is not."""
    kind, count = index.kinds[place], len(index.sources[place])
    if kind in CONVOLUTIONS and None not in (index.read_dims(place) or [None])[1:2]:
        return False
    shapes = [*(index.read_dims(place, port) for port in range(count)), index.dims(place)]
    if None in shapes or not any(None in dims for dims in shapes if dims):
        return False
    required = _REQUIREMENTS[kind](index.nodes[place], shapes)
    return any((dim is None) == (None not in product) for dim, product in required)


def _open(node: Node) -> list[tuple[Dimension, Dimension]]:
    """Pairs of a dimension of a node that is not known, and a known one that it must be equal to."""
    shapes = [value.get_partial_shape() for value in node.input_values()]
    expected = expected_dims(node)
    if expected is not None:
        return [
            (shapes[0][axis], Dimension(size))
            for axis, size in enumerate(expected)
            if size and shapes[0][axis].is_dynamic
        ]
    pairs = []
    for dim, product in _REQUIREMENTS[node.get_type_name()](node, [*shapes, node.get_output_partial_shape(0)]):
        if all(factor.is_static for factor in product):
            pairs.append((dim, Dimension(math.prod(factor.get_length() for factor in product))))
        elif len(product) == 1:
            pairs.append((product[0], dim))
    return [(unknown, known) for unknown, known in pairs if unknown.is_dynamic and known.is_static]


def _matmul(node: Node, shapes: _Shapes) -> Iterator[_Required]:
    x, y, _ = shapes
    about = node.get_attributes()
    yield (
        x[-2 if about["transpose_a"] and len(x) > 1 else -1],
        [y[-1 if about["transpose_b"] or len(y) == 1 else -2]],
    )


def _channels(filters: tuple[int, ...]) -> Callable[[Node, _Shapes], Iterator[_Required]]:
    """The channels of the data are the product of these dimensions of the filters."""

    def required(node: Node, shapes: _Shapes) -> Iterator[_Required]:
        yield shapes[0][1], [shapes[1][axis] for axis in filters]

    return required


def _recurrent(weights: int) -> Callable[[Node, _Shapes], Iterator[_Required]]:
    """The features of the data and of the state are those of the input weights and of the recurrent weights."""

    def required(node: Node, shapes: _Shapes) -> Iterator[_Required]:
        yield shapes[0][2], [shapes[weights][2]]
        yield shapes[1][2], [shapes[weights + 1][2]]

    return required


def _concat(node: Node, shapes: _Shapes) -> Iterator[_Required]:
    *inputs, result = shapes
    axis = node.get_attributes()["axis"] % max(len(result), 1)
    for shape in inputs:
        yield from ((shape[i], [result[i]]) for i in range(len(result)) if i != axis)


def _variadic_split(node: Node, shapes: _Shapes) -> Iterator[_Required]:
    axis, lengths = ints_of(node.input_value(1)), ints_of(node.input_value(2))
    if axis and lengths and -1 not in lengths:
        yield shapes[0][axis[0]], [Dimension(sum(lengths))]


_REQUIREMENTS: dict[str, Callable[[Node, _Shapes], Iterator[_Required]]] = {
    "Concat": _concat,
    "Convolution": _channels((1,)),
    "ConvolutionBackpropData": _channels((0,)),
    "GRUSequence": _recurrent(3),
    "GroupConvolution": _channels((0, 2)),
    "GroupConvolutionBackpropData": _channels((0, 1)),
    "LSTMSequence": _recurrent(4),
    "MatMul": _matmul,
    "VariadicSplit": _variadic_split,
}
"""Node type -> which dimensions of its inputs must be equal."""
_CARRYING = """
Acos Acosh Asin Asinh Atan Atanh AvgPool BitwiseNot Broadcast Concat Constant Convert Cos Cosh CumSum FakeQuantize
Gather GRUSequence Identity Interpolate IsFinite IsInf IsNaN LSTMSequence LogSoftmax MVN MatMul MaxPool NormalizeL2
OneHot PRelu Parameter Reshape Result ReverseSequence Roll ScatterElementsUpdate ScatterNDUpdate ScatterUpdate ShapeOf
Sin Sinh Slice SliceScatter Softmax Split Squeeze StridedSlice Tan TopK Transpose Unsqueeze VariadicSplit
"""
_TRUSTED = UNARY | BINARY | CONVOLUTIONS | REDUCTIONS | frozenset(_CARRYING.split())
"""Node types whose results have a symbol only if they have its dimension in every run.

Not loops, whose iterations may swap tensors.
"""
