"""Activation functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gen_models.harness.building import function, operator
from gen_models.harness.marks import COMPLEX_HERE, F64, LEGACY, NEW_KERNEL, TAIL, legacy, pir
from gen_models.harness.spec import Case, Op, TensorSpec, case, tensor

COMPLEX = [
    case(x=tensor(sizes, "complex64", dims=dims), **pir("Paddle 2.6 takes no complex numbers"))
    for sizes, dims in (([3, 4], None), ([3, 4], [-1, 4]), ([], None))
]


SIZES = [10.0**k for k in range(-30, 31)]
"""Magnitudes from very small to very large."""


PLANE = tensor([2, 9], "complex64", low=-4, high=4, dims=[-1, 9])
"""Complex numbers far from the origin as well."""
ON_CUTS = tensor([8], "complex64", values=[0, 0.5, -0.5, 2, -2, 2j, 3 + 1e-4j, 1e-4 - 1e-4j])

WIDE = tensor([6], "complex64", values=[100 + 1j, -100 + 1j, 0.5 + 100j, 30 - 2j, 1e30 + 1e10j, 1e-20 + 3j])
"""Those whose hyperbolic sines or sines are infinite."""


def inputs(low: float = -4, high: float = 4) -> list[TensorSpec]:
    """Shapes that every function of one tensor must take."""
    return [
        tensor([2, 3, 4], low=low, high=high),
        tensor([3, 7], low=low, high=high, dims=[-1, 7]),
        tensor([1, 2, 3, 4], low=low, high=high, dims=[-1, 2, -1, -1]),
        tensor([5], low=low, high=high),
        tensor([], low=low, high=high),
    ]


def unary(
    name: str,
    called: str,
    *attributes: dict[str, Any],
    low: float = -4,
    high: float = 4,
    module: str = "nn.functional",
    more: list[Case] | None = None,
    tolerance: dict[str, Any] | None = None,
    build: Callable[..., Any] | None = None,
    **marks: Any,
) -> Op:
    """An operator of one tensor: all shapes with the default attributes, one shape with each other set of them."""
    tolerance = tolerance or {}
    cases = [case(x=x, **tolerance) for x in inputs(low, high)]
    cases += [case(x=tensor([2, 3, 4], low=low, high=high), **each, **tolerance) for each in attributes]
    cases.append(case(x=tensor([3, 4], "float64", low, high), **{**F64, **tolerance}))

    build = build or function(f"{module}.{called}" if module else called)
    return Op(name, build, *cases, *(more or []), **marks)


def _each(name: str, *values: float) -> list[dict[str, float]]:
    return [{name: value} for value in values]


_SPECIAL = tensor([7], values=[-math.inf, math.inf, 0.0, -0.0, 100.0, -100.0, 1e-6])
_LARGE = tensor([5], values=[-100.0, -20.0, 19.0, 21.0, 90.0])


_TAILS = [-100.0, -60.0, -40.0, -25.0, -18.0, -16.0, -14.0, -12.0, -10.0, -8.0]


def _without_attributes(op_type, path):
    """Paddle's function takes no attributes; those of a legacy operator are in the program."""

    def build(x, **attributes):
        return (operator(op_type) if attributes else function(path))(x=x, **attributes)

    return build


OPS = [
    unary("relu", "relu", more=[case(x=_SPECIAL), case(x=tensor([3], values=[math.nan, 1.0, -1.0]))]),
    unary(
        "relu6",
        "relu6",
        low=-3,
        high=9,
        more=[case(x=tensor([3, 4], low=-3, high=9), threshold=4.0, **LEGACY)],
        build=_without_attributes("relu6", "nn.functional.relu6"),
    ),
    unary("leaky_relu", "leaky_relu", *_each("negative_slope", 0.3, 0.0, 1.0, 2.5, -0.5)),
    unary("elu", "elu", *_each("alpha", 0.2, 2.0, -0.7)),
    # Paddle's function refuses an alpha of 0, its operator does not.
    unary("celu", "celu", *_each("alpha", 0.2, 2.0, -0.7, 0.0), build=operator("celu", alpha=1.0)),
    unary("selu", "selu", {"scale": 1.5, "alpha": 1.2}, {"alpha": 0.0}),
    unary(
        "gelu",
        "gelu",
        *_each("approximate", True, False),
        more=[case(x=tensor([2, 300], low=-8, high=8), approximate=flag) for flag in (True, False)],
    ),
    unary("sigmoid", "sigmoid", more=[case(x=_SPECIAL), case(x=_LARGE), case(x=tensor([3, 4], "complex64"))]),
    unary("tanh", "tanh", module="", more=[case(x=_SPECIAL), *COMPLEX, case(x=WIDE, **COMPLEX_HERE)]),
    unary("silu", "silu", more=[case(x=_LARGE), case(x=tensor([3, 4], "complex64", dims=[-1, 4]))]),
    unary(
        "swish",
        "swish",
        more=[case(x=_LARGE), case(x=_LARGE, beta=0.1, **LEGACY)],
        build=_without_attributes("swish", "nn.functional.swish"),
    ),
    unary("mish", "mish", low=-30, high=30),
    unary("softsign", "softsign", more=[case(x=PLANE, **COMPLEX_HERE)]),
    unary("tanh_shrink", "tanhshrink"),
    unary(
        "logsigmoid",
        "log_sigmoid",
        more=[
            case(x=_LARGE),
            case(x=tensor([10], values=[-x for x in _TAILS]), **TAIL),
            case(x=PLANE, **COMPLEX_HERE),
        ],
    ),
    unary(
        "softplus",
        "softplus",
        {"beta": 2.0},
        {"threshold": 1.0},
        {"beta": 0.5, "threshold": 0.7},
        {"beta": 3.0, "threshold": 40.0},
        {"beta": -1.0},
        {"threshold": -1.0},
        more=[
            case(x=_LARGE),
            case(x=_LARGE, beta=2.0),
            case(x=tensor([10], values=_TAILS), **TAIL),
            case(x=tensor([10], values=_TAILS), beta=0.5, threshold=1.0, **TAIL),
            case(x=PLANE, beta=2.0, threshold=1.0, **COMPLEX_HERE),
            case(x=_LARGE, beta=0.0),
            case(x=_LARGE, beta=1e38),
        ],
    ),
    unary("softshrink", "softshrink", {"threshold": 0.0}, {"threshold": 1.5}),
    unary(
        "hard_shrink",
        "hardshrink",
        *_each("threshold", 0.0, 1.5, -1.0),
        more=[
            case(
                x=tensor([5], values=[0.5, -0.5, 0.25, 1.0, -1.0]),
                **legacy("Paddle 3.3.1 keeps what equals the threshold, against its documentation"),
            )
        ],
    ),
    unary(
        "thresholded_relu",
        "thresholded_relu",
        *_each("threshold", 0.0, -1.5),
        more=[
            case(x=tensor([3, 4]), threshold=0.5, value=-2.0, **NEW_KERNEL),
            case(x=tensor([3], values=[1.0, 0.5, 2.0])),
        ],
    ),
    unary(
        "stanh",
        "stanh",
        {"scale_a": 1.5, "scale_b": 0.3},
        module="",
        more=[case(x=PLANE, scale_a=0.5, **COMPLEX_HERE)],
    ),
    unary("brelu", "hardtanh", {"min": -2.0, "max": 0.5}, {"min": 0.5, "max": 3.0}),
    unary(
        "hard_sigmoid",
        "hardsigmoid",
        {"slope": 0.2, "offset": 0.5},
        {"slope": 0.0, "offset": 0.3},
        {"slope": 0.0, "offset": 2.0},
        {"slope": 1.0, "offset": 0.0},
        {"slope": -0.5, "offset": 0.1},
        {"slope": 1 / 6, "offset": 0.25},
        low=-5,
        high=5,
    ),
    Op(
        "hard_swish",
        _without_attributes("hard_swish", "nn.functional.hardswish"),
        *[case(x=x) for x in inputs(-5, 5)],
        case(x=tensor([3, 4], low=-5, high=5), threshold=4.0, scale=5.0, offset=2.0, **LEGACY),
        case(x=tensor([3, 4], "float64", -5, 5), **F64),
        case(x=PLANE, **COMPLEX_HERE),
    ),
    Op(
        "soft_relu",
        operator("soft_relu"),
        case(x=tensor([3, 4], low=-5, high=5), threshold=40.0, **LEGACY),
        case(x=tensor([3, 4], low=-5, high=5, dims=[-1, 4]), threshold=2.0, **LEGACY),
        case(x=tensor([10], values=_TAILS), threshold=40.0, **{**TAIL, **LEGACY}),
    ),
]
