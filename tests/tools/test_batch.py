"""`paddle2ov batch`: what it finds, what it redoes, what a model that fails or crashes leaves."""

import json
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from gen_models import all_ops
from gen_models.harness.store import generated
from paddle2ov.cli import cli
from paddle2ov.jobs import conversions
from paddle2ov.jobs.discovery import find_models
from paddle2ov.jobs.executor import Outcome
from paddle2ov.jobs.state import State
from tests.support.formats import NEEDS_PADDLE_2


def put(folder, format="pir", op="relu", name="inference"):
    """Copies a small model there."""
    one = all_ops()[op]
    source = generated(one, one.cases[0], format)
    folder.mkdir(parents=True, exist_ok=True)
    for path in source.glob("inference.*"):
        shutil.copy(path, folder / path.name.replace("inference", name))


@pytest.fixture
def tree(tmp_path):
    """Two models, one that cannot be read, and much that is none."""
    root = tmp_path / "models"
    put(root / "ocr" / "det")
    put(root / "cls")
    (root / "broken").mkdir()
    (root / "broken" / "inference.json").write_text('{"base_code": {"magic": "pir", "version": 1}, "program": 3}')
    put(root / ".cache" / "hidden")
    (root / "cls" / "config.json").write_text('{"labels": ["a"]}')
    return root


class Inline:
    """An executor that runs here, and counts; a model in `dies` takes its process with it."""

    def __init__(self, dies=()):
        self.dies, self.ran = dies, []

    def run(self, function, jobs):
        for job in jobs:
            self.ran.append(job.name)
            yield Outcome(job, failure="its process died") if job.name in self.dies else Outcome(job, function(job))


@pytest.fixture
def inline(monkeypatch):
    executor = Inline()
    monkeypatch.setattr("paddle2ov.commands.batch._executor", lambda *_: executor)
    return executor


def batch(*arguments):
    return CliRunner().invoke(cli, ["batch", *map(str, arguments)])


def test_extensions(tmp_path, inline, monkeypatch):
    """Each process runs them; another text of theirs is another conversion."""
    monkeypatch.setattr("paddle2ov.translation.extension._script", {})
    put(tmp_path / "models" / "one")
    own = tmp_path / "own.py"
    text = """
from paddle2ov import ConversionExtension
from paddle2ov.graph.opset import ops
CONVERTERS = [ConversionExtension("relu", lambda node: {"out": ops.OPERATOR(node.get_input("x"))})]
"""
    for name in ("tanh", "tanh", "sigmoid"):
        own.write_text(text.replace("OPERATOR", name))
        conversions._run_once.cache_clear()
        assert batch(tmp_path / "models", "-o", tmp_path / "out", "--extension", own).exit_code == 0
        assert f'type="{name.capitalize()}"' in (tmp_path / "out" / "one.xml").read_text()
    assert inline.ran == ["one", "one"]


def states(out):
    return {one["name"]: one["state"] for one in json.loads((out / "summary.json").read_text())["models"]}


def test_discovery(tree, tmp_path):
    put(tree / "both", name="a")
    put(tree / "both", name="b")
    out = tmp_path / "out"
    found = {one.name: one.target.relative_to(out).as_posix() for one in find_models(tree, out)}
    assert found == {
        "both/a.json": "both/a.xml",
        "both/b.json": "both/b.xml",
        "broken": "broken.xml",
        "cls": "cls.xml",
        "ocr/det": "ocr/det.xml",
    }


@NEEDS_PADDLE_2
def test_one_model_in_both_formats(tmp_path):
    put(tmp_path / "m", "pir")
    put(tmp_path / "m", "legacy")
    found = [one.target.name for one in find_models(tmp_path, tmp_path / "out")]
    assert found == ["inference.json.xml", "inference.pdmodel.xml"]


def test_batch(tree, tmp_path, inline):
    out = tmp_path / "out"
    result = batch(tree, "-o", out)
    assert result.exit_code == 1, result.output
    assert states(out) == {"broken": "refused", "cls": "converted", "ocr/det": "converted"}
    assert (out / "ocr" / "det.xml").is_file()
    assert (out / "ocr" / "det.bin").is_file()
    assert "2 converted, 1 refused" in result.output
    page = (out / "summary.html").read_text()
    assert "ocr/det" in page
    assert "refused" in page

    inline.ran.clear()
    batch(tree, "-o", out)
    assert inline.ran == ["broken"]  # the others are done

    shutil.rmtree(tree / "broken")
    put(tree / "cls", op="sigmoid")  # another model in its place
    (out / "ocr" / "det.xml").unlink()
    inline.ran.clear()
    assert batch(tree, "-o", out).exit_code == 0
    assert inline.ran == ["cls", "ocr/det"]
    inline.ran.clear()
    assert batch(tree, "-o", out, "--again").exit_code == 0
    assert inline.ran == ["cls", "ocr/det"]


def test_a_crash_fails_alone(tree, tmp_path, inline):
    inline.dies = ["cls"]
    result = batch(tree, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert states(tmp_path / "out") == {"broken": "refused", "cls": "failed", "ocr/det": "converted"}
    assert "cls: failed: its process died" in result.output


@pytest.mark.parametrize("ending", [RuntimeError, KeyboardInterrupt])
def test_what_a_killed_process_was_writing_goes(tree, tmp_path, inline, monkeypatch, ending):
    out = tmp_path / "out"

    def killed(job):
        (Path(job.target).parent / ".writing-abc").mkdir(parents=True)
        (Path(job.target).parent / ".writing-abc" / "model.bin").write_bytes(b"half")
        if job.name == "ocr/det":
            raise ending
        return {"state": "failed", "message": "killed"}

    monkeypatch.setattr(conversions, "convert_one", killed)
    with suppress(RuntimeError):
        batch(tree, "-o", out)
    assert not list(out.rglob(".writing-*"))


def test_an_interrupted_run_goes_on(tree, tmp_path, inline, monkeypatch):
    monkeypatch.setattr(conversions, "_timed", lambda record, started: record)
    real, out = conversions.convert_one, tmp_path / "out"

    def interrupted(job):
        if job.name == "ocr/det":
            raise KeyboardInterrupt
        return real(job)

    monkeypatch.setattr(conversions, "convert_one", interrupted)
    assert batch(tree, "-o", out).exit_code == 130
    assert inline.ran == ["broken", "cls", "ocr/det"]
    monkeypatch.setattr(conversions, "convert_one", real)
    inline.ran.clear()
    batch(tree, "-o", out)
    assert inline.ran == ["broken", "ocr/det"]


@pytest.mark.parametrize("content", [b"[]", b"SQLite format 3\0" + b"x" * 5000], ids=["list", "damaged"])
def test_a_state_that_cannot_be_read_is_put_aside(tree, tmp_path, inline, content):
    (tmp_path / "out").mkdir()
    state = tmp_path / "out" / ".paddle2ov-batch"
    state.write_bytes(content)
    result = batch(tree / "cls", "-o", tmp_path / "out")
    assert result.exit_code == 0
    assert "all models are done again" in result.output
    assert inline.ran == ["inference.json"]
    assert state.with_name(".paddle2ov-batch.unreadable").read_bytes() == content
    inline.ran.clear()
    assert "done again" not in batch(tree / "cls", "-o", tmp_path / "out").output
    assert not inline.ran


@pytest.mark.parametrize("change", [None, [], 3, {"state": "converted"}, {"nodes": "many"}, {"largest": []}])
def test_a_record_of_another_version_is_done_again(tree, tmp_path, inline, change):
    out = tmp_path / "out"
    batch(tree / "cls", "-o", out)
    with State(out / ".paddle2ov-batch") as state:
        record = state.get("inference.json")
        is_part = isinstance(change, dict) and "state" not in change
        state.put("inference.json", {**record, **change} if is_part else change)
    inline.ran.clear()
    assert batch(tree / "cls", "-o", out).exit_code == 0
    assert inline.ran == ["inference.json"]


def test_what_the_page_counts_as_done(tree, tmp_path, inline, monkeypatch):
    found = {"broken": "refused", "cls": "agrees up to ties", "ocr/det": "agrees"}
    monkeypatch.setattr(conversions, "convert_one", lambda job: {"state": found[job.name], "message": ""})
    assert batch(tree, "-o", tmp_path / "out").exit_code == 1
    page = (tmp_path / "out" / "summary.html").read_text()
    assert '<span class="badge good">2 done</span>' in page
    assert '<span class="badge bad">1 not</span>' in page
    assert '<span class="badge good">agrees up to ties</span>' in page


def test_hostile_names_in_the_page(tmp_path, inline):
    put(tmp_path / "models" / "<script>alert(1)<")
    batch(tmp_path / "models", "-o", tmp_path / "out")
    assert "<script>alert" not in (tmp_path / "out" / "summary.html").read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are always Unicode there")
def test_names_that_are_not_utf_8(tmp_path, inline):
    root, out = tmp_path / "models", tmp_path / "out"
    for name in (b"mod\xe9l", b"mod%E9l", b"br\xf6ken"):
        put(root / os.fsdecode(name), name=os.fsdecode(b"d\xe9t"))
    broken = root / os.fsdecode(b"br\xf6ken") / os.fsdecode(b"d\xe9t.json")
    broken.write_text('{"base_code": {}, "program": 3}')
    assert batch(root, "-o", out).exit_code == 1
    assert sorted(inline.ran) == ["br%F6ken", "mod%E9l", "mod%E9l_"]
    assert sorted(path.name for path in out.glob("*.xml")) == ["mod%E9l.xml", "mod%E9l_.xml"]
    assert "br%F6ken" in (out / "summary.html").read_text()
    inline.ran.clear()
    batch(root, "-o", out)
    assert inline.ran == ["br%F6ken"]


def test_nothing_to_do(tmp_path):
    (tmp_path / "empty").mkdir()
    result = batch(tmp_path / "empty", "-o", tmp_path / "out")
    assert result.exit_code == 2
    assert "no Paddle model below" in result.output
    assert batch(tmp_path / "none", "-o", tmp_path / "out").exit_code == 2


def test_processes_and_comparison(tmp_path):
    """For real: a process of its own, and Paddle in another."""
    put(tmp_path / "models" / "relu")
    result = batch(tmp_path / "models", "-o", tmp_path / "out", "--verify", "-j", 1)
    assert result.exit_code == 0, result.output
    assert states(tmp_path / "out") == {"relu": "agrees"}
