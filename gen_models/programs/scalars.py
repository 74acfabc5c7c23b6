"""Values without dimensions: totals, and what is computed with them and made of them."""

from __future__ import annotations

import math

from gen_models.programs.maker import ANY, Maker, static_dim, step
from gen_models.programs.program import SETS


@step(3)
def _total(make: Maker) -> None:
    x = make.take(rank=(1, 4), is_plain=True)
    count = max(math.prod(x.shape(which)) for which in range(SETS))
    codes = (
        f"paddle.mean({x})", f"paddle.max({x})", f"paddle.min({x})", f"paddle.sum({x}) * {round(1 / count, 5)}",
        f"paddle.linalg.norm({x}) * {round(count**-0.5, 4)}", f"paddle.var({x}, unbiased=False)",
    )  # fmt: skip
    make.add(make.among(*codes), [])


@step(5)
def _with_scalar(make: Maker) -> None:
    """An operation of a value and one without dimensions, in either order."""
    x = make.take(rank=(0, 5))
    number = make.take(rank=(0, 0))
    codes = ("{} + {}", "{} - {}", "{} * paddle.tanh({})", "paddle.maximum({}, {})", "{} / (paddle.abs({}) + 1.0)")
    code = make.among(*codes).format(*make.among((x, number), (number, x)))
    if make.chance(0.2):
        code = f"paddle.full_like({x}, {number})"
    elif make.chance(0.2):
        make.is_steady = False
        code = f"paddle.where({number} > 0.0, {x}, {x} * 0.5)"
    make.add(code, x.dims)


@step(3)
def _from_scalar(make: Maker) -> None:
    """A tensor of a value without dimensions."""
    number = make.take(rank=(0, 0), dtypes=ANY)
    like = make.take()
    axis = make.axis(like)
    codes = [
        (f"paddle.reshape({number}, [1])", [static_dim(1)]),
        (f"paddle.unsqueeze({number}, [0, 1])", [static_dim(1)] * 2),
        (f"paddle.expand({number}, [{make.size(like, axis)}])", [like.dims[axis]]),
        (f"paddle.expand({number}, [2, 3])", [static_dim(2), static_dim(3)]),
        (f"paddle.stack([{number}, {number}, {number}])", [static_dim(3)]),
        (f"paddle.concat([paddle.reshape({number}, [1]), paddle.reshape({number}, [-1])])", [static_dim(2)]),
    ]
    code, dims = codes[make.below(len(codes))]
    make.add(code, dims, number.dtype)


@step(2)
def _element(make: Maker) -> None:
    """One element."""
    x = make.take(rank=(1, 3), dtypes=ANY)
    places = ", ".join(make.among("0", "-1", str(min(dim) - 1)) for dim in x.dims)
    make.add(f"{x}[{places}]", [], x.dtype)
