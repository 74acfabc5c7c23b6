"""What a run raises arrives, also where OpenVINO computes on one thread."""

import numpy as np
import openvino
import pytest
from openvino import Model, opset16

import paddle2ov
from gen_models import all_ops
from gen_models.harness.spec import case, tensor
from gen_models.harness.store import generated
from paddle2ov.checking.device import Device
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.graph import core
from paddle2ov.graph.core import shared_core, with_error_reporting


@pytest.fixture
def model():
    x, y = (opset16.parameter([-1, -1], np.float32) for _ in range(2))
    return Model([opset16.add(x, y)], [x, y])


def assert_fails(compiled):
    assert compiled([np.ones((3, 5), np.float32)] * 2)[0].shape == (3, 5)
    with pytest.raises(RuntimeError, match="Eltwise shape infer input shapes dim index: 1 mismatch"):
        compiled([np.ones((3, 5), np.float32), np.ones((3, 7), np.float32)])


LATENCY = openvino.properties.hint.PerformanceMode.LATENCY


@pytest.mark.parametrize(
    "hint", [{}, {"PERFORMANCE_HINT": "LATENCY"}, {"PERFORMANCE_HINT": LATENCY}], ids=["none", "text", "value"]
)
@pytest.mark.parametrize("count", [1, "1"], ids=["number", "text"])
def test_one_thread(model, count, hint):
    config = {"INFERENCE_NUM_THREADS": count, **hint}
    assert_fails(shared_core().compile_model(model, "CPU", with_error_reporting(config, "CPU")))


def test_a_device_that_passes_on_to_the_cpu(model):
    config = with_error_reporting({"INFERENCE_NUM_THREADS": 1}, "HETERO:CPU")
    assert_fails(shared_core().compile_model(model, "HETERO:CPU", config))


@pytest.mark.parametrize("hint", ["THROUGHPUT", "CUMULATIVE_THROUGHPUT"])
def test_many_runs_at_a_time(hint):
    vector = tensor([3, 5], dims=[-1, -1])
    folder = generated(all_ops()["elementwise_add"], case(x=vector, y=vector), "pir")
    assert_fails(paddle2ov.compile_model(folder, config={"INFERENCE_NUM_THREADS": 1, "PERFORMANCE_HINT": hint}))


def test_one_processor(model, monkeypatch):
    monkeypatch.setattr(core, "processors", lambda: 1)
    assert with_error_reporting({}, "CPU") == {"NUM_STREAMS": 0}
    assert_fails(shared_core().compile_model(model, "CPU", with_error_reporting({}, "CPU")))


def test_other_properties_stay(monkeypatch):
    monkeypatch.setattr(core, "processors", lambda: 8)
    for config in [{}, {"INFERENCE_NUM_THREADS": 2}, {"PERFORMANCE_HINT": "LATENCY"}]:
        assert with_error_reporting(config, "CPU") == config
    for config in [{"NUM_STREAMS": 1}, {"PERFORMANCE_HINT": "THROUGHPUT"}]:
        alone = {"INFERENCE_NUM_THREADS": 1, **config}
        assert with_error_reporting(alone, "CPU") == alone
    for device in ("GPU", "HETERO:GPU,CPU", "AUTO"):
        assert with_error_reporting({"INFERENCE_NUM_THREADS": 1}, device) == {"INFERENCE_NUM_THREADS": 1}


@pytest.mark.parametrize(
    "compile", [compile_on_cpu, lambda model: Device("CPU", "f32").compile(model)], ids=["testing", "check"]
)
def test_what_compiles(model, compile, monkeypatch):
    monkeypatch.setattr(core, "processors", lambda: 1)
    assert_fails(compile(model))
