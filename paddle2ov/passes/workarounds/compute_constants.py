"""What layers compute from constants alone is computed at conversion.

OpenVINO 2026.4 folds no convolutions, poolings and recurrent layers. Its CPU plugin computes those over constants in
the first run, and keeps the result where what reads it, such as a sum, may write over it: the second run reads that.
Recurrent layers over constants it does not compile for bfloat16.
"""

from __future__ import annotations

from openvino import Model, Node

from paddle2ov.graph.core import shared_core
from paddle2ov.graph.opset import ops
from paddle2ov.passes.graph import Counts, Graph

_KINDS = (
    "AvgPool",
    "Convolution",
    "ConvolutionBackpropData",
    "GRUSequence",
    "GroupConvolution",
    "GroupConvolutionBackpropData",
    "LSTMSequence",
    "MaxPool",
    "RNNSequence",
)
_VARYING = ("If", "Loop", "Multinomial", "Parameter", "RandomUniform", "ReadValue", "TensorIterator")


def compute_constants(graph: Graph) -> Counts:
    """A layer over constants becomes what it computes.

    Given:
        A convolution, pooling or recurrent layer, all of whose inputs are constants, or computed from constants.
    Result:
        Constants.
    """
    judged: dict[str, bool] = {}
    found = [node for node in graph.nodes(*_KINDS) if _is_constant(node, judged)]
    outputs = [output for node in found for output in node.outputs() if output.get_target_inputs()]
    if outputs:
        readers = [output.get_target_inputs() for output in outputs]
        alone = Model([ops.result(output) for output in outputs], [])
        compiled = shared_core().compile_model(alone, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        values = list(compiled([]).values())
        for ports, value in zip(readers, values, strict=True):
            constant = ops.constant(value)
            for port in ports:
                port.replace_source_output(constant.output(0))
        graph.changed()
    return {"layers": len(found)}


def _is_constant(node: Node, judged: dict[str, bool]) -> bool:
    """Whether nothing that the node is computed from differs between runs; `judged` holds what is known of others."""
    path = [node]
    while path:
        one = path[-1]
        name = one.get_name()
        inputs = [] if name in judged else [value.get_node() for value in one.input_values()]
        if one.get_type_name() in _VARYING or any(judged.get(other.get_name()) is False for other in inputs):
            judged[name] = False
        unknown = next((other for other in inputs if other.get_name() not in judged), None)
        if name in judged or unknown is None:
            judged.setdefault(name, True)
            path.pop()
        else:
            path.append(unknown)
    return judged[node.get_name()]
