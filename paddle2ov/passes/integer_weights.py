"""Makes integers of weights that are whole numbers, so that OpenVINO runs their layer in int8.

PaddleSlim's older format quantizes what a layer reads, holds its weights as whole numbers in float32, and applies the
scales of both afterwards. OpenVINO's transformations for low precision look for weights with a scale.

Given:
    FakeQuantize → Convolution, GroupConvolution or MatMul, possibly with nodes between that keep integers, whose
    weights are a Constant of float32 with whole numbers from -128 to 127.
Result:
    The same with Constant of int8 → Convert → Multiply by 1 as weights, a quarter of their size.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.graph.constants import constant_of
from paddle2ov.graph.opset import ops
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.integer_tensors import source_behind
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule, at
from paddle2ov.typing import AnyArray

_KEEPING = frozenset(("MaxPool", "Relu", "Reshape", "Squeeze", "Transpose", "Unsqueeze"))
_LOWEST, _HIGHEST = -128, 127


@at("Convolution", "GroupConvolution", "MatMul", needs=("FakeQuantize",))
def _whole_numbers(graph: Graph, node: Node) -> list[tuple[Node, AnyArray]] | None:
    data, weights = node.input_values()
    is_float = weights.get_element_type() == Type.f32 and weights.get_node().get_type_name() == "Constant"
    if not is_float or source_behind(data, _KEEPING).get_type_name() != "FakeQuantize":
        return None
    integers = _integers(weights)
    if integers is None:
        raise MatchFailureError("the weights are not whole numbers of 8 bits")
    return [(node, integers)]


def _store(graph: Graph, site: tuple[Node, AnyArray]) -> None:
    layer, integers = site
    scaled = ops.multiply(ops.convert(ops.constant(integers), Type.f32), np.float32(1))
    insert([layer.input(1)], scaled.output(0), layer)


def _integers(weights: Output) -> AnyArray | None:
    values = constant_of(weights)
    if values is None or not ((values >= _LOWEST) & (values <= _HIGHEST)).all():
        return None
    integers = values.astype(np.int8)
    return integers if bool((integers == values).all()) else None


integer_weights = Rule(_whole_numbers, _store, "layers")
