"""Ties: choices between nearly equal numbers, where the device and the reference may both be right.

A comparison, a sort, a suppression or a rounding to integers turns a small error into a large one. The values that such
nodes read and wrote on the device are taken from the same model with these values as additional results. The device's
choice is taken over, and counted as a tie, if

- what the node read agrees with the reference, within what rounding allows, and
- the node alone, on exactly what it read, chooses the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from openvino import Model, Node, Output, Tensor

from paddle2ov.checking.device import Device
from paddle2ov.comparison.evaluator import Evaluator, ValueKey, keys_read, node_number, nodes_by_number
from paddle2ov.comparison.rounding import Lanes, chooses, compare
from paddle2ov.comparison.single_node import Kernel
from paddle2ov.comparison.tensors import is_same, to_array
from paddle2ov.graph.opset import ops


@dataclass(frozen=True, slots=True)
class NodeTie:
    """A node that chose otherwise between nearly equal numbers: its type and name, and how many elements differ."""

    type: str
    name: str
    moved: int
    elements: int

    def describe(self) -> str:
        """In words."""
        return (
            f"{self.type} '{self.name}' chooses otherwise between nearly equal numbers: {self.moved} of {self.elements}"
        )


@dataclass(frozen=True, slots=True)
class ObservedNode:
    """What a node read and wrote; None for what is constant, or could not be seen."""

    read: Sequence[Tensor | None]
    wrote: Sequence[Tensor]


@dataclass(slots=True)
class Choices:
    """Replaces the choices of the reference by those of the device, where these are valid."""

    reference: Evaluator
    observed: Mapping[int, ObservedNode]
    ties: list[NodeTie] = field(default_factory=list)

    def __call__(self, number: int, node: Node, read: Sequence[Lanes], wrote: Sequence[Tensor]) -> Sequence[Tensor]:
        """The observed outputs if they are a choice between nearly equal numbers, else those of the reference."""
        seen = self.observed.get(number)
        if seen is None or all(map(is_same, seen.wrote, wrote)):
            return wrote
        kernel = self.reference.kernel(number)
        unit = self.reference.rounding.unit
        inputs = [item if item is not None else lanes[0] for item, lanes in zip(seen.read, read, strict=True)]
        if any(compare(item, lanes, unit).reason for item, lanes in zip(inputs, read, strict=True)):
            return wrote
        if not _is_right(kernel, node, inputs, seen.wrote, unit):
            return wrote
        name = node.get_friendly_name()
        if all(tensor.get_shape() == other.get_shape() for tensor, other in zip(seen.wrote, wrote, strict=True)):
            pairs = [(to_array(a), to_array(b)) for a, b in zip(seen.wrote, wrote, strict=True)]
            moved, elements = max(((a != b).sum(), a.size) for a, b in pairs)
        else:
            moved = elements = max(item.size for item in wrote)
        self.ties.append(NodeTie(node.get_type_name(), name, int(moved), int(elements)))
        return seen.wrote


def _is_right(kernel: Kernel, node: Node, read: Sequence[Tensor], wrote: Sequence[Tensor], unit: float) -> bool:
    """Whether a node alone computes the same from the same; elements that are equal may stand in any order."""
    alone = kernel(read)
    if all(not compare(tensor, (other,), unit).reason for tensor, other in zip(wrote, alone, strict=True)):
        return True
    if node.get_type_name() != "TopK":
        return False
    values, indices = (to_array(item) for item in wrote)
    if values.shape != tuple(alone[0].shape):
        return False
    x, axis = to_array(read[0]), int(node.get_attributes()["axis"])
    valid = bool((indices >= 0).all()) and bool((indices < x.shape[axis]).all())
    unique = bool((np.diff(np.sort(indices, axis), axis=axis) != 0).all())
    return (
        valid
        and unique
        and np.array_equal(np.take_along_axis(x, indices.astype(np.int64), axis), to_array(alone[0]), equal_nan=True)
    )


def observe(model: Model, device: Device, sequence: Sequence[Sequence[Tensor]]) -> list[dict[int, ObservedNode]]:
    """What the nodes of a numbered model that choose read and wrote, run by run; nothing where it cannot be seen."""
    copy = model.clone()
    nodes = {number: node for number, node in nodes_by_number(copy).items() if chooses(node)}
    if not nodes:
        return [{} for _ in sequence]
    inputs = {node_number(node): i for i, node in enumerate(copy.get_parameters())}
    shown: dict[ValueKey, int] = {}
    base = len(copy.outputs)
    ports: list[Output] = []
    for node in nodes.values():
        read = [port for port in node.input_values() if port.get_node().get_type_name() != "Constant"]
        for port in (*read, *node.outputs()):
            key = (node_number(port.get_node()), port.get_index())
            if key not in shown and key[0] not in inputs:
                shown[key] = base + len(ports)
                ports.append(port)
    copy.add_results([ops.result(port) for port in ports])
    observed = []
    for input_tensors, result in zip(sequence, device.run(copy, sequence), strict=True):
        seen: dict[int, ObservedNode] = {}
        observed.append(seen)
        if isinstance(result, str):
            continue
        for number, node in nodes.items():
            read_tensors = [
                input_tensors[inputs[key[0]]] if key[0] in inputs else result[shown[key]] if key in shown else None
                for key in keys_read(node)
            ]
            seen[number] = ObservedNode(read_tensors, [result[shown[number, i]] for i in range(node.get_output_size())])
    return observed
