"""Campaigns of random cases: rounds, what is tried again, what a crash leaves."""

import dataclasses

import pytest

from gen_models import __main__ as generator, all_ops
from gen_models.harness.exploration import BatchError, explore
from gen_models.harness.spec import Op, case, paddle, tensor
from paddle2ov.jobs.state import State
from tests.support.command_line import Inline
from tools import campaign, campaigns

CUMSUM, RELU = "testOpRandom/cumsum/pir", "testOpRandom/relu/pir"


def compared(chunk):
    return {"asked": chunk.examples, "compared": [chunk.key]}


def run(executor, planned, path):
    with State(path) as state:
        campaigns.run(executor, planned, state, compared)
        return state.records()


def test_rounds(tmp_path):
    planned = campaign.chunks("testOpRandom/cumsum:testOpRandom/relu:-*legacy", 45, ("pir", "legacy"), tmp_path)
    keys = [(chunk.key, chunk.examples) for chunk in planned]
    first = [("cumsum/pir/0", 20), ("relu/pir/0", 20)]
    assert keys == [*first, ("cumsum/pir/1", 20), ("relu/pir/1", 20), ("cumsum/pir/2", 5), ("relu/pir/2", 5)]


def test_cases_are_spread_over_the_formats(tmp_path):
    planned = campaign.chunks("testOpRandom/relu", 45, ("pir", "legacy"), tmp_path)
    assert [(chunk.key, chunk.examples) for chunk in planned] == [
        ("relu/pir/0", 20),
        ("relu/legacy/0", 20),
        ("relu/pir/1", 3),
        ("relu/legacy/1", 3),
    ]


def test_what_is_run_again(tmp_path):
    planned = campaign.chunks("testOpRandom/cumsum:testOpRandom/relu:-*legacy", 40, ("pir",), tmp_path)
    dying = Inline(RELU)
    records = run(dying, planned, tmp_path / "state")
    assert dying.ran == [CUMSUM, RELU, CUMSUM]  # what failed has no second round
    assert records["relu/pir/0"]["failure"] == "its process died"
    mended = Inline()
    run(mended, planned, tmp_path / "state")
    assert mended.ran == [RELU, RELU]
    done = Inline()
    run(done, planned, tmp_path / "state")
    assert done.ran == []


def test_crash_names_the_case_it_drew(tmp_path):
    (chunk,) = campaign.chunks("testOpRandom/relu/pir", 3, ("pir",), tmp_path)
    (tmp_path / "relu-pir-0").mkdir()
    (tmp_path / "relu-pir-0" / "drawn.txt").write_text("case(x=...)")
    records = run(Inline(RELU), [chunk], tmp_path / "state")
    assert records["relu/pir/0"]["case"] == "case(x=...)"


def _wrong(x, *, k):
    return paddle.nn.functional.relu(x) + float(k)


def test_exploration(tmp_path, monkeypatch):
    """A wrong converter is found, and the smallest case that shows it is kept."""
    relu = all_ops()["relu"]
    result = explore(relu, "pir", 3, tmp_path / "relu", seed=1)
    assert result.error is None
    assert 1 <= len(result.compared) <= 3
    assert not (tmp_path / "relu").exists()

    def refuses(folders):
        raise ValueError("as if it differed")

    monkeypatch.setattr("gen_models.harness.exploration.check_case", refuses)
    monkeypatch.setattr("gen_models.harness.exploration.check_cases", refuses)
    op = Op("wrong", _wrong, *(case(x=tensor([size]), k=1) for size in (1, 9)))
    result = explore(op, "pir", 5, tmp_path / "wrong")
    assert str(result.error) == "as if it differed"
    assert result.case.arguments["x"].shape == (1,)
    assert (tmp_path / "wrong" / "case" / "case.json").is_file()
    assert (tmp_path / "wrong" / "drawn.txt").read_text() == repr(result.case)
    assert dataclasses.asdict(result)["compared"]


def test_what_fails_only_together_is_a_failure_of_its_own(tmp_path, monkeypatch, capsys):
    def refuses(folders):
        raise ValueError("as if parts of one model differed")

    monkeypatch.setattr("gen_models.harness.exploration.check_cases", refuses)
    for died in (False, True):  # what died is tried one by one first, and then together again
        if died:
            (tmp_path / "relu").mkdir(exist_ok=True)
            (tmp_path / "relu" / "drawn.txt").write_text("")
        result = explore(all_ops()["relu"], "pir", 3, tmp_path / "relu", seed=1)
        assert isinstance(result.error, BatchError)
        assert "agree one by one, but not as parts of one model: as if parts of one model differed" in str(result.error)
        assert result.case is None
        kept = [path.parent for path in (tmp_path / "relu" / "together").glob("*/case.json")]
        assert {path.name for path in kept} == result.compared
    monkeypatch.undo()
    monkeypatch.setattr("sys.argv", ["gen_models", "--rerun", str(tmp_path / "relu" / "together")])
    assert generator.main() == 0


def test_a_case_that_fails_alone_is_named_also_after_a_death(tmp_path, monkeypatch):
    def refuses(folder):
        raise ValueError("as if it differed")

    monkeypatch.setattr("gen_models.harness.exploration.check_case", refuses)
    (tmp_path / "relu").mkdir()
    (tmp_path / "relu" / "drawn.txt").write_text("")
    result = explore(all_ops()["relu"], "pir", 3, tmp_path / "relu", seed=1)
    assert str(result.error) == "as if it differed"
    assert result.case is not None


def test_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(campaigns, "executor", lambda options, timeout: Inline())
    state = tmp_path / "state"
    assert campaign.main(["--filter", "testOpRandom/relu/pir", "--seeds", "2", "--state", str(state)]) == 0
    assert "2 cases of 1 operators compared, 0 failures" in capsys.readouterr().out
    with State(state) as records:  # as if a second round had drawn one of them again, and another failed
        again = records.get("relu/pir/0")["compared"][0]
        records.put("relu/pir/1", {"asked": 2, "compared": [again, "case(x=1)"]})
        failed = {"failure": "MismatchError: no", "case": "case(x=2)", "kept": "folder"}
        records.put("abs/legacy/0", {"asked": 2, "compared": ["case(x=2)"], **failed})
    assert campaign.main(["--only-report", "--state", str(state)]) == 1
    said = capsys.readouterr().out
    assert "testOpRandom/abs/legacy\n  case(x=2)\n  MismatchError: no\n  kept: folder" in said
    assert "4 cases of 2 operators compared, 1 failures" in said
    assert campaign.main(["--state", str(tmp_path)]) == 2
    assert "error: state file" in capsys.readouterr().err


@pytest.mark.parametrize("seeds", ["0", "-1", "x"])
def test_seeds(seeds, capsys):
    with pytest.raises(SystemExit):
        campaign.main(["--seeds", seeds])
    assert f"--seeds: '{seeds}' is not a number of 1 or more" in capsys.readouterr().err


def test_a_filter_that_matches_nothing(tmp_path, capsys):
    assert campaign.main(["--filter", "testOpRandom/relo*", "--state", str(tmp_path / "state")]) == 2
    assert "no operator matches 'testOpRandom/relo*'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("pattern", "op"),
    [
        ("testOpRandom/dequantize_linear", "dequantize_linear"),
        ("testOpFuzzy/relu_*", "relu, relu_grad, relu_grad_grad"),
    ],
)
def test_a_filter_without_random_cases(tmp_path, capsys, pattern, op):
    """An operator whose cases are not varied, and declared cases: `make fuzz` has run what there is."""
    assert campaign.main(["--filter", pattern, "--state", str(tmp_path / "state")]) == 0
    assert capsys.readouterr().out == f"No random cases to run: '{pattern}' selects none of {op}\n"
