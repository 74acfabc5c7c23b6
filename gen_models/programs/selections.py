"""Scatters, gathers and slices whose bounds or indices are tensors; what only some elements are taken of."""

from __future__ import annotations

from gen_models.programs.maker import ANY, INTEGERS, Maker, static_dim, step
from gen_models.programs.program import Value, is_fixed


def _same(make: Maker, x: Value) -> Value:
    return make.take(lambda one: one.dims == x.dims and one.dtype == x.dtype, (1, 5), dtypes=(x.dtype,))


@step(2)
def _tensor_index(make: Maker) -> None:
    """One index that is a tensor, computed of a size."""
    x = make.take(rank=(2, 4), dtypes=ANY)
    axis = make.below(2)
    index = make.among(f"{x}.shape[{axis}] // 2", f"paddle.shape({x})[{axis}] - 1", f"paddle.shape({x})[{axis}] // 3")
    make.add(f"{x}[{':, ' * axis}{index}]", x.replaced(axis), x.dtype)


@step(2)
def _put_along(make: Maker) -> None:
    x = make.take(rank=(1, 3))
    axis = make.axis(x)
    y = _same(make, x)
    size = f"paddle.shape({x})[{axis}].astype('int64')"
    turned = [1] * x.rank
    turned[axis] = -1
    places = f"(paddle.arange({size}, dtype='int64').reshape({turned}) + 1) % {size}"
    index = f"{places} + paddle.zeros_like({x}).astype('int64')"
    mode = make.among("assign", "add", "add")
    make.add(f"paddle.put_along_axis({x}, {index}, {y}, {axis}, reduce='{mode}')", x.dims)


@step(2)
def _scatter(make: Maker) -> None:
    """Rows added at places that may be the same."""
    x = make.take(rank=(1, 3))
    rows = [make.below(min(x.dims[0])) for _ in range(make.among(1, 2, 3))]
    y = make.take(
        lambda one: one.rank == x.rank and one.dims[1:] == x.dims[1:] and min(one.dims[0]) >= len(rows), (1, 3)
    )
    index, column = f"paddle.to_tensor({rows})", f"paddle.to_tensor({[[row] for row in rows]})"
    added = f"{y}[:{len(rows)}]"
    codes = (
        f"paddle.scatter_nd_add({x}, {column}, {added})",
        f"paddle.scatter({x}, {index}, {added}, overwrite=False)",
        f"paddle.index_add({x}, {index}, 0, {added})",
        f"paddle.scatter_nd({column}, {added}, paddle.shape({x}))",
    )
    make.add(make.among(*codes), x.dims)


@step(2)
def _placed(make: Maker) -> None:
    """Rows, none of them twice, that become those of another value, or a number."""
    x = make.take(rank=(1, 3))
    rows = sorted({make.below(min(x.dims[0])) for _ in range(2)})
    y, index = _same(make, x), f"paddle.to_tensor({rows})"
    codes = (
        f"paddle.scatter({x}, {index}, {y}[:{len(rows)}])",
        f"paddle.scatter({x}, {index}, paddle.gather({y}, {index}))",
        f"paddle.index_put({x}, ({index},), paddle.to_tensor({make.number()}))",
    )
    make.add(make.among(*codes), x.dims)


@step(1)
def _index_sample(make: Maker) -> None:
    x = make.take(lambda one: is_fixed(one.dims[1]), rank=(2, 2))
    indices = [item for item in make.visible if item.dtype in INTEGERS and item.rank == 2 and item.dims[0] == x.dims[0]]
    if indices:
        make.add(f"paddle.index_sample({x}, {indices[-1]} % {x.dims[1][0]})", indices[-1].dims)
    else:
        make.is_steady = False
        make.add(f"paddle.index_sample({x}, paddle.argsort({x}, axis=1))", x.dims)


@step(2)
def _advanced(make: Maker) -> None:
    """Lists of places of two axes, or of one behind an ellipsis."""
    x = make.take(rank=(2, 4), dtypes=ANY)
    count = make.among(1, 2, 3)
    last = [make.below(min(x.dims[-1])) for _ in range(count)]
    rows, columns = ([make.below(min(x.dims[axis])) for _ in range(count)] for axis in (0, 1))
    if make.chance(0.5):
        make.add(f"{x}[..., {last}]", [*x.dims[:-1], static_dim(count)], x.dtype)
    else:
        make.add(f"{x}[{rows}, {columns}]", [static_dim(count), *x.dims[2:]], x.dtype)
