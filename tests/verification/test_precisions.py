"""`verify(precision="all")`: accuracy and speed of each precision in one table, and what to choose."""

import json
import re

import numpy as np
import openvino
import pytest
from openvino import opset16 as ops

import paddle2ov
from paddle2ov import ConversionInputError, ConversionReport
from paddle2ov.compilation.precision import computes_in
from paddle2ov.reporting import build_report, write_report
from paddle2ov.verification.precisions import _timed, advice, quantized_model
from paddle2ov.verification.results import ComparedPrecision
from tests.support.command_line import call
from tests.support.models import network, operator

SHAPE = "x[1,3,64,64]"
HERE = ["f32", *(name for name in ("bf16", "f16") if computes_in("CPU", name))]


@pytest.fixture(scope="module")
def folder():
    return network("squeezenet1_1")


@pytest.fixture(scope="module")
def shifted(folder, tmp_path_factory):
    """The model with other results, in place of a quantized one that is wrong."""
    model = paddle2ov.convert(folder)
    result = model.get_results()[0]
    source = result.input_value(0)
    names = source.get_names()
    source.set_names(set())
    moved = ops.add(source, np.float32(1)).output(0)
    moved.set_names(names)
    result.input(0).replace_source_output(moved)
    path = tmp_path_factory.mktemp("quantized") / "int8.xml"
    openvino.save_model(model, path, compress_to_fp16=False)
    return path


@pytest.fixture(scope="module")
def found(folder, shifted):
    return paddle2ov.verify(folder, shapes=SHAPE, precision="all", quantized=shifted)


def test_each_precision_of_this_processor(found):
    assert (found.precision, found.verdict) == ("f32", "agree")
    table = found.precisions
    assert [row.name for row in table.rows] == [*HERE, "int8"]
    assert all(row.milliseconds > 0 for row in table.rows)
    first = table.rows[0]
    assert (first.verdict, first.times) == ("agree", 1.0)
    assert first.largest == max(output.relative for output in found.runs[0].outputs)
    for row in table.rows[1:-1]:
        assert row.verdict == "agree"
        assert first.largest < row.largest < 0.05
        assert first.agreement > row.agreement > 0.9
    assert table.measure == "results"


def test_what_is_wrong_in_one_precision_shows_there(found):
    last = found.precisions.rows[-1]
    assert last.verdict == "differ"
    assert last.agreement < 0.9
    assert not found.precisions.advice.startswith("Take int8")


def test_a_precision_without_hardware_is_not_offered(folder, monkeypatch):
    monkeypatch.setattr("paddle2ov.compilation.precision.capabilities", lambda device: ["FP32"])
    table = paddle2ov.verify(folder, shapes=SHAPE, precision="all").precisions
    assert [row.name for row in table.rows] == ["f32"]
    assert table.missing["bf16"] == table.missing["f16"] == "this processor has no hardware for it"
    assert "paddle2ov quantize" in table.missing["int8"]
    assert table.advice.startswith("Take f32: nothing that agrees")


def test_the_command(folder, shifted):
    result = call("verify", folder, "--input", SHAPE, "--precision", "all", "--quantized", shifted)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("precision   times as fast"))
    assert [line.split()[0] for line in lines[start + 1 : start + 2 + len(HERE)]] == [*HERE, "int8"]
    assert any("differs" in line for line in lines if line.startswith("int8"))
    assert lines[-1] == "The results agree with Paddle's."


def test_the_report_has_the_table(folder, found, tmp_path):
    conversion = ConversionReport()
    model = paddle2ov.convert(folder, input=SHAPE, report=conversion)
    report = build_report(model, conversion, verification=found)
    write_report(report, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert 'id="precisions"' in page
    assert f"<p>{found.precisions.advice}.</p>".replace("'", "&#39;") in page
    write_report(report, tmp_path / "report.json")
    rows = json.loads((tmp_path / "report.json").read_text())["verification"]["precisions"]["rows"]
    assert [row["name"] for row in rows] == [*HERE, "int8"]


def rows(**others):
    first = [ComparedPrecision("f32", "agree", 1.0, 1e-6, 10.0, 1.0)]
    return first + [
        ComparedPrecision(name, verdict, 0.9, 0.01, 1.0, times) for name, (verdict, times) in others.items()
    ]


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (rows(bf16=("agree", 1.8)), "Take bf16: 1.8 times as fast as f32 here, and its results agree with Paddle's"),
        (rows(bf16=("ties", 1.8), int8=("agree", 2.5)), "Take int8: 2.5 times as fast"),
        (rows(bf16=("agree", 0.9)), "Take f32: nothing that agrees with Paddle is faster here"),
        (rows(bf16=("agree", 1.02)), "Take f32: nothing that agrees with Paddle is faster here"),
        (rows(bf16=("differ", 1.8)), "Take f32: nothing .* here; bf16 is 1.8 times as fast, but its results differ"),
        (rows(bf16=("agree", 1.8), int8=("differ", 3.0)), "Take bf16: .*; int8 is 3.0 times as fast, but its results"),
    ],
)
def test_advice(table, sentence):
    assert re.match(sentence, advice(table))


def test_no_precision_helps_where_results_differ():
    table = [ComparedPrecision("f32", "differ", 0.5, 1.0), ComparedPrecision("bf16", "agree", 1.0, 0.01, 1.0, 2.0)]
    assert advice(table).startswith("The results differ from Paddle's in f32 already")


def test_inputs_that_openvino_refuses(folder):
    table = paddle2ov.verify(folder, shapes="x[1,3,96,96]", precision="all").precisions
    assert [row.verdict for row in table.rows] == ["differ"] * len(HERE)
    assert [row.milliseconds for row in table.rows] == [0.0] * len(HERE)
    assert table.advice.startswith("The results differ from Paddle's in f32 already")


def test_a_quantized_model_that_does_not_fit(folder, tmp_path):
    with pytest.raises(ConversionInputError, match="is compared beside the others, with precision='all'"):
        paddle2ov.verify(folder, quantized=tmp_path / "int8.xml")
    with pytest.raises(ConversionInputError, match=r"quantized: .*int8\.xml is not an OpenVINO IR"):
        paddle2ov.verify(folder, precision="all", quantized=tmp_path / "int8.xml")
    x = ops.parameter([1], openvino.Type.f32, name="y")
    x.output(0).set_names({"y"})
    with pytest.raises(ConversionInputError, match="quantized: its inputs are y, those of the model x"):
        paddle2ov.verify(folder, precision="all", quantized=openvino.Model([ops.relu(x).output(0)], [x]))
    other = paddle2ov.convert(folder)
    other.reshape({"x": [1, 3, 48, 160]})
    fixed = paddle2ov.convert(folder, input={"x": [1, 3, 64, 64]})
    with pytest.raises(
        ConversionInputError, match=r"its 'x' is f32 \[1,3,48,160\], that of the model f32 \[1,3,64,64\]"
    ):
        quantized_model(other, fixed)
    assert quantized_model(fixed, paddle2ov.convert(folder)) is fixed
    with pytest.raises(ConversionInputError, match="precision: int8 needs data"):
        paddle2ov.verify(folder, precision="int8")


def test_another_shape_has_no_difference_in_numbers(tmp_path, own_converters):
    own = tmp_path / "own.py"
    own.write_text("""
import paddle2ov
from openvino import opset16 as ops
@paddle2ov.register_converter("relu", override=True)
def relu(node):
    return ops.unsqueeze(node.get_input("x"), [0])
""")
    result = call("verify", operator("relu"), "--precision", "all", "--extension", own, "--timeout", 60)
    assert result.exit_code == 1
    row = next(line for line in result.stdout.splitlines() if line.startswith("f32 "))
    assert re.search(r" -   differs: \w+: shape \[1, .*\] in OpenVINO, \[.*\] in Paddle$", row), row


def test_the_ratio_is_that_of_the_times():
    row = _timed(ComparedPrecision("bf16", "agree", 1.0, 0.01), {"f32": [1.0, 2.0, 6.0], "bf16": [4.0, 1.0, 6.0]})
    assert (row.milliseconds, row.times) == (4000.0, 0.5)
