"""Attention that is one operator, which no Paddle runs on a CPU, on programs made by hand.

Expected is what Paddle computes, eagerly: its own `scaled_dot_product_attention`, or the operators that the fused one
stands for.
"""

import numpy as np
import pytest

import paddle2ov
from gen_models.harness.spec import paddle
from paddle2ov.compilation.running import run as run_model
from tests.support.by_hand import by_hand
from tests.support.one_operator import close, functional, normals, program, refused, run, tensors

RNG = np.random.default_rng(0)
normal = normals(RNG)


def attention(q, k, v, mask=None, **options):
    """[batch, tokens, heads, width] each, of NumPy or Paddle."""
    q, k, v, mask = (paddle.to_tensor(value) if isinstance(value, np.ndarray) else value for value in (q, k, v, mask))
    return functional().scaled_dot_product_attention(q, k, v, mask, training=False, **options)


def causal(rows, columns, offset=0):
    """0 where column <= row + offset, -inf elsewhere."""
    last = paddle.unsqueeze(paddle.arange(rows), 1) + offset
    return paddle.where(paddle.arange(columns) <= last, paddle.zeros([1]), paddle.full([1], -np.inf))


@pytest.mark.parametrize(("queries", "keys", "heads"), [(5, 5, 4), (3, 6, 4), (6, 3, 4), (5, 5, 2)])
@by_hand("flash_attn")
def test_flash_attn_with_a_mask(queries, keys, heads):
    q, k, v = normal(2, queries, 4, 8), normal(2, keys, heads, 8), normal(2, keys, heads, 8)
    mask = normal(2, 1, queries, keys)
    attributes = {"dropout": 0.0, "is_test": True}
    close(flash_attn({"q": q, "k": k, "v": v, "attn_mask": mask}, attributes), attention(q, k, v, mask))


def flash_attn(inputs, attributes):
    """What is computed; the same where no size is known, or heads and their width alone."""
    (out,) = run("flash_attn", inputs, attributes)
    whole, feeds = program("flash_attn", inputs, attributes)
    for variable in whole.inputs:
        known = variable.shape[2:] if variable.name[0] in "qkv" else (-1, -1)
        variable.shape = (-1, -1, *known)
    close(run_model(paddle2ov.convert(whole), feeds)[0].array, out)
    return out


@pytest.mark.parametrize("heads", [4, 2])
@pytest.mark.parametrize("is_causal", [False, True])
def test_flash_attn_without_a_mask(heads, is_causal):
    q, k, v = normal(2, 5, 4, 8), normal(2, 5, heads, 8), normal(2, 5, heads, 8)
    out = flash_attn({"q": q, "k": k, "v": v}, {"causal": is_causal})
    close(out, attention(q, k, v, is_causal=is_causal))


def test_flash_attn_is_causal_from_the_end():
    q, k, v = normal(2, 3, 4, 8), normal(2, 6, 4, 8), normal(2, 6, 4, 8)
    close(flash_attn({"q": q, "k": k, "v": v}, {"causal": True}), attention(q, k, v, causal(3, 6, 3)))


def test_flash_attn_of_queries_that_see_no_key_is_zero():
    q, k, v = normal(2, 6, 4, 8), normal(2, 4, 4, 8), normal(2, 4, 4, 8)
    actual = flash_attn({"q": q, "k": k, "v": v}, {"causal": True})
    assert not actual[:, :2].any()
    close(actual[:, 2:], attention(q[:, 2:], k, v, is_causal=True))


def test_flash_attn_refuses_dropout():
    q = normal(1, 2, 2, 8)
    refused("dropout", "flash_attn", {"q": q, "k": q, "v": q}, {"dropout": 0.1, "is_test": False})


@pytest.mark.parametrize("mask", [(2, 4, 3, 6), (1, 1, 3, 6), (3, 6)])
@by_hand("memory_efficient_attention")
def test_memory_efficient_attention(mask):
    q, k, v, bias = normal(2, 3, 4, 8), normal(2, 6, 4, 8), normal(2, 6, 4, 5), normal(*mask)
    inputs = {"query": q, "key": k, "value": v, "bias": bias}
    attributes = {"scale": 0.3, "causal": False, "is_test": True}
    (out,) = run("memory_efficient_attention", inputs, attributes, ["output"])
    close(out, attention(q, k, v, bias, scale=0.3))


def test_memory_efficient_attention_is_causal_from_the_start():
    q, k, v = normal(2, 3, 4, 8), normal(2, 6, 4, 8), normal(2, 6, 4, 8)
    attributes = {"scale": -1.0, "causal": True, "is_test": True}
    (out,) = run("memory_efficient_attention", {"query": q, "key": k, "value": v}, attributes, ["output"])
    close(out, attention(q, k, v, is_causal=True))


@pytest.mark.parametrize("mask", [None, (2, 1, 1, 5), (1, 1, 5, 5), (2, 4, 5, 5)])
@by_hand("multihead_matmul")
def test_multihead_matmul(mask):
    x, w, bias = normal(2, 5, 16), normal(16, 3, 16), normal(3, 16)
    mask = None if mask is None else normal(*mask)
    inputs = {"input": x, "w": w, "bias": bias} | ({} if mask is None else {"bias_qk": mask})
    (out,) = run("multihead_matmul", inputs, {"alpha": 0.5, "head_number": 4})
    x, w, bias = tensors(x, w.reshape(16, 48), bias.reshape(48))
    q, k, v = paddle.unbind((paddle.matmul(x, w) + bias).reshape([2, 5, 3, 4, 4]), 2)
    close(out, attention(q, k, v, mask, scale=0.5).reshape([2, 5, 16]))


@by_hand("self_dp_attention")
def test_self_dp_attention():
    x = normal(2, 5, 3, 4, 8)
    (out,) = run("self_dp_attention", {"x": x}, {"alpha": 0.5, "head_number": 4})
    close(out, attention(*np.moveaxis(x, 2, 0), scale=0.5))


@pytest.mark.parametrize("pre", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
@by_hand("fused_attention")
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
    attributes = {
        **({"num_heads": 4} if transposed else {}),
        **({"epsilon": 1e-3} if pre else {"ln_epsilon": 1e-3}),
        "transpose_qkv_wb": transposed,
        "pre_layer_norm": pre,
        "add_residual": True,
        "is_test": True,
        "attn_dropout_rate": 0.25,
        "attn_dropout_implementation": "downgrade_in_infer",
        "dropout_rate": 0.5,
        "dropout_implementation": "downgrade_in_infer",
    }
    (out,) = run("fused_attention", inputs, attributes, dynamic=False)
    x, qkv_w, qkv_b, out_w, out_b = tensors(x, qkv_w.reshape(48, 16), qkv_b.reshape(48), out_w, out_b)
    scale, bias = tensors(scale, bias)
    norm, dropout = functional().layer_norm, functional().dropout
    projected = paddle.matmul(norm(x, [16], scale, bias, 1e-3) if pre else x, qkv_w, transpose_y=True) + qkv_b
    q, k, v = paddle.unbind(projected.reshape([2, 5, 3, 4, 4]), 2)
    attended = attention(q, k, v, inputs["src_mask"]).reshape([2, 5, 16])
    # Dropout of the weights: the result is linear in them.
    attended = dropout(attended, 0.25, training=False, mode="downscale_in_infer")
    out_linear = paddle.matmul(attended, out_w) + out_b
    wanted = x + dropout(out_linear, 0.5, training=False, mode="downscale_in_infer")
    close(out, wanted if pre else norm(wanted, [16], scale, bias, 1e-3))


@pytest.mark.parametrize("op_type", ["fused_attention", "fused_feedforward"])
def test_a_layer_that_is_split_over_devices_is_refused(op_type):
    refused("ring_id=0", op_type, {"x": normal(1, 2, 4)}, {"ring_id": 0})


@by_hand("fused_softmax_mask_upper_triangle")
def test_fused_softmax_mask_upper_triangle():
    x = normal(2, 3, 4, 4)
    x[:, :, 1] -= 1e5  # a mask that is only a large number would let the others through
    (out,) = run("fused_softmax_mask_upper_triangle", {"x": x}, {}, dynamic=True)
    close(out, functional().softmax(paddle.to_tensor(x) + causal(4, 4)))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("neox", [False, True])
@pytest.mark.parametrize("tables", ["places", "rank 2", "rank 4", "none"])
@pytest.mark.parametrize("time_major", [False, True])
@by_hand("fused_rotary_position_embedding")
def test_fused_rotary_position_embedding(neox, tables, time_major):
    q, k, v = normal(2, 5, 4, 6), normal(2, 5, 2, 6), normal(2, 5, 2, 6)
    angle, places = normal(9 if tables == "places" else 5, 6), RNG.integers(0, 9, (2, 5))
    own = {"rank 4": lambda one: one[None, :, None]}.get(tables, lambda one: one)
    extra_inputs = {} if tables == "none" else {"sin": own(np.sin(angle)), "cos": own(np.cos(angle))}
    if tables == "places":
        extra_inputs["position_ids"] = places
    order = [1, 0, 2, 3] if time_major else [0, 1, 2, 3]
    inputs = {name: value.transpose(order).copy() for name, value in {"q": q, "k": k, "v": v}.items()} | extra_inputs
    attributes = {"use_neox_rotary_style": neox, "time_major": time_major}
    attributes |= {"rotary_emb_base": 100.0} if tables == "none" else {}
    outputs = run("fused_rotary_position_embedding", inputs, attributes, ["out_q", "out_k", "out_v"], False)
    (angle,) = tensors(angle)
    if tables == "places":
        angle = functional().embedding(paddle.to_tensor(places), angle)
    elif tables == "none":
        columns = paddle.repeat_interleave(paddle.arange(0, 6, 2, "float32"), 2)
        angle = paddle.unsqueeze(paddle.arange(5, dtype="float32"), 1) / paddle.pow(
            paddle.to_tensor(100.0), columns / 6
        )
    angle = paddle.unsqueeze(angle if tables == "places" else paddle.unsqueeze(angle, 0), 2)
    for out, x in zip(outputs, tensors(q, k, v), strict=True):
        if neox:
            turned = paddle.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)
        else:
            turned = paddle.concat([-x[..., 3:], x[..., :3]], -1)
        close(out.transpose(order), x * paddle.cos(angle) + turned * paddle.sin(angle))


def test_a_weight_of_unknown_shape_is_refused():
    inputs = {"x": normal(2, 5, 16), "qkv_weight": normal(3, 4, 4, 16)}
    message = "'fused_attention': it depends on a size that is not known: give"
    refused(message, "fused_attention", inputs, {"is_test": True}, dynamic=True)
