"""Saved models in the hands of other tools: benchmark_app and NNCF."""

import re
import subprocess
import sys

import nncf
import numpy as np
import openvino
import pytest

from gen_models import all_networks
from gen_models.harness.store import generated_network
from paddle2ov import convert

SHAPE = [1, 3, 64, 64]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A network as `paddle2ov MODEL_DIR -o net.xml` saves it."""
    path = tmp_path_factory.mktemp("saved") / "net.xml"
    model = convert(generated_network(all_networks()["squeezenet1_1"], "pir"))
    openvino.save_model(model, path, compress_to_fp16=False)
    return path


def test_benchmark_app(saved):
    (port,) = openvino.Core().read_model(saved).inputs
    shape = f"{port.any_name}[{','.join(map(str, SHAPE))}]"
    code = "import sys; from openvino.tools.benchmark.main import main; sys.exit(main())"
    options = ["-m", str(saved), "-data_shape", shape, "-niter", "2", "-nireq", "1", "-hint", "none"]
    run = subprocess.run([sys.executable, "-c", code, *options], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert re.search(r"Count: +2 iterations", run.stdout), run.stdout


def test_nncf(saved):
    model = openvino.Core().read_model(saved)
    images = np.random.default_rng(3).standard_normal((4, *SHAPE), np.float32)
    quantized = nncf.quantize(model, nncf.Dataset(list(images)), subset_size=len(images))
    names = [port.any_name for port in (*model.inputs, *model.outputs)]
    assert [port.any_name for port in (*quantized.inputs, *quantized.outputs)] == names
    kinds = [node.get_type_name() for node in quantized.get_ops()]
    assert kinds.count("FakeQuantize") >= kinds.count("Convolution") > 0
    scores = openvino.compile_model(quantized, "CPU")(images[0])[0]
    assert np.isfinite(scores).all()
