"""Quantized models are computed as their graphs say, also where a processor's integer products saturate."""

from pathlib import Path

import numpy as np
import pytest
from openvino import Model, Type, opset16 as ops

import paddle2ov
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.graph import core
from paddle2ov.graph.core import has_integer_kernels, with_exact_integers
from paddle2ov.inference import Config
from tests.support.models import network


@pytest.fixture
def processor(monkeypatch):
    def has(kernels):
        monkeypatch.setattr(core, "has_integer_kernels", lambda: kernels)

    return has


def test_products_of_full_range():
    """255 x 127 + 255 x 127 is beyond 16 bits."""
    x, low, high = ops.parameter([-1, 4, 2, 2], Type.f32), np.float32(0), np.float32(255)
    kernel = ops.multiply(ops.convert(ops.constant(np.full((4, 4, 1, 1), 127, np.int8)), Type.f32), np.float32(1))
    quantized = ops.fake_quantize(x, low, high, low, high, 256)
    model = Model([ops.convolution(quantized, kernel, [1, 1], [0, 0], [0, 0], [1, 1])], [x])
    (products,) = compile_on_cpu(model)([np.full((1, 4, 2, 2), 255, np.float32)]).values()
    np.testing.assert_array_equal(products, np.full((1, 4, 2, 2), 4 * 255 * 127, np.float32))


def test_only_where_products_saturate(processor):
    processor(False)
    assert with_exact_integers({}, "CPU") == {"LP_TRANSFORMS_MODE": "NO"}
    assert with_exact_integers({"LP_TRANSFORMS_MODE": "YES"}, "CPU") == {"LP_TRANSFORMS_MODE": "YES"}
    assert with_exact_integers({}, "GPU") == {}
    processor(True)
    assert with_exact_integers({}, "CPU") == {}


@pytest.mark.parametrize(
    ("limit", "expected"), [("", True), ("avx512_core", False), ("AVX512_CORE_VNNI", True), ("AVX2", False)]
)
def test_the_processor_is_limited(monkeypatch, limit, expected):
    """OpenVINO uses no more of the processor than ONEDNN_MAX_CPU_ISA names."""
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", limit)
    monkeypatch.setattr(Path, "read_text", lambda path, **options: "flags : avx2 avx512f avx512_vnni")
    assert has_integer_kernels.__wrapped__() == expected


@pytest.mark.parametrize("kernels", [False, True])
def test_what_compiles(processor, kernels):
    """The layers of a trained network are in int8 where that is exact."""
    processor(kernels)
    folder = network("quantized_tensors")
    config = Config(str(folder / "inference.json"), str(folder / "inference.pdiparams"))
    assert config.openvino_properties().get("LP_TRANSFORMS_MODE") == (None if kernels else "NO")
    compiled = paddle2ov.compile_model(folder)
    types = {
        str(node.get_rt_info()["runtimePrecision"].astype(str))
        for node in compiled.get_runtime_model().get_ops()
        if node.get_rt_info()["layerType"].astype(str) == "Convolution"
    }
    assert bool(types & {"i8", "u8"}) == kernels
