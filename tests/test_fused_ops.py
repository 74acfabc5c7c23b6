"""Operators that no Paddle runs on a CPU (any more), on programs made by hand.

Expected is what Paddle computes, eagerly, from the operators that the fused one stands for.
"""

import numpy as np
import openvino
import pytest

import paddle2ov
from gen_models.spec import import_paddle, paddle
from paddle2ov.errors import OpConversionError
from paddle2ov.program.model import Block, Operator, Output, Program, Variable

RNG = np.random.default_rng(0)


def program(op_type, inputs, attributes, results, dynamic):
    """A program of one operator; inputs: port -> array or list of arrays."""
    named = {
        port: [(f"{port}_{i}", array) for i, array in enumerate(value if isinstance(value, list) else [value])]
        for port, value in inputs.items()
    }
    variables = [
        Variable(name, str(array.dtype), tuple(-1 if dynamic else size for size in array.shape))
        for pairs in named.values()
        for name, array in pairs
    ]
    outputs = {result: [result] for result in results}
    operator = Operator(
        op_type,
        {port: [name for name, _ in pairs] for port, pairs in named.items()},
        outputs,
        attributes,
        op_type,
        0,
        0,
    )
    declared = {one.name: one for one in variables} | {result: Variable(result, "float32") for result in results}
    block = Block(0, [operator], [one.name for one in variables], list(results))
    whole = Program("pir", 1, block, variables, [Output(result, result) for result in results], declared, {})
    return whole, dict(pair for pairs in named.values() for pair in pairs)


def run(op_type, inputs, attributes, results=("out",), dynamic=False):
    whole, feeds = program(op_type, inputs, attributes, results, dynamic)
    model = paddle2ov.convert(whole)
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    found = compiled({port.any_name: feeds[port.any_name] for port in compiled.inputs})
    return [found[i] for i in range(len(results))]


@pytest.fixture(autouse=True)
def _eager():
    import_paddle().disable_static()


def functional():
    return paddle.nn.functional


def tensor(value):
    return paddle.to_tensor(value) if isinstance(value, np.ndarray) else value


def tensors(*arrays):
    return [paddle.to_tensor(array) for array in arrays]


def normal(*shape):
    return RNG.normal(size=shape).astype("float32")


def softmax(x):
    return functional().softmax(tensor(x))


def layer_norm(x, scale, bias, epsilon=1e-5):
    return functional().layer_norm(tensor(x), scale.shape, tensor(scale), tensor(bias), epsilon)


def attention(q, k, v, mask=None, scale=None):
    """[batch, tokens, heads, width] each, of NumPy or Paddle."""
    q, k, v = (paddle.transpose(tensor(one), [0, 2, 1, 3]) for one in (q, k, v))
    k, v = (paddle.repeat_interleave(one, q.shape[1] // one.shape[1], 1) for one in (k, v))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    weights = paddle.matmul(q, k, transpose_y=True) * scale
    weights = weights if mask is None else weights + tensor(mask)
    return paddle.transpose(paddle.matmul(softmax(weights), v), [0, 2, 1, 3])


def causal(rows, columns, offset=0):
    """0 where column <= row + offset, -inf elsewhere."""
    last = paddle.unsqueeze(paddle.arange(rows), 1) + offset
    return paddle.where(paddle.arange(columns) <= last, paddle.zeros([1]), paddle.full([1], -np.inf))


def close(found, wanted):
    assert list(found.shape) == wanted.shape
    np.testing.assert_allclose(found, wanted.numpy(), atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize(("queries", "keys", "heads"), [(5, 5, 4), (3, 6, 4), (5, 5, 2)])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("is_causal", [False, True])
def test_flash_attn(queries, keys, heads, masked, is_causal):
    q, k, v = normal(2, queries, 4, 8), normal(2, keys, heads, 8), normal(2, keys, heads, 8)
    mask = normal(2, 1, queries, keys)
    inputs = {"q": q, "k": k, "v": v} | ({"attn_mask": mask} if masked else {})
    (out,) = run("flash_attn", inputs, {"causal": is_causal, "dropout": 0.0, "is_test": True})
    bias = tensor(mask) if masked else paddle.zeros([1])
    if is_causal:
        bias = bias + causal(queries, keys, keys - queries)
    close(out, attention(q, k, v, bias))


def test_flash_attn_dynamic():
    q, k, v = normal(2, 3, 4, 8), normal(2, 6, 4, 8), normal(2, 6, 4, 8)
    whole, feeds = program("flash_attn", {"q": q, "k": k, "v": v}, {"causal": True}, ["out"], False)
    for variable in whole.inputs:
        variable.shape = (-1, -1, 4, 8)
    compiled = openvino.Core().compile_model(paddle2ov.convert(whole), "CPU")
    found = compiled({port.any_name: feeds[port.any_name] for port in compiled.inputs})
    close(found[0], attention(q, k, v, causal(3, 6, 3)))


def test_flash_attn_refuses_dropout():
    q = normal(1, 2, 2, 8)
    with pytest.raises(OpConversionError, match="dropout"):
        run("flash_attn", {"q": q, "k": q, "v": q}, {"dropout": 0.1, "is_test": False})


def test_memory_efficient_attention():
    q, k, v, bias = normal(2, 3, 4, 8), normal(2, 6, 4, 8), normal(2, 6, 4, 8), normal(2, 4, 3, 6)
    inputs = {"query": q, "key": k, "value": v, "bias": bias}
    (out,) = run("memory_efficient_attention", inputs, {"scale": 0.3, "is_test": True}, ["output"])
    close(out, attention(q, k, v, bias, 0.3))


def test_memory_efficient_attention_is_causal_from_the_start():
    q, k, v = normal(2, 3, 4, 8), normal(2, 6, 4, 8), normal(2, 6, 4, 8)
    attributes = {"scale": -1.0, "causal": True, "is_test": True}
    (out,) = run("memory_efficient_attention", {"query": q, "key": k, "value": v}, attributes, ["output"])
    close(out, attention(q, k, v, causal(3, 6)))


@pytest.mark.parametrize("masked", [False, True])
def test_multihead_matmul(masked):
    x, w, bias, mask = normal(2, 5, 16), normal(16, 3, 16), normal(3, 16), normal(2, 1, 1, 5)
    inputs = {"input": x, "w": w, "bias": bias} | ({"bias_qk": mask} if masked else {})
    (out,) = run("multihead_matmul", inputs, {"alpha": 0.5, "head_number": 4})
    x, w, bias = tensors(x, w.reshape(16, 48), bias.reshape(48))
    q, k, v = paddle.unbind((paddle.matmul(x, w) + bias).reshape([2, 5, 3, 4, 4]), 2)
    close(out, attention(q, k, v, mask if masked else None, 0.5).reshape([2, 5, 16]))


@pytest.mark.parametrize("pre", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
def test_fused_attention(pre, transposed):
    x, scale, bias, out_w, out_b = normal(2, 5, 16), normal(16), normal(16), normal(16, 16), normal(16)
    qkv_w, qkv_b = normal(3, 4, 4, 16), normal(3, 4, 4)
    inputs = {
        "x": x,
        "qkv_weight": qkv_w.reshape(48, 16).T.copy() if transposed else qkv_w,
        "qkv_bias": qkv_b.reshape(48) if transposed else qkv_b,
        "src_mask": normal(2, 1, 1, 5),
        "out_linear_weight": out_w,
        "out_linear_bias": out_b,
        **({"ln_scale": scale, "ln_bias": bias} if pre else {"ln_scale_2": scale, "ln_bias_2": bias}),
    }
    attributes = {"num_heads": 4, "transpose_qkv_wb": transposed, "pre_layer_norm": pre, "is_test": True}
    (out,) = run("fused_attention", inputs, attributes | {"add_residual": True, "dropout_rate": 0.0})
    x, qkv_w, qkv_b, out_w, out_b = tensors(x, qkv_w.reshape(48, 16), qkv_b.reshape(48), out_w, out_b)
    entered = layer_norm(x, scale, bias) if pre else x
    projected = paddle.matmul(entered, qkv_w, transpose_y=True) + qkv_b
    q, k, v = paddle.unbind(projected.reshape([2, 5, 3, 4, 4]), 2)
    wanted = x + paddle.matmul(attention(q, k, v, inputs["src_mask"]).reshape([2, 5, 16]), out_w) + out_b
    close(out, wanted if pre else layer_norm(wanted, scale, bias))


@pytest.mark.parametrize("pre", [False, True])
def test_fused_feedforward(pre):
    x, scale, bias = normal(2, 5, 8), normal(8), normal(8)
    w1, b1, w2, b2 = normal(8, 12), normal(12), normal(12, 8), normal(8)
    number = 1 if pre else 2
    inputs = {
        "x": x, "linear1_weight": w1, "linear1_bias": b1, "linear2_weight": w2, "linear2_bias": b2,
        f"ln{number}_scale": scale, f"ln{number}_bias": bias,
    }  # fmt: skip
    attributes = {"pre_layer_norm": pre, "act_method": "gelu", "is_test": True, "add_residual": True}
    (out,) = run("fused_feedforward", inputs, attributes)
    x, w1, b1, w2, b2 = tensors(x, w1, b1, w2, b2)
    linear, gelu = functional().linear, functional().gelu
    wanted = x + linear(gelu(linear(layer_norm(x, scale, bias) if pre else x, w1, b1)), w2, b2)
    close(out, wanted if pre else layer_norm(wanted, scale, bias))


@pytest.mark.parametrize("activation", ["none", "relu", "gelu"])
def test_fused_gemm_epilogue(activation):
    x, y, bias = normal(2, 5, 8), normal(6, 8), normal(6)
    inputs = {"x": x, "y": y, "bias": bias}
    (out,) = run("fused_gemm_epilogue", inputs, {"trans_x": False, "trans_y": True, "activation": activation})
    x, y, bias = tensors(x, y, bias)
    wanted = paddle.matmul(x, y, transpose_y=True) + bias
    close(out, wanted if activation == "none" else getattr(functional(), activation)(wanted))


def test_fused_bias_dropout_residual_layer_norm():
    x, residual, bias, scale, shift = normal(2, 5, 8), normal(2, 5, 8), normal(8), normal(8), normal(8)
    inputs = {"x": x, "residual": residual, "bias": bias, "ln_scale": scale, "ln_bias": shift}
    attributes = {"dropout_rate": 0.5, "is_test": True, "dropout_implementation": "upscale_in_train"}
    (y,) = run("fused_bias_dropout_residual_layer_norm", inputs, attributes, ["y"])
    x, residual, bias = tensors(x, residual, bias)
    close(y, layer_norm(residual + functional().dropout(x + bias, 0.5, training=False), scale, shift))


def test_fused_embedding_eltwise_layernorm():
    ids, tables = [RNG.integers(0, 9, (2, 5, 1)) for _ in range(3)], [normal(9, 8) for _ in range(3)]
    scale, bias = normal(8), normal(8)
    inputs = {"ids": ids, "embs": tables, "scale": scale, "bias": bias}
    (out,) = run("fused_embedding_eltwise_layernorm", inputs, {"epsilon": 1e-5})
    rows = [functional().embedding(*tensors(one[..., 0], table)) for one, table in zip(ids, tables, strict=True)]
    close(out, layer_norm(paddle.add_n(rows), scale, bias))


def test_fused_softmax_mask_upper_triangle():
    x = normal(2, 3, 4, 4)
    (out,) = run("fused_softmax_mask_upper_triangle", {"x": x}, {}, dynamic=True)
    close(out, softmax(tensor(x) + causal(4, 4)))


@pytest.mark.parametrize("neox", [False, True])
@pytest.mark.parametrize("placed", [False, True])
def test_fused_rotary_position_embedding(neox, placed):
    q, k, angle = normal(2, 5, 4, 6), normal(2, 5, 2, 6), normal(9 if placed else 5, 6)
    places = RNG.integers(0, 9, (2, 5))
    inputs = {"q": q, "k": k, "sin": np.sin(angle), "cos": np.cos(angle)} | ({"position_ids": places} if placed else {})
    found = run("fused_rotary_position_embedding", inputs, {"use_neox_rotary_style": neox}, ["out_q", "out_k"])
    (angle,) = tensors(angle)
    own = paddle.unsqueeze(functional().embedding(tensor(places), angle) if placed else paddle.unsqueeze(angle, 0), 2)
    for out, x in zip(found, tensors(q, k), strict=True):
        if neox:
            turned = paddle.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)
        else:
            turned = paddle.concat([-x[..., 3:], x[..., :3]], -1)
        close(out, x * paddle.cos(own) + turned * paddle.sin(own))


def test_lstm_unit():
    x, before = normal(3, 16), normal(3, 4)
    c, h = run("lstm_unit", {"x": x, "c_prev": before}, {"forget_bias": 0.5}, ["c", "h"])
    sigmoid = functional().sigmoid
    i, f, o, g = paddle.split(tensor(x), 4, 1)
    state = tensor(before) * sigmoid(f + 0.5) + paddle.tanh(g) * sigmoid(i)
    close(c, state)
    close(h, paddle.tanh(state) * sigmoid(o))


@pytest.mark.parametrize("dynamic", [False, True])
def test_rms_norm(dynamic):
    x, scale = RNG.normal(size=(2, 3, 8)).astype(np.float32), RNG.normal(size=8).astype(np.float32)
    attributes = {"normalized_shape": [8], "epsilon": 1e-3}
    y, inverse = run("rms_norm", {"x": x, "scale": scale}, attributes, ["y", "invvar"], dynamic)
    x, scale = tensors(x, scale)
    wanted = paddle.rsqrt(paddle.mean(x * x, -1) + 1e-3)
    close(y, x * paddle.unsqueeze(wanted, -1) * scale)
    close(inverse, wanted)


def test_fused_rms_norm_quant():
    x, bias, residual = (RNG.normal(size=size).astype(np.float32) for size in ((2, 3, 8), (8,), (2, 3, 8)))
    weight, shift = RNG.normal(size=8).astype(np.float32), RNG.normal(size=8).astype(np.float32)
    inputs = {"x": x, "bias": bias, "residual": residual, "norm_weight": weight, "norm_bias": shift}
    attributes = {"begin_norm_axis": 2, "epsilon": 1e-3, "quant_scale": -1.0}
    out, total = run("fused_rms_norm_quant", inputs, attributes, ["out", "residual_out"])
    x, bias, residual, weight, shift = tensors(x, bias, residual, weight, shift)
    summed = x + bias + residual
    close(total, summed)
    close(out, summed * paddle.rsqrt(paddle.mean(summed * summed, -1, True) + 1e-3) * weight + shift)


def test_skip_layernorm():
    x, y = RNG.normal(size=(2, 3, 8)).astype(np.float32), RNG.normal(size=(2, 3, 8)).astype(np.float32)
    scale, bias = RNG.normal(size=8).astype(np.float32), RNG.normal(size=8).astype(np.float32)
    inputs = {"x": x, "y": y, "scale": scale, "bias": bias}
    (out,) = run("skip_layernorm", inputs, {"epsilon": 1e-5, "begin_norm_axis": 2})
    close(out, layer_norm(tensor(x) + tensor(y), scale, bias))


@pytest.mark.parametrize("op_type", ["conv2d", "depthwise_conv2d_bias", "fused_conv2d_add_act"])
def test_convolution_with_bias(op_type):
    x = RNG.normal(size=(1, 2, 4, 4)).astype(np.float32)
    filters, bias = RNG.normal(size=(2, 1, 1, 1)).astype(np.float32), RNG.normal(size=2).astype(np.float32)
    inputs = {"input": x, "filter": filters, "bias": bias}
    attributes = {"strides": [1, 1], "paddings": [0, 0], "dilations": [1, 1], "groups": 2, "activation": "relu"}
    fused = op_type == "fused_conv2d_add_act"
    (out,) = run(op_type, inputs, attributes, ["output" if fused else "out"])
    wanted = functional().conv2d(*tensors(x, filters, bias), groups=2)
    close(out, functional().relu(wanted) if fused else wanted)


def test_conv2d_transpose_bias():
    x = RNG.normal(size=(1, 2, 3, 3)).astype(np.float32)
    filters, bias = RNG.normal(size=(2, 2, 1, 1)).astype(np.float32), RNG.normal(size=2).astype(np.float32)
    attributes = {"strides": [1, 1], "paddings": [0, 0], "dilations": [1, 1], "groups": 1}
    (out,) = run("conv2d_transpose_bias", {"x": x, "filter": filters, "bias": bias}, attributes)
    close(out, functional().conv2d_transpose(*tensors(x, filters, bias)))


@pytest.mark.parametrize("dynamic", [False, True])
def test_sync_batch_norm(dynamic):
    x = RNG.normal(size=(2, 3, 4, 4)).astype(np.float32)
    mean, scale, bias = (RNG.normal(size=3).astype(np.float32) for _ in range(3))
    variance = RNG.uniform(0.5, 2, size=3).astype(np.float32)
    inputs = {"x": x, "mean": mean, "variance": variance, "scale": scale, "bias": bias}
    (out,) = run("sync_batch_norm", inputs, {"is_test": True, "epsilon": 1e-5}, dynamic=dynamic)
    close(out, functional().batch_norm(*tensors(x, mean, variance, scale, bias), training=False, epsilon=1e-5))


@pytest.mark.parametrize(("mode", "paddle_mode"), [("constant",) * 2, ("reflect",) * 2, ("edge", "replicate")])
def test_pad2d(mode, paddle_mode):
    x = RNG.normal(size=(1, 2, 3, 4)).astype(np.float32)
    (out,) = run("pad2d", {"x": x}, {"paddings": [1, 2, 0, 3], "mode": mode, "pad_value": 1.5})
    close(out, functional().pad(tensor(x), [0, 3, 1, 2], paddle_mode, 1.5))


@pytest.mark.parametrize("dynamic", [False, True])
def test_fused_bias_residual_layernorm(dynamic):
    x, residual, bias, weight, shift = normal(2, 3, 8), normal(2, 3, 8), normal(8), normal(8), normal(8)
    inputs = {"x": x, "bias": bias, "residual": residual, "norm_weight": weight, "norm_bias": shift}
    attributes = {"epsilon": 1e-5, "residual_alpha": 0.5, "begin_norm_axis": 2, "quant_scale": -1.0}
    results = ("out", "residual_out")
    out, total = run("fused_bias_residual_layernorm", inputs, attributes, results, dynamic)
    wanted = tensor(x) + 0.5 * tensor(residual) + tensor(bias)
    close(total, wanted)
    close(out, layer_norm(wanted, weight, shift))


def test_fused_bias_residual_layernorm_without_scale():
    x, residual = normal(2, 3, 8), normal(2, 3, 8)
    attributes = {"epsilon": 1e-5, "residual_alpha": 2.0, "begin_norm_axis": 1, "quant_scale": -1.0}
    (out,) = run("fused_bias_residual_layernorm", {"x": x, "residual": residual}, attributes)
    close(out, tensor(x) + 2 * tensor(residual))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dynamic", [False, True])
def test_fusion_transpose_flatten_concat(axis, dynamic):
    shapes = ([2, 4, 3, 5], [2, 6, 3, 3]) if axis == 1 else ([2, 4, 3, 5], [3, 4, 3, 5])
    xs = [normal(*shape) for shape in shapes]
    attributes = {"trans_axis": [0, 2, 3, 1], "flatten_axis": 1, "concat_axis": axis}
    (out,) = run("fusion_transpose_flatten_concat", {"x": xs}, attributes, dynamic=dynamic)
    close(out, paddle.concat([paddle.flatten(paddle.transpose(tensor(x), [0, 2, 3, 1]), 1) for x in xs], axis))
