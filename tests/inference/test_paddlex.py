"""PaddleX's predictors on `paddle2ov.inference.paddlex`, beside the same ones on Paddle."""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import paddle
import pytest
import yaml

from gen_models.harness.legacy import ROOT
from paddle2ov.errors import ConversionInputError, ModelReadError
from paddle2ov.inference.paddlex import ENGINE, Runner, register_engine
from tests.support.command_line import call
from tests.support.models import save_layer

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

# There is no Paddle in the process. PaddleX asks on import for the package of OpenCV with windows, in whose place the
# one without does as well. PaddleOCR's list of engines is all of that package that counts here.
SITE = """
import importlib.metadata as metadata, sys, types

version = metadata.version
metadata.version = lambda name: version(name.replace("-contrib-python", "-python-headless"))
arguments = types.ModuleType("paddleocr._common_args")
arguments.SUPPORTED_INFERENCE_ENGINE_LIST = ["paddle"]
sys.modules |= {"paddle": None, "paddleocr": types.ModuleType("paddleocr"), "paddleocr._common_args": arguments}
"""
# A script, which has its arguments and its exit status. It notes what PaddleX's predictors give to their runners; then
# it runs PaddleX's command, without asking for the packages of every pipeline of its kind, of which this needs none.
COMMAND = """
import json, sys
import numpy as np
from paddlex.__main__ import console_entry
from paddlex.inference import create_predictor
from paddlex.inference.models.engines import RunnerEngine
from paddlex.utils import deps
from paddle2ov.inference.paddlex import ENGINE, Runner, register_engine

register_engine()  # once more changes nothing
name, folder, target = sys.argv[3:6]
found = {"engines": sys.modules["paddleocr._common_args"].SUPPORTED_INFERENCE_ENGINE_LIST}
found["run"] = [__name__, *sys.argv[:3], "paddle2ov" in RunnerEngine.all()]
call, batches = Runner.__call__, []


def noting(self, x):
    results = call(self, x)
    batches.append((np.asarray(x), results[0]))
    return results


def made(**options):
    return create_predictor(name, model_dir=folder, **{"engine": ENGINE, "device": "cpu", "batch_size": 2, **options})


def refusal(**options):
    try:
        made(**options)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


pictures = [np.random.default_rng(i).integers(0, 256, (48, 60, 3), np.uint8) for i in range(3)]
Runner.__call__ = noting
found["labels"] = [one["label_names"] for one in made()(pictures)]
Runner.__call__ = call
two_threads = made(engine_config={"cpu_threads": 2, "properties": {"INFERENCE_PRECISION_HINT": "f32"}})
found["threads"] = two_threads.runner._predictor._request.compiled.get_property("INFERENCE_NUM_THREADS")
found["gpu"] = refusal(device="gpu:0")
found["unknown"] = refusal(engine_config={"run_mode": "mkldnn"})
np.savez(target, *(array for batch in batches for array in batch), found=json.dumps(found))

del sys.argv[1:6]
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
    paddle.seed(1)
    network = paddle.nn.Sequential(
        paddle.nn.Conv2D(3, 8, 3, stride=2), paddle.nn.Hardswish(), paddle.nn.AdaptiveAvgPool2D(1),
        paddle.nn.Flatten(), paddle.nn.Linear(8, 10), paddle.nn.Softmax(),
    )  # fmt: skip
    folder = save_layer(tmp_path_factory.mktemp("classifier"), network, x=[-1, 3, -1, -1])
    (folder / "inference.yml").write_text(yaml.safe_dump(SETTINGS))
    return folder


def run_module(folder, *arguments):
    """A module's command in a folder, without Paddle."""
    (folder / "site").mkdir(exist_ok=True)
    (folder / "site" / "sitecustomize.py").write_text(SITE)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "site"), str(ROOT)])}
    command = [sys.executable, "-W", "ignore", "-m", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def done(classifier, tmp_path_factory):
    """What `paddle2ov run` with a script makes of the classifier: the process that ended, and what it has noted."""
    folder = tmp_path_factory.mktemp("run")
    cv2.imwrite(str(folder / "picture.png"), np.random.default_rng(0).integers(0, 256, (48, 60, 3), np.uint8))
    (folder / "pipeline.yaml").write_text(PIPELINE.format(name=NAME, folder=classifier))
    (folder / "command.py").write_text(COMMAND)
    options = ["--help", "-o", NAME, classifier, "noted.npz"]
    options += ["--pipeline", "pipeline.yaml", "--input", "picture.png", "--engine", ENGINE]
    process = run_module(folder, "paddle2ov", "run", "command.py", *options)
    assert process.returncode == 7, process.stdout + process.stderr
    with np.load(folder / "noted.npz") as noted:
        found = json.loads(str(noted["found"]))
        return process, found, [noted[f"arr_{i}"] for i in range(len(noted.files) - 1)]


@pytest.fixture
def found(done):
    return done[1]


def test_the_command_line_of_paddlex(done):
    process, found, _ = done
    assert found["run"] == ["__main__", "command.py", "--help", "-o", True]
    assert re.search(r"'label_names': \['[a-j]'(, '[a-j]'){3}\]", process.stdout + process.stderr)


@pytest.mark.every_form
def test_an_installed_command(tmp_path):
    done = run_module(tmp_path, "paddle2ov", "run", "paddlex", "--pipeline", "nosuch", "--engine", ENGINE)
    assert done.returncode == 1
    assert "Unsupported pipeline: nosuch" in done.stderr


def test_a_predictor(classifier, done):
    """PaddleX's predictor, with the results that Paddle computes of what it gives to its runner."""
    _, found, noted = done
    network, labels = paddle.jit.load(str(classifier / "inference")), []
    assert len(noted) == 4  # two batches
    for x, scores in zip(noted[::2], noted[1::2], strict=True):
        expected = network(paddle.to_tensor(x.reshape(-1, 3, 32, 32))).numpy()
        np.testing.assert_allclose(scores, expected, atol=1e-5)
        labels += [["abcdefghij"[i] for i in row[:4]] for row in np.argsort(-expected, axis=1)]
    assert found["labels"] == labels


def test_engine_config(found):
    assert found["threads"] == 2
    assert found["gpu"].startswith("ConversionInputError: device 'gpu' is not supported: take 'cpu'")
    assert found["unknown"].startswith("ConversionInputError: engine_config: 'run_mode' is not known; there are cpu_")


def test_paddleocr_takes_the_name(found):
    assert found["engines"] == ["paddle", ENGINE]


def test_arrays_stand_in_the_order_of_sorted_names(tmp_path):
    def difference(last, first):
        return last - first, first * 2

    first, last = (np.full((3, 2), value, np.float32) for value in (1, 5))
    runner = Runner(save_layer(tmp_path, difference, z=[-1, 2], a=[-1, 2]))
    results = runner([first, last])
    np.testing.assert_array_equal(results[0], last - first)
    np.testing.assert_array_equal(results[1], 2 * first)
    with pytest.raises(ConversionInputError, match="1 arrays are given; the inputs are a, z"):
        runner(first)
    runner.close()


def test_threads_share_a_runner(tmp_path):
    folder = save_layer(tmp_path, lambda x: x * 2, x=[-1, 2])
    runner = Runner(folder, config={"hint": "throughput", "streams": 2, "requests": 3, "cores": "any"})
    assert runner._predictor._spare.bound == 3
    rows = [np.full((1 + i % 3, 2), i, np.float32) for i in range(60)]
    with ThreadPoolExecutor(6) as threads:
        for row, (result,) in zip(rows, threads.map(runner, rows), strict=True):
            np.testing.assert_array_equal(result, 2 * row)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"precision": "int8"}, "int8 needs data: `paddle2ov quantize`"),
        (
            {"precision": "f32", "properties": {"INFERENCE_PRECISION_HINT": "f16"}},
            "f32 is asked for, and f16 by INFERENCE_PRECISION_HINT",
        ),
        ({"properties": ["LATENCY"]}, r"properties is \['LATENCY'\]; names and their values"),
        ({}, "no Paddle inference model|no such file"),
    ],
)
def test_what_is_no_runner(tmp_path, config, message):
    with pytest.raises((ConversionInputError, ModelReadError), match=message):
        Runner(tmp_path, config=config)


@pytest.mark.every_form
def test_the_list_of_models(tmp_path):
    done = run_module(tmp_path, "tools.paddlex_models", "--check")
    assert done.returncode == 0, "python -m tools.paddlex_models writes docs/paddlex.md\n" + done.stderr


def test_what_cannot_be_run():
    done = call("run", "nosuch", "--help")
    assert done.exit_code == 2
    assert "nor a script (.py)\n" in done.output  # no suggestion to install what may be anybody's


def test_without_paddlex(monkeypatch):
    monkeypatch.setitem(sys.modules, "paddlex", None)
    done = call("run", __file__)
    assert done.exit_code == 2
    assert "PaddleX 3.7 or newer is needed" in done.output
    assert "  from paddle2ov.inference import Config, create_predictor\nThen it runs by itself" in done.output
    with pytest.raises(ConversionInputError, match=r"PaddleX 3\.7 or newer is needed"):
        register_engine()
