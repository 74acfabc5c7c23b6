"""Computes values that depend on constants alone, each node apart from the others.

Nodes that are compiled together are fused, share memory and are folded, some of it wrongly. The other rewrites guard
against that in models with inputs. None of it happens to a node that reads no other node and whose first input is an
input of the model.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from openvino import Model, Node, Output, PartialShape, Tensor
from openvino.op import Constant, Parameter

from paddle2ov.errors import RewriteError
from paddle2ov.graph.core import shared_core
from paddle2ov.graph.evaluation import evaluate_node
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import static_dims
from paddle2ov.passes.neighbours import key_of

DATA_MOVEMENT = frozenset(
    (
        *("Broadcast", "Concat", "Constant", "Gather", "GatherElements", "GatherND", "Reshape", "Slice"),
        *("SliceScatter", "Split", "Squeeze", "Transpose", "Unsqueeze", "VariadicSplit"),
    )
)
"""Node types whose outputs hold only elements of their inputs."""
_MAX_EVALUATED = 1 << 22
"""How many elements, or multiply-adds, of a node the reference evaluation is to compute, in a tenth of a second."""
_MAX_COMPILED = 256
"""How many models are compiled, in a second or two."""
_MAX_HELD = 1 << 27
"""How many bytes of results are held at once, those of constants aside."""

_Key = tuple[str, int]
"""The name of a node, and which of its outputs."""


def compute_apart(outputs: Sequence[Output]) -> list[Tensor]:
    """The values of outputs that depend on constants alone; the nodes stay as they are.

    OpenVINO's reference implementation evaluates the nodes that it supports and computes quickly. The others are
    compiled for the CPU; those whose inputs are all known at that point share one model.

    Raises:
        RewriteError: too many models would have to be compiled, or too much be held in memory.
    """
    model = Model([ops.result(output) for output in outputs], []).clone()  # its nodes are detached from each other
    wanted = [key_of(node.input_value(0)) for node in model.get_results()]
    nodes = [node for node in model.get_ordered_ops() if node.get_type_name() != "Result"]
    computation = _Computation(nodes, {name for name, _ in wanted})
    computation.run()
    return [computation.values[item] for item in wanted]


class _Computation:
    """Holds results until all their readers are computed; those of the wanted nodes stay."""

    def __init__(self, nodes: Sequence[Node], wanted: Collection[str]) -> None:
        self.values: dict[_Key, Tensor] = {}
        self._wanted = wanted
        self._outputs = {node.get_name(): node.get_output_size() for node in nodes}
        self._sizes: dict[str, int] = {}
        self._held = 0
        self._sources = {node.get_name(): [key_of(value) for value in node.input_values()] for node in nodes}
        self._readers: dict[str, list[Node]] = {name: [] for name in self._sources}
        self._missing: dict[str, int] = {}
        for node in nodes:
            read = {name for name, _ in self._sources[node.get_name()]}
            self._missing[node.get_name()] = len(read)
            for name in read:
                self._readers[name].append(node)
        self._unread = {name: len(readers) for name, readers in self._readers.items()}
        self._ready = [node for node in nodes if not self._missing[node.get_name()]]

    def run(self) -> None:
        for _ in range(_MAX_COMPILED + 1):
            if not self._ready:
                return
            waiting = []
            while self._ready:
                node = self._ready.pop()
                outputs = _evaluated(node, self._inputs(node))
                if outputs is None:
                    waiting.append(node)
                else:
                    self._finish(node, outputs)
            self._compute(waiting)
        raise RewriteError(
            "constants.compute",
            f"more than {_MAX_COMPILED} nodes that OpenVINO does not evaluate are computed from one another, and from "
            "constants alone",
        )

    def _inputs(self, node: Node) -> list[Tensor]:
        return [self.values[item] for item in self._sources[node.get_name()]]

    def _finish(self, node: Node, outputs: Sequence[Tensor]) -> None:
        name = node.get_name()
        self.values |= {(name, i): output for i, output in enumerate(outputs)}
        self._hold(node, sum(output.get_byte_size() for output in outputs))
        for reader in self._readers[name]:
            self._missing[reader.get_name()] -= 1
            if not self._missing[reader.get_name()]:
                self._ready.append(reader)
        for source in {source for source, _ in self._sources[name]}:
            self._unread[source] -= 1
            if not self._unread[source] and source not in self._wanted:
                self._release(source)

    def _hold(self, node: Node, size: int) -> None:
        if isinstance(node, Constant):
            return
        self._sizes[node.get_name()] = size
        self._held += size
        if self._held > _MAX_HELD:
            raise RewriteError(
                "constants.compute",
                f"'{node.get_friendly_name()}' is computed from constants alone, and OpenVINO computes it wrongly "
                f"unless it is computed at conversion, which is done in {_MAX_HELD} bytes at most",
            )

    def _release(self, name: str) -> None:
        self._held -= self._sizes.pop(name, 0)
        for i in range(self._outputs[name]):
            del self.values[name, i]

    def _compute(self, nodes: Sequence[Node]) -> None:
        """Computes nodes that do not depend on each other as parts of one model."""
        if not nodes:
            return
        parameters, inputs = [], []
        for node in nodes:
            first, *others = self._inputs(node)
            parameters.append(Parameter(first.get_element_type(), PartialShape(first.get_shape())))
            inputs.append(first)
            for port, source in zip(node.inputs(), [parameters[-1], *map(Constant, others)], strict=True):
                port.replace_source_output(source.output(0))
        results = [ops.result(output) for node in nodes for output in node.outputs()]
        compiled = shared_core().compile_model(Model(results, parameters), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        request = compiled.create_infer_request()
        request.infer(inputs)
        outputs = [request.get_output_tensor(i) for i in range(len(results))]
        for node in nodes:
            count = node.get_output_size()
            self._finish(node, outputs[:count])
            outputs = outputs[count:]


def _evaluated(node: Node, inputs: Sequence[Tensor]) -> list[Tensor] | None:
    if isinstance(node, Constant):
        return [node.get_tensor_view()]
    depth = inputs[0].get_shape()[-1] if node.get_type_name() == "MatMul" else 1
    sizes = (math.prod(static_dims(output) or ()) for output in node.outputs())
    return evaluate_node(node, inputs) if max(sizes) * depth <= _MAX_EVALUATED else None
