"""The primitives that the device made of a model, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from openvino import Model

from paddle2ov.checking.device import Device
from paddle2ov.compilation.runtime_info import runtime_info

_NOT_COMPUTED = frozenset(("Input", "Output", "Const", "Parameter", "Result", "Constant"))


def primitive_lines(model: Model, device: Device) -> tuple[str, ...]:
    """The primitives of a model in order, as "type kernel: nodes"; none where the device does not tell."""
    try:
        return tuple(_described(device.compile(model).get_runtime_model()))
    except RuntimeError:
        return ()


def _described(runtime: Model) -> Iterator[str]:
    for node in runtime.get_ordered_ops():
        kind = runtime_info(node, "layerType") or node.get_type_name()
        if kind not in _NOT_COMPUTED:
            kernel, names = runtime_info(node, "primitiveType"), runtime_info(node, "originalLayersNames")
            yield f"{kind} {kernel}: {names}".strip(" :")
