"""Random cases of an operator: what differs is found and made small, what a crash leaves is tried again."""

import dataclasses

from gen_models import __main__ as generator, all_ops
from gen_models.harness.exploration import BatchError, explore
from gen_models.harness.spec import Op, case, paddle, tensor


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
