"""Quantized models: scales and constants that OpenVINO moves or folds wrongly."""

from typing import Any

import numpy as np
import pytest
from openvino import Model, Type, opset16 as ops

from paddle2ov.graph.core import shared_core
from paddle2ov.passes import Graph
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import compare, model_of, node_by_node, parameter, random, reshape, stays_test


def beside_quantized(build):
    """Something beside a quantized tensor, which makes OpenVINO transform the model."""
    low, high = np.float32(-4), np.float32(4)
    return lambda x, y: [build(x), ops.relu(ops.fake_quantize(y, low, high, low, high, 256))]


def mvn(x, epsilon_mode="INSIDE_SQRT", variance=True):
    return ops.mvn(x, np.array([-1]), variance, 1e-5, epsilon_mode)


FEW, MINUS = np.float32(0.05), np.float32(-0.02)
NORMS = {
    "mvn": lambda x: mvn(ops.multiply(x, FEW)),
    "outside of the root": lambda x: mvn(ops.multiply(FEW, x), "OUTSIDE_SQRT"),
    "a quotient": lambda x: mvn(ops.divide(x, np.float32(20))),
    "below zero": lambda x: mvn(ops.multiply(x, MINUS)),
    "reshaped between": lambda x: mvn(reshape(ops.multiply(x, FEW), 0, 2, 4)),
    "l2": lambda x: ops.normalize_l2(ops.multiply(x, FEW), np.array([1]), 1e-5, "add"),
    "l2, at least": lambda x: ops.normalize_l2(ops.multiply(x, MINUS), np.array([1]), 1e-5, "max"),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("dims", [(3, 8), (-1, 8)])
@pytest.mark.parametrize("name", NORMS)
def test_scale_before_norm(name, dims):
    """A norm of something small."""
    runs = [[0.02 * random(3, 8), np.zeros(3, np.float32)]]
    compare(row("quantized.scale_before_norm"), beside_quantized(NORMS[name]), dims, (3,), runs=runs, tolerance=1e-4)


@pytest.mark.parametrize("kind", [Type.bf16, Type.f16, Type.f32], ids=str)
def test_scale_before_norm_of_any_type(kind):
    x = ops.parameter([3, 8], kind)
    model = Model([mvn(ops.multiply(x, ops.constant(np.full([1, 1], 0.25), kind)))], [x])
    (before,) = (node.get_attributes()["eps"] for node in model.get_ops() if node.get_type_name() == "MVN")
    assert row("quantized.scale_before_norm")(Graph(model)) == {"sites": 1}
    (after,) = (node.get_attributes()["eps"] for node in model.get_ops() if node.get_type_name() == "MVN")
    assert after == pytest.approx(before * 16)


def integer_convolution(read, bias=None, weights="integers", group=False):
    """A convolution of 8-bit integers, and what reads its result."""
    rng = np.random.default_rng(3)
    low, high, scale = np.float32(-1), np.float32(3), rng.uniform(0.001, 0.002, (8, 1, 1, 1)).astype(np.float32)
    values = rng.integers(-63, 64, (8, 1 if group else 8, 3, 3)).astype(np.int8)  # without VNNI larger ones saturate
    if weights == "integers":
        kernel = ops.multiply(ops.convert(ops.constant(values), Type.f32), scale)
    elif weights == "simulated":
        kernel = ops.fake_quantize(
            ops.constant(values * scale), -127 * scale, 127 * scale, -127 * scale, 127 * scale, 255
        )
    else:
        kernel = ops.constant(values * scale)
    convolution = ops.group_convolution if group else ops.convolution
    kernel = ops.reshape(kernel, np.array([8, 1, 1, 3, 3]), False) if group else kernel

    def build(x):
        quantized = ops.fake_quantize(x, low, high, low, high, 256)
        out = convolution(quantized, kernel, [1, 1], [1, 1], [1, 1], [1, 1])
        return read(out if bias is None else ops.add(out, np.float32(bias)))

    return build


def group_norm_and_skip(x):
    grouped = ops.mvn(ops.reshape(x, np.array([0, 4, -1]), True), np.array([2]), True, 1e-5, "INSIDE_SQRT")
    return [ops.add(x, ops.swish(ops.reshape(grouped, ops.shape_of(x), False)))]


CHANNELS_OF_8 = (-1, 8, -1, -1)
READ_TWICE = {
    "two results": lambda x: [ops.relu(x), ops.sigmoid(x)],
    "a sum": lambda x: [ops.add(x, ops.swish(x))],
    "a product": lambda x: [ops.multiply(x, ops.relu(x))],
    "a group norm": group_norm_and_skip,
    "a sum with 0": lambda x: [ops.relu(y := ops.add(x, np.zeros((8, 1, 1), np.float32))), ops.sigmoid(y)],
    "once by 1": lambda x: [ops.relu(ops.multiply(np.float32(1), x)), ops.sigmoid(x)],
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("group", [False, True], ids=["", "depthwise"])
@pytest.mark.parametrize("weights", ["integers", "simulated"])
@pytest.mark.parametrize("name", READ_TWICE)
def test_clamp_shared_convolutions(name, weights, group):
    data = random(2, 8, 6, 5)
    model = model_of(integer_convolution(READ_TWICE[name], weights=weights, group=group), CHANNELS_OF_8)
    want = node_by_node(model, [data])
    assert row("quantized.shared_convolution")(Graph(model)) == {"sites": 1}
    compiled = shared_core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = compiled(data)
    for i, item in enumerate(want):
        np.testing.assert_allclose(results[i], item, atol=0.02 * abs(item).max())
    layers = [node.get_rt_info() for node in compiled.get_runtime_model().get_ops()]
    (convolution,) = [info for info in layers if info["layerType"].astype(str) == "Convolution"]
    assert convolution["runtimePrecision"].astype(str) == "u8"
    assert "Clamp" in convolution["originalLayersNames"].astype(str)  # which is fused


@pytest.mark.parametrize("sizes", [(-1, 4, 3, 3), (-1, 4, -1, -1)], ids=["batch", "pixels"])
def test_clamp_shared_transposed_convolutions(sizes):
    x = parameter(*sizes)
    low, high, most = np.float32(-4), np.float32(3.96875), np.float32(3)
    filters = ops.fake_quantize(np.ones((4, 4, 2, 2), np.float32) * most, -most, most, -most, most, 255)
    quantized = ops.fake_quantize(x, low, high, low, high, 256)
    out = ops.convolution_backprop_data(quantized, filters, [2, 2])
    model = Model([ops.relu(out), ops.sigmoid(out)], [x])
    assert row("quantized.shared_convolution")(Graph(model)) == {"sites": 1}
    model.validate_nodes_and_infer_types()
    data = np.random.default_rng(0).integers(-64, 64, (2, 4, 3, 3)).astype(np.float32) / 32
    want = np.repeat(np.repeat(np.maximum(most * data.sum(1, keepdims=True), 0), 2, 2), 2, 3).repeat(4, 1)
    got = shared_core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(data)
    np.testing.assert_allclose(got[0], want, atol=1e-4)


def joined_ranges(zero_points, between=lambda x: x, levels=256, group=False):
    """A convolution of maps of two channels with these zero points, and another in int8."""

    def integers(x, points):
        point = np.array(points, np.float32).reshape(-1, 1, 1)
        low, high = -point / 128, (255 - point) / 128
        return ops.fake_quantize(x, low, high, low, high, levels)

    def convolution(x, *dims, form=ops.convolution):
        values = np.random.default_rng(3).integers(-63, 64, dims).astype(np.int8)  # without VNNI larger ones saturate
        kernel = ops.multiply(ops.convert(ops.constant(values), Type.f32), np.float32(0.004))
        return form(x, kernel, [1, 1], [1, 1], [1, 1], [1, 1])

    def build(*maps):
        both = ops.concat([between(integers(x, points)) for x, points in zip(maps, zero_points, strict=True)], 1)
        count = 2 * len(maps)
        dims, form = ((count, 1, 1, 3, 3), ops.group_convolution) if group else ((count, count, 3, 3), ops.convolution)
        return convolution(integers(convolution(both, *dims, form=form), [128]), 3, count, 3, 3)

    return build, *[(1, 2, 4, 4)] * len(zero_points)


APART = {
    "unsigned": {"zero_points": [[128], [0]]},
    "one channel": {"zero_points": [[128], [128, 127]], "group": True},
    "reshaped": {"zero_points": [[128], [0]], "between": lambda x: reshape(x, 1, 2, 4, 4)},
    "depthwise": {"zero_points": [[128], [100]], "group": True},
    "of three": {"zero_points": [[128], [128], [0]]},
}


@pytest.mark.parametrize("name", APART)
def test_align_zero_points(name):
    model = model_of(*joined_ranges(**APART[name]))
    data = [np.random.default_rng(i).uniform(-1, 1, (1, 2, 4, 4)).astype(np.float32) for i in range(len(model.inputs))]
    (want,) = node_by_node(model, data)
    assert row("quantized.signed_beside_unsigned")(Graph(model)) == {"sites": len(data) - 1}
    compiled = shared_core().compile_model(model, "CPU")
    np.testing.assert_allclose(compiled(data)[0], want, atol=0.03 * abs(want).max())
    layers = [node.get_rt_info() for node in compiled.get_runtime_model().get_ops()]
    types = [info["runtimePrecision"].astype(str) for info in layers if info["layerType"].astype(str) == "Convolution"]
    assert len(types) == 2
    assert set(types) <= {"i8", "u8"}  # which of them depends on the processor


def scaled_before_quantization(change, sizes=(-1, 4, 3, 2), before=lambda x: x, ranges=(-4.0, 3.96875)):
    """Numbers that are changed by a constant, and quantized in steps of 1/32."""
    low, high = (np.array(end, np.float32) for end in ranges)
    return model_of(lambda x: ops.fake_quantize(change(before(x)), low, high, low, high, 256), sizes)


OWN_FACTORS = np.array([1, -1.5, 0.75, -0.25], np.float32).reshape(4, 1, 1)


FOLDED: dict[str, Any] = {
    "factors": (lambda x: ops.multiply(x, OWN_FACTORS), {}),
    "factors first": (lambda x: ops.multiply(OWN_FACTORS, x), {}),
    "quotients": (lambda x: ops.divide(x, OWN_FACTORS), {}),
    "means and scales": (lambda x: ops.multiply(ops.subtract(x, OWN_FACTORS), abs(OWN_FACTORS)), {}),
    "factors and one addend": (lambda x: ops.add(ops.multiply(x, OWN_FACTORS), np.float32(0.5)), {}),
    "unknown pixels": (lambda x: ops.multiply(x, OWN_FACTORS), {"sizes": (2, 4, -1, -1)}),
    "rows": (lambda x: ops.multiply(x, OWN_FACTORS.ravel()), {"sizes": (-1, 4)}),
    "joined": (lambda x: ops.add(x, OWN_FACTORS), {"before": lambda x: ops.concat([x, x], 0)}),
    "means and scales of integers": (
        lambda x: ops.divide(ops.subtract(ops.multiply(x, np.float32(0.25)), OWN_FACTORS), abs(OWN_FACTORS)),
        {"before": lambda x: ops.convert(ops.convert(x, Type.i32), Type.f32)},
    ),
    "quantized before": (
        lambda x: ops.add(x, OWN_FACTORS),
        {"before": lambda x: ops.fake_quantize(x, *np.array([0, 6, 0, 6], np.float32), 256)},
    ),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("mode", ["NO", "YES"])
@pytest.mark.parametrize("name", FOLDED)
def test_avoid_quantized_factors(name, mode):
    change, options = FOLDED[name]
    model, sizes = scaled_before_quantization(change, **options), options.get("sizes", (-1, 4, 3, 2))
    shape = [3 if size < 0 else size for size in sizes]
    data = np.random.default_rng(0).integers(-64, 64, shape).astype(np.float32) / 32
    want = node_by_node(model, [data])[0]
    assert row("quantized.constants_before_ranges")(Graph(model)) == {"sites": 1}
    model.validate_nodes_and_infer_types()
    settings = {"INFERENCE_PRECISION_HINT": "f32", "LP_TRANSFORMS_MODE": mode}
    (got,) = shared_core().compile_model(model, "CPU", settings)(data).values()
    np.testing.assert_allclose(got, want, atol=0.035)  # a step, where halves are rounded


def pointwise(x):
    return ops.convolution(x, np.ones((4, 4, 1, 1), np.float32), [1, 1], [0, 0], [0, 0], [1, 1])


UNFOLDED: dict[str, Any] = {
    "of known sizes": (lambda x: ops.multiply(x, OWN_FACTORS), {"sizes": (2, 4, 3, 2)}, None),
    "along the last axis": (
        lambda x: ops.multiply(x, np.ones(2, np.float32)), {}, "no constant lies along the channels",
    ),
    "one number": (lambda x: ops.multiply(x, np.float32(2)), {}, "no constant lies along the channels"),
    "ranges of channels": (
        lambda x: ops.multiply(x, OWN_FACTORS), {"ranges": (-4 * abs(OWN_FACTORS), 4 * abs(OWN_FACTORS))},
        "its ranges differ by channel, or are computed",
    ),
    "after an activation": (
        lambda x: ops.multiply(x, OWN_FACTORS), {"before": ops.relu}, "OpenVINO fuses it into the node before",
    ),
    "after a convolution": (
        lambda x: ops.add(x, OWN_FACTORS), {"before": pointwise}, "OpenVINO fuses it into the node before",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNFOLDED)
def test_avoid_quantized_factors_fails_to_match(name):
    change, options, reason = UNFOLDED[name]
    graph = Graph(scaled_before_quantization(change, **options))
    assert row("quantized.constants_before_ranges")(graph) == {"sites": 0}
    assert [why for reasons in graph.match_failures.values() for why in reasons] == ([reason] if reason else [])


STAYS = {
    "quantized.scale_before_norm": {
        name: (beside_quantized(build), (-1, 8), (3,))
        for name, build in {
            "by channel": lambda x: mvn(ops.multiply(x, np.arange(8, dtype=np.float32))),
            "by nothing": lambda x: mvn(ops.multiply(x, np.float32(0))),
            "of a higher rank": lambda x: mvn(ops.multiply(x, np.full((1, 1, 1), 0.05, np.float32))),
            "without variance": lambda x: mvn(ops.multiply(x, FEW), variance=False),
            "a reciprocal": lambda x: mvn(ops.divide(FEW, x)),
        }.items()
    },
    "quantized.shared_convolution": {
        "read once": (integer_convolution(lambda x: ops.relu(x)), CHANNELS_OF_8),
        "with a bias": (integer_convolution(READ_TWICE["two results"], bias=0.5), CHANNELS_OF_8),
        "in floating point": (integer_convolution(READ_TWICE["two results"], weights="floats"), CHANNELS_OF_8),
    },
    "quantized.signed_beside_unsigned": {
        "all symmetric": joined_ranges([[128], [128]]),
        "all with zero points": joined_ranges([[127], [0]]),
        "of 255 levels": joined_ranges([[128], [0]], levels=255),
    },
}

test_stays = stays_test(STAYS)
