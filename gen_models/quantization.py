"""Quantization: what training with simulated integers and calibration leave in a program."""

from __future__ import annotations

from typing import Any

import numpy as np

from gen_models.harness.building import is_pir, legacy_op, operator
from gen_models.harness.marks import NO_FUNCTION, legacy
from gen_models.harness.spec import Op, case, paddle, tensor


def _constant(value):
    """A scale: a list becomes a constant of the program, as it is in an exported model; a tensor stays one."""
    return paddle.assign(np.array(value, np.float32)) if isinstance(value, list) else value


def _linear(name, x, scale, quant_axis, high, round_type):
    scale, zero = _constant(scale), _constant([0.0])
    if is_pir():
        state = _constant([0.0])
        numbers = (quant_axis, 8, -high - 1, high, round_type, True, False)
        return getattr(paddle._C_ops, name)(x, scale, zero, state, state, *numbers)[0]
    attributes = {"quant_axis": quant_axis, "bit_length": high.bit_length() + 1, "round_type": round_type}
    return legacy_op(name, {"X": x, "Scale": scale, "ZeroPoint": zero}, {"Y": "float32"}, attributes)


def _quantize_linear(x, scale, *, quant_axis=-1, high=127, round_type=0):
    return _linear("quantize_linear", x, scale, quant_axis, high, round_type)


def _dequantize_linear(x, scale, *, quant_axis=-1, high=127, quantize=False):
    if quantize:
        x = _linear("quantize_linear", x, scale, quant_axis, high, 0)
    return _linear("dequantize_linear", x, scale, quant_axis, high, 0)


def _fake(name):
    quantized = operator(name, outputs=dict.fromkeys(("Out", "OutScale"), "float32"), bit_length=8, round_type=1)

    def build(x, *, weights=None, **attributes):
        if weights is None:
            return quantized(x=x, **attributes)
        return x * quantized(x=_constant(weights), **attributes)[0]

    return build


def _fake_with_state(name):
    ports = {"x": "X", "scale": "InScale", "accum": "InAccum", "state": "InState"}
    outputs = dict.fromkeys(("Out", "OutScale", "OutState", "OutAccum"), "float32")
    options = {"moving_rate": 0.9, "bit_length": 8, "is_test": True, "round_type": 1}
    quantized = operator(name, ports, outputs, results=1, **options)

    def build(x, scale, *, factors=None, **attributes):
        if factors is not None:  # of the channels
            x = x * _constant(factors).reshape([-1, 1, 1])
        return quantized(x=x, scale=_constant(scale), accum=_constant([1.5]), state=_constant([2.0]), **attributes)

    return build


_in_range = operator(
    "fake_quantize_range_abs_max",
    {"x": "X", "scale": "InScale", "iteration": "Iter"},
    dict.fromkeys(("Out", "OutScale", "OutScales"), "float32"),
    results=1,
    window_size=100,
    bit_length=8,
    is_test=True,
    round_type=1,
)


def _range(x, scale, **attributes):
    scale, iteration = _constant(scale), paddle.assign(np.array([3], np.int64))
    return _in_range(x=x, scale=scale, iteration=iteration, **attributes)


def _dequantize(name, dtype=""):
    dequantized = operator(name, {"x": "X", "scale": "Scale"}, {"Out": dtype}, max_range=127.0)
    return lambda x, scale, **attributes: dequantized(x=x, scale=_constant(scale), **attributes)


_channels = operator(
    "fake_channel_wise_dequantize_max_abs",
    {"x": "X", "scales": "Scales"},
    quant_bits=[8],
    quant_axis=0,
    x_num_col_dims=1,
)


def _observer(x):
    inputs = {"X": x, "InAccum": _constant([1.5]), "InState": _constant([2.0])}
    outputs = dict.fromkeys(("Out", "OutScale", "OutState", "OutAccum"), "float32")
    return legacy_op("moving_average_abs_max_scale", inputs, outputs, {"is_test": True, "moving_rate": 0.9})[0]


_X = tensor([2, 3, 4, 5], low=-2, high=2)
_DYNAMIC = tensor([2, 3, 4, 5], low=-2, high=2, dims=[-1, -1, -1, -1])
_Q = tensor([2, 3, 4, 5], low=-127, high=127)
_Q_DYNAMIC = tensor([2, 3, 4, 5], low=-127, high=127, dims=[-1, 3, -1, -1])
_EIGHTHS = tensor([5], values=[0.5, 0.125, -0.3, 2.0, -2.0])
_SCALES = [0.5, 1.0, 1.7]
_LEGACY = legacy("Paddle 3.3 runs dequantize_linear as if it were quantize")


# Of channels with factors of their own, and steps of 1/64.
_SCALED = [
    case(
        x=tensor(
            [2, 3, 2, 1], values=[0.5, 0.125, -0.375, 1.0, 2.0, -0.25, 1.5, -1.0, 0.25, 0.5, 0.125, -1.25], dims=dims
        ),
        scale=[127 / 64],
        round_type=0,
        factors=[1.0, -0.5, 0.25],
    )
    for dims in ([2, 3, 2, 1], [-1, 3, 2, 1])
]


QUANTIZE_LINEAR = [
    case(x=_X, scale=tensor([1], values=[1.3])),
    case(x=_DYNAMIC, scale=_SCALES, quant_axis=1),
    case(x=_DYNAMIC, scale=tensor([3], values=_SCALES), quant_axis=1),
    case(x=_X, scale=[0.7, 0.0], quant_axis=0),
    case(x=_X, scale=[1.3], high=7),
    case(x=_X, scale=[1.3], high=32767),
    case(x=_X, scale=[1.3], round_type=1),
    case(x=_EIGHTHS, scale=[1.0]),
    case(x=tensor([3, 4]), scale=[0.5, 0.6, 0.7, 0.8], quant_axis=1),
]

DEQUANTIZE_LINEAR = [
    case(x=_Q, scale=[1.3]),
    case(x=_Q_DYNAMIC, scale=_SCALES, quant_axis=1),
    case(x=_Q, scale=tensor([2], values=[0.5, 0.8]), quant_axis=0, high=7),
    case(x=_X, scale=[1.3], quantize=True),
    case(x=_DYNAMIC, scale=_SCALES, quant_axis=1, quantize=True),
    case(x=_X, scale=tensor([1], values=[1.3]), quantize=True),
    case(x=tensor([3, 4], "int8", low=-128, high=127), scale=[0.5, 0.6, 0.7], quant_axis=0),
]


def _half_way(*scales: float, **attributes: int) -> list[Any]:
    """Cases of weights, a row for each scale: numbers half-way between its steps, as near as float32 comes, and it."""
    rows = [[(step + 0.5) * scale / 127 for step in range(-127, 127)] + [scale] for scale in scales]
    return [
        case(x=tensor([255]), weights=rows, bit_length=8, round_type=round_type, **attributes, is_varied=False)
        for round_type in (0, 1)
    ]


_PER_TENSOR = [
    case(x=_X, bit_length=8, round_type=1),
    case(x=_X, bit_length=8, round_type=0),
    case(x=_DYNAMIC, bit_length=4, round_type=1),
    case(x=tensor([3], values=[0.0, 0.0, 0.0]), bit_length=8, round_type=1),
    case(x=_EIGHTHS, bit_length=8, round_type=0),
    case(x=tensor([7]), bit_length=16, round_type=1, atol=4e-5, why="a step of 16 bits where Paddle rounds otherwise"),
]
_PER_CHANNEL = [
    case(x=_X, bit_length=8, round_type=1, quant_axis=0),
    case(x=_X, bit_length=8, round_type=0, quant_axis=1),
    case(x=_DYNAMIC, bit_length=4, round_type=1, quant_axis=1),
    case(x=tensor([2, 2], values=[[0.0, 1.0], [0.0, -0.3]]), bit_length=8, round_type=1, quant_axis=1),
    *_half_way(0.3, 1.7, 4.9, quant_axis=0),
]
_WITH_STATE = [
    case(x=_X, scale=[1.3]),
    case(x=_X, scale=[1.3], round_type=0),
    case(x=_DYNAMIC, scale=tensor([1], values=[1.3])),
    case(x=_DYNAMIC, scale=[1.3], bit_length=4),
    case(x=_X, scale=[0.0]),
]


LOGS = [
    case(x=tensor([3, 4], "int8", -128, 128), dict=tensor([128], low=0)),
    case(x=tensor([4], "int8", values=[-128, -1, 0, 127], dims=[-1]), dict=tensor([128], low=0)),
]


OPS = [
    Op("dequantize_log", operator("dequantize_log", {"x": "X", "dict": "Dict"}, {"Out": "float32"}), *LOGS),
    Op("quantize_linear", _quantize_linear, *QUANTIZE_LINEAR, is_varied=False),
    Op("dequantize_linear", _dequantize_linear, *DEQUANTIZE_LINEAR, is_varied=False, **_LEGACY),
    *(
        Op(name, _fake(name), *_PER_TENSOR, *_half_way(1.7))
        for name in ("fake_quantize_abs_max", "fake_quantize_dequantize_abs_max")
    ),
    Op(
        "fake_channel_wise_quantize_dequantize_abs_max",
        _fake("fake_channel_wise_quantize_dequantize_abs_max"),
        *_PER_CHANNEL,
    ),
    *(
        Op(name, _fake_with_state(name), *_WITH_STATE, *_SCALED)
        for name in ("fake_quantize_moving_average_abs_max", "fake_quantize_dequantize_moving_average_abs_max")
    ),
    Op("fake_quantize_range_abs_max", _range, *_WITH_STATE[:4]),
    Op(
        "fake_dequantize_max_abs",
        _dequantize("fake_dequantize_max_abs"),
        case(x=_Q, scale=[1.3]),
        case(x=_Q_DYNAMIC, scale=tensor([1], values=[1.3]), max_range=7.0),
        case(x=tensor([3], "float64"), scale=tensor([1], "float64", values=[0.5]), why="f64 is computed as f32"),
    ),
    Op(
        "dequantize_abs_max",
        _dequantize("dequantize_abs_max", "float32"),
        case(x=tensor([3, 4], "int8", low=-128, high=127), scale=[1.3]),
        case(x=tensor([3, 4], "int8", low=-128, high=127, dims=[-1, 4]), scale=[0.3], max_range=7.0),
    ),
    Op(
        "fake_channel_wise_dequantize_max_abs",
        lambda x, scales, **attributes: _channels(x=x, scales=list(map(_constant, scales)), **attributes),
        case(x=_Q, scales=[[0.5, 0.8]]),
        case(x=_Q, scales=[_SCALES], quant_axis=1, quant_bits=[4]),
        case(x=_Q_DYNAMIC, scales=[tensor([3], values=_SCALES)], quant_axis=1),
        case(x=_Q_DYNAMIC, scales=[_SCALES, [1.5]], quant_bits=[8, 8]),
        case(x=_Q, scales=[[0.5, 0.6, 0.7, 0.8], [1.5]], quant_bits=[8, 4], x_num_col_dims=2),
    ),
    Op("moving_average_abs_max_scale", _observer, case(x=_X), case(x=_DYNAMIC), **NO_FUNCTION),
]
