"""What is not a regular file, in the place of one: refused, or ignored with a warning. Nothing waits for a pipe."""

import os
import signal

import numpy as np
import openvino
import pytest

from paddle2ov import ConversionInputError, ModelReadError, compile_model, convert
from paddle2ov.checking.check import check
from paddle2ov.deployment.saving import save_model
from paddle2ov.deployment.serving import write_layout
from paddle2ov.inputs import pictures
from paddle2ov.inputs.given_arrays import load
from paddle2ov.translation.extension import run_extensions
from tests.support.models import operator

SPECIAL = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "circle": lambda path: path.symlink_to(path.name),
    "folder": os.mkdir,
}


@pytest.fixture(params=SPECIAL.values(), ids=SPECIAL)
def put(request):
    """Puts one in the place of a file."""

    def replace(path):
        path.unlink(missing_ok=True)
        request.param(path)

    return replace


@pytest.fixture(autouse=True)
def _no_waiting():
    def end(*_):
        raise TimeoutError("waited for a file")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(100)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def folder():
    return operator("relu")


def test_in_a_cache(folder, put, tmp_path):
    compile_model(folder, cache_dir=tmp_path)
    for path in sorted(tmp_path.iterdir()):
        put(path)
    inputs = dict(np.load(folder / "inputs.npz"))
    expected = compile_model(folder)(inputs)[0]
    for _ in range(2):
        np.testing.assert_array_equal(compile_model(folder, cache_dir=tmp_path)(inputs)[0], expected)
    files = list(tmp_path.iterdir())  # files again, but for folders
    assert all(path.is_dir() or (path.is_file() and not path.is_symlink()) for path in files)
    assert all(path.suffix in (".blob", ".content") for path in files)


def test_beside_an_ir(folder, put, tmp_path):
    openvino.save_model(convert(folder), tmp_path / "model.xml")
    put(tmp_path / "model.bin")
    with pytest.raises(ModelReadError, match=r"model\.bin: (is not a regular file|cannot be opened)"):
        check(tmp_path / "model.xml")
    put(tmp_path / "model.xml")
    with pytest.raises(ModelReadError, match=r"no such file|is not a regular file|no Paddle inference model here"):
        check(tmp_path / "model.xml")


def test_as_an_argument(put, tmp_path):
    path = tmp_path / "file"
    put(path)
    with pytest.raises(ConversionInputError, match=r"is not a regular file|Too many levels"):
        load(path)
    with pytest.raises(ConversionInputError, match="cannot be read"):
        pictures._read(path)
    with pytest.raises(ConversionInputError, match=r"extension .*file: (is not a regular file|Too many levels)"):
        run_extensions([path])


def test_a_compiled_library_is_no_extension(tmp_path):
    (tmp_path / "own.so").write_bytes(b"\x7fELF")
    with pytest.raises(ConversionInputError, match=r"own\.so: a compiled library; converters are written in Python"):
        run_extensions([tmp_path / "own.so"])


def test_as_the_configuration_of_a_server(folder, tmp_path):
    os.mkfifo(tmp_path / "config.json")
    with pytest.raises(OSError, match="is not a regular file"):
        write_layout(convert(folder), tmp_path, "decoder", lambda model, path: None)


@pytest.mark.parametrize("name", ["model.xml", "model.bin"])
def test_a_folder_is_not_replaced_by_a_model(folder, tmp_path, name):
    """It and what is in it stay, as does the file beside it."""
    (tmp_path / name / "kept").mkdir(parents=True)
    other = tmp_path / ("model.bin" if name == "model.xml" else "model.xml")
    other.write_text("kept")
    with pytest.raises(OSError, match="Is a directory"):
        save_model(convert(folder), tmp_path / "model.xml", fp16=False)
    assert (tmp_path / name / "kept").is_dir()
    assert other.read_text() == "kept"
