"""Rewrites Abs of values computed from shapes alone, so that OpenVINO keeps it.

OpenVINO 2026.4 eliminates an Abs whose input it can bound before the run, whatever the sign: |n - 5|, with a dimension
n, becomes n - 5. It can bound constants, shapes and what is computed from them; in a branch also the inputs of the If,
as it inlines the branch if the condition is constant.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.opaque_values import hide, runtime_zero
from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.independence import VARYING, Independence
from paddle2ov.passes.replacement import insert, replace


@works_around("abs_of_sizes")
def avoid_abs_elimination(graph: Graph) -> Counts:
    """Replaces an Abs that OpenVINO may eliminate by nodes that it keeps.

    Given:
        Abs of signed numbers that depend on no Parameter except for its shape; in branches, any Abs of signed numbers.
    Result:
        Maximum(x, -x) for integers; for floats, Abs of an opaque copy, as Maximum does not tell 0 from -0.
    """
    data = VARYING if graph.is_branch else ("Parameter", *VARYING)
    is_bounded = Independence(data, opaque=("ShapeOf",))
    found = [node for node in graph.nodes("Abs") if node.get_element_type().is_signed() and is_bounded(node)]
    zero: Node | None = None
    for node in found:
        x = node.input_value(0)
        if node.get_element_type().is_real():
            zero = zero or runtime_zero([one.output(0) for one in graph.model.get_parameters()])
            insert([node.input(0)], hide(x, zero).output(0), node)
        else:
            replace(node.output(0), ops.maximum(x, ops.negative(x)).output(0))
    if found:
        graph.changed()
    return {"abs": len(found)}
