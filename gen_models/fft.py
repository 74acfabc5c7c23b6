"""Discrete Fourier transforms and the frames of a signal."""

from __future__ import annotations

from typing import Any

from gen_models.harness.building import function, operator
from gen_models.harness.marks import F64, pir
from gen_models.harness.spec import Op, case, paddle, tensor

_NORMS = ("backward", "forward", "ortho")


def _fft_c2c(x, *, n=None, axes=None, norm="backward", forward=True):
    return (paddle.fft.fftn if forward else paddle.fft.ifftn)(x, n, axes, norm)


def _fft_r2c(x, *, n=None, axes=None, norm="backward", forward=True, onesided=True):
    if not onesided:  # as fft of a real tensor and stft(onesided=False) have it
        return paddle.fft.fft_r2c(x, n, -1 if axes is None else axes[0], norm, forward, False, None)
    return (paddle.fft.rfftn if forward else paddle.fft.ihfftn)(x, n, axes, norm)


def _fft_c2r(x, *, n=None, axes=None, norm="backward", forward=False):
    return (paddle.fft.hfftn if forward else paddle.fft.irfftn)(x, n, axes, norm)


_C = tensor([4, 6], "complex64")
_C_DYNAMIC = tensor([2, 4, 6], "complex64", dims=[-1, -1, -1])
_R = tensor([4, 7])
_R_DYNAMIC = tensor([2, 4, 6], dims=[-1, -1, -1])
_NEW = pir("Paddle 2 frames no complex numbers")
_MODES: list[dict[str, Any]] = [{"norm": norm, "forward": forward} for norm in _NORMS for forward in (True, False)]

C2C = [
    *(case(x=_C, **mode) for mode in _MODES),
    *(case(x=_C_DYNAMIC, axes=[1], **mode) for mode in _MODES[-2:]),
    case(x=tensor([7], "complex64")),
    case(x=_C_DYNAMIC, axes=[2, 0]),
    case(x=_C_DYNAMIC, axes=[-3, -1], forward=False),
    case(x=_C, n=[5], axes=[0]),
    case(x=_C, n=[3, 8]),
    case(x=tensor([1, 1], "complex64")),
    case(x=tensor([4, 6], "complex128"), **F64),
    case(x=tensor([4, 6])),
]

R2C = [
    *(case(x=_R, **mode) for mode in _MODES),
    *(case(x=_R_DYNAMIC, axes=[1], **mode) for mode in _MODES),
    *(case(x=_R, axes=[-1], onesided=False, **mode) for mode in _MODES),
    case(x=_R_DYNAMIC, axes=[1], onesided=False),
    case(x=_R_DYNAMIC, axes=[2, 0]),
    case(x=_R_DYNAMIC, axes=[-1, -3], forward=False),
    case(x=_R, n=[10], axes=[1]),
    case(x=_R, n=[3], axes=[0]),
    case(x=tensor([8])),
    case(x=tensor([4, 8], "float64"), **F64),
    case(x=tensor([4, 8], "int32")),
]

C2R = [
    *(case(x=_C, **mode) for mode in _MODES),
    *(case(x=_C_DYNAMIC, axes=[1], **mode) for mode in _MODES),
    case(x=_C, n=[4, 9]),
    case(x=_C, n=[4, 10]),
    case(x=_C, n=[7], axes=[1]),
    case(x=_C, n=[11], axes=[1], norm="ortho"),
    case(x=_C_DYNAMIC, axes=[2, 0]),
    case(x=_C_DYNAMIC, axes=[2, 1], forward=True),
    case(x=tensor([5], "complex64")),
    case(x=tensor([4, 6], "complex128"), **F64),
]


_WAVE = tensor([16])
_WAVES_DYNAMIC = tensor([2, 3, 17], dims=[-1, 3, -1])

FRAME = [
    case(x=_WAVE, frame_length=4, hop_length=2),
    case(x=_WAVE, frame_length=4, hop_length=2, axis=0),
    case(x=_WAVE, frame_length=16, hop_length=5),
    case(x=tensor([2, 17]), frame_length=4, hop_length=7),
    case(x=tensor([17, 2]), frame_length=4, hop_length=3, axis=0),
    case(x=_WAVES_DYNAMIC, frame_length=5, hop_length=3),
    case(x=_WAVES_DYNAMIC, frame_length=2, hop_length=1, axis=0),
    case(x=tensor([2, 9], "int64"), frame_length=4, hop_length=2),
    case(x=tensor([2, 9], "complex64"), frame_length=4, hop_length=2, **_NEW),
    case(x=tensor([9, 2], "complex64", dims=[-1, 2]), frame_length=4, hop_length=2, axis=0, **_NEW),
    case(x=tensor([2, 9], "float64"), frame_length=4, hop_length=2, **F64),
]

OVERLAP_ADD = [
    case(x=tensor([6, 4]), hop_length=2, axis=0),
    case(x=tensor([6, 4, 2]), hop_length=4, axis=0),
    case(x=tensor([2, 3, 4, 6], dims=[-1, 3, 4, -1]), hop_length=1),
    case(x=tensor([6, 4, 2, 3], dims=[-1, -1, -1, -1]), hop_length=2, axis=0),
    case(x=tensor([2, 4, 6], "int32"), hop_length=3),
    case(x=tensor([2, 4, 6], "int64"), hop_length=3),
    case(x=tensor([2, 4, 6], "float64"), hop_length=3, **F64),
    case(x=tensor([4, 1]), hop_length=2),
]


# Paddle itself fails on an stft with onesided=False.
_OPTIONS = {"n_fft": 0, "hop_length": 0, "normalized": False, "onesided": True}
_STFT = operator("stft", {"x": "X", "window": "Window"}, {"Out": "complex64"}, **_OPTIONS)
_WINDOW = tensor([8])

STFT = [
    case(x=tensor([2, 20]), window=_WINDOW, n_fft=8, hop_length=4),
    case(x=tensor([2, 20]), window=_WINDOW, n_fft=8, hop_length=3, normalized=True),
    case(x=tensor([2, 20], dims=[-1, 20]), window=_WINDOW, n_fft=8, hop_length=2),
]

OPS = [
    Op("stft", _STFT, *STFT),
    Op("fft_c2c", _fft_c2c, *C2C),
    Op("fft_r2c", _fft_r2c, *R2C),
    Op("fft_c2r", _fft_c2r, *C2R),
    Op("frame", function("signal.frame"), *FRAME),
    Op("overlap_add", function("signal.overlap_add"), *OVERLAP_ADD),
]
