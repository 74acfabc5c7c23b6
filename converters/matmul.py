"""Matrix multiplication.

Paddle: `matmul_v2` (PIR `matmul`), `matmul` (PIR `legacy_matmul`), `mul` (PIR `matmul_with_flatten`), `bmm`, `dot`,
`linear_v2` (PIR only), `mv`, `addmm`, `baddbmm`, `multi_dot`, `bilinear_tensor_product` (PIR `bilinear`),
`fsp`.
Semantics: `paddle/phi/kernels/impl/matmul_kernel_impl.h`, `paddle/phi/infermeta/binary.cc` (MatmulInferMeta,
MatmulWithFlattenInferMeta), `paddle/phi/kernels/impl/{addmm,multi_dot,bilinear}_kernel_impl.h`.
Not supported: complex matrices.
"""

from __future__ import annotations

from openvino import Node, Output

from paddle2ov.converters.graph.common import Tensor, cast_to, const_like, multiply_by
from paddle2ov.converters.graph.dims import dim_of, dim_range, rank_of, shape_of
from paddle2ov.converters.graph.reshaping import merge_axes, scalar_as_declared
from paddle2ov.converters.graph.spatial import ranked_dims
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of, static_dims
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def matmul_v2(node: NodeContext) -> NamedOutputs:
    """out = x @ y over the last two axes, broadcast over the others; `transpose_x`, `transpose_y` swap these."""
    return {"out": _matmul(node)}


def _matmul(node: NodeContext) -> Tensor:
    x, y = node.get_input("x"), node.get_input("y")
    out = broadcasting_matmul(x, y, node.get_bool("transpose_x", False), node.get_bool("transpose_y", False))
    return scalar_as_declared(node, out)


@works_around("matmul_of_scaled_vector")
def broadcasting_matmul(x: Output, y: Output, transpose_x: bool, transpose_y: bool) -> Node:
    """x @ y, with vectors as matrices of one row or column: OpenVINO scales constant vectors to the wrong shape."""
    x_is_vector, y_is_vector = (value.get_partial_shape().rank == 1 for value in (x, y))
    if x_is_vector == y_is_vector:
        return _matmul_of_matrices(x, y, transpose_x, transpose_y)
    if x_is_vector:
        row = output_of(ops.unsqueeze(x, ints([0])))
        return ops.squeeze(_matmul_of_matrices(row, y, False, transpose_y), ints([-2]))
    column = output_of(ops.unsqueeze(y, ints([1])))
    return ops.squeeze(_matmul_of_matrices(x, column, transpose_x, False), ints([-1]))


def _matmul_of_matrices(x: Output, y: Output, transpose_x: bool, transpose_y: bool) -> Node:
    if 0 in (static_dims(x) or ()):
        dims = static_dims(ops.matmul(x, y, transpose_x, transpose_y))
        if dims is not None and 0 not in dims:  # empty sums: the plugin leaves the result uninitialized
            return ops.broadcast(const_like(0, x), ints(dims))
    return ops.matmul(x, y, transpose_x, transpose_y)


def matmul(node: NodeContext) -> NamedOutputs:
    """out = alpha * (x @ y)."""
    heads = node.get_int("head_number", 1)
    node.require(heads == 1, "products of several heads in one are not supported", head_number=heads)
    alpha = node.get_float("alpha", 1.0)
    x, y = node.get_input("x"), node.get_input("y")
    transposed = node.get_bool("transpose_x", False) and node.get_bool("transpose_y", False)
    if transposed and rank_of(node, x) == rank_of(node, y) == 1:  # x yᵀ, where `matmul_v2` ignores both
        return {"out": multiply_by(ops.multiply(ops.unsqueeze(x, ints([1])), ops.unsqueeze(y, ints([0]))), alpha)}
    return {"out": multiply_by(_matmul(node), alpha)}


def linear_v2(node: NodeContext) -> NamedOutputs:
    """out = input @ weight + bias; `transpose_weight` swaps the axes of the weight."""
    transpose = node.get_bool("transpose_weight", False)
    out = broadcasting_matmul(node.get_input("input"), node.get_input("weight"), False, transpose)
    return {"out": ops.add(out, node.get_input("bias")) if node.has_input("bias") else out}


def mul(node: NodeContext) -> NamedOutputs:
    """out = x @ y, where x is flattened to two axes at `x_num_col_dims` and y at `y_num_col_dims`."""
    x, y = node.get_input("x"), node.get_input("y")
    split_x, split_y = node.get_int("x_num_col_dims", 1), node.get_int("y_num_col_dims", 1)
    return {"out": flattened_matmul(node, x, y, split_x, split_y)}


def flattened_matmul(node: NodeContext, x: Tensor, y: Tensor, split_x: int, split_y: int) -> Node:
    """x @ y with x flattened at axis `split_x` and y at `split_y`; the result has the original outer axes."""
    x, y = output_of(x), output_of(y)
    rank_x, rank_y = rank_of(node, x), rank_of(node, y)
    if rank_y == 2 and split_y == 1 and split_x == rank_x - 1:
        return ops.matmul(x, y, False, False)
    rows, columns = (
        merge_axes(z, [range(i), range(i, rank)]) for z, i, rank in ((x, split_x, rank_x), (y, split_y, rank_y))
    )
    out = ops.matmul(rows, columns, False, False)
    return ops.reshape(out, ops.concat([dim_range(x, 0, split_x), dim_range(y, split_y)], 0), False)


def mv(node: NodeContext) -> NamedOutputs:
    """out = x @ vec."""
    return {"out": broadcasting_matmul(node.get_input("x"), node.get_input("vec"), False, False)}


def dot(node: NodeContext) -> NamedOutputs:
    """out = the sum of x * y over the last axis."""
    x, y = node.get_input("x"), node.get_input("y")
    # As Paddle declares: 0-D for vectors, [batch] for matrices (before 2.5 [1] and [batch, 1]).
    declared = node.declared_output_shape()
    rank = rank_of(node, x)
    out = ops.reduce_sum(ops.multiply(x, y), ints([-1]), declared is not None and len(declared) == rank)
    return {"out": out}


def addmm(node: NodeContext) -> NamedOutputs:
    """out = beta * input + alpha * (x @ y)."""
    addend = node.get_input("input")
    product = broadcasting_matmul(node.get_input("x"), node.get_input("y"), False, False)
    alpha, beta = node.get_float("alpha", 1.0), node.get_float("beta", 1.0)
    if beta == 0:  # not even NaN
        return {"out": multiply_by(product, alpha)}
    if alpha == 0:
        return {"out": ops.broadcast(multiply_by(addend, beta), shape_of(product))}
    return {"out": ops.add(multiply_by(addend, beta), multiply_by(product, alpha))}


_MAX_FACTORS = 100
"""Finding the best order takes the cube of their number."""


def multi_dot(node: NodeContext) -> NamedOutputs:
    """out = x[0] @ x[1] @ ... @ x[n-1], in the order that takes the fewest multiplications."""
    factors = node.get_inputs("x")
    first, last = rank_of(node, factors[0]), rank_of(node, factors[-1])
    node.require(len(factors) <= _MAX_FACTORS, f"at most {_MAX_FACTORS} factors are supported, not {len(factors)}")
    chain: list[Tensor] = list(factors)
    if first == 1:
        chain[0] = ops.unsqueeze(chain[0], ints([0]))
    if last == 1:
        chain[-1] = ops.unsqueeze(chain[-1], ints([1]))
    out = _matmul_chain(chain)
    dropped = [axis for axis, rank in ((0, first), (1, last)) if rank == 1]
    return {"out": scalar_as_declared(node, ops.squeeze(out, ints(dropped)) if dropped else out)}


def _matmul_chain(factors: list[Tensor]) -> Tensor:
    """The product of matrices in the order found by dynamic programming; an unknown dimension counts as 64."""
    sizes = [[64 if dim is None else dim for dim in ranked_dims(factor)] for factor in factors]
    edges = [sizes[0][0], *(size[1] for size in sizes)]
    best: dict[tuple[int, int], tuple[int, int]] = {(i, i): (0, i) for i in range(len(factors))}
    for span in range(1, len(factors)):
        for i in range(len(factors) - span):
            j = i + span
            best[i, j] = min(
                (best[i, k][0] + best[k + 1, j][0] + edges[i] * edges[k + 1] * edges[j + 1], k) for k in range(i, j)
            )

    def product(i: int, j: int) -> Tensor:
        if i == j:
            return factors[i]
        k = best[i, j][1]
        return ops.matmul(product(i, k), product(k + 1, j), False, False)

    return product(0, len(factors) - 1)


def bilinear_tensor_product(node: NodeContext) -> NamedOutputs:
    """out[b, o] = x[b] @ weight[o] @ y[b] + bias[o]."""
    x, y, weight = node.get_input("x"), node.get_input("y"), node.get_input("weight")
    # x[1, b, i] @ weight[o, i, j] = [o, b, j]; times y[b, j], summed over j.
    left = broadcasting_matmul(ops.unsqueeze(x, ints([0])).output(0), weight, False, False)
    out: Node = ops.transpose(ops.reduce_sum(ops.multiply(left, y), ints([2]), False), ints([1, 0]))
    if node.has_input("bias"):
        out = ops.add(out, node.get_input("bias"))
    return {"out": out}


def fsp(node: NodeContext) -> NamedOutputs:
    """out[n, i, j] = the mean over all positions of x[n, i] · y[n, j]."""
    x, y = (ops.reshape(node.get_input(name), ints([0, 0, -1]), True) for name in ("x", "y"))
    position_count = cast_to(dim_of(x, 2), x.get_element_type())
    return {"out": ops.divide(ops.matmul(x, y, False, True), position_count)}
