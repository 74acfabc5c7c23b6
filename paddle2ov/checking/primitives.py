"""The primitives that the device made of a model, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from openvino import Model

from paddle2ov.checking.device import Device

_NOT_COMPUTED = frozenset(("Input", "Output", "Const", "Parameter", "Result", "Constant"))


def primitive_lines(model: Model, device: Device) -> tuple[str, ...]:
    """The primitives of a model in order, as "type kernel: nodes"; none where the device does not tell."""
    try:
        return tuple(_described(device.compile(model).get_runtime_model()))
    except RuntimeError:
        return ()


def _described(runtime: Model) -> Iterator[str]:
    for node in runtime.get_ordered_ops():
        info = {key: _text(value) for key, value in node.get_rt_info().items()}
        kind = info.get("layerType", node.get_type_name())
        if kind not in _NOT_COMPUTED:
            yield f"{kind} {info.get('primitiveType', '')}: {info.get('originalLayersNames', '')}".strip(" :")


def _text(value: Any) -> str:
    return str(value.value if hasattr(value, "value") else value)


__all__ = ["primitive_lines"]
