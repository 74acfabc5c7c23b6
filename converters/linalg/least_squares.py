"""Least squares.

Paddle: `lstsq`.
Semantics: `paddle/phi/kernels/cpu/lstsq_kernel.cc`. For every driver the rank is computed from the singular
values; LAPACK's gelsy estimates it. Not supported: residuals of a batch of matrices where their existence depends on
the ranks.
"""

from __future__ import annotations

from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import const_like
from paddle2ov.converters.graph.dims import dim_of, rank_of, scalar_of
from paddle2ov.converters.graph.spatial import ranked_dims
from paddle2ov.converters.linalg.spectrum import relative_tolerance, singular_vectors
from paddle2ov.graph import arrays
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.slices import OPEN_END
from paddle2ov.translation.node_context import NamedOutputs, NodeContext, OutputLike


def lstsq(node: NodeContext) -> NamedOutputs:
    """solution = the minimum-norm minimizer of |x @ solution - y|; singular values up to rcond count as 0.

    residuals = the sum of squares for each column of y, where x has more rows than columns and full rank.
    """
    x, y = node.get_input("x"), node.get_input("y")
    rank = rank_of(node, x)
    driver = node.get_str("driver", "gels")
    node.require(driver in ("gels", "gelsy", "gelsd", "gelss"), "unknown driver", driver=driver)
    u, s, v = singular_vectors(node, x, full=False)
    rcond = scalar_of(node, "rcond", x.get_element_type(), 0.0)
    if driver == "gels":  # assumes full rank
        rcond = const_like(0, x)
    above = ops.greater(s, relative_tolerance(s, rcond))
    inverse = ops.select(above, ops.divide(const_like(1, s), ops.select(above, s, const_like(1, s))), const_like(0, s))
    coefficients = ops.multiply(ops.matmul(u, y, True, False), ops.unsqueeze(inverse, ints([-1])))
    solution = ops.matmul(v, coefficients, False, False)
    outputs: dict[str, OutputLike] = {"solution": solution, "singular_values": s}
    count = ops.reduce_sum(ops.convert(above, Type.i32), ints([-1]), False)
    outputs["rank"] = count
    if node.is_output_used("residuals"):
        outputs["residuals"] = _residuals(node, x, y, solution, None if driver == "gels" else count, driver == "gelsy")
    outer = ranked_dims(x)[:-2]
    if outer and all(size == 1 for size in outer):  # Paddle drops the dimensions of a single matrix
        outputs["solution"] = ops.squeeze(solution, ints(list(range(rank - 2))))
    return outputs


def _residuals(node: NodeContext, x: Output, y: Output, solution: Node, count: Node | None, never: bool) -> Node:
    """Empty unless x has more rows than columns and, where its rank was computed, full rank."""
    rank = rank_of(node, x)
    rows, columns = ranked_dims(x)[-2:]
    if never or (rows is not None and columns is not None and rows <= columns):
        return ops.constant(arrays.zeros([0]), x.get_element_type())
    rest = ops.subtract(ops.matmul(x, solution, False, False), y)
    residuals = ops.reduce_sum(ops.multiply(rest, rest), ints([-2]), False)
    if count is None and rows is not None and columns is not None:
        return residuals
    node.require(rank == 2, "whether a batch of matrices has residuals is known only at run time")
    wanted = ops.greater(dim_of(x, 0), dim_of(x, 1))
    if count is not None:
        wanted = ops.logical_and(wanted, ops.equal(ops.convert(count, Type.i64), dim_of(x, 1)))
    end = ops.unsqueeze(ops.multiply(ops.convert(wanted, Type.i64), ints(OPEN_END)), ints([0]))
    return ops.slice(residuals, ints([0]), end, ints([1]))
