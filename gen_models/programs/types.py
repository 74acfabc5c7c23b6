"""Other types on the way: float64, small integers, booleans as numbers, complex numbers, and what they promote to."""

from __future__ import annotations

from gen_models.programs.maker import INTEGERS, Maker, derived_dim, step
from gen_models.programs.program import is_fixed


@step(2)
def _double(make: Maker) -> None:
    """Arithmetic in float64, which a float32 operand joins."""
    x = make.take(is_plain=True)
    y = make.take(lambda one: one.dims == x.dims)
    codes = (
        f"({x}.astype('float64') + {y}.astype('float64')).astype('float32') * 0.5",
        f"paddle.cast(paddle.mean({x}.astype('float64'), axis=-1, keepdim=True), 'float32') * {y}",
        f"F.softmax({x}, axis=-1, dtype='float64').astype('float32')",
        f"paddle.sum({x}, axis=[0], keepdim=True, dtype='float64').astype('float32') * 0.1 + {y}",
        f"paddle.where({x}.astype('float64') == {x}, {y}, {x})",
    )
    make.add(make.among(*codes), x.dims)


@step(2)
def _small(make: Maker) -> None:
    """Images of bytes; flags as numbers."""
    x = make.take(is_plain=True)
    make.is_steady = False
    byte = f"paddle.cast(F.sigmoid({x}) * 255.0, 'uint8')"
    codes = (
        f"paddle.cast({byte}, 'float32') / 255.0",
        f"paddle.cast(paddle.cast({byte}, 'int32') - 128, 'float32') * 0.01",
        f"paddle.cast({x} > 0.1, 'float32') - paddle.cast({x} < -0.1, 'float32')",
        f"paddle.cast(paddle.cast({x} > 0.1, 'int32') * 3, 'float32') * 0.3",
        f"{x} * ({x} > 0.1)",
        f"paddle.cast(paddle.cast({x} * 100.0, 'int16'), 'float32') * 0.01",
        f"paddle.cast(paddle.cast({x} * 100.0, 'int64'), 'float32') / 100",
    )
    make.add(make.among(*codes), x.dims)


@step(2)
def _promoted(make: Maker) -> None:
    """Integers with numbers that are not, and their quotients."""
    x = make.take(rank=(0, 4), dtypes=INTEGERS)
    bound = make.bounds[x.number] + 1
    scale = max(1e-6, round(1 / bound, 6))
    codes = (
        f"({x} / {bound}).astype('float32')",
        f"({x} * {scale}).astype('float32')",
        f"(({x} + 0.5) * {scale}).astype('float32')",
        f"paddle.cast({x}, 'float32') / {bound}",
        f"(1.5 - {x} * {scale}).astype('float32')",
    )
    make.add(make.among(*codes), x.dims)


@step(2)
def _complex(make: Maker) -> None:
    """Complex numbers, whose parts or sizes go on."""
    x = make.take(is_plain=True)
    y = make.take(lambda one: one.dims == x.dims)
    number = f"paddle.complex({x}, {y})"
    axis = make.axis(x)
    codes = (
        f"paddle.real({number} * paddle.conj({number})) * 0.5", f"paddle.abs({number})",
        f"paddle.imag({number} * paddle.complex({y}, {x})) * 0.5", f"paddle.real(paddle.exp({number})) * 0.3",
        f"paddle.real(paddle.fft.ifft(paddle.fft.fft({number}, axis={axis}), axis={axis}))",
        f"paddle.real(paddle.fft.fft({x}, axis={axis}, norm='ortho')) * 0.3 + {y}",
        f"paddle.as_real({number})[..., 0] + {y} * 0.5",
    )  # fmt: skip
    make.add(make.among(*codes), x.dims)


@step(1)
def _spectrum(make: Maker) -> None:
    """The sizes of the frequencies along an axis."""
    x = make.take(rank=(1, 3), is_plain=True)
    axis = make.axis(x)
    half = derived_dim(lambda a: a // 2 + 1, x.dims[axis])
    dims = x.replaced(axis, half)
    code = f"paddle.fft.rfft({x}, axis={axis}, norm='{make.among('ortho', 'forward')}')"
    if is_fixed(x.dims[axis]) and x.dims[axis][0] > 1 and make.chance(0.4):
        back = f"paddle.fft.irfft({code} * 0.5, n={x.dims[axis][0]}, axis={axis}, norm='ortho')"
        make.add(back.replace("'forward'", "'ortho'"), x.dims)
    else:
        make.add(f"paddle.abs({code}) * 0.5", dims)
