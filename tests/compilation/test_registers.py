"""Elementwise nodes that OpenVINO fuses into one kernel compile, however many registers the processor has."""

import numpy as np
import openvino
import pytest
from openvino import Model, Type, opset16 as ops

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.graph import core
from paddle2ov.graph.core import compile_on


def test_many_repeated_values():
    """With AVX2 OpenVINO alone refuses these."""
    x, y = ops.parameter([4, 6], Type.f32), ops.parameter([], Type.f32)
    data = np.random.default_rng(0).uniform(0, 1, (4, 6)).astype(np.float32), np.array(0.9, np.float32)
    out, number, wanted = ops.relu(x), ops.multiply(y, np.float32(1)), data[0]
    for i in range(9):
        out, number = ops.add(ops.multiply(out, number), number), ops.multiply(number, number)
        power = data[1] ** 2**i
        wanted = wanted * power + power
    np.testing.assert_allclose(compile_on_cpu(Model([out], [x, y]))(data)[0], wanted, rtol=1e-5)


class Core:
    """Refuses what is not compiled in a certain mode."""

    def __init__(self, message):
        self.message, self.configs = message, []

    def compile_model(self, model, device, config):
        self.configs.append(config)
        if "SNIPPETS_MODE" not in config:
            raise RuntimeError(self.message)
        return self


@pytest.mark.parametrize(
    ("message", "config", "tries"),
    [
        ("Can't allocate registers for a snippet: not enough registers", {}, [{}, {"SNIPPETS_MODE": "DISABLE"}]),
        ("something else", {"NUM_STREAMS": 1}, [{"NUM_STREAMS": 1}]),
    ],
)
def test_only_for_that_error(message, config, tries, monkeypatch):
    fake_core = Core(message)
    monkeypatch.setattr(core, "shared_core", lambda: fake_core)
    if len(tries) == 1:
        with pytest.raises(RuntimeError, match=message):
            compile_on("CPU", openvino.Model([], []), config)
    else:
        assert compile_on("CPU", openvino.Model([], []), config) is fake_core
    assert fake_core.configs == tries
