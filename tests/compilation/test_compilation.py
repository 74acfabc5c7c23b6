"""`compile_model`: the same model from its cache, another one where anything that it depends on is another."""

import errno
import os
import shutil
import sys
from functools import wraps
from pathlib import Path

import numpy as np
import openvino
import paddle
import pytest
from openvino import opset16 as opset

import paddle2ov
from paddle2ov import ConversionInputError, OpenVINORunError, inference
from paddle2ov.checking.device import Device
from paddle2ov.compilation import cache as caches, identity, precision as precisions
from paddle2ov.compilation.cache import CompiledCache
from paddle2ov.graph.core import compile_on, shared_core
from paddle2ov.program.paths import SETTINGS
from tests.support.models import network, save_layer

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    """A folder with the folders 1 to 4, the same model with other weights."""
    folder = tmp_path_factory.mktemp("versions")
    for version in range(1, 5):
        net = paddle.nn.Linear(3, 4)
        net.weight.set_value(np.full((3, 4), version, np.float32))
        net.bias.set_value(np.full(4, version, np.float32))
        save_layer(folder / str(version), net, x=[-1, 3])
    return folder


@pytest.fixture(scope="module")
def first(versions):
    """The first version, compiled."""
    return paddle2ov.compile_model(versions / "1")


@pytest.fixture
def model(versions, tmp_path):
    return Path(shutil.copytree(versions / "1", tmp_path / "model"))


def overwrite(model, other):
    """Writes another version into the same files, which keep their sizes and modification times."""
    for path in model.iterdir():
        before, content = path.stat(), (other / path.name).read_bytes()
        assert len(content) == before.st_size
        path.write_bytes(content)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def version_of(compiled):
    """X @ W + b of ones, W and b full of the version, divided by what version 1 gives."""
    result = compiled(X)[0]
    quotient = result / (X.sum(1, keepdims=True) + 1)
    assert np.all(quotient == quotient[0, 0])
    return int(quotient[0, 0])


@pytest.fixture
def conversions(monkeypatch):
    """The models that were converted."""
    from paddle2ov import conversion

    done, convert = [], conversion.convert

    @wraps(convert)
    def note(model, *arguments, **options):
        done.append(model)
        return convert(model, *arguments, **options)

    monkeypatch.setattr(conversion, "convert", note)
    return done


@pytest.fixture
def compiled_twice(tmp_path, conversions):
    """Compiles a first version twice with a cache; returns how many models were converted so far."""

    def compile_twice(model, **arguments):
        for _ in range(2):
            assert version_of(paddle2ov.compile_model(model, cache_dir=tmp_path / "cache", **arguments)) == 1
        return len(conversions)

    return compile_twice


def test_a_model_is_converted_once(model, tmp_path, conversions):
    """Also a copy of it elsewhere; with the names and types that it had at first."""
    copied = shutil.copytree(model, tmp_path / "other")
    first, second, third = (
        paddle2ov.compile_model(folder, cache_dir=tmp_path / "cache") for folder in (model, model, copied)
    )
    assert version_of(first) == version_of(second) == version_of(third) == 1
    assert len(conversions) == 1
    for input_, other in zip([*first.inputs, *first.outputs], [*second.inputs, *second.outputs], strict=True):
        assert input_.get_names() == other.get_names()
        assert input_.get_element_type() == other.get_element_type()
        assert input_.get_partial_shape() == other.get_partial_shape()


def test_a_result_that_is_an_input_keeps_its_name(tmp_path):
    """IR, which the cache holds, calls it otherwise: names are unique there."""

    def both(x, y):
        return x, x * 2 + y

    folder, cache = save_layer(tmp_path / "model", both, x=[-1, 2], y=[-1, 2]), tmp_path / "cache"
    wanted = [port.get_names() for port in paddle2ov.convert(folder).outputs]
    assert wanted[0] == {"x"}
    config = inference.Config(str(folder))
    config.set_optim_cache_dir(str(tmp_path / "other"))
    for _ in range(2):
        compiled = paddle2ov.compile_model(folder, cache_dir=cache)
        assert [port.get_names() for port in compiled.outputs] == wanted
        assert [{name} for name in inference.create_predictor(config).get_output_names()] == wanted


def test_each_precision_is_kept_apart(model, tmp_path, conversions, monkeypatch):
    monkeypatch.setattr(precisions, "capabilities", lambda device: ["FP32", "BF16"])
    for _ in range(2):
        for precision in ("FP32", "bf16"):  # OpenVINO's name is another one for f32
            compiled = paddle2ov.compile_model(model, precision=precision, cache_dir=tmp_path / "cache")
            assert compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name() in ("f32", "bf16")
    assert len(conversions) == 2


@pytest.mark.parametrize(
    ("precision", "config", "message"),
    [
        ("f16", {}, "precision: this CPU has no hardware for f16, and would not be faster in it: use f32 or bf16$"),
        ("f32", {"INFERENCE_PRECISION_HINT": "bf16"}, "f32 is asked for, and bf16 by INFERENCE_PRECISION_HINT"),
        ("int8", {}, r"int8 needs data: `paddle2ov quantize` \(paddle2ov.quantize\)"),
        ("f64", {}, "precision: 'f64' is not one of f32, bf16, f16, default"),
    ],
)
def test_precisions_that_are_refused(precision, config, message, model, conversions, monkeypatch):
    monkeypatch.setattr(precisions, "capabilities", lambda device: ["FP32", "BF16"])
    with pytest.raises(ConversionInputError, match=message):
        paddle2ov.compile_model(model, config=config, precision=precision)
    assert not conversions


@pytest.fixture
def ir(model, tmp_path):
    openvino.save_model(paddle2ov.convert(model), tmp_path / "net.xml", compress_to_fp16=False)
    return tmp_path / "net.xml"


@pytest.mark.parametrize("kind", ["path", "text", "graph"])
def test_what_needs_no_conversion(ir, kind, monkeypatch):
    """It is compiled with the properties of a Paddle model, and as it is."""
    given_properties = []

    def compiling(device, model, config):
        given_properties.append(config)
        return compile_on(device, model, config)

    monkeypatch.setattr("paddle2ov.graph.core.has_integer_kernels", lambda: False)
    monkeypatch.setattr("paddle2ov.conversion.convert", None)
    monkeypatch.setattr("paddle2ov.compilation.compile.compile_on", compiling)
    given = {"path": ir, "text": f"file://{ir}", "graph": openvino.Core().read_model(ir)}[kind]
    compiled = paddle2ov.compile_model(given, config={"INFERENCE_NUM_THREADS": 1}, precision="f32")
    assert compiled.get_property("INFERENCE_PRECISION_HINT") == openvino.Type.f32
    (properties,) = given_properties
    assert (properties["LP_TRANSFORMS_MODE"], properties["NUM_STREAMS"]) == ("NO", 0)


@pytest.mark.parametrize(
    ("argument", "value"),
    [("params", "net.bin"), ("cache_dir", "cache"), ("input", {"x": [1]}), ("output", "y"), ("share_weights", False)],
)
def test_what_is_for_a_conversion_is_refused_where_there_is_none(ir, argument, value):
    message = f"^{argument}: it is for Paddle models; an openvino.Model or an IR is compiled as it is"
    for model in (ir, openvino.Core().read_model(ir)):
        with pytest.raises(paddle2ov.ConversionInputError, match=message):
            paddle2ov.compile_model(model, **{argument: value})


def test_a_folder_that_is_called_as_ir_is(model, tmp_path):
    shutil.copytree(model, tmp_path / "net.xml")
    assert paddle2ov.compile_model(tmp_path / "net.xml").inputs


def test_a_graph_whose_weights_are_cut_off_since(model, tmp_path):
    """What is no longer in the file would end the process."""
    shutil.copytree(model, tmp_path / "copy")
    graph = paddle2ov.convert(tmp_path / "copy")
    os.truncate(tmp_path / "copy" / "inference.pdiparams", 1)
    with pytest.raises(paddle2ov.ModelReadError, match="convert it again"):
        paddle2ov.compile_model(graph)


def test_no_graph_in_a_file(ir, tmp_path):
    ir.with_suffix(".bin").unlink()
    (tmp_path / "other.xml").write_text("<html/>")
    for name, message in (("none", "no such file"), ("other", "not an OpenVINO IR"), ("net", "its weights, net.bin,")):
        with pytest.raises(paddle2ov.ModelReadError, match=message):
            paddle2ov.compile_model(tmp_path / f"{name}.xml")


@pytest.mark.skipif("GPU" in shared_core().available_devices, reason="there is one")
@pytest.mark.parametrize("precision", ["default", "fp16"])
def test_a_device_that_is_not_there(model, precision):
    for device in ("GPU", "AUTO:GPU,CPU"):
        with pytest.raises(
            OpenVINORunError, match=r"OpenVINO finds no GPU here, only .*CPU.*: is its driver installed\?"
        ):
            paddle2ov.compile_model(model, device, precision=precision)


def test_suppression_is_not_compiled_in_float16(monkeypatch):
    """OpenVINO 2026.4 would not return."""
    monkeypatch.setattr(precisions, "capabilities", lambda device: ["FP32", "FP16"])
    folder = network("choosing_boxes")
    monkeypatch.setattr("paddle2ov.checking.check.chosen_device", lambda name, precision: Device(name, precision))
    message = "never ends compiling the suppression of boxes in float16 for the CPU: use f32, .* in f16 all the same"
    for use, arguments in (
        (paddle2ov.compile_model, {"precision": "f16"}),
        (paddle2ov.compile_model, {"config": {"INFERENCE_PRECISION_HINT": "FP16"}}),
        (paddle2ov.check, {"precision": "f16"}),
    ):
        with pytest.raises(ConversionInputError, match=message):
            use(folder, **arguments)


@pytest.mark.parametrize("hint", ["f32", "FP32", openvino.Type.f32], ids=["name", "capability", "type"])
def test_a_hint_that_agrees(hint, model):
    compiled = paddle2ov.compile_model(model, config={"INFERENCE_PRECISION_HINT": hint}, precision="f32")
    assert compiled.get_property("INFERENCE_PRECISION_HINT") == openvino.Type.f32


def test_every_device_that_is_named_has_the_hardware(monkeypatch):
    known = {"GPU": ["FP32", "FP16"], "CPU": ["FP32"]}
    monkeypatch.setattr(precisions, "capabilities", known.__getitem__)
    assert precisions.computes_in("GPU", "f16")
    assert precisions.computes_in("AUTO:GPU(2), CPU", "f32")
    assert not precisions.computes_in("AUTO:GPU(2), CPU", "f16")


def test_without_a_folder_nothing_is_kept(model, conversions, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert version_of(paddle2ov.compile_model(model)) == 1
    assert len(conversions) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_an_overwritten_model_is_never_taken_for_the_old_one(model, versions, tmp_path):
    for version in (1, 2, 3, 1, 2):
        overwrite(model, versions / str(version))
        assert version_of(paddle2ov.compile_model(model, cache_dir=tmp_path / "cache")) == version


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no time of a change of status")
def test_only_the_parameters_are_overwritten(model, versions, tmp_path):
    paddle2ov.compile_model(model, cache_dir=tmp_path / "cache")
    params = model / "inference.pdiparams"
    before = params.stat()
    params.write_bytes((versions / "3" / params.name).read_bytes())
    os.utime(params, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert version_of(paddle2ov.compile_model(model, cache_dir=tmp_path / "cache")) == 3


def test_a_model_that_changes_while_it_is_converted_is_not_kept(model, versions, tmp_path, monkeypatch):
    from paddle2ov import conversion

    convert = conversion.convert

    def change_first(*arguments, **options):
        overwrite(model, versions / "2")
        return convert(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(conversion, "convert", change_first)
        assert version_of(paddle2ov.compile_model(model, cache_dir=tmp_path / "cache")) == 2
    assert not list((tmp_path / "cache").iterdir())
    overwrite(model, versions / "1")
    assert version_of(paddle2ov.compile_model(model, cache_dir=tmp_path / "cache")) == 1


def test_a_pair_of_files(model, tmp_path, conversions):
    pair = (model / "inference.json", model / "inference.pdiparams")
    for value in (pair, list(pair), pair):
        assert version_of(paddle2ov.compile_model(value, cache_dir=tmp_path / "cache")) == 1
    assert conversions == [pair]


def test_an_archive(model, tmp_path, conversions, compiled_twice):
    archive = shutil.make_archive(str(tmp_path / "model"), "tar", root_dir=model)
    assert compiled_twice(archive) == 1
    assert conversions == [archive]


@pytest.mark.parametrize(
    "arguments",
    [
        {"config": {"INFERENCE_NUM_THREADS": 1}},
        {"input": {"x": [2, 3]}},
        {"rewrite": False},
    ],
    ids=["property", "shape", "option"],
)
def test_other_arguments_are_other_models(model, tmp_path, compiled_twice, arguments):
    paddle2ov.compile_model(model, cache_dir=tmp_path / "cache")
    assert compiled_twice(model, **arguments) == 2
    shapes = [openvino.PartialShape([rows, 3]) for rows in (4, 5)]
    compiled = [paddle2ov.compile_model(model, cache_dir=tmp_path / "cache", input={"x": shape}) for shape in shapes]
    assert [item.input(0).get_partial_shape() for item in compiled] == shapes


_HINTS = openvino.properties.hint
_STREAMS = openvino.properties.streams


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("PERFORMANCE_HINT", (_HINTS.PerformanceMode.THROUGHPUT, _HINTS.PerformanceMode.LATENCY)),
        ("NUM_STREAMS", (_STREAMS.Num(2), _STREAMS.Num(1))),
        ("NUM_STREAMS", (np.int64(2), np.int64(1))),
    ],
    ids=["constant", "streams", "NumPy"],
)
def test_values_of_openvino_and_numpy(model, tmp_path, conversions, name, values):
    for value, streams in zip((*values, *values), (2, 1, 2, 1), strict=True):
        config = {name: value, "INFERENCE_NUM_THREADS": 2}
        compiled = paddle2ov.compile_model(model, config=config, cache_dir=tmp_path / "cache")
        assert compiled.get_property("NUM_STREAMS") == streams
    assert len(conversions) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"config": {"NUM_STREAMS": object()}}, "config: NUM_STREAMS cannot be of type object"),
        ({"config": {5: 1}}, "config: 5 is not the name of a property"),
        ({"config": "NUM_STREAMS"}, "config: properties by their names are expected, not str"),
        ({"device": None}, "device: None is not the name of a device"),
        ({"device": "CPU\udcff"}, r"device: 'CPU\\udcff' is not the name of a device"),
        ({"cache_dir": 3}, "cache_dir: a path is expected, not int"),
        ({"cache_dir": "a\ud800"}, r"cache_dir: 'a\\ud800' is not the name of a folder"),
        ({"cache_dir": "one", "config": {"CACHE_DIR": "two"}}, "CACHE_DIR"),
    ],
    ids=["value", "name", "config", "device", "bytes", "folder", "surrogate", "two folders"],
)
def test_what_openvino_would_ignore_is_refused(model, conversions, arguments, message):
    with pytest.raises(ConversionInputError, match=message):
        paddle2ov.compile_model(model, **arguments)
    assert not conversions


@pytest.mark.parametrize("name", SETTINGS)
def test_other_settings_beside_it_are_another_model(model, tmp_path, conversions, name):
    for text in ("{}", "{Hpi: {}}", "{Hpi: {}}"):
        (model / name).write_text(text)
        assert version_of(paddle2ov.compile_model(model, cache_dir=tmp_path / "cache")) == 1
    assert len(conversions) == 2


def test_a_device_that_exports_nothing(model, tmp_path, caplog):
    for _ in range(2):
        assert version_of(paddle2ov.compile_model(model, "AUTO", cache_dir=tmp_path / "cache")) == 1
        assert "cache_dir: nothing is kept: the device exports no compiled model: Not Implemented" in caplog.text
        caplog.clear()
    assert not list((tmp_path / "cache").glob("*.blob"))


def test_converters_of_ones_own_keep_nothing(model, compiled_twice):
    assert compiled_twice(model, extension=paddle2ov.ConversionExtension("unused", lambda node: {})) == 2


def test_registered_converters_keep_nothing(model, tmp_path, compiled_twice, monkeypatch):
    from paddle2ov.translation import extension

    paddle2ov.compile_model(model, cache_dir=tmp_path / "cache")
    registered = {"unused": paddle2ov.ConversionExtension("unused", lambda node: {})}
    monkeypatch.setattr(extension, "_script", registered)
    assert compiled_twice(model) == 3


def test_another_state_of_the_code_is_another_model(model, tmp_path, conversions, monkeypatch):
    paddle2ov.compile_model(model, cache_dir=tmp_path / "cache")
    code = identity._code()
    assert any(name.endswith("activation.py") for name, _, _ in code)
    assert any(name.endswith("op_table.py") for name, _, _ in code)
    monkeypatch.setattr(identity, "_code", lambda: [*code[1:], [code[0][0], code[0][1] + 1, code[0][2]]])
    paddle2ov.compile_model(model, cache_dir=tmp_path / "cache")
    assert len(conversions) == 2


DAMAGES = {
    "empty": lambda blob: b"",
    "half": lambda blob: blob[: len(blob) // 2],
    "more": lambda blob: blob + b"x",
    "another weight": lambda blob: blob.replace(np.ones(4, np.float32).tobytes(), np.zeros(4, np.float32).tobytes()),
    "what OpenVINO does not take": lambda blob: caches._head(b"[]", b"no export") + b"\n[]\nno export",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_made_again(model, tmp_path, compiled_twice, damage):
    paddle2ov.compile_model(model, cache_dir=tmp_path / "cache")
    (blob,) = (tmp_path / "cache").glob("*.blob")
    blob.write_bytes(DAMAGES[damage](blob.read_bytes()))
    assert compiled_twice(model) == 2


def named(letter):
    """A name as those of compiled models."""
    return f"{letter * 32}-{letter * 32}"


def test_a_cache_is_bounded(first, tmp_path):
    cache = CompiledCache(tmp_path / "cache", max_bytes=100_000)
    names = [named(item) for item in "abcde"]
    for name in names[:4]:
        cache.store(name, first)
    size = (tmp_path / "cache" / f"{names[0]}.blob").stat().st_size
    small = CompiledCache(tmp_path / "cache", max_bytes=2 * size)
    for at, name in enumerate(names[:4]):
        os.utime(tmp_path / "cache" / f"{name}.blob", (at, at))
    assert small.load(names[0]) is not None  # used last
    small.store(names[4], first)
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == [f"{names[i]}.blob" for i in (0, 4)]


def test_what_nobody_finishes_is_removed(first, tmp_path):
    cache = CompiledCache(tmp_path / "cache")
    old, new = (f"{named(item)}.blob.1.{item * 8}.part" for item in "bc")
    for name, age in ((old, caches._ABANDONED + 60), (new, 0)):
        path = tmp_path / "cache" / name
        path.write_bytes(b"half")
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    cache.store(named("a"), first)
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == [f"{named('a')}.blob", new]


def test_a_file_has_its_name_only_when_it_is_complete(first, tmp_path, monkeypatch):
    """Until then readers find what was there before; what is renamed is on the disk."""
    cache, synced, sync = CompiledCache(tmp_path), [], os.fsync
    blob, content = f"{named('a')}.blob", f"{'c' * 64}.content"

    def while_written(file):
        sync(file)
        (part,) = tmp_path.glob("*.part")
        assert part.stat().st_size == os.fstat(file).st_size
        synced.append((part.name.split(".")[1], part.read_bytes(), cache.load(named("a")), cache.content_of("c" * 64)))

    monkeypatch.setattr(os, "fsync", while_written)
    for digit in "12":
        cache.store(named("a"), first)
        cache.note_content("c" * 64, digit * 64)
        kinds, written, models, notes = zip(*synced, strict=True)
        assert kinds == ("blob", "content")
        assert [(tmp_path / name).read_bytes() for name in (blob, content)] == [*written]
        assert [model is not None for model in models] == [digit == "2", True]
        assert notes == (("1" * 64,) * 2 if digit == "2" else (None, None))
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted([blob, content])
        synced.clear()


def test_a_file_that_cannot_be_renamed_is_a_warning(model, tmp_path, caplog, monkeypatch, compiled_twice):
    """As on Windows, where another process has it open: nothing stays behind, and the next process tries again."""

    def in_use(self, target):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", in_use)
        assert version_of(paddle2ov.compile_model(model, cache_dir=tmp_path / "cache")) == 1
    assert f"cache_dir: {tmp_path / 'cache'}: Permission denied" in caplog.text
    assert not list((tmp_path / "cache").iterdir())
    assert compiled_twice(model) == 2


def test_whoever_ends_before_the_rename_leaves_nothing_that_is_read(model, tmp_path, monkeypatch, compiled_twice):
    def interrupt(file):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            paddle2ov.compile_model(model, cache_dir=tmp_path / "cache")
    (left,) = (tmp_path / "cache").iterdir()
    assert left.suffix == ".part"
    assert compiled_twice(model) == 2
    assert paddle2ov.clear_cache(tmp_path / "cache") == 1
    assert not list((tmp_path / "cache").iterdir())


def test_a_cache_is_cleared(model, tmp_path, conversions):
    paddle2ov.compile_model(model, cache_dir=tmp_path / "cache")
    others = ["mine.blob", "mine.part", "notes.txt"]
    for name in others:
        (tmp_path / "cache" / name).write_text("mine")
    assert paddle2ov.clear_cache(tmp_path / "cache") == 1
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == others
    paddle2ov.compile_model(model, cache_dir=tmp_path / "cache")
    assert len(conversions) == 2


@pytest.mark.parametrize("name", ["", "a\0b"])
def test_what_is_no_folder_is_not_this_one(model, tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{named('a')}.blob").write_text("another cache's")
    for use in (lambda: paddle2ov.compile_model(model, cache_dir=name), lambda: paddle2ov.clear_cache(name)):
        with pytest.raises(paddle2ov.ConversionInputError, match=r"cache_dir: .* is not the name of a folder"):
            use()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{named('a')}.blob", "model"]


def test_a_folder_that_keeps_nothing_is_a_warning(model, tmp_path, caplog, monkeypatch):
    (tmp_path / "file").write_text("")
    assert version_of(paddle2ov.compile_model(model, cache_dir=tmp_path / "file")) == 1
    assert f"cache_dir: nothing is kept: {tmp_path / 'file'}: Not a directory" in caplog.text
    caplog.clear()

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "fsync", refuse)
    assert version_of(paddle2ov.compile_model(model, cache_dir=tmp_path / "cache")) == 1
    assert f"cache_dir: {tmp_path / 'cache'}: Permission denied" in caplog.text


def test_no_folder(tmp_path):
    with pytest.raises(paddle2ov.ConversionInputError, match="is not a folder"):
        paddle2ov.clear_cache(tmp_path / "none")
    with pytest.raises(ConversionInputError, match="is not a folder"):
        paddle2ov.clear_cache("n" * 5000)


@pytest.mark.parametrize(
    ("device", "options", "message"),
    [
        ("NOSUCH", {}, "NOSUCH"),
        ("NOSUCH", {"precision": "f32"}, "precision: OpenVINO does not tell what NOSUCH computes in"),
        ("GUP", {"precision": "default"}, r"OpenVINO finds no GUP here, only .*CPU.* \(.*not registered"),
        ("CPU", {"config": {"FOO": 1}}, "FOO"),
    ],
)
def test_what_openvino_does_not_know_is_named_without_lines_of_source(model, tmp_path, device, options, message):
    with pytest.raises(OpenVINORunError, match=message) as raised:
        paddle2ov.compile_model(model, device, cache_dir=tmp_path / "cache", **options)
    assert "Exception from" not in str(raised.value)


def test_openvino_ignores_a_precision_in_the_model(tmp_path):
    """Once it does not: let a converted model carry its precision, and change what docs/speed.md says of it.

    Another property in the same place is honoured, so that it is the precision alone.
    """
    x = opset.parameter([1, 4], openvino.Type.f32)
    layer = opset.matmul(x, np.ones((4, 4), np.float32), False, False)
    model = openvino.Model([layer.output(0)], [x])
    hint, other = "INFERENCE_PRECISION_HINT", "DYNAMIC_QUANTIZATION_GROUP_SIZE"
    by_default = openvino.compile_model(model, "CPU").get_property(hint).get_type_name()
    model.set_rt_info("bf16" if by_default == "f32" else "f32", ["runtime_options", hint])
    model.set_rt_info("7", ["runtime_options", other])
    openvino.save_model(model, tmp_path / "model.xml", compress_to_fp16=False)
    for saved in (model, openvino.Core().read_model(tmp_path / "model.xml")):
        compiled = openvino.compile_model(saved, "CPU")
        assert compiled.get_property(other) == 7
        assert compiled.get_property(hint).get_type_name() == by_default
