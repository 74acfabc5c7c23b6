"""Complex matrices.

Complex forms: `inverse`, `matrix_power`.
Elsewhere: linear systems, determinants and factorizations, in `linalg/`.
Semantics: as in `linalg/matrix.py`.

The matrix a + i · b multiplies as [[a, -b], [b, a]] does, which has a real inverse, and real powers.
"""

from __future__ import annotations

from openvino import Node, Output

from paddle2ov.converters.complex.elementary import Pair
from paddle2ov.converters.graph.common import Tensor
from paddle2ov.converters.graph.dims import dim_of
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
