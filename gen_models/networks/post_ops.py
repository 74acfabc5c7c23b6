"""Chains of operators that a oneDNN primitive can compute in one: a primitive and what follows it.

No operators of their own, so not in `OPS`: `tests/ops/test_post_ops.py` reads `CHAINS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from gen_models.harness.building import weight
from gen_models.harness.spec import Op, case, paddle, tensor

PostOp: TypeAlias = Callable[[Any], Any]
"""What follows a primitive: a function of its result."""


def _functional():
    return paddle.nn.functional


# --- primitives: from the input to the result that post-ops are applied to --------------------------------------------


def _filtered(name: str, shape: list[int], **options: Any) -> Callable[[Any, float], Any]:
    """A layer by the name of its function, with weights of that shape and a bias, none of them below a number."""
    outputs = shape[1] if name in ("linear", "conv1d_transpose", "conv2d_transpose") else shape[0]
    return lambda x, low: getattr(_functional(), name)(
        x, weight(shape, low=low), weight([outputs], low=low, seed=1), **options
    )


PRIMITIVES: Mapping[str, tuple[Callable[[Any, float], Any], tuple[int, ...], tuple[int, ...]]] = {
    "convolution": (_filtered("conv2d", [8, 8, 3, 3], padding=1), (1, 8, 10, 10), (1, 8, 10, 10)),
    "depthwise_convolution": (_filtered("conv2d", [8, 1, 3, 3], padding=1, groups=8), (1, 8, 10, 10), (1, 8, 10, 10)),
    "deconvolution": (_filtered("conv2d_transpose", [8, 8, 2, 2], stride=2), (1, 8, 6, 6), (1, 8, 12, 12)),
    "inner_product": (_filtered("linear", [32, 16]), (4, 32), (4, 16)),
    "matmul": (lambda x, _: paddle.matmul(x, x, transpose_y=True), (2, 3, 6, 16), (2, 3, 6, 6)),
    "pooling": (lambda x, _: _functional().avg_pool2d(x, 2, 2), (1, 8, 8, 8), (1, 8, 4, 4)),
    "reduction": (lambda x, _: paddle.mean(x, axis=[2, 3], keepdim=True), (2, 8, 6, 6), (2, 8, 1, 1)),
}
"""Name -> (builder, shape of the input, shape of the result)."""

SEQUENTIAL: Mapping[str, tuple[Callable[[Any, float], Any], tuple[int, ...], tuple[int, ...]]] = {
    "convolution_1d": (_filtered("conv1d", [8, 8, 3], padding=1), (1, 8, 10), (1, 8, 10)),
    "depthwise_convolution_1d": (_filtered("conv1d", [8, 1, 3], padding=1, groups=8), (1, 8, 10), (1, 8, 10)),
    "deconvolution_1d": (_filtered("conv1d_transpose", [8, 8, 2], stride=2), (1, 8, 6), (1, 8, 12)),
    "reduction_1d": (lambda x, _: paddle.mean(x, axis=2), (2, 8, 6), (2, 8)),
}
"""The same of sequences, convolved as Paddle writes it: unsqueeze, one of images, squeeze; with some post-ops."""


# --- post-ops ---------------------------------------------------------------------------------------------------------

ELTWISE: Mapping[str, PostOp] = {
    "relu": lambda x: _functional().relu(x),
    "leaky_relu": lambda x: _functional().leaky_relu(x, 0.1),
    "elu": lambda x: _functional().elu(x, 0.7),
    "relu6": lambda x: _functional().relu6(x),
    "clip": lambda x: paddle.clip(x, -0.2, 0.3),
    "swish": lambda x: _functional().swish(x),
    "silu": lambda x: _functional().silu(x),
    "x_times_sigmoid": lambda x: x * _functional().sigmoid(x),
    "hard_swish": lambda x: _functional().hardswish(x),
    "hard_sigmoid": lambda x: _functional().hardsigmoid(x),
    "hard_sigmoid_0.2": lambda x: _functional().hardsigmoid(x, slope=0.2, offset=0.5),
    "mish": lambda x: _functional().mish(x),
    "gelu_erf": lambda x: _functional().gelu(x),
    "gelu_tanh": lambda x: _functional().gelu(x, approximate=True),
    "tanh": lambda x: paddle.tanh(x),
    "sigmoid": lambda x: _functional().sigmoid(x),
    "sqrt": lambda x: paddle.sqrt(x),
    "square": lambda x: paddle.square(x),
    "abs": lambda x: paddle.abs(x),
    "exp": lambda x: paddle.exp(x),
    "pow": lambda x: paddle.pow(x, 3.0),
    "round": lambda x: paddle.round(x),
    "softplus": lambda x: _functional().softplus(x),
    "linear": lambda x: paddle.scale(x, 1.5, 0.25),
}
"""Every function of oneDNN's eltwise post-op that Paddle has an operator for."""

_AFFINE: Mapping[str, PostOp] = {
    "multiply_number": lambda x: x * 1.7,
    "add_number": lambda x: x + 0.7,
    "divide_number": lambda x: x / 1.7,
    "subtract_from_number": lambda x: 0.7 - x,
    "multiply_channel": lambda x: x * _per_channel(x),
    "add_channel": lambda x: x + _per_channel(x),
    "subtract_channel": lambda x: x - _per_channel(x),
    "divide_channel": lambda x: x / _per_channel(x, 0.5),
    "multiply_element": lambda x: x * weight(x.shape, seed=3),
    "add_element": lambda x: x + weight(x.shape, seed=3),
    "maximum_channel": lambda x: paddle.maximum(x, _per_channel(x)),
    "prelu_tensor": lambda x: _functional().prelu(x, weight([1], low=0.1)),
    "prelu_channel": lambda x: _functional().prelu(x, weight([x.shape[1]], low=0.1)),
    "batch_norm": lambda x: _batch_norm(x),
    "batch_norm_relu": lambda x: _functional().relu(_batch_norm(x)),
    "scale_relu_scale": lambda x: paddle.scale(_functional().relu(paddle.scale(x, 1.5, 0.25)), 0.5, 0.1),
    "relu_batch_norm": lambda x: _batch_norm(_functional().relu(x)),
}

_RESIDUAL: Mapping[str, Callable[[Any, Any], Any]] = {
    "sum": lambda x, other: x + other,
    "sum_relu": lambda x, other: _functional().relu(x + other),
    "sum_swish": lambda x, other: _functional().swish(other + x),
    "relu_sum": lambda x, other: _functional().relu(x) + other,
    "tanh_sum_scale_shift": lambda x, other: paddle.scale(paddle.tanh(x) + other, 1.5, 0.25),
    "multiply_tensor": lambda x, other: x * other,
}
"""With a second input as large as the result."""

_OF_SEQUENCES = (
    *("relu", "leaky_relu", "swish", "gelu_erf"),
    *("linear", "multiply_channel", "batch_norm", "batch_norm_relu"),
)


def _per_channel(x, low=-0.5):
    shape = [1] * len(x.shape)
    axis = -1 if x.shape[-1] == x.shape[-2] == 6 else 1  # a matrix product has its channels last
    shape[axis] = x.shape[axis]
    return weight(shape, low=low, seed=2)


def _batch_norm(x):
    channels = x.shape[1]
    mean, variance = weight([channels], seed=4), weight([channels], low=0.2, seed=5)
    for statistic in (mean, variance):
        statistic.stop_gradient = True
    return _functional().batch_norm(x, mean, variance, weight([channels], low=0.3, seed=6), weight([channels], seed=7))


def _chain(primitive: str, name: str, step: Callable[..., Any], low: float = -1.0, residual: bool = False) -> Op:
    source, shape, results = {**PRIMITIVES, **SEQUENTIAL}[primitive]

    def build(x, other=None):
        y = source(x, max(low, -0.5))
        return step(y) if other is None else step(y, other)

    inputs = {"x": tensor(shape, low=low, high=1.0)} | ({"other": tensor(results)} if residual else {})
    return Op(f"{primitive}-{name}", build, case(**inputs))


def _pair(side: int) -> Op:
    def build(x):
        functional = paddle.nn.functional
        x = functional.relu(functional.conv2d(x, weight([32, 8, 1, 1]), weight([32], seed=1)))
        return functional.relu(functional.conv2d(x, weight([32, 1, 3, 3]), weight([32], seed=2), padding=1, groups=32))

    return Op(f"convolution-relu_depthwise_relu_{side}", build, case(x=tensor([1, 8, side, side])))


def _chains() -> list[Op]:
    chains = [_pair(10), _pair(512)]
    for primitive in PRIMITIVES:
        for name, step in {**ELTWISE, **_AFFINE}.items():
            chains.append(_chain(primitive, name, step, 0.1 if name == "sqrt" else -1.0))
        chains += [_chain(primitive, name, step, residual=True) for name, step in _RESIDUAL.items()]
    steps = {**ELTWISE, **_AFFINE}
    for primitive in SEQUENTIAL:
        chains += [_chain(primitive, name, steps[name]) for name in _OF_SEQUENCES]
        chains += [_chain(primitive, name, _RESIDUAL[name], residual=True) for name in ("sum", "sum_relu")]
    return chains


CHAINS: list[Op] = _chains()
