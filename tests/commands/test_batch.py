"""`paddle2ov batch`: what it finds, what it redoes, what a model that fails or crashes leaves."""

import errno
import json
import os
import re
import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing, suppress
from pathlib import Path

import openvino
import paddle
import pytest

from paddle2ov.errors import ModelReadError, PaddleRunError
from paddle2ov.inspection import inspect
from paddle2ov.jobs import conversions
from paddle2ov.jobs.discovery import find_models, fingerprint
from tests.support.command_line import call
from tests.support.formats import NEEDS_PADDLE_2
from tests.support.models import operator, save_program

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb\nsize 12345\n"


def put(folder, format="pir", op="relu", name="inference"):
    """Copies a small model there."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in operator(op, format).glob("inference.*"):
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


def batch(*arguments):
    return call("batch", *arguments)


def test_extensions(tmp_path, inline, own_converters):
    """Each process runs them; another text of theirs is another conversion."""
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
    return {record["name"]: record["state"] for record in json.loads((out / "summary.json").read_text())["models"]}


def test_discovery(tree, tmp_path):
    put(tree / "both", name="a")
    put(tree / "both", name="b")
    out = tmp_path / "out"
    targets = {model.name: model.target.relative_to(out).as_posix() for model in find_models([tree], out)}
    assert targets == {
        "both/a.json": "both/a.xml",
        "both/b.json": "both/b.xml",
        "broken": "broken.xml",
        "cls": "cls.xml",
        "ocr/det": "ocr/det.xml",
    }


def test_files_keep_their_suffixes_where_results_would_be_called_alike(tmp_path):
    """An archive, a folder and files of one name, and a file that is called as one of them with its suffix."""
    root = tmp_path / "models"
    put(root / "det")
    put(root, name="det")
    put(root, name="det.json")
    put(root, name="rec")
    for kind in ("zip", "tar"):
        shutil.make_archive(str(root / "det"), kind, root / "det")
    targets = {model.files.program: model.target.name for model in find_models([root], tmp_path / "out")}
    assert targets == {
        root / "det" / "inference.json": "det.xml",
        root / "det.json": "det.json.xml",
        root / "det.json.json": "det.json.json.xml",
        root / "rec.json": "rec.xml",
        root / "det.tar": "det.tar.xml",
        root / "det.zip": "det.zip.xml",
    }


def test_several_paths(tmp_path, inline, monkeypatch):
    """Folders, archives and files; each name begins with the last part of its path, in which they have to differ."""
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "a" / "det")
    put(tmp_path / "b" / "det")
    put(tmp_path / "b" / "all" / "cls")
    put(tmp_path / "b" / "all", name="rec")
    put(tmp_path / "b" / "all", name="table")
    shutil.make_archive("packed", "tar", tmp_path / "a")
    (tmp_path / "notes.txt").write_text("none")
    (tmp_path / "empty").mkdir()
    result = batch(
        "a/det", "packed.tar", "b/all", "b/all/rec.json", "b/../b/all/cls", "notes.txt", "empty", "-o", "out"
    )
    assert result.exit_code == 0, result.output
    assert list(states(Path("out"))) == ["all/cls", "all/rec.json", "all/table.json", "det", "packed.tar"]
    written = ["all/cls.xml", "all/rec.xml", "all/table.xml", "det.xml", "packed.xml"]
    assert sorted(str(path.relative_to("out")) for path in Path("out").rglob("*.xml")) == written
    for warning in (
        "b/../b/all/cls: skipped: the same folder as b/all/cls",
        "b/all/rec.json: skipped: it is found below another path",
        "notes.txt: skipped: not a Paddle inference model\n",
        "empty: no model below it",
    ):
        assert f"warning: {warning}" in result.stderr
    inline.ran.clear()
    assert batch("b/all", "a/det", "packed.tar", "-o", "out").exit_code == 0  # in any order
    assert not inline.ran
    same = batch("a/det", "b/det", "-o", "out")
    assert same.exit_code == 2
    assert same.output.startswith("error: a/det and b/det: the results of both would be called det; ")
    assert batch("a", "b", "-o", "out").exit_code == 0
    assert list(states(Path("out"))) == ["a/det", "b/all/cls", "b/all/rec.json", "b/all/table.json", "b/det"]
    inside = batch(".", "a/det", "-o", "inside")
    assert "warning: a/det: skipped: it is found below another path\n" in inside.stderr
    assert "det" not in states(Path("inside"))
    assert batch("a/det/inference.json", "-o", "one").exit_code == 0
    assert list(states(Path("one"))) == ["inference.json"]


def test_links(tmp_path):
    """Linked folders are searched once, under their own path where they have one; what is skipped is named."""
    root, elsewhere = tmp_path / "models", tmp_path / "elsewhere"
    put(root / "z" / "v3")
    put(elsewhere)
    for link, target in {
        "latest": root / "z" / "v3",
        "one": elsewhere,
        "two": elsewhere,
        "z/up": root,
        "gone": tmp_path / "none",
    }.items():
        (root / link).symlink_to(target, target_is_directory=True)
    warnings = []
    models = find_models([root], tmp_path / "out", warnings.append)
    assert [item.name for item in models] == ["one", "z/v3"]
    assert warnings == [
        f"{root}/gone: skipped: a link that leads nowhere",
        f"{root}/latest: skipped: the same folder as {root}/z/v3",
        f"{root}/two: skipped: the same folder as {root}/one",
        f"{root}/z/up: skipped: the same folder as {root}",
    ]


def test_models_of_others_are_named(tmp_path):
    put(tmp_path / "both")
    for file in ("both/net.onnx", "onnx/net.onnx", "training/best.pdparams"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    warnings = []
    assert [item.name for item in find_models([tmp_path], tmp_path / "out", warnings.append)] == ["both"]
    assert [text.partition(", ")[0] for text in warnings] == [
        f"{tmp_path}/onnx: skipped: an ONNX model",
        f"{tmp_path}/training: skipped: the weights of a training checkpoint",
    ]


def test_warnings_name_the_model(tmp_path, inline, own_converters):
    """Each model's are given, also those that another has given before, and stand in the summary."""
    put(tmp_path / "models" / "one")
    put(tmp_path / "models" / "two")
    own = tmp_path / "own.py"
    own.write_text("""
from paddle2ov import ConversionExtension
from paddle2ov.graph.opset import ops
def relu(node):
    node.warn("careful")
    return {"out": ops.relu(node.get_input("x"))}
CONVERTERS = [ConversionExtension("relu", relu)]
""")
    conversions._run_once.cache_clear()
    result = batch(tmp_path / "models", "-o", tmp_path / "out", "--extension", own)
    records = json.loads((tmp_path / "out" / "summary.json").read_text())["models"]
    assert [record["name"] for record in records] == ["one", "two"]
    for record in records:
        (text,) = record["warnings"]
        assert "careful" in text
        assert f"warning: {record['name']}: {text}" in result.output
    assert len(re.findall('"message":"[^"]*careful', (tmp_path / "out" / "summary.html").read_text())) == 2
    (tmp_path / "models" / "gone").symlink_to(tmp_path / "none")
    options = "-o", tmp_path / "out", "--extension", own, "--again"
    assert "warning: " in batch(tmp_path / "models", *options).output
    assert batch(tmp_path / "models", *options, "-q").output == ""


def test_the_page_needs_jinja2(tmp_path, inline, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    put(tmp_path / "models" / "one")
    result = batch(tmp_path / "models", "-o", tmp_path / "out")
    assert result.exit_code == 0
    assert "summary.html is not written: that needs Jinja2: pip install '.[report]'" in result.output


@NEEDS_PADDLE_2
def test_one_model_in_both_formats(tmp_path):
    put(tmp_path / "m", "pir")
    put(tmp_path / "m", "legacy")
    names = [model.target.name for model in find_models([tmp_path], tmp_path / "out")]
    assert names == ["inference.json.xml", "inference.pdmodel.xml"]


def test_batch(tree, tmp_path, inline):
    out = tmp_path / "out"
    result = batch(tree, "-o", out)
    assert result.exit_code == 1, result.output
    assert states(out) == {"broken": "failed", "cls": "converted", "ocr/det": "converted"}
    assert (out / "ocr" / "det.xml").is_file()
    assert (out / "ocr" / "det.bin").is_file()
    assert "converted: 2, failed: 1" in result.output
    assert "written, but" not in result.output
    page = (out / "summary.html").read_text()
    assert "ocr/det" in page
    assert "failed" in page

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


def test_a_result_whose_weights_are_gone_is_done_again(tmp_path, inline):
    for name in ("emptied", "kept", "removed"):
        save_program(tmp_path / "models" / name, lambda x: paddle.static.nn.fc(x, 4), x=[-1, 4])
    out = tmp_path / "out"
    assert batch(tmp_path / "models", "-o", out).exit_code == 0
    inline.ran.clear()
    (out / "emptied.bin").write_bytes(b"")
    (out / "removed.bin").unlink()
    assert batch(tmp_path / "models", "-o", out).exit_code == 0
    assert inline.ran == ["emptied", "removed"]
    sizes = {(out / f"{name}.bin").stat().st_size for name in ("emptied", "kept", "removed")}
    assert len(sizes) == 1
    assert min(sizes) > 0


def test_a_full_disk_refuses_no_model(tree, tmp_path, inline, monkeypatch):
    def write(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "out" / "cls.xml"))

    monkeypatch.setattr("paddle2ov.deployment.saving.save_model", write)
    result = batch(tree, "-o", tmp_path / "out")
    assert set(states(tmp_path / "out").values()) == {"failed"}
    assert f"cls: failed: {tmp_path / 'out' / 'cls.xml'}: No space left on device" in result.stderr


def test_the_options_of_a_conversion(tmp_path, inline, monkeypatch):
    models, out = tmp_path / "models", tmp_path / "out"
    put(models / "a b#")
    (port,) = inspect(models / "a b#").inputs
    shape = [7 if size < 0 else size for size in port.shape]
    program = models / "refused"
    put(program)
    text = (program / "inference.json").read_text()
    (program / "inference.json").write_text(text.replace('"1.relu"', '"1.my_relu"'))
    options = ["--input", f"{port.name}{shape}", "--report", "--verify", "--tolerance", "0.1"]
    options += ["--verify-precision", "default"]
    assert batch(models, "-o", out, *options).exit_code == 1
    assert openvino.Core().read_model(out / "a b#.xml").input(0).get_partial_shape() == openvino.PartialShape(shape)
    (good, refused) = json.loads((out / "summary.json").read_text())["models"]
    assert (good["state"], good["report"]) == ("agrees", "a b#.html")
    assert (refused["state"], refused["report"]) == ("refused", "refused.html")
    assert "agrees with Paddle" in (out / "a b#.html").read_text()
    assert "my_relu" in (out / "refused.html").read_text()
    (out / "a b#.html").unlink()
    inline.ran.clear()
    batch(models, "-o", out, *options)
    assert inline.ran == ["a b#", "refused"]
    monkeypatch.setattr(conversions, "convert_one", lambda job: {"state": "agrees", "message": ""})
    batch(models, "-o", out, *options[:-1], "f32")  # another option is another conversion
    assert inline.ran == ["a b#", "refused"] * 2


def test_what_was_converted_is_compared(tmp_path, inline, monkeypatch):
    given = {}

    def verify(*_, **options):
        given.update(options)
        raise PaddleRunError("no Paddle here")

    monkeypatch.setattr("paddle2ov.verification.verify.verify", verify)
    put(tmp_path / "models" / "one")
    result = batch(tmp_path / "models", "-o", tmp_path / "out", "--verify", "--sequence-lengths")
    assert result.exit_code == 1
    assert re.search(r"written, but not to be relied on: .*one\.xml", result.output)
    assert states(tmp_path / "out") == {"one": "not compared"}
    assert given["sequence_lengths"]
    assert given["converted"].get_ops()


def test_a_crash_fails_alone(tree, tmp_path, inline):
    inline.dies = ["cls"]
    result = batch(tree, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert states(tmp_path / "out") == {"broken": "failed", "cls": "failed", "ocr/det": "converted"}
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
    real, out = conversions.convert_one, tmp_path / "out"

    def interrupted(job):
        if job.name == "ocr/det":
            raise KeyboardInterrupt
        return real(job)

    monkeypatch.setattr(conversions, "convert_one", interrupted)
    for again in ((), ("--again",)):
        inline.ran.clear()
        result = batch(tree, "-o", out, *again)
        assert (result.exit_code, inline.ran) == (130, ["broken", "cls", "ocr/det"])
        same = f"the same command{' without --again' if again else ''}"
        assert result.stderr.endswith(f"Interrupted; {same} goes on from here.\n")
    monkeypatch.setattr(conversions, "convert_one", real)
    inline.ran.clear()
    said = batch(tree, "-o", out).stdout
    assert inline.ran == ["broken", "ocr/det"]
    assert said.startswith("converted: 2, failed: 1\n1 of these by an earlier run; --again does them anew\n")


def test_what_the_page_counts_as_done(tree, tmp_path, inline, monkeypatch):
    state_of = {"broken": "refused", "cls": "agrees up to ties", "ocr/det": "agrees"}
    monkeypatch.setattr(conversions, "convert_one", lambda job: {"state": state_of[job.name], "message": ""})
    assert batch(tree, "-o", tmp_path / "out").exit_code == 1
    page = (tmp_path / "out" / "summary.html").read_text()
    assert '<span class="badge good">2 done</span>' in page
    assert '<span class="badge bad">1 not</span>' in page
    (data,) = re.findall('id="data">(.*)</script>', page)
    data = json.loads(data)
    assert [item["name"] for item in data["models"] if item["state"] not in data["good"]] == ["broken"]


def test_nothing_to_do(tmp_path):
    (tmp_path / "empty").mkdir()
    result = batch(tmp_path / "empty", "-o", tmp_path / "out")
    assert result.exit_code == 2
    assert result.output.startswith(f"error: {tmp_path / 'empty'}: no Paddle inference model there (looked for ")
    assert batch(tmp_path / "none", "-o", tmp_path / "out").exit_code == 2


def test_processes(tmp_path):
    """For real: a process of its own."""
    put(tmp_path / "models" / "relu")
    result = batch(tmp_path / "models", "-o", tmp_path / "out", "-j", 1, "--timeout", 0)
    assert result.exit_code == 0, result.output
    assert states(tmp_path / "out") == {"relu": "converted"}


def test_names_that_are_hard_to_show(tmp_path, inline):
    """Bytes that are no UTF-8, new lines, markup of the progress bar and of the page: all of them are converted."""
    root, out = tmp_path / "models", tmp_path / "out"
    names = {b"caf\xe9": "caf\\xe9", b"caf\\xe9": "caf\\xe9 (2)", b"two\nlines": "two\\nlines", b"[/red]": "[/red]"}
    names[b"<script>alert(1)<"] = "<script>alert(1)<"
    for name in names:
        put(root / os.fsdecode(name))
    result = batch(root, "-o", out)
    assert result.exit_code == 0
    assert states(out) == dict.fromkeys(sorted(names.values()), "converted")
    for name in names:
        assert (out / os.fsdecode(name + b".xml")).is_file()
    for file in ("summary.json", "summary.html"):
        assert "caf" in (out / file).read_text("utf-8")
    assert "<script>alert" not in (out / "summary.html").read_text("utf-8")
    assert batch(root, "-o", out).exit_code == 0
    assert len(inline.ran) == len(names)


def test_messages_that_are_hard_to_show(tmp_path, inline):
    """A program that cannot be read, in a folder whose name is no UTF-8."""
    folder = tmp_path / "models" / os.fsdecode(b"\xff")
    folder.mkdir(parents=True)
    (folder / "inference.json").write_text('{"base_code": {"magic": "pir", "version": 1}, "program": 3}')
    assert batch(tmp_path / "models", "-o", tmp_path / "out").exit_code == 1
    (record,) = json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))["models"]
    assert record["state"] == "failed"
    assert "\\xff" in record["message"]
    record["message"].encode()


def test_two_models_of_one_name(tmp_path, inline):
    """A folder with a model, and a model of that name in the folder above: neither is written over the other."""
    root, out = tmp_path / "models", tmp_path / "out"
    put(root / "a" / "b")
    put(root / "a", op="tanh", name="b")
    put(root / "a", op="sigmoid", name="c")
    assert batch(root, "-o", out).exit_code == 0
    texts = {path.relative_to(out).as_posix(): path.read_text() for path in out.rglob("*.xml")}
    assert [kind for kind in ("ReLU", "Tanh", "Sigmoid") for text in texts.values() if f'type="{kind}"' in text] == [
        "ReLU",
        "Tanh",
        "Sigmoid",
    ]
    assert len(states(out)) == 3


DAMAGED = {
    "a list": lambda path: path.write_text("[]" * 600),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:5000]),
    "another version": lambda path: edit(path, "PRAGMA user_version = 99"),
    "another kind of record": lambda path: edit(path, "UPDATE records SET record = '[1]'"),
    "half a record": lambda path: edit(path, "UPDATE records SET record = '{}'"),
}


def edit(path, statement):
    with closing(sqlite3.connect(path)) as database:
        database.execute(statement)
        database.commit()


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_state_that_is_damaged(tmp_path, inline, damage):
    """What it held is done again; nothing else is lost."""
    root, out = tmp_path / "models", tmp_path / "out"
    put(root / "one")
    assert batch(root, "-o", out).exit_code == 0
    state = out / ".paddle2ov-batch"
    DAMAGED[damage](state)
    result = batch(root, "-o", out)
    assert result.exit_code == 0
    assert inline.ran == ["one", "one"]
    put_aside = (out / ".paddle2ov-batch.unusable").exists()
    assert put_aside is ("record" not in damage)
    assert ("warning: state file" in result.stderr) is put_aside
    assert batch(root, "-o", out).exit_code == 0
    assert len(inline.ran) == 2


def test_what_cannot_be_read_is_skipped(tmp_path, inline, monkeypatch):
    """Folders and files without permission, a link to itself; with a warning, and the others are converted."""
    root, out = tmp_path / "models", tmp_path / "out"
    for name in ("closed", "gone", "one"):
        put(root / name)
    (root / "one" / "circle.json").symlink_to("circle.json")
    (root / "folders").symlink_to(root)
    scan, opened = os.scandir, Path.open

    def scandir(path):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    def open_(path, *arguments, **options):
        if path.parent.name == "gone":
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *arguments, **options)

    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.setattr(Path, "open", open_)
    result = batch(root, "-o", out)
    assert result.exit_code == 0
    assert states(out) == {"one": "converted"}
    assert [line.split(":")[0] for line in result.stderr.splitlines()] == ["warning"] * 4
    assert "closed: skipped: Permission denied" in result.stderr
    assert re.search(r"gone: skipped: .*Permission denied", result.stderr)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("inference.json", b"", "inference.json: empty"),
        ("inference.json", b"\x00\x91\xff", "inference.json: neither a PIR program"),
        ("inference.json", b"{", "inference.json: neither a PIR program"),
        ("inference.json", POINTER, "inference.json: a pointer of Git LFS"),
        ("inference.pdmodel", b"", "inference.pdmodel: empty"),
        ("inference.pdmodel", POINTER, "inference.pdmodel: a pointer of Git LFS"),
    ],
)
def test_a_program_that_is_damaged_is_no_other_file(name, content, message, tmp_path, inline):
    """It is called as programs are: it counts, where another kind of JSON is passed over."""
    root, out = tmp_path / "models", tmp_path / "out"
    put(root / "one")
    (root / "two").mkdir()
    (root / "two" / "config.json").write_text('{"labels": ["a"]}')
    (root / "two" / name).write_bytes(content)
    (root / "two" / "inference.pdiparams").write_bytes(POINTER)
    result = batch(root, "-o", out)
    assert result.exit_code == 1
    assert states(out) == {"one": "converted", "two": "failed"}
    assert message in result.stderr
    with pytest.raises(ModelReadError, match=message):
        inspect(root / "two")
    if name == "inference.json":  # which no other program writes
        (root / "two" / "inference.pdiparams").unlink()
        batch(root, "-o", out)
        assert states(out) == {"one": "converted", "two": "failed"}


def test_archives(tmp_path, inline):
    root, out = tmp_path / "models", tmp_path / "out"
    put(root / "sub" / "det_infer")
    shutil.make_archive(str(root / "sub" / "det_infer"), "tar", root / "sub", "det_infer")
    put(tmp_path / "other")
    shutil.make_archive(str(root / "rec"), "zip", tmp_path / "other")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "labels.json").write_text("[]")
    shutil.make_archive(str(root / "data"), "gztar", tmp_path / "data")
    (root / "torn.tar").write_bytes((root / "sub" / "det_infer.tar").read_bytes()[:700])
    (root / "odd.tar.bz2").write_bytes(b"BZh91AY&SY" + bytes(50))
    result = batch(root, "-o", out, "--report")
    assert result.exit_code == 1
    assert "data.tar.gz: skipped: no Paddle inference model in it" in result.stderr
    assert states(out) == {
        "rec.zip": "converted",
        "sub/det_infer": "converted",
        "sub/det_infer.tar": "converted",
        "odd.tar.bz2": "failed",
        "torn.tar": "failed",
    }
    written = ["rec.xml", "sub/det_infer.tar.xml", "sub/det_infer.xml"]
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*.xml")) == written
    records = {record["name"]: record for record in json.loads((out / "summary.json").read_text())["models"]}
    assert {record["format"] for record in records.values() if record["state"] == "converted"} == {"pir"}
    assert str(root / "torn.tar") in records["torn.tar"]["message"]

    inline.ran.clear()
    batch(root, "-o", out, "--report")
    assert inline.ran == ["odd.tar.bz2", "torn.tar"]
    shutil.make_archive(str(root / "rec"), "zip", root / "sub" / "det_infer")
    inline.ran.clear()
    batch(root, "-o", out, "--report")
    assert inline.ran == ["odd.tar.bz2", "rec.zip", "torn.tar"]


def test_what_is_refused_of_an_archive_names_the_archive(tmp_path, inline):
    root, out = tmp_path / "models", tmp_path / "out"
    put(tmp_path / "one", op="relu")
    program = tmp_path / "one" / "inference.json"
    program.write_text(program.read_text().replace("relu", "frelu"))
    shutil.make_archive(str(root / "one"), "zip", tmp_path / "one")
    assert batch(root, "-o", out).exit_code == 1
    (record,) = json.loads((out / "summary.json").read_text())["models"]
    assert "frelu" in record["message"]
    assert tempfile.gettempdir() not in record["message"].replace(str(tmp_path), "")


def fingerprint_of_what_goes(model, *options):
    if model.files.program.parent.name == "two":
        model.files.program.unlink()
    return fingerprint(model, *options)


def test_a_program_that_goes_while_it_is_looked_for(tmp_path, inline, monkeypatch):
    root, out = tmp_path / "models", tmp_path / "out"
    put(root / "one")
    put(root / "two")
    monkeypatch.setattr("paddle2ov.jobs.discovery.fingerprint", fingerprint_of_what_goes)
    result = batch(root, "-o", out)
    assert result.exit_code == 0
    assert states(out) == {"one": "converted"}
    assert "warning: two: skipped" in result.stderr


def test_a_program_of_a_terabyte(tmp_path, inline):
    """A sparse file takes no room on the disk; it is not read whole to see whether it has changed."""
    root, out = tmp_path / "models", tmp_path / "out"
    put(root / "large")
    put(root / "one")
    os.truncate(root / "large" / "inference.json", 1 << 40)
    result = batch(root, "-o", out)
    assert result.exit_code == 1
    assert states(out) == {"large": "failed", "one": "converted"}
    assert "has 1099511627776 bytes, more than" in result.output + result.stderr
