"""`verify` tells Paddle's rounding from errors of the conversion, whatever else differs."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from openvino import opset16 as ops

import paddle2ov
from paddle2ov.commands.verification_text import print_compared, print_verification
from paddle2ov.comparison.differences import Expected, TensorComparison
from paddle2ov.compilation.running import Result
from paddle2ov.op_table import OP_TABLE
from paddle2ov.verification.judgement import compare_float64
from paddle2ov.verification.results import ComparedOperator, Run, Verification
from tests.support.command_line import call
from tests.support.formats import FORMATS
from tests.support.models import network, save_layer

SIDE = 256
"""Of a picture of which Paddle adds up the pixels one after the other."""


def picture():
    """Nearly constant, so that each sum is rounded the same way."""
    x = np.full((1, 1, SIDE, SIDE), 0.1, np.float32)
    x[0, 0, :2, :2] = [[0.9, -0.4], [0.3, -0.8]]
    return {"x": x, "n": np.array([3])}


def swapped_axes(node):
    """Leaves the axes as they are."""
    return {"out": node.get_input("x")}


def without_epsilon(node):
    result = OP_TABLE["layer_norm"](node)
    x = node.get_input("x")
    axes = np.array([1])
    centred = ops.subtract(x, ops.reduce_mean(x, axes, True))
    return {**result, "out": ops.divide(centred, ops.sqrt(ops.reduce_mean(ops.multiply(centred, centred), axes, True)))}


def in_eleven_bits(node):
    """Rounded as a cast to float16 rounds numbers between 0.5 and 1."""
    scaled = ops.multiply(OP_TABLE["sigmoid"](node)["out"], np.float32(2**11))
    return {"out": ops.multiply(ops.round(scaled, "half_to_even"), np.float32(2**-11))}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("format", FORMATS)
def test_rounding_of_paddle(format, tmp_path):
    np.savez(tmp_path / "x.npz", **picture())
    result = call("verify", network("averaged", format), "--inputs", tmp_path / "x.npz", "--json")
    assert result.exit_code == 4, result.output
    report = json.loads(result.stdout)
    assert (report["ok"], report["verdict"], report["culprit"]) == (False, "rounding", None)
    (run,) = report["runs"]
    assert run["rounding"]
    _, mean = run["float64"]
    assert mean["paddle"] > 1e-4 > mean["openvino"]
    (operator,) = report["rounded"]
    assert operator["type"] == "pool2d"
    assert operator["float64"][0]["paddle"] == pytest.approx(mean["paddle"], rel=1e-2)


def test_what_is_printed_of_rounding(capsys):
    """A difference is seen to be above the tolerance; what the verdict means to the reader is said."""
    mean = TensorComparison("mean", "float32", (8,), 2.0008e-4, 1.0004e-4, 1, 8, reason="1 of 8 elements")
    operator = ComparedOperator("relu", 0, "block 0, operator 0 (relu)", (replace(mean, reason=""),), True)
    run = Run({"x": (1, 3)}, (mean,), rounding=True)
    report = Verification(Path("model"), "pir", "3.3.1", "2026.4", 1e-4, runs=[run], operators=[operator])
    print_compared(report)
    print_verification(report, as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert "  mean  float32 [8]  absolute 0.00020008, relative 0.00010004" in lines
    assert "operators: 1 of 1 compared, none is at fault; the largest differences" in lines
    assert lines[-1].endswith("in float64, Paddle agrees with OpenVINO. Nothing is to be done (status 4).")


def test_an_operator_whose_result_has_another_shape_is_printed_with_the_shapes(capsys):
    """The results may agree all the same: old programs have vectors of one element where Paddle 3 has scalars."""
    shapes = "shape [1] in OpenVINO, [] in Paddle"
    one = TensorComparison("height", "int32", (), math.inf, math.inf, 1, 1, shapes, comparable=False)
    mean = TensorComparison("mean", "float32", (8,), 2e-6, 1e-6, 0, 8)
    operators = [
        ComparedOperator(name, 0, f"block 0, operator 0 ({name})", (result,), True)
        for name, result in (("slice", one), ("mean", mean))
    ]
    run = Run({"x": (1, 3)}, (mean,))
    report = Verification(Path("model"), "legacy", "3.3.1", "2026.4", 1e-4, runs=[run], operators=operators)
    print_verification(report, as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert f"          -  block 0, operator 0 (slice): {shapes}" in lines
    assert "      1e-06  block 0, operator 0 (mean)" in lines


@pytest.mark.one_in(3)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    ("kind", "wrong", "within"),
    [("transpose2", swapped_axes, 0), ("layer_norm", without_epsilon, 1), ("sigmoid", in_eleven_bits, 2)],
)
def test_an_error_of_the_conversion_is_not_called_rounding(format, kind, wrong, within):
    """Outside, in a loop, and in a branch in it; Paddle's rounding is there as well."""
    report = paddle2ov.verify(network("averaged", format), inputs=picture(), extension={kind: wrong})
    assert report.verdict == "differ"
    assert report.culprit is not None
    assert report.culprit.type == kind
    assert len(report.culprit.within) == within
    assert not report.culprit.amplifies
    (only,) = report.culprit.float64
    assert only.openvino > 1e-4 > 1e-6 > only.paddle
    assert not only.is_nearer
    assert [item.type for item in report.rounded] == ["pool2d"]


def test_rounding_that_adds_up(tmp_path):
    """No operator is wrong by itself: what is rounded doubles each time."""

    def chaotic(x):
        for _ in range(16):
            x = 4 * x * (1 - x)
        return x

    save_layer(tmp_path, chaotic, x=[4, 8])

    def off(node):
        """A product that is off by less than the tolerance."""
        return {"out": ops.multiply(OP_TABLE["elementwise_mul"](node)["out"], np.float32(1 + 1e-6))}

    inputs = {"x": np.linspace(0.1, 0.9, 32, dtype=np.float32).reshape(4, 8)}
    report = paddle2ov.verify(tmp_path, inputs=inputs, extension={"elementwise_mul": off})
    assert report.verdict == "differ"
    assert report.culprit.amplifies
    assert report.note.startswith("No operator is wrong by itself")
    assert all(output.ok for operator in report.operators for output in operator.outputs)
    (only,) = report.runs[0].float64
    assert only.openvino > only.paddle


@pytest.mark.parametrize(
    ("ours", "paddle", "right", "nearer", "within"),
    [
        ([1.0, 2.0], [1.001, 2.0], [1.0, 2.0], True, True),
        ([1.0, 2.0], [1.001, 2.0], [1.001, 2.0], False, False),
        ([1.0005, 2.0], [1.002, 2.0], [1.0, 2.0], True, False),
        ([1.00015, 2.0], [0.99999, 2.0], [1.0, 2.0], True, True),  # differ by less than the tolerance
        ([1.0001, 2.0], [0.9998, 2.002], [1.0, 2.0], True, True),
        ([1.00015, 2.0], [0.9999, 2.0], [1.0, 2.0], False, True),  # within the tolerance, and not the nearer one
        ([3, 4], [3, 5], [3, 4], True, True),
        ([3, 5], [3, 4], [3, 4], False, False),
    ],
)
def test_comparison_with_float64(ours, paddle, right, nearer, within):
    kind = "int64" if isinstance(ours[0], int) else "float32"
    result = Result(frozenset(), {"int64": "i64", "float32": "f32"}[kind], np.array(ours, kind))
    exact = np.array(right, "int64" if kind == "int64" else "float64")
    compared = compare_float64(result, Expected("y", kind, np.array(paddle, kind)), Expected("y", "", exact), 1e-4)
    assert (compared.is_nearer, compared.is_within) == (nearer, within)
