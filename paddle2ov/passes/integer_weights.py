"""Makes integers of weights that are whole numbers, so that OpenVINO runs their layer in int8.

PaddleSlim's older format quantizes what a layer reads, holds its weights as whole numbers in float32, and applies the
scales of both afterwards. OpenVINO's transformations for low precision look for weights with a scale.

Given:
    FakeQuantize → Convolution, GroupConvolution or MatMul, possibly with nodes between that keep integers, whose
    weights are a Constant of float32 with whole numbers from -128 to 127.
Result:
    The same with Constant of int8 → Convert → Multiply by 1 as weights, a quarter of their size. Layers that share
    weights share the Constant.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Type

from paddle2ov.graph.constants import constant_of
from paddle2ov.graph.consumers import Consumer, consumers
from paddle2ov.graph.opset import ops
from paddle2ov.graph.upstream import source_behind
from paddle2ov.passes.computed_constants import large_constant
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import at, require, rule
from paddle2ov.typing import known

_LAYERS = ("Convolution", "GroupConvolution", "MatMul")
_KEEPING = frozenset(("MaxPool", "Relu", "Reshape", "Squeeze", "Transpose", "Unsqueeze"))


@rule("layers")
@at("Constant", needs=("FakeQuantize",), read_by=_LAYERS)
def integer_weights(graph: Graph, weights: Node) -> Counts | None:
    """Keeps weights that are whole numbers as integers of 8 bits, with the scale 1."""
    layers = [reader.get_node() for reader in consumers(weights.output(0)) if _is_of_layer(reader)]
    if weights.get_element_type() != Type.f32 or not layers:
        return None
    values = known(constant_of(weights.output(0)))
    with np.errstate(invalid="ignore"):  # what int8 does not hold becomes another number
        integers = values.astype(np.int8)
    require((integers == values).all(), "the weights are not whole numbers of 8 bits")
    constant = large_constant(integers, Type.i8)
    for layer in layers:  # detectors share the weights of their heads among levels
        insert([layer.input(1)], ops.multiply(ops.convert(constant, Type.f32), np.float32(1)).output(0), layer)
    return {"layers": len(layers)}


def _is_of_layer(reader: Consumer) -> bool:
    """Whether a Constant is read as the weights of a layer over quantized data."""
    layer = reader.get_node()
    if reader.get_index() != 1 or layer.get_type_name() not in _LAYERS:
        return False
    return source_behind(layer.input_value(0), _KEEPING).get_type_name() == "FakeQuantize"
