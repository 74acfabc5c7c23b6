"""Tensors of computed sizes: ranges, masks of lengths, constants, positions."""

from __future__ import annotations

from gen_models.programs.maker import Maker, static_dim, step
from gen_models.programs.program import is_fixed


@step(2)
def _filled(make: Maker) -> None:
    x = make.take(is_plain=True)
    axes = [make.axis(x) for _ in range(make.among(1, 2, 3))]
    text = ", ".join(make.size(x, axis) for axis in axes)
    dims = [x.dims[axis] for axis in axes]
    make.add(
        make.among(
            f"paddle.full([{text}], {make.number()})", f"paddle.zeros([{text}])", f"paddle.ones([{text}]) * 0.5"
        ),
        dims,
    )


@step(2)
def _ramp(make: Maker) -> None:
    """Positions along an axis, as numbers up to 1."""
    x = make.take(is_plain=True)
    axis = make.axis(x)
    size = make.size(x, axis)
    codes = [f"paddle.cast(paddle.arange({size}), 'float32') * 0.1", f"paddle.linspace(0, 1, {size})"]
    if make.chance(0.5):
        make.add(make.among(*codes), [x.dims[axis]])
    else:
        code = f"paddle.cast(paddle.arange({size}), 'float32').reshape([-1, 1]) / {max(x.dims[axis])}.0"
        make.add(code, [x.dims[axis], static_dim(1)])


@step(2)
def _ratio(make: Maker) -> None:
    """A product with a size, or a quotient of sizes."""
    x = make.take(is_plain=True)
    y = make.take(is_plain=True)
    axis = make.axis(y)
    code = make.among(
        f"{x} / paddle.cast(paddle.shape({y})[{axis}], 'float32')",
        f"{x} * (paddle.cast(paddle.shape({y})[{axis}], 'float32') / {2 * max(y.dims[axis])}.0)",
        f"{x} * ({make.size(y, axis)} / {2 * max(y.dims[axis])})",
    )
    make.add(code, x.dims)


@step(2)
def _positions(make: Maker) -> None:
    """Learned position embeddings, sliced to the length of the data."""
    x = make.take(lambda one: is_fixed(one.dims[-1]), rank=(3, 3), is_plain=True)
    extra = make.among(0, 1, 3)
    most = max(x.dims[1]) + extra
    start = make.below(extra + 1)
    table = make.parameter(1, most, x.dims[2][0])
    size = make.size(x, 1)
    stop = f"{start} + {size}" if start else size
    part = make.add(f"{table}[:, {start or ''}:{stop}]", [static_dim(1), x.dims[1], x.dims[2]])
    make.add(f"{x} + {part}", x.dims)


@step(1)
def _large_parameter(make: Maker) -> None:
    """A parameter too large to be folded at conversion."""
    make.parameter(*make.among([1, 24, 64], [40, 40], [1, 8, 16, 16], [2, 12, 64], [64, 4, 6]))


@step(1)
def _triangle(make: Maker) -> None:
    x = make.take(rank=(2, 4))
    make.add(f"paddle.{make.among('tril', 'triu')}({x}, {make.among(0, 1, -1)})", x.dims)


@step(1)
def _grid(make: Maker) -> None:
    x = make.take(rank=(2, 4), is_plain=True)
    first, second = make.axis(x), make.axis(x)
    text = ", ".join(f"paddle.cast(paddle.arange({make.size(x, axis)}), 'float32')" for axis in (first, second))
    scale = round(1 / max(*x.dims[first], *x.dims[second]), 3)
    code = f"paddle.stack(paddle.meshgrid({text}), axis=-1) * {scale}"
    make.add(code, [x.dims[first], x.dims[second], static_dim(2)])
