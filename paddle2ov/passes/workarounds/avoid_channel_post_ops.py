"""Constants along axis 1 that follow a product with weights are spread along another axis.

OpenVINO 2026.4 computes sums, factors and slopes along with the product whose features they change. For a tensor of
rank 4 or more it takes a constant along axis 1 for one along the last: where there are as many features as numbers the
result is wrong, where not it refuses to compile.
"""

from __future__ import annotations

import math

from openvino import Node, Output

from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import Dims
from paddle2ov.passes.graph import Counts, Graph, constant_of, dims_of, ints, nearest, readers
from paddle2ov.passes.kinds import ELEMENTWISE

_FUSED = ("Add", "Divide", "Multiply", "PRelu", "Subtract")


def avoid_channel_post_ops(graph: Graph) -> Counts:
    """A constant that is read beside a product of rank 4 has more than one length.

    Given:
        MatMul of rank 4 or more → elementwise → Add, Divide, Multiply, Subtract or PRelu with a constant of shape
        [1, n, 1, ..., 1], or [n] for PRelu, n more than 1. An axis from the third on has a known length above 1.
    Result:
        The constant repeated along the last such axis, which OpenVINO reads number by number.
    """
    counts = {"constants": 0}
    for product in graph.nodes("MatMul"):
        dims = dims_of(product.output(0))
        if dims is None or len(dims) < 4:
            continue
        for node in nearest(readers(product), _FUSED, ELEMENTWISE, readers):
            counts["constants"] += _spread(node)
    if counts["constants"]:
        graph.changed()
    return counts


def _spread(node: Node) -> int:
    dims = dims_of(node.output(0))
    axis = _axis(dims) if dims is not None else None
    if dims is None or axis is None:
        return 0
    spread = 0
    for port in node.inputs():
        constant = port.get_source_output()
        count = _along_axis_1(constant, len(dims), node.get_type_name() == "PRelu" and port.get_index() == 1)
        if count:
            shape = [1] * len(dims)
            shape[1], shape[axis] = count, dims[axis] or 1
            column = ops.reshape(constant, ints([count, *[1] * (len(dims) - 2)]), False)
            port.replace_source_output(ops.broadcast(column, ints(shape)).output(0))
            spread += 1
    return spread


def _axis(dims: Dims) -> int | None:
    """The last axis from the third on that has a known length above 1."""
    return next((i for i in reversed(range(2, len(dims))) if (dims[i] or 1) > 1), None)


def _along_axis_1(value: Output, rank: int, is_slope: bool) -> int:
    """How many numbers a constant has along axis 1; 0 if it has a length along another, or is none."""
    shape = dims_of(value)
    if not shape or None in shape or constant_of(value) is None:
        return 0
    count = math.prod(one or 0 for one in shape)
    aligned = shape if is_slope and len(shape) == 1 else shape[1 - rank :][:1] if len(shape) >= rank - 1 else [1]
    return count if count > 1 and aligned == [count] else 0
