"""Identity nodes, by which one tensor becomes several results."""

from __future__ import annotations

import numpy as np
from openvino import Output

from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around


@works_around("result_converted_to_its_own_type")
def alias(value: Output) -> Output:
    """The same tensor as the output of another node.

    An input that is a result, or a tensor that is several results, needs this: on compilation a name would be lost. The
    node is not a Convert to the tensor's own type: if that reads an input, OpenVINO's CPU plugin (2026.4) writes beyond
    the result's memory when the same request runs a second, smaller input.
    """
    axis = np.array([0], np.int64)
    return ops.squeeze(ops.unsqueeze(value, axis), axis).output(0)


@works_around("result_converted_there_and_back")
def may_be_input(value: Output) -> bool:
    """Whether compilation may reduce a tensor to an input of the model, or to a Convert of one to its own type.

    This may happen if all nodes between them can be identities and one is a Convert: for example, Converts to float64
    and back change nothing for the CPU plugin, which computes in float32.
    """
    converts, left = False, _MAX_BETWEEN
    while (node := value.get_node()).get_type_name() in _MAY_VANISH and left:
        left -= 1
        converts = converts or node.get_type_name() == "Convert"
        value = next((value for value in node.input_values() if value.get_node().get_type_name() != "Constant"), value)
        if value.get_node() is node:
            return False  # computed from constants alone
    return converts and (node.get_type_name() == "Parameter" or not left)


_MAX_BETWEEN = 500
"""How many nodes are looked at for one result, of which a program may have as many."""


_IDENTITIES = """
Abs Add Broadcast Clamp Concat Convert Divide Gather Interpolate Maximum Minimum Multiply Negative Pad Power ReduceL1
ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Reshape Roll Round Select Slice Split Squeeze
StridedSlice Subtract Tile Transpose Unsqueeze VariadicSplit
"""
_MAY_VANISH = frozenset(_IDENTITIES.split())
