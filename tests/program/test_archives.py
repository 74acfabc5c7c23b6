"""Models in archives and in memory are those in folders; what is no such archive is refused."""

import bz2
import contextlib
import gzip
import io
import lzma
import re
import shutil
import tarfile
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import openvino
import pytest

import paddle2ov
from paddle2ov.errors import ConversionInputError, ModelReadError
from paddle2ov.jobs.discovery import find_models
from paddle2ov.program import archives
from tests.support.command_line import call
from tests.support.formats import FORMATS
from tests.support.models import files_of, network


@pytest.fixture(params=FORMATS)
def folder(request):
    return network("growing", request.param)


def results(model, folder):
    compiled = openvino.compile_model(model, "CPU")
    inputs = np.load(folder / "inputs_0.npz")
    return list(compiled([inputs[port.get_any_name()] for port in compiled.inputs]).values())


@cache
def expected(folder):
    return results(paddle2ov.convert(folder), folder)


def same(model, folder):
    return all(np.array_equal(*pair) for pair in zip(results(model, folder), expected(folder), strict=True))


def packed(folder, target, kind):
    return Path(shutil.make_archive(str(target), kind, root_dir=folder.parent, base_dir=folder.name))


def zipped(folder, target):
    return shutil.make_archive(str(target), "zip", root_dir=folder)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", ["tar", "gztar", "zip", "zip of files at its root"])
def test_an_archive_is_the_model_in_it(folder, kind, tmp_path):
    target = tmp_path / "growing_infer"
    assert same(paddle2ov.convert(zipped(folder, target) if " " in kind else packed(folder, target, kind)), folder)


def test_a_tar_of_the_current_folder(tmp_path):
    """Its names begin with "./", which no path that is made of them shows."""
    with tarfile.open(tmp_path / "net.tar", "w") as tar:
        for file in files_of(network("squeezenet1_1")):
            tar.add(file, f"./net{file.suffix}")
    assert paddle2ov.inspect(tmp_path / "net.tar").convertible


def test_what_macos_adds_is_no_model(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "models" / "growing")
    for file in folder.iterdir():
        for place in ("models/growing", "models/__MACOSX/growing"):
            (tmp_path / place).mkdir(parents=True, exist_ok=True)
            (tmp_path / place / f"._{file.name}").write_bytes(b"\0\5\x16\7" + bytes(172))
    assert same(paddle2ov.convert(tmp_path / "models" / "growing"), folder)
    assert same(paddle2ov.convert(zipped(tmp_path / "models", tmp_path / "growing")), folder)
    assert [model.name for model in find_models([tmp_path / "models"], tmp_path / "out", pytest.fail)] == ["growing"]


def test_commands_take_archives(folder, tmp_path, monkeypatch):
    archive = packed(folder, tmp_path / "growing_infer", "tar")
    monkeypatch.chdir(tmp_path)
    result = call("convert", archive, "-q")
    assert result.exit_code == 0, result.output
    assert same(openvino.Core().read_model(tmp_path / "growing_infer.xml"), folder)
    result = call("convert", archive, "--bounded", "-o", tmp_path / "net.xml")
    assert result.exit_code == 2
    assert f"error: {archive} holds no settings of the model" in result.output
    assert paddle2ov.inspect(archive).convertible
    assert call("inspect", archive).exit_code == 0
    with pytest.raises(ConversionInputError, match="inputs"):
        paddle2ov.quantize(archive, [{}])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("command", ["check", "verify"])
def test_results_name_the_archive(folder, tmp_path, command):
    archive = packed(folder, tmp_path / "growing_infer", "gztar")
    report = getattr(paddle2ov, command)(archive)
    assert str(report.model) == report.to_dict()["model"] == str(archive)
    result = call(command, archive)
    assert result.exit_code == 0, result.output
    assert result.output.startswith(f"{archive}")


def test_errors_name_the_archive(folder, tmp_path):
    folder = Path(shutil.copytree(folder, tmp_path / "damaged"))
    files_of(folder)[0].write_bytes(b"{}")
    archive = packed(folder, tmp_path / "damaged_infer", "tar")
    for function in (paddle2ov.convert, paddle2ov.inspect, paddle2ov.check, paddle2ov.verify):
        with pytest.raises(ModelReadError, match=re.escape(str(archive))) as caught:
            function(archive)
        assert "paddle2ov-" not in str(caught.value)


@pytest.mark.parametrize("command", ["convert", "inspect"])
def test_parameters_by_their_name(tmp_path, monkeypatch, command):
    """In the model's folder or archive, or else from the current folder."""
    program, params = files_of(network("squeezenet1_1"))
    model = tmp_path / "model"
    model.mkdir()
    shutil.copy(program, model)
    shutil.copy(params, model / "w.bin")
    archive = shutil.make_archive(str(tmp_path / "packed"), "tar", root_dir=model)
    shutil.move(model / "w.bin", tmp_path / "outside.bin")
    shutil.copy(params, model / "inside.bin")
    monkeypatch.chdir(tmp_path)
    more = ("-o", "out.xml") if command == "convert" else ()
    for source, option, name in (
        ("model", "-pf", "inside.bin"),
        ("model", "--params-filename", "outside.bin"),
        (archive, "--params-filename", "w.bin"),
        (archive, "-pf", "outside.bin"),
    ):
        result = call(command, source, option, name, *more)
        assert result.exit_code == 0, result.output
    assert paddle2ov.inspect(archive, "w.bin").parameters
    assert paddle2ov.convert(archive, "outside.bin").inputs
    result = call(command, "model", "-pf", "nowhere.bin", *more)
    assert (result.exit_code, "nowhere.bin: no such parameter file" in result.output) == (2, True)


def test_read_program_takes_files_only():
    for model in (("a", "b"), b"\n\x00", io.BytesIO(), None):
        with pytest.raises(ConversionInputError, match="model: a model in files is given by its path, not "):
            paddle2ov.read_program(model)
    with pytest.raises(ConversionInputError, match="the parameter file is `params`"):
        paddle2ov.read_program(("a", "b"))


@pytest.mark.one_in(2)
def test_contents_and_streams(folder):
    program, params = files_of(folder)
    weights = params.read_bytes() if params.exists() else None
    assert same(paddle2ov.convert(program.read_bytes(), weights), folder)
    assert same(paddle2ov.convert(io.BytesIO(program.read_bytes()), io.BytesIO(weights or b"")), folder)
    with program.open("rb") as stream:
        assert same(paddle2ov.convert(stream, memoryview(weights or b"")), folder)
    if weights:
        with pytest.raises(ModelReadError, match=r"params: the program has \d+ parameters, and none are given"):
            paddle2ov.convert(program.read_bytes())


@pytest.mark.parametrize("options", [{}, {"cache_dir": "cache"}], ids=["plain", "cached"])
def test_parameters_in_memory_are_not_for_a_model_in_files(folder, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    with tarfile.open(tmp_path / "model.tar", "w") as tar:
        tar.add(folder, "m")
    for model in (folder, tmp_path / "model.tar"):
        with pytest.raises(
            ConversionInputError, match="params: the parameters of a model in files are a path, not bytes"
        ):
            paddle2ov.compile_model(model, params=b"", **options)


@pytest.mark.parametrize("kind", ["tar", "gztar", "bztar", "xztar", "zip"])
def test_the_content_of_an_archive_is_none_of_a_program(folder, kind, tmp_path):
    archive = Path(shutil.make_archive(str(tmp_path / "model"), kind, root_dir=folder))
    with pytest.raises(ModelReadError, match="the content is that of an archive, which is given by its path"):
        paddle2ov.convert(archive.read_bytes())


def test_a_stream_of_text_is_none(folder):
    with pytest.raises(ConversionInputError, match="a stream of bytes, not str"):
        paddle2ov.convert(io.StringIO("{}"))


def test_a_stream_that_cannot_be_read(tmp_path):
    with (tmp_path / "model").open("wb") as stream, pytest.raises(ModelReadError, match="model: the stream cannot be"):
        paddle2ov.convert(stream)
    with pytest.raises(ModelReadError, match="model: the stream cannot be read"):
        paddle2ov.convert(stream)


@pytest.mark.parametrize("suffix", archives.SUFFIXES)
@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 half a zip", b"\x1f\x8b\x08 half a gzip"])
def test_what_is_no_archive(suffix, content, tmp_path):
    path = tmp_path / f"model{suffix}"
    path.write_bytes(content)
    with pytest.raises(ModelReadError, match=r"cannot be unpacked|no Paddle inference model"):
        paddle2ov.convert(path)


def test_archives_that_are_cut_off(folder, tmp_path):
    for kind in ("tar", "gztar", "zip"):
        archive = packed(folder, tmp_path / kind, kind)
        content = archive.read_bytes()
        for part in (0.3, 0.6, 0.9):
            archive.write_bytes(content[: int(len(content) * part)])
            with contextlib.suppress(ModelReadError):
                assert same(paddle2ov.convert(archive), folder)  # what is cut off is not the model


def test_several_models(folder, tmp_path):
    for name in "ab":
        shutil.copytree(folder, tmp_path / "models" / name)
    archive = zipped(tmp_path / "models", tmp_path / "both")
    with pytest.raises(ModelReadError, match="holds 2 models"):
        paddle2ov.convert(archive)
    result = call("inspect", archive)  # not an error of the options, which shows the usage
    assert (result.exit_code, result.output) == (2, f"error: {archive}: holds 2 models (a, b); unpack it\n")


def test_no_model(tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "notes.txt").write_text("none")
    with pytest.raises(ModelReadError, match=r"it holds: .*notes\.txt"):
        paddle2ov.convert(shutil.make_archive(str(tmp_path / "none"), "tar", root_dir=tmp_path / "files"))


def test_links_and_paths_lead_nowhere(folder, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    archive = tmp_path / "model.tar"
    program, params = files_of(folder)
    with tarfile.open(archive, "w") as tar:
        tar.add(program, f"m/{program.name}")
        link = tarfile.TarInfo(f"m/{params.name}")
        link.type, link.linkname = tarfile.SYMTYPE, str(secret)
        tar.addfile(link)
        for name in ("../outside", "/tmp/paddle2ov-outside", "m/../../outside"):
            tar.addfile(tarfile.TarInfo(name), io.BytesIO())
    with archives.unpacked(archive) as place:
        assert [path.name for path in place.iterdir()] == [program.name]
    assert not (tmp_path / "outside").exists()


@pytest.mark.one_in(2)
def test_bombs(folder, tmp_path):
    program, _ = files_of(folder)
    archive = tmp_path / "model.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packing:
        packing.write(program, program.name)
        packing.writestr("inference.pdiparams", bytes(200 << 20))
    with pytest.raises(ModelReadError, match="unpacks to more than"):
        paddle2ov.convert(archive)


HEADERS = {"a file": tarfile.REGTYPE, "a name": tarfile.GNUTYPE_LONGNAME, "a list of values": tarfile.XHDTYPE}


@pytest.mark.parametrize("kind", HEADERS)
@pytest.mark.parametrize("suffix", ["tar.gz", "tar.bz2", "tar.xz", "tar"])
def test_headers_that_promise_much(suffix, kind, tmp_path):
    """They are refused before what they promise is decompressed, skipped or read into memory."""
    path = tmp_path / f"bomb.{suffix}"
    header = tarfile.TarInfo("elsewhere")
    header.type, header.size = HEADERS[kind], 8 << 30
    content = header.tobuf(tarfile.GNU_FORMAT) + bytes(1 << 20)
    path.write_bytes({"gz": gzip, "bz2": bz2, "xz": lzma}[suffix[4:]].compress(content) if suffix[4:] else content)
    with pytest.raises(ModelReadError, match="unpacks to more than 100 times its size"):
        paddle2ov.convert(path)


@pytest.mark.one_in(2)
def test_an_archive_with_many_versions_of_its_files(folder, tmp_path):
    """The last of each counts; they are read in the order in which they lie."""
    path = tmp_path / "growing.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for item in (*folder.iterdir(), *sorted(folder.iterdir(), reverse=True)):
            archive.add(item, f"growing/{item.name}")
    assert same(paddle2ov.convert(path), folder)
    with archives._members(path, 1 << 30) as members:
        assert [*map(str, members)] == [f"growing/{path.name}" for path in sorted(folder.iterdir(), reverse=True)]
