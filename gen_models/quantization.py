"""Quantization: what training with simulated integers and calibration leave in a program."""

from __future__ import annotations

from typing import Any

import numpy as np

from gen_models.harness.building import any_op, is_pir, legacy_op, operator
from gen_models.harness.marks import NO_FUNCTION, legacy
from gen_models.harness.spec import Op, case, paddle, tensor


def _constant(value: Any) -> Any:
    """A scale: a list becomes a constant of the program, as it is in an exported model; a tensor stays one."""
    return paddle.assign(np.array(value, np.float32)) if isinstance(value, list) else value


def _linear(name: str, x: Any, scale: Any, quant_axis: int, high: int, round_type: int) -> Any:
    scale, zero = _constant(scale), _constant([0.0])
    if is_pir():
        state = _constant([0.0])
        made = getattr(paddle._C_ops, name)(
            x, scale, zero, state, state, quant_axis, 8, -high - 1, high, round_type, True, False
        )
        return made[0]
    attributes = {"quant_axis": quant_axis, "bit_length": high.bit_length() + 1, "round_type": round_type}
    return legacy_op(name, {"X": x, "Scale": scale, "ZeroPoint": zero}, {"Y": "float32"}, attributes)


def _quantize_linear(x: Any, scale: Any, *, quant_axis: int = -1, high: int = 127, round_type: int = 0) -> Any:
    return _linear("quantize_linear", x, scale, quant_axis, high, round_type)


def _dequantize_linear(x: Any, scale: Any, *, quant_axis: int = -1, high: int = 127, quantize: bool = False) -> Any:
    if quantize:
        x = _linear("quantize_linear", x, scale, quant_axis, high, 0)
    return _linear("dequantize_linear", x, scale, quant_axis, high, 0)


def _fake(name: str) -> Any:
    def build(x: Any, *, weights: Any = None, **attributes: Any) -> Any:
        if weights is not None:
            return x * build(_constant(weights), **attributes)[0]
        if is_pir():
            values = [attributes[key] for key in ("bit_length", "round_type", "quant_axis") if key in attributes]
            return getattr(paddle._C_ops, name)(x, *values)
        return legacy_op(name, {"X": x}, {"Out": "float32", "OutScale": "float32"}, attributes)

    return build


def _fake_with_state(name: str) -> Any:
    def build(x: Any, scale: Any, *, bit_length: int = 8, round_type: int = 1, factors: Any = None) -> Any:
        if factors is not None:  # of the channels
            x = x * _constant(factors).reshape([-1, 1, 1])
        scale = _constant(scale)
        accum, state = _constant([1.5]), _constant([2.0])
        attributes = {"bit_length": bit_length, "round_type": round_type, "is_test": True, "moving_rate": 0.9}
        outputs = {"Out": "float32", "OutScale": "float32", "OutState": "float32", "OutAccum": "float32"}
        if is_pir():
            made = getattr(paddle._C_ops, name)(x, scale, accum, state, 0.9, bit_length, True, round_type)
        else:
            inputs = {"X": x, "InScale": scale, "InAccum": accum, "InState": state}
            made = legacy_op(name, inputs, outputs, attributes)
        return made[0]

    return build


def _range(x: Any, scale: Any, *, bit_length: int = 8, round_type: int = 1) -> Any:
    scale, iteration = _constant(scale), paddle.assign(np.array([3], np.int64))
    if is_pir():
        return paddle._C_ops.fake_quantize_range_abs_max(x, scale, iteration, 100, bit_length, True, round_type)[0]
    attributes = {"bit_length": bit_length, "round_type": round_type, "is_test": True, "window_size": 100}
    inputs = {"X": x, "InScale": scale, "Iter": iteration}
    outputs = {"Out": "float32", "OutScale": "float32", "OutScales": "float32"}
    return legacy_op("fake_quantize_range_abs_max", inputs, outputs, attributes)[0]


def _dequantize_max_abs(x: Any, scale: Any, *, max_range: float = 127.0) -> Any:
    inputs = {"X": x, "Scale": _constant(scale)}
    return any_op("fake_dequantize_max_abs", inputs, {"Out": x.dtype}, {"max_range": max_range})


def _dequantize_abs_max(x: Any, scale: Any, *, max_range: float = 127.0) -> Any:
    inputs = {"X": x, "Scale": _constant(scale)}
    return any_op("dequantize_abs_max", inputs, {"Out": "float32"}, {"max_range": max_range})


def _dequantize_channels(
    x: Any, scales: Any, *, quant_bits: Any = (8,), quant_axis: int = 0, x_num_col_dims: int = 1
) -> Any:
    scales = [_constant(scale) for scale in scales]
    attributes = {"quant_bits": list(quant_bits), "quant_axis": quant_axis, "x_num_col_dims": x_num_col_dims}
    inputs = {"X": x, "Scales": scales}
    return any_op("fake_channel_wise_dequantize_max_abs", inputs, {"Out": x.dtype}, attributes)


def _observer(x: Any) -> Any:
    accum, state = _constant([1.5]), _constant([2.0])
    attributes = {"is_test": True, "moving_rate": 0.9}
    outputs = {"Out": "float32", "OutScale": "float32", "OutState": "float32", "OutAccum": "float32"}
    made = legacy_op("moving_average_abs_max_scale", {"X": x, "InAccum": accum, "InState": state}, outputs, attributes)
    return made[0]


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
        for name in (
            "fake_quantize_moving_average_abs_max",
            "fake_quantize_dequantize_moving_average_abs_max",
        )
    ),
    Op("fake_quantize_range_abs_max", _range, *_WITH_STATE[:4]),
    Op(
        "fake_dequantize_max_abs",
        _dequantize_max_abs,
        case(x=_Q, scale=[1.3]),
        case(x=_Q_DYNAMIC, scale=tensor([1], values=[1.3]), max_range=7.0),
        case(x=tensor([3], "float64"), scale=tensor([1], "float64", values=[0.5]), why="f64 is computed as f32"),
    ),
    Op(
        "dequantize_abs_max",
        _dequantize_abs_max,
        case(x=tensor([3, 4], "int8", low=-128, high=127), scale=[1.3]),
        case(x=tensor([3, 4], "int8", low=-128, high=127, dims=[-1, 4]), scale=[0.3], max_range=7.0),
    ),
    Op(
        "fake_channel_wise_dequantize_max_abs",
        _dequantize_channels,
        case(x=_Q, scales=[[0.5, 0.8]]),
        case(x=_Q, scales=[_SCALES], quant_axis=1, quant_bits=[4]),
        case(x=_Q_DYNAMIC, scales=[tensor([3], values=_SCALES)], quant_axis=1),
        case(x=_Q_DYNAMIC, scales=[_SCALES, [1.5]], quant_bits=[8, 8]),
        case(x=_Q, scales=[[0.5, 0.6, 0.7, 0.8], [1.5]], quant_bits=[8, 4], x_num_col_dims=2),
    ),
    Op("moving_average_abs_max_scale", _observer, case(x=_X), case(x=_DYNAMIC), **NO_FUNCTION),
]
