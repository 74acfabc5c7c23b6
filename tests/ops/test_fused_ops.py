"""Operators that no Paddle runs on a CPU (any more), on programs made by hand; attention is in test_fused_attention.py.

Expected is what Paddle computes, eagerly, from the operators that the fused one stands for.
"""

import itertools

import numpy as np
import pytest

from gen_models.harness.spec import paddle
from tests.support.by_hand import by_hand
from tests.support.one_operator import close, functional, normals, refused, run, tensors

RNG = np.random.default_rng(0)
normal = normals(RNG)


def layer_norm(x, scale, bias, epsilon=1e-5):
    return functional().layer_norm(paddle.to_tensor(x), scale.shape, *tensors(scale, bias), epsilon)


MODES = {"upscale_in_train": "upscale_in_train", "downgrade_in_infer": "downscale_in_infer"}
"""Operators' names of the modes of dropout -> those of Paddle's functions."""


@pytest.mark.parametrize("pre", [False, True])
@pytest.mark.parametrize("activation", ["gelu", "relu"])
@pytest.mark.parametrize("mode", MODES)
@by_hand("fused_feedforward")
def test_fused_feedforward(pre, activation, mode):
    x, scale, bias = normal(2, 5, 8), normal(8), normal(8)
    w1, b1, w2, b2 = normal(8, 12), normal(12), normal(12, 8), normal(8)
    number = 1 if pre else 2
    inputs = {
        "x": x, "linear1_weight": w1, "linear1_bias": b1, "linear2_weight": w2, "linear2_bias": b2,
        f"ln{number}_scale": scale, f"ln{number}_bias": bias,
    }  # fmt: skip
    attributes = {"pre_layer_norm": pre, "act_method": activation, "is_test": True, "add_residual": True}
    attributes |= {f"dropout{i}_rate": 0.25 * i for i in (1, 2)} | {f"dropout{i}_implementation": mode for i in (1, 2)}
    (out,) = run("fused_feedforward", inputs, attributes | {f"ln{number}_epsilon": 1e-3})
    x, w1, b1, w2, b2, scale, bias = tensors(x, w1, b1, w2, b2, scale, bias)
    linear, dropout, norm = functional().linear, functional().dropout, functional().layer_norm
    inner = getattr(functional(), activation)(linear(norm(x, [8], scale, bias, 1e-3) if pre else x, w1, b1))
    inner = linear(dropout(inner, 0.25, training=False, mode=MODES[mode]), w2, b2)
    wanted = x + dropout(inner, 0.5, training=False, mode=MODES[mode])
    close(out, wanted if pre else norm(wanted, [8], scale, bias, 1e-3))


@pytest.mark.parametrize("activation", ["none", "relu", "gelu"])
@pytest.mark.parametrize(("shape", "trans_x"), [((2, 5, 8), False), ((8, 5), True), ((8, 2, 3), True)])
@pytest.mark.parametrize("trans_y", [False, True])
@by_hand("fused_gemm_epilogue")
def test_fused_gemm_epilogue(activation, shape, trans_x, trans_y):
    x, y, bias = normal(*shape), normal(8, 6), normal(6)
    inputs = {"x": x, "y": y.T.copy() if trans_y else y, "bias": bias}
    attributes = {"trans_x": trans_x, "trans_y": trans_y, "activation": activation}
    (out,) = run("fused_gemm_epilogue", inputs, attributes)
    x, y, bias = tensors(x, y, bias)
    flat = paddle.transpose(x, [*range(1, len(shape)), 0]) if trans_x else x
    wanted = paddle.matmul(flat, y) + bias
    # cuBLAS's epilogue is the approximation; the others ignore the argument.
    last = {"gelu": lambda one: functional().gelu(one, approximate=True), "relu": functional().relu}
    close(out, last.get(activation, lambda one: one)(wanted))


@pytest.mark.parametrize("mode", MODES)
@by_hand("fused_bias_dropout_residual_layer_norm")
def test_fused_bias_dropout_residual_layer_norm(mode):
    x, residual, bias, scale, shift = normal(2, 5, 8), normal(2, 5, 8), normal(8), normal(8), normal(8)
    inputs = {"x": x, "residual": residual, "bias": bias, "ln_scale": scale, "ln_bias": shift}
    attributes = {"dropout_rate": 0.5, "is_test": True, "dropout_implementation": mode, "ln_epsilon": 1e-3}
    results = ["y", "bias_dropout_residual_out"]
    y, total = run("fused_bias_dropout_residual_layer_norm", inputs, attributes, results)
    x, residual, bias = tensors(x, residual, bias)
    wanted = residual + functional().dropout(x + bias, 0.5, training=False, mode=MODES[mode])
    close(total, wanted)
    close(y, layer_norm(wanted, scale, shift, 1e-3))


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("mode", ["upscale_in_train", "downscale_in_infer", "downgrade_in_infer"])
@by_hand("fused_dropout_add")
def test_fused_dropout_add(p, mode):
    x, y = normal(2, 5), normal(2, 5)
    attributes = {"p": p, "is_test": True} | ({} if p == 0 else {"mode": mode})
    (out,) = run("fused_dropout_add", {"x": x, "y": y}, attributes)
    mode = MODES.get(mode, mode)  # Paddle's own function hands its own name of the mode on
    close(out, paddle.incubate.nn.functional.fused_dropout_add(*tensors(x, y), p, training=False, mode=mode))


def test_fused_dropout_add_in_training_is_refused():
    x = normal(2, 5)
    attributes = {"p": 0.3, "is_test": False, "mode": "upscale_in_train"}
    refused(r"p=0\.3", "fused_dropout_add", {"x": x, "y": x}, attributes)


@pytest.mark.parametrize("columns", [(1,), ()])
@by_hand("fused_embedding_eltwise_layernorm")
def test_fused_embedding_eltwise_layernorm(columns):
    ids, tables = [RNG.integers(0, 9, (2, 5, *columns)) for _ in range(3)], [normal(9, 8) for _ in range(3)]
    scale, bias = normal(8), normal(8)
    inputs = {"ids": ids, "embs": tables, "scale": scale, "bias": bias}
    (out,) = run("fused_embedding_eltwise_layernorm", inputs, {"epsilon": 1e-3})
    rows = [functional().embedding(*tensors(id_.reshape(2, 5), table)) for id_, table in zip(ids, tables, strict=True)]
    close(out, layer_norm(paddle.add_n(rows), scale, bias, 1e-3))


@pytest.mark.parametrize("forget_bias", [0.0, 0.5])
@by_hand("lstm_unit")
def test_lstm_unit(forget_bias):
    x, before = normal(3, 16), normal(3, 4)
    inputs = {"x": x, "c_prev": before}
    c, h = run("lstm_unit", inputs, {"forget_bias": forget_bias}, ["c", "h"], format="legacy")
    sigmoid = functional().sigmoid
    x, before = tensors(x, before)
    i, f, o, g = paddle.split(x, 4, 1)
    state = before * sigmoid(f + forget_bias) + paddle.tanh(g) * sigmoid(i)
    close(c, state)
    close(h, paddle.tanh(state) * sigmoid(o))


@pytest.mark.parametrize(
    ("op_type", "count", "scaled"),
    [
        *itertools.product(["rms_norm"], [1, 2], [False, True]),
        ("fused_rms_norm_ext", 1, True),
    ],
)
@by_hand(argument="op_type")
def test_rms_norm(op_type, count, scaled):
    x, scale = normal(2, 3, 8), normal(*(3, 8)[-count:])
    attributes = {"epsilon": 1e-3} | ({"normalized_shape": scale.shape} if op_type == "rms_norm" else {})
    y, inverse = run(op_type, {"x": x} | ({"scale": scale} if scaled else {}), attributes, ["y", "invvar"])
    x, scale = tensors(x, scale)
    axes = [-1, -2][:count]
    wanted = paddle.rsqrt(paddle.mean(x * x, axes, keepdim=True) + 1e-3)
    close(y, x * wanted * (scale if scaled else 1.0))
    close(inverse, paddle.squeeze(wanted, axes))


def decomposed(build, feeds):
    """What Paddle computes from the operators that it takes a fused one of PIR apart into."""
    paddle.enable_static()
    before = paddle.base.core._is_fwd_prim_enabled()
    try:
        paddle.base.core._set_prim_forward_enabled(True)
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            inputs = {name: paddle.static.data(name, feed.shape, str(feed.dtype)) for name, feed in feeds.items()}
            results = paddle.decomposition.decompose(main, build(**inputs))
            return paddle.static.Executor().run(main, feed=feeds, fetch_list=results)
    finally:
        paddle.base.core._set_prim_forward_enabled(before)
        paddle.disable_static()


@pytest.mark.parametrize("given", [(), ("residual",), ("residual", "bias"), ("norm_bias",)], ids="+".join)
@by_hand("fused_rms_norm_quant")
def test_fused_rms_norm_quant(given):
    shapes = {"x": (2, 3, 8), "residual": (2, 3, 8), "bias": (8,), "norm_weight": (8,), "norm_bias": (8,)}
    inputs = {name: normal(*shape) for name, shape in shapes.items() if name in ("x", "norm_weight", *given)}
    attributes = {"begin_norm_axis": 2, "epsilon": 1e-3, "quant_scale": -1.0}
    results = ["out", "residual_out"] if "residual" in given else ["out"]

    def build(x, norm_weight, residual=None, bias=None, norm_bias=None):
        fused = paddle._C_ops.fused_rms_norm_quant
        made = fused(x, bias, residual, norm_weight, norm_bias, 1e-3, 2, -1.0, 0, 0.0, 0.0)
        return list(made[: len(results)])

    outputs = run("fused_rms_norm_quant", inputs, attributes, results)
    for mine, wanted in zip(outputs, decomposed(build, inputs), strict=True):
        close(mine, wanted)


def test_fused_rms_norm_quant_over_two_dimensions():
    x, weight = normal(2, 3, 8), normal(24)
    attributes = {"begin_norm_axis": 1, "epsilon": 1e-3, "quant_scale": -1.0}
    (out,) = run("fused_rms_norm_quant", {"x": x, "norm_weight": weight}, attributes)
    x, weight = tensors(x, weight.reshape(3, 8))
    close(out, x * paddle.rsqrt(paddle.mean(x * x, [1, 2], keepdim=True) + 1e-3) * weight)


def test_a_bias_that_paddle_treats_in_two_ways_is_refused():
    x, bias = normal(2, 8), normal(8)
    inputs = {"x": x, "bias": bias, "norm_weight": bias}
    refused("without a residual", "fused_rms_norm_quant", inputs, {"begin_norm_axis": 1})


@by_hand("skip_layernorm")
def test_skip_layernorm():
    x, y, scale, bias = normal(2, 3, 8), normal(2, 3, 8), normal(8), normal(8)
    inputs = {"x": x, "y": y, "scale": scale, "bias": bias}
    (out,) = run("skip_layernorm", inputs, {"epsilon": 1e-3, "begin_norm_axis": 2})
    close(out, layer_norm(x + y, scale, bias, 1e-3))


CONVOLUTIONS = [
    {"strides": [1, 1], "paddings": [0, 0], "dilations": [1, 1], "groups": 2},
    {"strides": [2, 1], "paddings": [1, 2], "dilations": [1, 2], "groups": 2},
    {"strides": [2, 1], "paddings": [1, 0, 2, 1], "dilations": [1, 1], "groups": 2, "data_format": "NHWC"},
    {"strides": [2, 2], "padding_algorithm": "SAME", "groups": 2},
]


def convolved(x, filters, bias, options, transposed=False):
    """By Paddle's function, whose names differ."""
    last = options.get("data_format", "NCHW")
    padding = options.get("padding_algorithm") or options["paddings"]
    count = filters.ndim - 2
    function = getattr(functional(), f"conv{count}d{'_transpose' if transposed else ''}")
    more = {"output_padding": options["output_padding"]} if "output_padding" in options else {}
    return function(
        *tensors(x, filters, bias),
        stride=options["strides"],
        padding=padding,
        dilation=options.get("dilations", 1),
        groups=options["groups"],
        data_format=last if count == 2 else "NCDHW",
        **more,
    )


VOLUMES = [
    {"strides": [1, 1, 1], "paddings": [0, 0, 0], "dilations": [1, 1, 1], "groups": 2},
    {"strides": [2, 1, 1], "paddings": [1, 0, 2], "dilations": [1, 2, 1], "groups": 2},
]


@pytest.mark.parametrize(
    ("op_type", "options"),
    [
        *itertools.product(["conv2d", "depthwise_conv2d_bias"], CONVOLUTIONS),
        *itertools.product(["depthwise_conv3d_bias"], VOLUMES),
    ],
)
@by_hand(argument="op_type")
def test_convolution_with_bias(op_type, options):
    x, filters, bias = normal(1, 6, 5, 4), normal(4, 1, 2, 3), normal(4)
    x = x[..., :2].copy() if "data_format" in options else x[:, :2].copy()
    if options in VOLUMES:
        x, filters = normal(2, 2, 4, 5, 3), normal(4, 1, 2, 3, 1)
    format = "legacy" if op_type == "conv2d" else "pir"  # oneDNN's pass gave this one a bias
    (out,) = run(op_type, {"input": x, "filter": filters, "bias": bias}, options, format=format)
    close(out, convolved(x, filters, bias, options))


@pytest.mark.parametrize("activation", ["identity", "relu", "relu6", "sigmoid", "tanh"])
@pytest.mark.parametrize("residual", [False, True])
@by_hand("fused_conv2d_add_act")
def test_fused_conv2d_add_act(activation, residual):
    x, filters, bias, more = normal(1, 2, 5, 4), 9 * normal(4, 1, 2, 3), normal(4), normal(1, 4, 4, 2)
    options = CONVOLUTIONS[0]
    inputs = {"input": x, "filter": filters, "bias": bias} | ({"residual_data": more} if residual else {})
    (out,) = run("fused_conv2d_add_act", inputs, options | {"activation": activation}, ["output"])
    wanted = convolved(x, filters, bias, options) + (paddle.to_tensor(more) if residual else 0.0)
    close(out, wanted if activation == "identity" else getattr(functional(), activation)(wanted))


@pytest.mark.parametrize(
    "options",
    [
        {"strides": [1, 1], "paddings": [0, 0], "dilations": [1, 1], "groups": 1},
        {"strides": [2, 3], "paddings": [1, 0], "dilations": [1, 2], "groups": 2, "output_padding": [1, 0]},
    ],
)
@by_hand("conv2d_transpose_bias")
def test_conv2d_transpose_bias(options):
    groups = options["groups"]
    x, filters, bias = normal(1, 2, 3, 3), normal(2, 4 // groups, 3, 2), normal(4)
    (out,) = run("conv2d_transpose_bias", {"x": x, "filter": filters, "bias": bias}, options, dynamic=False)
    close(out, convolved(x, filters, bias, options, transposed=True))


@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
@by_hand("sync_batch_norm")
def test_sync_batch_norm(data_format):
    x = normal(2, 3, 4, 3)
    mean, scale, bias = normal(3), normal(3), normal(3)
    variance = RNG.uniform(0.5, 2, size=3).astype(np.float32)
    inputs = {"x": x, "mean": mean, "variance": variance, "scale": scale, "bias": bias}
    attributes = {"is_test": True, "epsilon": 1e-3, "data_format": data_format}
    (out,) = run("sync_batch_norm", inputs, attributes)
    options = {"training": False, "epsilon": 1e-3, "data_format": data_format}
    close(out, functional().batch_norm(*tensors(x, mean, variance, scale, bias), **options))


PADDINGS = [[1, 2, 0, 2], [1, 0, 2, 1], [0, 0, 0, 1]]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("mode", "paddle_mode"), [("constant",) * 2, ("reflect",) * 2, ("edge", "replicate")])
@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
@pytest.mark.parametrize(("paddings", "as_tensor"), itertools.product(PADDINGS, [False, True]))
@by_hand("pad2d")
def test_pad2d(mode, paddle_mode, data_format, paddings, as_tensor):
    x = normal(1, 4, 3, 4)
    attributes = {"mode": mode, "data_format": data_format} | ({"pad_value": 1.5} if mode == "constant" else {})
    if as_tensor:
        inputs = {"x": x, "paddings": np.array(paddings, np.int32)}
    else:
        inputs, attributes = {"x": x}, attributes | {"paddings": paddings}
    (out,) = run("pad2d", inputs, attributes, dynamic=as_tensor, format="legacy")
    top, bottom, left, right = paddings
    sides = [left, right, top, bottom]
    close(out, functional().pad(paddle.to_tensor(x), sides, paddle_mode, 1.5, data_format=data_format))


@by_hand("fused_bias_residual_layernorm")
def test_fused_bias_residual_layernorm():
    x, residual, bias, weight, shift = normal(2, 3, 8), normal(2, 3, 8), normal(8), normal(8), normal(8)
    inputs = {"x": x, "bias": bias, "residual": residual, "norm_weight": weight, "norm_bias": shift}
    attributes = {"epsilon": 1e-3, "residual_alpha": 0.5, "begin_norm_axis": 2, "quant_scale": -1.0}
    results = ("out", "residual_out")
    out, total = run("fused_bias_residual_layernorm", inputs, attributes, results)
    x, residual, bias = tensors(x, residual, bias)
    wanted = x + 0.5 * residual + bias
    close(total, wanted)
    close(out, layer_norm(wanted, weight, shift, 1e-3))


def test_fused_bias_residual_layernorm_without_scale():
    x, residual = normal(2, 3, 8), normal(2, 3, 8)
    attributes = {"residual_alpha": 2.0, "begin_norm_axis": 1, "quant_scale": -1.0}
    (out,) = run("fused_bias_residual_layernorm", {"x": x, "residual": residual}, attributes)
    x, residual = tensors(x, residual)
    close(out, x + 2 * residual)


def test_fused_bias_residual_layernorm_leaves_out_a_bias_without_a_residual():
    x, bias, weight, shift = normal(2, 3, 8), normal(8), normal(8), normal(8)
    inputs = {"x": x, "bias": bias, "norm_weight": weight, "norm_bias": shift}
    attributes = {"epsilon": 1e-5, "begin_norm_axis": 2, "quant_scale": -1.0}
    (out,) = run("fused_bias_residual_layernorm", inputs, attributes)
    close(out, layer_norm(x, weight, shift))


@pytest.mark.parametrize("axis", [0, 1])
@by_hand("fusion_transpose_flatten_concat")
def test_fusion_transpose_flatten_concat(axis):
    shapes = ([2, 4, 3, 5], [2, 6, 3, 3]) if axis == 1 else ([2, 4, 3, 5], [3, 4, 3, 5])
    xs = [normal(*shape) for shape in shapes]
    attributes = {"trans_axis": [0, 2, 3, 1], "flatten_axis": 1, "concat_axis": axis}
    (out,) = run("fusion_transpose_flatten_concat", {"x": xs}, attributes)
    close(
        out, paddle.concat([paddle.flatten(paddle.transpose(tensor, [0, 2, 3, 1]), 1) for tensor in tensors(*xs)], axis)
    )
