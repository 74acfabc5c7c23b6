"""What OpenVINO says of the nodes of a compiled graph (primitives)."""

from __future__ import annotations

from openvino import Node


def runtime_info(primitive: Node, key: str) -> str:
    """A fact of a primitive, such as "layerType" or "originalLayersNames"; "" where OpenVINO does not tell."""
    info = primitive.get_rt_info()
    return str(info[key].astype(str)) if key in info else ""
