"""`quantize`: models in int8 give what Paddle gives, up to what 8 bits lose, measured in what a model is for."""

import json
import re
import sys
import time
from functools import cache
from types import SimpleNamespace

import cv2
import numpy as np
import openvino
import pytest
from openvino import opset16 as ops

import paddle2ov
from gen_models import all_ops
from gen_models.harness.store import generated
from paddle2ov import ConversionInputError, ConversionWarning, OpenVINORunError, workarounds
from paddle2ov.program.reading import read_program
from paddle2ov.program.settings import read_settings
from paddle2ov.quantization import ignored_scope, nncf_calls
from paddle2ov.quantization.agreement import Reference
from paddle2ov.quantization.calibration import CalibrationData
from paddle2ov.quantization.floating_nodes import first_convolutions, floating_nodes
from paddle2ov.quantization.nncf_calls import has_attention
from paddle2ov.quantization.quantize import _divided
from paddle2ov.quantization.results import MeasuredPrecision, Quantized
from paddle2ov.verification.measures import BOXES, LABELS, REGIONS, RESULTS, TEXT, measure_for
from tests.support.command_line import call
from tests.support.models import network
from tests.support.settings import with_settings

RECOGNISER = """
PreProcess:
  transform_ops:
  - DecodeImage: {channel_first: false, img_mode: BGR}
  - RecResizeImg: {image_shape: [3, 32, 100]}
PostProcess: {name: CTCLabelDecode}
"""


@cache
def quantized_with_its_data(name):
    folder = network(name)
    return paddle2ov.quantize(folder, folder / "inputs_0.npz")


def paddle_results(folder):
    with np.load(folder / "outputs_0.npz") as arrays:
        return [arrays[key] for key in arrays.files]


@pytest.mark.parametrize("name", ["csp_channels_last", "dense_denoiser", "grown_states"])
def test_a_network_in_integers(name):
    """With attention; where OpenVINO loses the results of a first attempt, and where it does not compile one."""
    folder, quantized = network(name), quantized_with_its_data(name)
    compiled = openvino.compile_model(quantized.model, "CPU")
    results = compiled(dict(np.load(folder / "inputs_0.npz")))
    assert RESULTS.agreement([results[port] for port in compiled.outputs], paddle_results(folder)) > 0.9
    assert [precision.name for precision in quantized.precisions][:: len(quantized.precisions) - 1] == ["f32", "int8"]
    assert quantized.layers
    assert all(layer.precision in ("i8", "u8") or layer.why_float for layer in quantized.layers)
    assert json.dumps(quantized.to_dict())


def convolutions(count):
    """A chain of them, each named by its place."""
    last = x = ops.parameter([1, 3, 4, 4], openvino.Type.f32)
    for i in range(count):
        weights = ops.constant(np.ones((3, 3, 1, 1), np.float32))
        last = ops.convolution(last, weights, [1, 1], [0, 0], [0, 0], [1, 1], name=str(i))
    return openvino.Model([last.output(0)], [x])


@pytest.mark.parametrize(("count", "floating"), [(9, []), (10, ["0"]), (39, ["0", "1", "2"]), (60, list("0123"))])
def test_the_first_convolutions_of_many(count, floating):
    assert first_convolutions(convolutions(count)) == floating


def test_the_first_convolution_stays_in_floating_point():
    layers = quantized_with_its_data("csp_channels_last").layers
    first, *others = (layer for layer in layers if layer.kind == "Convolution")
    assert first.precision not in ("i8", "u8")
    assert {layer.precision for layer in others} <= {"i8", "u8"}


def quantized_by_nncf(model, inputs):
    """As users call NNCF, which logs what it does."""
    with nncf_calls.nncf_output(False):
        data = nncf_calls.load_nncf().Dataset([inputs])
        quantized = nncf_calls.load_nncf().quantize(model, data, subset_size=1, ignored_scope=ignored_scope(model))
    workarounds.apply(quantized)
    return quantized


def readers_of_quantizers(model):
    """The types of the nodes that read activations of 8 bits."""
    quantizers = [node for node in model.get_ops() if node.get_type_name() == "FakeQuantize"]
    of_values = [node for node in quantizers if node.input_value(0).get_node().get_type_name() != "Convert"]
    return {
        target_input.get_node().get_type_name()
        for node in of_values
        for target_input in node.output(0).get_target_inputs()
    }


def boxes_agree(model, folder):
    compiled = openvino.compile_model(model, "CPU", {"LP_TRANSFORMS_MODE": "NO", "INFERENCE_PRECISION_HINT": "f32"})
    results = compiled(dict(np.load(folder / "inputs_0.npz")))
    return BOXES.agreement([results[port] for port in compiled.outputs], paddle_results(folder)) > 0.9


def test_boxes_are_chosen_in_floating_point():
    """Scores of 8 bits tie, and the negative infinity that marks what is out has no range."""
    folder = network("picodet")
    quantized = paddle2ov.quantize(folder, folder / "inputs_0.npz")
    quantizers = [node for node in quantized.model.get_ops() if node.get_type_name() == "FakeQuantize"]
    ranges = [value.get_node() for node in quantizers for value in node.input_values()[1:]]
    assert quantizers
    assert all(np.isfinite(limit.get_data()).all() for limit in ranges if limit.get_type_name() == "Constant")
    assert boxes_agree(quantized.model, folder)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", ["gfl", "ppyolo", "ppyoloe", "ssd", "ssd_in_pixels", "yolov3"])
def test_nncf_with_the_scope_keeps_boxes(name):
    folder = network(name)
    model = paddle2ov.convert(folder, share_weights=False)
    quantized = quantized_by_nncf(model, dict(np.load(folder / "inputs_0.npz")))
    assert "Convolution" in readers_of_quantizers(quantized)
    assert boxes_agree(quantized, folder)


def test_nncf_with_the_scope_takes_windowed_attention():
    """It raises KeyError where a table is gathered by constants that OpenVINO computes."""
    folder = network("swin_stage")
    inputs = dict(np.load(folder / "inputs_0.npz"))
    quantized = quantized_by_nncf(paddle2ov.convert(folder, share_weights=False), inputs)
    results = openvino.compile_model(quantized, "CPU", {"LP_TRANSFORMS_MODE": "NO"})(inputs)
    assert RESULTS.agreement(list(results.values()), paddle_results(folder)) > 0.9


def test_the_scope_of_a_saved_model(tmp_path):
    model = paddle2ov.convert(network("ssd"))
    openvino.save_model(model, tmp_path / "ssd.xml")
    read = openvino.Core().read_model(tmp_path / "ssd.xml")
    assert {name for name in ignored_scope(model).names if "Constant" not in name} <= set(ignored_scope(read).names)


def test_functions_by_power_series_stay_in_floating_point():
    """Between layers: a SoftPlus, and an Erf that is no Gelu."""
    weights = np.random.default_rng(0).standard_normal((8, 8, 3, 3)).astype(np.float32)
    last = x = ops.parameter([1, 8, 9, 9], openvino.Type.f32, name="x")
    for function in (ops.relu, ops.softplus, lambda node: ops.multiply(node, ops.erf(node)), ops.relu):
        last = function(ops.convolution(last, weights, [1, 1], [1, 1], [1, 1], [1, 1]))
    model = openvino.Model([last.output(0)], [x])
    assert workarounds.apply(model)["functions.small_values"] == {"sites": 2}
    assert readers_of_quantizers(
        quantized_by_nncf(model, weights[:1, :, :1, :1] + np.zeros((1, 8, 9, 9), np.float32))
    ) == {"Convolution"}


def test_a_selection_between_layers_stays_in_floating_point():
    """What leads from one layer to it, and from it to the next; not what stands beside it."""
    x, y = (ops.parameter([1, 9], openvino.Type.f32, name=name) for name in "xy")
    weights = np.ones((9, 9), np.float32)
    scores = ops.multiply(ops.matmul(x, weights, False, False), np.float32(2), name="scores")
    chosen = ops.topk(scores, np.int64(9), 1, "max", "value", name="chosen")
    shifted = ops.add(chosen.output(0), np.float32(1), name="shifted")
    beside = ops.multiply(ops.matmul(y, weights, False, False), np.float32(2), name="beside")
    read = [ops.matmul(value, weights, False, False) for value in (shifted, beside)]
    last = ops.concat(read, 1, name="last")
    floating = floating_nodes(openvino.Model([last.output(0)], [x, y]))
    assert set(floating) == {"scores", "chosen", "shifted", "last"}


def test_a_classifier_of_attention_is_a_transformer():
    """Whichever Softmax comes first, that of the scores or that of the last layer."""
    x = ops.parameter([2, 3, 4], openvino.Type.f32)
    weights = np.ones((4, 5), np.float32)
    scores = ops.softmax(ops.add(ops.matmul(x, x, False, True), np.float32(1)), -1)
    heads = [
        ops.softmax(ops.matmul(value, weights, False, False), -1) for value in (ops.matmul(scores, x, False, False), x)
    ]
    assert has_attention(openvino.Model([head.output(0) for head in heads], [x]))
    assert not has_attention(openvino.Model([heads[1].output(0)], [x]))


def test_small_numbers_that_are_normalized():
    """OpenVINO moves scales through an MVN, unless the conversion has put them into its epsilon."""
    assert quantized_with_its_data("averaged").precisions[-1].agreement > 0.99


def test_what_openvino_computes_wrong_is_refused(monkeypatch):
    monkeypatch.setattr(nncf_calls, "_MAX_LOST", -1.0)  # nothing is near enough
    folder = network("averaged")
    with pytest.raises(OpenVINORunError, match="does not compute the quantized model right"):
        paddle2ov.quantize(folder, folder / "inputs_0.npz")


def test_weights_alone():
    folder = network("csp_channels_last")
    quantized = paddle2ov.quantize(folder, dict(np.load(folder / "inputs_0.npz")), weights="int8")
    assert quantized.precisions[-1].name == "int8 weights"
    assert quantized.precisions[-1].agreement > 0.9


BF16, NO_KERNELS = [("bf16", 0.99, 5.0)], {"has_integer_kernels": False}
NONE, LOST = "this processor has no .*: take f32, and int8 on one that has them", "int8 loses 100.00% .*: take f32"
ADVICE = [
    (BF16, "int8", 0.95, 4.0, {}, "int8 is 2.5 times as fast as float32 here, for 5.00% less agreement with it.*"),
    (BF16, "int8", 0.95, 5.2, {}, "bf16 is as fast as int8 here, and nearer to float32: take bf16"),
    (BF16, "int8", 0.95, 12.0, {}, r"int8 is slower than bf16 here \(12 ms beside 5\), as in small models: take bf16"),
    ([], "int8", 0.95, 12.0, NO_KERNELS, NONE),
    ([], "int8", 0.95, 4.0, NO_KERNELS, rf"{NONE}\. The time of int8 does not count: .*"),
    ([], "int8", 0.0, 2.0, {"calibrated_with": 300}, LOST),
    ([], "int8", 0.0, 2.0, {"calibrated_with": 300, **NO_KERNELS}, LOST),
    ([], "int8", 0.0, 2.0, {"calibrated_with": 1, **NO_KERNELS}, rf"{LOST}\. Calibrate with some hundred items"),
    (
        [],
        "int8",
        1.0,
        9.0,
        {"max_drop": 0.01, **NO_KERNELS},
        "every layer went .*, as more than 0.01 is lost: take f32",
    ),
    ([], "int4 weights", 0.95, 12.0, NO_KERNELS, "a model with int4 weights is slower than f32 here.*"),
]


@pytest.mark.parametrize(("others", "name", "agreement", "milliseconds", "options", "advice"), ADVICE)
def test_advice(others, name, agreement, milliseconds, options, advice):
    """On a model that has no layer in int8, which matters where a loss is bounded."""
    quantized = Quantized(convolutions(1), "labels", "labels", **options)
    rows = [("f32", 1.0, 10.0), *others, (name, agreement, milliseconds)]
    quantized.precisions = [MeasuredPrecision(*row) for row in rows]
    assert re.fullmatch(advice, quantized.advice)


def test_a_model_that_is_quantized_already():
    folder = network("quantized_tensors")
    result = paddle2ov.quantize(folder, folder / "inputs_0.npz")
    assert result.was_quantized
    assert result.advice.startswith("the model is quantized already, and runs in int8 as `paddle2ov convert` makes it")


@pytest.mark.parametrize(("max_drop", "status"), [(None, 0), (0.1, 0), (1e-6, 1)])
def test_more_is_lost_than_may_be(tmp_path, monkeypatch, max_drop, status):
    def quantize(*_, **options):
        quantized = Quantized(convolutions(1), "labels", "labels", options["max_drop"])
        quantized.precisions = [MeasuredPrecision("f32", 1.0, 10.0), MeasuredPrecision("int8", 0.95, 5.0)]
        return quantized

    monkeypatch.setattr("paddle2ov.quantization.quantize.quantize", quantize)
    arguments = ["quantize", network("crnn"), "--data", tmp_path, "-o", tmp_path / "out"]
    arguments += ["--max-drop", max_drop] if max_drop else []
    result = call(*arguments)
    assert (result.exit_code, (tmp_path / "out.xml").is_file()) == (status, True)
    said = "More agreement is lost than --max-drop 1e-06 allows: 0.05"
    assert (said in result.stderr) is bool(status)
    result = call(*arguments, "--json")
    assert (result.exit_code, json.loads(result.stdout)["loses_too_much"]) == (status, bool(status))


def test_a_target_that_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr("paddle2ov.quantization.quantize.quantize", None)  # is not reached
    (tmp_path / "file").write_text("")
    (tmp_path / "out.bin").mkdir()
    for target in (tmp_path / "file" / "out.xml", tmp_path / "out.xml"):
        result = call("quantize", network("crnn"), "--data", tmp_path, "-o", target)
        assert result.exit_code == 2
        assert "cannot be written" in result.output


@pytest.fixture
def recogniser(tmp_path):
    folder = with_settings(network("crnn"), tmp_path / "model", RECOGNISER)
    pictures = tmp_path / "lines"
    pictures.mkdir()
    for i in range(6):
        line = cv2.putText(np.full((40, 120, 3), 255, np.uint8), f"line {i}", (5, 28), 0, 1, (0, 0, 0), 2)
        cv2.imwrite(str(pictures / f"{i}.png"), line)
    return folder, pictures


def test_a_recogniser_from_the_command_line(recogniser, tmp_path, monkeypatch):
    """Each picture is decoded once; one that cannot be read is left out; what it may cost is said before."""
    folder, pictures = recogniser
    (pictures / "broken.png").write_bytes(b"no picture")
    decoded, decode = [], cv2.imdecode
    monkeypatch.setattr(cv2, "imdecode", lambda *given: decoded.append(1) or decode(*given))
    arguments = ["quantize", folder, "--data", pictures, "--subset-size", "3", "--max-drop", "0.5"]
    with pytest.warns(ConversionWarning, match=r"data: 1 of 7 cannot be read: .*/broken.png; left out"):
        result = call(*arguments, "-o", tmp_path / "int8.xml")
    assert result.exit_code == 0, result.output
    assert len(decoded) == 7
    assert re.search(r"If more than 0.5 is lost, \d+ layers are tried one by one on \d items\. Further", result.stderr)
    assert "warning: 3 items are too few to calibrate with" in result.stderr
    assert TEXT.meaning in result.stdout
    assert float(re.search(r"^int8 +(.*)%", result.stdout, re.MULTILINE)[1]) >= 50
    kinds = [node.get_type_name() for node in openvino.Core().read_model(tmp_path / "int8.xml").get_ops()]
    assert "FakeQuantize" in kinds


def test_no_picture_that_can_be_read(recogniser, tmp_path):
    (tmp_path / "broken.png").write_bytes(b"no picture")
    with pytest.raises(
        ConversionInputError, match=r"1 of 1 cannot be read: .*; nothing is left: pictures: .* is not a pict"
    ):
        paddle2ov.quantize(recogniser[0], tmp_path / "broken.png")


def test_a_log_shows_that_it_goes_on(monkeypatch, capsys):
    monkeypatch.setattr(nncf_calls, "_SECONDS_BETWEEN_LINES", 0)
    monkeypatch.setattr(time, "perf_counter", iter([0, 100, 102, 112, 113, 114]).__next__)
    same = SimpleNamespace(agreement=lambda compiled, item: 1.0)
    quantizer = nncf_calls.Quantizer(None, [], same, None, 0.1, layers=20)
    for _ in range(5):
        assert quantizer._validate(None, [0]) == (1.0, [1.0])
    # One model was slow: the rest is told by the mean of all, without the calibration before.
    assert capsys.readouterr().err.splitlines() == [
        "models measured: 1 in 0 s",
        "models measured: 2 in 2 s; the rest of 20 layers takes about 40 s",
        "models measured: 3 in 12 s; the rest of 20 layers takes about 2 min",
        "models measured: 4 in 13 s; the rest of 20 layers takes about 70 s",
        "models measured: 5 in 14 s; the rest of 20 layers takes about 50 s",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": "nothing"}, "nothing is neither a file nor a folder"),
        ({"data": []}, "there is neither a picture nor an .npz file"),
        ({"data": [3]}, "a path or arrays by name are expected, not int"),
        ({"data": None}, "paths or arrays by name are expected, not NoneType"),
        ({"data": {"y": np.zeros(3)}}, "'x' is missing"),
        ({"data": {3: np.zeros(3)}}, "'x' is missing; the program's inputs are x, given are 3"),
        ({"data": {"x": np.full((1, 3, 32, 64), np.nan, np.float32)}}, "data: item 0 has NaN in 'x'"),
        ({"subset_size": "3"}, "subset_size: '3'"),
        ({"device": "GPU"}, "device: the data runs on the CPU"),
        ({"subset_size": 0}, "subset_size: 0"),
        ({"max_drop": 1.0}, "max_drop: 1.0"),
        ({"max_drop": 0.1}, "max_drop: one item does not show how much is lost"),
        ({"weights": "int2"}, "weights: 'int2'"),
        ({"weights": "int8", "max_drop": 0.1}, "goes with the quantization of activations"),
    ],
    ids=str,
)
def test_arguments_that_do_not_fit(options, message):
    with pytest.raises(ConversionInputError, match=message):
        paddle2ov.quantize(network("crnn"), **{"data": {"x": np.zeros((1, 3, 32, 64), np.float32)}, **options})


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [
        ({"y": np.zeros(3, np.float32)}, "inputs: 'x' is missing"),
        ({"x": np.zeros((1, 3, 32), np.float32)}, r"inputs: 'x' has shape \[1, 3, 32\]"),
        ({"x": np.zeros((1, 4, 32, 64), np.float32)}, r"inputs: 'x' has shape \[1, 4, 32, 64\]"),
    ],
    ids=["name", "rank", "size"],
)
def test_the_file_whose_arrays_do_not_fit_is_named(tmp_path, arrays, reason):
    np.savez(tmp_path / "0.npz", x=np.zeros((1, 3, 32, 64), np.float32))
    np.savez(tmp_path / "1.npz", **arrays)
    with pytest.raises(ConversionInputError, match=f"data: {tmp_path / '1.npz'}: {reason}"):
        paddle2ov.quantize(network("crnn"), tmp_path)
    with pytest.raises(ConversionInputError, match=f"data: item 1: {reason}"):
        paddle2ov.quantize(network("crnn"), [{"x": np.zeros((1, 3, 32, 64), np.float32)}, arrays])


def test_an_array_without_a_name(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((1, 3, 32, 64), np.float32))
    for data, what in ((tmp_path / "x.npy", "x.npy is an array without a name"), (tmp_path, f"file in {tmp_path}")):
        with pytest.raises(
            ConversionInputError, match=rf"{what}; numpy\.savez\(file, NAME=array\) makes an \.npz file"
        ):
            paddle2ov.quantize(network("crnn"), data)


ONES = np.ones((1, 3, 32, 64), np.float32)


def test_one_item_without_a_range_is_named():
    """One of many spoils the ranges, which OpenVINO then does not compile."""
    with pytest.raises(OpenVINORunError, match="cannot be quantized: item 1 has infinite numbers in 'x'"):
        paddle2ov.quantize(network("crnn"), [{"x": ONES}, {"x": ONES * np.float32(np.inf)}])


def test_an_item_without_elements_is_named():
    folder = network("crnn")
    items = CalibrationData(
        read_program(folder), folder, paddle2ov.convert(folder), [{"x": ONES}, {"x": ONES[:0]}, {"x": ONES}]
    )
    assert items.unusual([0, 1, 2]) == "item 1 has no elements in 'x'"
    assert items.unusual([0, 2]) == ""


def test_without_nncf(monkeypatch):
    monkeypatch.setitem(sys.modules, "nncf", None)
    with pytest.raises(ConversionInputError, match=r"pip install '.\[quantize\]'"):
        paddle2ov.quantize(network("crnn"), {"x": np.zeros((1, 3, 32, 64), np.float32)})


def test_what_is_calibrated_with_is_not_measured_with():
    assert _divided(4, 300) == ([0, 1, 2, 3], [0, 1, 2, 3])
    used, others = _divided(10, 4)
    assert used == [0, 2, 5, 7]
    assert others == [1, 3, 4, 6, 8, 9]
    used, others = _divided(100, 300)
    assert (len(used), len(others)) == (80, 20)
    assert sorted(used + others) == list(range(100))


def test_what_is_measured_with_lies_evenly_among_the_others():
    used, others = _divided(899, 300)
    assert (len(used), len(others), set(used) & set(others)) == (300, 300, set())
    assert np.diff(others).max() <= 4
    assert others[-1] > 890


def test_too_few_items_are_said_to_be():
    quantized = quantized_with_its_data("averaged")
    assert quantized.is_measured_on_calibration
    assert not quantized.was_quantized
    assert quantized.to_dict()["is_measured_on_calibration"]


def test_precisions_are_timed_in_turn():
    order = []

    class Items:
        def inputs(self, index):
            return index

    def compiled(name):
        class Compiled:
            outputs = ()

            def __call__(self, inputs):
                order.append((name, inputs))
                return {}

        return Compiled()

    reference = Reference.__new__(Reference)
    reference._items, reference._results, reference.measure = Items(), {4: [], 7: []}, RESULTS
    reference.agreement = lambda compiled, item: 0.5
    precisions = reference.measured({"f32": compiled("f32"), "int8": compiled("int8")})
    assert order[:4] == [("f32", 4), ("int8", 4), ("f32", 7), ("int8", 7)]
    assert [(item.name, item.agreement) for item in precisions] == [("f32", 0.5), ("int8", 0.5)]


def one_hot(*characters):
    return np.eye(6, dtype=np.float32)[None, list(characters)]


BOX = [[1, 0.9, 0, 0, 10, 10]]
AGREEMENT = {
    "the same class": (LABELS, [[0.1, 0.9], [0.8, 0.2]], [[0.4, 0.6], [0.1, 0.9]], 0.5),
    "text, repeats and blanks apart": (TEXT, one_hot(1, 1, 0, 1, 2), one_hot(0, 1, 0, 1, 2), 1.0),
    "one character of three": (TEXT, one_hot(1, 2, 4), one_hot(1, 2, 3), 2 / 3),
    "a character more": (TEXT, one_hot(1, 2, 3), one_hot(1, 0, 3), 0.5),
    "half of the pixels": (REGIONS, [[[[0.9, 0.9, 0.1]]]], [[[[0.9, 0.1, 0.1]]]], 0.5),
    "a box that moved": (BOXES, [[1, 0.8, 1, 0, 11, 10]], BOX, 1.0),
    "a box of another class": (BOXES, [[2, 0.9, 0, 0, 10, 10]], BOX, 0.0),
    "a box more": (BOXES, [*BOX, [1, 0.5, 50, 50, 60, 60]], BOX, 2 / 3),
    "no box": (BOXES, np.zeros((0, 6)), BOX, 0.0),
    "an error of a tenth": (RESULTS, [1.1, -1.1], [1.0, -1.0], 0.9),
    "not a number": (RESULTS, [np.nan, 1.0], [1.0, 1.0], 0.0),
}


@pytest.mark.parametrize("name", AGREEMENT)
def test_agreement(name):
    measure, computed, wanted, agreement = AGREEMENT[name]
    computed, wanted = np.asarray(computed, np.float32), np.asarray(wanted, np.float32)
    assert measure.agreement([computed], [wanted]) == pytest.approx(agreement, abs=1e-5)
    assert measure.agreement([wanted], [wanted]) == 1.0


@pytest.mark.parametrize(
    ("text", "shape", "measure"),
    [
        ("PostProcess: {Topk: {topk: 5}}", (1, 10), LABELS),
        ("PostProcess: {name: CTCLabelDecode}", (1, 20, 97), TEXT),
        ("PostProcess: {name: DBPostProcess, thresh: 0.3}", (1, 1, 32, 32), REGIONS),
        ("PostProcess: {name: 3}", (1, 10), RESULTS),
        ("PostProcess: {name: CTCLabelDecode}", (1, 10), RESULTS),
        ("{}", (1, 6), BOXES),
    ],
)
def test_the_measure_is_that_of_the_settings(text, shape, measure, tmp_path):
    path = tmp_path / "inference.yml"
    path.write_text(text)
    assert measure_for(read_settings(path), [np.zeros(shape, np.float32)]) is measure


@pytest.mark.parametrize(("kernels", "largest"), [(True, 127), (False, 64)])
def test_weights_have_seven_bits_where_products_saturate(kernels, largest, monkeypatch):
    monkeypatch.setattr(nncf_calls, "has_integer_kernels", lambda: kernels)
    # Whether the products saturate is up to this processor.
    monkeypatch.setattr(nncf_calls, "_check_low_precision", lambda *_: None)
    folder = network("csp_channels_last")
    quantized = paddle2ov.quantize(folder, folder / "inputs_0.npz")
    weights = [node for node in quantized.model.get_ops() if node.get_output_element_type(0) == openvino.Type.i8]
    assert max(abs(node.get_data().astype(int)).max() for node in weights) == largest


@pytest.mark.parametrize("number", [1, 16, 30])
def test_recurrent_layers_stay_in_floating_point(number):
    """On some processors OpenVINO computes garbage of recurrent layers in int8."""
    op = all_ops()["rnn"]
    folder = generated(op, next(case for case in op.cases if case.name == f"rnn_test_{number}"), "pir")
    model = paddle2ov.convert(folder, share_weights=False)

    def read_by_layers():
        layers = [node for node in model.get_ops() if node.get_type_name() in nncf_calls.RECURRENT]
        return [value.get_node().get_type_name() for node in layers for value in node.input_values()]

    before = read_by_layers()
    assert before
    model = quantized_by_nncf(model, dict(np.load(folder / "inputs.npz")))
    assert read_by_layers() == before
