"""Quantized models: scales and constants that OpenVINO moves or folds wrongly."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from openvino import Input, Node, Output, Type
from openvino.op import Constant

from paddle2ov.graph.constants import constant_of, number_of
from paddle2ov.graph.consumers import Consumer, consumers, only_consumer, revalidate, rewire
from paddle2ov.graph.node_kinds import BINARY, CONVOLUTIONS, NEUTRAL, REDUCTIONS, UNARY
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.types import value_of
from paddle2ov.graph.upstream import sources_of, upstream
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.index import Index
from paddle2ov.passes.integer_tensors import holds_integers
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, at, require
from paddle2ov.typing import AnyArray

_VIEWS = ("Reshape", "Squeeze", "Transpose", "Unsqueeze")
_LARGEST = float(np.finfo(np.float32).max)
_SCALED = frozenset(("Multiply", "Reshape", "Subtract", "Transpose", "Unsqueeze"))
"""Node types between integers and the weights that they represent."""
_FOLDED = ("Add", "Divide", "Multiply", "Subtract")
_MOST_FOLDED = 4
_FUSING = (
    (UNARY - {"Convert", "HardSigmoid", "Log", "LogicalNot", "Negative", "Selu", "Sign"})
    | BINARY
    | REDUCTIONS
    | CONVOLUTIONS
    | {"Interpolate", "MatMul", "NormalizeL2", "PRelu"}
)
"""Node types that OpenVINO fuses a FakeQuantize into if nothing else reads them."""


class _Scale(Struct, frozen=True):
    """A normalization, the Multiply or Divide before it, the tensor that is scaled, and the scale."""

    norm: Node
    product: Node
    x: Output
    scale: float


@at("MVN", "NormalizeL2", reads=("Divide", "Multiply", *_VIEWS))
def scale_before_norm(graph: Graph, norm: Node) -> list[_Scale] | None:
    """OpenVINO moves a scale through MVN and NormalizeL2, in a model with a FakeQuantize, without their epsilon.

    It takes the scale for a dequantization. Where the variance of the data is close to epsilon, the results are too
    large by any factor.

    Given:
        x → Multiply or Divide by a scalar → MVN or NormalizeL2, possibly with Reshape, Squeeze, Unsqueeze and Transpose
        in between, each read only once.
    """
    product = norm.input_value(0).get_node()
    while product.get_type_name() in _VIEWS and only_consumer(product.output(0)) is not None:
        product = product.input_value(0).get_node()
    is_quotient = product.get_type_name() == "Divide"
    if product.get_type_name() != "Multiply" and not is_quotient:
        return None
    require(norm.get_attributes().get("normalize_variance", True), "it does not normalize the variance")
    left, right = product.input_values()
    for x, factor in ((left, right), (right, left)):
        scale = number_of(factor)
        if scale is None or (factor is left and is_quotient):
            continue
        scale = 1 / scale if scale and is_quotient else scale
        epsilon = _epsilon(norm, scale) if scale else 0.0
        if not 1e-37 < epsilon < 1e37 or x.get_partial_shape() != product.get_output_partial_shape(0):
            raise MatchFailureError("the scale is 0 or too large, or changes the shape")
        return [_Scale(norm, product, x, scale)]
    raise MatchFailureError("it is not scaled by a scalar")


def _epsilon(norm: Node, scale: float) -> float:
    attributes = norm.get_attributes()
    epsilon = float(attributes["eps"])
    return epsilon / abs(scale) if attributes["eps_mode"] == "OUTSIDE_SQRT" else epsilon / scale**2


def absorb(graph: Graph, site: _Scale) -> None:
    """The scale is dropped, and the epsilon divided by its square; the result is negated if the scale is negative."""
    norm, port = site.norm, site.norm.input(0)
    while port.get_source_output().get_node().get_name() != site.product.get_name():
        port = port.get_source_output().get_node().input(0)
    rewire(port.get_node(), port.get_index(), site.x)
    norm.set_attribute("eps", _epsilon(norm, site.scale))
    revalidate(norm)
    if site.scale < 0:
        read = consumers(norm.output(0))
        minus = ops.constant(np.asarray(-1.0), norm.get_output_element_type(0))
        insert(read, ops.multiply(norm, minus).output(0), norm)


@at("FakeQuantize")
def constants_before_ranges(graph: Graph, node: Node) -> list[Input] | None:
    """OpenVINO folds constants for each channel into the ranges of a FakeQuantize, where all get that of the first.

    So if a size is not known, and no node before takes up the FakeQuantize: the constant of a product with a negative
    factor, and with LP_TRANSFORMS_MODE of NO any.

    Given:
        x of unknown size, not of a node that a FakeQuantize is fused into → Add, Divide, Multiply or Subtract, one with
        a constant [1, C, 1, ...] → FakeQuantize of single numbers.
    """
    dims = dims_of(node.output(0))
    if dims is None or None not in dims or _constant_side(node.input_value(0).get_node()) is None:
        return None
    ranges = [constant_of(node.input_value(i)) for i in (1, 2)]
    if not all(ends is not None and ends.size == 1 for ends in ranges):
        raise MatchFailureError("its ranges differ by channel, or are computed")
    ports: list[Input] = []
    value = node.input_value(0)
    for _ in range(_MOST_FOLDED):
        source, is_read_once = value.get_node(), len(consumers(value)) == 1
        side = _constant_side(source)
        if side is None:
            if is_read_once and source.get_type_name() in _FUSING:
                raise MatchFailureError("OpenVINO fuses it into the node before")
            break
        if not ports and _is_along_channels(side, len(dims)):
            ports = [side]
        if not is_read_once:
            break
        value = source.input_value(1 - side.get_index())
    require(ports, "no constant lies along the channels")
    return ports


def _constant_side(node: Node) -> Input | None:
    """The constant operand of a sum or a product; None without one."""
    if node.get_type_name() not in _FOLDED:
        return None
    sides = [port for port in node.inputs() if constant_of(port.get_source_output()) is not None]
    return sides[0] if len(sides) == 1 else None


def _is_along_channels(port: Input, rank: int) -> bool:
    """Whether a constant has several elements, all along axis 1 of a tensor of the rank."""
    shape = list(port.get_shape())
    shape = [1] * (rank - len(shape)) + shape
    return len(shape) == rank > 1 and shape[1] > 1 and all(size == 1 for size in shape[:1] + shape[2:])


def _may_hold_integers(index: Index, place: int) -> bool:
    source = index.sources[place][1]
    while index.kinds[source] in _SCALED:
        source = index.sources[source][0]
    return index.kinds[source] in ("Convert", "FakeQuantize")


@at("Convolution", "ConvolutionBackpropData", "GroupConvolution", when=_may_hold_integers)
def shared_convolution(graph: Graph, convolution: Node) -> list[Node] | None:
    """OpenVINO applies the scale of an integer convolution of unknown size once for each of its readers.

    It gives each reader a Multiply of its own, and fuses all of these into the convolution. An Add of a bias prevents
    this, and so does a Clamp, which is fused as well and costs no time.

    Given:
        Convolution, ConvolutionBackpropData or GroupConvolution in float32, its weights integers or a FakeQuantize, →
        at least two readers.
    """
    if not holds_integers(convolution.input_value(1), _SCALED):
        return None
    require(convolution.get_output_element_type(0) == Type.f32, "it is not in float32")
    require(_count_readers(convolution.output(0)) > 1, "one node reads it")
    return [convolution]


def _count_readers(result: Output) -> int:
    """How many nodes read a result once OpenVINO has removed those that change nothing."""
    return sum(_count_readers(neutral) if (neutral := _neutral(port)) else 1 for port in consumers(result))


def _neutral(reader: Consumer) -> Output | None:
    """The output of a node that changes nothing, which OpenVINO eliminates; None for any other."""
    node = reader.get_node()
    number = NEUTRAL.get(node.get_type_name())
    other = node.input_value(1 - reader.get_index()).get_node() if number is not None else None
    is_second = reader.get_index() == 1 and node.get_type_name() in ("Divide", "Subtract")
    if not isinstance(other, Constant) or is_second or not (value_of(other) == number).all():
        return None
    return node.output(0)


def clamp(graph: Graph, convolution: Node) -> None:
    """The result is clamped to the range of float32."""
    read = consumers(convolution.output(0))
    insert(read, ops.clamp(convolution, -_LARGEST, _LARGEST).output(0), convolution)


_KEEPING = frozenset(
    (
        *("DepthToSpace", "Interpolate", "MaxPool", "Reshape", "Slice", "SpaceToDepth", "Split", "Squeeze"),
        *("StridedSlice", "Transpose", "Unsqueeze", "VariadicSplit"),
    )
)
"""What OpenVINO computes on integers as they are."""
_SYMMETRIC, _TOLERANCE = -128 / 127, 0.002
"""The ratio of the ends of a range that OpenVINO takes for symmetric, and how far it may be off, relative to it."""


@at("Concat", needs=("FakeQuantize",))
def signed_beside_unsigned(graph: Graph, concat: Node) -> list[Node] | None:
    """OpenVINO gives joined tensors the integer type of one of them: signed with a zero point, or unsigned.

    It quantizes symmetric ranges to signed integers, and others to unsigned ones with a zero point. A convolution of
    signed integers with zero points stays in floating point, its weights in integers, and the CPU plugin has no
    bfloat16 kernel for that. The remedy changes ranges slightly: it is meant for ranges from a calibration, and only
    `quantize` runs it.

    Given:
        Concat of at least two FakeQuantizes with 256 levels, possibly through nodes that keep integers, where some
        ranges are symmetric (from -128/127 of the upper end, for each channel) and others are not.
    """
    sources = [node for node in upstream([concat], _joined_by) if node.get_type_name() == "FakeQuantize"]
    if len(sources) < 2:
        return None
    symmetric = [node for node in sources if _is_symmetric(node)]
    require(len(symmetric) not in (0, len(sources)), "all are signed, or all unsigned")
    require(all(map(_keeps_ranges, symmetric)), "a range is not that of 256 levels")
    return symmetric


def _joined_by(node: Node) -> list[Node]:
    kind = node.get_type_name()
    if kind == "Concat":
        return sources_of(node)
    return sources_of(node)[:1] if kind in _KEEPING else []


def _range_of(node: Node) -> list[AnyArray]:
    """The ends of the ranges that a FakeQuantize reads and gives, two each; none where they are computed."""
    arrays = [constant_of(value) for value in node.input_values()[1:]]
    known = [array for array in arrays if array is not None]
    return known if len(known) == len(arrays) else []


def _is_symmetric(node: Node) -> bool:
    """Whether OpenVINO takes signed integers without zero points for the result."""
    ends = _range_of(node)[2:]
    if not ends:
        return False
    low, high = (array.astype(np.float64) for array in ends)
    if not ((low < 0) & (high > 0)).all():
        return False
    ratio = low / high
    return bool((abs((ratio - _SYMMETRIC) / np.minimum(ratio, _SYMMETRIC)) <= _TOLERANCE).all())


def _keeps_ranges(node: Node) -> bool:
    """Whether a FakeQuantize gives the range that it reads, in 256 levels."""
    low, high, low_out, high_out = _range_of(node)
    same = np.array_equal(low, low_out) and np.array_equal(high, high_out)
    return bool(same and node.get_attributes()["levels"] == 256)


def widen(graph: Graph, node: Node) -> None:
    """The range is wider by 1/128, from -127/128 of the upper end, with the zero point 127."""
    low, high = (_range_of(node)[i].astype(np.float64) for i in (0, 1))
    step = np.maximum(-low / 127, high / 128)
    for index in (1, 3):
        for offset, multiple in ((0, -127), (1, 128)):
            end = ops.constant((multiple * step).astype(np.float32))
            rewire(node, index + offset, end.output(0))
