"""Convolutions, poolings, resizes and linear layers, with channels first or last."""

from __future__ import annotations

from gen_models.programs.maker import FLOAT, Maker, derived_dim, static_dim, step
from gen_models.programs.program import Dim, Value, is_fixed


def _image(make: Maker, least: int = 1) -> tuple[Value, bool, int, list[Dim]]:
    """An image, whether its channels come last, their number, and its height and width."""
    last = make.chance(0.4)
    axis, spatial = (3, (1, 2)) if last else (1, (2, 3))
    x = make.take(
        lambda one: is_fixed(one.dims[axis]) and min(min(one.dims[i]) for i in spatial) >= least,
        rank=(4, 4),
    )
    return x, last, x.dims[axis][0], [x.dims[i] for i in spatial]


def _image_dims(x: Value, last: bool, channels: int, spatial: list[Dim]) -> list[Dim]:
    return [x.dims[0], *spatial, static_dim(channels)] if last else [x.dims[0], static_dim(channels), *spatial]


def _window(
    dim: Dim, kernel: int, stride: int, before: int, after: int, dilation: int = 1, is_ceil: bool = False
) -> Dim:
    """How many windows there are along an axis."""
    more = before + after - dilation * (kernel - 1) - 1
    return derived_dim(lambda a: (a + more + (stride - 1 if is_ceil else 0)) // stride + 1, dim)


def _padding(make: Maker, kernel: int) -> tuple[str, list[tuple[int, int]]]:
    """A padding as Paddle takes it, and how much that is before and after the rows and the columns."""
    half = kernel // 2
    kind = make.below(6)
    if kind == 0:
        return "1", [(1, 1), (1, 1)]
    if kind == 1:
        sides = [make.below(3) for _ in range(4)]
        return str(sides), [(sides[0], sides[1]), (sides[2], sides[3])]
    if kind == 2:
        return f"[0, {half}]", [(0, 0), (half, half)]
    return str(half), [(half, half)] * 2


@step(12)
def _conv(make: Maker) -> None:
    x, last, channels, spatial = _image(make)
    kernel, stride, dilation = make.among(1, 1, 3, 3, 2), make.among(1, 1, 1, 2), make.among(1, 1, 1, 1, 2)
    groups = make.among(1, 1, channels) if channels <= 16 else 1
    filters = channels * make.among(1, 1, 2) if groups > 1 else make.among(2, 4, 8, 16, channels)
    weight = make.weight(filters, channels // groups, kernel, kernel, fan_in=channels // groups * kernel**2)
    bias = make.among("None", make.weight(filters))
    layout = "NHWC" if last else "NCHW"
    if make.chance(0.1):
        padding, dilation = "'SAME'", 1
        out = [derived_dim(lambda a: -(-a // stride), dim) for dim in spatial]
    else:
        padding, sides = _padding(make, kernel)
        if min(min(dim) + sum(side) for dim, side in zip(spatial, sides, strict=True)) < dilation * (kernel - 1) + 1:
            raise StopIteration
        out = [_window(dim, kernel, stride, *side, dilation) for dim, side in zip(spatial, sides, strict=True)]
    code = (
        f"F.conv2d({x}, {weight}, {bias}, stride={stride}, padding={padding}, dilation={dilation}, groups={groups}, "
        f"data_format='{layout}')"
    )
    made = make.add(code, _image_dims(x, last, filters, out))
    if make.chance(0.4):
        activation = "F.relu({})", "F.hardswish({})", "F.sigmoid({})", "F.relu6({})"
        made = make.add(make.among(*activation).format(made), made.dims)
    if make.chance(0.2):
        norm = [make.weight(filters) for _ in range(2)]
        shape = [1, 1, 1, filters] if last else [1, filters, 1, 1]
        scale, shift = (f"paddle.reshape({item}, {shape})" for item in norm)
        make.add(f"{made} * {scale} + {shift}", made.dims)


@step(2)
def _conv_transpose(make: Maker) -> None:
    x, last, channels, spatial = _image(make)
    filters, stride = make.among(2, 4, 8), make.among(1, 2)
    kernel = make.among(stride, stride + 1)
    groups = make.among(1, 1, channels) if channels <= 16 else 1
    weight = make.weight(channels, filters, kernel, kernel, fan_in=channels * kernel)
    padding, more = make.among(0, 0, 1), make.among(0, 0, stride - 1)
    out = [derived_dim(lambda a: (a - 1) * stride + kernel - 2 * padding + more, dim) for dim in spatial]
    if min(map(min, out)) < 1:
        raise StopIteration
    layout = "NHWC" if last else "NCHW"
    make.add(
        f"F.conv2d_transpose({x}, {weight}, stride={stride}, padding={padding}, output_padding={more}, "
        f"groups={groups}, data_format='{layout}')",
        _image_dims(x, last, filters * groups, out),
    )


@step(2)
def _padded(make: Maker) -> None:
    x, last, channels, spatial = _image(make, 2)
    left, right, top, bottom = (make.below(3) for _ in range(4))
    mode = make.among("constant", "constant", "reflect", "replicate")
    if mode == "reflect":
        left, right, top, bottom = (min(value, 1) for value in (left, right, top, bottom))
    layout = "NHWC" if last else "NCHW"
    sides = [left, right, top, bottom]
    out = [derived_dim(lambda a: a + top + bottom, spatial[0]), derived_dim(lambda a: a + left + right, spatial[1])]
    made = make.add(f"F.pad({x}, {sides}, mode='{mode}', data_format='{layout}')", _image_dims(x, last, channels, out))
    if make.chance(0.6):
        kernel, stride, padding = make.among(1, 2, 3), make.among(1, 2), make.among(0, 1)
        if not last and make.chance(0.5):
            weight = make.weight(channels, 4, kernel, kernel, fan_in=channels * kernel)
            wide = [derived_dim(lambda a: (a - 1) * stride + kernel - 2 * padding, dim) for dim in out]
            if min(map(min, wide)) >= 1:
                code = f"F.conv2d_transpose({made}, {weight}, stride={stride}, padding={padding})"
                make.add(code, _image_dims(x, last, 4, wide))
        elif min(map(min, out)) + 2 * padding >= kernel:
            weight = make.weight(4, channels, kernel, kernel, fan_in=channels * kernel**2)
            code = f"F.conv2d({made}, {weight}, stride={stride}, padding={padding}, data_format='{layout}')"
            small = [_window(dim, kernel, stride, padding, padding) for dim in out]
            make.add(code, _image_dims(x, last, 4, small))


@step(2)
def _conv1d(make: Maker) -> None:
    x = make.take(lambda one: is_fixed(one.dims[1]), rank=(3, 3))
    channels, filters = x.dims[1][0], make.among(4, 8)
    kernel = make.among(1, 3)
    weight = make.weight(filters, channels, kernel, fan_in=channels * kernel)
    make.add(f"F.conv1d({x}, {weight}, padding={kernel // 2})", [x.dims[0], static_dim(filters), x.dims[2]])


@step(5)
def _pool(make: Maker) -> None:
    x, last, channels, spatial = _image(make, 2)
    layout = "NHWC" if last else "NCHW"
    function = make.among("max_pool2d", "avg_pool2d")
    if make.chance(0.3):
        size = make.among(1, 1, 2, [2, 1])
        out = [static_dim(item) for item in (size if isinstance(size, list) else [size] * 2)]
        make.add(f"F.adaptive_avg_pool2d({x}, {size}, data_format='{layout}')", _image_dims(x, last, channels, out))
        return
    kernel, stride, padding = make.among((2, 2, 0), (3, 1, 1), (3, 2, 1), (2, 1, 0), (3, 1, [2, 0, 0, 2]))
    sides = [padding[:2], padding[2:]] if isinstance(padding, list) else [(padding, padding)] * 2
    is_ceil = make.chance(0.2)
    out = [
        _window(dim, kernel, stride, before, after, is_ceil=is_ceil)
        for dim, (before, after) in zip(spatial, sides, strict=True)
    ]
    more = make.among("", ", exclusive=False", ", divisor_override=3") if function == "avg_pool2d" else ""
    code = (
        f"F.{function}({x}, {kernel}, stride={stride}, padding={padding}, ceil_mode={is_ceil}{more}, "
        f"data_format='{layout}')"
    )
    make.add(code, _image_dims(x, last, channels, out))


@step(3)
def _resize(make: Maker) -> None:
    x, last, channels, spatial = _image(make)
    layout = "NHWC" if last else "NCHW"
    mode = make.among("nearest", "bilinear", "bilinear")
    corners = ", align_corners=True" if mode == "bilinear" and make.chance(0.3) else ""
    others = [item for item in make.visible if item.rank == 4 and item.dtype in FLOAT]
    kind = make.below(3)
    if kind == 0 and others:
        other = make.among(*others)
        size = make.among(f"size=[{other}.shape[2], {other}.shape[3]]", f"size=paddle.shape({other})[2:]")
        out = list(other.dims[2:])
    elif kind == 1:
        out = [static_dim(make.among(1, 3, 6)), static_dim(make.among(2, 4, 5))]
        size = f"size=[{out[0][0]}, {out[1][0]}]"
    else:
        size, out = "scale_factor=2", [derived_dim(lambda a: 2 * a, dim) for dim in spatial]
    make.add(
        f"F.interpolate({x}, {size}, mode='{mode}'{corners}, data_format='{layout}')",
        _image_dims(x, last, channels, out),
    )


@step(2)
def _squeeze_excite(make: Maker) -> None:
    x, last, channels, _ = _image(make)
    axes = [1, 2] if last else [2, 3]
    weight = make.weight(channels, channels, fan_in=channels)
    flat = make.add(f"paddle.mean({x}, axis={axes})", [x.dims[0], static_dim(channels)])
    gate = make.add(f"F.sigmoid(F.linear({flat}, {weight}))", flat.dims)
    shape = [-1, 1, 1, channels] if last else [-1, channels, 1, 1]
    make.add(f"{x} * paddle.reshape({gate}, {shape})", x.dims)


@step(5)
def _linear(make: Maker) -> None:
    x = make.take(lambda one: is_fixed(one.dims[-1]), rank=(2, 4))
    width, wanted = x.dims[-1][0], make.among(4, 8, 6, x.dims[-1][0])
    weight = make.weight(width, wanted, fan_in=width)
    bias = make.among("None", make.weight(wanted))
    make.add(f"F.linear({x}, {weight}, {bias})", [*x.dims[:-1], static_dim(wanted)])


@step(3)
def _matmul(make: Maker) -> None:
    """A matrix product of two values, either of which may be transposed."""
    x = make.take(rank=(2, 4))
    transposed, other_transposed = make.chance(0.3), make.chance(0.5)
    inner = x.dims[-2] if transposed else x.dims[-1]
    rows = x.dims[-1] if transposed else x.dims[-2]

    def fits(other: Value) -> bool:
        its = other.dims[-1] if other_transposed else other.dims[-2]
        return other.dims[:-2] in (x.dims[:-2], ()) and its == inner

    y = make.take(fits, rank=(2, 4))
    columns = y.dims[-2] if other_transposed else y.dims[-1]
    scale = round(max(inner) ** -0.5, 3)
    code = f"paddle.matmul({x}, {y}, transpose_x={transposed}, transpose_y={other_transposed}) * {scale}"
    make.add(code, [*x.dims[:-2], rows, columns])


@step(2)
def _matmul_parameter(make: Maker) -> None:
    """A matrix product with a parameter on the left, as token mixers have it."""
    x = make.take(lambda one: is_fixed(one.dims[-2]), rank=(2, 4))
    size, wanted = x.dims[-2][0], make.among(4, x.dims[-2][0])
    weight = make.weight(wanted, size, fan_in=size)
    make.add(f"paddle.matmul({weight}, {x})", [*x.dims[:-2], static_dim(wanted), x.dims[-1]])
