"""Operators that Paddle's passes for oneDNN make, on programs made by hand: only its predictor runs them.

Expected is what Paddle computes, eagerly, from the operators that the fused one stands for.
"""

import numpy as np
import pytest

from gen_models.harness.spec import paddle
from tests.support.by_hand import by_hand
from tests.support.one_operator import close, functional, normals, refused, run_legacy, tensors

normal = normals(np.random.default_rng(0))


X, Y = normal(2, 3, 8), normal(2, 3, 8)
ACTIVATIONS = {
    "abs": (0.0, 0.0, lambda x: paddle.abs(x)),
    "clip": (-0.5, 0.7, lambda x: paddle.clip(x, -0.5, 0.7)),
    "gelu": (0.0, 0.0, lambda x: functional().gelu(x)),
    "gelu_erf": (0.0, 0.0, lambda x: functional().gelu(x)),
    "gelu_tanh": (0.0, 0.0, lambda x: functional().gelu(x, approximate=True)),
    "hard_sigmoid": (0.2, 0.4, lambda x: functional().hardsigmoid(x, 0.2, 0.4)),
    "hard_swish": (1 / 6, 0.5, lambda x: functional().hardswish(x)),
    "leaky_relu": (0.2, 0.0, lambda x: functional().leaky_relu(x, 0.2)),
    "mish": (0.0, 0.0, lambda x: functional().mish(x)),
    "relu": (0.0, 0.0, lambda x: functional().relu(x)),
    "relu6": (0.0, 6.0, lambda x: functional().relu6(x)),
    "sigmoid": (0.0, 0.0, lambda x: functional().sigmoid(x)),
    "swish": (1.0, 0.0, lambda x: functional().swish(x)),
    "tanh": (0.0, 0.0, lambda x: functional().tanh(x)),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
@by_hand("fused_elementwise_add")
def test_activations(name):
    alpha, beta, wanted = ACTIVATIONS[name]
    attributes = {"fuse_activation": name, "fuse_alpha": alpha, "fuse_beta": beta, "fused_output_scale": 2.0}
    x, y = tensors(X, Y)
    close(run_legacy("fused_elementwise_add", {"x": X, "y": Y}, attributes), wanted(x + y) * 2)


def test_an_unknown_activation_is_refused():
    attributes = {"fuse_activation": "sine"}
    refused("fuse_activation='sine'", "fused_elementwise_add", {"x": X, "y": Y}, attributes, format="legacy")


@pytest.mark.parametrize(
    ("op_type", "wanted"),
    [
        ("fused_elementwise_sub", "subtract"),
        ("fused_elementwise_mul", "multiply"),
        ("fused_elementwise_div", "divide"),
    ],
)
@by_hand(argument="op_type")
def test_elementwise(op_type, wanted):
    actual = run_legacy(op_type, {"x": X, "y": Y}, {"axis": -1, "fused_unsqueeze2_axes": [1]})
    close(actual, getattr(paddle, wanted)(*tensors(X, Y)).unsqueeze(1))


def heads(x):
    return paddle.transpose(paddle.reshape(x, [0, 0, 2, 4]), [0, 2, 1, 3])


@by_hand("fused_matmul")
def test_matmul():
    residual = normal(2, 3, 3)
    attributes = {"trans_y": True, "matmul_alpha": 0.5, "fuse_activation": "tanh", "fused_output_scale": 3.0}
    x, y, rest = tensors(X, Y, residual)
    wanted = 3 * paddle.tanh(0.5 * paddle.matmul(x, y, transpose_y=True) + rest)
    close(run_legacy("fused_matmul", {"x": X, "y": Y, "residual_data": residual}, attributes), wanted)


def test_matmul_of_heads():
    shape, order = [0, 0, 2, 4], [0, 2, 1, 3]
    attributes = {f"fused_reshape_{port}": shape for port in "XY"} | {f"fused_transpose_{port}": order for port in "XY"}
    x, y = tensors(X, Y)
    actual = run_legacy("fused_matmul", {"x": X, "y": Y}, attributes | {"trans_y": True})
    close(actual, paddle.matmul(heads(x), heads(y), transpose_y=True))
    weights = normal(2, 2, 3, 3)
    attributes = {"fused_reshape_Out": [0, 0, 8], "fused_transpose_Out": order}
    attributes |= {"fused_reshape_Y": shape, "fused_transpose_Y": order}
    wanted = paddle.transpose(paddle.matmul(paddle.to_tensor(weights), heads(y)), order)
    close(run_legacy("fused_matmul", {"x": weights, "y": Y}, attributes), paddle.reshape(wanted, [0, 0, 8]))


@by_hand("fused_softplus")
def test_softplus():
    wanted = paddle.tanh(functional().softplus(paddle.to_tensor(X), 2.0))
    close(run_legacy("fused_softplus", {"x": X}, {"beta": 2.0, "fuse_activation": "tanh"}), wanted)


@pytest.mark.parametrize(
    ("attributes", "wanted"),
    [
        ({"fused_unsqueeze2_axes": [0, -1]}, lambda x: x.unsqueeze([0, -1])),
        ({"fused_reshape2_shape": [3, -1]}, lambda x: paddle.reshape(x, [3, -1])),
        ({"output_data_type": "fp32"}, lambda x: x),
    ],
)
@by_hand("fused_transpose")
def test_transpose(attributes, wanted):
    turned = paddle.transpose(paddle.to_tensor(X), [1, 0, 2])
    close(run_legacy("fused_transpose", {"x": X}, {"axis": [1, 0, 2], **attributes}), wanted(turned))
    actual = run_legacy(
        "fused_transpose", {"x": X[:, None]}, {"axis": [1, 0, 2], "fused_squeeze2_axes": [1], **attributes}
    )
    close(actual, wanted(turned))


@pytest.mark.parametrize("attributes", [{"scale": 0.5}, {"shift": 1.0}, {"output_data_type": "int8"}])
def test_transposes_in_int8_are_refused(attributes):
    (name,) = attributes
    refused(name, "fused_transpose", {"x": X}, {"axis": [1, 0, 2], **attributes}, format="legacy")


CONV = {"input": normal(1, 2, 5, 5), "filter": normal(3, 2, 3, 3), "bias": normal(3)}


@pytest.mark.parametrize("op_type", ["fused_conv2d", "fused_conv3d", "conv2d"])
@by_hand(argument="op_type")
def test_convolution(op_type):
    residual = normal(1, 3, 3, 3)
    attributes = {"fuse_activation": "leaky_relu", "fuse_alpha": 0.1, "fuse_residual_connection": True}
    inputs = {**CONV, "residual_data": residual}
    if op_type == "fused_conv3d":
        inputs = {name: array if name == "bias" else array[..., None] for name, array in inputs.items()}
    actual = run_legacy(op_type, inputs, attributes, "output" if op_type.startswith("fused") else "out")
    x, weight, bias, rest = tensors(*CONV.values(), residual)
    wanted = functional().leaky_relu(functional().conv2d(x, weight, bias) + rest, 0.1)
    close(actual.reshape(wanted.shape), wanted)


@pytest.mark.parametrize(
    ("attributes", "wanted"),
    [
        ({"fuse_relu": True}, lambda x: functional().relu(x)),
        ({"fuse_brelu": True, "fuse_brelu_threshold": 1.5}, lambda x: paddle.clip(x, 0.0, 1.5)),
        ({"fuse_activation": "relu6", "fuse_alpha": 1.5}, lambda x: paddle.clip(x, 0.0, 1.5)),
        ({"fuse_activation": "hard_swish"}, lambda x: functional().hardswish(x)),
    ],
    ids=["relu", "bounded", "relu6", "hard_swish"],
)
def test_activations_of_old_programs(attributes, wanted):
    x, weight, bias = tensors(*CONV.values())
    close(run_legacy("conv2d", CONV, attributes), wanted(functional().conv2d(x, weight, bias)))


def test_fc_and_batch_norm():
    w, bias, x = normal(8, 4), normal(4), normal(3, 8)
    out = run_legacy("fc", {"input": x, "w": w, "bias": bias}, {"fuse_activation": "gelu_tanh", "in_num_col_dims": 1})
    close(out, functional().gelu(functional().linear(*tensors(x, w, bias)), approximate=True))
    statistics = {name: np.abs(normal(2)) for name in ("mean", "variance", "scale", "bias")}
    out = run_legacy("batch_norm", {"x": CONV["input"], **statistics}, {"is_test": True, "fuse_with_relu": True})
    wanted = functional().batch_norm(*tensors(CONV["input"], *statistics.values()))
    close(out, functional().relu(wanted))
