"""Integers and booleans: positions, orders and masks, what is computed of them, and how they come back to floats."""

from __future__ import annotations

import math

from gen_models.programs.maker import ANY, FLOAT, INTEGERS, Maker, static_dim, step
from gen_models.programs.program import SETS, Value, is_fixed

_UNARY = (
    ("paddle.abs({})", 1, 0), ("-{}", 1, 0), ("{} * {n}", 2, 0), ("{} + {n}", 1, 1), ("{} - {n}", 1, 1),
    ("{} // {n}", 1, 1), ("{} % {n}", 0, 1), ("{n} - {}", 1, 1), ("paddle.clip({}, -{n}, {n})", 1, 0),
    ("paddle.sign({})", 0, 0), ("paddle.maximum({}, paddle.full([1], {n}, '{t}'))", 1, 1),
    ("paddle.floor_divide({}, paddle.full([1], -{n}, '{t}'))", 1, 1),
    ("paddle.cast(paddle.cast({}, '{o}'), '{t}')", 1, 0),
    ("paddle.mod({}, paddle.full([1], -{n}, '{t}'))", 0, 1), ("paddle.cast({} == {n}, '{t}')", 0, 0),
    ("paddle.bitwise_and({}, paddle.full([1], {n}, '{t}'))", 1, 1), ("paddle.bitwise_not({})", 1, 0),
    ("paddle.bitwise_xor({}, paddle.full([1], {n}, '{t}'))", 2, 2), ("paddle.flip({}, [-1])", 1, 0),
    ("paddle.where({} > {n}, paddle.full([1], {n}, '{t}'), paddle.full([1], -{n}, '{t}'))", 0, 1),
    ("paddle.sort({}, axis=-1)", 1, 0), ("paddle.scale({}, {n}, 1)", 2, 0), ("paddle.triu({})", 1, 0),
)  # fmt: skip
"""Text, and the factors of the bounds of the operand (2: times n) and of n in that of the result, besides 1."""
_BINARY = (
    "{} + {}", "{} - {}", "{} * {}", "paddle.maximum({}, {})", "paddle.minimum({}, {})", "{} // (paddle.abs({}) + 1)",
    "{} % (paddle.abs({}) + 1)", "paddle.bitwise_or({}, {})", "paddle.floor_divide({}, -1 - paddle.abs({}))",
    "paddle.where({0} < {1}, {1}, {0})", "paddle.mod({}, -1 - paddle.abs({}))",
)  # fmt: skip


@step(2)
def _input(make: Maker) -> None:
    """One more input, of integers or booleans."""
    like = make.take(rank=(1, 3))
    if make.depth or len(make.inputs) > 3:
        raise StopIteration
    make.input(like.dims, make.among("int64", "int32", "bool"))


@step(4)
def _positions(make: Maker) -> None:
    """Positions along an axis, or sizes, as integers."""
    x = make.take(is_plain=True)
    axis, dtype = make.axis(x), make.among(*INTEGERS)
    most = max(x.dims[axis])
    if make.chance(0.2):
        make.add(f"paddle.cast(paddle.shape({x})[{axis}], '{dtype}')", [], dtype, most)
    elif make.chance(0.2):
        make.add(f"paddle.cast(paddle.shape({x}), '{dtype}')", [static_dim(x.rank)], dtype, max(map(max, x.dims)))
    elif make.chance(0.4):
        make.add(f"paddle.arange({make.size(x, axis)}, dtype='{dtype}')", [x.dims[axis]], dtype, most)
    else:
        tail = [1] * (x.rank - axis - 1)
        code = f"paddle.arange({make.size(x, axis)}, dtype='{dtype}').reshape({[-1, *tail]})"
        make.add(f"{code} + paddle.zeros_like({x}).astype('{dtype}')", x.dims, dtype, most)


@step(3)
def _rounded(make: Maker) -> None:
    """Floats as integers."""
    x = make.take(is_plain=True)
    make.is_steady = False
    dtype = make.among(*INTEGERS)
    inner = make.among(
        f"paddle.tanh({x}) * 7.3 + 0.37", f"paddle.floor(F.sigmoid({x}) * 4.9)", f"paddle.round({x} * 2)"
    )
    if inner.startswith("paddle.round"):
        inner = f"paddle.clip({inner}, -9.0, 9.0)"
    make.add(f"paddle.cast({inner}, '{dtype}')", x.dims, dtype, 9)


@step(3)
def _orders(make: Maker) -> None:
    """Where the largest stand, or the order, along an axis; no two of it are equal, whose order would be open."""
    x = make.take(is_plain=True)
    axis = make.axis(x)
    make.is_steady = False
    ramp = f"paddle.arange({make.size(x, axis)}, dtype='float32').reshape({[-1, *[1] * (x.rank - axis - 1)]})"
    y = f"{x} + {ramp} * 0.0137"
    most = max(x.dims[axis])
    if make.chance(0.4):
        make.add(f"paddle.argsort({y}, axis={axis}, descending={make.chance(0.5)})", x.dims, "int64", most)
    elif make.chance(0.5):
        k = 1 + make.below(min(x.dims[axis]))
        dims = x.replaced(axis, static_dim(k))
        code = f"paddle.topk({y}, {k}, axis={make.spelled(axis, x.rank)}, largest={make.chance(0.7)})"
        make.add_all(code, [(dims, "float32"), (dims, "int64")], most)
    else:
        keep = make.chance(0.4)
        function = make.among("argmax", "argmax", "argmin")
        make.add(f"paddle.{function}({y}, axis={axis}, keepdim={keep})", x.reduced([axis], keep), "int64", most)


@step(7)
def _unary(make: Maker) -> None:
    x = make.take(rank=(1, 5), dtypes=INTEGERS)
    number = 1 + make.below(make.among(3, 7, 100))
    text, factor, added = make.among(*_UNARY)
    if "triu" in text and x.rank < 2:
        raise StopIteration
    other = INTEGERS[1 - INTEGERS.index(x.dtype)]
    bound = make.bounds[x.number] * (number if factor == 2 else factor) + number * added + 1
    make.add(text.format(x, n=number, t=x.dtype, o=other), x.dims, x.dtype, bound)


@step(6)
def _binary(make: Maker) -> None:
    """An operation of two values of one type; the second may be broadcast."""
    x = make.take(rank=(0, 5), dtypes=INTEGERS)

    def fits(other: Value) -> bool:
        ends = x.dims[x.rank - other.rank :] if other.rank <= x.rank else ()
        return (
            other.dtype == x.dtype
            and len(ends) == other.rank
            and all(dim in (two, static_dim(1)) for dim, two in zip(other.dims, ends, strict=True))
        )

    y = make.take(fits, rank=(0, x.rank), dtypes=INTEGERS)
    text = make.among(*_BINARY)
    one, two = make.bounds[x.number], make.bounds[y.number]
    bound = one * two if " * " in text else 2 * (one + two + 1)
    make.add(text.format(x, y), x.dims, x.dtype, bound)


@step(4)
def _compare(make: Maker) -> None:
    x = make.take(rank=(0, 5), dtypes=(*FLOAT, *INTEGERS), is_plain=True)
    same = [item for item in make.visible if item.dims == x.dims and item.dtype == x.dtype and item != x]
    if x.dtype in FLOAT:
        make.is_steady = False
        make.add(f"{x} {make.among('<', '>', '<=', '>=')} {make.among(make.number(), *same[-2:])}", x.dims, "bool")
    else:
        number = make.below(make.bounds[x.number] + 1)
        make.add(f"{x} {make.among('<', '>', '==', '!=', '>=')} {make.among(number, *same[-3:])}", x.dims, "bool")


@step(3)
def _logic(make: Maker) -> None:
    x = make.take(rank=(0, 5), dtypes=("bool",))
    y = make.take(lambda one: one.dims == x.dims, (0, 5), dtypes=("bool",))
    codes = (
        f"paddle.logical_and({x}, {y})", f"paddle.logical_or({x}, {y})", f"paddle.logical_xor({x}, {y})",
        f"paddle.logical_not({x})", f"{x} & {y}", f"~{x}", f"{x} | {y}", f"paddle.equal({x}, {y})",
    )  # fmt: skip
    make.add(make.among(*codes), x.dims, "bool")


@step(5)
def _reduced(make: Maker) -> None:
    """Sums, products, largest and smallest of integers and booleans; counts."""
    x = make.take(rank=(1, 4), dtypes=(*INTEGERS, "bool"))
    axes = sorted({make.axis(x) for _ in range(make.among(1, 1, 2))})
    keep = make.chance(0.4)
    named = axes[0] if len(axes) == 1 else axes
    dims = x.reduced(axes, keep)
    count = max(math.prod(x.dims[axis][which] for axis in axes) for which in range(SETS))
    options = f"axis={named}, keepdim={keep}"
    if x.dtype == "bool":
        function = make.among("any", "all", "sum", "count_nonzero")
        kind = "bool" if function in ("any", "all") else "int64"
        make.add(f"paddle.{function}({x}, {options})", dims, kind, count)
    elif make.chance(0.2) and len(axes) == 1:
        function = make.among("cumsum", "cummax")
        first = "[0]" if function == "cummax" else ""
        make.add(f"paddle.{function}({x}, axis={named}){first}", x.dims, x.dtype, make.bounds[x.number] * count)
    else:
        function = make.among("sum", "max", "min", "amax")
        if function == "sum":
            make.add(f"paddle.sum({x}, {options}, dtype='{x.dtype}')", dims, x.dtype, make.bounds[x.number] * count)
        else:
            make.add(f"paddle.{function}({x}, {options})", dims, x.dtype)


@step(6)
def _back(make: Maker) -> None:
    """Integers and booleans as floats of the size of 1."""
    x = make.take(rank=(0, 5), dtypes=(*INTEGERS, "bool"))
    if x.dtype == "bool":
        make.add(f"paddle.cast({x}, 'float32')", x.dims)
    elif make.chance(0.5):
        make.add(f"paddle.cast({x}, 'float32') * {max(1e-6, round(1 / (make.bounds[x.number] + 1), 6))}", x.dims)
    else:
        make.add(f"paddle.cast({x} % {make.among(3, 5, 7)}, 'float32') * 0.2", x.dims)


@step(4)
def _masked(make: Maker) -> None:
    """A choice by booleans, or a product with them, of their dimensions."""
    mask = make.take(rank=(0, 4), dtypes=("bool",))
    x = make.take(lambda one: one.dims[one.rank - mask.rank :] == mask.dims, (max(1, mask.rank), 5), dtypes=ANY)
    y = make.take(lambda one: one.dims == x.dims and one.dtype == x.dtype, dtypes=ANY)
    bound = max(make.bounds.get(x.number, 0), make.bounds.get(y.number, 0))
    codes = [f"paddle.where({mask}, {x}, {y})"]
    if x.dtype == "float32":
        codes += [
            f"paddle.masked_fill({x}, {mask}, {make.number()})",
            f"{x} * paddle.cast({mask}, 'float32')",
            f"paddle.where(~{mask}, {x}, paddle.zeros_like({x}))",
        ]
    make.add(make.among(*codes), x.dims, x.dtype, bound)


@step(3)
def _by_index(make: Maker) -> None:
    """Elements by computed integers, within the axis whatever they are."""
    x = make.take(dtypes=ANY)
    index = make.take(rank=(1, 2), dtypes=INTEGERS)
    axis = make.axis(x)
    bounded = f"paddle.remainder({index}, paddle.cast({make.size(x, axis)}, '{index.dtype}'))"
    if is_fixed(x.dims[axis]):
        bounded = f"{index} % {x.dims[axis][0]}"
    function = make.among("gather", "take") if x.dtype == "bool" else make.among("gather", "index_select", "take")
    if function == "take" and axis == 0:
        make.add(f"{x}[{bounded}]", [*index.dims, *x.dims[1:]], x.dtype, make.bounds.get(x.number))
    elif index.rank == 1:
        dims = x.replaced(axis, index.dims[0])
        named = "gather" if function == "take" else function
        make.add(f"paddle.{named}({x}, {bounded}, axis={axis})", dims, x.dtype, make.bounds.get(x.number))
    else:
        raise StopIteration


@step(2)
def _one_hot(make: Maker) -> None:
    x = make.take(rank=(1, 3), dtypes=INTEGERS)
    make.add(f"F.one_hot({x} % 5, 5)", [*x.dims, static_dim(5)])


@step(1)
def _search(make: Maker) -> None:
    """Where floats stand among sorted numbers."""
    x = make.take(is_plain=True)
    make.is_steady = False
    dtype = make.among(*INTEGERS)
    code = f"paddle.searchsorted(paddle.to_tensor([-0.53, -0.11, 0.29, 0.77]), {x}, out_int32={dtype == 'int32'})"
    make.add(code, x.dims, dtype, 4)
