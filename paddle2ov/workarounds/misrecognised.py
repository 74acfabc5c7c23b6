"""Patterns that OpenVINO recognises without a look at all that they depend on: it computes something else."""

from __future__ import annotations

import numpy as np
from openvino import Input, Node

from paddle2ov.graph.consumers import consumers, key_of, readers
from paddle2ov.graph.node_kinds import BINARY, ELEMENTWISE, UNARY
from paddle2ov.graph.opset import create, ints, ops
from paddle2ov.graph.shapes import Dims, dims_of, static_dims
from paddle2ov.passes.constant_operands import perm_of
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.index import Index
from paddle2ov.passes.replacement import insert, name_after, replace
from paddle2ov.passes.rule import MatchFailureError, at, require
from paddle2ov.workarounds.remedies import hide

_CONVOLUTIONS = ("Convolution", "GroupConvolution")
_PARTS = ("Slice", "Split", "StridedSlice", "VariadicSplit")
_IMAGE, _SHUFFLED = 4, 6


@at("Sigmoid", reads=("Multiply",), read_by=("Multiply",))
def swish_of_vectors(graph: Graph, sigmoid: Node) -> list[Input] | None:
    """OpenVINO makes a Swish of x * sigmoid(x * b), which takes one number.

    It does not compile for a computed b of shape [1], and does not broadcast x to a constant b of equal elements.

    Given:
        x * sigmoid(x * b), where b has dimensions, and is one computed number or a constant that may broadcast x.
    """
    product = sigmoid.input_value(0).get_node()
    factors = [
        value for node in readers(sigmoid) if node.get_type_name() == "Multiply" for value in node.input_values()
    ]
    if not any(value in factors for value in product.input_values()):
        return None
    for port in product.inputs():
        x, beta = dims_of(product.input_value(1 - port.get_index())), dims_of(port.get_source_output())
        if not beta or x is None:
            continue
        is_constant = graph.is_constant(port.get_source_output().get_node())
        if is_constant and dims_of(product.output(0)) != x:
            return [port]
        if not is_constant and len(beta) <= len(x) and all(dim == 1 for dim in beta):
            return [port]
    raise MatchFailureError("no factor has dimensions of its own")


def hide_or_squeeze(graph: Graph, port: Input) -> None:
    """A constant is made by each run; a computed number loses its dimensions."""
    beta = port.get_source_output()
    if graph.is_constant(beta.get_node()):
        hide(graph, port)
    else:
        insert([port], ops.squeeze(beta).output(0), port.get_node())


@at("Add", "Subtract", reads=("Relu",))
def slopes_of_channels(graph: Graph, node: Node) -> list[Input] | None:
    """OpenVINO makes a PRelu of relu(x) - a * relu(-x): a slope along the last axis becomes one along axis 1.

    Given:
        relu(x) ± a product with a constant slope of one dimension, possibly times others, x of rank 3 or more.
    """
    sides = [value.get_node() for value in node.input_values()]
    port = next((port for side in sides if (port := _slope(graph, side)) is not None), None)
    if port is None:
        return None
    dims = dims_of(port.get_node())
    require(dims is not None and len(dims) > 2, "axis 1 is the last one, or the rank is not known")
    return [port]


def _slope(graph: Graph, product: Node, depth: int = 3) -> Input | None:
    """The constant factor of one dimension, with several elements, of a product of up to three."""
    if product.get_type_name() != "Multiply" or not depth:
        return None
    for port in product.inputs():
        source = port.get_source_output()
        dims = static_dims(source)
        if dims is not None and len(dims) == 1 and dims != [1] and graph.is_constant(source.get_node()):
            return port
        slope = _slope(graph, source.get_node(), depth - 1)
        if slope is not None:
            return slope
    return None


def add_axis(graph: Graph, port: Input) -> None:
    """The operand has an axis of size 1 before the others."""
    insert([port], ops.unsqueeze(port.get_source_output(), ints([0])).output(0), port.get_node())


@at("ReduceMax", "ReduceMean", "ReduceSum")
def statistics_of_rows(graph: Graph, node: Node) -> list[Node] | None:
    """OpenVINO fuses a written softmax, layer, L2 or RMS norm whether or not its statistics keep their axis.

    Of a square matrix they belong to the rows with the axis, and to the columns without it.

    Given:
        ReduceMax, ReduceMean or ReduceSum without its axis, broadcast against a tensor of the rank of its input.
    """
    if node.get_attributes()["keep_dims"]:
        return None
    dims, left = dims_of(node.input_value(0)), dims_of(node.output(0))
    if dims is None or not left or not graph.is_constant(node.input_value(1).get_node()):
        raise MatchFailureError("the rank is not known, or nothing is left")
    require(_may_match(left, dims), "the sizes tell rows from columns")
    require(_meets_rank(node, len(dims)), "no tensor of the rank before meets it")
    return [node]


def _may_match(left: Dims, dims: Dims) -> bool:
    """Whether what is left could be broadcast to the whole."""
    aligned = dims[len(dims) - len(left) :]
    return all(a in (None, 1) or b in (None, 1) or a == b for a, b in zip(left, aligned, strict=True))


def _meets_rank(node: Node, rank: int) -> bool:
    """Whether an elementwise node broadcasts a tensor, through functions of it alone, against one of such a rank."""
    waiting = [node]
    for _ in range(6):
        if not waiting:
            return False
        for reader in readers(waiting.pop()):
            if reader.get_type_name() not in UNARY | BINARY:
                continue
            dims = dims_of(reader.output(0))
            if dims is not None and len(dims) == rank:
                return True
            waiting.append(reader)
    return False


def _joins_convolutions_of_parts(index: Index, place: int) -> bool:
    joined = (source for source in index.sources[place] if index.kinds[source] == "Convolution")
    return any(index.kinds[index.sources[source][0]] in _PARTS for source in joined)


@at("Concat", when=_joins_convolutions_of_parts)
def convolutions_as_groups(graph: Graph, concat: Node) -> list[Node] | None:
    """OpenVINO makes a GroupConvolution of joined convolutions of the parts of a Split.

    It ignores their order, their number, the axis of the Concat, and what else that joins.

    Given:
        Concat of a Convolution of a part of a tensor, and others, but not of all parts in order along axis 1.
    """
    sides = [value.get_node() for value in concat.input_values()]
    of_parts = [node for node in sides if _is_of_part(node)]
    groups = [dims_of(node.input_value(1)) or [0] for node in sides if _is_of_part(node, "GroupConvolution")]
    if not of_parts or any(dims[0] == 1 for dims in groups):
        return None  # nothing to recognise, or one side is a group
    split = sides[0].input_value(0).get_node() if len(of_parts) == len(sides) else None
    if (
        split is not None
        and split.get_type_name() == "Split"
        and concat.get_attributes()["axis"] == 1
        and [key_of(node.input_value(0)) for node in sides] == [key_of(output) for output in split.outputs()]
    ):
        raise MatchFailureError("it is a convolution of groups")
    return of_parts[:1]


def _is_of_part(node: Node, kind: str = "Convolution") -> bool:
    return node.get_type_name() == kind and node.input_value(0).get_node().get_type_name() in _PARTS


def make_group(graph: Graph, convolution: Node) -> None:
    """The convolution is one of a single group."""
    x, filters = convolution.input_values()
    inputs = [x, ops.unsqueeze(filters, ints([0])).output(0)]
    replace(convolution.output(0), create("GroupConvolution", inputs, convolution.get_attributes()).output(0))


@at("Transpose", reads=("Reshape",))
def channel_shuffle(graph: Graph, transpose: Node) -> list[Node] | None:
    """OpenVINO looks for ShuffleChannels between reshapes of an image, and throws where the second axis is unknown.

    Given:
        x [?, C, H, W] → Reshape to rank 4 or 5, the second axis of unknown size → Transpose → Reshape.
    """
    source, dims = transpose.input_value(0).get_node(), dims_of(transpose.input_value(0))
    if dims is None or perm_of(transpose) is None:
        return None
    if len(dims) not in (_IMAGE, _IMAGE + 1) or dims[1] is not None:
        return None
    image = dims_of(source.input_value(0))
    if image is None or len(image) != _IMAGE or None in image[1:]:
        raise MatchFailureError("it is not of an image of known sizes")
    require(any(reader.get_type_name() == "Reshape" for reader in readers(transpose)), "no reshape follows")
    return [transpose]


def transpose_at_rank_6(graph: Graph, transpose: Node) -> None:
    """The axes are permuted at rank 6 (Unsqueeze → Transpose → Squeeze)."""
    perm = perm_of(transpose) or []
    added = list(range(len(perm), _SHUFFLED))
    moved = ops.transpose(ops.unsqueeze(transpose.input_value(0), ints(added)), ints([*perm, *added]))
    name_after(moved, transpose, "transpose")
    replace(transpose.output(0), ops.squeeze(moved, ints(added)).output(0))


_ACTIVATIONS = ("Abs", "Elu", "Gelu", "HSwish", "Mish", "PRelu", "Selu", "Sign", "Swish")
_PARTS_OF_ONE = ("Divide", "Multiply", "Negative", "Power", "Select", "SquaredDifference", "Subtract")
_DECREASING = frozenset((*_ACTIVATIONS, *_PARTS_OF_ONE))
"""Node types that may decrease, or that write a function which does: x * sigmoid(x), where(x > 0, x, a * x)."""


@at("MaxPool", read_by=_DECREASING)
def activation_of_pool(graph: Graph, pool: Node) -> list[Node] | None:
    """OpenVINO moves an activation before the MaxPool that it reads, into the convolution before that.

    That is right for functions that never decrease, which is not checked: of GELU, Swish or an absolute value the
    results differ.

    Given:
        Convolution → possibly elementwise nodes → MaxPool → a function that may decrease.
    """
    read = {port.get_node().get_type_name() for port in consumers(pool.output(0))}
    if not read <= ELEMENTWISE or _DECREASING.isdisjoint(read):  # readers of the indices are none of the function
        return None
    node = pool.input_value(0).get_node()
    for _ in range(8):
        if node.get_type_name() in _CONVOLUTIONS:
            return [pool]
        sides = [value.get_node() for value in node.input_values()] if node.get_type_name() in ELEMENTWISE else []
        node_before = next((side for side in sides if not graph.is_constant(side)), None)
        if node_before is None:
            break
        node = node_before
    raise MatchFailureError("what is pooled is not of a convolution")


def read_through_maximum(graph: Graph, pool: Node) -> None:
    """The function reads max(pooled, -∞), across which OpenVINO moves nothing."""
    read = consumers(pool.output(0))
    lowest = ops.convert(ops.constant(np.float32(-np.inf)), pool.get_output_element_type(0))
    insert(read, ops.maximum(lowest, pool.output(0)).output(0), pool)
