"""Elementwise nodes that OpenVINO fuses into one kernel compile, however many registers the processor has."""

import ast

import numpy as np
import openvino
import pytest
from openvino import Model, Type, opset16 as ops

from gen_models.harness.legacy import ROOT
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.graph import core
from paddle2ov.graph.core import compile_on
from paddle2ov.reporting.compiled import compile_report


def repeated_values():
    """A model that OpenVINO alone refuses with AVX2, inputs, and the result."""
    x, y = ops.parameter([4, 6], Type.f32, name="x"), ops.parameter([], Type.f32, name="y")
    data = np.random.default_rng(0).uniform(0, 1, (4, 6)).astype(np.float32), np.array(0.9, np.float32)
    out, number, wanted = ops.relu(x), ops.multiply(y, np.float32(1)), data[0]
    for i in range(9):
        out, number = ops.add(ops.multiply(out, number), number), ops.multiply(number, number)
        power = data[1] ** 2**i
        wanted = wanted * power + power
    return Model([out], [x, y]), data, wanted


def test_many_repeated_values():
    model, data, wanted = repeated_values()
    np.testing.assert_allclose(compile_on_cpu(model)(data)[0], wanted, rtol=1e-5)


def test_what_compiles_can_be_reported():
    model, _, _ = repeated_values()
    assert compile_report(model, [], {}).primitives


def test_everything_is_compiled_by_one_function():
    """Which also knows of forks, and of devices that are not there."""
    callers = {
        file.relative_to(ROOT).as_posix()
        for folder in ("paddle2ov", "converters")
        for file in (ROOT / folder).rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text()))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "compile_model"
    }
    assert callers == {"paddle2ov/graph/core.py"}


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
