"""Whole networks: spectra, features of sound, convolution in the frequency domain, rotations by complex numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gen_models.harness.building import layer_of
from gen_models.harness.marks import pir
from gen_models.harness.network import Network, network_of
from gen_models.harness.spec import paddle, tensor

_PIR = pir("Paddle 2 does not take complex numbers in all of its functions")


def _stft(self, x):
    """The short-time Fourier transform as pairs of numbers.

    Paddle exports no stft with a window of its own (`len(window)` fails); the features below have one.
    """
    return paddle.as_real(paddle.signal.stft(x, 32, 8, **self.options))


def _there_and_back(self, x):
    """A signal taken apart and put together again."""
    return paddle.signal.istft(paddle.signal.stft(x, 32, 8) * 2.0, 32, 8)


def _transform(**options: Any) -> Callable[[], Any]:
    return layer_of(_stft, lambda: {"options": options})


def _features(kind: str) -> Callable[[], Any]:
    def build():
        features = getattr(paddle.audio.features, kind)
        options = {} if kind == "Spectrogram" else {"sr": 8000, "n_mels": 20}
        if kind == "MFCC":
            options |= {"n_mfcc": 12}
        return features(n_fft=128, hop_length=64, **options)

    return build


def _spectral_convolution(self, x):
    """Fourier neural operator: weights on the lowest frequencies."""
    spectrum = paddle.fft.rfft2(x)
    low = spectrum[:, :, :3, :3]
    weight = paddle.complex(self.real, self.imag)
    kept = paddle.einsum("bixy,ioxy->boxy", low, weight)
    real, imag = (paddle.nn.functional.pad(part, [0, 2, 0, 5]) for part in (kept.real(), kept.imag()))
    return paddle.fft.irfft2(paddle.complex(real, imag), s=(8, 8))


def _tensorized_operator(self, x):
    """Tensorized Fourier neural operator: the lowest frequencies are in the middle, and written into zeros."""
    spectrum = paddle.fft.fftshift(paddle.fft.rfftn(x, axes=[-2, -1], norm="forward"), axes=[-2])
    low = spectrum[:, :, 2:-2, :-2]
    (a, b), (c, d) = (paddle.real(low), paddle.imag(low)), (self.real, self.imag)
    real, imag = (
        paddle.einsum("bixy,ioxy->boxy", p, c) + sign * paddle.einsum("bixy,ioxy->boxy", q, d)
        for p, q, sign in ((a, b, -1), (b, a, 1))
    )
    kept = paddle.zeros([2, 4, 8, 5], dtype="complex64")
    kept[:, :, 2:-2, :-2] = paddle.complex(real, imag)
    return paddle.fft.irfftn(paddle.fft.fftshift(kept, axes=[-2]), s=(8, 8), axes=[-2, -1], norm="forward")


def _weights(*shape: int) -> Callable[[], dict[str, Any]]:
    return lambda: {part: paddle.create_parameter(list(shape), "float32") for part in ("real", "imag")}


def _fourier_unit(self, x):
    """Fast Fourier convolution (as in LaMa): a convolution on the real and imaginary parts of the spectrum."""
    spectrum = paddle.fft.rfftn(x, axes=(-2, -1), norm="ortho")
    parts = paddle.stack([paddle.real(spectrum), paddle.imag(spectrum)], axis=-1)
    parts = parts.transpose([0, 1, 4, 2, 3]).reshape([0, 8, 8, 5])
    parts = paddle.nn.functional.relu(self.conv(parts))
    parts = parts.reshape([0, 4, 2, 8, 5]).transpose([0, 1, 3, 4, 2])
    return paddle.fft.irfftn(paddle.complex(parts[..., 0], parts[..., 1]), s=(8, 8), axes=(-2, -1), norm="ortho")


def _fnet_mixing(self, x):
    """FNet: the real part of a transform takes the place of attention."""
    return paddle.fft.fft2(x).real()


def _complex_rotary(self, x, y):
    """Positions by complex rotation, as the Llama of 2023 wrote it."""
    rotation = paddle.complex(paddle.cos(y), paddle.sin(y))
    pairs = paddle.as_complex(x.reshape([0, 6, 4, 2]))
    return paddle.as_real(pairs * rotation.unsqueeze(0)).flatten(2)


def _square_attention(self, q, k, v):
    """As many heads as tokens, with queries that are activated."""
    scores = paddle.matmul(paddle.nn.functional.relu(q), k, transpose_y=True)
    attended = paddle.matmul(paddle.nn.functional.softmax(scores), v)
    return paddle.transpose(attended, [0, 2, 1, 3]).flatten(2)


def _along_axis_1_parts():
    return {"linear": paddle.nn.Linear(6, 5), "slopes": paddle.nn.PReLU(5, 0.1), "last": paddle.nn.Linear(5, 5)}


def _constants_along_axis_1(self, x):
    """One number for each of axis 1, after products that have as many features."""
    first = self.linear(x) + paddle.to_tensor([0.5, -1.0, 2.0, 0.0, 3.0]).reshape([5, 1, 1])
    return self.last(self.slopes(first)) * paddle.arange(5, dtype="float32").reshape([1, 5, 1, 1])


def _reshaped_means(self, x, y):
    """Means and maxima of several axes, each with every other number, and those of a single sequence as a column."""
    product = paddle.matmul(paddle.mean(x, axis=1).reshape([-1, 1]), paddle.max(x, axis=0).reshape([1, -1]))
    return product, paddle.sum(y, axis=1).transpose([1, 0])


def _complex_moves(self, x, y):
    first = paddle.concat([x, paddle.transpose(y, [1, 0])], axis=0)
    second = paddle.flip(paddle.roll(first, 1, 0), [1]).reshape([-1, 2, 2])
    third, fourth = second[:, :, :1], second[:, :, 1:]
    fifth = paddle.stack([third.squeeze(-1), fourth.squeeze(-1)], axis=1)
    index = paddle.to_tensor([0, 2, 1])
    sixth = paddle.tile(paddle.index_select(fifth, index, 0), [1, 2, 1])[:, 1:, ::-1]
    summed = paddle.sum(sixth, axis=0, keepdim=True) + paddle.mean(sixth, axis=-1, keepdim=True)
    return paddle.as_real(summed), paddle.shape(sixth), paddle.as_real(paddle.expand(summed, [2, 3, 3, 2]))


def _complex_products(self, x, y):
    product = paddle.matmul(x, y) * 2.0
    mixed = paddle.einsum("ij,jk->ik", x, y) - product / paddle.conj(product)
    bent = paddle.matmul(x, x, transpose_y=True) + paddle.matmul(y, y, transpose_x=True).sum()
    other = paddle.cast(paddle.real(x), "complex64") * paddle.exp(x) + paddle.square(x) * paddle.reciprocal(x - 3.0)
    same = paddle.cast(paddle.concat([paddle.equal(x, x), paddle.not_equal(x, x)]), "float32")
    return [paddle.as_real(value) for value in (product, mixed, bent, other)] + [same]


def _complex_elementary(self, x, y):
    return [
        paddle.as_real(x * y / (x + y - 3.0)),
        paddle.abs(x),
        paddle.angle(x),
    ]


_WAVE = tensor([2, 200], dims=[-1, -1])
_LONGER = {"x": tensor([1, 333])}
_A, _B = tensor([3, 4], "complex64"), tensor([4, 3], "complex64")
_A_DYNAMIC = tensor([3, 4], "complex64", dims=[-1, 4])

NETWORKS = [
    Network("stft", _transform(), {"x": _WAVE}, [_LONGER]),
    Network("stft_two_sided", _transform(onesided=False, normalized=True), {"x": _WAVE}, [_LONGER]),
    Network("stft_not_centred", _transform(center=False), {"x": _WAVE}, [_LONGER]),
    Network("stft_istft", layer_of(_there_and_back), {"x": tensor([2, 200], dims=[-1, 200])}),
    Network("spectrogram", _features("Spectrogram"), {"x": _WAVE}, [_LONGER]),
    Network("log_mel_spectrogram", _features("LogMelSpectrogram"), {"x": _WAVE}, [_LONGER]),
    Network("mfcc", _features("MFCC"), {"x": _WAVE}, [_LONGER]),
    Network(
        "fourier_neural_operator",
        layer_of(_spectral_convolution, _weights(4, 5, 3, 3)),
        {"x": tensor([2, 4, 8, 8], dims=[-1, 4, 8, 8])},
        **_PIR,
    ),
    Network(
        "tensorized_fourier_operator",
        layer_of(_tensorized_operator, _weights(4, 4, 4, 3)),
        {"x": tensor([2, 4, 8, 8])},
    ),
    Network(
        "fast_fourier_convolution",
        layer_of(_fourier_unit, lambda: {"conv": paddle.nn.Conv2D(8, 8, 1)}),
        {"x": tensor([2, 4, 8, 8], dims=[-1, 4, 8, 8])},
    ),
    network_of(_fnet_mixing, {"x": tensor([2, 7, 6], dims=[-1, -1, 6])}),
    network_of(_complex_rotary, {"x": tensor([2, 6, 8], dims=[-1, 6, 8]), "y": tensor([6, 4], low=-4, high=4)}),
    network_of(_square_attention, dict.fromkeys("qkv", tensor([2, 4, 4, 6]))),
    network_of(_constants_along_axis_1, {"x": tensor([2, 5, 3, 6], dims=[-1, 5, 3, 6])}, parts=_along_axis_1_parts),
    network_of(_reshaped_means, {"x": tensor([2, 4, 3], dims=[-1, -1, 3]), "y": tensor([1, 4, 3])}),
    network_of(_complex_moves, {"x": _A_DYNAMIC, "y": _B}, **_PIR),
    network_of(_complex_products, {"x": _A_DYNAMIC, "y": _B}, **_PIR),
    network_of(_complex_elementary, {"x": _A_DYNAMIC, "y": _A}),
]
