"""What is done about a site: the smallest change after which OpenVINO's transformation does not match."""

from __future__ import annotations

from openvino import Input, Node

from paddle2ov.graph import opaque_values
from paddle2ov.graph.consumers import consumers, revalidate, rewire
from paddle2ov.graph.opset import ints, ops
from paddle2ov.passes.constant_operands import perm_of
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.replacement import insert, name_after, replace


def hide(graph: Graph, port: Input) -> None:
    """The node reads a copy of the operand that each run makes, which OpenVINO does not recognise as constant."""
    node = port.get_node()
    copy = opaque_values.hide(port.get_source_output(), graph.runtime_zero(node))
    insert([port], copy.output(0), node)


def barrier(graph: Graph, port: Input) -> None:
    """The node reads its operand through an axis that is added and dropped again (Unsqueeze → Squeeze)."""
    zero = ints([0])
    apart = ops.squeeze(ops.unsqueeze(port.get_source_output(), zero), zero)
    insert([port], apart.output(0), port.get_node())


def set_apart(graph: Graph, node: Node) -> None:
    """What reads the node reads it through an Identity, which OpenVINO eliminates as it compiles the model."""
    read = [port for port in consumers(node.output(0)) if port.get_node().get_type_name() != "Result"]
    insert(read, ops.identity(node.output(0)).output(0), read[0].get_node())  # an input is of no operator


def deepen(graph: Graph, node: Node) -> None:
    """The node computes at one rank more (Unsqueeze → the node → Squeeze)."""
    read, zero = consumers(node.output(0)), ints([0])
    rewire(node, 0, ops.unsqueeze(node.input_value(0), zero).output(0))
    revalidate(node)
    insert(read, ops.squeeze(node, zero).output(0), node)


def keep_axes(graph: Graph, node: Node) -> None:
    """Reduce with keep_dims → Squeeze → the same, which OpenVINO merges into one Reshape."""
    read = consumers(node.output(0))
    node.set_attribute("keep_dims", True)
    revalidate(node)
    insert(read, ops.squeeze(node.output(0), node.input_value(1)).output(0), node)


def deepen_transpose(graph: Graph, transpose: Node) -> None:
    """The axes are permuted at one rank more (Unsqueeze → Transpose → Reshape), by a node that copies.

    The axis is the last one: OpenVINO takes the second one for groups of channels that are shuffled, and fails where it
    is unknown. The target shape is computed from that of the input, so that the model can still be reshaped.
    """
    x, perm = transpose.input_value(0), perm_of(transpose)
    assert perm is not None, "finders leave computed permutations alone"
    permuted = ops.transpose(ops.unsqueeze(x, ints([len(perm)])), ints([*perm, len(perm)]))
    name_after(permuted, transpose, "transpose")
    target = ops.gather(ops.shape_of(x), ints(perm), ints(0))
    replace(transpose.output(0), ops.reshape(permuted, target, False).output(0))
