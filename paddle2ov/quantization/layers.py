"""The types that the layers of a compiled model run in."""

from __future__ import annotations

from dataclasses import dataclass

from openvino import CompiledModel, Model, Node

from paddle2ov.compilation.runtime_info import runtime_info
from paddle2ov.graph.bodies import walk
from paddle2ov.graph.upstream import source_behind
from paddle2ov.passes.integer_tensors import holds_integers

_LAYERS = frozenset(("Convolution", "Deconvolution", "FullyConnected", "MatMul", "RNNCell", "RNNSeq"))
_KEEPING = frozenset(
    ("MaxPool", "Multiply", "Relu", "Reshape", "Split", "Squeeze", "Subtract", "Transpose", "Unsqueeze")
)
"""Node types that keep integers with a scale as they are."""
_INTEGERS = ("i8", "u8", "i4", "u4")


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer with weights, or a MatMul of two activations.

    Attributes:
        name: of the node in the model.
        kind: OpenVINO's name for what it runs as.
        precision: the type that it reads, such as "u8" or "f32".
        why_float: why it computes in floating point; "" where it does not.
    """

    name: str
    kind: str
    precision: str
    why_float: str = ""


def layers_of(compiled: CompiledModel, model: Model) -> list[Layer]:
    """The layers in the order of execution, as the device runs them; the model tells what is quantized."""
    nodes = {node.get_friendly_name(): node for node in walk(model)}
    layers = []
    for primitive in compiled.get_runtime_model().get_ordered_ops():
        kind = runtime_info(primitive, "layerType")
        if kind not in _LAYERS:
            continue
        names = runtime_info(primitive, "originalLayersNames").split(",")
        named = [nodes[name] for name in names if name in nodes]
        node = next(filter(_is_layer, (*named, *map(_without_affine, named))), None)
        name = node.get_friendly_name() if node is not None else names[0] or primitive.get_friendly_name()
        precision = runtime_info(primitive, "runtimePrecision")
        layers.append(Layer(name, kind, precision, "" if precision in _INTEGERS else _why_float(node, kind)))
    return layers


def is_quantized(model: Model) -> bool:
    """Whether a model contains a FakeQuantize."""
    return any(node.get_type_name() == "FakeQuantize" for node in walk(model))


def _without_affine(node: Node) -> Node:
    """What a constant scale and bias are applied to: OpenVINO fuses these into a layer, and drops the layer's name."""
    while node.get_type_name() in ("Add", "Multiply"):
        value, constant = node.input_values()
        if constant.get_node().get_type_name() != "Constant":
            break
        node = value.get_node()
    return node


def _is_layer(node: Node) -> bool:
    return node.get_type_name() == "MatMul" or "Convolution" in node.get_type_name()


def _why_float(node: Node | None, kind: str) -> str:
    if kind in ("RNNCell", "RNNSeq"):
        return "its states are in floating point"
    if node is None:
        return "OpenVINO made it of other nodes"
    data, weights = (holds_integers(value, _KEEPING) for value in node.input_values()[:2])
    if data and weights:
        return "the device has no such kernel in int8"
    if not data:
        return "what it reads is not quantized"
    is_constant = source_behind(node.input_value(1), _KEEPING).get_type_name() == "Constant"
    return "its weights are not quantized" if is_constant else "its second operand is not quantized"
