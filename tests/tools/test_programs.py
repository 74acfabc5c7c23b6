"""Random programs: what they are made of, what is found of them, how it is made small and written down."""

import ast
import json
import re
from pathlib import Path

import pytest

from gen_models.programs import maker, random_program
from gen_models.programs.compare import (
    WITH_REWRITES,
    WITHOUT_REWRITES,
    Mismatch,
    differences,
    variants,
    write_program,
)
from gen_models.programs.program import Call, Program, Value, live
from gen_models.programs.shrink import keep, shown, shrink
from gen_models.programs.source import layer
from paddle2ov.comparison.differences import Expected
from paddle2ov.compilation.running import Result
from paddle2ov.jobs.state import State
from paddle2ov.op_table import OP_TABLE
from paddle2ov.testing import MismatchError, compare_rounded
from tests.support.command_line import Inline
from tests.support.formats import FORMATS
from tools import campaigns, fuzz_programs as command
from tools.campaigns import run
from tools.fuzz_programs import ProgramChunk, explore_program

DIFFERED = Path(__file__).parent / "differed"
FIRST, COUNT = 1, 12
"""The seeds of the programs that are compared here; `make fuzz-programs` runs any number."""


def pytest_generate_tests(metafunc):
    if metafunc.function is test_program:
        seeds = range(FIRST, FIRST + (metafunc.config.getoption("--seeds") or COUNT))
        metafunc.parametrize("format", FORMATS)
        metafunc.parametrize("seed", seeds)


@pytest.mark.one_in(12)
def test_program(seed, format, tmp_path):
    record = explore_program(ProgramChunk(format, seed, str(tmp_path / "kept")))
    failures = record.get("failures", ())
    assert not failures, "\n".join(map(shown, failures))
    assert record["compared"] or record["refused"]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("path", sorted(DIFFERED.glob("*.json")), ids=lambda one: getattr(one, "stem", one))
@pytest.mark.parametrize("format", FORMATS, ids=lambda one: getattr(one, "stem", one))
def test_program_that_differed(path, format, tmp_path):
    """Programs that showed faults which are mended, or gone around, since.

    They run with the rewrites alone: what goes around a fault of OpenVINO is one, and without it some end the process.
    """
    program = Program.from_json(json.loads(path.read_text()))
    write_program(program, format, tmp_path)
    mismatches = list(differences(program, tmp_path, [variant for variant in variants(program) if variant.rewrite]))
    assert not mismatches, [item.text for item in mismatches]


@pytest.mark.parametrize("seed", range(20))
def test_programs_are_plain_data(seed):
    program = random_program(seed)
    assert program == random_program(seed)
    assert Program.from_json(json.loads(json.dumps(program.to_json()))) == program
    assert program.kept() == program
    ast.parse(layer(program))


PARTS = (
    "self.m",
    "paddle.shape",
    "    while ",
    "    for ",
    "    if ",
    "NHWC",
    "paddle.concat",
    "F.conv2d",
    "LSTM",
    "int64",
    "paddle.where",
    "paddle.vision.ops",
    "F.conv3d",
    "paddle.einsum",
    "paddle.nonzero",
    "data_format='NHWC'",
    "float64",
    "paddle.complex",
    "paddle.fft",
    "MultiHeadAttention",
    "return_mask=True",
    "paddle.linalg",
    "paddle.geometric",
    "F.pad",
)


def test_programs_are_made_of_many_calls(monkeypatch):
    """Of every step that makes one, and of every kind of call."""
    taken, counted = set(), {}
    for item, weight in maker.STEPS.items():

        def step(make, one=item):
            one(make)
            taken.add(one)

        counted[step] = weight
    steps = set(maker.STEPS)
    monkeypatch.setattr(maker, "STEPS", counted)
    programs = [random_program(seed) for seed in range(400)]
    assert taken == steps
    texts = [layer(program) for program in programs]
    for part in PARTS:
        assert sum(part in text for text in texts) > 8, part
    assert any(re.search(r"\n {12}(if|for|while) ", text) for text in texts)  # one in another
    assert sum(program.is_steady for program in programs[:100]) > 50  # those that are computed in bfloat16 as well


X = Value(0, ((4, 1, 2), (3, 3, 3)))


def made(*calls, results, count=9):
    values = {number: Value(number, X.dims) for number in range(count)}
    return Program({0: (-1, 3)}, values, {}, calls, results)


LOOP = Call(
    "for v5 in range(paddle.shape(v0)[0])",
    (3, 4),
    ((Call("paddle.tanh(v3)", (6,)), Call("v4[v5] = 0.5")),),
    ((6, 4),),
    (0, 0),
)


def test_what_nothing_needs_is_left_out():
    both = made(Call("paddle.sin(v0)", (1,)), LOOP, results=(3, 4))
    assert both.kept().calls == (LOOP,)
    (call,) = made(LOOP, results=(4,)).kept().calls
    assert call == Call(LOOP.code, (4,), ((Call("v4[v5] = 0.5"),),), ((4,),), (0,))
    crossed = Call("v1 < 3", (7,), ((Call("paddle.sin(v0)", (8,)),), ()), ((8,), (0,)))
    assert live([crossed], [0]) == ()


def test_text():
    branch = Call("paddle.mean(v3) > 0.0", (7,), ((Call("paddle.sin(v3)", (8,)),), ()), ((8,), (3,)))
    assert layer(made(LOOP, branch, results=(4, 7))).splitlines()[2:] == [
        "        v3 = paddle.assign(v0)",
        "        v4 = paddle.assign(v0)",
        "        for v5 in range(paddle.shape(v0)[0]):",
        "            v6 = paddle.tanh(v3)",
        "            v4[v5] = 0.5",
        "            v3 = v6",
        "        if paddle.mean(v3) > 0.0:",
        "            v8 = paddle.sin(v3)",
        "            v7 = v8",
        "        else:",
        "            v7 = v3",
        "        return v4, v7",
    ]


def test_shrinking(tmp_path, monkeypatch):
    """To the call at fault, inside of a loop too, whatever stood around it."""
    outer = Call("paddle.sin(v0)", (1,))
    body = (Call("paddle.exp(v3)", (6,)), Call("F.softmax(v6, axis=-1)", (7,)))
    loop = Call("for v5 in range(paddle.shape(v0)[0])", (3,), (body,), ((7,),), (1,))
    whole = made(outer, loop, Call("paddle.cos(v3)", (8,)), Call("v8 + v1", (2,)), results=(2, 1))

    def differing(program, folder, wanted=None):
        for call in program.walk():
            if "softmax" in call.code:
                yield Mismatch(program, WITH_REWRITES, "values", "wrong")

    monkeypatch.setattr("gen_models.programs.shrink.write_program", lambda program, format, folder: folder)
    monkeypatch.setattr("gen_models.programs.shrink.differences", differing)
    small = shrink(Mismatch(whole, WITH_REWRITES, "values", "wrong"), "pir", tmp_path).program
    assert small.calls == (Call("F.softmax(v6)", (7,)),), layer(small)
    assert small.results == (7,)


def test_a_planted_fault_is_found(tmp_path, monkeypatch):
    """A converter that takes a sine for tanh; what is kept of it can be compared again."""
    program = made(Call("paddle.tanh(v0)", (1,)), Call("v0 - v1", (2,)), results=(2,))
    write_program(program, "pir", tmp_path / "model")
    assert list(differences(program, tmp_path / "model")) == []
    monkeypatch.setitem(OP_TABLE, "tanh", OP_TABLE["sin"])
    mismatches = list(differences(program, tmp_path / "model"))
    assert [(item.variant.name, item.step) for item in mismatches][:2] == [
        (value.name, "values") for value in (WITH_REWRITES, WITHOUT_REWRITES)
    ]
    record = keep(mismatches[0], "pir/1", "pir", tmp_path)
    assert "v2 = v0 - v1" in shown(record)
    assert "run 0, inputs 0: result 0" in shown(record)
    assert shown(record).endswith(f"--format pir --replay {record['kept']}")
    assert Program.from_json(json.loads(Path(record["kept"]).read_text())) == program


def test_campaign(tmp_path):
    """A process that dies is known by its program; one that failed is tried again, and no other is left out for it."""
    planned = [ProgramChunk("pir", seed, str(tmp_path / str(seed))) for seed in (1, 2)]
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "drawn.txt").write_text("{}")
    first, second = (chunk.name for chunk in planned)
    dying = Inline(first)
    with State(tmp_path / "state") as state:
        for _ in range(2):
            run(dying, planned, state, lambda job: {"asked": 1, "compared": [job.name]})
        assert state.get("programs/pir/1")["case"] == "{}"
    assert dying.ran == [first, second, first]


def test_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(campaigns, "executor", lambda options, timeout: Inline())
    state = tmp_path / "state"
    assert command.main(["--seeds", "1", "--first", "2", "--format", "pir", "--state", str(state)]) == 0
    assert "1 programs compared, 0 differences; Paddle refused 0 more" in capsys.readouterr().out
    assert command.main(["--only-report", "--state", str(state)]) == 0
    assert command.main(["--only-report", "--state", str(tmp_path)]) == 2
    assert "error: state file" in capsys.readouterr().err
    kept = tmp_path / "program.json"
    kept.write_text(json.dumps(random_program(2).to_json()))
    assert command.main(["--replay", str(kept)]) == 0
    assert "0 ways differ" in capsys.readouterr().out


@pytest.mark.parametrize("seeds", ["0", "-1", "x"])
def test_seeds(seeds, capsys):
    with pytest.raises(SystemExit):
        command.main(["--seeds", seeds])
    assert f"--seeds: '{seeds}' is not a number of 1 or more" in capsys.readouterr().err


def test_rounded_values():
    import numpy as np

    want = np.linspace(-1, 1, 50, dtype=np.float32)
    expected = [Expected("", "float32", want)]
    compare_rounded([Result(frozenset(), "f32", want + np.float32(0.03))], expected, 0.1, "here")
    with pytest.raises(
        MismatchError, match=r"here: result 0 .*the root mean square of the errors is 0.2, that of the values"
    ):
        compare_rounded([Result(frozenset(), "f32", want + np.float32(0.2))], expected, 0.1, "here")
    lost = np.where(want > 0.9, np.float32(np.nan), want)
    with pytest.raises(MismatchError, match="3 elements are NaN on one side only"):
        compare_rounded([Result(frozenset(), "f32", lost)], expected, 0.1, "here")
    compare_rounded([Result(frozenset(), "f32", lost)], [Expected("", "float32", lost)], 0.1, "here")
