"""The command line."""

import ast
import inspect
import json
import os
import re
import shlex
import shutil
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import openvino
import paddle
import pytest

import paddle2ov
from gen_models.harness.legacy import ROOT
from paddle2ov.commands.group import cli
from paddle2ov.errors import ALL_REFUSALS, NEXT_STEPS
from tests.support.command_line import call, python
from tests.support.models import network, operator, save_layer, save_program
from tests.support.settings import SETTINGS, with_settings

OWN = """
from paddle2ov import ConversionExtension
from paddle2ov.graph.opset import ops

def eigvals(node):
    return {"out": ops.concat([ops.convert(node.get_input("x"), "f32")] * 2, -1)}

CONVERTERS = [ConversionExtension("eigvals", eigvals)]
"""


@pytest.fixture
def model():
    return network("squeezenet1_1")


def foreign(model, folder):
    """The model with an operator that has no converter, in another folder."""
    shutil.copytree(model, folder)
    program = (folder / "inference.json").read_text()
    (folder / "inference.json").write_text(program.replace('"1.relu"', '"1.my_relu"'))
    return folder


def test_converts_a_folder(model, tmp_path):
    result = call(model, "-o", tmp_path / "new" / "net.xml")
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{tmp_path / 'new' / 'net.xml'}\n"
    written = openvino.Core().read_model(tmp_path / "new" / "net.xml")
    assert [port.get_any_name() for port in written.inputs] == ["x"]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["net.bin", "net.xml"]
    size = (tmp_path / "new" / "net.bin").stat().st_size
    assert call(model, "-o", tmp_path / "half.xml", "--compress-to-fp16", "-q").stdout == ""
    assert (tmp_path / "half.bin").stat().st_size < 0.55 * size
    assert call(model, "-o", tmp_path / "same.xml", "--precision", "FP16", "-q").exit_code == 0
    assert (tmp_path / "same.bin").read_bytes() == (tmp_path / "half.bin").read_bytes()


def test_the_usage_is_shown_with_what_contradicts_itself(model):
    result = call(model, "--precision", "f16", "--no-compress-to-fp16")
    assert result.exit_code == 2
    assert result.stderr.startswith("Usage: ")


LONG = "x" * 300
OF_SAVED = [
    ("--precision bf16", "compile it with compile_model(..., precision='bf16')"),
    ("--precision int8", "int8 needs data: `paddle2ov quantize`"),
    ("--verify-precision int8", "int8 needs data: `paddle2ov quantize`"),
    ("--precision f32 --compress-to-fp16", "--precision f32 and --compress-to-fp16 contradict each other"),
]
FOR_VERIFY = "is for --verify, and that is not given"
FOR_RANDOM = "is for random inputs, and there are none with"
REFUSED = [
    ("nowhere", "error: nowhere: no such file or folder"),
    ("convert", "no model is given: name its folder"),
    ("batch OUT/file -o OUT/o", "OUT/file: no Paddle inference model there (looked for"),
    ("batch OUT/nowhere -o OUT/o", "nowhere: no such file or folder"),
    ("batch MODEL OUT/nowhere -o OUT/o", "nowhere: no such file or folder"),
    ("check OUT/empty.xml", "empty.xml: no such file"),
    *(
        (f"{command} MODEL --tolerance -1", "-1.0 is not in the range")
        for command in ("batch --verify -o OUT", "verify")
    ),
    *((f"{command} MODEL --tolerance nan", "nan is not a number") for command in ("batch --verify -o OUT", "verify")),
    ("a -m b", "give the model once"),
    ("a --no-such-option", "No such option"),
    ("a --opset_version 11", "No such option '--opset-version': it is not needed: nothing goes through ONNX."),
    ("convert a --enable-onnx-checker", "No such option '--enable-onnx-checker': use --verify, which compares with"),
    ("a --input_shape [1]", "No such option '--input-shape': use --input \"x["),
    ("a --data_type FP16", "No such option '--data-type': use --precision f16."),
    ("a --batch 8", "No such option '--batch': use --input \"x["),
    ("a -b 8", "No such option '-b': use --input \"x["),
    ("--input_model a", "No such option '--input-model': give the model as MODEL, or with --model-dir"),
    ("a --output_dir out", "No such option '--output-dir': use -o FOLDER/NAME.xml"),
    ("a --mean_values [1,2,3]", "No such option '--mean-values': use --preprocess,"),
    ("inspect a --bounded", "No such option '--bounded': --bounded is an option of convert, batch."),
    ("verify a --preprocess", "No such option '--preprocess': --preprocess is an option of convert, batch."),
    *((f"{command} a b.pdiparams", "(b.pdiparams): the parameter file is given as --p") for command in ("", "verify")),
    ("run paddlocr ocr", "nor a script (.py); did you mean paddleocr?"),
    ("check a.xml --input x[1,3,64", "the bracket is not closed in 'x[1,3,64'"),
    ("batch MODEL -o OUT/file/out", "file/out/.paddle2ov-batch cannot be written: Not a directory"),
    ("quantize MODEL --data OUT/empty -o OUT/n.xml", "there is neither a picture nor an .npz file in OUT/empty"),
    ("quantize MODEL --data OUT/empty -o OUT/n.onnx", "written is OpenVINO IR"),
    *((f"{command} -o OUT/empty", "empty is a folder; name the") for command in ("MODEL", "quantize MODEL --data OUT")),
    ("inspct model", "'inspct' is neither a command nor a model; 'inspect' is a command"),
    ("x" * 5000, "File name too long"),
    ("inspect " + "x" * 5000, "File name too long"),
    (f"MODEL -o OUT/{LONG}", "File name too long"),
    *((f"MODEL -o OUT/net{suffix}", "written is OpenVINO IR") for suffix in (".onnx", ".bin", ".PDMODEL")),
    ("MODEL -o OUT/new/", "new/ is a folder; name the file to write"),
    ("MODEL -o OUT/file/net.xml", "OUT/file/net.xml cannot be written: Not a directory"),
    ("MODEL -o OUT/n.xml --precision f16 --no-compress-to-fp16", "f16 and --no-compress-to-fp16"),
    ("MODEL -o OUT/n.xml --report OUT/report.pdf", "report.pdf is neither a .json nor an .html file"),
    *((f"{command} MODEL --timeout nan", "nan is not a number") for command in ("batch -o OUT", "check", "verify")),
    *((f"{command} MODEL --timeout -1", "not in the range") for command in ("batch -o OUT", "check", "verify")),
    ("run OUT/script.py", "OUT/script.py: no such script"),
    ("MODEL net.xml", "unexpected extra argument (net.xml): the file to write is given as -o FILE"),
    ("report a", "'report' is neither a command nor a model; '--report' is an option of convert, batch"),
    ("quantise a", "'quantise' is neither a command nor a model; 'quantize' is a command"),
    ("help", "'help' is neither a command nor a model; '--help' is an option"),
    ("version", "'version' is neither a command nor a model; '--version' is an option"),
    *((f"convert MODEL -o OUT/new/net.xml {options}", message) for options, message in OF_SAVED),
    *((f"batch MODEL -o OUT/new/net.xml {options}", message) for options, message in OF_SAVED),
    ("convert OUT -o OUT/o.xml --inputs OUT/file", "--inputs is for --report and --verify, and neither is given"),
    ("convert OUT -o OUT/o.xml --verify-precision f32", f"--verify-precision {FOR_VERIFY}"),
    ("convert OUT -o OUT/o.xml --paddle-python python", f"--paddle-python {FOR_VERIFY}"),
    ("batch OUT -o OUT/o --verify-precision f16", "--verify-precision is for --verify and --check, and neither"),
    ("batch OUT -o OUT/o --paddle-python python --check", f"--paddle-python {FOR_VERIFY}"),
    ("batch OUT -o OUT/o --tolerance 0", f"--tolerance {FOR_VERIFY}"),
    ("verify OUT --inputs OUT/file --input x[1]", f"--input {FOR_RANDOM}"),
    ("verify OUT --image OUT/file --seed 0", f"--seed {FOR_RANDOM} --inputs or"),
    ("check OUT --inputs OUT/file --input x[1]", f"--input {FOR_RANDOM}"),
    # As a shell makes of an unset variable: paddle2ov "$MODEL". An empty path is not this folder.
    *((command, "'[MODEL]': the path is empty.") for command in ("''", "convert ''")),
    *((f"{command} ''", "'MODEL': the path is empty.") for command in ("inspect", "verify")),
    ("convert -m ''", "'--model-dir': the path is empty."),
    ("convert . -o ''", "'--save-file': the path is empty."),
    ("convert . -mf ''", "'--model-filename': the name is empty."),
    *((f"{command} . -pf ''", "'--params-filename': the path is empty.") for command in ("convert", "inspect")),
    *((f"convert . {option} ''", f"'{option}': the path") for option in ("--serve-layout", "--report")),
    ("convert . --paddle-python ''", "'--paddle-python': the path is empty."),
    *((f"verify . {option} ''", f"'{option}': the path is empty.") for option in ("--case", "--inputs")),
    ("batch '' -o out", "'PATH...': the path is empty."),
    ("batch . -o ''", "'--out': the path is empty."),
    *(
        (command, "'-' is no file: nothing is read from the standard input")
        for command in ("-", "MODEL -o -", "quantize MODEL --data OUT -o -", "batch MODEL -o -", "check -")
    ),
    *(
        (f"{command} -o {device}", f"{device} is no file: a model is written to two")
        for command in ("MODEL", "quantize MODEL --data OUT")
        for device in (os.devnull, "/dev/stdout")
    ),
    ("MODEL -o OUT/n.xml --input x{i32}[1]", "cannot read 'x{i32}[1]'; the form is name[1,3,224..640,?]{f32}"),
]


@pytest.mark.parametrize(("command", "message"), REFUSED, ids=lambda value: value[:80])
def test_refused(command, message, model, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    names = {"MODEL": str(model), "OUT": str(tmp_path)}
    result = call(*(re.sub("^MODEL$|OUT", lambda name: names[name[0]], part) for part in shlex.split(command)))
    assert (result.exit_code, type(result.exception)) == (2, SystemExit)
    assert message.replace("OUT", names["OUT"]) in " ".join(result.output.replace("│", "").split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "file"]


def test_what_a_killed_process_left_is_removed_a_day_later(model, tmp_path):
    for name, days in (("old", 2), ("new", 0)):
        (tmp_path / f".writing-{name}").mkdir()
        (tmp_path / f".writing-{name}" / "model.bin").write_bytes(b"half")
        written = time.time() - days * 86400
        os.utime(tmp_path / f".writing-{name}", (written, written))
    assert call(model, "-o", tmp_path / "net.xml").exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [".writing-new", "net.bin", "net.xml"]


def test_a_script_that_may_not_be_read(tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text("")
    monkeypatch.setattr(os, "access", lambda *_: False)  # whoever runs the tests may read everything
    result = call("run", tmp_path / "own.py")
    assert (result.exit_code, "own.py: Permission denied" in result.output) == (2, True)


def test_the_suffix_is_not_doubled(model, tmp_path):
    result = call(model, "-o", tmp_path / "net.XML")
    assert (result.exit_code, result.stdout) == (0, f"{tmp_path / 'net.xml'}\n")


def test_reports_that_cannot_be_written(model, tmp_path):
    (tmp_path / "file").write_text("")
    result = call(model, "-o", tmp_path / "net.xml", "--report", tmp_path / "file" / "report.json")
    assert (result.exit_code, result.stdout) == (2, f"{tmp_path / 'net.xml'}\n")  # the model is there
    assert f"error: {tmp_path / 'file' / 'report.json'} cannot be written: " in result.stderr


def test_names_that_paddle2onnx_users_know(model, tmp_path):
    shutil.copy(model / "inference.json", tmp_path / "a.json")
    shutil.copy(model / "inference.pdiparams", tmp_path / "b.params")
    arguments = ["--model_dir", tmp_path, "--model_filename", "a.json", "--params_filename", "b.params"]
    assert call(*arguments, "--save_file", tmp_path / "one.xml").exit_code == 0
    assert call("-m", tmp_path, "-mf", "a.json", "-pf", "b.params", "-s", tmp_path / "two").exit_code == 0
    assert (tmp_path / "one.xml").exists()
    assert (tmp_path / "two.xml").exists()


def test_inputs_and_outputs(model, tmp_path):
    result = call(model, "-o", tmp_path / "net.xml", "--input", "x[1..4,3,64,64]", "--output", "fetch_name_0")
    assert result.exit_code == 0, result.output
    shape = openvino.Core().read_model(tmp_path / "net.xml").input(0).get_partial_shape()
    assert shape == openvino.PartialShape([openvino.Dimension(1, 4), 3, 64, 64])


def test_inputs_and_outputs_that_are_given_one_by_one(tmp_path):
    folder = save_program(tmp_path, lambda x: [paddle.tanh(x), paddle.exp(x), paddle.abs(x)], x=[-1, 4])
    outputs = ["--output", "fetch_name_2", "--output", "fetch_name_0"]
    result = call(folder, "-o", tmp_path / "net.xml", *outputs, "--input", "x[2,4]", "--verify")
    assert result.exit_code == 0, result.output
    written = openvino.Core().read_model(tmp_path / "net.xml")
    assert [port.get_any_name() for port in written.outputs] == ["fetch_name_2", "fetch_name_0"]
    result = call("verify", folder, *outputs, "--input", "x[2,4]", "--json")
    (run,) = json.loads(result.stdout)["runs"]
    assert [item["name"] for item in run["outputs"]] == ["fetch_name_2", "fetch_name_0"]
    result = call(folder, "-o", tmp_path / "net.xml", "--input", "x[2,4]", "--input", "x[3,4]")
    assert result.exit_code == 2
    assert "'x' is given twice" in result.stderr


def test_warnings(tmp_path):
    folder = save_layer(tmp_path, paddle.squeeze, x=[-1, -1, 8])
    done = python("-m", "paddle2ov", folder, "-o", tmp_path / "net.xml")
    first, place, *_ = done.stderr.splitlines()
    assert first.startswith("warning: 'squeeze")
    assert place.startswith("  at block 0, ")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(folder, "-o", tmp_path / "net.xml")
        shown = len(caught)
        result = call(folder, "-q", "-o", tmp_path / "net.xml")
        assert (len(caught), result.output) == (shown, "")
        assert shown
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = call(folder, "-o", tmp_path / "net.xml")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: cannot convert 'squeeze")


def test_inputs_that_are_no_file(model, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    result = call("check", model, "--inputs", tmp_path / "pipe")
    assert result.stderr == f"error: inputs: {tmp_path / 'pipe'}: is not a regular file\n"


NEGATIVE = "def relu(node):\n    return ops.negative(node.get_input('x'))\n"


@pytest.mark.parametrize(
    "text",
    [
        "@paddle2ov.register_converter('relu', override=True)\n" + NEGATIVE,
        NEGATIVE + "CONVERTERS = [{'relu': relu}]",
    ],
)
def test_extension_file(tmp_path, own_converters, text):
    own = tmp_path / "own.py"
    own.write_text("import paddle2ov\nfrom openvino import opset16 as ops\n" + text)
    assert call(operator("relu"), "-o", tmp_path / "net.xml", "--extension", own).exit_code == 0
    kinds = {node.get_type_name() for node in openvino.Core().read_model(tmp_path / "net.xml").get_ops()}
    assert "Negative" in kinds


def test_a_folder_of_models_names_batch(model, tmp_path):
    for name in ("det", "rec"):
        (tmp_path / "models" / name).mkdir(parents=True)
        shutil.copy(model / "inference.json", tmp_path / "models" / name)
    result = call(tmp_path / "models", "-o", tmp_path / "net.xml")
    assert result.exit_code == 2
    assert "models are in the folders below it (det, rec): pass one, or convert all with" in result.output
    assert f"`paddle2ov batch {tmp_path / 'models'} -o OUT`" in result.output


@pytest.mark.parametrize("error", [OSError("is the disk full?"), RuntimeError("basic_ios::clear: iostream error")])
def test_a_full_disk(model, tmp_path, monkeypatch, error):
    """What was there stays."""
    (tmp_path / "net.xml").write_text("old")

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(openvino, "save_model", fail)
    for arguments in (["-o", tmp_path / "net.xml"], ["-o", "net", "--serve-layout", tmp_path / "served"]):
        result = call(model, *arguments)
        assert result.exit_code == 2
        assert "cannot be written: " in result.output
        assert "is the disk full?" in result.output
        assert ".writing-" not in result.output
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["net.xml"]
    assert (tmp_path / "net.xml").read_text() == "old"
    assert not list(tmp_path.rglob(".writing-*"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise ValueError('boom')", "ValueError: boom"),
        ("def (", "SyntaxError: invalid syntax"),
        ("import sys; sys.exit(7)", "SystemExit: 7"),
        ("import paddle2ov_no_such_module", "ModuleNotFoundError: No module named"),
        ("def relu(node):\n    return {}", "it has no converters"),
    ],
)
@pytest.mark.parametrize("command", ["convert", "verify"])
def test_an_extension_that_fails(tmp_path, command, text, message):
    own = tmp_path / "own.py"
    own.write_text(text)
    result = call(command, tmp_path, "--extension", own)
    assert result.exit_code == 2
    assert result.output.startswith(f"error: extension {own}: {message}")


@pytest.mark.parametrize(
    ("command", "work"),
    [("convert", "conversion.convert"), ("inspect", "inspection.inspect"), ("verify", "verification.verify.verify")],
)
def test_an_interruption_is_no_verdict(tmp_path, monkeypatch, command, work):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"paddle2ov.{work}", interrupt)
    result = call(command, tmp_path)
    assert (result.exit_code, result.stderr) == (130, "Interrupted.\n")
    assert result.stdout == ("Nothing was compared with Paddle.\n" if command == "verify" else "")


def interrupted_import():
    """How OpenVINO's own module ends if Ctrl-C comes while it is imported."""
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as error:
        raise ImportError("initialization failed") from error


def interrupted():
    raise KeyboardInterrupt


@pytest.mark.parametrize("end", [interrupted, interrupted_import])
@pytest.mark.parametrize("command", cli.commands)
def test_an_interruption_of_what_a_command_imports(tmp_path, monkeypatch, command, end):
    (tmp_path / "own.py").touch()
    monkeypatch.setattr(cli.commands[command], "callback", lambda **_: end())
    required = {"batch": ["-o", "out"], "quantize": ["--data", tmp_path, "-o", "int8"]}
    result = call(command, tmp_path / "own.py", *required.get(command, ()))
    assert (result.exit_code, result.output) == (130, "Interrupted.\n")


def test_an_interrupted_import_within_a_conversion(tmp_path, monkeypatch):
    """An error that is shown as one message may be the end of an interruption, too."""

    def convert(*_, **__):
        try:
            interrupted_import()
        except ImportError as error:
            raise paddle2ov.ModelReadError("a module is missing") from error

    monkeypatch.setattr("paddle2ov.conversion.convert", convert)
    result = call(tmp_path)
    assert (result.exit_code, result.stderr) == (130, "Interrupted.\n")


INTERRUPTED_AS_IT_IMPORTS = """
import signal, sys
from paddle2ov.cli import main

class Finder:
    def find_spec(name, path=None, target=None):
        if name == "click":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Finder)
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


def test_an_interruption_of_the_imports_of_all_commands():
    done = python("-c", INTERRUPTED_AS_IT_IMPORTS, "ops", status=130)
    assert (done.stdout, done.stderr) == ("", "Interrupted.\n")


def test_a_prefix_that_is_called_as_an_option_is(model, tmp_path, monkeypatch):
    for kind in ("json", "pdiparams"):
        shutil.copy(model / f"inference.{kind}", tmp_path / f"data.{kind}")
    monkeypatch.chdir(tmp_path)
    assert call("data", "-o", "net.xml").exit_code == 0


def test_traceback_on_demand():
    result = call("nowhere", "--traceback")
    assert isinstance(result.exception, paddle2ov.ModelReadError)


def test_report(tmp_path):
    folder = network("swin_stage")
    targets = [tmp_path / "new" / "report.json", tmp_path / "report.html"]
    result = call(folder, "-o", tmp_path / "net.xml", "--report", targets[0], "--report", targets[1])
    assert result.exit_code == 0, result.output
    assert "  split_qkv: projections 2, parts 6, scales 2\n" in result.stdout
    assert result.stdout.startswith(f"{tmp_path / 'net.xml'}\n")
    assert result.stdout.endswith("".join(f"{path}\n" for path in targets))
    report = json.loads(targets[0].read_text())
    assert report["format"] == "pir"
    assert report["model"] == folder.name
    conversion = report["conversion"]
    assert conversion["rewrites"]["gather_windows"]["chains"] == 2
    assert conversion["transposes"]["total"] == conversion["rewrites"]["transposes_to_reshapes"]["total"]
    assert set(conversion["seconds"]) == {"read", "translate", "rewrite"}
    assert targets[1].read_text().startswith("<!DOCTYPE html>")


def test_report_of_a_model_that_is_refused(model, tmp_path):
    result = call(
        foreign(model, tmp_path / "foreign"), "-o", tmp_path / "net.xml", "--report", tmp_path / "report.json"
    )
    assert result.exit_code == 1
    for words in (
        "no converter for 1 operator type(s)",
        "- my_relu, used 26x: no converter: none of the operators that this version knows: a custom one",
        "first at block 0",
        "`--extension FILE`",
        "CONTRIBUTING.md",
    ):
        assert words in result.output
    report = json.loads((tmp_path / "report.json").read_text())
    assert [(item["operator"], item["count"]) for item in report["refusals"]] == [("my_relu", 26)]
    assert report["notes"] == [NEXT_STEPS]
    assert report["conversion"] is None
    assert {item["type"] for item in report["operators"] if item["fate"] == "refused"} == {"my_relu"}
    assert len(report["operators"]) > 26
    assert not (tmp_path / "net.xml").exists()


def test_verify_with_a_conversion(model, tmp_path):
    np.savez(tmp_path / "x.npz", x=np.zeros([5, 3, 64, 64], np.float32))
    arguments = (model, "-o", tmp_path / "net.xml", "--verify", "--report", tmp_path / "report.json")
    result = call(*arguments, "--inputs", tmp_path / "x.npz")
    assert result.exit_code == 0, result.output
    assert "The results agree with Paddle's." in result.stdout
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["verification"]["ok"] is True
    assert report["verification"]["runs"][0]["inputs"] == report["compiled"]["inputs"] == {"x": [5, 3, 64, 64]}
    assert all(item["agrees"] for item in report["operators"] if item["type"] == "conv2d")


def test_verify_compares_the_results_that_were_converted(tmp_path):
    """The other result needs an operator that nobody converts; what is between can be a result as well."""
    folder = save_program(tmp_path, lambda x: [paddle.nn.functional.relu(x), paddle.linalg.eigvals(x - 1.0)], x=[4, 4])
    result = call(folder, "-o", tmp_path / "net.xml", "--output", "fetch_name_0", "--verify", "--compress-to-fp16")
    assert result.exit_code == 0, result.output
    assert "before the weights became float16" in result.stdout
    assert call(folder, "-o", tmp_path / "net.xml", "--verify").exit_code == 2
    result = call("verify", folder, "--output", "fetch_name_0", "--json")
    assert [record["name"] for record in json.loads(result.stdout)["runs"][0]["outputs"]] == ["fetch_name_0"]
    inner = next(
        operator for operator in paddle2ov.read_program(folder).block.operators if operator.type == "scale"
    ).outputs["out"][0]
    assert [output.name for output in paddle2ov.verify(folder, outputs=["fetch_name_0", inner]).runs[0].outputs][
        1
    ] == inner


@pytest.mark.parametrize("kind", ["f16", "bf16", "f64", "i32"])
def test_verify_of_a_model_with_inputs_of_another_type(tmp_path, kind):
    """Both sides compute from values that the type holds; results of that type are compared in it."""
    folder = save_program(tmp_path, lambda x: [x + x], x=[-1, 4])
    result = call(folder, "-o", tmp_path / "net.xml", "--input", f"x{{{kind}}}", "--verify")
    assert result.exit_code == 0, result.output
    assert "The results agree with Paddle's." in result.stdout


def test_verify_of_an_embedding_with_narrow_indices(tmp_path):
    def embedded(x):
        return [paddle.nn.functional.embedding(x, paddle.arange(40, dtype="float32").reshape([10, 4]))]

    folder = save_program(tmp_path, embedded, x=([-1, 3], "int64"))
    inputs = {"x": np.arange(6, dtype=np.int32).reshape(2, 3)}
    np.savez(tmp_path / "x.npz", **inputs)
    arguments = (folder, "-o", tmp_path / "net.xml", "--input", "x{i32}", "--verify")
    for more in ((), ("--inputs", tmp_path / "x.npz")):
        result = call(*arguments, *more)
        assert result.exit_code == 0, result.output
        assert "The results agree with Paddle's." in result.stdout


def test_verify_of_a_model_that_is_cut(tmp_path):
    folder = save_program(tmp_path, lambda x: paddle.nn.functional.relu(x + 1.0), x=[4, 4])
    inner = paddle2ov.read_program(folder).block.operators[-1].inputs["x"][0]
    result = call(folder, "-o", tmp_path / "net.xml", "--input", f"{inner}[4,4]", "--verify")
    assert result.exit_code == 2
    assert f"--verify: --input cuts the model at '{inner}', and Paddle runs the program from its own inputs: x" in (
        result.stderr
    )
    assert call(folder, "-o", tmp_path / "net.xml", "--output", "x,fetch_name_0", "--verify").exit_code == 0


def test_arrays_for_a_report(model, tmp_path):
    """They are for the converted model, and checked before it is written."""
    with_settings(model, tmp_path / "net")
    np.savez(tmp_path / "bytes.npz", x=np.zeros([1, 80, 70, 3], np.uint8))
    np.savez(tmp_path / "floats.npz", x=np.zeros([2, 3, 64, 64], np.float32))
    convert = (tmp_path / "net", "-o", tmp_path / "net.xml", "--inputs")
    report = ("--report", tmp_path / "report.json")
    refused = {
        "is float32, the model takes u8": (*convert, tmp_path / "floats.npz", "--preprocess", *report),
        "is uint8, the model takes f32": (*convert, tmp_path / "bytes.npz", *report),
        "the model takes [1,3,64,64]": (*convert, tmp_path / "floats.npz", *report, "--input", "x[1,3,64,64]"),
        "for --report and --verify": (*convert, tmp_path / "floats.npz"),
    }
    for message, arguments in refused.items():
        result = call(*arguments)
        assert result.exit_code in (1, 2), result.output
        assert message in result.output
        assert not (tmp_path / "net.xml").exists()
    result = call(*convert, tmp_path / "bytes.npz", "--preprocess", "--verify", *report)
    assert result.exit_code == 0, result.output
    assert "without the preprocessing" in result.stdout
    assert "compared on random inputs" in result.stdout
    assert json.loads((tmp_path / "report.json").read_text())["compiled"]["inputs"] == {"x": [1, 80, 70, 3]}
    result = call(*convert, tmp_path / "floats.npz", "--preprocess", "--verify")
    assert result.exit_code == 0, result.output
    assert "random" not in result.stdout


PARTLY = SETTINGS.replace("interp: 2", "interp: 4")
"""Of which the resize is the caller's."""


@pytest.mark.parametrize("is_whole", [True, False])
def test_what_preprocessing_was_built_in(model, tmp_path, is_whole):
    net = with_settings(model, tmp_path / "net", SETTINGS if is_whole else PARTLY)
    command = ["-m", "paddle2ov", net, "-o", tmp_path / "net.xml", "--preprocess"]
    said = [python(*command, *quiet) for quiet in ([], ["-q"])]
    steps, inputs = said[0].stderr.splitlines()
    built, yours = (
        ("resize to 64 x 64 (cubic), normalize", "") if is_whole else ("normalize", "; yours: Resize (interp")
    )
    assert f"blue, green, red; built in: {built}{yours}" in steps
    assert inputs == f"its inputs: x u8[?,{'?,?' if is_whole else '64,64'},3]"
    assert said[1].stdout + said[1].stderr == ""


def test_what_inputs_the_settings_bounded(model, tmp_path):
    with_settings(model, tmp_path / "net")
    result = call(tmp_path / "net", "-o", tmp_path / "net.xml", "--bounded")
    assert (result.exit_code, result.stderr) == (0, "its inputs: x f32[1..,3,64,64]\n")


@pytest.mark.parametrize("is_whole", [True, False])
def test_what_preprocessing_a_batch_built_in(model, tmp_path, is_whole, inline):
    for name in "ab":
        with_settings(model, tmp_path / "nets" / name, SETTINGS if is_whole else PARTLY)
    result = call("batch", tmp_path / "nets", "-o", tmp_path / "out", "--preprocess")
    assert result.exit_code == 0, result.output
    *lines, last = sorted(result.stderr.splitlines())
    if is_whole:
        taken = "the model takes uint8 [N, H, W, 3] in the order blue, green, red; built in: resize to 64 x 64 (cubic)"
        assert lines[0].startswith(f"a: {taken}")
        assert last.startswith(f"b: {taken}")
        assert last.endswith("its inputs: x u8[?,?,?,3]")
    else:
        assert last.startswith("warning: b: the model takes")
        assert "; yours: Resize (interp" in last
        assert "a: its inputs: x u8[?,64,64,3]" in lines
    models = json.loads((tmp_path / "out" / "summary.json").read_text())["models"]
    assert all("its inputs: x u8" in about["settings"] for about in models)
    assert "its inputs: x u8" in (tmp_path / "out" / "summary.html").read_text()
    quiet = call("batch", tmp_path / "nets", "-o", tmp_path / "quiet", "--preprocess", "-q")
    assert (quiet.exit_code, quiet.output) == (0, "")


def test_what_cannot_be_verified_does_not_differ(model, tmp_path):
    """The status is that of `verify`, where 1 means that results differ."""
    result = call(model, "-o", tmp_path / "net.xml", "--verify", "--paddle-python", tmp_path / "none")
    assert (result.exit_code, result.stdout) == (2, f"{tmp_path / 'net.xml'}\n"), result.output
    assert result.stderr.startswith("error: ")
    assert call("nowhere", "--verify").exit_code == 2
    assert call("nowhere").exit_code == 2


def test_no_paddle_is_found_out_before_any_work(model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "paddle", None)
    monkeypatch.delenv("PADDLE2OV_PADDLE_PYTHON", raising=False)
    (tmp_path / "models").symlink_to(model)
    for command in (["convert"], ["batch"]):
        result = call(*command, tmp_path / "models", "-o", tmp_path / "out", "--verify")
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("error: verifying needs Paddle, and ")
        assert [path.name for path in tmp_path.iterdir()] == ["models"]


def test_ops():
    assert call("ops", "pd_op.topk").stdout == call("ops", "topk").stdout != ""
    result = call("ops", "top_k*")
    assert result.exit_code == 0
    assert "search (" in result.stdout
    assert "top_k_v2" in result.stdout
    families = json.loads(call("ops", "--json").stdout)
    assert families["top_k_v2"] == "search"
    assert families["acos"] == "math"
    assert families["nearest_interp_v2"] == "resize/interpolation"
    assert len(families) > 150


def test_ops_that_are_not_supported():
    missing = json.loads(call("ops", "--unsupported", "--json").stdout)
    assert not set(missing) & set(json.loads(call("ops", "--json").stdout))
    assert missing["nce"].startswith("made for training")
    result = call("ops", "--unsupported", "lod_*")
    assert result.exit_code == 0
    assert "which no tensor of OpenVINO carries (" in result.stdout
    assert "lod_tensor_to_array" in result.stdout
    result = call("ops", "--unsupported", "conv2d")
    assert result.exit_code == 0
    assert "Every operator that matches 'conv2d' can be converted" in result.stdout
    assert json.loads(call("ops", "--unsupported", "conv2d", "--json").stdout) == {}
    assert "did you mean conv2d" in call("ops", "--unsupported", "conv2dd").output


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("arg_max", 0, ["search (1)", "arg_max"]),
        ("argmax", 0, ["search (1)", "arg_max (in PIR: argmax)"]),
        ("relu_", 0, ["activation (1)", "relu"]),
        ("while", 0, ["program structure (1)", "while"]),
        ("nce", 1, ["no converter: made for training", "nce"]),
        ("adamw_", 1, ["no converter: an optimiser: it updates weights, which no inference does (1)", "adamw"]),
        ("nosuch", 2, ["no operator of Paddle's that is known here matches 'nosuch'"]),
        ("relux", 2, ["did you mean relu, "]),
    ],
)
def test_ops_knows_an_operator_by_each_of_its_names(name, status, words):
    result = call("ops", name)
    assert result.exit_code == status
    assert [word for word in words if word not in result.output] == []
    assert call("ops", name, "--json").exit_code == status


def test_inspect(model, tmp_path):
    result = call("inspect", model)
    assert result.exit_code == 0, result.output
    for words in (
        "pir program, version 4 (Paddle 3.3)",
        "inputs, as declared",
        "x  float32 [?, 3, 64, 64]",
        "conv2d",
        "It converts.",
    ):
        assert words in result.stdout
    inspection = json.loads(call("inspect", model, "--json").stdout)
    assert inspection["convertible"] is True
    assert inspection["nesting"] == 0
    assert {"name": "conv2d", "count": 26, "supported": True} in inspection["operators"]

    result = call("inspect", foreign(model, tmp_path / "foreign"))
    assert result.exit_code == 1
    assert "my_relu  (no converter)" in result.stdout
    assert "Refused: my_relu, used 26x: no converter: none of the operators that this version knows" in result.stdout
    assert "\n  first at block 0, operator" in result.stdout
    assert NEXT_STEPS in result.stdout
    assert call("inspect", tmp_path / "nowhere").exit_code == 2


def test_inspect_finds_all_refusals(tmp_path, own_converters):
    """Those in branches too, and none that only follow from another."""

    def results(x):
        factors = paddle.linalg.lu(x, pivot=False)[0]
        other = paddle.linalg.qr(x)[0]
        branch = paddle.static.nn.cond(x.sum() > 0, lambda: other, lambda: paddle.linalg.lu(x + 1, pivot=False)[0])
        return [paddle.nn.functional.relu(factors), paddle.linalg.eigvals(factors), branch]

    folder = save_program(tmp_path, results, x=[4, 4])
    result = call("inspect", folder)
    assert result.exit_code == 1
    assert re.findall("Refused: (.*?): ", result.stdout) == ["eigvals", "lu, used 2x"]
    assert "eigvals: no converter: gives the eigenvalues of any matrix" in result.stdout
    report = tmp_path / "report.json"
    assert call(folder, "-o", tmp_path / "net.xml", "--report", report).exit_code == 1
    report = json.loads(report.read_text())
    assert report["refusals"] == json.loads(call("inspect", folder, "--json").stdout)["refusals"]
    assert Counter(item["type"] for item in report["operators"] if item["fate"] == "refused") == {"lu": 2, "eigvals": 1}
    cut = call(folder, "-o", tmp_path / "net.xml", "--report", tmp_path / "cut.json", "--output", "fetch_name_2")
    assert (cut.exit_code, cut.stdout) == (1, f"{tmp_path / 'cut.json'}\n")
    assert cut.stderr.startswith("error: cannot convert 'lu': ")
    assert cut.stderr.endswith(f"{NEXT_STEPS}\n{ALL_REFUSALS}\n")
    cut = json.loads((tmp_path / "cut.json").read_text())
    assert [(item["operator"], item["count"]) for item in cut["refusals"]] == [("lu", 1)]
    tried = call("inspect", folder, "--output", "fetch_name_2", "--input", "x[2,2]")
    assert re.findall("Refused: (.*?): ", tried.stdout) == ["lu"]
    assert "the program has no 'y'" in call("inspect", folder, "--input", "y[1]").stderr
    assert "0 bytes" in result.stdout
    own = tmp_path / "own.py"
    own.write_text(OWN)
    assert "eigvals" not in call("inspect", folder, "--extension", own).stdout.partition("Refused")[2]


def test_inspect_gives_each_operator_to_its_converter_once(tmp_path):
    """Also where some are refused."""

    def relu(node):
        places.append(node.place.index)
        return {"out": openvino.opset16.relu(node.get_input("x"))}

    nn = paddle.nn.functional
    for refused, results in {
        "": lambda x: [nn.relu(nn.relu(x) + 1)],
        "eigvals": lambda x: [nn.relu(nn.relu(x) + 1), paddle.linalg.eigvals(x)],
        "lu": lambda x: [nn.relu(nn.relu(x) + 1), paddle.linalg.lu(x, pivot=False)[0]],
    }.items():
        places = []
        inspection = paddle2ov.inspect(save_program(tmp_path, results, x=[4, 4]), extension={"relu": relu})
        assert [refusal.operator for refusal in inspection.refusals] == [refused] * bool(refused)
        assert len(places) == len(set(places)) == 2


def test_inspect_sees_loops():
    inspection = paddle2ov.inspect(network("nested"))
    assert inspection.nesting == 2
    assert [port.name for port in inspection.inputs] == ["x", "n"]
    assert inspection.convertible


def test_version_and_help():
    assert call("--version").stdout.startswith(f"paddle2ov {paddle2ov.__version__} (OpenVINO ")
    assert "--params-filename" in call("convert", "--help").stdout
    assert "list the operators" in call("--help").stdout


def test_public_names():
    imports = [node for node in ast.walk(ast.parse(inspect.getsource(paddle2ov))) if isinstance(node, ast.ImportFrom)]
    for_checkers = {name.asname: node.module for node in imports for name in node.names if name.asname == name.name}
    assert for_checkers == {name: f"paddle2ov.{module}" for name, module in paddle2ov._MODULES.items()}
    for name in paddle2ov.__all__:
        assert getattr(paddle2ov, name).__name__ == name or name == "NamedOutputs"
    assert set(paddle2ov.__all__) <= set(dir(paddle2ov))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = paddle2ov.nothing


@pytest.mark.parametrize("given", ["x[1,4,64,64]", "x[?,4..8,?,?]", "x{i64}"])
def test_input_that_does_not_fit_is_no_lack_of_a_converter(given, tmp_path):
    """What is given and what the program declares are told, with the operator where they part."""
    save_layer(tmp_path, paddle.nn.Sequential(paddle.nn.Conv2D(3, 8, 3), paddle.nn.ReLU()), x=[-1, 3, -1, -1])
    result = call(tmp_path, "-o", tmp_path / "out.xml", "--input", given)
    assert result.exit_code == 2, result.output
    assert "error: input: the model does not convert with 'x' as " in result.output
    assert "(the program declares [-1, 3, -1, -1] float32)" in result.output
    assert re.search(r"conv2d: .*\n  at block 0, operator \d+ \(conv2d\)", result.output)
    assert NEXT_STEPS not in result.output
    with pytest.raises(paddle2ov.ConversionInputError, match="the program declares"):
        paddle2ov.convert(tmp_path, input=given)
    inspected = call("inspect", tmp_path, "--input", given)
    assert inspected.exit_code == 1, inspected.output
    assert "  x  float32 [?, 3, ?, ?]\n" in inspected.output  # what it is made of is shown all the same
    assert re.search(r"Refused: conv2d: not with 'x' as .* \(the program declares .*\n  at block 0", inspected.output)
    assert NEXT_STEPS not in inspected.output
    assert "It converts with what the program declares" in inspected.output


def test_inspection_lists_all_that_does_not_fit_what_is_given(tmp_path):
    """Each operator that refuses the shape; what is refused in any case is not put down to it."""

    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.first, self.second = paddle.nn.Conv2D(3, 8, 3), paddle.nn.Conv2D(3, 4, 1)

        def forward(self, x):
            return self.first(x), self.second(x), paddle.nn.functional.relu(x)

    save_layer(tmp_path, Net(), x=[-1, 3, -1, -1])
    found = paddle2ov.inspect(tmp_path, input="x[1,4,64,64]")
    assert [(refusal.operator, bool(refusal.given)) for refusal in found.refusals] == [("conv2d", True)] * 2
    assert found.to_dict()["refusals"][0]["given"] == [
        "'x' as [1,4,64,64] (the program declares [-1, 3, -1, -1] float32)"
    ]

    def refuse(node):
        node.require(False, "never")

    extension = paddle2ov.ConversionExtension("relu", refuse)
    found = paddle2ov.inspect(tmp_path, input="x[1,4,64,64]", extension=extension)
    assert {(refusal.operator, bool(refusal.given)) for refusal in found.refusals} == {
        ("conv2d", True),
        ("relu", False),
    }


def test_input_given_to_an_operator_that_is_refused_anyway(tmp_path):
    """Where the program does not convert as it is declared either, what was given is not to blame."""

    def refuse(node):
        node.require(False, "never")

    extension = paddle2ov.ConversionExtension("relu", refuse)
    folder = save_program(tmp_path, paddle.nn.functional.relu, x=[4, 4])
    with pytest.raises(paddle2ov.OpConversionError, match="never"):
        paddle2ov.convert(folder, input="x[4,4]", extension=extension)


EACH_IN_A_FORK = """
import json, os, sys
import paddle2ov.commands.group
from paddle2ov.cli import main

for command in json.loads(sys.argv[1]):
    for kind in ("full", "closed"):
        read, write = os.pipe()
        said, saying = os.pipe()
        os.close(read)
        child = os.fork()
        if not child:
            os.dup2(os.open("/dev/full", os.O_WRONLY) if kind == "full" else write, 1)
            os.dup2(saying, 2)
            os.close(saying)
            sys.argv[1:] = command
            main()
        os.close(write)
        os.close(saying)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with open(said) as text:
            print(json.dumps([command, kind, status, text.read()]), flush=True)
"""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_output_that_cannot_be_written_is_no_verdict(model, tmp_path):
    commands = [["--version"], ["ops"], ["inspect", str(model)], [str(model), "-o", str(tmp_path / "out.xml")]]
    done = python("-c", EACH_IN_A_FORK, json.dumps(commands))
    full = (2, "error: the output cannot be written: No space left on device\n")
    expected = [[item, kind, *ends] for item in commands for kind, ends in (("full", full), ("closed", (141, "")))]
    assert [json.loads(line) for line in done.stdout.splitlines()] == expected


def test_characters_that_the_output_cannot_encode(model, tmp_path):
    """KOI8-R has neither a Chinese name nor the sign of microseconds; what `run` starts is not our output."""

    def output(*arguments):
        environment = {"PYTHONIOENCODING": "koi8-r", "PYTHONPATH": str(ROOT)}
        return python("-m", "paddle2ov", *arguments, cwd=tmp_path, **environment).stdout

    said = output(model, "-o", "\u6a21.xml", "--report", "report.json").splitlines()
    assert (said[0], said[-1]) == (r"\u6a21.xml", "report.json")
    assert any(r"\xb5s" in line for line in said)
    assert (tmp_path / "\u6a21.xml").is_file()
    (tmp_path / "own.py").write_text("import sys; print(sys.stdout.errors)")
    assert output("run", "own.py") == "strict\n"


def test_other_errors_of_the_system_are_not_those_of_the_output(monkeypatch):
    def fail(*_, **__):
        raise PermissionError(13, "Permission denied", "table")

    monkeypatch.setattr(cli.commands["ops"], "callback", fail)
    result = call("ops")
    assert isinstance(result.exception, PermissionError)
    assert "the output cannot be written" not in result.output
