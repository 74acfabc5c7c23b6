"""`verify` of simulated quantization, where numbers half-way between two steps may become either."""

from types import SimpleNamespace

import numpy as np
import pytest
from openvino import opset16 as ops

import paddle2ov
from paddle2ov.comparison.paddle_process import PaddleProcess
from paddle2ov.graph.types import bfloat16_bits
from paddle2ov.op_table import OP_TABLE
from paddle2ov.program.files import find_model
from paddle2ov.program.model import Operator, Parameter, Variable
from paddle2ov.program.reading import read_program
from paddle2ov.verification.localisation import Localiser
from paddle2ov.verification.orders import ObservedOperator
from paddle2ov.verification.steps import STEP_CHECKS
from paddle2ov.verification.values import Values
from tests.support.command_line import call
from tests.support.models import operator
from tests.support.programs import program

QUANTIZED = "fake_quantize_dequantize_moving_average_abs_max"
SCALE = np.float32(127 / 64)  # steps of 1 / 64
X = np.array([[0.5, 1.5, 2.25, -3.5], [126.5, 300, -127.5, 0]], np.float32) / 64


def seen(type, steps, attributes=(), x=X, scale=SCALE):
    """What a check says of results that are other steps than Paddle's, which rounds ties away from zero."""
    back = "dequantize" in type
    exact = x * 64
    paddle = np.clip(np.trunc(exact + np.copysign(0.5, exact)), -127, 127)
    ours = paddle.copy()
    for index, step in steps.items():
        ours[index] = step
    out, given = ("y", "scale") if type == "quantize_linear" else ("out", "in_scale")
    unit = 64 if back else 1
    read = {"x": x, "s": np.reshape(scale, -1).astype(np.float32)}
    operator = Operator(type, {"x": ["x"], given: ["s"]}, {out: ["q"]}, dict(attributes), type, 0, 0)
    results = [(side / unit).astype(np.float32) for side in (paddle, ours)]
    return STEP_CHECKS[type](ObservedOperator(operator, read | {"q": results[0]}, read | {"q": results[1]}, 1e-4))


@pytest.mark.parametrize("type", [QUANTIZED, "fake_quantize_moving_average_abs_max", "quantize_linear"])
@pytest.mark.parametrize(
    ("steps", "moved"),
    [
        ({(0, 0): 0}, 1),
        ({(0, 0): 0, (0, 3): -3, (1, 0): 126}, 3),
        ({(0, 1): 3}, None),  # 1.5 is nearer to 2, and to 1
        ({(0, 2): 3}, None),  # 2.25 is nearer to 2
        ({(1, 1): 126}, None),  # cut off, not half-way
        ({(0, 0): 0, (1, 3): 1}, None),  # one of them only
        ({(0, 0): 0, (1, 3): 0.25}, None),  # between steps
        ({(0, 0): 0, (1, 3): np.nan}, None),
    ],
)
def test_steps(type, steps, moved):
    attributes = {"quant_axis": -1} if type == "quantize_linear" else {}
    found = seen(type, steps, attributes)
    assert (found and found.moved) == moved


def test_scales_of_channels():
    scales, attributes = [SCALE, SCALE], {"quant_axis": 0}
    assert seen("quantize_linear", {(0, 0): 0}, attributes, scale=scales).moved == 1
    assert seen("quantize_linear", {(0, 0): 0}, attributes, scale=[SCALE / 2, SCALE]) is None
    assert seen("quantize_linear", {(0, 0): 0}, attributes, scale=[SCALE] * 3) is None


def test_unknown_and_empty_scales():
    assert seen(QUANTIZED, {(0, 0): 0}, scale=0.0) is None
    assert seen(QUANTIZED, {(0, 0): 0}, scale=np.inf) is None
    assert seen(QUANTIZED, {(0, 0): 0}, scale=[SCALE, SCALE]) is None
    assert seen("quantize_linear", {(0, 0): 0}, {"quant_axis": 0}, scale=[SCALE] * 3) is None


@pytest.mark.parametrize(("number", "moved"), [(100.5, 1), (100.6, None)])
def test_16_bits(number, moved):
    """The rounding of float32 moves a number by a small part of a step."""
    exact = np.array([number], np.float64)
    x, scale = (exact / 32767).astype(np.float32), np.ones(1, np.float32)
    operator = Operator(QUANTIZED, {"x": ["x"], "in_scale": ["s"]}, {"out": ["q"]}, {"bit_length": 16}, QUANTIZED, 0, 0)
    paddle, ours = ({"x": x, "s": scale, "q": np.float32([step / 32767])} for step in (101, 100))
    found = STEP_CHECKS[QUANTIZED](ObservedOperator(operator, paddle, ours, 1e-4))
    assert (found and found.moved) == moved


@pytest.mark.parametrize("type", ["fake_quantize_dequantize_abs_max", "fake_channel_wise_quantize_dequantize_abs_max"])
def test_scales_from_the_largest_magnitude(type):
    x = np.array([[0.5, 127.0], [1.5, -127.0]], np.float32) / 64
    assert seen(type, {(0, 0): 0}, {"quant_axis": 0}, x).moved == 1
    assert seen(type, {(0, 1): 126}, {"quant_axis": 0}, x) is None


def half_way():
    """A model with a scale of 1.3, and numbers half-way between its steps."""
    steps = np.random.default_rng(0).integers(-120, 120, (2, 3, 4, 5))
    return operator(QUANTIZED), {"x": ((steps + 0.5) * 1.3 / 127).astype(np.float32)}


def test_numbers_half_way_between_two_steps(tmp_path):
    folder, inputs = half_way()
    report = paddle2ov.verify(folder, inputs=inputs)
    assert report.verdict == "ties"
    (tie,) = report.runs[0].ties
    assert tie.kind == "steps"
    assert 0 < tie.moved < tie.entries == 120
    np.savez(tmp_path / "inputs.npz", **inputs)
    result = call("verify", folder, "--inputs", tmp_path / "inputs.npz")
    assert result.exit_code == 3, result.output
    assert f"{tie.moved} of 120 numbers half-way between two steps are rounded to the other one" in result.stdout


def off_by_a_step(node):
    outputs = OP_TABLE[QUANTIZED](node)
    return {**outputs, "out": ops.add(outputs["out"], np.float32(1.3 / 127))}


@pytest.mark.parametrize("extension", [None, {QUANTIZED: off_by_a_step}])
def test_a_quantization_alone(extension):
    """One that rounds numbers half-way to another step is not at fault; one that is a step off is."""
    folder, inputs = half_way()
    whole = read_program(folder)
    with PaddleProcess("pir") as paddle:
        location = Localiser(Values(whole, paddle.load(find_model(folder)), inputs, extension), 1e-4).run()
    assert location.culprit.operator.type == QUANTIZED
    assert location.amplifies == (extension is None)


def test_weights_in_bfloat16_are_read_as_numbers():
    weight = Parameter("s", "bfloat16", bfloat16_bits(np.array([1.5], np.float32)))
    rows = [(QUANTIZED, "x=x in_scale=s", "out=out", {"is_test": True})]
    whole = program(rows, [Variable("x", "bfloat16", (2,))], "out", parameters=[weight])
    (operator,) = whole.block.operators
    assert Values(whole, SimpleNamespace(files=None), {}).parameters_of(operator) == {"s": np.float32(1.5)}
