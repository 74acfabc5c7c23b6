"""PaddleX's predictors on `paddle2ov.inference.paddlex`, beside the same ones on Paddle."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import yaml
from click.testing import CliRunner

from paddle2ov.cli import cli
from paddle2ov.errors import ConversionInputError, ModelReadError
from paddle2ov.inference.paddlex import ENGINE, Runner, register_engine

ROOT = Path(__file__).resolve().parents[2]
NAME = "PP-LCNet_x0_25"
SETTINGS = {
    "Global": {"model_name": NAME},
    "PreProcess": {
        "transform_ops": [
            {"ResizeImage": {"resize_short": 40}},
            {"CropImage": {"size": 32}},
            {"NormalizeImage": {"mean": [0.5, 0.4, 0.3], "std": [0.2, 0.3, 0.4], "scale": 0.00392, "channel_num": 3}},
            {"ToCHWImage": None},
        ]
    },
    "PostProcess": {"Topk": {"topk": 4, "label_list": list("abcdefghij")}},
}

# PaddleX changes Paddle's flags for the whole process, and asks on import for the package of OpenCV with windows, in
# whose place the one without does as well. PaddleOCR's list of engines is all of that package that counts here.
SCRIPT = """
import importlib.metadata as metadata, json, sys, types
import numpy as np

version = metadata.version
metadata.version = lambda name: version(name.replace("-contrib-python", "-python-headless"))
arguments = types.ModuleType("paddleocr._common_args")
arguments.SUPPORTED_INFERENCE_ENGINE_LIST = ["paddle"]
sys.modules |= {"paddleocr": types.ModuleType("paddleocr"), "paddleocr._common_args": arguments}

from paddlex.inference import create_predictor
from paddle2ov.inference.paddlex import ENGINE, register_engine

register_engine()
register_engine()  # once more changes nothing
name, folder, target = sys.argv[1:]


def made(**options):
    return create_predictor(name, model_dir=folder, **{"engine": ENGINE, "device": "cpu", "batch_size": 2, **options})


def refusal(**options):
    try:
        made(**options)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


pictures = [np.random.default_rng(i).integers(0, 256, (48, 60, 3), np.uint8) for i in range(3)]
found = {"engines": arguments.SUPPORTED_INFERENCE_ENGINE_LIST}
for engine in (ENGINE, "paddle_static"):
    predictor = made(engine=engine)
    found[engine] = [{key: one[key] for key in ("class_ids", "scores", "label_names")} for one in predictor(pictures)]
    predictor.close()
two_threads = made(engine_config={"cpu_threads": 2, "properties": {"INFERENCE_PRECISION_HINT": "f32"}})
found["threads"] = two_threads.runner._predictor._compiled.get_property("INFERENCE_NUM_THREADS")
found["gpu"] = refusal(device="gpu:0")
found["unknown"] = refusal(engine_config={"run_mode": "mkldnn"})
with open(target, "w") as file:
    json.dump(found, file, default=lambda value: value.tolist())
"""


# The same for a process that starts with a command; there is no Paddle in it.
SITE = """
import importlib.metadata as metadata, sys

version = metadata.version
metadata.version = lambda name: version(name.replace("-contrib-python", "-python-headless"))
sys.modules["paddle"] = None
"""
# PaddleX's command, without asking for the packages of every pipeline of its kind, of which this one needs none; a
# script, which has its arguments and its exit status.
COMMAND = """
import sys
from paddlex.__main__ import console_entry
from paddlex.inference.models.engines import RunnerEngine
from paddlex.utils import deps

print(__name__, sys.argv[:4], "paddle2ov" in RunnerEngine.all())
del sys.argv[1:4]
deps.EXTRAS["cv"] = {}
console_entry()
sys.exit(7)
"""
PIPELINE = """
pipeline_name: image_classification
engine_config:
  cpu_threads: 1
SubModules:
  ImageClassification:
    module_name: image_classification
    model_name: {name}
    model_dir: {folder}
    batch_size: 1
"""


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    """The folder of a small classifier, as PaddleX exports it."""
    import paddle

    paddle.seed(1)
    network = paddle.nn.Sequential(
        paddle.nn.Conv2D(3, 8, 3, stride=2), paddle.nn.Hardswish(), paddle.nn.AdaptiveAvgPool2D(1),
        paddle.nn.Flatten(), paddle.nn.Linear(8, 10), paddle.nn.Softmax(),
    )  # fmt: skip
    network.eval()
    folder = tmp_path_factory.mktemp("classifier")
    spec = [paddle.static.InputSpec([-1, 3, -1, -1], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(network, input_spec=spec, full_graph=True), str(folder / "inference"))
    (folder / "inference.yml").write_text(yaml.safe_dump(SETTINGS))
    return folder


@pytest.fixture(scope="module")
def found(classifier, tmp_path_factory):
    """What PaddleX makes of the classifier, on both engines, in a process of its own."""
    target = tmp_path_factory.mktemp("found") / "found.json"
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, NAME, str(classifier), str(target)]
    subprocess.run(command, check=True, cwd=ROOT)
    return json.loads(target.read_text())


def run_command(folder, *arguments):
    """`paddle2ov run ...` in a folder, without Paddle."""
    return run_module(folder, "paddle2ov", "run", *arguments)


def run_module(folder, *arguments):
    (folder / "site").mkdir(exist_ok=True)
    (folder / "site" / "sitecustomize.py").write_text(SITE)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "site"), str(ROOT)])}
    command = [sys.executable, "-W", "ignore", "-m", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_command_line_of_paddlex(classifier, found, tmp_path):
    import cv2

    picture = np.random.default_rng(0).integers(0, 256, (48, 60, 3), np.uint8)
    cv2.imwrite(str(tmp_path / "picture.png"), picture)
    (tmp_path / "pipeline.yaml").write_text(PIPELINE.format(name=NAME, folder=classifier))
    (tmp_path / "command.py").write_text(COMMAND)
    options = ["--help", "-o", "x", "--pipeline", "pipeline.yaml", "--input", "picture.png", "--engine", ENGINE]
    done = run_command(tmp_path, "command.py", *options)
    assert done.returncode == 7, done.stdout + done.stderr
    assert "__main__ ['command.py', '--help', '-o', 'x'] True\n" in done.stdout
    assert f"'label_names': {found[ENGINE][0]['label_names']}" in done.stdout + done.stderr


@pytest.mark.every_form
def test_an_installed_command(tmp_path):
    done = run_command(tmp_path, "paddlex", "--pipeline", "nosuch", "--engine", ENGINE)
    assert done.returncode == 1
    assert "Unsupported pipeline: nosuch" in done.stderr


def test_a_predictor(found):
    assert len(found[ENGINE]) == 3
    for mine, theirs in zip(found[ENGINE], found["paddle_static"], strict=True):
        assert mine["class_ids"] == theirs["class_ids"]
        assert mine["label_names"] == theirs["label_names"]
        np.testing.assert_allclose(mine["scores"], theirs["scores"], atol=1e-5)


def test_engine_config(found):
    assert found["threads"] == 2
    assert found["gpu"].startswith("ConversionInputError: device 'gpu' is not supported: take 'cpu'")
    assert found["unknown"].startswith("ConversionInputError: engine_config: 'run_mode' is not known; there are cpu_")


def test_paddleocr_takes_the_name(found):
    assert found["engines"] == ["paddle", ENGINE]


def test_arrays_stand_in_the_order_of_sorted_names(tmp_path):
    import paddle

    def difference(last, first):
        return last - first, first * 2

    specs = [paddle.static.InputSpec([-1, 2], "float32", name) for name in ("z", "a")]
    program = paddle.jit.to_static(difference, input_spec=specs, full_graph=True)
    paddle.jit.save(program, str(tmp_path / "inference"))
    first, last = (np.full((3, 2), value, np.float32) for value in (1, 5))
    runner = Runner(tmp_path)
    results = runner([first, last])
    np.testing.assert_array_equal(results[0], last - first)
    np.testing.assert_array_equal(results[1], 2 * first)
    with pytest.raises(ConversionInputError, match="1 arrays are given; the inputs are a, z"):
        runner(first)
    runner.close()


def test_threads_share_a_runner(tmp_path):
    import paddle

    def doubled(x):
        return x * 2

    spec = paddle.static.InputSpec([-1, 2], "float32", "x")
    program = paddle.jit.to_static(doubled, input_spec=[spec], full_graph=True)
    paddle.jit.save(program, str(tmp_path / "inference"))
    runner = Runner(tmp_path, config={"hint": "throughput", "streams": 2, "requests": 3, "cores": "any"})
    assert runner._predictor._spare.bound == 3
    rows = [np.full((1 + i % 3, 2), i, np.float32) for i in range(60)]
    with ThreadPoolExecutor(6) as threads:
        for row, (result,) in zip(rows, threads.map(runner, rows), strict=True):
            np.testing.assert_array_equal(result, 2 * row)


def test_a_runner_in_a_precision(tmp_path):
    with pytest.raises(ConversionInputError, match="int8 needs data: `paddle2ov quantize`"):
        Runner(tmp_path, config={"precision": "int8"})
    contradiction = {"precision": "f32", "properties": {"INFERENCE_PRECISION_HINT": "f16"}}
    with pytest.raises(ConversionInputError, match="f32 is asked for, and f16 by INFERENCE_PRECISION_HINT"):
        Runner(tmp_path, config=contradiction)


def test_no_model(tmp_path):
    with pytest.raises(ModelReadError, match="inference"):
        Runner(tmp_path)


def test_properties_have_names(tmp_path):
    with pytest.raises(ConversionInputError, match=r"properties is \['LATENCY'\]; names and their values"):
        Runner(tmp_path, config={"properties": ["LATENCY"]})


@pytest.mark.every_form
def test_the_list_of_models(tmp_path):
    done = run_module(tmp_path, "tools.paddlex_models", "--check")
    assert done.returncode == 0, "python -m tools.paddlex_models writes docs/paddlex.md\n" + done.stderr


def test_what_cannot_be_run():
    done = CliRunner().invoke(cli, ["run", "nosuch", "--help"])
    assert done.exit_code == 2
    assert "'nosuch' is neither a command of an installed Python package nor a script" in done.output


def test_run_without_paddlex(monkeypatch):
    monkeypatch.setitem(sys.modules, "paddlex", None)
    done = CliRunner().invoke(cli, ["run", __file__])
    assert done.exit_code == 2
    assert "PaddleX 3.7 or newer is needed" in done.output


def test_no_paddlex(monkeypatch):
    monkeypatch.setitem(sys.modules, "paddlex", None)
    with pytest.raises(ConversionInputError, match=r"PaddleX 3\.7 or newer is needed"):
        register_engine()
