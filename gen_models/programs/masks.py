"""Boolean indices: elements and rows that a mask takes, assigns to, or fills; positions of what is true."""

from __future__ import annotations

from gen_models.programs.maker import FLOAT, INTEGERS, Maker, derived_dim, static_dim, step
from gen_models.programs.program import Value, is_fixed


def _every_other(x: Value, axis: int) -> str:
    """A mask of an axis, true at every other place."""
    return f"(paddle.arange(paddle.shape({x})[{axis}]) % 2 == 0)"


def _condition(make: Maker, x: Value) -> str:
    """A mask with the leading dimensions of x; of floats one that depends on the data."""
    masks = [item for item in make.visible if item.dtype == "bool" and item.rank and item.dims == x.dims[: item.rank]]
    if masks and make.chance(0.5):
        return str(make.among(*masks))
    if x.rank > 1 and make.chance(0.5):
        make.is_steady = False
        return f"({x}.mean(axis=-1) > {make.number(-0.2, 0.2)})"
    make.is_steady = False
    return f"({x} > {make.number(-0.3, 0.3)})"


@step(4)
def _taken(make: Maker) -> None:
    """Every other row: by a mask, or by where it is true; or where that is."""
    x = make.take(dtypes=(*FLOAT, *INTEGERS), is_plain=True)
    mask, half = _every_other(x, 0), derived_dim(lambda a: (a + 1) // 2, x.dims[0])
    places = make.among(
        f"paddle.nonzero({mask}).flatten()",
        f"paddle.nonzero({mask}, as_tuple=True)[0].flatten()",
        f"paddle.where({mask})[0].flatten()",
    )
    if make.chance(0.2):
        make.add(places, [half], "int64", max(x.dims[0]))
        return
    codes = [f"{x}[{places}]", f"paddle.index_select({x}, {places})", f"paddle.gather({x}, {places})"]
    codes += [f"paddle.masked_select({x}, {mask})"] if x.rank == 1 else []
    if is_fixed(x.dims[0]):  # Paddle compares the sizes of mask and axis as they are declared
        size = x.dims[0][0]
        codes += [f"{x}[paddle.to_tensor({[i % 2 == 0 for i in range(size)]})]", f"{x}[paddle.arange({size}) % 2 == 0]"]
    make.add(make.among(*codes), [half, *x.dims[1:]], x.dtype)


@step(2)
def _summed(make: Maker) -> None:
    """A sum over as many elements as the data select."""
    x = make.take(is_plain=True)
    count = max(1, max(x.shape(0)[0], *x.shape(0)) ** x.rank)
    taken = f"{x}[{_condition(make, x)}]"
    if make.chance(0.5):
        make.add(f"{taken}.sum() * {round(1 / count, 5)}", [])
    else:
        make.add(f"{taken}.flatten().sum(axis=0, keepdim=True) * {round(1 / count, 5)}", [static_dim(1)])


@step(3)
def _assigned(make: Maker) -> None:
    """Elements that a mask selects become a number, or those of another value."""
    x = make.take(is_plain=True)
    mask, copy = _condition(make, x), f"w{len(make.values)}"
    same = [item for item in make.visible if item.dims == x.dims and item.dtype == x.dtype and item != x]
    value = make.among(make.number(), make.number(), *(f"{item}[{mask}]" for item in same[-2:]))
    make.add(f"{copy} = paddle.assign({x})\n{copy}[{mask}] = {value}\n{copy} * 1.0", x.dims)


@step(4)
def _filled(make: Maker) -> None:
    """A mask of positions along an axis (of a length, say), which is broadcast, and a number that may be a tensor."""
    x = make.take(is_plain=True)
    axis = make.axis(x)
    tail, size = [1] * (x.rank - axis - 1), f"paddle.shape({x})[{axis}]"
    kind = make.among("% 3 != 1", "< 2", f"< {size} - 1", f"< {size} // 2 + 1")
    mask = f"(paddle.arange({size}).reshape({[-1, *tail]}) {kind})"
    scalars = [item for item in make.visible if not item.rank and item.dtype == "float32"]
    value = make.among(make.number(), f"paddle.to_tensor({make.number()})", *scalars[-2:])
    codes = [
        f"paddle.masked_fill({x}, {mask}, {value})",
        f"paddle.where({mask}, {x}, {value})",
        f"paddle.where(paddle.logical_not({mask}), {value}, {x})",
        f"paddle.where({mask}, {x}, paddle.zeros_like({x}))",
        f"{x} * paddle.cast({mask}, 'float32')",
    ]
    make.add(make.among(*codes), x.dims)


@step(1)
def _found(make: Maker) -> None:
    """Where the mask of a row is true, as two columns of positions, back to floats."""
    x = make.take(rank=(2, 2), is_plain=True)
    mask = f"paddle.logical_and({x} == {x}, {_every_other(x, 1)})"
    count = derived_dim(lambda a, b: a * ((b + 1) // 2), *x.dims)
    which = make.below(2)
    code = make.among(f"paddle.nonzero({mask})[:, {which}]", f"paddle.where({mask})[{which}].flatten()")
    make.add(f"paddle.cast({code}, 'float32') / {max(x.dims[which])}.0", [count])
