"""Which files are a model: folders, files, prefixes, pairs; and the messages when there is none or too many."""

import codecs
import hashlib
import os
import shutil
from pathlib import Path

import pytest

import paddle2ov
from paddle2ov import ModelReadError
from paddle2ov.inference import Config, create_predictor
from paddle2ov.program.settings import read_settings
from tests.support.command_line import call
from tests.support.formats import LEGACY
from tests.support.models import copied, separate


@pytest.fixture(params=["pir", LEGACY])
def model(request, tmp_path):
    return copied("squeezenet1_1", request.param, tmp_path / "model")


@pytest.fixture(params=[LEGACY])
def legacy_model(request, tmp_path):
    return copied("squeezenet1_1", request.param, tmp_path / "model")


def names(model):
    return [port.get_any_name() for port in (*model.inputs, *model.outputs)]


def test_ways_to_name_a_model(model):
    wanted = names(paddle2ov.convert(model.parent))
    assert wanted[0] == "x"
    params = model.with_name("inference.pdiparams")
    for way in (str(model.parent), model, model.with_suffix(""), (model, params), [str(model), str(params)]):
        assert names(paddle2ov.convert(way)) == wanted
    assert names(paddle2ov.convert(model, params)) == wanted


def test_other_spellings_of_a_path(model, monkeypatch, tmp_path):
    """`~` and `file://`, which nothing expands for a program, and bytes."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    wanted = names(paddle2ov.convert(model))
    uri = model.parent.as_uri()
    tilde = f"~/{model.parent.name}"
    for folder in (tilde, Path(tilde), uri, uri.replace("file://", "file://localhost"), os.fsencode(model.parent)):
        assert names(paddle2ov.convert(folder)) == wanted
        assert paddle2ov.inspect(folder).convertible
        assert Config(folder).model_dir() == str(model.parent)
        if isinstance(folder, str):
            assert call("inspect", folder).exit_code == 0
    (entry,) = (entry for entry in os.scandir(os.fsencode(tmp_path)) if entry.name == os.fsencode(model.parent.name))
    assert names(paddle2ov.convert(entry)) == wanted
    params = model.with_name("inference.pdiparams").as_uri()
    assert names(paddle2ov.convert((model.as_uri(), params))) == wanted
    assert Config(model.as_uri(), os.fsencode(model.with_name("inference.pdiparams"))).prog_file() == str(model)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("file://elsewhere/model", "names the machine 'elsewhere'; only files of this one"),
        ("file://[model", "is no URL of a file"),
        ("https://example.org/model.tar", "is a URL; only files of this machine are read"),
        ("S3://bucket/model", "is a URL; only files of this machine are read"),
    ],
)
def test_a_path_of_another_machine(path, reason):
    with pytest.raises(paddle2ov.ConversionInputError, match=reason):
        paddle2ov.convert(path)
    with pytest.raises(paddle2ov.ConversionInputError, match=reason):
        Config(path)
    result = call("inspect", path)
    assert result.exit_code == 2
    assert reason in " ".join(result.output.split())


def test_a_folder_that_is_called_like_a_home(model, monkeypatch):
    monkeypatch.chdir(model.parent.parent)
    model.parent.rename("~")
    assert names(paddle2ov.convert("~"))[0] == "x"


def test_a_byte_order_mark(tmp_path):
    """Editors of Windows write it; Paddle reads such a program."""
    model = copied("squeezenet1_1", "pir", tmp_path / "model")
    program = codecs.BOM_UTF8 + model.read_bytes()
    model.write_bytes(program)
    settings = model.with_name("inference.yml")
    settings.write_bytes(codecs.BOM_UTF8 + b"PreProcess:\n  transform_ops:\n  - NormalizeImage:\n")
    params = model.with_name("inference.pdiparams").read_bytes()
    assert names(paddle2ov.convert(model)) == names(paddle2ov.convert(program, params))
    (step,) = read_settings(settings).transforms
    assert step.name == "NormalizeImage"


@pytest.mark.parametrize(
    ("program", "params"),
    [
        ("__model__", "__params__"),
        ("__model__", "params"),
        ("__model__", "model.pdiparams"),
        ("model", "model.pdiparams"),
        ("model", "model.params"),
    ],
)
def test_old_file_names(legacy_model, program, params):
    legacy_model.rename(legacy_model.with_name(program))
    legacy_model.with_name("inference.pdiparams").rename(legacy_model.with_name(params))
    assert names(paddle2ov.convert(legacy_model.parent))[0] == "x"


def separated(program_file):
    """Puts the parameters of a legacy model into a file each; returns the program with them."""
    program = separate(program_file)
    program_file.rename(program_file.with_name("__model__"))
    return program


def test_one_file_per_parameter(legacy_model):
    program = separated(legacy_model)
    read = paddle2ov.read_program(legacy_model.parent)
    for name, parameter in program.parameters.items():
        assert (read.parameters[name].data == parameter.data).all()
    legacy_model.with_name(sorted(program.parameters)[3]).unlink()
    with pytest.raises(ModelReadError, match=f"there is no file for parameter '{sorted(program.parameters)[3]}'"):
        paddle2ov.read_program(legacy_model.parent)


def cached(folder, cache):
    """The folder as Hugging Face's cache holds it: links into `blobs/`."""
    snapshot = cache / "models--some--model" / "snapshots" / "0123abcd"
    blobs = snapshot.parents[1] / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for file in folder.iterdir():
        blob = blobs / hashlib.sha256(file.name.encode()).hexdigest()
        file.rename(blob)
        (snapshot / file.name).symlink_to(Path("../../blobs") / blob.name)
    return snapshot


def check_cached(wanted, folder, cache, *files):
    """What is read through links of the cache is what was there; the snapshot."""
    snapshot = cached(folder, cache)
    cache.with_name("link").symlink_to(snapshot)
    for way in (snapshot, cache.with_name("link"), *(snapshot / name for name in files)):
        read = paddle2ov.read_program(way)
        for name, parameter in wanted.parameters.items():
            assert (read.parameters[name].data == parameter.data).all()
    return snapshot


def test_hugging_face_cache(model, tmp_path):
    """A combined parameter file."""
    snapshot = check_cached(paddle2ov.read_program(model), model.parent, tmp_path / "cache", model.name)
    config = Config(str(snapshot / model.name), str(snapshot / "inference.pdiparams"))
    assert create_predictor(config).get_input_names() == ["x"]


def test_hugging_face_cache_of_separate_parameters(legacy_model, tmp_path):
    check_cached(separated(legacy_model), legacy_model.parent, tmp_path / "cache")


def test_links_out_of_the_folder(legacy_model, tmp_path):
    """Parameters that are links to files elsewhere, in linked folders or in a circle are refused."""
    name = sorted(separated(legacy_model).parameters)[3]
    snapshot = cached(legacy_model.parent, tmp_path / "cache")
    link = snapshot / name
    blob = link.resolve()
    elsewhere = tmp_path / "elsewhere"
    for target, reason in ((elsewhere, "leads out of"), (blob.parents[1] / "refs", "leads out of"), (link, "file")):
        link.unlink()
        if target is not link:
            shutil.copy(blob, target)
        link.symlink_to(target)
        with pytest.raises(ModelReadError, match=reason):
            paddle2ov.read_program(snapshot)


def test_what_is_there_is_not_said_to_be_missing(model, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelReadError, match="pipe: is not a regular file"):
        paddle2ov.convert(tmp_path / "pipe")
    with pytest.raises(ModelReadError, match="pipe: is not a regular file"):
        paddle2ov.convert(model, tmp_path / "pipe")
    with pytest.raises(ModelReadError, match="is a folder, and a parameter file is wanted"):
        paddle2ov.convert(model, tmp_path)


def test_no_model(tmp_path):
    with pytest.raises(ModelReadError, match="no such file or folder"):
        paddle2ov.convert(tmp_path / "nowhere")
    (tmp_path / "det_infer").mkdir()
    with pytest.raises(ModelReadError, match=r"no such file or folder; did you mean .*det_infer\?$"):
        paddle2ov.convert(tmp_path / "det_inferr")
    (tmp_path / "config.json").write_text('{"a": 1}')
    with pytest.raises(ModelReadError, match=r"no Paddle inference model here .* it holds: config.json"):
        paddle2ov.convert(tmp_path)
    with pytest.raises(ModelReadError, match="neither a PIR program"):
        paddle2ov.convert(tmp_path / "config.json")


def test_weights_in_place_of_a_program(model, tmp_path):
    with pytest.raises(ModelReadError, match=r"inference\.pdiparams: the weights of a model; pass its folder"):
        paddle2ov.convert(model.with_name("inference.pdiparams"))
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "best.pdparams").write_bytes(b"")
    for wrong in (tmp_path / "training", tmp_path / "training" / "best.pdparams", tmp_path / "training" / "best"):
        with pytest.raises(ModelReadError, match=r"the weights of a training checkpoint.*export the model first"):
            paddle2ov.convert(wrong)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("model.pdiparams.info", "the names of parameters, without a program"),
        ("model.onnx", "an ONNX model, which openvino.convert_model takes"),
        (
            "model.xml",
            r"OpenVINO IR already, and a Paddle model is wanted; OpenVINO itself, `paddle2ov.compile_model` and "
            r"`paddle2ov check` take an IR, and `nncf.quantize` quantizes it \(docs/speed.md\)",
        ),
        ("model.nb", "a model of Paddle Lite"),
        ("inference.yml", "settings; pass the model's folder"),
        ("deploy.yaml", "settings; pass the model's folder"),
        ("model.pth", "the weights of another framework"),
        ("model.tflite", "a model of TensorFlow"),
    ],
)
def test_models_of_others(name, message, tmp_path):
    (tmp_path / name).write_bytes(b"\x08\x08\x12\x07")
    with pytest.raises(ModelReadError, match=f"{name}: {message}"):
        paddle2ov.convert(tmp_path / name)
    if name.endswith((".onnx", ".nb")):
        with pytest.raises(ModelReadError, match=f"{tmp_path.name}: holds {message}"):
            paddle2ov.convert(tmp_path)


@pytest.mark.parametrize("named", ["program", "inference.pdiparams"])
def test_pointers_of_git_lfs(model, named):
    """A clone without Git LFS holds the files' names, sizes and sums."""
    path = model if named == "program" else model.with_name(named)
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 132\n")
    for way in (model, model.parent):
        with pytest.raises(ModelReadError, match=rf"{path.name}: a pointer of Git LFS .*`git lfs pull`"):
            paddle2ov.convert(way)


def test_several_models(model):
    shutil.copy(model, model.with_name("other" + model.suffix))
    with pytest.raises(ModelReadError, match=f"holds 2 models .*other{model.suffix}.*pass the file that is meant"):
        paddle2ov.convert(model.parent)


def test_parameters_missing(model):
    model.with_name("inference.pdiparams").unlink()
    with pytest.raises(ModelReadError, match=r"the program has \d+ parameters, but there is no parameter file"):
        paddle2ov.convert(model)
    with pytest.raises(ModelReadError, match="no such parameter file"):
        paddle2ov.convert(model, model.with_name("inference.pdiparams"))


def test_a_program_of_the_other_format(model):
    """The name that an older or newer Paddle gave the same program."""
    other = model.with_suffix({".json": ".pdmodel", ".pdmodel": ".json"}[model.suffix])
    with pytest.raises(ModelReadError, match=rf"no such file; {model.name} is there: pass that"):
        paddle2ov.convert(other)


def test_weights_are_shared_and_never_written(model):
    program = paddle2ov.read_program(model)
    converted = paddle2ov.convert(program)
    weight = max(program.parameters.values(), key=lambda parameter: parameter.data.size)
    (node,) = [op for op in converted.get_ops() if op.get_friendly_name() == weight.name]
    assert node.get_data().ctypes.data == weight.data.ctypes.data
    before = model.with_name("inference.pdiparams").read_bytes()
    weight.data[...] = 0  # a private copy of the page, not the file
    assert model.with_name("inference.pdiparams").read_bytes() == before


def test_an_empty_path_is_not_the_folder_one_is_in():
    with pytest.raises(ModelReadError, match="the path of the model is empty"):
        paddle2ov.convert("")
