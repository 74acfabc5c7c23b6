"""The types that the layers of a compiled model run in."""

from __future__ import annotations

from dataclasses import dataclass

from openvino import CompiledModel, Node

_LAYERS = frozenset(("Convolution", "Deconvolution", "FullyConnected", "MatMul", "RNNCell", "RNNSeq"))
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


def layers_of(compiled: CompiledModel) -> list[Layer]:
    """The layers in the order of execution, as the device runs them."""
    found = []
    for node in compiled.get_runtime_model().get_ordered_ops():
        kind = _info(node, "layerType")
        if kind not in _LAYERS:
            continue
        name = _info(node, "originalLayersNames").split(",")[0] or node.get_friendly_name()
        precision = _info(node, "runtimePrecision")
        found.append(Layer(name, kind, precision, "" if precision in _INTEGERS else _why_float(node, kind)))
    return found


def _why_float(node: Node, kind: str) -> str:
    if kind == "RNNCell" or kind == "RNNSeq":
        return "its states are in floating point"
    sources = [value.get_node() for value in node.input_values()[:2]]
    quantized = ["FakeQuantize" in _info(one, "originalLayersNames") + _info(one, "layerType") for one in sources]
    if any(quantized):
        return "one of its operands is not quantized" if not all(quantized) else "the device has no such kernel in int8"
    return "what it reads is not quantized"


def _info(node: Node, key: str) -> str:
    info = node.get_rt_info()
    return str(info[key].astype(str)) if key in info else ""


__all__ = ["Layer", "layers_of"]
