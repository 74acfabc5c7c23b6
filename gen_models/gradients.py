"""Gradients: a case calls a function of Paddle and returns what `paddle.static.gradients` appends for it.

What a gradient is given is computed from the function's result, so that gradients of higher order differentiate it too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gen_models import activation, matmul, reduction, shape as reshaping
from gen_models.harness.building import function, legacy_op, operator
from gen_models.harness.marks import LEGACY, NEW, OLD, pir
from gen_models.harness.spec import Case, Op, case, paddle, tensor


def gradient(name: str, forward: Callable[..., Any], *cases: Case, order: int = 1, **marks: Any) -> Op:
    """The operator that Paddle appends as it differentiates a function of tensors, by all that are floating point."""

    def build(**arguments):
        return differentiate(forward, arguments, order)

    build.__module__ = forward.__module__ if forward.__module__.startswith(__name__) else __name__
    return Op(name, build, *cases, **marks)


def differentiate(forward: Callable[..., Any], arguments: dict[str, Any], order: int) -> list[Any]:
    """The gradients of an order."""
    flat = [
        item for argument in arguments.values() for item in (argument if isinstance(argument, list) else [argument])
    ]
    inputs = [item for item in flat if hasattr(item, "stop_gradient") and "FLOAT" in str(item.dtype).upper()]
    for value in inputs:
        value.stop_gradient = False
    results = forward(**arguments)
    targets = list(results) if isinstance(results, list | tuple) else [results]
    for _ in range(order):
        seeds = [paddle.scale(target, 0.7, 0.3) for target in targets]
        gradients = paddle.static.gradients(targets, inputs, seeds)
        targets = [gradient for gradient in gradients if gradient is not None]
    return targets


def _built(module, name):
    """What builds the cases of an operator in another module."""
    operator: Op = next(op for op in module.OPS if op.name == name)
    return operator.build


def _unary(
    name: str,
    path: str,
    *attributes: dict[str, Any],
    low: float = -2,
    high: float = 2,
    values: list[float] | None = None,
    order: int = 1,
    always: dict[str, Any] | None = None,
    **marks: Any,
) -> Op:
    """A function of one tensor, at the given values and others, with each set of attributes."""
    always = always or {}
    x = tensor([2, 3], low=low, high=high, dims=[-1, 3])
    if values is not None:
        x = tensor([len(values) + 2], values=[*values, 0.7 * low, 0.6 * high], dims=[-1])
    cases = [case(x=x, **always), *(case(x=x, **{**always, **each}) for each in attributes)]
    return gradient(name, function(path), *cases, order=order, **marks)


def _ignoring(name: str, values: list[float], **attributes: float) -> Op:
    """A function whose kernels ignore the attributes of legacy programs."""
    x = tensor([len(values)], values=values, dims=[-1])
    return gradient(f"{name}_grad", _built(activation, name), case(x=x), case(x=x, **attributes, **LEGACY))


_F = "nn.functional."
PADDLE_3 = pir("other gradients of what is equal, or 0, than Paddle 2 has")
_AT_ZERO = [-1.0, 0.0, 1.0]

UNARY = [
    _unary("abs_grad", "abs", values=_AT_ZERO),
    _unary("abs_double_grad", "abs", order=2),
    _unary("acos_grad", "acos", low=-0.9, high=0.9),
    _unary("acosh_grad", "acosh", low=1.1, high=3),
    _unary("asin_grad", "asin", low=-0.9, high=0.9),
    _unary("asinh_grad", "asinh"),
    _unary("atan_grad", "atan"),
    _unary("atanh_grad", "atanh", low=-0.9, high=0.9),
    _unary("brelu_grad", _F + "hardtanh", {"min": -0.5, "max": 0.7}, values=_AT_ZERO),
    _unary("ceil_grad", "ceil"),
    _unary("celu_grad", _F + "celu", {"alpha": 0.3}, values=_AT_ZERO),
    _unary("celu_grad_grad", _F + "celu", {"alpha": 0.3}, order=2),
    _unary("clip_grad", "clip", {"min": -0.5, "max": 0.7}, {"min": 0.5}, values=_AT_ZERO),
    _unary("clip_double_grad", "clip", {"min": -0.5, "max": 0.7}, order=2),
    _unary("cos_grad", "cos"),
    _unary("cos_double_grad", "cos", order=2),
    _unary("cos_triple_grad", "cos", order=3),
    _unary("cosh_grad", "cosh"),
    _unary("elu_grad", _F + "elu", {"alpha": 0.3}, {"alpha": -0.3}, values=_AT_ZERO),
    _unary("elu_grad_grad", _F + "elu", {"alpha": 0.3}, order=2),
    _unary("erf_grad", "erf"),
    _unary("erfinv_grad", "erfinv", low=-0.9, high=0.9),
    _unary("exp_grad", "exp"),
    _unary("expm1_grad", "expm1"),
    _unary("floor_grad", "floor"),
    _unary("gelu_grad", _F + "gelu", {"approximate": True}),
    _unary("hard_shrink_grad", _F + "hardshrink", {"threshold": 0.3}),
    _unary("hard_sigmoid_grad", _F + "hardsigmoid", {"slope": 0.3, "offset": 0.1}, low=-5, high=5),
    _ignoring("hard_swish", [-3.0, 3.0, 0.0, -4.0, 3.9], threshold=4.0, scale=5.0, offset=2.0),
    _unary("leaky_relu_grad", _F + "leaky_relu", {"negative_slope": 0.3}, values=_AT_ZERO),
    _unary("leaky_relu_grad_grad", _F + "leaky_relu", {"negative_slope": 0.3}, order=2),
    _unary("log10_grad", "log10", low=0.2),
    _unary("log1p_grad", "log1p", low=-0.8),
    _unary("log2_grad", "log2", low=0.2),
    _unary("log_grad", "log", low=0.2),
    _unary("log_grad_grad", "log", low=0.2, order=2),
    _unary("logit_grad", "logit", {"eps": 0.2}, low=0.05, high=0.95),
    _unary("logsigmoid_grad", _F + "log_sigmoid", values=[-90.0, -20.0, 20.0]),
    _unary("mish_grad", _F + "mish", values=[-15.0, 21.0]),
    _unary("pow_grad", "pow", {"y": 2.0}, {"y": 1.0}, low=0.3, always={"y": 3.0}),
    _unary("pow_double_grad", "pow", {"y": 2.0}, {"y": 2.5}, low=0.3, order=2, always={"y": 3.0}),
    _unary("pow_triple_grad", "pow", {"y": 2.0}, {"y": 3.5}, low=0.3, order=3, always={"y": 3.0}),
    _unary("reciprocal_grad", "reciprocal", low=0.3),
    _ignoring("relu6", [0.0, 6.0, 1.0, -2.0, 8.0], threshold=4.0),
    _unary("relu_grad", _F + "relu", values=_AT_ZERO),
    _unary("relu_grad_grad", _F + "relu", order=2),
    _unary("rint_grad", "_C_ops.rint", **NEW),
    _unary("round_grad", "round"),
    _unary("rsqrt_grad", "rsqrt", low=0.3),
    _unary("rsqrt_grad_grad", "rsqrt", low=0.3, order=2),
    _unary("selu_grad", _F + "selu", {"scale": 1.5, "alpha": 1.2}, values=_AT_ZERO),
    _unary("sigmoid_grad", _F + "sigmoid"),
    _unary("sigmoid_grad_grad", _F + "sigmoid", order=2),
    _unary("sigmoid_triple_grad", _F + "sigmoid", order=3),
    _unary("silu_grad", _F + "silu", values=[-20.0, 20.0]),
    _unary("sin_grad", "sin"),
    _unary("sin_double_grad", "sin", order=2),
    _unary("sin_triple_grad", "sin", order=3),
    _unary("sinh_grad", "sinh"),
    _unary("softplus_grad", _F + "softplus", {"beta": 2.0, "threshold": 1.0}),
    _unary("softplus_double_grad", _F + "softplus", {"beta": 2.0, "threshold": 1.0}, order=2),
    _unary("softshrink_grad", _F + "softshrink", {"threshold": 0.3}, values=[-0.5, 0.5, 0.0]),
    _unary("softsign_grad", _F + "softsign"),
    _unary("sqrt_grad", "sqrt", low=0.3),
    _unary("sqrt_grad_grad", "sqrt", low=0.3, order=2),
    _unary("square_grad", "square"),
    _unary("square_grad_grad", "square", order=2),
    _unary("stanh_grad", "stanh", {"scale_a": 1.5, "scale_b": 0.3}),
    _ignoring("swish", [-1.4, 0.0, 1.2], beta=2.0),
    _unary("tan_grad", "tan", low=-1, high=1),
    _unary("tanh_grad", "tanh"),
    _unary("tanh_grad_grad", "tanh", order=2),
    _unary("tanh_shrink_grad", _F + "tanhshrink"),
    _unary("tanh_triple_grad", "tanh", order=3),
    _unary("thresholded_relu_grad", _F + "thresholded_relu", {"threshold": 0.3}, values=_AT_ZERO),
    _unary("trunc_grad", "trunc"),
]


def _pair(low: float = -2, high: float = 2) -> list[Case]:
    """Two tensors that broadcast, in both directions and with dimensions of which it is not known whether they do."""
    x, y = tensor([2, 3], low=low, high=high, dims=[-1, 3]), tensor([3], low=low, high=high)
    row, column = (tensor(shape, low=low, high=high, dims=[-1, shape[1]]) for shape in ([1, 3], [2, 1]))
    return [case(x=x, y=y), case(x=row, y=column)]


def _on_axis(x, y, *, name):
    return legacy_op(f"elementwise_{name}", {"X": x, "Y": y}, {"Out": x.dtype}, {"axis": 1})


def _binary(
    name: str, forward: Any, order: int = 1, low: float = -2, high: float = 2, more: Any = None, **marks: Any
) -> Op:
    """A function of two tensors that broadcast."""
    return gradient(name, forward, *_pair(low, high), *(more or []), order=order, **marks)


def _xy(path, **attributes):
    return lambda x, y, axis=None: function(path)(x, y, **attributes) if axis is None else _on_axis(x, y, name=axis)


_AXIS = {
    name: [case(x=tensor([2, 3, 2]), y=tensor([3], low=0.5, high=2), axis=name, **LEGACY)]
    for name in ("add", "mul", "div")
}
_TIES = [case(x=tensor([3], values=[1.0, 2.0, 3.0]), y=tensor([3], values=[1.0, 3.0, 2.0]))]
_TIES_3 = [replace(tie, **PADDLE_3) for tie in _TIES]

_TENSOR = tensor([2, 3, 2], low=0.3, high=2, dims=[-1, 3, 2])

ELEMENTWISE = [
    _binary("elementwise_add_grad", _xy("add"), more=_AXIS["add"]),
    _binary("elementwise_add_grad_grad", _xy("add"), order=2),
    gradient("elementwise_add_triple_grad", _xy("add"), case(x=_TENSOR, y=_TENSOR), order=3),
    _binary("elementwise_div_grad", _xy("divide"), low=0.5, more=_AXIS["div"]),
    _binary("elementwise_div_grad_grad", _xy("divide"), order=2, low=0.5),
    _binary("elementwise_fmax_grad", _xy("fmax"), more=_TIES),
    _binary("elementwise_fmin_grad", _xy("fmin"), more=_TIES),
    gradient("elementwise_heaviside_grad", _xy("heaviside"), _pair()[0]),
    _binary("elementwise_max_grad", _xy("maximum"), more=_TIES_3),
    _binary("elementwise_min_grad", _xy("minimum"), more=_TIES_3),
    _binary("elementwise_mod_grad", _xy("remainder"), low=0.5, **NEW),
    _binary("elementwise_mul_grad", _xy("multiply"), more=_AXIS["mul"]),
    _binary("elementwise_mul_grad_grad", _xy("multiply"), order=2, more=_AXIS["mul"]),
    # Paddle does not sum what it gives to an operand that was broadcast.
    gradient("elementwise_mul_triple_grad", _xy("multiply"), case(x=_TENSOR, y=_TENSOR), order=3),
    _binary(
        "elementwise_pow_grad",
        _xy("pow"),
        low=0.3,
        more=[case(x=tensor([3], values=[0.0, 0.0, 2.0]), y=tensor([3], values=[0.0, 2.0, 0.0]), **PADDLE_3)],
    ),
    _binary("elementwise_sub_grad", _xy("subtract")),
    _binary("elementwise_sub_grad_grad", _xy("subtract"), order=2),
    _binary("copysign_grad", _xy("copysign"), **NEW),
    gradient("lerp_grad", function("lerp"), case(x=tensor([2, 3]), y=tensor([3]), weight=tensor([1]))),
    gradient(
        "where_grad",
        function("where"),
        case(
            condition=tensor([2, 3], "bool", dims=[-1, 3]),
            x=tensor([2, 3], dims=[-1, 3]),
            y=tensor([2, 3], dims=[-1, 3]),
        ),
    ),
]


_PRODUCTS = [
    case(x=tensor([2, 3, 4], dims=[-1, 3, 4]), y=tensor([4, 2])),
    case(x=tensor([2, 4, 3]), y=tensor([1, 2, 4]), transpose_x=True, transpose_y=True),
    case(x=tensor([4, 3], dims=[4, -1]), y=tensor([4, 2]), transpose_x=True),
    case(x=tensor([3, 4]), y=tensor([2, 2, 4], dims=[-1, 2, 4]), transpose_y=True),
    case(x=tensor([4]), y=tensor([2, 4, 3])),
    case(x=tensor([2, 3, 4], dims=[-1, 3, 4]), y=tensor([4])),
    case(x=tensor([4]), y=tensor([4])),
]


PRODUCTS = [
    gradient("matmul_v2_grad", function("matmul"), *_PRODUCTS),
    gradient("matmul_v2_grad_grad", function("matmul"), *_PRODUCTS[:4], order=2),
    gradient("matmul_v2_triple_grad", function("matmul"), *_PRODUCTS[:2], order=3),
    gradient(
        "matmul_grad",
        operator("matmul", {"x": "X", "y": "Y"}),
        case(x=tensor([2, 3, 4]), y=tensor([2, 5, 4]), alpha=0.5, transpose_Y=True, **LEGACY),
    ),
    gradient(
        "mul_grad",
        _built(matmul, "mul"),
        case(x=tensor([2, 3, 2, 2], dims=[-1, 3, 2, 2]), y=tensor([12, 5])),
        case(x=tensor([2, 3, 4], dims=[-1, -1, 4]), y=tensor([4, 5]), x_num_col_dims=2),
    ),
    gradient("bmm_grad", _xy("bmm"), case(x=tensor([2, 3, 4], dims=[-1, 3, 4]), y=tensor([2, 4, 5], dims=[-1, 4, 5]))),
    gradient(
        "dot_grad",
        _xy("dot"),
        case(x=tensor([2, 3], dims=[-1, 3]), y=tensor([2, 3], dims=[-1, 3])),
        case(x=tensor([3]), y=tensor([3])),
    ),
    gradient("mv_grad", function("mv"), case(x=tensor([2, 3], dims=[-1, 3]), vec=tensor([3]))),
    gradient(
        "addmm_grad",
        function("addmm"),
        case(input=tensor([2, 5]), x=tensor([2, 3]), y=tensor([3, 5]), beta=0.5, alpha=2.0),
        case(input=tensor([1, 5]), x=tensor([2, 3], dims=[-1, 3]), y=tensor([3, 5])),
    ),
    gradient(
        "baddbmm_grad",
        function("baddbmm"),
        case(input=tensor([2, 2, 5]), x=tensor([2, 2, 3]), y=tensor([2, 3, 5]), beta=0.5, alpha=2.0, **NEW),
    ),
]

_ALL_TIED = tensor([2, 3], values=[[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])


def _reduced(name: str, path: str, *more: Case, first: Any = None, **attributes: Any) -> Op:
    """A reduction: over one axis, over two that stay, over all."""
    cases = [case(x=_TENSOR, axis=1), case(x=_TENSOR, axis=[-1, 0], keepdim=True), case(x=_TENSOR)]
    return gradient(name, function(path), *cases, *more)


REDUCTIONS = [
    _reduced("reduce_sum_grad", "sum"),
    _reduced("reduce_mean_grad", "mean"),
    _reduced("reduce_max_grad", "max", case(x=_ALL_TIED, axis=1, **PADDLE_3)),
    _reduced("reduce_min_grad", "min", case(x=_ALL_TIED, axis=1, **PADDLE_3)),
    _reduced("reduce_amax_grad", "amax", case(x=_ALL_TIED, axis=1)),
    _reduced("reduce_amin_grad", "amin", case(x=_ALL_TIED)),
    _reduced("reduce_prod_grad", "prod"),
    _reduced("logsumexp_grad", "logsumexp"),
    gradient("mean_grad", _built(reduction, "mean"), case(x=_TENSOR), case(x=tensor([]))),
    gradient(
        "frobenius_norm_grad",
        function("linalg.norm"),
        case(x=_TENSOR, p="fro", axis=[1, 2]),
        case(x=_TENSOR, p="fro", axis=[0, 1], keepdim=True),
    ),
    gradient(
        "p_norm_grad",
        function("linalg.norm"),
        *(case(x=_TENSOR, p=p, axis=1) for p in (math.inf, 2.0, 3.0, 1.0)),
        case(x=_TENSOR, p=0, axis=1),
        case(x=_TENSOR, p=2.0, axis=-1, keepdim=True),
        case(x=_TENSOR, p=2.0),
    ),
    gradient("squared_l2_norm_grad", _built(reduction, "squared_l2_norm"), case(x=_TENSOR)),
    gradient("l1_norm_grad", _built(reduction, "l1_norm"), case(x=_TENSOR)),
    gradient("reduce_as_grad", function("reduce_as"), case(x=_TENSOR, target=tensor([3, 1], "int64"), **NEW)),
    gradient(
        "cumsum_grad",
        function("cumsum"),
        *(case(x=_TENSOR, axis=1), case(x=_TENSOR), case(x=_TENSOR, axis=-1), case(x=tensor([]), axis=0)),
    ),
]

_ONE = tensor([2, 1, 3], dims=[-1, 1, 3])

SHAPES = [
    gradient("reshape2_grad", function("reshape"), case(x=_TENSOR, shape=[-1, 6]), case(x=tensor([]), shape=[1])),
    gradient("reshape2_grad_grad", function("reshape"), case(x=_TENSOR, shape=[-1, 6]), order=2),
    gradient("squeeze2_grad", function("squeeze"), case(x=_ONE, axis=1)),
    gradient("unsqueeze2_grad", function("unsqueeze"), case(x=_TENSOR, axis=[0, 2])),
    gradient("flatten_contiguous_range_grad", function("flatten"), case(x=_TENSOR, start_axis=1)),
    gradient("flatten2_grad", _built(reshaping, "flatten2"), case(x=_TENSOR, axis=1, **OLD)),
    gradient("transpose2_grad", function("transpose"), case(x=_TENSOR, perm=[2, 0, 1])),
    gradient(
        "concat_grad",
        function("concat"),
        case(x=[tensor([2, 3], dims=[-1, 3]), tensor([4, 3])], axis=0),
        case(x=[_TENSOR, _TENSOR], axis=-1),
    ),
    gradient(
        "stack_grad", function("stack"), case(x=[_TENSOR, _TENSOR], axis=1), case(x=[tensor([]), tensor([])], axis=0)
    ),
    gradient("unstack_grad", function("unstack"), case(x=_TENSOR, axis=1)),
    gradient(
        "slice_grad",
        function("slice"),
        case(x=_TENSOR, axes=[1, 2], starts=[-2, 0], ends=[5, 1]),
        case(x=_TENSOR, axes=[0], starts=[1], ends=[9]),
    ),
    gradient(
        "strided_slice_grad",
        function("strided_slice"),
        case(x=_TENSOR, axes=[1], starts=[0], ends=[3], strides=[2]),
        case(x=_TENSOR, axes=[1, 2], starts=[-1, 0], ends=[-4, 2], strides=[-2, 1]),
    ),
    gradient("expand_v2_grad", function("expand"), case(x=_ONE, shape=[4, -1, 5, 3]), case(x=tensor([]), shape=[2])),
    gradient("expand_as_v2_grad", function("expand_as"), case(x=tensor([1, 3]), y=tensor([4, 2, 3], "int64"))),
    gradient(
        "broadcast_tensors_grad", function("broadcast_tensors"), case(x=[tensor([2, 1], dims=[-1, 1]), tensor([3])])
    ),
    gradient(
        "tile_grad",
        function("tile"),
        case(x=_TENSOR, repeat_times=[2, 1, 3]),
        case(x=tensor([2]), repeat_times=[3, 2]),
        case(x=tensor([]), repeat_times=[]),
    ),
    gradient("roll_grad", function("roll"), case(x=_TENSOR, shifts=[1, -2], axis=[0, 1]), case(x=_TENSOR, shifts=2)),
    gradient("tril_triu_grad", function("tril"), case(x=_TENSOR, diagonal=1, **LEGACY)),
    gradient("tril_grad", function("tril"), case(x=_TENSOR, diagonal=1, **NEW)),
    gradient("triu_grad", function("triu"), case(x=_TENSOR, diagonal=-1, **NEW)),
    gradient(
        "pad_grad", function("nn.functional.pad"), case(x=tensor([2, 3], dims=[-1, 3]), pad=[1, 0, 2, 1], value=0.5)
    ),
    gradient(
        "dropout_grad",
        function("nn.functional.dropout"),
        case(x=_TENSOR, p=0.3, training=False),
        case(x=_TENSOR, p=0.3, training=False, mode="downscale_in_infer"),
    ),
]
OPS = [*UNARY, *ELEMENTWISE, *PRODUCTS, *REDUCTIONS, *SHAPES]
