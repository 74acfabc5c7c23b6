"""Hides the bias of a gate from OpenVINO where it would take the gates of an LSTM cell for others.

OpenVINO 2026.4 makes an LSTMCell of a cell over joint weights, Concat(x, h), whose forget gate has a bias of its own.
It takes the four parts for the gates i, c, f, o, whatever is done with them: in another order it fails to compile, or
exchanges gates.
"""

from __future__ import annotations

from openvino import Input, Node

from paddle2ov.graph.shapes import static_dims
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import consumers, readers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import hide_operand
from paddle2ov.passes.rule import MatchFailureError, Rule

_ACTIVATIONS = frozenset(("Relu", "Sigmoid", "Tanh"))
_GATES, _INPUT, _CELL, _FORGET = 4, 0, 1, 2


@works_around("gates_of_lstm_cell_in_another_order")
class AvoidGateConfusion(Rule[list[Input], Input]):
    """Hides a bias that is added to one of four gates.

    Given:
        Split of a sum in four, of which one has a constant of one element added before its activation.
    Result:
        The same with a constant that OpenVINO does not recognise as one.
    """

    roots = ("Split",)
    counts = ("gates",)

    def pattern(self, graph: Graph, node: Node) -> list[Input] | None:
        if node.get_output_size() != _GATES or node.input_value(0).get_node().get_type_name() != "Add":
            return None
        found = [bias for output in node.outputs() for one in consumers(output) if (bias := _bias(graph, one))]
        return found or None

    def check(self, graph: Graph, match: list[Input]) -> Input:
        if len(match) > 1:
            raise MatchFailureError("several gates have biases")
        (bias,) = match
        gates = bias.get_node().input_value(1 - bias.get_index())
        split = gates.get_node()
        if gates.get_index() == _FORGET and _are_multiplied(split, _INPUT, _CELL):
            raise MatchFailureError("the gates are in the order that OpenVINO expects")
        return bias

    def rewrite(self, graph: Graph, plan: Input) -> Counts:
        hide_operand(plan)
        return {"gates": 1}


def _bias(graph: Graph, reader: Input) -> Input | None:
    """The constant of one element that is added to a gate."""
    node = reader.get_node()
    if node.get_type_name() != "Add" or not any(one.get_type_name() in _ACTIVATIONS for one in readers(node)):
        return None
    other = node.input(1 - reader.get_index())
    dims = static_dims(other.get_source_output())
    is_single = dims is not None and all(dim == 1 for dim in dims)
    return other if is_single and graph.is_constant(other.get_source_output().get_node()) else None


def _are_multiplied(split: Node, *gates: int) -> bool:
    """Whether a product reads the activations of two gates."""
    products = []
    for gate in gates:
        activations = [one.get_node() for one in consumers(split.output(gate))]
        of_gate = [reader for one in activations if one.get_type_name() in _ACTIVATIONS for reader in readers(one)]
        products.append({reader.get_name() for reader in of_gate if reader.get_type_name() == "Multiply"})
    return bool(set.intersection(*products))


avoid_gate_confusion = AvoidGateConfusion()
