"""Products of matrices and of vectors in their many spellings, diagonals, and distances."""

from __future__ import annotations

from gen_models.programs.maker import Maker, derived_dim, product_dim, step
from gen_models.programs.program import is_fixed


@step(2)
def _einsum(make: Maker) -> None:
    x = make.take(rank=(2, 4))
    y = make.take(lambda one: one.dims == x.dims, rank=(2, 4))
    letters = "abcd"[: x.rank]
    scale = round(max(x.dims[-1]) ** -0.5, 3)
    kinds = (
        (letters[:-2] + "z" + letters[-1], letters[:-1] + "z", [*x.dims[:-1], x.dims[-2]]),
        (letters, letters[:-1], x.dims[:-1]),
        (letters, letters[1:] + letters[0], [*x.dims[1:], x.dims[0]]),
    )
    other, out, dims = make.among(*kinds)
    make.add(f"paddle.einsum('{letters},{other}->{out}', {x}, {y}) * {scale}", dims)


@step(1)
def _bmm(make: Maker) -> None:
    x = make.take(rank=(3, 3))
    y = make.take(lambda one: one.dims[0] == x.dims[0] and one.dims[1] == x.dims[2], rank=(3, 3))
    make.add(f"paddle.bmm({x}, {y}) * {round(max(x.dims[2]) ** -0.5, 3)}", [*x.dims[:2], y.dims[2]])


@step(2)
def _vectors(make: Maker) -> None:
    x = make.take(rank=(1, 1))
    y = make.take(rank=(1, 1))
    if x.dims == y.dims and make.chance(0.6):
        scale = round(1 / max(x.dims[0]), 4)
        code = make.among(f"paddle.dot({x}, {y})", f"paddle.matmul({x}, {y})", f"paddle.inner({x}, {y})")
        make.add(f"{code} * {scale}", [])
    else:
        make.add(f"paddle.outer({x}, {y})", [x.dims[0], y.dims[0]])


@step(2)
def _matrix_vector(make: Maker) -> None:
    y = make.take(rank=(1, 1))
    x = make.take(lambda one: one.dims[-1] == y.dims[0], rank=(2, 4))
    code = f"paddle.mv({x}, {y})" if x.rank == 2 and make.chance(0.3) else f"paddle.matmul({x}, {y})"
    make.add(f"{code} * {round(max(y.dims[0]) ** -0.5, 3)}", x.dims[:-1])


@step(1)
def _addmm(make: Maker) -> None:
    x = make.take(lambda one: is_fixed(one.dims[1]), rank=(2, 2))
    y = make.parameter(x.dims[1][0], make.among(1, 4))
    shift = make.among(make.parameter(1), make.parameter(1, 1))
    make.add(f"paddle.addmm({shift}, {x}, {y}, 0.5, {round(x.dims[1][0] ** -0.5, 3)})", [x.dims[0], y.dims[1]])


@step(1)
def _diagonal(make: Maker) -> None:
    x = make.take(rank=(2, 4))
    least = derived_dim(min, *x.dims[-2:])
    if make.chance(0.7):
        make.add(f"paddle.diagonal({x}, 0, -2, -1)", [*x.dims[:-2], least])
    else:
        make.add(f"paddle.trace({x}, 0, -2, -1) * 0.3", x.dims[:-2])


@step(1)
def _diag_embed(make: Maker) -> None:
    x = make.take(rank=(1, 3))
    make.add(f"paddle.diag_embed({x})", [*x.dims, x.dims[-1]])


@step(1)
def _similar(make: Maker) -> None:
    """How alike two values are along an axis."""
    x = make.take(rank=(2, 4))
    y = make.take(lambda one: one.dims == x.dims, rank=(2, 4))
    axis = make.axis(x)
    dims = x.replaced(axis)
    make.add(f"F.cosine_similarity({x} + 0.1, {y}, axis={axis}, eps=0.1)", dims)


@step(1)
def _kron(make: Maker) -> None:
    x = make.take(rank=(2, 2))
    y = make.take(rank=(2, 2))
    make.add(f"paddle.kron({x}, {y})", [product_dim(*two) for two in zip(x.dims, y.dims, strict=True)])
