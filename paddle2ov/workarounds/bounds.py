"""Sizes that are unknown at compilation, about which OpenVINO assumes too much."""

from __future__ import annotations

from openvino import Node, Output

from paddle2ov.graph.constants import constant_of, ints_of
from paddle2ov.graph.consumers import revalidate
from paddle2ov.graph.expected_dims import expect_dims
from paddle2ov.graph.loop_shapes import hide_dims
from paddle2ov.graph.opaque_values import opaque_one
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.upstream import upstream
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.replacement import insert, replace
from paddle2ov.passes.rule import MatchFailureError, at, require
from paddle2ov.typing import known

_TILE_RANK = 6


def _may_be_constant(value: Output) -> bool:
    """Whether a tensor depends only on constants and on inputs of static shape, which in a body may be constants."""
    return not any(
        node.get_type_name() == "Parameter" and node.get_output_partial_shape(0).is_dynamic
        for node in upstream([value.get_node()])
    )


@at("Slice", when=lambda index, place: None in (index.read_dims(place) or ()))
def sliced_sizes(graph: Graph, node: Node) -> list[tuple[Node, Output]] | None:
    """OpenVINO considers two sizes equal if their bounds are, and writes what has one size to memory for the other.

    Of at most n elements, a Slice between computed ends has at most n as well; of at least 1, every second one is at
    least 1. Assignments to such slices failed or ended the process.

    Given:
        Slice whose start or end is no constant, along an axis of unknown but bounded size; or with steps other than 1
        along an axis of which only the least size is known, and is not 0.
    """
    is_computed = any(constant_of(end) is None for end in node.input_values()[1:3])
    steps = ints_of(node.input_value(3))
    has_steps = steps is None or any(step != 1 for step in steps)
    shape = node.get_input_partial_shape(0)
    if not (is_computed or has_steps) or shape.rank.is_dynamic:
        return None
    axes = ints_of(node.input_value(4)) if node.get_input_size() > 4 else None
    dims = [shape[axis] for axis in (range(len(shape)) if axes is None else axes)]
    is_bounded = is_computed and any(dim.is_dynamic and dim.get_max_length() != -1 for dim in dims)
    has_least = has_steps and any(dim.get_max_length() == -1 and dim.get_min_length() > 0 for dim in dims)
    if not is_bounded and not has_least:
        return None
    one = opaque_one([node.input_value(0)])
    if one is None:
        raise MatchFailureError("it slices what depends on no input")
    return [(node, one)]


def hide_sizes(graph: Graph, site: tuple[Node, Output]) -> None:
    """Reshape to sizes that each run computes → Slice."""
    node, one = site
    x = node.input_value(0)
    insert([node.input(0)], hide_dims(x, x.get_partial_shape(), one), node)
    revalidate(node)


@at("MatMul", when=lambda index, place: None in (index.read_dims(place) or [])[-2:])
def inner_dims(graph: Graph, node: Node) -> list[tuple[Node, int, int]] | None:
    """OpenVINO multiplies by constant weights [8, 4] whatever the run-time width of the data: it reads eight numbers.

    A linear layer over a dynamic last dimension read beyond its input, or left out some of it.

    Given:
        MatMul of data with a dynamic number of features and weights for a static number, which are computed from
        constants or from inputs of static shape.
    """
    data, weights = known(dims_of(node.input_value(0))), dims_of(node.input_value(1))
    attributes = node.get_attributes()
    axis = len(data) - (2 if attributes["transpose_a"] and len(data) > 1 else 1)
    if data[axis] is not None:
        return None
    if not weights:
        raise MatchFailureError("the rank of the weights is not known")
    size = weights[-1 if attributes["transpose_b"] or len(weights) == 1 else -2]
    if size is None or not _may_be_constant(node.input_value(1)):
        raise MatchFailureError("the weights are computed from tensors of unknown shape")
    return [(node, axis, size)]


def check_features(graph: Graph, site: tuple[Node, int, int]) -> None:
    """The data is reshaped to that number of features and back, which moves nothing and fails for any other number."""
    node, axis, size = site
    insert([node.input(0)], expect_dims(node.input_value(0), {axis: size}), node)


@at("MatMul", when=lambda index, place: len(index.read_dims(place, 1) or ()) == 3)
def batched_weights(graph: Graph, node: Node) -> list[Node] | None:
    """OpenVINO takes a product with constant weights of rank 3 for a linear layer, which has the batch of the data.

    Where that is broadcast to the batch of the weights, [1, N, 4] by [3, 4, 5] fails in the run, and [N, 4] by
    [3, 4, 5] does not compile. Experts get the same tokens this way.

    Given:
        MatMul of data [M, K] or [B, M, K], with a dynamic dimension and B not known to equal E, and weights [E, K, N]
        that are computed from constants, E other than 1. Either may be transposed.
    """
    data, weights = (dims_of(value) for value in node.input_values())
    if data is None or weights is None or len(weights) != 3 or weights[0] == 1 or len(data) not in (2, 3):
        return None
    if None not in data:
        return None
    if len(data) == 3 and data[0] is not None and data[0] == weights[0]:
        raise MatchFailureError("nothing is broadcast")
    require(_may_be_constant(node.input_value(1)), "the weights are computed from tensors of unknown shape")
    return [node]


def multiply_at_rank_4(graph: Graph, node: Node) -> None:
    """The product of both at rank 4 (Unsqueeze → MatMul → Squeeze)."""
    data, weights = node.input_values()
    attributes, zero = node.get_attributes(), ints([0])
    wide = ops.unsqueeze(data, ints(range(4 - len(known(dims_of(data))))))
    product = ops.matmul(wide, ops.unsqueeze(weights, zero), attributes["transpose_a"], attributes["transpose_b"])
    replace(node.output(0), ops.squeeze(product, zero).output(0))


@at("Tile")
def unit_tiles(graph: Graph, node: Node) -> list[Node] | None:
    """OpenVINO tiles rank 4 and 5 with channels last, and takes channels-first memory of one pixel or channel for that.

    `paddle.tile` of a pooled image, as in context decoders, gave pixels of other channels with a dynamic batch. There
    is no such layout of rank 6.

    Given:
        Tile of [N, C, 1, 1], [N, C, 1, 1, 1], [N, 1, H, W] or [N, 1, D, H, W] with a dynamic dimension, by constant
        repeats.
    """
    dims = dims_of(node.input_value(0))
    if dims is None or len(dims) not in (4, 5) or None not in dims:
        return None
    if dims[1] != 1 and any(size != 1 for size in dims[2:]):
        return None
    repeats = ints_of(node.input_value(1))
    if repeats is None:
        raise MatchFailureError("its repeats are not constant")
    require(len(repeats) <= len(dims), "its result has more axes")
    return [node]


def tile_at_rank_6(graph: Graph, node: Node) -> None:
    """Unsqueeze → Tile → Squeeze."""
    repeats = known(ints_of(node.input_value(1)))
    added = ints(range(_TILE_RANK - len(known(dims_of(node.input_value(0))))))
    times = ints([1] * (_TILE_RANK - len(repeats)) + repeats)
    replace(node.output(0), ops.squeeze(ops.tile(ops.unsqueeze(node.input_value(0), added), times), added).output(0))
