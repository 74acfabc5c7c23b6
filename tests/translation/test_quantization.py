"""Quantized programs run in int8, and mean what Paddle's kernels compute."""

import io

import numpy as np
import pytest
from openvino import Model, Type, opset16 as ops
from rich.console import Console

import paddle2ov
from paddle2ov.compilation.running import run
from paddle2ov.graph.core import shared_core
from paddle2ov.program.model import Variable
from paddle2ov.quantization.layers import layers_of
from paddle2ov.reporting import build_report, write_report
from paddle2ov.reporting.terminal import print_report
from tests.support.formats import NEEDS_PADDLE_2
from tests.support.models import network
from tests.support.one_operator import run_in_paddle
from tests.support.programs import program


def converted(rows, weights, shape, result):
    """A model of operators over x, which has this shape."""
    return paddle2ov.convert(program(rows, [Variable("x", "float32", shape)], result, parameters=weights))


MOVING_AVERAGE = "fake_quantize_dequantize_moving_average_abs_max"


def simulated(rng):
    """What quantization-aware training exports."""
    weights = {"w": rng.uniform(-0.5, 0.5, (8, 4, 3, 3)).astype("float32"), "s": np.array([1.0], "float32")}
    operators = [
        (MOVING_AVERAGE, "x=x in_scale=s", "out=a", {"is_test": True, "bit_length": 8, "round_type": 0}),
        ("fake_channel_wise_quantize_dequantize_abs_max", "x=w", "out=b", {"quant_axis": 0}),
        ("conv2d", "input=a filter=b", "out=c", {"strides": [1, 1], "paddings": [0, 0]}),
    ]
    return operators, weights


def onnx_style(rng):
    """What calibration exports: integers and scales."""
    weights = {
        "w": np.rint(rng.uniform(-63, 63, (8, 4, 3, 3))).astype("float32"),
        "s": np.array([1.0], "float32"),
        "t": rng.uniform(0.5, 1, 8).astype("float32"),
        "z": np.zeros(8, "float32"),
    }
    activation = {"quant_axis": -1, "round_type": 0}
    operators = [
        ("quantize_linear", "x=x scale=s zero_point=z", "y=q", activation),
        ("dequantize_linear", "x=q scale=s zero_point=z", "y=a", activation),
        ("dequantize_linear", "x=w scale=t zero_point=z", "y=b", {"quant_axis": 0}),
        ("conv2d", "input=a filter=b", "out=c", {"strides": [1, 1], "paddings": [0, 0]}),
    ]
    return operators, weights


@pytest.mark.parametrize("build", [simulated, onnx_style])
def test_convolutions_run_in_int8(build):
    operators, weights = build(np.random.default_rng(0))
    model = converted(operators, weights, (1, 4, 8, 8), "c")
    compiled = shared_core().compile_model(model, "CPU")
    kinds = {
        info["layerType"].astype(str): info["runtimePrecision"].astype(str)
        for info in (node.get_rt_info() for node in compiled.get_runtime_model().get_ops())
    }
    assert kinds["Convolution"] in ("u8", "i8")


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("quantized_tensors", "pir"),
        pytest.param("quantized_tensors", "legacy", marks=NEEDS_PADDLE_2),
        pytest.param("quantized_channels", "legacy", marks=NEEDS_PADDLE_2),
        pytest.param("quantized_calibrated", "legacy", marks=NEEDS_PADDLE_2),
        pytest.param("quantized_calibrated_linear", "legacy", marks=NEEDS_PADDLE_2),
    ],
)
def test_every_layer_of_a_quantized_network_runs_in_int8(name, format):
    """Also those of few weights, which the conversion would fold."""
    conversion = paddle2ov.ConversionReport()
    model = paddle2ov.convert(network(name, format), report=conversion)
    report = build_report(model, conversion)
    assert len(report.compiled.layers) == 7
    assert {layer.precision for layer in report.compiled.layers} <= {"i8", "u8"}
    assert not [layer for layer in report.compiled.layers if layer.why_float]


def one_float(quantized_input, quantized_weights, kind="conv"):
    """A model of a layer that cannot run in int8, beside one that does."""
    low, high = np.float32(-1), np.float32(1)
    x = ops.parameter([1, 8, 6, 6], Type.f32)
    y = ops.fake_quantize(x, low, high, low, high, 255)
    w = ops.constant(np.random.default_rng(0).uniform(-1, 1, (8, 8, 1, 1)).astype(np.float32))
    v = ops.fake_quantize(w, low, high, low, high, 255)
    chosen = (y if quantized_input else x), (v if quantized_weights else w)
    if kind == "conv":
        layer = ops.convolution(*chosen, [1, 1], [0, 0], [0, 0], [1, 1])
    else:
        layer = ops.matmul(chosen[0], ops.tanh(x), False, True)
    layer.set_friendly_name("one")
    other = ops.convolution(y, v, [1, 1], [0, 0], [0, 0], [1, 1], name="other")
    return Model([ops.relu(layer).output(0), ops.relu(other).output(0)], [x])


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((False, True), "what it reads is not quantized"),
        ((True, False), "its weights are not quantized"),
        ((True, False, "matmul"), "its second operand is not quantized"),
    ],
)
def test_why_a_layer_stays_in_floating_point(arguments, why):
    model = one_float(*arguments)
    compiled = shared_core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    layers = {layer.name: layer for layer in layers_of(compiled, model)}
    assert (layers["one"].precision, layers["one"].why_float) == ("f32", why)
    assert (layers["other"].precision in ("i8", "u8"), layers["other"].why_float) == (True, "")


def test_a_layer_in_floating_point_has_its_name_where_openvino_drops_it():
    """OpenVINO fuses scale and bias into the weights, under names of its own."""
    x = ops.parameter([1, 3, 8, 8], Type.f32)
    w = ops.constant(np.random.default_rng(0).standard_normal((4, 3, 3, 3)).astype(np.float32))
    layer = ops.convolution(x, w, [1, 1], [0, 0], [0, 0], [1, 1], name="own")
    scaled = ops.multiply(layer, ops.constant(np.arange(1, 5, dtype=np.float32).reshape(1, 4, 1, 1)))
    model = Model([ops.relu(ops.add(scaled, ops.constant(np.ones((1, 4, 1, 1), np.float32)))).output(0)], [x])
    compiled = shared_core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    (found,) = layers_of(compiled, model)
    assert (found.name, found.why_float) == ("own", "what it reads is not quantized")


def test_the_report_of_a_quantized_model_names_its_layers(tmp_path):
    folder = network("quantized_tensors")
    conversion = paddle2ov.ConversionReport()
    model = paddle2ov.convert(folder, report=conversion)
    report = build_report(model, conversion)
    write_report(report, tmp_path / "report.html")
    assert "7 of 7 run in integers" in (tmp_path / "report.html").read_text()
    console = Console(file=(printed := io.StringIO()), width=120)
    print_report(report, console)
    assert "7 of 7 layers run in integers" in printed.getvalue()


def quantized(x, scale, high):
    """x in multiples of scale / high, away from zero where it is between two of them, and no further than the scale."""
    scaled = np.clip(x, -scale, scale).astype(np.float64) / scale * high
    return np.trunc(scaled + np.copysign(0.5, scaled)) * scale / high


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("round_type", [0, 1])
@pytest.mark.parametrize("is_relu", [False, True])
def test_layers_read_the_numbers_of_their_grid(bits, round_type, is_relu):
    """2^bits levels, or one less: OpenVINO's transformations for low precision take 255 levels for 256.

    The lowest number is cut off before, where there may be any.
    """
    rng, high = np.random.default_rng(0), 2 ** (bits - 1) - 1
    weights = {"w": rng.uniform(-0.5, 0.5, (8, 4, 1, 1)).astype("float32"), "s": np.array([1.3], "float32")}
    same = {"is_test": True, "bit_length": bits, "round_type": round_type}
    operators = [
        *([("relu", "x=x", "out=r", {})] if is_relu else []),
        (MOVING_AVERAGE, f"x={'r' if is_relu else 'x'} in_scale=s", "out=a", same),
        ("fake_channel_wise_quantize_dequantize_abs_max", "x=w", "out=b", {**same, "quant_axis": 0}),
        ("conv2d", "input=a filter=b", "out=c", {"strides": [1, 1], "paddings": [0, 0]}),
    ]
    model = converted(operators, weights, (-1, 4, -1, -1), "c")
    is_cut_off = "Maximum" in [node.get_type_name() for node in model.get_ops()]
    assert is_cut_off == (round_type == 1 and not is_relu)
    data = rng.uniform(-1.2, 1.2, (2, 4, 5, 5)).astype("float32")
    kernel = quantized(weights["w"], np.abs(weights["w"]).max((1, 2, 3), keepdims=True), high)
    activations = quantized(np.maximum(data, 0) if is_relu else data, 1.3, high)
    wanted = np.einsum("oi,nihw->nohw", kernel[:, :, 0, 0], activations)
    np.testing.assert_allclose(run(model, {"x": data})[0].array, wanted, atol=2e-5, rtol=2e-5)


def test_channels_of_15_levels():
    """Their number is not known; OpenVINO's transformations for low precision take 15 levels for 255."""
    scales = np.array([0.7, 1.4], np.float32)
    weights = {"s": scales, "z": np.zeros(1, "float32")}
    attributes = {"quant_axis": 1, "qmin": -8, "qmax": 7, "round_type": 1}
    operators = [
        ("quantize_linear", "x=x scale=s zero_point=z", "y=a", attributes),
        ("dequantize_linear", "x=a scale=s zero_point=z", "y=b", attributes),
    ]
    model = converted(operators, weights, (-1, -1), "b")
    data = np.random.default_rng(0).uniform(-2, 2, (7, 2)).astype("float32")
    np.testing.assert_allclose(run(model, {"x": data})[0].array, quantized(data, scales, 7), atol=1e-6)


def test_zero_points_are_refused():
    weights = {"s": np.ones(1, "float32"), "z": np.ones(1, "float32")}
    operators = [("quantize_linear", "x=x scale=s zero_point=z", "y=y", {"quant_axis": -1})]
    with pytest.raises(paddle2ov.OpConversionError, match="zero_point"):
        converted(operators, weights, (2, 3), "y")


def test_training_is_refused():
    operators, weights = simulated(np.random.default_rng(0))
    operators[0][3]["is_test"] = False
    with pytest.raises(paddle2ov.OpConversionError, match="eval"):
        converted(operators, weights, (1, 4, 8, 8), "c")


BY_ROW = {"quant_axis": 0, "bit_length": 8, "round_type": 0, "is_test": True}


def quantized_rows(x, scale):
    """What the conversion makes of constants, by a scale for each row."""
    rows = [("quantize_linear", "x=w scale=s", "y=q", BY_ROW), ("elementwise_add", "x=q y=x", "out=out")]
    return run(converted(rows, {"w": x, "s": scale}, (1,), "out"), {"x": np.zeros(1, np.float32)})[0].array


@pytest.mark.parametrize("scales", [3, 20_000])
def test_more_scales_than_rows(scales):
    """Paddle reads the first ones. Both broadcast to a shape of any size."""
    x, scale = np.linspace(-1, 1, 8_000, dtype=np.float32).reshape(1, -1), np.arange(1, scales + 1, dtype=np.float32)
    wanted = run_in_paddle("quantize_linear", {"X": x, "Scale": scale, "ZeroPoint": scale * 0}, BY_ROW, ["Y"], "Y")
    np.testing.assert_array_equal(quantized_rows(x, scale), wanted, strict=True)


def test_fewer_scales_than_rows():
    with pytest.raises(paddle2ov.OpConversionError, match="2 scales for 3 elements along the axis"):
        quantized_rows(np.ones((3, 4), np.float32), np.ones(2, np.float32))


def test_weights_and_scales_that_overflow():
    with np.errstate(all="raise"):
        found = quantized_rows(np.array([[3e38, -3e38, 1, 0]], np.float32), np.full(1, 1e-29, np.float32))
    np.testing.assert_array_equal(found, [[127, -128, 127, 0]])
