"""Linear algebra over batches of small matrices; norms of every order; statistics; segments."""

from __future__ import annotations

from gen_models.programs.maker import Maker, derived_dim, static_dim, step
from gen_models.programs.program import is_fixed


@step(2)
def _square(make: Maker) -> None:
    """Products of a matrix with itself, made regular; what is computed of them."""
    x = make.take(lambda one: is_fixed(one.dims[-1]) and one.dims[-1][0] <= 4, rank=(2, 3), is_plain=True)
    size = x.dims[-1][0]
    eye = f"paddle.eye({size})"
    gram = make.add(f"paddle.matmul({x}, {x}, transpose_x=True) * 0.2 + {eye}", [*x.dims[:-2], *[static_dim(size)] * 2])
    lead = list(x.dims[:-2])
    codes = [
        (f"paddle.linalg.inv({gram})", gram.dims), (f"paddle.linalg.det({gram}) * 0.3", lead),
        (f"paddle.linalg.cholesky({gram})", gram.dims),
        (f"paddle.linalg.solve({gram}, paddle.transpose({x}, {[*range(x.rank - 2), x.rank - 1, x.rank - 2]}))",
         [*lead, static_dim(size), x.dims[-2]]),
        (f"paddle.linalg.triangular_solve(paddle.tril({gram}), {gram}, upper=False)", gram.dims),
        (f"paddle.linalg.pinv({gram})", gram.dims),
    ]  # fmt: skip
    make.add(*make.among(*codes))


@step(3)
def _norm(make: Maker) -> None:
    """Norms of every order, over one axis or several."""
    x = make.take(rank=(1, 4), is_plain=True)
    axis = make.axis(x)
    keep = make.chance(0.5)
    p = make.among("1", "2", "3", "float('inf')", "-float('inf')", "1.5")
    scale = round(1 / max(x.dims[axis]), 3)
    codes = [
        (
            f"paddle.linalg.norm({x} + 0.05, p={p}, axis={make.spelled(axis, x.rank)}, keepdim={keep}) * {scale}",
            x.reduced([axis], keep),
        )
    ]
    if x.rank > 1:
        ends = [*x.dims[:-2], *([static_dim(1)] * 2 if keep else [])]
        order = make.among("'fro'", "1", "float('inf')")
        codes.append((f"paddle.linalg.norm({x}, p={order}, axis=[-2, -1], keepdim={keep}) * 0.1", ends))
    make.add(*make.among(*codes))


@step(3)
def _statistics(make: Maker) -> None:
    """Deviations, quantiles and products along an axis, and those that pass NaN over."""
    x = make.take(rank=(1, 4), is_plain=True)
    axis = make.axis(x)
    keep = make.chance(0.5)
    named = make.spelled(axis, x.rank)
    args = f"{x}, axis={named}, keepdim={keep}"
    codes = [
        f"paddle.nanmean({args})", f"paddle.quantile({x}, 0.3, axis={named}, keepdim={keep})", f"paddle.prod({args})",
        f"paddle.amin({args})", f"paddle.nansum({args}) * {round(1 / max(x.dims[axis]), 3)}",
        f"paddle.var({x}, axis={named}, unbiased=False, keepdim={keep})", f"paddle.nanmedian({args})",
        f"paddle.sqrt(paddle.mean({x}.square(), axis={named}, keepdim={keep}) + 0.1)",
    ]  # fmt: skip
    if min(x.dims[axis]) > 1:
        codes.append(f"paddle.std({x} * 3.0, axis={named}, keepdim={keep})")
    make.add(make.among(*codes), x.reduced([axis], keep))


@step(2)
def _einsum(make: Maker) -> None:
    """Diagonals, sums and three operands by letters."""
    x = make.take(rank=(3, 3))
    y = make.take(lambda one: one.dims[0] == x.dims[0] and one.dims[2] == x.dims[2], rank=(3, 3))
    scale = round(max(x.dims[2]) ** -0.5, 3)
    a, b, c = x.dims
    both = round(scale / max(b), 4)
    codes = (
        (f"paddle.einsum('abc,adc->abd', {x}, {y}) * {scale}", [a, b, y.dims[1]]),
        (f"paddle.einsum('abc,adc->dab', {x}, {y}) * {scale}", [y.dims[1], a, b]),
        (f"paddle.einsum('...bc,...dc->...bd', {x}, {y}) * {scale}", [a, b, y.dims[1]]),
        (f"paddle.einsum('abc,abe->ace', {x}, {x}) * {both}", [a, c, c]),
        (f"paddle.einsum('abc->cb', {x}) * {round(1 / max(a), 3)}", [c, b]),
        (f"paddle.einsum('abc,c->ab', {x}, {y}[0, 0]) * {scale}", [a, b]),
        (f"paddle.einsum('abc,adc,ab->ad', {x}, {y}, {x}[:, :, 0]) * {both}", [a, y.dims[1]]),
    )
    make.add(*make.among(*codes))


@step(2)
def _segments(make: Maker) -> None:
    """Rows of a graph: gathered, weighed and brought together at their ends."""
    x = make.take(lambda one: is_fixed(one.dims[0]), rank=(2, 3))
    rows, count = x.dims[0][0], make.among(3, 5)
    start, end = (f"paddle.to_tensor({[make.below(rows) for _ in range(count)]})" for _ in range(2))
    how = make.among("sum", "mean", "max", "min")
    sorted_to = sorted(make.below(3) for _ in range(rows))
    groups = sorted_to[-1] + 1
    codes = (
        (f"paddle.geometric.send_u_recv({x}, {start}, {end}, '{how}')", x.dims),
        (f"paddle.geometric.segment_{how}({x}, paddle.to_tensor({sorted_to}))", [static_dim(groups), *x.dims[1:]]),
        (f"paddle.scatter_nd_add(paddle.zeros_like({x}), {end}.unsqueeze(-1), {x}[{start}])", x.dims),
        (f"paddle.geometric.send_uv({x}, {x}, {start}, {end}, 'mul')", [static_dim(count), *x.dims[1:]]),
    )  # fmt: skip
    make.add(*make.among(*codes))


@step(2)
def _distances(make: Maker) -> None:
    """How far each row of one matrix is from each row of another, or how alike they are."""
    x = make.take(lambda one: is_fixed(one.dims[-1]), rank=(2, 3))
    y = make.take(lambda one: one.dims[:-2] == x.dims[:-2] and one.dims[-1] == x.dims[-1], rank=(x.rank, x.rank))
    dims = [*x.dims[:-1], y.dims[-2]]
    far = f"({x}.unsqueeze(-2) - {y}.unsqueeze(-3))"
    codes = [
        f"paddle.cdist({x}, {y} + 0.3, p={make.among('1.0', '2.0')}) * 0.3",
        f"{far}.square().mean(-1)",
        f"F.softmax(-{far}.abs().sum(-1), axis=-1)",
        f"paddle.matmul({', '.join(f'F.normalize({z}, axis=-1, epsilon=0.1)' for z in (x, y))}, transpose_y=True)",
    ]
    make.add(make.among(*codes), dims)


@step(1)
def _codebook(make: Maker) -> None:
    """The nearest of the codes that a parameter holds."""
    x = make.take(lambda one: is_fixed(one.dims[-1]), rank=(2, 4), is_plain=True)
    width, codes = x.dims[-1][0], make.among(4, 8)
    book = make.parameter(codes, width)
    make.is_steady = False
    near = f"paddle.matmul({x}, {book}, transpose_y=True) * 2 - {book}.square().sum(-1)"
    index = make.add(f"paddle.argmax({near}, axis=-1)", x.dims[:-1], "int64", codes)
    make.add(f"{x} + (F.embedding({index}, {book}) - {x}).detach()", x.dims)


@step(1)
def _joined(make: Maker) -> None:
    """Blocks beside each other, over each other, and those of other cuts."""
    x = make.take(rank=(2, 3))
    twice = derived_dim(lambda a: 2 * a, x.dims[0])
    codes = [
        (f"paddle.unstack(paddle.stack([{x}, {x} * 0.5]), 0, 2)[1]", x.dims),
        (f"paddle.stack([{x}, {x} * 0.5], axis=1).flatten(0, 1)", [twice, *x.dims[1:]]),
        (f"paddle.rot90({x}, 1, [0, 1])", [x.dims[1], x.dims[0], *x.dims[2:]]),
        (f"paddle.moveaxis({x}, 0, -1)", [*x.dims[1:], x.dims[0]]),
        (f"paddle.atleast_3d({x})[..., 0]" if x.rank == 2 else f"{x}[..., None, :].squeeze(-2)", x.dims),
        (f"paddle.diff({x}, axis=0, prepend={x}[:1])", x.dims),
    ]
    make.add(*make.among(*codes))
