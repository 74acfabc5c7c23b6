"""What others do with a model that `paddle2ov` has saved: benchmark_app and NNCF start from its .xml."""

import subprocess
import sys
from importlib.metadata import entry_points

import numpy as np
import openvino
import pytest
from click.testing import CliRunner

from gen_models import all_networks
from gen_models.harness.store import generated_network
from paddle2ov.cli import cli


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    source = generated_network(all_networks()["squeezenet1_1"], "pir")
    target = tmp_path_factory.mktemp("saved") / "net.xml"
    done = CliRunner().invoke(cli, [str(source), "-o", str(target), "--input", "x[1,3,32,32]"])
    assert done.exit_code == 0, done.output
    return target


def test_benchmark_app(saved):
    (tool,) = entry_points(group="console_scripts", name="benchmark_app")
    module, _, function = tool.value.partition(":")
    command = [sys.executable, "-c", f"from {module} import {function}; {function}()", "-m", str(saved)]
    command += ["-niter", "2", "-nireq", "1", "-hint", "none"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "x (node: x) : f32 / [...] / [1,3,32,32]" in done.stdout
    assert "Count:" in done.stdout


def test_nncf(saved):
    nncf = pytest.importorskip("nncf", reason="pip install nncf")
    images = np.random.default_rng(0).standard_normal((2, 1, 3, 32, 32), np.float32)
    model = openvino.Core().read_model(saved)
    quantized = nncf.quantize(model, nncf.Dataset(list(images)), subset_size=2)
    kinds = [node.get_type_name() for node in quantized.get_ops()]
    assert kinds.count("FakeQuantize") > 26  # the inputs and weights of the convolutions
    exact, coarse = (
        openvino.compile_model(value, "CPU")(images[0])[0] for value in (openvino.Core().read_model(saved), quantized)
    )
    np.testing.assert_allclose(coarse, exact, atol=0.1 * np.abs(exact).max())
