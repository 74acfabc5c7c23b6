"""Complex matrices.

Complex forms: `inverse`, `matrix_power`, `triangular_solve`.
Elsewhere: determinants and factorizations, in `linalg/`.
Semantics: as in `linalg/matrix.py`.

The matrix a + i · b multiplies as [[a, -b], [b, a]] does, which has a real inverse, and real powers.
"""

from __future__ import annotations

from openvino import Node, Output

from paddle2ov.converters.complex.elementary import Pair
from paddle2ov.converters.graph.common import Tensor, const_like
from paddle2ov.converters.graph.dims import dim_of, index_range
from paddle2ov.converters.linalg.parts import matrix_transpose, row_indices, triangle
from paddle2ov.graph.complex_pairs import make_complex, real_imag
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.translation.node_context import Converter, NamedOutputs, NodeContext


def real_block_matrix(matrix: Pair) -> Output:
    """[[a, -b], [b, a]]."""
    a, b = matrix
    rows = [ops.concat([a, ops.negative(b)], -1), ops.concat([b, a], -1)]
    return ops.concat(rows, -2).output(0)


def from_block_matrix(found: Tensor, rows: Tensor, columns: Tensor) -> Node:
    """The complex rows x columns matrix of a real block matrix [[a, -b], [b, a]]."""
    left = slice_along(found, ints([0]), ops.unsqueeze(columns, ints([0])), -1)
    down = ops.unsqueeze(rows, ints([0]))
    a = slice_along(left, ints([0]), down, -2)
    return make_complex(a, slice_along(left, down, ints([OPEN_END]), -2))


def complex_matrix_function(convert: Converter) -> Converter:
    """Extends a converter for a function of real square matrices to complex ones."""

    def of_complex(node: NodeContext) -> NamedOutputs:
        """out = f([[a, -b], [b, a]]), of which the left half is the result."""
        matrix = real_imag(node.get_input("x"))
        (block_matrix,) = convert(node.of_parts({("x", 0): real_block_matrix(matrix)})).values()
        assert isinstance(block_matrix, Node)
        size = dim_of(matrix[0], -1)
        return {"out": from_block_matrix(block_matrix, size, size)}

    return of_complex


def triangular_solve(node: NodeContext) -> NamedOutputs:
    """out = x^-1 @ y (or x^-T @ y) for the upper or lower triangle of x, with ones on its diagonal if unitriangular."""
    a, b = real_imag(node.get_input("x"))
    rank = len(a.get_partial_shape())
    upper = node.get_bool("upper", True)
    real, imag = triangle(a, rank, upper), triangle(b, rank, upper)
    if node.get_bool("unitriangular", False):
        size = dim_of(a, -1)
        diagonal = ops.equal(row_indices(size), index_range(size))
        real = ops.select(diagonal, const_like(1, a), real)
        imag = ops.select(diagonal, const_like(0, a), imag)
    if node.get_bool("transpose", False):
        real, imag = matrix_transpose(real, rank), matrix_transpose(imag, rank)
    return {"out": complex_solve((real, imag), node.get_input("y"))}


def complex_solve(matrix: Pair, y: Output) -> Node:
    """matrix^-1 @ y."""
    inverse = ops.inverse(real_block_matrix(matrix), adjoint=False)
    solution = ops.matmul(inverse, ops.concat(list(real_imag(y)), -2), False, False)
    return from_block_matrix(solution, dim_of(matrix[0], -1), ints(OPEN_END))
