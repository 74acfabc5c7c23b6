"""Constants and paddings that OpenVINO merges into a node that has no place for them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from openvino import Input, Node, Output

from paddle2ov.graph.consumers import consumers
from paddle2ov.graph.node_kinds import CONVOLUTIONS
from paddle2ov.graph.opset import create, ints, ops
from paddle2ov.graph.shapes import Dims, dims_of
from paddle2ov.passes.computed_constants import computed_constant_of
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.index import Index
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, at, require
from paddle2ov.typing import AnyArray, known

_SUMS, _PRODUCTS = ("Add", "Subtract"), ("Divide", "Multiply")
_BETWEEN = frozenset(("Negative", *_SUMS, *_PRODUCTS))
_MOST_BETWEEN = 8
_LARGER = 128
"""The least ratio of two constants that stay apart: their sum keeps 17 of the 24 bits of the smaller one."""
_USUAL_DIM = 256
"""What an unknown dimension is taken for, to estimate which tensor takes longer to copy."""


@at(*sorted(CONVOLUTIONS), reads=("Pad",))
def pad_of_convolution(graph: Graph, node: Node) -> list[Node] | None:
    """OpenVINO adds a Pad to the padding of the convolution after it, and the result has another shape.

    For a transposed convolution, it counts each padded element as one of the output, whatever the stride. For one with
    auto_pad, which depends on the size of what is padded, the padding stays as it is.

    Given:
        Pad with a constant → a transposed convolution, or a convolution with auto_pad to the same size.
    """
    pad = node.input_value(0).get_node()
    if pad.get_type_name() != "Pad":
        return None
    require(pad.get_attributes()["pad_mode"] == "constant", "the Pad is not in constant mode")
    if "Backprop" in node.get_type_name() or node.get_attributes()["auto_pad"] not in ("explicit", "valid"):
        return [node]
    raise MatchFailureError("the padding is known, and the convolution is not transposed")


def deepen_pad(graph: Graph, node: Node) -> None:
    """The node's input is padded at one rank more (Unsqueeze → Pad → Squeeze)."""
    pad = node.input_value(0).get_node()
    x, begin, end, *value = pad.input_values()
    zero = ints([0])
    sides = [ops.concat([zero, side], 0).output(0) for side in (begin, end)]
    deeper = create("Pad", [ops.unsqueeze(x, zero).output(0), *sides, *value], {"pad_mode": "constant"})
    insert([node.input(0)], ops.squeeze(deeper, zero).output(0), pad)


@at("Convolution", "GroupConvolution", reads=_PRODUCTS)
def scale_of_pixels(graph: Graph, node: Node) -> list[Input] | None:
    """OpenVINO folds a constant scale of a convolution's input into the filters wherever the two broadcast.

    If the image has as many pixels as the filter has elements, a scale of pixels becomes one of filter elements.

    Given:
        Convolution or GroupConvolution of x * scale or x / scale, with a scale that is computed from constants and
        whose spatial dimensions are 1 or those of the filters, not all of them 1.
    """
    product = node.input_value(0).get_node()
    if product.get_type_name() not in _PRODUCTS:
        return None
    filters, rank = dims_of(node.input_value(1)) or [], len(node.get_attributes()["strides"])
    scales = [port for port in product.inputs() if _may_scale(dims_of(port.get_source_output()), filters, rank)]
    require(scales, "no factor has the sizes of the filters")
    scales = [port for port in scales if graph.is_constant(port.get_source_output().get_node())]
    require(len(scales) == 1, "the factors are inputs of the model, or both are constant")
    return scales


def _may_scale(dims: Dims | None, filters: Dims, rank: int) -> bool:
    """Whether a tensor could be one of factors for the elements of filters."""
    sides = [] if dims is None else dims[-rank:]
    if None in sides or not set(sides) - {1}:
        return False
    return all(size is None or side in (1, size) for side, size in zip(sides[::-1], filters[::-1], strict=False))


@at("GroupConvolution", read_by=("Multiply",))
def factor_of_shared_filters(graph: Graph, node: Node) -> list[Input] | None:
    """OpenVINO multiplies computed filters by a factor of the grouped convolution, for whatever else reads the filters.

    Two depthwise convolutions by one computed filter, one of them scaled, were both scaled.

    Given:
        GroupConvolution with computed filters → Multiply.
    """
    read = [port for port in consumers(node.output(0)) if port.get_node().get_type_name() == "Multiply"]
    ports = [port.get_node().input(port.get_index()) for port in read]
    require(not graph.is_constant(node.input_value(1).get_node()), "the filters are constant")
    return ports


_Path: TypeAlias = list[tuple[int, int]]
"""Places of nodes, each with the input that is constant."""


def _sum_below(index: Index, place: int) -> tuple[int, _Path] | None:
    """The input by which a node adds a constant to a sum with a constant, and the path to that."""
    for port, x in ((1, index.sources[place][0]), (0, index.sources[place][1])):
        if index.kinds[x] in _BETWEEN and index.is_constant(index.sources[place][port]):
            path = _path_to_sum(index, x)
            return None if path is None else (port, path)
    return None


def _path_to_sum(index: Index, x: int) -> _Path | None:
    """The products by constants down to a sum with a constant, and that."""
    path = []
    for _ in range(_MOST_BETWEEN):
        kind, sources = index.kinds[x], index.sources[x]
        if kind == "Negative":
            x = sources[0]
            continue
        if kind not in _BETWEEN:
            return None
        port = 1 if index.is_constant(sources[1]) else 0
        if port == 0 and (kind == "Divide" or not index.is_constant(sources[0])):
            return None
        path.append((x, port))
        if kind in _SUMS:
            return path
        x = sources[1 - port]
    return None


@at(*_SUMS, when=lambda index, place: _sum_below(index, place) is not None)
def constants_of_sums(graph: Graph, node: Node) -> list[Input] | None:
    """OpenVINO turns (x + a) * b + c into x * b + (a * b + c): c is lost where x cancels a.

    Attention whose mask is `(1 - m) * -1e9` lost its position biases c where the length is known, as in T5.

    Given:
        x + a, possibly times constants, + c, with constants a and c, where a is 128 times as large as c or more.
    """
    if not node.get_output_element_type(0).is_real():
        return None
    port, path = known(_sum_below(graph.index, known(graph.index.place_of(node))))
    small, large = _extreme(node.input_value(port), np.max), _magnitude(graph.index, path)
    if small == 0 or math.isinf(large) or large < _LARGER * small:
        raise MatchFailureError("the sum of the constants keeps the digits of both")
    return [min(node.input(port), node.input(1 - port), key=_size)]


def _magnitude(index: Index, path: _Path) -> float:
    """The magnitude of the constant of a sum, times those that follow."""
    scale = 1.0
    for place, port in path:
        constant, divides = index.nodes[place].input_value(port), index.kinds[place] == "Divide"
        scale = scale / (_extreme(constant, np.min) or 1.0) if divides else scale * _extreme(constant, np.max)
    return scale


def _extreme(constant: Output, choose: Callable[[AnyArray], float]) -> float:
    """The largest or least magnitude of a constant; 1, as that of weights, where that takes computing."""
    values = computed_constant_of(constant)
    if values is None:
        return 1.0
    return float(choose(np.abs(values.astype(np.float64)))) if values.size else 0.0


def _size(port: Input) -> int:
    dims = dims_of(port.get_source_output())
    return 0 if dims is None else math.prod(_USUAL_DIM if dim is None else dim for dim in dims)
