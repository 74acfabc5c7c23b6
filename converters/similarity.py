"""Cosine similarity and circular convolution, in programs of Paddle 1.

Paddle: `cos_sim`, `conv_shift`.
Semantics: `paddle/fluid/operators/{cos_sim,conv_shift}_op.h` of Paddle 1.8.
Refused: a `conv_shift` by a filter of unknown width.
"""

from __future__ import annotations

from openvino import Node, Output

from paddle2ov.converters.graph.common import Tensor, rank_of
from paddle2ov.converters.graph.spatial import ranked_dims
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.program.budget import check_repeats
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def cos_sim(node: NodeContext) -> NamedOutputs:
    """out = x · y / (|x| |y|) for each row of x and of y, or the one row of y; x_norm = |x|, y_norm = |y|."""
    x, y = (_as_rows(node, node.get_input(name)) for name in ("x", "y"))
    x_norm, y_norm = (ops.sqrt(ops.reduce_sum(ops.multiply(value, value), ints([1]), True)) for value in (x, y))
    product = ops.reduce_sum(ops.multiply(x, y), ints([1]), True)
    return {"out": ops.divide(ops.divide(product, x_norm), y_norm), "x_norm": x_norm, "y_norm": y_norm}


def _as_rows(node: NodeContext, x: Output) -> Tensor:
    """x with all dimensions after the first one flattened into one."""
    return x if rank_of(node, x) == 2 else ops.reshape(x, ints([0, -1]), True)


def conv_shift(node: NodeContext) -> NamedOutputs:
    """out[b, i] = Σ_j x[b, i + j - (n - 1) / 2] · y[b, j], n being the width of y and the rows of x circular."""
    x, y = node.get_input("x"), node.get_input("y")
    width = ranked_dims(y)[1]
    if width is None:
        node.refuse("a filter of unknown width is not supported")
    total: Node | None = None
    for j in range(check_repeats(width)):
        moved = ops.roll(x, ints([(width - 1) // 2 - j]), ints([1]))
        term = ops.multiply(moved, ops.gather(y, ints([j]), ints(1)))
        total = term if total is None else ops.add(total, term)
    if total is None:
        node.refuse("a filter without elements is not supported")
    return {"out": total}
