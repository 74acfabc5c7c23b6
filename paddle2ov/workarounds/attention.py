"""Attention, which OpenVINO fuses into one kernel, and products of one number."""

from __future__ import annotations

from openvino import Node, Output, Shape, Type
from openvino.op import Constant

from paddle2ov.graph.constants import number_of
from paddle2ov.graph.consumers import nearest, readers, rewire
from paddle2ov.graph.expected_dims import expect_dims
from paddle2ov.graph.node_kinds import ELEMENTWISE, MOVES, UNARY
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of, is_single
from paddle2ov.graph.upstream import sources_of
from paddle2ov.passes.constant_operands import perm_of
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.index import Index
from paddle2ov.passes.replacement import name_after, replace
from paddle2ov.passes.rule import MatchFailureError, at, require
from paddle2ov.typing import known

_ATTENTION = "ScaledDotProductAttention"
_EPSILON, _EPSILON_HALF = 1e-30, 1e-7
"""The constants that are added; 1e-30 is 0 in half precision. Neither changes an exponential."""


@at("Softmax", _ATTENTION)
def single_key(graph: Graph, node: Node) -> list[Node] | None:
    """OpenVINO compiles attention for the number of keys of the first run: for one key, 16 or more are wrong later.

    Unless something other than a scale or an activation, such as a mask, precedes the softmax. A decoder in a loop,
    which begins with one token, generates wrong tokens from the 16th on.

    Given:
        (a) scores [..., q, k] = MatMul, k unknown → multiplication by constants, activations, addition of a scalar that
        may be 0 → Softmax over the last axis → MatMul, possibly with reshapes in between, or (b)
        ScaledDotProductAttention with unknown k and no mask.
    """
    is_softmax = node.get_type_name() == "Softmax"
    if is_softmax and not nearest(readers(node), {"MatMul"}, MOVES, readers):
        return None
    dims = dims_of(node.input_value(0 if is_softmax else 1))
    if dims is None or len(dims) < 3:
        raise MatchFailureError("the rank is less than 3, or not known")
    if is_softmax and node.get_attributes()["axis"] not in (-1, len(dims) - 1):
        raise MatchFailureError("the softmax is not over the keys")
    if dims[-1 if is_softmax else -2] is not None:
        raise MatchFailureError("the number of keys is known")
    if is_softmax and not _is_scaled_matmul(node.input_value(0)):
        raise MatchFailureError("there is more than scales and activations before the softmax")
    mask = node.input_values()[3:4]
    if not is_softmax and (node.get_attributes()["causal"] or (mask and number_of(mask[0]) != 0)):
        raise MatchFailureError("the attention has a mask")
    return [node]


def _is_scaled_matmul(value: Output) -> bool:
    """Whether a value is a MatMul, with constant scales, activations, or an added scalar that may be 0."""
    while value.get_node().get_type_name() != "MatMul":
        node = value.get_node()
        kind, sides = node.get_type_name(), node.input_values()
        if kind in ("Multiply", "Divide"):
            variable = [side for side in sides if side.get_node().get_type_name() != "Constant"]
        elif kind in ("Add", "Subtract"):
            if any(map(number_of, sides)):
                return False  # which the remedy may have added
            variable = [side for side in sides if not is_single(side)]
        elif kind in UNARY:
            variable = sides
        elif kind in MOVES:
            variable = sides[:1]
        else:
            return False
        if len(variable) != 1:
            return False
        value = variable[0]
    return True


def _epsilon(like: Output) -> Node:
    kind = like.get_element_type()
    return Constant(kind, Shape([]), [_EPSILON_HALF if kind == Type.f16 else _EPSILON])


def add_epsilon(graph: Graph, node: Node) -> None:
    """1e-30 is added to the scores, (b) as a mask: the kernel that is then chosen is right for every k, and as fast."""
    if node.get_type_name() == "Softmax":
        scores = node.input_value(0)
        added = ops.add(scores, _epsilon(scores))
        name_after(added, node, "scores")
        rewire(node, 0, added.output(0))
    else:
        q, k, v, *rest = node.input_values()
        masked = ops.scaled_dot_product_attention(q, k, v, _epsilon(q), rest[1] if len(rest) > 1 else None)
        replace(node.output(0), masked.output(0))


_PRODUCTS = {"MatMul", _ATTENTION}
_BETWEEN = ELEMENTWISE | MOVES
"""OpenVINO removes reshapes around the products: of the transposes of one attention, none may be left as it is."""


def _moves_second_of_four(index: Index, place: int) -> bool:
    perm = index.perm(place)
    return perm is not None and len(perm) == 4 and perm[1] != 1


@at("Transpose", when=_moves_second_of_four)
def equal_axes(graph: Graph, transpose: Node) -> list[Node] | None:
    """OpenVINO fuses transposes with attention, and takes the layout of a tensor from its shape.

    That does not follow from the shape where axes of equal size change places. With four heads and four tokens, and a
    q, k or v that another node computed (normalised, or with rotary positions), tensors were read with their axes in
    the wrong order.

    Given:
        Transpose of rank 4 that moves axis 1, among axes of one known size, so that the shape stays. It is before or
        after one of the MatMuls of MatMul → elementwise → Softmax → elementwise → MatMul, or
        ScaledDotProductAttention, possibly with elementwise nodes and reshapes in between.
    """
    perm, dims = known(perm_of(transpose)), dims_of(transpose.input_value(0))
    moved = [axis for axis, source in enumerate(perm) if axis != source]
    if dims is None or None in [dims[axis] for axis in moved]:
        raise MatchFailureError("sizes are not known")
    require(all(dims[axis] == dims[perm[axis]] for axis in moved), "it changes the shape")
    products = [
        *nearest(sources_of(transpose)[:1], _PRODUCTS, _BETWEEN, sources_of),
        *nearest(readers(transpose), _PRODUCTS, _BETWEEN, readers),
    ]
    require(any(map(_is_of_attention, products)), "there is no attention next to it")
    return [transpose]


def _is_of_attention(product: Node) -> bool:
    """Whether it is attention, or a MatMul that reads the output of a Softmax or computes its scores."""
    if product.get_type_name() == _ATTENTION:
        return True
    weights = nearest(sources_of(product), {"Softmax"}, _BETWEEN, sources_of)
    return bool(weights or nearest(readers(product), {"Softmax"}, _BETWEEN, readers))


@at("MatMul", reads=("Softmax",))
def product_of_one_key(graph: Graph, product: Node) -> list[Node] | None:
    """In bfloat16, without AMX, OpenVINO returns zeros for the first of several queries that attend to one key.

    So where the batch is unknown.

    Given:
        MatMul of [..., q, 1] and [..., 1, d], neither transposed, where one of them comes from a Softmax.
    """
    weights, values = dims_of(product.input_value(0)), dims_of(product.input_value(1))
    if weights is None or values is None or min(len(weights), len(values)) < 2 or weights[-1] != 1:
        return None
    attributes = product.get_attributes()
    if attributes["transpose_a"] or attributes["transpose_b"]:
        raise MatchFailureError("one of the operands is transposed")
    require(values[-2] == 1, "it is not known that there is one value")
    return [product]


def multiply(graph: Graph, product: Node) -> None:
    """The product is a multiplication."""
    replace(product.output(0), ops.multiply(product.input_value(0), product.input_value(1)).output(0))


def _has_one_number(index: Index, place: int) -> bool:
    return {1} in (set(index.read_dims(place) or ()), set(index.read_dims(place, 1) or ()))


@at("MatMul", when=_has_one_number)
def product_with_one_number(graph: Graph, product: Node) -> list[Node] | None:
    """OpenVINO compiles a chain of layers to one kernel, but not if a constant matrix has one element.

    A chain of products and activations on one thread, a product with a softmax or before one on any number ("Layout
    rank can't be larger than tensor rank").

    Given:
        MatMul of two tensors of rank 2 or more, one of which has a single element.
    """
    ranks = [value.get_partial_shape().rank for value in product.input_values()]
    if any(rank.is_dynamic or rank.get_length() < 2 for rank in ranks):
        raise MatchFailureError("one of the tensors does not have two axes, or it is not known")
    return [product]


def multiply_by_number(graph: Graph, product: Node) -> None:
    """The other matrix, transposed as by the MatMul, is multiplied by the number.

    If the dimension along which it is summed is unknown, it is checked first, so that any other than 1 is an error.
    """
    side = 0 if is_single(product.input_value(1)) else 1
    x, unit = product.input_value(side), product.input_value(1 - side)
    rank = len(x.get_partial_shape())
    is_transposed = bool(product.get_attributes()["transpose_b" if side else "transpose_a"])
    summed = rank - 1 if is_transposed == bool(side) else rank - 2
    if (dims_of(x) or [None] * rank)[summed] is None:
        x = expect_dims(x, {summed: 1})
    if is_transposed:
        x = ops.transpose(x, ints([*range(rank - 2), rank - 1, rank - 2])).output(0)
    more = len(unit.get_partial_shape()) - rank
    if more > 0:  # OpenVINO would move the Multiply before the transpose, as if the element were a number
        x = ops.unsqueeze(x, ints(list(range(more)))).output(0)
    replace(product.output(0), ops.multiply(x, unit).output(0))
