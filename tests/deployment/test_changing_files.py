"""A model whose files change while it is read, converted, saved and served: one version of it, or an error of ours.

What would end the process (a mapped file that is cut off) runs in a process of its own.
"""

import json
import os
import shutil
import sys
import threading
import time
from functools import cache
from pathlib import Path

import numpy as np
import openvino
import pytest

import paddle2ov
from gen_models.harness.spec import paddle  # which the processes that import this module go without
from paddle2ov import ConversionInputError, ModelReadError
from paddle2ov.commands.shared import refuse_overwriting_sources
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.deployment import saving
from paddle2ov.deployment.serving import write_layout
from paddle2ov.inference import Config, create_predictor
from paddle2ov.inference.paddlex import Runner
from paddle2ov.program import parameters, sources
from tests.support.command_line import call, python
from tests.support.models import save_layer, save_program, separate

SIZE = 256
RESULTS = {1: 2.0, 2: 8.0}
"""What a whole model of each version computes from ones: (weights' sum + bias) * factor."""
ONES = np.ones((2, SIZE), np.float32)
FORMATS = ("pir", "legacy", "separate")
CHANGES = ("truncate", "empty", "overwrite", "replace", "remove")


def export(folder, version, legacy):
    """Each of the files alone says which version it is: the program by its factor, all weights by their values."""

    def build(x):
        def parameter(name, value, *shape):  # both versions have the same names, and so the same order of parameters
            constant = paddle.nn.initializer.Constant(value)
            return paddle.static.create_parameter(list(shape), "float32", name, default_initializer=constant)

        layers = [(parameter(f"w{i}", version / SIZE, SIZE, SIZE), parameter(f"b{i}", version, SIZE)) for i in range(3)]
        return [paddle.nn.functional.linear(x, *layer) * float(version) for layer in layers]

    return save_program(folder, build, legacy=legacy, x=[-1, SIZE])


@pytest.fixture(scope="session")
def versions(tmp_path_factory):
    """`versions(format)`: a folder with the folders 1 and 2, the same model with different weights and factors."""

    @cache
    def of(format):
        made = tmp_path_factory.mktemp("versions")
        for version in (1, 2):
            folder = export(made / str(version), version, format != "pir")
            if format == "separate":
                separate(folder / "inference.pdmodel")
        return made

    return of


@pytest.fixture(params=FORMATS)
def model(request, versions, tmp_path):
    """A folder with version 1, beside a folder with version 2."""
    shutil.copytree(versions(request.param), tmp_path, dirs_exist_ok=True)
    return tmp_path / "1"


@pytest.fixture
def each_format(versions, tmp_path):
    """Such folders of each format."""
    return [str(shutil.copytree(versions(format), tmp_path / format) / "1") for format in FORMATS]


@pytest.fixture
def pir(versions, tmp_path):
    shutil.copytree(versions("pir"), tmp_path, dirs_exist_ok=True)
    return tmp_path / "1"


def files_of(folder):
    """The program, then the parameters."""
    return sorted((path for path in folder.iterdir() if path.is_file()), key=lambda path: "inference." not in path.name)


def change(folder, how, other, files=None):
    """Does something to every file, the program first; `other` holds the version to write."""
    for path in files or files_of(folder):
        apply(folder / path.name, how, (other / path.name).read_bytes())


def apply(path, how, content):
    if how == "truncate":
        os.truncate(path, path.stat().st_size // 2)
    elif how == "empty":
        os.truncate(path, 0)
    elif how == "overwrite":  # without cutting it off before
        number = os.open(path, os.O_RDWR | os.O_CREAT)
        for part in range(0, len(content), 1 << 16):
            os.write(number, content[part : part + (1 << 16)])
        os.truncate(number, len(content))
        os.close(number)
    elif how == "replace":
        path.with_name(path.name + ".new").write_bytes(content)
        path.with_name(path.name + ".new").replace(path)
    elif how == "remove":
        path.unlink()
    else:
        raise AssertionError(how)


def version_of(results):
    """Which version a predictor's results are of."""
    for version, value in RESULTS.items():
        if all(np.array_equal(result, np.full_like(result, value)) for result in results):
            return version
    raise AssertionError(f"results of no version: {[(result.min(), result.max()) for result in results]}")


def compiled_version(model):
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return version_of(list(compiled([ONES]).values()))


def in_process(function, *arguments):
    """Calls a function of this module in a process of its own, which may die; what it returned."""
    module = "tests.deployment.test_changing_files"
    code = f"import json, {module} as module; print(json.dumps(module.{function}(*{arguments!r})))"
    return json.loads(python("-c", code).stdout.splitlines()[-1])


# What serves keeps the version that it was made with


def test_what_serves_keeps_its_version(each_format):
    assert in_process("served", each_format) == [[change, 1, 1] for _ in range(4) for change in CHANGES]


def served(folders):
    """For each kind of change after it was made, the version of a predictor's clone and its own; of a runner, twice."""
    rows = []
    for folder, kind in [(folders[0], "runner"), *((folder, "predictor") for folder in folders)]:
        for how in CHANGES:
            sys.stderr.write(f"{folder} {how}\n")  # where it dies
            mine = shutil.copytree(folder, f"{folder}-{kind}-{how}")
            served = Runner(mine) if kind == "runner" else create_predictor(Config(mine))
            change(Path(mine), how, Path(folder).with_name("2"))
            runs = (served, served) if kind == "runner" else (served.clone().run, served.run)
            rows.append([how, *(version_of(run([ONES])) for run in runs)])
    return rows


# Reading: whole, or not at all


@pytest.fixture
def between(monkeypatch):
    """`between(action)`: calls it, once, when half of the parameters are read; an action that is `always` each time."""

    def call(action, always=False):
        read, count = parameters._File.array_at, [0]

        def array_at(self, *arguments):
            count[0] += 1
            if count[0] == 3 or (always and count[0] % 6 == 3):
                action()
            return read(self, *arguments)

        monkeypatch.setattr(parameters._File, "array_at", array_at)

    return call


@pytest.mark.parametrize("how", ["overwrite", "replace"])
def test_a_new_version_in_the_midst_of_reading(model, between, how):
    between(lambda: change(model, how, model.with_name("2")))
    assert version_of(create_predictor(Config(model)).run([ONES])) == 2


@pytest.mark.parametrize("how", ["truncate", "empty", "remove"])
def test_a_file_cut_off_in_the_midst_of_reading(model, between, how):
    between(lambda: apply(files_of(model)[-1], how, b""))
    with pytest.raises(ModelReadError):
        create_predictor(Config(model))


def test_a_program_that_is_replaced_in_the_midst_of_reading(model, between):
    program = files_of(model)[0]
    content = (model.with_name("2") / program.name).read_bytes()
    between(lambda: apply(program, "replace", content), always=True)
    with pytest.raises(ModelReadError, match=r"changed while it was being read"):
        paddle2ov.convert(model, share_weights=False)


def test_a_file_that_is_written_all_the_time(pir, monkeypatch):
    params = pir / "inference.pdiparams"
    monkeypatch.setattr(sources, "_PAUSES", 3)
    pause = time.sleep

    def write(seconds):
        pause(seconds)
        params.touch()

    params.touch()
    monkeypatch.setattr("paddle2ov.program.sources.time.sleep", write)
    with pytest.raises(ModelReadError, match="is being written all the time"):
        create_predictor(Config(pir))


def test_contents_in_memory_need_no_files(pir):
    program, params = ((pir / f"inference.{kind}").read_bytes() for kind in ("json", "pdiparams"))
    config = Config()
    config.set_model_buffer(program, len(program), params[:-1], len(params) - 1)
    with pytest.raises(ModelReadError, match="are left"):
        create_predictor(config)


# Models that `convert` maps


@pytest.mark.parametrize("how", ["truncate", "empty", "overwrite"])
def test_what_is_mapped_is_refused_when_it_has_changed(pir, tmp_path, how):
    model = paddle2ov.convert(pir)
    change(pir, how, tmp_path / "2")
    target = tmp_path / "model.xml"
    uses = (
        lambda: saving.save_model(model, target, fp16=False),
        lambda: compile_on_cpu(model),
        lambda: write_layout(model, tmp_path / "served", "net", lambda one, path: saving.write_ir(one, path, False)),
    )
    for use in uses:
        with pytest.raises(ModelReadError, match=r"pdiparams has changed since .*share_weights=False"):
            use()
    assert not target.exists()
    assert not list((tmp_path / "served").rglob("*.xml"))


@pytest.mark.parametrize("how", ["replace", "remove"])
def test_what_is_mapped_stays_where_its_file_is_replaced(pir, tmp_path, how):
    model = paddle2ov.convert(pir)
    change(pir, how, tmp_path / "2")
    saving.save_model(model, tmp_path / "model.xml", fp16=False)
    assert compiled_version(openvino.Core().read_model(tmp_path / "model.xml")) == 1
    assert compiled_version(model) == 1


def test_a_change_while_it_is_saved_leaves_what_was_there(pir, tmp_path, monkeypatch):
    target, save = tmp_path / "model.xml", openvino.save_model
    saving.save_model(paddle2ov.convert(tmp_path / "2"), target, fp16=False)
    model = paddle2ov.convert(pir)

    def change_meanwhile(*arguments, **options):
        save(*arguments, **options)
        apply(pir / "inference.pdiparams", "overwrite", (tmp_path / "2" / "inference.pdiparams").read_bytes())

    monkeypatch.setattr(openvino, "save_model", change_meanwhile)
    with pytest.raises(ModelReadError, match="has changed since"):
        saving.save_model(model, target, fp16=False)
    assert compiled_version(openvino.Core().read_model(target)) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1", "2", "model.bin", "model.xml"]


def test_weights_that_cannot_be_written_leave_what_was_there(pir, tmp_path, monkeypatch):
    target, move = tmp_path / "model.xml", Path.replace
    saving.save_model(paddle2ov.convert(tmp_path / "2"), target, fp16=False)

    def refuse(self, to):
        if Path(to) == target.with_suffix(".bin"):
            raise OSError(13, "no")
        return move(self, to)

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match=r"model\.xml cannot be written"):
        saving.save_model(paddle2ov.convert(pir), target, fp16=False)
    assert compiled_version(openvino.Core().read_model(target)) == 2


def test_own_weights_stay_as_they_were(model):
    converted = paddle2ov.convert(model, share_weights=False)
    change(model, "overwrite", model.with_name("2"))
    compile_on_cpu(converted)
    assert compiled_version(converted) == 1


def test_a_model_that_changed_is_not_compared(pir, tmp_path):
    converted = paddle2ov.convert(pir, share_weights=False)
    change(pir, "overwrite", tmp_path / "2")
    with pytest.raises(ModelReadError, match="has changed since it was converted"):
        paddle2ov.verify(pir, converted=converted)


# The command line


def test_a_change_between_converting_and_saving(each_format):
    assert in_process("changed_and_saved", each_format) == [[0, "", 1]] * 3


def changed_and_saved(folders):
    """The status of the command, what it says, and the version that it saves."""
    save, rows = openvino.save_model, []
    for folder in folders:

        def change_and_save(*arguments, folder=Path(folder), **options):
            change(folder, "empty", folder)
            save(*arguments, **options)

        openvino.save_model = change_and_save
        run = call(folder, "-o", f"{folder}.xml", "--quiet")
        rows.append([run.exit_code, run.output, compiled_version(openvino.Core().read_model(f"{folder}.xml"))])
    return rows


@pytest.mark.skipif(sys.platform == "win32", reason="there are no locks of folders")
def test_two_writers_of_one_model(versions, tmp_path, monkeypatch):
    """The second one begins between the two files of the first one: the pair is of one model, or the other."""
    first, second = (paddle2ov.convert(versions("pir") / version) for version in ("1", "2"))
    target, replace = tmp_path / "model.xml", Path.replace
    other = threading.Thread(target=saving.save_model, args=(second, target, False))

    def begin_meanwhile(path, to):
        replace(path, to)
        if Path(to).name == "model.bin" and threading.current_thread() is not other:
            other.start()
            other.join(0.5)

    monkeypatch.setattr(Path, "replace", begin_meanwhile)
    saving.save_model(first, target, fp16=False)
    other.join()
    assert compiled_version(openvino.Core().read_model(target)) == 2.0


@pytest.mark.skipif(sys.platform == "win32", reason="there are no locks of folders")
def test_two_models_are_added_to_a_server(versions, tmp_path):
    model = paddle2ov.convert(versions("pir") / "1")

    def save(one, path, others=("b",)):
        saving.write_ir(one, path, False)
        for name in others:  # of which config.json tells by the time that this one is listed
            write_layout(one, tmp_path, name, lambda again, where: save(again, where, ()))

    write_layout(model, tmp_path, "a", save)
    served = json.loads((tmp_path / "config.json").read_text())["model_config_list"]
    assert sorted(model["config"]["name"] for model in served) == ["a", "b"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("-m", "{}", "-pf", "net.bin", "-o", "{}/net.xml"),
        ("{}", "-pf", "net.bin", "--report", "{}/inference.json"),
        ("{}", "-pf", "net.bin", "-o", "1", "--serve-layout", "{}/../.."),
    ],
)
def test_a_model_is_not_written_over_itself(pir, tmp_path, arguments):
    folder = tmp_path / "served" / "1" / "1"
    folder.parent.mkdir(parents=True)
    pir.rename(folder)
    (folder / "inference.pdiparams").rename(folder / "net.bin")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    run = call(*(argument.format(folder) for argument in arguments))
    assert run.exit_code == 2
    assert "is a file of the model itself" in run.output
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    with pytest.raises(ConversionInputError, match="is a file of the model itself"):
        refuse_overwriting_sources(folder, folder / "net.bin", [folder / "net.bin"], None)


def test_a_link_in_a_circle_is_no_folder(pir, tmp_path):
    (tmp_path / "link").symlink_to("link")
    run = call(pir, "-o", "1", "--serve-layout", tmp_path / "link" / "served")
    assert (run.exit_code, type(run.exception)) == (2, SystemExit)
    assert "cannot be written: Too many levels of symbolic links" in run.output
    run = call("batch", pir, "-o", tmp_path / "link")
    assert run.exit_code == 2
    assert "link/.paddle2ov-batch cannot be written: Not a directory\n" in run.output


def test_a_batch_does_again_what_has_changed_in_its_parameters(versions, tmp_path, inline):
    folder = tmp_path / "models" / "net"
    shutil.copytree(versions("separate") / "1", folder)
    for value in (2.0, 4.0):  # the sum of the second version's weights, times the first one's factor
        run = call("batch", folder.parent, "-o", tmp_path / "out")
        assert run.exit_code == 0, run.output
        compiled = openvino.Core().compile_model(tmp_path / "out" / "net.xml", "CPU")
        assert {float(value.max()) for value in compiled([ONES]).values()} == {value}
        change(folder, "overwrite", versions("separate") / "2", files_of(folder)[1:])


# Memory

_MARGIN = 24
"""MB that a conversion takes beside the weights, and more."""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="measured where Linux says it")
def test_memory_grows_by_the_weights_and_no_more(pir, tmp_path):
    layers = []
    for _ in range(8):
        layers += [paddle.nn.Conv2D(512, 512, 3, padding=1, bias_attr=False), paddle.nn.BatchNorm2D(512)]
    net = paddle.nn.Sequential(*layers, paddle.nn.Flatten(), paddle.nn.Linear(2048, 64))
    large = save_layer(tmp_path / "large", net, x=[1, 512, 2, 2])
    weights = (large / "inference.pdiparams").stat().st_size / 2**20
    assert weights > 2.5 * _MARGIN
    read, most = in_process("memory", str(pir), str(large), "read")
    assert weights / 2 < read < weights + _MARGIN
    assert most < weights + _MARGIN
    # The plugin keeps the weights times the scales of batch norm. What was read is given back but for the last layer's.
    served, most = in_process("memory", str(pir), str(large), "served")
    assert served < most - weights / 2


def memory(small, large, what):
    """By how much (MB) resident memory has grown when the large model is read or served, and by how much at most."""

    def resident(name="VmRSS"):
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(name)).split()[1]) / 1024

    def use(folder):
        if what == "read":
            return paddle2ov.convert(folder, share_weights=False)
        return create_predictor(Config(folder))

    used = [use(small)]  # whatever is loaded once is loaded now
    start = resident()
    used.append(use(large))
    return resident() - start, resident("VmHWM") - start
