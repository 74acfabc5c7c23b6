"""Quantized programs run in int8, and mean what Paddle's kernels compute."""

import numpy as np
import pytest

import paddle2ov
from paddle2ov.graph.core import shared_core
from paddle2ov.program import Program
from paddle2ov.program.model import Block, Operator, Output, Parameter, Variable
from paddle2ov.testing import run


def program(operators, weights, x, result):
    """A program of operators given as (name, inputs, result, attributes)."""
    made = [
        Operator(name, {port: [value] for port, value in inputs.items()}, {port: [out]}, attributes, name, 0, i)
        for i, (name, inputs, (port, out), attributes) in enumerate(operators)
    ]
    variables = {x.name: x} | {name: Variable(name, "float32", array.shape) for name, array in weights.items()}
    for operator in made:
        for name in operator.output_names():
            variables[name] = Variable(name, "float32", None)
    parameters = {name: Parameter(name, "float32", array) for name, array in weights.items()}
    return Program("pir", 4, Block(0, made), [x], [Output(result, result)], variables, parameters)


def simulated(rng):
    """What quantization-aware training exports."""
    weights = {"w": rng.uniform(-0.5, 0.5, (8, 4, 3, 3)).astype("float32"), "s": np.array([1.0], "float32")}
    operators = [
        (
            "fake_quantize_dequantize_moving_average_abs_max",
            {"x": "x", "in_scale": "s"},
            ("out", "a"),
            {"is_test": True, "bit_length": 8, "round_type": 0},
        ),
        ("fake_channel_wise_quantize_dequantize_abs_max", {"x": "w"}, ("out", "b"), {"quant_axis": 0}),
        ("conv2d", {"input": "a", "filter": "b"}, ("out", "c"), {"strides": [1, 1], "paddings": [0, 0]}),
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
        ("quantize_linear", {"x": "x", "scale": "s", "zero_point": "z"}, ("y", "q"), activation),
        ("dequantize_linear", {"x": "q", "scale": "s", "zero_point": "z"}, ("y", "a"), activation),
        ("dequantize_linear", {"x": "w", "scale": "t", "zero_point": "z"}, ("y", "b"), {"quant_axis": 0}),
        ("conv2d", {"input": "a", "filter": "b"}, ("out", "c"), {"strides": [1, 1], "paddings": [0, 0]}),
    ]
    return operators, weights


@pytest.mark.parametrize("build", [simulated, onnx_style])
def test_convolutions_run_in_int8(build):
    operators, weights = build(np.random.default_rng(0))
    model = paddle2ov.convert(program(operators, weights, Variable("x", "float32", (1, 4, 8, 8)), "c"))
    compiled = shared_core().compile_model(model, "CPU")
    kinds = {
        info["layerType"].astype(str): info["runtimePrecision"].astype(str)
        for info in (node.get_rt_info() for node in compiled.get_runtime_model().get_ops())
    }
    assert kinds["Convolution"] in ("u8", "i8")


def test_dequantize_linear_multiplies():
    # Paddle 3.3 runs it as if it were quantize_linear.
    rng = np.random.default_rng(0)
    x = np.rint(rng.uniform(-127, 127, (2, 3))).astype("float32")
    weights = {"s": rng.uniform(0.5, 1, 3).astype("float32"), "z": np.zeros(3, "float32")}
    operators = [
        ("dequantize_linear", {"x": "x", "scale": "s", "zero_point": "z"}, ("y", "y"), {"quant_axis": 1, "qmax": 127})
    ]
    (result,) = run(paddle2ov.convert(program(operators, weights, Variable("x", "float32", (2, 3)), "y")), {"x": x})
    np.testing.assert_allclose(result.array, x * weights["s"] / 127, rtol=1e-6)


def test_zero_points_are_refused():
    weights = {"s": np.ones(1, "float32"), "z": np.ones(1, "float32")}
    operators = [("quantize_linear", {"x": "x", "scale": "s", "zero_point": "z"}, ("y", "y"), {"quant_axis": -1})]
    with pytest.raises(paddle2ov.OpConversionError, match="zero_point"):
        paddle2ov.convert(program(operators, weights, Variable("x", "float32", (2, 3)), "y"))


def test_training_is_refused():
    operators, weights = simulated(np.random.default_rng(0))
    operators[0][3]["is_test"] = False
    with pytest.raises(paddle2ov.OpConversionError, match="eval"):
        paddle2ov.convert(program(operators, weights, Variable("x", "float32", (1, 4, 8, 8)), "c"))
