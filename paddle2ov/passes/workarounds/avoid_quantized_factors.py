"""Computes per-channel constants before a FakeQuantize at run time, so that they are not folded into its ranges.

OpenVINO 2026.4 folds sums and products with constants along the channels into the ranges of a FakeQuantize that follows
them. Where a size is not known, and no node before them takes up the FakeQuantize, all channels then get the constant
of the first one: that of a product with a negative factor, and with LP_TRANSFORMS_MODE of NO that of any.
"""

from __future__ import annotations

from openvino import Input, Node

from paddle2ov.graph.constants import constant_of
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import consumers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.kinds import BINARY, REDUCTIONS, UNARY
from paddle2ov.passes.replacement import hide_operand
from paddle2ov.passes.rule import MatchFailureError, Rule

_FOLDED = ("Add", "Divide", "Multiply", "Subtract")
_MOST_FOLDED = 4
_FUSING = (
    (UNARY - {"Convert", "HardSigmoid", "Log", "LogicalNot", "Negative", "Selu", "Sign"})
    | BINARY
    | REDUCTIONS
    | {"Convolution", "ConvolutionBackpropData", "GroupConvolution", "GroupConvolutionBackpropData"}
    | {"Interpolate", "MatMul", "NormalizeL2", "PRelu"}
)
"""Node types that OpenVINO fuses a FakeQuantize into if nothing else reads them."""


@works_around("constants_before_quantization")
class AvoidQuantizedFactors(Rule[Node, Input]):
    """Hides the last constant along axis 1 before a FakeQuantize of one range for all channels.

    Given:
        x of unknown size, not of a node that a FakeQuantize is fused into → Add, Divide, Multiply or Subtract, one with
        a constant [1, C, 1, ...] → FakeQuantize of single numbers.
    Result:
        The same with a copy of the constant that is made at run time.
    """

    roots = ("FakeQuantize",)
    counts = ("constants",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        dims = dims_of(node.output(0))
        return node if dims is not None and None in dims and _constant_side(node.input_value(0).get_node()) else None

    def check(self, graph: Graph, match: Node) -> Input:
        ranges = [constant_of(match.input_value(i)) for i in (1, 2)]
        if not all(ends is not None and ends.size == 1 for ends in ranges):
            raise MatchFailureError("its ranges differ by channel, or are computed")
        found = None
        value, rank = match.input_value(0), len(dims_of(match.output(0)) or ())
        for _ in range(_MOST_FOLDED):
            node, is_read_once = value.get_node(), len(consumers(value)) == 1
            side = _constant_side(node)
            if side is None:
                if is_read_once and node.get_type_name() in _FUSING:
                    raise MatchFailureError("OpenVINO fuses it into the node before")
                break
            if found is None and _is_along_channels(side, rank):
                found = side
            if not is_read_once:
                break
            value = node.input_value(1 - side.get_index())
        if found is None:
            raise MatchFailureError("no constant lies along the channels")
        return found

    def rewrite(self, graph: Graph, plan: Input) -> Counts:
        hide_operand(plan)
        return {"constants": 1}


def _constant_side(node: Node) -> Input | None:
    """The constant operand of a sum or a product; None without one."""
    if node.get_type_name() not in _FOLDED:
        return None
    sides = [port for port in node.inputs() if constant_of(port.get_source_output()) is not None]
    return sides[0] if len(sides) == 1 else None


def _is_along_channels(port: Input, rank: int) -> bool:
    """Whether a constant has several elements, all along axis 1 of a tensor of the rank."""
    shape = list(port.get_shape())
    shape = [1] * (rank - len(shape)) + shape
    return len(shape) == rank > 1 and shape[1] > 1 and all(size == 1 for size in shape[:1] + shape[2:])


avoid_quantized_factors = AvoidQuantizedFactors()
