"""Slices, gathers and assignments to elements, with bounds that are known, open or computed."""

from __future__ import annotations

from gen_models.programs.maker import ANY, INTEGERS, Maker, derived_dim, static_dim, step
from gen_models.programs.program import Call, Dim, Value, is_fixed


def _slice_text(make: Maker, x: Value, axis: int, start: int, stop: Dim) -> str:
    """A slice from `start`, which no axis falls short of, to `stop`: open, known, from the end, or computed."""
    dim = x.dims[axis]
    texts = []
    if stop == dim:
        texts += ["", "", f"{x}.shape[{axis}]"]
    if is_fixed(stop):
        texts += [str(stop[0]), str(stop[0])]
    less = derived_dim(lambda a, b: a - b, dim, stop)
    if is_fixed(less) and less[0] > 0:
        texts += [f"-{less[0]}", f"{x}.shape[{axis}] - {less[0]}"]
    return f"{start or make.among('', '0')}:{make.among(*texts)}"


def _axis_slice(make: Maker, x: Value, axis: int) -> tuple[str, Dim]:
    """A slice of an axis as text, and what is left of it."""
    dim = x.dims[axis]
    least = min(dim)
    start = make.among(0, 0, 1, 2)
    start = start if start < least else 0
    if make.chance(0.15) and start == 0:
        step = make.among(2, 2, -1)
        return f"::{step}", derived_dim(lambda a: -(-a // abs(step)), dim)
    stops = [dim, dim]
    if start < least:
        stops.append(static_dim(start + 1 + make.below(least - start)))
    if least - start > 1:
        stops.append(derived_dim(lambda a: a - 1, dim))
    stop = make.among(*stops)
    return _slice_text(make, x, axis, start, stop), derived_dim(lambda a: a - start, stop)


@step(7)
def _slice(make: Maker) -> None:
    x = make.take(dtypes=ANY)
    texts, dims = [], []
    has_dropped = False
    for axis, dim in enumerate(x.dims):
        counters = [counter for counter in make.counters if counter.dim == dim]
        kind = make.below(10)
        if counters and make.chance(0.5):
            texts.append(str(make.among(*counters)))
            has_dropped = True
        elif kind < 2 and x.rank > 1 and not has_dropped:
            texts.append(make.among("0", "-1", str(min(dim) - 1)))
            has_dropped = True
        elif kind < 6:
            text, left = _axis_slice(make, x, axis)
            texts.append(text)
            dims.append(left)
        elif kind == 6 and x.rank < 4 and "None" not in texts:
            texts.append("None, :")
            dims += [static_dim(1), dim]
        else:
            texts.append(":")
            dims.append(dim)
    while texts[-1] == ":" and len(texts) > 1 and make.chance(0.7):
        texts.pop()
    if not dims:
        raise StopIteration
    make.add(f"{x}[{', '.join(texts)}]", dims, x.dtype)


def _target(make: Maker, x: Value) -> tuple[str, list[Dim]]:
    """What is assigned to, as an index, and its dimensions."""
    texts, dims = [], []
    for axis, dim in enumerate(x.dims):
        counters = [counter for counter in make.counters if counter.dim == dim]
        if counters and make.chance(0.8):
            texts.append(str(make.among(*counters)))
        elif make.chance(0.2) and axis < 2:
            texts.append(make.among("0", "-1"))
        elif make.chance(0.5):
            text, left = _axis_slice(make, x, axis)
            texts.append(text)
            dims.append(left)
        else:
            texts.append(":")
            dims.append(dim)
    while texts[-1] == ":" and len(texts) > 1:
        texts.pop()
    return ", ".join(texts), dims


def assign(make: Maker, y: Value) -> None:
    """Writes to elements of y in place."""
    text, dims = _target(make, y)
    fitting = [item for item in make.visible if item.dims == tuple(dims) and item.dtype == y.dtype and item != y]
    if y.dtype in INTEGERS:
        fitting = [item for item in fitting if make.bounds[item.number] <= make.bounds[y.number]]
    if fitting and make.chance(0.6):
        value = str(make.among(*fitting))
    elif y.dtype == "bool":
        value = make.among("True", "False")
    elif y.dtype in INTEGERS:
        value = str(make.below(make.bounds[y.number] + 1))
    elif "-1" not in text and make.chance(0.4) and dims:
        value = f"{y}[{text}] * 0.5 + {make.number()}"
    else:
        value = str(make.number())
    make.append(Call(f"{y}[{text}] = {value}"))


@step(4)
def _assigned(make: Maker) -> None:
    x = make.take(dtypes=ANY)
    codes = [f"paddle.assign({x})", f"paddle.zeros_like({x})", *([f"{x} * 0.5"] * (x.dtype == "float32"))]
    y = make.add(make.among(*codes), x.dims, x.dtype)
    for _ in range(make.among(1, 1, 2)):
        assign(make, y)


@step(15)
def _assign_outer(make: Maker) -> None:
    """An assignment in a loop's body to a loop-carried value."""
    if not make.depth:
        raise StopIteration
    assign(make, make.take(writable=True))


@step(2)
def _gather(make: Maker) -> None:
    x = make.take(dtypes=ANY)
    axis = make.axis(x)
    least = min(x.dims[axis])
    if least < 1:
        raise StopIteration
    if make.chance(0.4):
        start = make.below(least)
        index = f"paddle.arange({start}, {make.size(x, axis)})" if start else f"paddle.arange({make.size(x, axis)})"
        left = derived_dim(lambda a: a - start, x.dims[axis])
    else:
        picked = [make.below(least) for _ in range(1 + make.below(3))]
        index, left = f"paddle.to_tensor({picked})", static_dim(len(picked))
    function = "gather" if x.dtype == "bool" else make.among("gather", "index_select")
    make.add(f"paddle.{function}({x}, {index}, axis={axis})", x.replaced(axis, left), x.dtype)


@step(3)
def _pick(make: Maker) -> None:
    """Elements along an axis, by integers that are there or by their own order."""
    x = make.take(rank=(1, 3))
    axis = make.axis(x)
    orders = [item for item in make.visible if item.dims == x.dims and item.dtype == "int64"]
    if orders:
        size = x.dims[axis][0] if is_fixed(x.dims[axis]) else f"paddle.shape({x})[{axis}].astype('int64')"
        make.add(f"paddle.take_along_axis({x}, {make.among(*orders)} % {size}, {axis})", x.dims)
        return
    make.is_steady = False
    if make.chance(0.5):
        make.add(f"paddle.take_along_axis({x}, paddle.argsort({x}, axis={axis}), {axis})", x.dims)
    else:
        dims = x.replaced(axis, static_dim(1))
        make.add(f"paddle.take_along_axis({x}, paddle.argmax({x}, axis={axis}, keepdim=True), {axis})", dims)


@step(1)
def _lookup(make: Maker) -> None:
    """Rows of an embedding table, by rounded numbers."""
    x = make.take(rank=(1, 3))
    make.is_steady = False
    width = make.among(4, 6, 8)
    table = make.weight(5, width)
    code = f"F.embedding(paddle.cast(F.sigmoid({x}) * 4.99, 'int64'), {table})"
    make.add(code, [*x.dims, static_dim(width)])


@step(1)
def _gather_nd(make: Maker) -> None:
    x = make.take(rank=(2, 4), dtypes=ANY)
    rows = [[make.below(min(x.dims[0])), make.below(min(x.dims[1]))] for _ in range(make.among(1, 2, 3))]
    make.add(f"paddle.gather_nd({x}, paddle.to_tensor({rows}))", [static_dim(len(rows)), *x.dims[2:]], x.dtype)
