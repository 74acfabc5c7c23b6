"""Least squares.

Paddle: `lstsq`.
Semantics: `paddle/phi/kernels/cpu/lstsq_kernel.cc`. Whether a singular value counts is decided by its size for every
driver; LAPACK's gelsy estimates it. Not supported: residuals of several matrices where their ranks decide whether there
are any.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import const_like, dim_of, ints, rank_of
from paddle2ov.converters.graph.spatial import ranked_dims
from paddle2ov.converters.linalg.spectrum import relative, singular_vectors
from paddle2ov.graph.opset import ops
from paddle2ov.translation.node_context import NamedOutputs, NodeContext, OutputLike

_END = 2**31 - 1


def lstsq(node: NodeContext) -> NamedOutputs:
    """solution = the least of those that make |x @ solution - y| least; singular values up to rcond count as 0.

    residuals = that sum of squares for each column of y, where x has more rows than columns and its full rank.
    """
    x, y = node.get_input("x"), node.get_input("y")
    rank = rank_of(node, x)
    driver = node.get_str("driver", "gels")
    node.require(driver in ("gels", "gelsy", "gelsd", "gelss"), "unknown driver", driver=driver)
    u, s, v = singular_vectors(node, x, full=False)
    rcond = ops.reshape(node.get_tensor("rcond", x.get_element_type(), 0.0), ints([]), False)
    if driver == "gels":  # takes the full rank for granted
        rcond = const_like(0, x)
    above = ops.greater(s, relative(s, rcond))
    inverse = ops.select(above, ops.divide(const_like(1, s), ops.select(above, s, const_like(1, s))), const_like(0, s))
    turned = ops.multiply(ops.matmul(u, y, True, False), ops.unsqueeze(inverse, ints([-1])))
    solution = ops.matmul(v, turned, False, False)
    found: dict[str, OutputLike] = {"solution": solution, "singular_values": s}
    count = ops.reduce_sum(ops.convert(above, Type.i32), ints([-1]), False)
    found["rank"] = count
    if node.is_output_used("residuals"):
        found["residuals"] = _residuals(node, x, y, solution, None if driver == "gels" else count, driver == "gelsy")
    outer = ranked_dims(x)[:-2]
    if outer and all(size == 1 for size in outer):  # Paddle drops the dimensions of a single matrix
        found["solution"] = ops.squeeze(solution, ints(list(range(rank - 2))))
    return found


def _residuals(node: NodeContext, x: Output, y: Output, solution: Node, count: Node | None, never: bool) -> Node:
    """Nothing unless x has more rows than columns and, where its rank was counted, all of it."""
    rank = rank_of(node, x)
    rows, columns = ranked_dims(x)[-2:]
    if never or (rows is not None and columns is not None and rows <= columns):
        return ops.constant(np.zeros([0]), x.get_element_type())
    rest = ops.subtract(ops.matmul(x, solution, False, False), y)
    residuals = ops.reduce_sum(ops.multiply(rest, rest), ints([-2]), False)
    if count is None and rows is not None and columns is not None:
        return residuals
    node.require(rank == 2, "whether there are residuals of several matrices is left to the run")
    wanted = ops.greater(dim_of(x, 0), dim_of(x, 1))
    if count is not None:
        wanted = ops.logical_and(wanted, ops.equal(ops.convert(count, Type.i64), dim_of(x, 1)))
    end = ops.unsqueeze(ops.multiply(ops.convert(wanted, Type.i64), ints(_END)), ints([0]))
    return ops.slice(residuals, ints([0]), end, ints([1]))
