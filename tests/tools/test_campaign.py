"""Campaigns of random cases: rounds, what is tried again, what a crash leaves, the page."""

import dataclasses
import json
from pathlib import Path

import pytest

from gen_models import __main__ as generator, all_ops
from gen_models.harness import campaign
from gen_models.harness.exploration import BatchError, explore
from gen_models.harness.spec import Op, case, paddle, tensor
from paddle2ov.jobs.executor import Outcome
from paddle2ov.jobs.state import State
from tools import campaign as command, campaign_page

DOCS = Path(__file__).resolve().parents[2] / "docs"


class Inline:
    """An executor that runs `function` here; operators in `dies` take their process with them."""

    def __init__(self, function=lambda chunk: {"asked": chunk.examples, "compared": [chunk.key]}, dies=()):
        self.function, self.dies, self.ran = function, dies, []

    def run(self, _, jobs):
        for chunk in jobs:
            self.ran.append(chunk.key)
            died = chunk.op in self.dies
            yield Outcome(chunk, failure="its process died") if died else Outcome(chunk, self.function(chunk))


def run(executor, planned, path):
    with State(path) as state:
        campaign.run(executor, planned, state, lambda chunk, record: None, campaign.run_chunk)
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
    dying = Inline(dies=["relu"])
    records = run(dying, planned, tmp_path / "state")
    assert dying.ran == ["cumsum/pir/0", "relu/pir/0", "cumsum/pir/1"]  # what failed has no second round
    assert records["relu/pir/0"]["failure"] == "its process died"
    mended = Inline()
    run(mended, planned, tmp_path / "state")
    assert mended.ran == ["relu/pir/0", "relu/pir/1"]
    done = Inline()
    run(done, planned, tmp_path / "state")
    assert done.ran == []


def test_crash_names_the_case_it_drew(tmp_path):
    (chunk,) = campaign.chunks("testOpRandom/relu/pir", 3, ("pir",), tmp_path)
    (tmp_path / "relu-pir-0").mkdir()
    (tmp_path / "relu-pir-0" / "drawn.txt").write_text("case(x=...)")
    records = run(Inline(dies=["relu"]), [chunk], tmp_path / "state")
    assert records["relu/pir/0"]["case"] == "case(x=...)"


def test_page():
    records = {
        "relu/pir/0": {"asked": 2, "compared": ["a", "b"]},
        "relu/pir/1": {"asked": 2, "compared": ["b", "c"]},
        "relu/legacy/0": {"asked": 2, "compared": ["a"], "failure": "MismatchError: no", "case": "case(x=1)"},
        "an_operator_that_is_gone/pir/0": {"asked": 2, "compared": ["a"]},
    }
    data = campaign_page.results(records)
    assert data["operators"]["relu"] == {"drawn": 6, "pir": 3, "legacy": 1}  # a case that two rounds drew counts once
    assert data["operators"]["baddbmm"] == {"drawn": 0, "pir": 0}
    assert "an_operator_that_is_gone" not in data["operators"]
    text = campaign_page.page(data)
    assert "\n6 examples were drawn for each operator" in text
    assert "| cases | 3 | 1 |" in text
    assert "| failures | 0 | 1 |" in text
    assert "In all, 4 cases of 1 operators were compared." in text
    assert "- `relu` (legacy): `case(x=1)`" in text
    assert json.loads(campaign_page.as_json(data)) == data


def test_page_that_is_published():
    """The page says what its data say."""
    data = json.loads((DOCS / "campaign.json").read_text())
    assert (DOCS / "campaign.json").read_text() == campaign_page.as_json(data)
    assert (DOCS / "campaign.md").read_text() == campaign_page.page(data)


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
    monkeypatch.setattr(command, "executor", lambda options: Inline(campaign.run_chunk))
    state, page = tmp_path / "state", tmp_path / "page.md"
    arguments = ["--filter", "testOpRandom/relu/pir", "--seeds", "2", "--state", str(state), "--page", str(page)]
    assert command.main(arguments) == 0
    assert "2 cases compared, 0 failures" in capsys.readouterr().out
    assert "In all, 2 cases of 1 operators were compared." in page.read_text()
    assert json.loads(page.with_suffix(".json").read_text())["operators"]["relu"]["pir"] == 2
    assert command.main(["--only-page", "--state", str(state)]) == 0
    assert command.main(["--state", str(tmp_path)]) == 2
    assert "error: state file" in capsys.readouterr().err


@pytest.mark.parametrize("seeds", ["0", "-1", "x"])
def test_seeds(seeds, capsys):
    with pytest.raises(SystemExit):
        command.main(["--seeds", seeds])
    assert f"--seeds: '{seeds}' is not a number of 1 or more" in capsys.readouterr().err


def test_the_page_has_a_name_that_its_data_do_not_take(capsys):
    with pytest.raises(SystemExit):
        command.main(["--page", "campaign.json"])
    assert "--page: 'campaign.json' is not called FILE.md" in capsys.readouterr().err


def test_a_filter_that_matches_nothing(tmp_path, capsys):
    assert command.main(["--filter", "testOpRandom/relo*", "--state", str(tmp_path / "state")]) == 2
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
    assert command.main(["--filter", pattern, "--state", str(tmp_path / "state")]) == 0
    assert capsys.readouterr().out == f"No random cases to run: '{pattern}' selects none of {op}\n"
