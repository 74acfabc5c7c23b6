"""Elementwise operations, reductions and normalizations."""

from __future__ import annotations

import math

from gen_models.programs.maker import Maker, static_dim, step
from gen_models.programs.program import SETS, Value, is_fixed

_UNARY = (
    "F.relu({})", "F.relu({})", "paddle.tanh({})", "F.sigmoid({})", "F.gelu({})", "F.silu({})", "F.hardswish({})",
    "F.leaky_relu({}, 0.1)", "F.softplus({})", "paddle.abs({})", "paddle.sin({})", "paddle.erf({})", "F.elu({})",
    "paddle.exp(-paddle.abs({}))", "paddle.log1p(paddle.abs({}))", "paddle.sqrt(paddle.abs({}) + 0.5)", "F.mish({})",
    "paddle.square(paddle.tanh({}))", "paddle.clip({}, -0.5, 0.75)", "paddle.rsqrt(paddle.square({}) + 1.0)",
    "{} * 0.5", "1.0 - {}", "{} * 0.5 + 0.25", "-{}", "paddle.scale({}, 0.5, 0.1, bias_after_scale=False)",
    "paddle.cast(paddle.cast({}, 'float64'), 'float32')", "F.celu({}, 0.7)", "F.selu({})", "F.softsign({})",
    "F.tanhshrink({})", "F.log_sigmoid({})", "F.hardsigmoid({})", "paddle.expm1(-paddle.abs({}))", "paddle.cos({})",
    "F.gelu({}, approximate=True)", "paddle.stanh({})", "paddle.atan({})", "paddle.asinh({})", "F.hardtanh({})",
    "paddle.pow(paddle.abs({}) + 0.1, 1.5)", "paddle.reciprocal(paddle.abs({}) + 0.7)", "F.swish({})",
    "paddle.lerp({}, 0.5 - {}, 0.3)", "paddle.logit(F.sigmoid({}) * 0.8, 1e-3)", "F.hardshrink({}, 0.3)",
    "F.softshrink({}, 0.3)", "F.elu({}, 2.0)", "F.softplus({}, 3, 0.5)", "F.relu6({} * 3)",
    "F.dropout({}, 0.4, training=False, mode='downscale_in_infer')", "F.leaky_relu({}, -0.3)", "F.selu({}, 1.2, 1.5)",
    "F.hardsigmoid({}, 0.2, 0.4)",
    "{} * F.relu6({} + 3.0) / 6.0", "{} * F.hardtanh({}, 0.0, 1.0)", "{} * paddle.tanh(F.softplus({}))",
    "0.5 * {} * (1.0 + paddle.erf({} / 1.4142135))", "paddle.maximum({}, 0.1 * {})",
)  # fmt: skip
_BINARY = (
    "({} + {}) * 0.5", "{} + {}", "{} - {}", "{} * paddle.tanh({})", "F.sigmoid({}) * {}", "paddle.maximum({}, {})",
    "paddle.minimum({}, {})", "{} / (paddle.abs({}) + 1.0)", "paddle.add({}, {}) * 0.5",
    "paddle.fmax({}, {})", "paddle.hypot({} + 0.5, {})",
    "paddle.logaddexp({}, {}) * 0.5",
    "paddle.pow(paddle.abs({}) + 0.5, paddle.tanh({}))", "paddle.square({} - {}) * 0.3",
)  # fmt: skip


@step(10)
def _unary(make: Maker) -> None:
    x = make.take(rank=(0, 5))
    make.add(make.among(*_UNARY).replace("{}", str(x)), x.dims)


@step(7)
def _binary(make: Maker) -> None:
    x = make.take()
    y = make.take(lambda other: other.dims == x.dims and other != x) if make.chance(0.9) else x
    make.add(make.among(*_BINARY).format(*make.among((x, y), (y, x))), x.dims)


@step(4)
def _broadcast(make: Maker) -> None:
    """An operation with a value that is broadcast: it has dimensions of 1, or fewer."""
    x = make.take(is_plain=True)

    def fits(other: Value) -> bool:
        ends = x.dims[x.rank - other.rank :]
        return other.dims != x.dims and all(
            dim in (two, static_dim(1)) for dim, two in zip(other.dims, ends, strict=True)
        )

    y = make.take(fits, rank=(1, x.rank))
    make.add(make.among(*_BINARY).format(*make.among((x, y), (y, x))), x.dims)


@step(4)
def _bias(make: Maker) -> None:
    """A sum or product with a parameter that has one number for each index of an axis."""
    x = make.take(lambda one: any(map(is_fixed, one.dims)), is_plain=True)
    axis = make.among(*(axis for axis, dim in enumerate(x.dims) if is_fixed(dim)))
    tail = 0 if make.chance(0.1) and axis == x.rank - 1 else x.rank - axis - 1
    shape = [x.dims[axis][0], *[1] * tail]
    if make.chance(0.5):
        shape = [1] * (x.rank - len(shape)) + shape
    make.add(make.among(*_BINARY).format(x, make.parameter(*shape)), x.dims)


@step(2)
def _where(make: Maker) -> None:
    x = make.take()
    y = make.take(lambda other: other.dims == x.dims)
    make.is_steady = False
    condition = make.among(f"{x} > 0.1", f"{x} <= {y}", f"({x} > 0.0) & ({y} < 0.3)")
    make.add(f"paddle.where({condition}, {y}, {make.among(x, f'paddle.zeros_like({x})')})", x.dims)


@step(5)
def _reduce(make: Maker) -> None:
    x = make.take(rank=(1, 4))
    axes = sorted({make.axis(x) for _ in range(make.among(1, 1, 2, 3))})
    keep = make.chance(0.5)
    if len(axes) == x.rank and not keep:
        raise StopIteration
    spelled = [make.spelled(axis, x.rank) for axis in axes]
    named = spelled[0] if len(spelled) == 1 and make.chance(0.5) else spelled
    function = make.among("mean", "mean", "mean", "max", "min", "sum", "logsumexp", "var", "amax")
    count = max(math.prod(x.dims[axis][which] for axis in axes) for which in range(SETS))
    more = ", unbiased=False" if function == "var" else ""
    code = f"paddle.{function}({x}, axis={named}, keepdim={keep}{more})"
    code = f"{code} * {round(1 / count, 4)}" if function in ("sum", "logsumexp") else code
    make.add(code, x.reduced(axes, keep))


@step(2)
def _along(make: Maker) -> None:
    x = make.take()
    axis = make.axis(x)
    spelled = make.spelled(axis, x.rank)
    codes = (
        f"F.softmax({x}, axis={spelled})", f"F.log_softmax({x}, axis={spelled}) * 0.3",
        f"paddle.cumsum({x}, axis={spelled}) * {round(1 / max(x.dims[axis]), 3)}",
        f"F.normalize({x}, axis={axis}, epsilon=0.1)",
        f"paddle.flip({x}, axis=[{spelled}])", f"paddle.cumprod(paddle.tanh({x}), dim={axis})",
        f"paddle.logcumsumexp({x}, axis={axis}) * 0.3", f"paddle.cummax({x}, axis={axis})[0]",
    )  # fmt: skip
    make.add(make.among(*codes), x.dims)


@step(1)
def _sorted(make: Maker) -> None:
    x = make.take()
    axis = make.axis(x)
    make.is_steady = False
    make.add(f"paddle.sort({x}, axis={axis}, descending={make.chance(0.5)})", x.dims)


@step(4)
def _layer_norm(make: Maker) -> None:
    x = make.take(lambda one: is_fixed(one.dims[-1]) and one.dims[-1][0] > 3, rank=(2, 4))
    size = x.dims[-1][0]
    weight, bias = make.weight(size, low=0.5), make.weight(size)
    if make.chance(0.7):
        make.add(f"F.layer_norm({x}, [{size}], {weight}, {bias}, 1e-3)", x.dims)
    else:
        make.add(f"{x} * paddle.rsqrt(paddle.mean({x} * {x}, axis=-1, keepdim=True) + 1e-2) * {weight}", x.dims)


@step(3)
def _channel_norm(make: Maker) -> None:
    x = make.take(lambda one: is_fixed(one.dims[1]), rank=(3, 4))
    size = x.dims[1][0]
    groups = make.among(*(number for number in (1, 2, 4) if size % number == 0))
    mean, variance = make.weight(size), make.weight(size, low=0.5)
    codes = [f"F.batch_norm({x}, {mean}, {variance}, {make.weight(size, low=0.5)}, {make.weight(size)})"]
    if min(map(min, x.dims[2:])) * len(x.dims[2:]) > 3:
        codes.append(f"F.instance_norm({x}, weight={make.weight(size, low=0.5)}, bias={make.weight(size)}, eps=1e-3)")
        drawn = "weight_attr=paddle.ParamAttr(initializer=U(0.5, 1.0))"
        layer = make.member(f"paddle.nn.GroupNorm({groups}, {size}, 1e-3, {drawn})")
        codes.append(f"{layer}({x})")
    make.add(make.among(*codes), x.dims)


@step(2)
def _other_norm(make: Maker) -> None:
    """Norms over several axes, of neighbouring channels, and by the root of the mean square."""
    x = make.take(lambda one: all(map(is_fixed, one.dims[-2:])), rank=(3, 4))
    ends = [dim[0] for dim in x.dims[-2:]]
    size = math.prod(ends)
    codes = [f"F.layer_norm({x}, {ends}, {make.weight(size, low=0.5)}, {make.weight(size)}, 1e-3)"]
    if all(map(is_fixed, x.dims)) and x.rank == 4:
        codes.append(f"F.local_response_norm({x}, 3, 1e-2)")
    codes.append(f"{x} / paddle.sqrt(paddle.mean(paddle.square({x}), axis=[-2, -1], keepdim=True) + 0.1)")
    make.add(make.among(*codes), x.dims)


@step(1)
def _prelu(make: Maker) -> None:
    x = make.take(lambda one: is_fixed(one.dims[1]), rank=(3, 4))
    make.add(f"F.prelu({x}, {make.weight(make.among(1, x.dims[1][0]))})", x.dims)


@step(1)
def _gated(make: Maker) -> None:
    """Halves of an axis, one of which gates the other; the largest of groups of channels."""
    x = make.take(lambda one: is_fixed(one.dims[1]) and one.dims[1][0] % 2 == 0, rank=(3, 4))
    dims = [x.dims[0], static_dim(x.dims[1][0] // 2), *x.dims[2:]]
    make.add(f"F.glu({x}, 1)" if make.chance(0.6) or x.rank != 4 else f"F.maxout({x}, 2, 1)", dims)


@step(1)
def _median(make: Maker) -> None:
    x = make.take(rank=(2, 3))
    axis = make.axis(x)
    make.is_steady = False
    kept = x.replaced(axis)
    codes = (f"paddle.median({x}, axis={axis})", f"paddle.kthvalue({x}, 1, axis={axis})[0]")
    make.add(make.among(*codes), kept)
