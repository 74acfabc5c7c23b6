"""Recurrent layers and cells that OpenVINO takes for others, or does not compile."""

from __future__ import annotations

from openvino import Input, Node

from paddle2ov.graph.constants import constant_of, ints_of, number_of
from paddle2ov.graph.consumers import Consumer, consumers, readers
from paddle2ov.graph.node_kinds import RECURRENT
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of, is_single
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.replacement import insert, replace
from paddle2ov.passes.rule import MatchFailureError, at, require

_ACTIVATIONS = ("Relu", "Sigmoid", "Tanh")
_GATES, _INPUT, _CELL, _FORGET = 4, 0, 1, 2
_VARYING = frozenset(("Parameter", "RandomUniform", "ReadValue"))
_OPAQUE = frozenset(("ShapeOf", "If", "Loop", "TensorIterator"))
_RESHAPING = ("Broadcast", "Reshape", "Tile")
"""Node types whose second input is, or multiplies, the shape of their output."""


@at("Split", reads=("Add",))
def gates_in_another_order(graph: Graph, split: Node) -> list[Input] | None:
    """OpenVINO makes an LSTMCell of a cell over joint weights whose forget gate has a bias of its own.

    It takes the four parts for the gates i, c, f, o, whatever is done with them: in another order it fails to compile,
    or exchanges gates.

    Given:
        Split of a sum in four, of which one has a constant of one element added before its activation.
    """
    if split.get_output_size() != _GATES or split.input_value(0).get_node().get_type_name() != "Add":
        return None
    biases = [bias for output in split.outputs() for port in consumers(output) if (bias := _bias(graph, port))]
    if not biases:
        return None
    require(len(biases) <= 1, "several gates have biases")
    gate = biases[0].get_node().input_value(1 - biases[0].get_index())
    if gate.get_index() == _FORGET and _are_multiplied(split, _INPUT, _CELL):
        raise MatchFailureError("the gates are in the order that OpenVINO expects")
    return biases


def _bias(graph: Graph, reader: Consumer) -> Input | None:
    """The constant of one element that is added to a gate."""
    node = reader.get_node()
    if node.get_type_name() != "Add" or not any(reader.get_type_name() in _ACTIVATIONS for reader in readers(node)):
        return None
    other = node.input(1 - reader.get_index())
    value = other.get_source_output()
    return other if is_single(value) and graph.is_constant(value.get_node()) else None


def _are_multiplied(split: Node, *gates: int) -> bool:
    """Whether a product reads the activations of two gates."""
    products = []
    for gate in gates:
        activations = [port.get_node() for port in consumers(split.output(gate))]
        of_gate = [reader for node in activations if node.get_type_name() in _ACTIVATIONS for reader in readers(node)]
        products.append({reader.get_name() for reader in of_gate if reader.get_type_name() == "Multiply"})
    return bool(set.intersection(*products))


@at("Split", reads=("Sigmoid",))
def gru_of_another_form(graph: Graph, split: Node) -> list[Node] | None:
    """OpenVINO makes a GRUCell of a cell over joint weights without a look at what the gates multiply.

    (1 - z) * n + z * x becomes (1 - z) * n + z * h. With a bias of one dimension it does not compile.

    Given:
        Concat → MatMul → Add → Sigmoid → Split in two.
    """
    sigmoid = split.input_value(0).get_node()
    if split.get_output_size() != 2:
        return None
    source = sigmoid.input_value(0).get_node()
    sides = [value.get_node() for value in source.input_values()] if source.get_type_name() == "Add" else [source]
    products = [side for side in sides if side.get_type_name() == "MatMul"]
    if all(product.input_value(0).get_node().get_type_name() != "Concat" for product in products):
        raise MatchFailureError("the gates are not of joint weights")
    require(number_of(split.input_value(1)) is not None, "the axis is computed")
    return [split]


def split_before_sigmoid(graph: Graph, split: Node) -> None:
    """Each gate has a Sigmoid of its own (Split → Sigmoid)."""
    before = split.input_value(0).get_node().input_value(0)
    for old, part in zip(split.outputs(), ops.split(before, split.input_value(1), 2).outputs(), strict=True):
        replace(old, ops.sigmoid(part).output(0))


@at(*sorted(RECURRENT))
def layer_of_constants(graph: Graph, layer: Node) -> list[Input] | None:
    """In bfloat16 OpenVINO compiles no recurrent layer over a value that it computes once, such as zeros of a size.

    Nor over a constant that a loop or a branch may yield.

    Given:
        A recurrent layer over a sequence that depends on no Parameter, except through its shape, a branch or a loop.
    """
    source = layer.input_value(0).get_node()
    return [layer.input(0)] if graph.is_independent(source, _VARYING, _OPAQUE) else None


@at(*sorted(RECURRENT))
def layer_of_computed_shape(graph: Graph, layer: Node) -> list[tuple[Node, list[int]]] | None:
    """OpenVINO forgets which elements of a computed shape are constant.

    A sequence of static batch that is repeated or reshaped to such a shape then has a dynamic batch, and its recurrent
    layer does not compile with states of a static one.

    Given:
        A recurrent layer over a sequence [N, T, I] with an unknown dimension that is computed from a tensor reshaped to
        a computed shape, and initial states [N, D, H] of known N.
    """
    dims, states = dims_of(layer.input_value(0)), dims_of(layer.input_value(1))
    if dims is None or states is None or None not in dims or states[0] is None:
        return None
    source = layer.input_value(0).get_node()
    if source.get_type_name() == "Reshape" and (ints_of(source.input_value(1)) or [0])[0] == states[0]:
        raise MatchFailureError("the batch is pinned")
    require(_has_computed_shape(source), "the shape of the sequence is not computed")
    steps, features = dims[1:]
    if steps is None:  # OpenVINO does not compile the layer with 0 here, in some models
        steps = 0 if dims[0] is None else -1
    return [(layer, [states[0], steps, features or 0])]


def _has_computed_shape(node: Node) -> bool:
    """Whether what a node computes, or the first input of it and so on, has been reshaped to a computed shape."""
    while node.get_input_size():
        if node.get_type_name() in _RESHAPING and constant_of(node.input_value(1)) is None:
            return True
        node = node.input_value(0).get_node()
    return False


def pin_batch(graph: Graph, site: tuple[Node, list[int]]) -> None:
    """The sequence is reshaped to the batch of the states: [N, -1, I], with 0, which keeps a size, for an unknown I.

    If the sequence has an unknown N, T is kept as well, so that another N is an error.
    """
    layer, dims = site
    insert([layer.input(0)], ops.reshape(layer.input_value(0), ints(dims), True).output(0), layer)
