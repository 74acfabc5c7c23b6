"""Recurrent layers."""

from __future__ import annotations

from gen_models.harness.building import operator
from gen_models.harness.spec import Case, Op, case, paddle, tensor

NAMES = {"LSTM": "LSTM", "GRU": "GRU", "RNN_TANH": "SimpleRNN", "RNN_RELU": "SimpleRNN"}


def _rnn(x, sequence_length=None, states=None, *, mode, hidden_size=6, scale=None, **options):
    """A layer; with a scale, its weights are scaled by the program."""
    if mode.startswith("RNN_"):
        options["activation"] = mode[4:].lower()
    layer = getattr(paddle.nn, NAMES[mode])(x.shape[-1], hidden_size, **options)
    layer.eval()
    if scale is not None:
        layer._all_weights = [weight * scale for weight in layer._all_weights]
    if states is not None and mode != "LSTM":
        (states,) = states
    out, last = layer(x, states, sequence_length)
    return [out, *last] if isinstance(last, (list, tuple)) else [out, last]


def _x(*shape, dims=(-1, -1)):
    return tensor(shape, dims=[*dims, shape[2]] if dims else None)


def _modes(mode: str) -> list[Case]:
    states = 2 if mode == "LSTM" else 1
    return [
        case(x=_x(3, 5, 4, dims=None), mode=mode),
        case(x=_x(1, 1, 4), mode=mode),
        case(x=_x(3, 5, 4), mode=mode, direction="bidirect"),
        case(x=_x(3, 4, 4), mode=mode, num_layers=2, direction="bidirect"),
        case(x=_x(3, 5, 4, dims=None), mode=mode, num_layers=3, hidden_size=3),
        case(x=_x(5, 3, 4), mode=mode, num_layers=2, time_major=True),
        case(x=_x(5, 3, 4), mode=mode, direction="bidirect", time_major=True),
        case(x=_x(3, 5, 4), mode=mode, states=[tensor([1, 3, 6], dims=[1, -1, 6])] * states),
        case(
            x=_x(3, 5, 4), mode=mode, num_layers=2, direction="bidirect",
            states=[tensor([4, 3, 6], dims=[4, -1, 6])] * states
        ),
        case(x=_x(3, 5, 4), sequence_length=_lengths(5, 2, 3), mode=mode),
        case(x=_x(3, 5, 4, dims=None), sequence_length=_lengths(1, 4, 2, dtype="int32", dims=None), mode=mode),
        case(x=_x(1, 5, 4, dims=None), sequence_length=_lengths(3, dims=None), mode=mode),
        case(x=_x(3, 4, 4), sequence_length=_lengths(4, 2, 3), mode=mode, num_layers=2, direction="bidirect"),
        case(x=_x(5, 3, 4), sequence_length=_lengths(5, 0, 1), mode=mode, time_major=True),
        case(
            x=_x(3, 5, 4), sequence_length=_lengths(3, 1, 2), mode=mode, direction="bidirect",
            states=[tensor([2, 3, 6], dims=[2, -1, 6])] * states
        ),
        case(x=_x(3, 4, 4), mode=mode, num_layers=2, direction="bidirect", scale=tensor([])),
        case(x=_x(3, 4, 4), sequence_length=_lengths(4, 2, 3), mode=mode, direction="bidirect", scale=tensor([])),
    ]  # fmt: skip


def _lengths(*lengths, dtype="int64", dims=(-1,)):
    return tensor([len(lengths)], dtype, values=list(lengths), dims=dims)


_GRU_UNIT = operator(
    "gru_unit",
    {"input": "Input", "hidden_prev": "HiddenPrev", "weight": "Weight", "bias": "Bias"},
    {"Gate": "", "ResetHiddenPrev": "", "Hidden": ""},
    activation=2,
    gate_activation=1,
    origin_mode=False,
)
_KNOWN = "the size of the weight has to be known"
_CELL = {"input": tensor([3, 12]), "hidden_prev": tensor([3, 4]), "weight": tensor([4, 12])}

GRU_UNIT = [
    case(dynamic=False, why=_KNOWN, **_CELL, bias=tensor([1, 12])),
    case(dynamic=False, why=_KNOWN, **_CELL, bias=tensor([1, 12]), origin_mode=True),
    case(dynamic=False, why=_KNOWN, **_CELL, activation=3, gate_activation=0),
    case(
        input=tensor([3, 12], dims=[-1, 12]), hidden_prev=tensor([3, 4], dims=[-1, 4]), weight=tensor([4, 12]),
        dynamic=False, why=_KNOWN
    ),
]  # fmt: skip


OPS = [
    Op("rnn", _rnn, *[item for mode in sorted(NAMES) for item in _modes(mode)]),
    Op("gru_unit", _GRU_UNIT, *GRU_UNIT),
]
