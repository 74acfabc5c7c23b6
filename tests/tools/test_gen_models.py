"""The generators themselves: cases are plain data, and what is written is what Paddle computes."""

import importlib
import json
import re
import subprocess
import sys

import numpy as np
import pytest

from gen_models import __main__ as command, all_ops
from gen_models.harness import store
from gen_models.harness.generate import GenerationError, generate
from gen_models.harness.legacy import ROOT, LegacyWorker
from gen_models.harness.naming import matches
from gen_models.harness.spec import Case, Op, bfloat16_bits, case, paddle, tensor
from gen_models.harness.store import generated
from paddle2ov.testing import MismatchError, check_case, check_model, load
from tests.support.command_line import python
from tests.support.formats import NEEDS_PADDLE_2

X = tensor([2, 3])


def relu(x):
    return paddle.nn.functional.relu(x)


def written(folder, build, *, format="pir", **arguments):
    """Generates one case; returns its record, inputs and outputs."""
    op = Op("op", build, case(**arguments))
    generate(op, op.cases[0], format, folder / "case")
    record = json.loads((folder / "case" / "case.json").read_text())
    return record, load(folder / "case" / "inputs.npz"), load(folder / "case" / "outputs.npz")


def test_collecting_the_cases_imports_no_paddle():
    code = "import sys, gen_models; gen_models.all_ops(); sys.exit('paddle' in sys.modules)"
    python("-c", code)


def test_every_case_has_a_json_form():
    for op in all_ops().values():
        for item in op.cases:
            plain = json.dumps(item.to_json())
            assert json.dumps(Case.from_json(json.loads(plain)).to_json()) == plain, item.name


def test_arguments_keep_their_types():
    arguments = {"a": (1, [2.5, None]), "b": {"c": 1 - 2j}, "d": slice(None, None, -1), "e": ..., "f": "float32"}
    back = Case.from_json(json.loads(json.dumps(case(**arguments).to_json())))
    assert back.arguments == arguments
    array = Case.from_json(case(a=np.arange(3, dtype=np.int32)).to_json()).arguments["a"]
    assert array.dtype == np.int32
    assert array.tolist() == [0, 1, 2]


def test_arguments_are_plain_data():
    with pytest.raises(TypeError, match="plain data, not <object"):
        case(a=object()).to_json()


def test_a_kept_model_stays_when_another_process_is_first(tmp_path, monkeypatch):
    firsts = []

    def write_second(op, case, format, folder):
        first = generate(op, case, format, tmp_path / format / folder.name)
        firsts.append((first / "case.json").stat().st_ino)
        return generate(op, case, format, folder)

    monkeypatch.setattr(store, "FOLDER", tmp_path)
    monkeypatch.setattr(store, "write", write_second)
    op = Op("relu", relu, case(x=X))
    folder = generated(op, op.cases[0], "pir")
    assert [(folder / "case.json").stat().st_ino] == firsts
    assert list(folder.parent.iterdir()) == [folder]
    assert generated(op, op.cases[0], "pir") == folder
    assert len(firsts) == 1


def test_data_depend_on_operator_and_arguments_only():
    first, second = case(x=X, k=1).data("a"), case(x=X, k=1, atol=1, why="a test").data("a")
    assert np.array_equal(first["x"], second["x"])
    assert not np.array_equal(first["x"], case(x=X, k=2).data("a")["x"])
    assert not np.array_equal(first["x"], case(x=X, k=1).data("b")["x"])
    both = case(x=[X, X]).data("a")
    assert list(both) == ["x_0", "x_1"]
    assert not np.array_equal(both["x_0"], both["x_1"])


def test_ranges_of_data():
    for dtype, low, high in (("float32", -1, 1), ("float64", -1, 1), ("int32", -10, 9), ("uint8", 0, 9)):
        values = tensor([1000], dtype).data(0)
        assert values.dtype == dtype
        assert low <= values.min() < values.max() <= high
    assert tensor([100], "int64", 3, 5).data(0).max() == 4
    assert tensor([], "float16").data(0).shape == ()
    assert np.isnan(tensor([2], values=[1, float("nan")]).data(0)[1])


def test_bfloat16_rounds_to_even():
    values = np.array([1.0, 1.00390625, 1.01171875, -2.0, np.inf, np.nan], np.float32)
    assert bfloat16_bits(values).tolist() == [0x3F80, 0x3F80, 0x3F82, 0xC000, 0x7F80, 0x7FC0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tensor([-1, 3]), "dynamic dimension is declared by `dims`"),
        (lambda: tensor([2, 3], dims=[-1, 4]), r"dims \[-1, 4\] do not admit"),
        (lambda: tensor([2], values=[1, 2, 3]), "3 values do not fill"),
        (lambda: tensor([2], "float"), "'float' is not one of"),
        (lambda: case(x=X, atol=1e-3), "sets atol says why"),
        (lambda: case(x=X, formats=("pir",)), "sets formats says why"),
        (lambda: case(x=X, formats=("onnx",), why="so"), "choose from"),
    ],
)
def test_mistakes_are_told(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_case_prints_as_it_is_written():
    text = "case(x=tensor([2, 3], 'float32', dims=[-1, 3]), axes=[0, 1], rtol=0.1, why='rough')"
    assert repr(eval(text)) == text


@pytest.mark.parametrize(
    ("pattern", "selected"),
    [
        ("testOpFuzzy/top_k_v2*", True),
        ("*top_k*", True),
        ("testOpFuzzy/top_k_v2_test_1", True),
        ("testOpFuzzy/top_k_v2_test_?/pir", True),
        ("*relu*:*top_k*", True),
        ("*top_k*:-*pir", False),
        ("-*legacy", True),
        ("top_k*", False),
        ("testOpFuzzy/top_k", False),
    ],
)
def test_filters_are_those_of_googletest(pattern, selected):
    assert matches("testOpFuzzy/top_k_v2_test_1/pir", pattern) is selected


def test_record_and_arrays(tmp_path):
    record, inputs, outputs = written(tmp_path, relu, x=tensor([2, 3], dims=[-1, 3]))
    assert (record["op"], record["format"], record["paddle"]) == ("op", "pir", paddle.__version__)
    assert record["reference"] == "saved program"
    assert record["outputs"] == [{"name": "fetch_name_0", "dtype": "float32"}]
    assert np.array_equal(outputs["0"], np.maximum(inputs["x"], 0))


def test_input_as_result_keeps_its_name(tmp_path):
    record, inputs, outputs = written(tmp_path, lambda x: [relu(x), x], x=X)
    assert [item["name"] for item in record["outputs"]] == ["fetch_name_0", "x"]
    assert np.array_equal(outputs["1"], inputs["x"])


def test_unused_input_is_left_out(tmp_path):
    record, inputs, _ = written(tmp_path, lambda x, y: relu(x), x=X, y=X)
    assert record["inputs"] == list(inputs) == ["x"]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int8", "uint8", "int64", "bool", "complex64"])
@pytest.mark.parametrize("shape", [[], [0, 3], [3, 2]])
def test_types_and_shapes(tmp_path, dtype, shape):
    record, inputs, outputs = written(tmp_path, lambda x: paddle.assign(x), x=tensor(shape, dtype))
    assert record["outputs"][0]["dtype"] == dtype
    assert outputs["0"].dtype == inputs["x"].dtype == ("uint16" if dtype == "bfloat16" else dtype)
    assert list(outputs["0"].shape) == shape
    assert np.array_equal(outputs["0"], inputs["x"])


def test_program_that_paddle_cannot_read_back_is_run_in_memory(tmp_path):
    record, _, outputs = written(tmp_path, lambda x: paddle.full_like(x, float("nan")), x=X)
    assert record["reference"].startswith("program in memory")
    assert np.isnan(outputs["0"]).all()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda x: None, "op_test_1: the builder returned None, not a tensor"),
        (lambda x: [relu(x), 3], "op_test_1: the builder returned 3, not a tensor"),
        (lambda x: x + 1.0, r"op_test_1: Paddle drops pd_op\.scale"),
        (lambda x: paddle.reshape(x, [7]), "op_test_1: ValueError"),
        (lambda x: x.no_such_method(), "op_test_1: AttributeError"),
    ],
)
def test_failure_names_the_case_and_leaves_nothing(tmp_path, build, message):
    with pytest.raises(GenerationError, match=message):
        written(tmp_path, build, x=X)
    assert list(tmp_path.iterdir()) == []


def test_format_that_this_paddle_does_not_write(tmp_path):
    with pytest.raises(GenerationError, match="writes pir programs, not legacy"):
        written(tmp_path, relu, format="legacy", x=X)


def test_check_case_and_check_model_on_a_real_model(tmp_path):
    _, inputs, outputs = written(tmp_path, relu, x=X)
    check_case(tmp_path / "case")
    check_model(tmp_path / "case", inputs)  # Paddle computes what is expected
    with pytest.raises(MismatchError):
        check_model(tmp_path / "case", inputs, [outputs["0"] + 1])


@NEEDS_PADDLE_2
def test_check_model_on_a_legacy_model():
    op = all_ops()["relu"]
    folder = generated(op, op.cases[0], "legacy")
    check_model(folder, load(folder / "inputs.npz"))  # by Paddle 3, which computes legacy programs too


OUTSIDE = """
import os
from gen_models.harness.spec import Op, case, paddle, tensor

def _crash(x):
    os.abort()

def _print(x):
    print("words on standard output")
    return paddle.nn.functional.relu(x)

X = tensor([2, 3])
OPS = [Op("crash", _crash, case(x=X)), Op("prints", _print, case(x=X)), Op("none", lambda x: None, case(x=X))]
"""


@NEEDS_PADDLE_2
def test_worker_survives_what_builders_do(tmp_path, monkeypatch):
    (tmp_path / "my_operators.py").write_text(OUTSIDE)  # a module outside the repository
    monkeypatch.syspath_prepend(tmp_path)
    crash, prints, none = importlib.import_module("my_operators").OPS
    worker = LegacyWorker()
    try:
        with pytest.raises(GenerationError, match=r"Paddle 2 died(.|\n)* on crash"):
            worker.generate("crash", "my_operators", crash.cases[0], tmp_path / "crash")
        with pytest.raises(GenerationError, match="none_test_1: the builder returned None"):
            worker.generate("none", "my_operators", none.cases[0], tmp_path / "none")
        folder = worker.generate("prints", "my_operators", prints.cases[0], tmp_path / "prints")
    finally:
        worker.close()
    assert (folder / "inference.pdmodel").exists()
    check_case(folder)


def test_command_line(tmp_path, capsys, monkeypatch):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["gen_models", *map(str, arguments)])
        return command.main()

    assert run("top_k_v2_test_?", "--list") == 0
    assert len(capsys.readouterr().out.splitlines()) == 9
    assert run("testOpFuzzy/top_k_v2*", "--out", tmp_path) == 2
    assert capsys.readouterr().err.startswith("error: no case matches 'testOpFuzzy/top_k_v2*'")
    assert run("top_k_v2_test_1", "--out", tmp_path, "--format", "pir") == 0
    folder = tmp_path / "pir" / "top_k_v2_test_1"
    assert (folder / "inference.json").exists()
    assert run("--rerun", folder) == 0
    np.savez(folder / "outputs.npz", **{"0": np.zeros([3, 2], np.float32), "1": np.zeros([3, 2], np.int64)})
    assert run("--rerun", folder) == 1
    assert "elements differ" in capsys.readouterr().err
    assert run("--rerun", tmp_path) == 2


def test_a_list_has_a_line_for_each_case(capsys, monkeypatch):
    """Data that are many are left out of it, however they are given."""
    monkeypatch.setattr(sys, "argv", ["gen_models", "--list"])
    assert command.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [case.name for op in all_ops().values() for case in op.cases]
    assert max(map(len, lines)) < 1000
    large = np.arange(100).reshape(10, 10)
    many = case(x=[tensor([10, 10], values=large, dims=[-1, 10]), X], y=large, axis=[0, 1])
    monkeypatch.setattr(command, "all_ops", lambda: {"relu": Op("relu", relu, many)})
    assert command.main() == 0
    parts = "x=[tensor([10, 10], 'float32', values=..., dims=[-1, 10]), tensor([2, 3], 'float32')], y=..., axis=[0, 1]"
    assert capsys.readouterr().out == f"relu_test_1: case({parts})\n"


def test_a_list_that_nobody_reads_to_its_end():
    """As `| head` does; a shell knows the status from what SIGPIPE ends."""
    command = [sys.executable, "-m", "gen_models", "--list"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline()
    process.stdout.close()  # more is to come than a pipe holds
    assert process.stderr.read() == ""
    assert process.wait() == 141


def test_fast_takes_one_case_of_each_operator_and_format_and_no_network(tmp_path):
    (tmp_path / "test_sample.py").write_text(
        """
import pytest
from gen_models import all_networks, all_ops
from gen_models.harness.store import generated_network
from tests.support.formats import forms

OPS = [all_ops()[name] for name in ("relu", "abs")]
CASES = [(op, *one) for op in OPS for one in forms(op, False)]

@pytest.mark.parametrize(("op", "case", "form"), CASES, ids=[f"{case.name}/{form.format}" for _, case, form in CASES])
def test_case(op, case, form):
    pass

@pytest.mark.parametrize("number", [1, 2, 3])
def test_number(number):
    pass

def test_network():
    generated_network(next(iter(all_networks().values())), "pir")
"""
    )
    command = ["-m", "pytest", "-v", "-p", "no:cacheprovider", "-c", ROOT / "pyproject.toml", "--fast"]
    run = python(*command, tmp_path)
    outcomes = dict(re.findall(r"::(\S+) (PASSED|SKIPPED)", run.stdout))
    assert outcomes == {
        **{f"test_case[{op}_test_1/{format}]": "PASSED" for op in ("relu", "abs") for format in ("pir", "legacy")},
        "test_number[1]": "PASSED",
        "test_network": "SKIPPED",
    }
