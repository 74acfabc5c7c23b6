"""Layers whose weights are whole numbers in float32 run in int8, and compute the same."""

import numpy as np
import pytest
from openvino import Model, Type, opset16 as ops

from paddle2ov.passes import Graph
from paddle2ov.passes.integer_weights import integer_weights
from paddle2ov.quantization.agreement import compiled_in
from paddle2ov.quantization.layers import layers_of
from tests.support.passes_checks import RNG, compare, convolved, model_of, parameter, pooled, random


def whole(*shape):
    return RNG.integers(-128, 128, shape).astype(np.float32)


def quantized(x):
    low, high = np.float32(-128), np.float32(127)
    return ops.fake_quantize(x, low / 64, high / 64, low, high, 256)


LAYERS = {
    "convolution": (lambda x: convolved(x, whole(8, 4, 3, 3)), (1, 4, 6, 6)),
    "pooled": (lambda x: convolved(pooled(x, 1), whole(8, 4, 3, 3)), (1, 4, 6, 6)),
    "in groups": (
        lambda x: ops.group_convolution(x, whole(4, 1, 1, 3, 3), [1, 1], [0, 0], [0, 0], [1, 1]),
        (1, 4, 6, 6),
    ),
    "product": (lambda x: ops.matmul(x, whole(6, 5), False, False), (3, 6)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_of_whole_numbers(name):
    build_layer, shape = LAYERS[name]

    def build(x):
        return ops.multiply(build_layer(quantized(x)), np.float32(1e-4))

    assert {layer.why_float for layer in _layers(model_of(build, shape))} != {""}
    model = compare(integer_weights, build, shape, sites={"layers": 1}, tolerance=1e-4)
    assert [layer.precision in ("i8", "u8") for layer in _layers(model)] == [True]


def test_layers_share_what_they_shared():
    """Heads of detectors have the same weights on each level; what reads them as floats keeps these."""
    weights = ops.constant(whole(8, 4, 3, 3))

    def build(x, y):
        layers = [convolved(quantized(item), weights) for item in (x, y)]
        return [*layers, convolved(ops.relu(x), weights), ops.negative(weights)]

    model = compare(integer_weights, build, (1, 4, 6, 6), (1, 4, 3, 3), sites={"layers": 2}, tolerance=1e-3)
    types = [node.get_element_type() for node in model.get_ops() if node.get_type_name() == "Constant"]
    assert types.count(Type.i8) == 1
    assert [layer.precision in ("i8", "u8") for layer in _layers(model)].count(True) == 2


OTHERS = {
    "fractions": (random(8, 4, 1, 1), True),
    "more than 8 bits": (whole(8, 4, 1, 1) * 2 + 1, True),
    "NaN": (whole(8, 4, 1, 1) * np.float32(np.nan), True),
    "floats to read": (whole(8, 4, 1, 1), False),
}


@pytest.mark.parametrize(("weights", "is_quantized"), OTHERS.values(), ids=list(OTHERS))
def test_others_stay(weights, is_quantized):
    x = parameter(1, 4, 3, 3)
    float_layer = convolved(quantized(x), random(8, 4, 1, 1))
    model = Model([convolved(quantized(x) if is_quantized else x, weights), float_layer], [x])
    assert integer_weights(Graph(model)) == {"layers": 0}


def _layers(model):
    return layers_of(compiled_in(model, "f32"), model)
