"""Methods that write in place: to copies, to views and to slices of them."""

from __future__ import annotations

from gen_models.programs.maker import Maker, product_dim, static_dim, step

_UNARY = (
    "tanh_()", "exp_()", "sigmoid_()", "clip_(-0.5, 0.6)", "scale_(0.5, 0.1)", "abs_()", "neg_()", "floor_()",
    "reciprocal_()", "add_(paddle.to_tensor(0.25))", "cos_()",
    "lerp_(paddle.to_tensor([0.5]), 0.3)", "multiply_(paddle.to_tensor(0.5))", "cumsum_(0)", "sin_()",
)  # fmt: skip
_BINARY = ("add_({})", "subtract_({})", "multiply_({}.tanh())", "divide_({}.abs() + 1.0)", "lerp_({}, 0.25)")


@step(3)
def _written(make: Maker) -> None:
    """A copy that methods change one after the other; what was read before is not changed by them."""
    x = make.take(is_plain=True)
    copy = f"w{len(make.values)}"
    lines = [f"{copy} = {make.among(f'paddle.assign({x})', f'{x}.clone()', f'{x} * 1.0')}"]
    for _ in range(make.among(1, 2, 3)):
        same = [item for item in make.visible if item.dims == x.dims and item.dtype == "float32" and item != x]
        if same and make.chance(0.5):
            lines.append(f"{copy}.{make.among(*_BINARY).format(make.among(*same))}")
            continue
        method = make.among(*_UNARY)
        if method == "floor_()":
            make.is_steady = False
        if method == "reciprocal_()":
            lines.append(f"{copy} = {copy}.abs() + 0.7")
        if method == "exp_()":
            lines.append(f"{copy}.clip_(-1.0, 1.0)")
        if method == "cumsum_(0)":
            method = f"cumsum_({make.axis(x)})\n{copy}.scale_({round(1 / max(map(max, x.dims)), 3)})"
        lines.append(f"{copy}.{method}")
    make.add("\n".join([*lines, f"{copy} * 1.0"]), x.dims)


@step(2)
def _reshaped(make: Maker) -> None:
    """Dimensions that are changed in place; of static programs the name keeps those that it had."""
    x = make.take(rank=(2, 4), is_plain=True)
    copy = f"w{len(make.values)}"
    start = f"{copy} = {x} * 0.5"
    kind = make.below(4)
    axis = make.axis(x)
    if kind == 0:
        make.add(f"{start}\n{copy}.unsqueeze_({axis})", [*x.dims[:axis], static_dim(1), *x.dims[axis:]])
    elif kind == 1:
        make.add(f"{start}\n{copy}.flatten_(0, 1)", [product_dim(*x.dims[:2]), *x.dims[2:]])
    elif kind == 2:
        make.add(f"{start}\n{copy}.reshape_([{make.size(x, 0)}, -1])", [x.dims[0], product_dim(*x.dims[1:])])
    else:
        where = [i for i in range(x.rank) if x.dims[i] == static_dim(1)]
        if not where:
            raise StopIteration
        make.add(f"{start}\n{copy}.squeeze_({where[0]})", [*x.dims[: where[0]], *x.dims[where[0] + 1 :]])


@step(2)
def _rows(make: Maker) -> None:
    """Rows that are scattered in place, filled by an index, or added."""
    x = make.take(rank=(1, 3), is_plain=True)
    rows = sorted({make.below(min(x.dims[0])) for _ in range(2)})
    y = make.take(lambda one: one.dims == x.dims, rank=(1, 3))
    copy, index = f"w{len(make.values)}", f"paddle.to_tensor({rows})"
    update = f"paddle.gather({y}, {index})"
    codes = (
        f"{copy}.scatter_({index}, {update})",
        f"{copy}.index_add_({index}, 0, {update})",
        f"{copy}.index_put_(({index},), {update})",
        f"{copy}.index_put_(({index},), {update}, accumulate=True)",
        f"{copy}.index_fill_({index}, 0, {make.number()})",
        f"{copy}[{rows}] = {update}",
        f"{copy}[{index}] += {make.number()}",
    )
    make.add(f"{copy} = {x} * 1.0\n{make.among(*codes)}\n{copy} + 0.0", x.dims)


@step(2)
def _part(make: Maker) -> None:
    """A slice that is changed with an operator."""
    x = make.take(rank=(1, 4), is_plain=True)
    axis = make.axis(x)
    least = min(x.dims[axis])
    place = make.among("0", "-1", ":1", "-1:", f":{least}", "::2", "None" if axis == 0 else "0")
    copy, text = f"w{len(make.values)}", ":, " * axis
    change = make.among("+= 0.5", "*= 0.5", "-= 0.25", "/= 2.0")
    make.add(f"{copy} = paddle.assign({x})\n{copy}[{text}{place}] {change}\n{copy} + 0.0", x.dims)
