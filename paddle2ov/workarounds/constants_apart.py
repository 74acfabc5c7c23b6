"""Computes values that depend on constants alone, each node apart from the others.

Nodes that are compiled together are fused, share memory and are folded, some of it wrongly. The other rewrites guard
against that in models with inputs. None of it happens to a node that reads no other node and whose first input is an
input of the model.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Sequence

from openvino import Model, Node, Output, PartialShape, Tensor
from openvino.op import Constant, Parameter

from paddle2ov.errors import RewriteError
from paddle2ov.graph.constants import known
from paddle2ov.graph.consumers import key_of
from paddle2ov.graph.core import shared_core
from paddle2ov.graph.evaluation import evaluate_node
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import static_dims

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
    left = [node for node in model.get_ordered_ops() if node.get_type_name() != "Result"]
    values = _Values(left, {name for name, _ in wanted})
    for _ in range(_MAX_COMPILED + 1):
        waiting, nodes, left = [], left, []
        for node in nodes:
            inputs = values.read_by(node)
            if inputs is None:
                left.append(node)
            elif (computed := _evaluated(node, inputs)) is not None:
                values.add(node, computed)
            else:
                waiting.append(node)
        if not waiting:
            return [values[item] for item in wanted]
        _compute(waiting, values)
    raise RewriteError(
        "constants.compute",
        f"more than {_MAX_COMPILED} nodes that OpenVINO does not evaluate are computed from one another, and from "
        "constants alone",
    )


class _Values:
    """Results, which are held until all that read them are computed; those of the wanted nodes stay."""

    def __init__(self, nodes: Sequence[Node], wanted: Collection[str]) -> None:
        self._values: dict[_Key, Tensor] = {}
        self._wanted = wanted
        self._held = 0
        self._sizes: dict[str, list[int]] = {}  # in bytes, of each output
        self._sources = {node.get_name(): [key_of(value) for value in node.input_values()] for node in nodes}
        self._unread = Counter(name for read in self._sources.values() for name in {name for name, _ in read})

    def __getitem__(self, key: _Key) -> Tensor:
        return self._values[key]

    def read_by(self, node: Node) -> list[Tensor] | None:
        """What a node reads; None while some of it is not computed."""
        keys = self._sources[node.get_name()]
        return [self._values[key] for key in keys] if all(key in self._values for key in keys) else None

    def add(self, node: Node, outputs: Sequence[Tensor]) -> None:
        name = node.get_name()
        self._values |= {(name, i): output for i, output in enumerate(outputs)}
        is_constant = isinstance(node, Constant)
        self._sizes[name] = [0 if is_constant else output.get_byte_size() for output in outputs]
        self._held += sum(self._sizes[name])
        if self._held > _MAX_HELD:
            raise RewriteError(
                "constants.compute",
                f"'{node.get_friendly_name()}' is computed from constants alone, and OpenVINO computes it wrongly "
                f"unless it is computed at conversion, which is done in {_MAX_HELD} bytes at most",
            )
        for source in {source for source, _ in self._sources[name]}:
            self._unread[source] -= 1
            if not self._unread[source] and source not in self._wanted:
                for i, size in enumerate(self._sizes[source]):
                    self._held -= size
                    del self._values[source, i]


def _compute(nodes: Sequence[Node], values: _Values) -> None:
    """Computes nodes that do not depend on each other as parts of one model."""
    parameters, inputs = [], []
    for node in nodes:
        first, *others = known(values.read_by(node))
        parameters.append(Parameter(first.get_element_type(), PartialShape(first.get_shape())))
        inputs.append(first)
        for port, source in zip(node.inputs(), [parameters[-1], *map(Constant, others)], strict=True):
            port.replace_source_output(source.output(0))
    results = [ops.result(output) for node in nodes for output in node.outputs()]
    compiled = shared_core().compile_model(Model(results, parameters), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    request.infer(inputs)
    outputs = iter([request.get_output_tensor(i) for i in range(len(results))])
    for node in nodes:
        values.add(node, list(itertools.islice(outputs, node.get_output_size())))


def _evaluated(node: Node, inputs: Sequence[Tensor]) -> list[Tensor] | None:
    if isinstance(node, Constant):
        return [node.get_tensor_view()]
    depth = inputs[0].get_shape()[-1] if node.get_type_name() == "MatMul" else 1
    sizes = (math.prod(static_dims(output) or ()) for output in node.outputs())
    return evaluate_node(node, inputs) if max(sizes) * depth <= _MAX_EVALUATED else None
