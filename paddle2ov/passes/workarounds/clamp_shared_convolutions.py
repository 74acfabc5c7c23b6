"""Clamps the output of an integer convolution with several readers to the range of float32.

OpenVINO 2026.4 gives each reader a Multiply of its own by the dequantization scale. If the shape is dynamic, the CPU
plugin fuses all of these into the convolution, which then applies the scale once per reader. An Add of a bias prevents
this, and so does a Clamp, which is fused as well and costs no time.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from openvino import Input, Node, Output, Type
from openvino.op import Constant

from paddle2ov.graph.opset import ops
from paddle2ov.graph.types import value_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import consumers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.kinds import NEUTRAL
from paddle2ov.passes.quantized import holds_integers
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule

_LARGEST = float(np.finfo(np.float32).max)
_SCALED = frozenset(("Multiply", "Reshape", "Subtract", "Transpose", "Unsqueeze"))
"""Node types between integers and the weights that they represent."""

_Convolution: TypeAlias = tuple[Node, list[Input]]
"""A convolution, and what reads its result."""


@works_around("scales_of_an_integer_convolution")
class ClampSharedConvolutions(Rule[_Convolution, _Convolution]):
    """Inserts a Clamp after a convolution with quantized weights that several nodes read.

    Given:
        Convolution, ConvolutionBackpropData or GroupConvolution in float32, its weights integers or a FakeQuantize, →
        at least two readers.
    Result:
        The same → Clamp between the lowest and the largest number of float32 → the readers.
    """

    roots = ("Convolution", "ConvolutionBackpropData", "GroupConvolution")
    counts = ("convolutions",)

    def pattern(self, graph: Graph, node: Node) -> _Convolution | None:
        return (node, consumers(node.output(0))) if holds_integers(node.input_value(1), _SCALED) else None

    def check(self, graph: Graph, match: _Convolution) -> _Convolution:
        convolution, _ = match
        if convolution.get_output_element_type(0) != Type.f32:
            raise MatchFailureError("it is not in float32")
        if _count_readers(convolution.output(0)) < 2:
            raise MatchFailureError("one node reads it")
        return match

    def rewrite(self, graph: Graph, plan: _Convolution) -> Counts:
        convolution, read = plan
        insert(read, ops.clamp(convolution, -_LARGEST, _LARGEST).output(0), convolution)
        return {"convolutions": 1}


def _count_readers(result: Output) -> int:
    """How many nodes read a result once OpenVINO has removed those that change nothing."""
    return sum(_count_readers(neutral) if (neutral := _neutral(one)) else 1 for one in consumers(result))


def _neutral(reader: Input) -> Output | None:
    """The output of a node that changes nothing, which OpenVINO eliminates; None for any other."""
    node = reader.get_node()
    number = NEUTRAL.get(node.get_type_name())
    other = node.input_value(1 - reader.get_index()).get_node() if number is not None else None
    is_second = reader.get_index() == 1 and node.get_type_name() in ("Divide", "Subtract")
    if not isinstance(other, Constant) or is_second or not (value_of(other) == number).all():
        return None
    return node.output(0)


clamp_shared_convolutions = ClampSharedConvolutions()
