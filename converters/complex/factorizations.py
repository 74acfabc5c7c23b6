"""Factorizations and determinants of complex matrices.

Complex forms: `determinant`, `slogdeterminant`, `slogdet_v2`, `lu`, `lu_unpack`, `lu_solve`, `qr`.
Semantics: as in `linalg/matrix.py` and `linalg/decomposition.py`. LAPACK chooses a pivot by the sum of its parts'
magnitudes; Eigen's reflections (`Householder.h`) make the diagonal of r real.
"""

from __future__ import annotations

from openvino import Node, Output, Type

from paddle2ov.converters.complex.elementary import Pair, divide_pairs, multiply_pairs
from paddle2ov.converters.complex.matrices import complex_solve
from paddle2ov.converters.graph.common import Tensor, cast_to, const_like, dim_of, dim_range, index_range, shape_of
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.converters.linalg.decomposition import permutation_matrix, unpack_factors
from paddle2ov.converters.linalg.pieces import batched_eye, column_sums, matrix_transpose, row_indices, triangle
from paddle2ov.graph.complex_pairs import make_complex, real_imag
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.slices import OPEN_END
from paddle2ov.translation.node_context import NamedOutputs, NodeContext, OutputLike

# --- elimination -----------------------------------------------------------------------------------------------------


def determinant(node: NodeContext) -> NamedOutputs:
    """out = det(x), of each matrix."""
    return {"out": make_complex(*_determinant(node))}


def slogdeterminant(node: NodeContext) -> NamedOutputs:
    """out = [det(x) / |det(x)|, log|det(x)|]."""
    found = slogdet_v2(node)
    logdet = found["logdet"]
    if not node.is_complex("logdet"):
        logdet = make_complex(logdet, ops.multiply(logdet, const_like(0, logdet)))
    return {"out": ops.concat([ops.unsqueeze(one, ints([0])) for one in (found["sign"], logdet)], 0)}


def slogdet_v2(node: NodeContext) -> dict[str, Node]:
    """sign, logdet = det(x) / |det(x)|, and log|det(x)|."""
    found = make_complex(*_determinant(node))
    size = ops.reduce_l2(found, ints([-1]), True)
    logdet = ops.squeeze(ops.log(size), ints([-1]))
    if node.is_complex("logdet"):
        logdet = make_complex(logdet, ops.broadcast(const_like(0, logdet), shape_of(logdet)))
    return {"sign": ops.divide(found, size), "logdet": logdet}


def _determinant(node: NodeContext) -> Pair:
    """The product of the pivots, negated for each swap of rows."""
    table, pivots, _ = _lu(node)
    real, imag = (_diagonal(part) for part in table)
    order = ops.range(ints(1), ops.add(dim_of(table[0], -1), ints(1)), ints(1), "i32")
    swaps = ops.reduce_sum(ops.convert(ops.not_equal(pivots, order), Type.i32), ints([-1]), False)
    odd = cast_to(ops.mod(swaps, ops.constant(2, Type.i32)), real.get_element_type())
    sign = ops.subtract(const_like(1, real), ops.multiply(const_like(2, real), odd))

    def step(k: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], None]:
        at = ops.unsqueeze(k, ints([0]))
        a, b = state
        c, d = (ops.squeeze(ops.gather(part, at, ints(-1)), ints([-1])) for part in invariants)
        return [*multiply_pairs((a, b), (c, d))], None

    a, b = loop(dim_of(real, -1), [sign, ops.multiply(sign, const_like(0, sign))], [real, imag], step)
    return a, b


def _diagonal(x: Tensor) -> Node:
    size = dim_of(x, -1)
    indices = index_range(size)
    chosen = ops.equal(ops.unsqueeze(indices, ints([1])), indices)
    return ops.reduce_sum(ops.select(chosen, x, const_like(0, x)), ints([-1]), False)


def lu(node: NodeContext) -> NamedOutputs:
    """out, pivots, infos = as for real matrices."""
    node.require(node.get_bool("pivot", True), "only partial pivoting is supported", pivot=False)
    table, pivots, infos = _lu(node)
    return {"out": make_complex(*table), "pivots": pivots, "infos": infos}


def _lu(node: NodeContext) -> tuple[Pair, Output, Output]:
    """The packed LU factors, the row that each row was swapped with, and the first column without a pivot (from 1)."""
    x = real_imag(node.get_input("x"))
    real = x[0]
    rank, dtype = len(real.get_partial_shape()), real.get_element_type()
    rows, columns = dim_of(real, rank - 2), dim_of(real, rank - 1)
    least = ops.minimum(rows, columns)

    def eliminate(k: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], None]:
        (re, im, pivots, info), (down, across, order) = state, invariants
        at = ops.unsqueeze(k, ints([0]))
        column = [ops.gather(part, at, ints(rank - 1)) for part in (re, im)]
        left = cast_to(ops.greater_equal(down, k), dtype)
        size = ops.add(ops.add(ops.abs(column[0]), ops.abs(column[1])), const_like(1, re))
        size = ops.subtract(ops.multiply(size, left), const_like(1, re))
        best = ops.topk(size, ints(1), rank - 2, "max", "value", index_element_type=Type.i64, stable=True).output(1)
        chosen, here = ops.equal(down, best), ops.equal(down, k)
        below, right = ops.greater(down, k), ops.greater(across, k)
        row, table = [], []
        for part in (re, im):
            taken = ops.reduce_sum(ops.multiply(part, cast_to(chosen, dtype)), ints([rank - 2]), True)
            moved = ops.gather(part, at, ints(rank - 2))
            row.append(taken)
            table.append(ops.select(here, taken, ops.select(chosen, moved, part)))
        c, d = (ops.gather(part, at, ints(rank - 1)) for part in row)
        length = ops.add(ops.multiply(c, c), ops.multiply(d, d))
        singular = ops.equal(length, const_like(0, re))
        length = ops.select(singular, const_like(1, re), length)
        a, b = (ops.multiply(ops.gather(part, at, ints(rank - 1)), cast_to(below, dtype)) for part in table)
        factor = divide_pairs((a, b), (c, d), length)
        e, f = (ops.multiply(part, cast_to(right, dtype)) for part in row)
        taken_off = multiply_pairs(factor, (e, f))
        mine = ops.logical_and(ops.equal(across, k), below)
        table = [
            ops.select(mine, one, ops.subtract(part, less))
            for one, part, less in zip(factor, table, taken_off, strict=True)
        ]
        named = ops.convert(ops.add(ops.squeeze(best, ints([rank - 2])), ints(1)), Type.i32)
        pivots = ops.select(ops.equal(order, k), named, pivots).output(0)
        first = ops.logical_and(ops.equal(info, ops.constant(0, Type.i32)), ops.squeeze(singular, ints([-2, -1])))
        info = ops.select(first, ops.convert(ops.add(k, ints(1)), Type.i32), info).output(0)
        return [*table, pivots, info], None

    outer = dim_range(real, 0, -2)
    none = ops.constant(0, Type.i32)
    numbers = ops.broadcast(none, ops.concat([outer, ops.unsqueeze(least, ints([0]))], 0))
    across = ops.unsqueeze(index_range(columns), ints(0))
    invariants = [row_indices(rows), across, index_range(least)]
    start: list[Tensor] = [*x, numbers, ops.broadcast(ops.constant(0, Type.i32), outer)]
    re, im, pivots, info = loop(least, start, invariants, eliminate)
    return (re, im), pivots, info


def lu_unpack(node: NodeContext) -> NamedOutputs:
    """pmat, l, u = the permutation and the two factors that lu packed: pmat @ l @ u is the matrix."""
    packed = real_imag(node.get_input("x"))
    rank = len(packed[0].get_partial_shape())
    found: dict[str, OutputLike] = {}
    if node.is_output_used("pmat"):
        node.require(node.get_bool("unpack_pivots", True), "it is not unpacked", unpack_pivots=False)
        matrix = permutation_matrix(node.get_input("y"), dim_of(packed[0], rank - 2), rank, packed[0])
        found["pmat"] = make_complex(matrix, ops.multiply(matrix, const_like(0, matrix)))
        if not node.is_complex("pmat"):
            found["pmat"] = matrix
    if node.is_output_used("l") or node.is_output_used("u"):
        node.require(node.get_bool("unpack_ludata", True), "they are not unpacked", unpack_ludata=False)
        low, high = _factors(packed, rank)
        found["l"], found["u"] = make_complex(*low), make_complex(*high)
    return found


def lu_solve(node: NodeContext) -> NamedOutputs:
    """out = x^-1 @ b (or x^-T @ b, or with the conjugate for trans "C"), where lu and pivots are what lu made of x."""
    packed = real_imag(node.get_input("lu"))
    rank = len(packed[0].get_partial_shape())
    trans = node.get_str("trans")
    node.require(trans in ("N", "T", "C"), "unknown transposition", trans=trans)
    order = permutation_matrix(node.get_input("pivots"), dim_of(packed[0], rank - 2), rank, packed[0])
    low, high = _factors(packed, rank)

    def permuted(x: Output, back: bool) -> Output:
        return make_complex(*(ops.matmul(order, part, back, False) for part in real_imag(x))).output(0)

    b = node.get_input("b")
    if trans == "N":
        return {"out": complex_solve(high, complex_solve(low, permuted(b, True)).output(0))}
    transposed = [(matrix_transpose(re, rank), matrix_transpose(im, rank)) for re, im in (high, low)]
    if trans == "C":
        transposed = [(re, ops.negative(im)) for re, im in transposed]
    return {"out": permuted(complex_solve(transposed[1], complex_solve(transposed[0], b).output(0)).output(0), False)}


def _factors(packed: tuple[Output, Output], rank: int) -> tuple[Pair, Pair]:
    """The lower and the upper factor, each with its parts; ones are on the diagonal of the real part only."""
    (low, high), (low_imag, high_imag) = (unpack_factors(part, rank) for part in packed)
    diagonal = ops.equal(row_indices(dim_of(low, rank - 2)), index_range(dim_of(low, rank - 1)))
    return (low, ops.select(diagonal, const_like(0, low), low_imag)), (high, high_imag)


# --- reflections -----------------------------------------------------------------------------------------------------


def qr(node: NodeContext) -> NamedOutputs:
    """q, r = q @ r = x with orthogonal columns of q and an upper triangle r, by Householder's reflections."""
    x = real_imag(node.get_input("x"))
    mode = node.get_str("mode", "reduced")
    node.require(mode in ("reduced", "complete", "r"), "unknown mode", mode=mode)
    rank = len(x[0].get_partial_shape())
    rows, columns = dim_of(x[0], rank - 2), dim_of(x[0], rank - 1)
    least = ops.minimum(rows, columns)
    eye = batched_eye(x[0], rows)
    # The reflections turn [x | 1] into [r | q^H].
    start = [ops.concat([x[0], eye], rank - 1), ops.concat([x[1], ops.multiply(eye, const_like(0, eye))], rank - 1)]

    def reflect(k: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], None]:
        (re, im), (indices,) = state, invariants
        at = ops.unsqueeze(k, ints([0]))
        here = cast_to(ops.equal(indices, k), re.get_element_type())
        below = cast_to(ops.greater(indices, k), re.get_element_type())
        a, b = (ops.gather(part, at, ints(rank - 1)) for part in (re, im))  # [..., m, 1]
        c, d = (column_sums(ops.multiply(part, here), rank) for part in (a, b))
        squares = ops.add(ops.multiply(a, a), ops.multiply(b, b))
        tail = column_sums(ops.multiply(squares, below), rank)
        size = ops.sqrt(column_sums(ops.multiply(squares, ops.add(here, below)), rank))
        new = ops.select(ops.greater_equal(c, const_like(0, re)), ops.negative(size), size)
        done = ops.logical_and(ops.equal(tail, const_like(0, re)), ops.equal(d, const_like(0, re)))
        safe = ops.select(done, const_like(1, re), new)
        # 1 - weight · v v^H with v = (1, tail / (head - new)), weight = conj(1 - head / new); head = c + i · d.
        weight_re = ops.select(done, const_like(0, re), ops.divide(ops.subtract(new, c), safe))
        weight_im = ops.select(done, const_like(0, re), ops.divide(d, safe))
        e = ops.select(done, const_like(1, re), ops.subtract(c, new))
        length = ops.add(ops.multiply(e, e), ops.multiply(d, d))
        v_re, v_im = divide_pairs((a, b), (e, d), length)
        v_re, v_im = ops.add(ops.multiply(v_re, below), here), ops.multiply(v_im, below)
        along_re = ops.add(ops.matmul(v_re, re, True, False), ops.matmul(v_im, im, True, False))
        along_im = ops.subtract(ops.matmul(v_re, im, True, False), ops.matmul(v_im, re, True, False))
        less_re, less_im = multiply_pairs(multiply_pairs((v_re, v_im), (weight_re, weight_im)), (along_re, along_im))
        return [ops.subtract(re, less_re), ops.subtract(im, less_im)], None

    table = loop(least, start, [row_indices(rows)], reflect)
    kept = ops.unsqueeze(rows if mode == "complete" else least, ints([0]))
    edge = ops.unsqueeze(columns, ints([0]))
    r = [
        triangle(ops.slice(part, ints([0, 0]), ops.concat([kept, edge], 0), ints([1, 1]), ints([-2, -1])), rank, True)
        for part in table
    ]
    found: dict[str, OutputLike] = {"r": make_complex(*r)}
    if mode != "r":
        step, axes = ints([1, 1]), ints([-2, -1])
        begin, end = ops.concat([ints([0]), edge], 0), ops.concat([kept, ints([OPEN_END])], 0)
        real, imag = (matrix_transpose(ops.slice(part, begin, end, step, axes), rank) for part in table)
        found["q"] = make_complex(real, ops.negative(imag))
    else:
        node.require(not node.is_output_used("q"), "there is no q in this mode", mode=mode)
    return found
