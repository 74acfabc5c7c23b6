"""Constants along the last axis that OpenVINO may fuse into a MatMul."""

from __future__ import annotations

from openvino import Input, Node

from paddle2ov.graph.constants import constant_of
from paddle2ov.passes.consumers import nearest, readers
from paddle2ov.passes.kinds import ELEMENTWISE

_FUSED = ("Add", "Divide", "Multiply", "PRelu", "Subtract")


def rows_after(product: Node) -> list[Input]:
    """The inputs of the elementwise nodes after a MatMul that are constants along the last axis only."""
    return [port for one in nearest(readers(product), _FUSED, ELEMENTWISE, readers) for port in _rows(one)]


def _rows(node: Node) -> list[Input]:
    found = []
    for port in node.inputs():
        array = constant_of(port.get_source_output())
        if array is not None and array.ndim and 1 < array.shape[-1] == array.size:
            found.append(port)
    return found


__all__ = ["rows_after"]
