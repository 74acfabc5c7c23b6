"""Attributes that are tensors: axes, shapes, counts, pads and bounds, from inputs or computed."""

from __future__ import annotations

from collections.abc import Callable

from gen_models.programs.maker import ANY, Maker, derived_dim, static_dim, step
from gen_models.programs.program import Dim, Value, is_fixed


def _number(make: Maker, number: int, dtype: str = "int32") -> str:
    """A number as a tensor: an input's, a constant's, or computed of a size."""
    kind = make.below(3)
    if kind == 0 and not make.depth and len(make.inputs) < 5:
        return f"{make.input([static_dim(1)], dtype, ([number],) * 3)}"
    if kind == 1:
        return f"paddle.to_tensor([{number}], dtype='{dtype}')"
    x = make.take(is_plain=True)
    axis = make.axis(x)
    size = x.dims[axis]
    if not is_fixed(size):
        return f"paddle.full([1], {number}, '{dtype}')"
    return f"(paddle.shape({x})[{axis}:{axis + 1}] - {size[0] - number}).astype('{dtype}')"


def _shape(make: Maker, x: Value, dims: list[Dim]) -> str:
    """A shape as a tensor: joined, or computed of that of x, whose dimensions these are."""
    if make.chance(0.5):
        return f"paddle.shape({x})"
    parts = (
        f"paddle.full([1], {dim[0]}, 'int32')"
        if is_fixed(dim)
        else f"paddle.cast(paddle.shape({x})[{axis}:{axis + 1}], 'int32')"
        for axis, dim in enumerate(dims)
    )
    return f"paddle.concat([{', '.join(parts)}])"


@step(2)
def _along(make: Maker) -> None:
    """An axis that is a tensor."""
    x = make.take(rank=(1, 4), is_plain=True)
    axis = make.axis(x)
    named = _number(make, make.spelled(axis, x.rank))
    kind = make.below(3)
    if kind == 0:
        make.add(f"paddle.concat([{x}, {x} * 0.5], axis={named})", _with(x, axis, lambda a: 2 * a))
    elif kind == 1:
        index = f"paddle.to_tensor([0, {min(x.dims[axis]) - 1}])"
        code = f"paddle.gather({x}, {index}, axis=paddle.full([1], {axis}, 'int32'))"
        make.add(code, x.replaced(axis, static_dim(2)))
    elif is_fixed(x.dims[axis]) and x.dims[axis][0] % 2 == 0:
        half = _with(x, axis, lambda a: a // 2)
        make.add_all(f"paddle.split({x}, 2, axis={named})", [(half, x.dtype)] * 2)


def _with(x: Value, axis: int, change: Callable[[int], int]) -> list[Dim]:
    return [derived_dim(change, dim) if i == axis else dim for i, dim in enumerate(x.dims)]


@step(2)
def _counts(make: Maker) -> None:
    """How many are taken, or how often they are repeated, as a tensor."""
    x = make.take(rank=(1, 3), is_plain=True)
    axis = make.axis(x)
    kind = make.below(4)
    if kind == 0:
        k = 1 + make.below(min(x.dims[axis]))
        make.is_steady = False
        dims = x.replaced(axis, static_dim(k))
        make.add(f"paddle.topk({x}, {_number(make, k)}, axis={axis})[0]", dims)
    elif kind == 1:
        times = [make.among(1, 1, 2, 3) for _ in x.dims]
        dims = [derived_dim(lambda a, n=n: a * n, dim) for n, dim in zip(times, x.dims, strict=True)]
        make.add(f"paddle.tile({x}, paddle.to_tensor({times}, dtype='int32'))", dims)
    elif kind == 2 and is_fixed(x.dims[axis]):
        times = [make.among(0, 1, 2) for _ in range(x.dims[axis][0])]
        times[0] += 1
        dims = x.replaced(axis, static_dim(sum(times)))
        make.add(f"paddle.repeat_interleave({x}, paddle.to_tensor({times}), axis={axis})", dims)
    else:
        twice = _with(x, axis, lambda a: 2 * a)
        make.add(f"paddle.repeat_interleave({x}, 2, axis={axis})", twice)


@step(2)
def _shaped(make: Maker) -> None:
    """Shapes that are tensors."""
    x = make.take(rank=(2, 4), is_plain=True)
    y = make.take(lambda one: one.dims == x.dims, rank=(2, 4), dtypes=ANY)
    flat = f"paddle.flatten({y})"
    shape = _shape(make, x, list(x.dims))
    codes = [
        (f"paddle.reshape({flat}, {shape})", y.dtype),
        (f"paddle.expand({y}, {shape})", y.dtype),
        (f"paddle.full({shape}, {make.number()})", "float32"),
        (f"paddle.zeros({shape}) + {make.number()}", "float32"),
        (f"paddle.broadcast_to(paddle.mean({x}, axis=-1, keepdim=True), {shape})", "float32"),
        (f"paddle.crop({x}, shape={shape})", "float32"),
    ]
    code, dtype = make.among(*codes)
    make.add(code, x.dims, dtype)


@step(2)
def _padded(make: Maker) -> None:
    """Pads that are a tensor."""
    x = make.take(lambda one: min(map(min, one.dims[2:])) > 2, rank=(3, 5), is_plain=True)
    pads = [make.among(0, 1, 2) for _ in range(2 * (x.rank - 2))]
    mode = make.among("constant", "constant", "reflect", "replicate", "circular")
    layout = {3: "NCL", 4: "NCHW", 5: "NCDHW"}[x.rank]
    if mode == "reflect" and x.rank == 5:
        pads = [min(pad, 1) for pad in pads]
    named = pads if make.chance(0.5) else f"paddle.to_tensor({pads}, dtype='int32')"
    added = [pads[2 * i] + pads[2 * i + 1] for i in range(x.rank - 2)][::-1]
    dims = [derived_dim(lambda a, n=n: a + n, dim) for n, dim in zip(added, x.dims[2:], strict=True)]
    make.add(f"F.pad({x}, {named}, mode='{mode}', value=0.5, data_format='{layout}')", [*x.dims[:2], *dims])


@step(5)
def _ranges(make: Maker) -> None:
    """Slices and ranges whose ends are tensors, or one of them is."""
    x = make.take(dtypes=ANY, is_plain=True)
    axis = make.axis(x)
    dim, size = x.dims[axis], f"paddle.shape({x})[{axis}]"
    start = make.below(min(2, min(dim)))
    stop = make.among(dim, dim, static_dim(start + 1), derived_dim(lambda a: max(start + 1, a - 1), dim))
    first, end = make.among(str(start), _number(make, start)), str(stop[0])
    if not is_fixed(stop):
        cut = f"paddle.maximum({size} - {dim[0] - stop[0]}, paddle.full_like({size}, {start + 1}))"
        end = size if stop == dim else cut
    left = derived_dim(lambda a: a - start, stop)
    step = make.among(1, 2)
    kind = make.below(5)
    if kind == 0:
        code, left = f"paddle.strided_slice({x}, [{axis}], [{first}], [{end}], [{step}])", _strided(left, step)
    elif kind == 1:
        code = f"paddle.slice({x}, [{axis}], [{first}], [{end}])"
    elif kind == 2:
        code = f"paddle.slice({x}, [{axis}], {_number(make, start)}, {size}.reshape([1]))"
        left = derived_dim(lambda a: a - start, dim)
    elif kind == 3:
        code = f"{x}[{':, ' * axis}{first}:{'' if stop == dim else end}]"
    else:
        code = f"paddle.arange({_number(make, start, 'int64')}, {size}.astype('int64')).astype('float32')"
        make.add(f"{code} * {round(1 / max(dim), 3)}", [derived_dim(lambda a: a - start, dim)])
        return
    make.add(code, x.replaced(axis, left), x.dtype)


def _strided(dim: Dim, step: int) -> Dim:
    return derived_dim(lambda a: -(-a // step), dim)
