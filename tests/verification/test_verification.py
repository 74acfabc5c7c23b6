"""`verify`: good models pass, a wrong operator is found exactly, and what goes wrong is said."""

import json
import os
import re
import shlex
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import openvino
import paddle
import pytest
from msgspec import structs
from openvino import opset16 as ops

import paddle2ov
from paddle2ov.commands.convert import convert_command
from paddle2ov.comparison.deadline import Deadline, TimeUpError
from paddle2ov.comparison.differences import Expected, compare_tensor
from paddle2ov.comparison.paddle_process import PaddleProcess
from paddle2ov.compilation.running import Result
from paddle2ov.inputs.given_arrays import given_inputs
from paddle2ov.inputs.random_inputs import RandomInputs
from paddle2ov.op_table import OP_TABLE
from paddle2ov.program.files import find_model
from paddle2ov.program.model import Block, Program, Variable
from paddle2ov.program.reading import read_program
from paddle2ov.program.settings import read_settings
from paddle2ov.verification import faults
from paddle2ov.verification.cutting import extract
from paddle2ov.verification.localisation import Localiser
from paddle2ov.verification.paddle_values import RANDOM
from paddle2ov.verification.results import Run
from paddle2ov.verification.values import Values
from paddle2ov.verification.where import Where
from tests.support.command_line import call, python
from tests.support.formats import FORMATS, NEEDS_PADDLE_2
from tests.support.models import edited, files_of, network, operator, save_layer, save_program
from tests.support.processor import NEEDS_BFLOAT16, takes_bfloat16


def wrong_relu(after=3):
    """Adds 1e-2 from the fourth relu of the program on, in whichever order and how often they are converted."""
    order = []

    def relu(node):
        place = node.place.index
        if place not in order:
            order.append(place)
        result = ops.relu(node.get_input("x"))
        return {"out": result if order.index(place) < after else ops.add(result, np.float32(1e-2))}

    return {"relu": relu}


@pytest.mark.parametrize("format", FORMATS)
def test_a_good_model_passes(format):
    report = paddle2ov.verify(network("crnn", format), operators=True, shapes=["x[1,3,32,64]", "x[2,3,32,40]"])
    assert report.ok
    assert report.culprit is None
    assert report.format == format
    assert [run.inputs["x"] for run in report.runs] == [(1, 3, 32, 64), (2, 3, 32, 40)]
    assert all(output.relative < 1e-5 for run in report.runs for output in run.outputs)
    assert all(operator.outputs and operator.error < 1e-5 for operator in report.operators)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("format", FORMATS)
def test_the_operator_at_fault_is_found(format, tmp_path):
    folder = network("squeezenet1_1", format)
    report = paddle2ov.verify(folder, shapes="x[1,3,64,64]", extension=wrong_relu(), case=tmp_path / "case")
    fourth = [operator for operator in read_program(folder).block.operators if operator.type == "relu"][3]
    assert not report.ok
    assert report.culprit is not None
    assert (report.culprit.type, report.culprit.index) == ("relu", fourth.index)
    assert not report.culprit.amplifies
    (only,) = report.culprit.isolated
    assert only.absolute == pytest.approx(1e-2, rel=1e-3)
    assert only.name == fourth.outputs["out"][0]
    before = [operator for operator in report.operators if operator.index < fourth.index]
    assert all(tensor.ok for item in before for tensor in item.outputs)
    # The case stands alone: Paddle's inputs, both results, and the operator as IR.
    record = json.loads((tmp_path / "case" / "case.json").read_text())
    assert record["operator"] == "relu"
    inputs, outputs, ours = (np.load(tmp_path / "case" / f"{name}.npz") for name in ("inputs", "outputs", "openvino"))
    x = inputs[fourth.inputs["x"][0]]
    np.testing.assert_array_equal(outputs[only.name], np.maximum(x, 0))
    compiled = openvino.compile_model(tmp_path / "case" / "model.xml", "CPU")
    np.testing.assert_allclose(compiled([x])[0], ours[only.name], atol=1e-6)
    # It is a Paddle model too, which verifies alike.
    again = {"inputs": tmp_path / "case" / "inputs.npz"}
    assert paddle2ov.verify(tmp_path / "case", **again).ok
    assert not paddle2ov.verify(tmp_path / "case", extension=wrong_relu(after=0), **again).ok


@pytest.mark.parametrize("format", FORMATS)
def test_an_operator_stands_alone_with_its_weights_and_constants(format, tmp_path):
    folder = network("crnn", format)
    files, program = find_model(folder), read_program(folder)
    inputs = {"x": np.linspace(-1, 1, 3 * 32 * 40, dtype=np.float32).reshape(1, 3, 32, 40)}
    with PaddleProcess(format) as paddle:
        values = Values(program, paddle.load(files), inputs)
        localiser = Localiser(values, 1e-4)
        for kind in ("conv2d", "reshape2", "rnn"):
            operator = next(operator for operator in program.block.operators if operator.type == kind)
            alone = localiser.isolate(operator)
            target = tmp_path / kind
            target.mkdir()
            part = extract(target, values, operator, alone.inputs.keys(), list(alone.expected))
            with paddle.load(part) as other:
                results = other.run({name: input_.array for name, input_ in alone.inputs.items()})
            for result, expected in zip(results, alone.expected.values(), strict=True):
                np.testing.assert_array_equal(result.array, expected.array)


def test_an_operator_without_known_results_counts_as_unknown(monkeypatch):
    folder = network("crnn", "pir")
    files, program = find_model(folder), read_program(folder)
    hidden = next(operator for operator in program.block.operators if operator.type == "relu")
    names = set(hidden.output_names())
    inputs = {"x": np.linspace(-1, 1, 3 * 32 * 40, dtype=np.float32).reshape(1, 3, 32, 40)}
    with PaddleProcess("pir") as paddle:
        values = Values(program, paddle.load(files), inputs)
        of_paddle = values.of_paddle
        monkeypatch.setattr(values, "of_paddle", lambda asked: of_paddle([name for name in asked if name not in names]))
        location = Localiser(values, 1e-4).run()
    assert location.unknown == 1
    assert [item.operator.index for item in location.operators if item.isolated is None] == [hidden.index]


def test_all_operators_that_draw_are_suspected_last():
    families = {"paddle2ov.converters.random.distributions", "paddle2ov.converters.random.variates"}
    assert {key for key, convert in OP_TABLE.items() if convert.__module__ in families} == RANDOM


def off_by_a_hundredth(kind):
    """The converter of an operator, with 0.01 added to floats."""

    def convert(node):
        outputs = OP_TABLE[kind](node)
        is_real = node.get_input("x").get_element_type().is_real()
        return {**outputs, "out": ops.add(outputs["out"], np.float32(1e-2))} if is_real else outputs

    return {kind: convert}


STEPS = {"x": np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4), "n": np.array([3])}
IN_BODIES = {
    "nested": ("elementwise_sub", STEPS, [r"block 0, operator \d+ \(while\).*, iteration 2", r"block 1, .* \(if\).*"]),
    # which carries a tensor array
    "greedy_decoder": ("sigmoid", {"state": STEPS["x"].reshape(1, 8)}, [r"block 0, .* \(while\).*, iteration 1"]),
    # of which nothing leaves the loop but a tensor array
    "array": (
        "scale",
        {"x": np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)},
        [r"block 0, operator \d+ \(while\).*, iteration 1"],
    ),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", IN_BODIES)
def test_the_operator_at_fault_is_found_in_a_body(format, name, tmp_path):
    """In a branch in a loop: the first round that differs is the second one, where the branch is taken."""
    kind, inputs, within = IN_BODIES[name]
    folder = network(name, format)
    report = paddle2ov.verify(folder, inputs=inputs, extension=off_by_a_hundredth(kind), case=tmp_path)
    assert report.verdict == "differ"
    place = next(child.place for child in read_program(folder).block.walk() if child.type == kind)
    assert (report.culprit.type, report.culprit.block, report.culprit.index) == (kind, place.block, place.index)
    assert len(report.culprit.within) == len(within)
    for text, pattern in zip(report.culprit.within, within, strict=True):
        assert re.fullmatch(pattern, text)
    (only,) = report.culprit.isolated
    assert only.absolute == pytest.approx(1e-2, rel=1e-3)
    if (name, format) == ("nested", "pir"):  # its case is the operator alone, taken out of the body
        again = {"inputs": tmp_path / "inputs.npz"}
        assert paddle2ov.verify(tmp_path, **again).ok
        assert not paddle2ov.verify(tmp_path, extension=off_by_a_hundredth(kind), **again).ok


@pytest.mark.parametrize("format", FORMATS)
def test_what_enters_a_loop_is_fetched_as_it_entered(format):
    """Paddle's loops overwrite their condition; operators run in the order of the program, also what copies a value."""
    folder = network("array", format)
    program = read_program(folder)
    (loop,) = (operator for operator in program.block.operators if operator.type == "while")
    (condition,) = loop.inputs["cond"]
    with PaddleProcess(format) as paddle:
        values = Values(program, paddle.load(find_model(folder)), {"x": np.zeros((3, 4), np.float32)})
        fetched = values.of_paddle([condition])
    assert fetched[condition].array.tolist() == [True]


def part_that_is_overwritten(folder):
    def build(x):
        first, second = paddle.split(x, 2, axis=1)
        return paddle._C_ops.relu_(first) - second

    return save_program(folder, build, x=[2, 4])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("format", FORMATS)
def test_values_that_are_overwritten_or_in_lists(format, tmp_path):
    folders = {network(name, format): STEPS for name in ("growing", "nested")} | {operator("unbind", format): None}
    if format == "pir":
        folders[part_that_is_overwritten(tmp_path)] = {"x": STEPS["x"]}
    for folder, inputs in folders.items():
        report = paddle2ov.verify(folder, inputs=inputs, operators=True)
        assert report.ok, report.to_dict()


def test_command(tmp_path):
    folder = network("squeezenet1_1")
    np.savez(tmp_path / "x.npz", x=np.ones((2, 3, 64, 64), np.float32))
    result = call("verify", folder, "--inputs", tmp_path / "x.npz")
    assert result.exit_code == 0, result.output
    assert "OpenVINO computes in f32, Paddle in f32; tolerance 0.0001\nx [2, 3, 64, 64]" in result.stdout
    assert result.stdout.endswith("The results agree with Paddle's.\n")
    result = call("verify", folder, "--input", "x[1,3,64,64]", "--json")
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert report["ok"] is True
    assert report["runs"][0]["inputs"] == {"x": [1, 3, 64, 64]}
    assert (report["precision"], report["tolerance"]) == ("f32", 1e-4)


def test_a_shape_that_differs_is_no_rounding(tmp_path):
    folder = save_layer(tmp_path, paddle.squeeze, x=[-1, -1, 8])
    result = call("verify", folder, "--input", "x[1,4,8]", "--timeout", "0")
    assert result.exit_code == 1
    assert "differs: shape [1, 4, 8] in OpenVINO, [4, 8] in Paddle" in result.output
    assert not re.search("float64|rounding|inf ", result.output.replace("inference", ""))
    assert "The conversion warned of it: 'squeeze2': Paddle drops dimension 0" in result.output
    assert f"`paddle2ov convert {folder / 'inference.json'} --input 'x[1,4,8]' --verify`" in result.output


@NEEDS_BFLOAT16
@pytest.mark.parametrize("precision", ["BF16", "default"])
def test_bfloat16(precision):
    folder = network("squeezenet1_1")
    report = paddle2ov.verify(folder, shapes="x[1,3,64,64]", precision=precision)
    assert (report.precision, report.tolerance, report.ok) == ("bf16", 0.05, True)
    result = call("verify", folder, "--input", "x[1,3,64,64]", "--precision", precision, "--tolerance", "1e-6")
    assert result.exit_code == 1, result.output
    assert "OpenVINO computes in bf16, Paddle in f32; tolerance 1e-06\n" in result.stdout
    assert "compare in f32 to tell it from errors\n" in result.stdout


def test_bfloat16_is_not_here():
    if takes_bfloat16():
        pytest.skip("this processor computes in bfloat16, or converts to it")
    with pytest.raises(paddle2ov.ConversionInputError, match=r"this CPU has no hardware for bf16, .*: use f32"):
        paddle2ov.verify(network("squeezenet1_1"), precision="bf16")


def test_command_with_a_wrong_converter(tmp_path, own_converters):
    converters = "[{'relu': lambda node: {'out': ops.tanh(node.get_input('x'))}}]"
    (tmp_path / "own.py").write_text(f"from openvino import opset16 as ops\nCONVERTERS = {converters}")
    folder = network("squeezenet1_1")
    options = ["--input", "x[1,3,64,64]", "--extension", tmp_path / "own.py", "--case", tmp_path / "case"]
    result = call("verify", folder, *options)
    assert result.exit_code == 1, result.output
    assert "First to differ although its inputs agree\n  block 0, operator" in result.stdout
    assert "(relu)" in result.stdout
    assert (tmp_path / "case" / "inputs.npz").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "y[1]"], "no input 'y'; its inputs are x"),
        (["--input", "x[1,2]"], "'x' has 4 dimensions"),
        (["--paddle-python", "/nowhere/python"], "the interpreter /nowhere/python cannot be started: No such file"),
        (["--paddle-python", "nowhere"], "there is no such command in PATH (a file of this folder is ./nowhere)"),
    ],
)
def test_what_cannot_be_verified(arguments, message):
    result = call("verify", network("squeezenet1_1"), *arguments)
    assert result.exit_code == 2, result.output
    assert message in result.stderr


def test_lengths_of_a_model_without_sequences(tmp_path, caplog):
    """They are asked for in vain, which every command that takes the option says, once."""
    folder, target = operator("relu"), tmp_path / "x.xml"
    said = "sequence_lengths (--sequence-lengths) has no effect: no input or result is declared with sequences (LoD)"
    for command in (("verify", folder), ("convert", folder, "-o", target), (folder, "-o", target, "--verify")):
        assert call(*command, "--sequence-lengths").exit_code == 0
        assert caplog.messages == [said]
        caplog.clear()
    done = python("-m", "paddle2ov", folder, "-o", target, "--sequence-lengths")
    assert done.stderr == f"warning: {said}\n"


@pytest.mark.parametrize("lengths", [{}, {"x.lengths": (2,)}])
def test_the_command_that_is_advised_has_the_options_given(monkeypatch, tmp_path, lengths):
    """It parses, and leaves out what is no input of the program. A live model has no command."""
    program = read_program(operator("relu"))
    named = structs.replace(program, outputs=[structs.replace(program.outputs[0], name="a box's scores")])
    monkeypatch.setattr(faults, "translated", lambda program, extension: None)
    subject = SimpleNamespace(program=program, whole=program, extension=None, where=Where())
    run = Run({"x": (2, 3), **lengths})
    for chosen in (
        subject,
        SimpleNamespace(**{**vars(subject), "program": named, "where": Where("GPU.1")}),
    ):
        (path := tmp_path / "a model.json").touch()
        text = faults._differs_in_shape(chosen, run, "at x", path)
        command = re.search("`paddle2ov convert (.*)` does", text)[1]
        options = convert_command.make_context("convert", shlex.split(command)).params
        assert (options["model"], options["input"], options["compare"]) == (path, "x[2,3]", True)
        assert options["sequence_lengths"] == bool(lengths)
        assert options["device"] == ("GPU" if chosen is not subject else None)
        assert options["output"] == ("a box's scores" if chosen is not subject else None)
    assert "with input={'x': [2, 3]}" in faults._differs_in_shape(subject, run, "at x", tmp_path)


def test_shapes_that_paddle_refuses():
    """The advice is not the shapes that it refused, and Paddle's reason is printed once."""
    folder = network("squeezenet1_1")
    result = call("verify", folder, "--input", "x[1,7,64,64]")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("number of input's channels should be equal") == 1
    assert (
        "\nThe program declares x[?,3,64,64]. Leave out --input for sizes that fit it.\n"
        "Or give arrays with --inputs inputs.npz, made by\n"
    ) in result.stderr
    assert "--input 'x[" not in result.stderr
    result = call("verify", folder, "--input", "x[1,7,64,64]", "--input", "x[1,3,64,64]")
    assert result.exit_code == 0, result.output
    _, _, first, refused, second, *_ = result.stdout.splitlines()
    assert (first, second) == ("x [1, 7, 64, 64]", "x [1, 3, 64, 64]")
    assert refused.startswith("  not compared: Paddle: ")


def test_shapes_that_the_program_does_not_declare():
    """Paddle computes them all the same; no operator is at fault, and the advice converts for them."""
    folder = network("squeezenet1_1")
    result = call("verify", folder, "--input", "x[1,3,96,64]")
    assert result.exit_code == 1, result.output
    assert "The program declares 'x' as [-1, 3, 64, 64], and its model takes no other sizes: give such" in result.stdout
    assert f"`paddle2ov convert {folder / 'inference.json'} --input 'x[1,3,96,64]' --verify` does" in result.stdout
    report = paddle2ov.verify(folder, shapes="x[1,3,96,64]", converted=paddle2ov.convert(folder, input="x[1,3,96,64]"))
    assert (report.verdict, report.note) == ("agree", "")


@pytest.mark.skipif(os.name == "nt", reason="the stand-ins for Paddle's interpreter are shell scripts")
@pytest.mark.parametrize(
    ("script", "message"),
    [
        # -I -S: no site-packages; NumPy goes with Paddle, so its folder is not there either.
        (
            f'exec {sys.executable} -I -S "$@"',
            r"(?s)(?=.*--paddle-python).*pip install paddlepaddle==[\d.]+\).*paddle_python=",
        ),
        ("echo it was like this >&2\nkill -SEGV $$", "ended by SIGSEGV; it said last:\n  it was like this"),
        ("echo hello", "talking is not a Python interpreter: it says 'hello"),
    ],
    ids=["without Paddle", "dying", "talking"],
)
def test_paddle_is_missing_or_dies(script, message, tmp_path):
    interpreter = tmp_path / "talking"
    interpreter.write_text(f"#!/bin/sh\n{script}\n")
    interpreter.chmod(0o755)
    with pytest.raises(paddle2ov.PaddleRunError, match=message):
        paddle2ov.verify(network("squeezenet1_1"), paddle_python=interpreter)


def test_random_inputs():
    program = read_program(network("bert"))
    sets = RandomInputs(program).sets
    assert len(sets) == 3
    rows = min(
        program.parameters[name].data.shape[0]
        for operator in program.block.operators
        if operator.type == "lookup_table_v2"
        for name in operator.inputs["weight"]
    )
    assert all(array.min() >= 0 and array.max() < max(rows, 10) for item in sets for array in item.values())
    again = RandomInputs(program).sets
    assert all(np.array_equal(one[name], other[name]) for one, other in zip(sets, again, strict=True) for name in one)
    with pytest.raises(paddle2ov.ConversionInputError, match="is missing"):
        given_inputs(program, {"nothing": np.zeros(1)})
    with pytest.raises(paddle2ov.ConversionInputError, match="seed: -1 is not an integer of 0 or more"):
        RandomInputs(program, seed=-1)
    name = program.inputs[0].name
    with pytest.raises(paddle2ov.ConversionInputError, match=f"'{name}' is too large for random inputs"):
        RandomInputs(program, shapes=[{name: [100_000, 100_000]}])


@pytest.mark.parametrize("wrong", [False, True])
def test_random_numbers_are_those_of_paddle(tmp_path, wrong):
    def noisy(x):
        noise = paddle.randn([4, 8])
        return paddle.nn.functional.relu(x + noise), noise

    save_layer(tmp_path, noisy, x=[4, 8])
    extension = {"relu": lambda node: {"out": ops.tanh(node.get_input("x"))}} if wrong else None
    report = paddle2ov.verify(tmp_path, extension=extension)
    if wrong:
        assert report.verdict == "differ"
        assert report.culprit.type == "relu"
    else:
        assert report.verdict == "agree"
        assert report.note == "Random numbers are Paddle's: gaussian_random"


def test_random_classes_and_lengths(tmp_path):
    def build(x, lengths, classes):
        return paddle.nn.GRU(8, 4)(x, sequence_length=lengths)[0], paddle.nn.functional.one_hot(classes, 3)

    save_program(tmp_path, build, x=[-1, -1, 8], lengths=([-1], "int64"), classes=([-1], "int64"))
    for arrays in RandomInputs(read_program(tmp_path), paddle2ov.convert(tmp_path), seed=3).sets:
        assert arrays["classes"].max() == 2
        assert arrays["lengths"].min() >= 1
        assert arrays["lengths"].max() == arrays["x"].shape[1]


def test_sizes_of_the_picture(tmp_path):
    """As PaddleDetection's models have them; those of Paddle 1 have a third number, a scale."""

    def build(image, im_shape, im_info, im_size, other):
        return image + 1, im_shape + 1, im_info + 1, im_size + 1, other + 1

    sizes = {"im_shape": [-1, 3], "im_info": [-1, 3], "im_size": ([-1, 2], "int32"), "other": [-1, 2]}
    save_program(tmp_path, build, image=[-1, 3, -1, -1], **sizes)
    for arrays in RandomInputs(read_program(tmp_path)).sets:
        count, _, height, width = arrays["image"].shape
        assert arrays["im_shape"].tolist() == arrays["im_info"].tolist() == [[height, width, 1]] * count
        assert arrays["im_size"].tolist() == [[height, width]] * count
        assert abs(arrays["other"]).max() < 1


def test_sizes_of_the_picture_with_other_shapes(tmp_path):
    save_program(tmp_path, lambda x, im_size: (x + 1, im_size + 1), x=[-1, 3, -1, -1], im_size=([-1, 5], "int32"))
    assert RandomInputs(read_program(tmp_path)).sets[0]["im_size"].shape == (1, 5)


def test_fetches_that_are_declared_as_temporary(tmp_path):
    """As in programs that tools put together without `save_inference_model`."""
    path, _ = files_of(save_program(tmp_path, lambda x: paddle.nn.functional.relu(x), legacy=True, x=[2, 3]))
    with edited(path) as desc:
        fetch = next(var for var in desc.blocks[0].vars if var.name == "fetch")
        assert fetch.persistable
        fetch.persistable = False
    assert paddle2ov.verify(path).verdict == "agree"


SHAPES = {
    "x[1,3]": r"input 'x' has 4 dimensions in the program \(\[-1, 3, 64, 64\]\); shape \[1,3\] has 2",
    "y[1,3]": "the program has no input 'y'; its inputs are ",
    "[1,3,64,64],[1]": "more shapes are given than there are inputs: x",
}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *(({"tolerance": value}, "tolerance: ") for value in (-1e-3, float("nan"), float("inf"), "1e-3")),
        ({"timeout": "1s"}, "1s is not a number of seconds above 0; None is"),
        ({"timeout": 0}, "0 is not a number of seconds above 0; None is"),
        *(({"shapes": shapes}, message) for shapes, message in SHAPES.items()),
        ({"converted": "model.xml"}, r"converted: an openvino\.Model is expected, not str"),
        ({"precision": "f64"}, "precision: 'f64' is not one of f32, bf16, f16, default, all"),
        ({"case": "/dev/null/case"}, r"case: .* cannot be written"),
        ({"device": "GPU", "precision": "all"}, "all of them are compared on the CPU, not on GPU"),
        ({"device": "HETERO:CPU", "precision": "default"}, "HETERO:CPU does not tell what it takes"),
    ],
)
def test_arguments_that_cannot_be(arguments, message):
    for compared in (paddle2ov.verify, *([paddle2ov.check] if "shapes" in arguments else [])):
        with pytest.raises(paddle2ov.ConversionInputError, match=message):
            compared(network("squeezenet1_1"), **arguments)


def test_a_model_that_openvino_does_not_compile(monkeypatch):
    def fail(model, device, precision):
        raise RuntimeError("no such primitive")

    monkeypatch.setattr("paddle2ov.verification.where.compile_in", fail)
    with pytest.raises(paddle2ov.OpenVINORunError, match="cannot compile the model: no such primitive"):
        paddle2ov.verify(network("squeezenet1_1"))


@pytest.mark.parametrize(
    ("ours", "paddle", "dtype", "reason"),
    [
        ([1.0, np.nan, np.inf], [1.0, np.nan, np.inf], "float32", ""),
        ([1.0, 2.0], [1.0, np.nan], "float32", "1 of 2 elements; the worst at [1]: OpenVINO 2.0, Paddle nan"),
        ([1.0, 1000.0], [1.05, 1000.0], "float32", ""),  # 5e-5 of the largest value
        ([1, 2], [1, 3], "int32", "1 of 2 elements; the worst at [1]: OpenVINO 2, Paddle 3"),
        ([[1.0]], [1.0], "float32", "shape [1, 1] in OpenVINO, [1] in Paddle"),
    ],
)
def test_comparison(ours, paddle, dtype, reason):
    kind = {"float32": "f32", "int32": "i32"}[dtype]
    result = Result(frozenset(), kind, np.array(ours, dtype))
    compared = compare_tensor(result, Expected("y", dtype, np.array(paddle, dtype)), 1e-4)
    assert compared.reason == reason
    assert compared.ok == (not reason)


def test_reference_needs_nothing_of_ours():
    text = (Path(paddle2ov.__file__).parent / "comparison" / "paddle_worker.py").read_text()
    assert "import paddle2ov" not in text
    assert "from paddle2ov" not in text


@NEEDS_PADDLE_2
def test_arrays_of_a_legacy_program_are_fetched_again():
    """Paddle's executor keeps tensor arrays from one run to the next, without their data."""
    folder = network("array", "legacy")
    program = read_program(folder)
    joined = next(operator for operator in program.block.operators if operator.type == "tensor_array_to_tensor")
    with PaddleProcess("legacy") as process:
        values = Values(program, process.load(find_model(folder)), {"x": np.ones((3, 4), np.float32)})
        names = [
            "x",
            *(name for item in values.filled_by(joined) for name in item.input_names()),
            *joined.outputs["out"],
        ]
        first, second = (values.of_paddle(names) for _ in range(2))
    assert first.keys() == second.keys() >= set(joined.outputs["out"])


@pytest.mark.parametrize("as_json", [False, True])
def test_time_that_is_up(as_json):
    result = call("verify", network("squeezenet1_1"), "--timeout", "1e-9", *(["--json"] if as_json else []))
    assert result.exit_code == 2, result.output
    if as_json:
        report = json.loads(result.stdout)
        assert (report["verdict"], report["unfinished"], report["runs"]) == ("unknown", "starting Paddle, 0 of 3", [])
    else:
        assert result.stdout == (
            "The time was up (--timeout); what was not finished: starting Paddle, 0 of 3\n"
            "Paddle alone takes seconds to start: give more time with --timeout SECONDS (0: no limit)\n"
            "Nothing was compared with Paddle.\n"
        )


def test_time_that_is_up_while_paddle_computes(monkeypatch):
    """Its process is not awaited; what was compared is known."""
    monkeypatch.setattr("paddle2ov.verification.verify.Deadline", UpAfterTheFirst)
    report = paddle2ov.verify(network("squeezenet1_1"), shapes=["x[1,3,64,64]", "x[2,3,64,64]"])
    assert (report.verdict, len(report.runs), report.unfinished) == ("unknown", 1, "running, 1 of 2")
    assert report.runs[0].ok


@pytest.mark.parametrize("as_json", [False, True])
def test_an_interruption_while_paddle_computes(monkeypatch, as_json):
    monkeypatch.setattr("paddle2ov.verification.verify.Deadline", InterruptedAfterTheFirst)
    shapes = ["--input", "x[1,3,64,64]", "--input", "x[2,3,64,64]"]
    result = call("verify", network("squeezenet1_1"), *shapes, *(["--json"] if as_json else []))
    assert (result.exit_code, result.stderr) == (130, "Interrupted.\n")
    if as_json:
        report = json.loads(result.stdout)
        assert (report["verdict"], report["unfinished"], len(report["runs"])) == ("unknown", "running, 1 of 2", 1)
    else:
        assert result.stdout.endswith(
            "Interrupted; what was not finished: running, 1 of 2\n"
            "The results agree with Paddle's as far as they were compared.\n"
        )


def test_the_end_of_the_interpreter_does_not_wait_for_a_deadline():
    """Ctrl-C may come where nothing cancels it."""
    with Deadline(600).calling(lambda: None):
        (timer,) = (thread for thread in threading.enumerate() if isinstance(thread, threading.Timer))
        assert timer.daemon


class UpAfterTheFirst(Deadline):
    """The time is up when Paddle is asked for the third time: to load, to run, to run."""

    ending: type[BaseException] = TimeUpError

    def __init__(self, seconds=None):
        super().__init__()
        self._asked = 0

    def check(self):
        if self._asked > 2:
            raise self.ending

    @contextmanager
    def calling(self, stop):
        self._asked += 1
        if self._asked > 2:
            stop()
        yield


class InterruptedAfterTheFirst(UpAfterTheFirst):
    """Ctrl-C comes then."""

    ending = KeyboardInterrupt


def test_sizes_that_users_run(tmp_path):
    def shapes(declared, settings=None):
        x = Variable("x", "float32", declared)
        program = Program("pir", 1, Block(0, []), [x], [], {"x": x}, {})
        if settings is not None:
            (tmp_path / "inference.yml").write_text(settings)
            settings = read_settings(tmp_path / "inference.yml")
        return [input_["x"].shape for input_ in RandomInputs(program, settings=settings).sets]

    free = [(1, 3, 224, 224), (2, 3, 160, 320), (3, 3, 320, 128), (1, 3, 640, 640), (1, 3, 768, 1024)]
    assert shapes((-1, 3, -1, -1)) == free
    assert shapes((-1, 3, 48, -1)) == [(1, 3, 48, 320), (2, 3, 48, 128), (1, 3, 48, 800)]
    assert shapes((-1, 3, 224, 224)) == [(1, 3, 224, 224), (2, 3, 224, 224), (3, 3, 224, 224)]
    bounds = (
        "Hpi: {backend_configs: {a: {trt_dynamic_shapes: {x: [[1, 3, 48, 160], [1, 3, 48, 400], [2, 3, 48, 600]]}}}}"
    )
    bounded = [(1, 3, 48, 320), (2, 3, 48, 160), (1, 3, 48, 600), (1, 3, 48, 400)]
    assert shapes((-1, 3, 48, -1), bounds) == bounded
    picture = "Preprocess: [{type: Resize, interp: 2, keep_ratio: false, target_size: [480, 512]}%s]"
    assert shapes((-1, 3, -1, -1), picture % ", {type: Permute}") == [*free, (1, 3, 480, 512)]
    assert shapes((-1, 3, -1, -1), picture % "") == free  # what makes no picture with channels first says nothing


def test_what_openvino_does_not_run_is_said(tmp_path):
    """Paddle selects 0 elements, which OpenVINO's TopK refuses."""

    def build(x):
        count = (x > 100.0).astype("int32").sum().reshape([1]).astype("int32")
        return paddle.topk(x.reshape([-1]), count)[0]

    folder = save_program(tmp_path, build, x=[-1, 4])
    report = paddle2ov.verify(folder, shapes="x[1,4]")
    message = "K (0) must be greater or equal to 1"
    assert (report.verdict, report.culprit) == ("differ", None)
    assert message in report.error
    assert message in report.runs[0].outputs[0].reason
    assert report.note == "No operator that can be run alone differs"
    assert message in report.to_dict()["error"]
    narrow = paddle2ov.verify(folder, shapes="x[1,4]", converted=paddle2ov.convert(folder, input="x{f16}"))
    assert message in narrow.error
    result = call("verify", folder, "--input", "x[1,4]")
    assert result.exit_code == 1
    assert re.search(rf"OpenVINO does not run inputs that Paddle runs: TopK .*{re.escape(message)}", result.stdout)
    assert "near tie" not in result.stdout


@pytest.mark.parametrize("given", [np.zeros([1, 3]), 3, [np.zeros(3)]], ids=["array", "number", "arrays"])
def test_inputs_without_names(given):
    folder = network("squeezenet1_1")
    for function in (paddle2ov.verify, paddle2ov.check):
        with pytest.raises(paddle2ov.ConversionInputError, match="inputs: arrays by the names of the inputs, or an"):
            function(folder, inputs=given)


@pytest.mark.parametrize("device", ["CPU", "HETERO:CPU"])
def test_a_graph_made_for_a_device_runs_on_it(device):
    folder = network("squeezenet1_1")
    report = paddle2ov.verify(folder, device=device)
    assert (report.verdict, report.precision) == ("agree", "f32")


def test_a_device_that_is_not_there():
    with pytest.raises(paddle2ov.OpenVINORunError, match="TPU"):
        paddle2ov.verify(network("squeezenet1_1"), device="TPU")


def test_a_program_in_a_type_of_which_paddle_has_no_kernels(tmp_path):
    """No other inputs help: the message does not ask for them."""
    save_layer(tmp_path, lambda x: (x.astype("bfloat16") @ x.astype("bfloat16")).astype("float32"), x=[4, 4])
    with pytest.raises(paddle2ov.PaddleRunError, match=r"computes in bfloat16, .* paddle2ov check") as caught:
        paddle2ov.verify(tmp_path)
    assert "--input" not in str(caught.value)
