"""Losses against labels, and how many labels are right."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from gen_models.harness.building import any_op, is_pir, legacy_op
from gen_models.harness.marks import TAIL
from gen_models.harness.spec import Case, Op, case, paddle, tensor
from gen_models.harness.strategies import dynamic_tensor, flag, integer, one_of, shape


def _nll(x: Any, label: Any, weight: Any = None, *, ignore_index: int = -100, reduction: str = "mean") -> Any:
    return paddle.nn.functional.nll_loss(x, label, weight, ignore_index, reduction)


def _nll_both(x: Any, label: Any, weight: Any, *, reduction: str) -> Any:
    """The loss and the sum of the weights, which no function returns."""
    inputs, outputs = {"X": x, "Label": label, "Weight": weight}, {"Out": x.dtype, "Total_weight": x.dtype}
    return list(any_op("nll_loss", inputs, outputs, {"ignore_index": -100, "reduction": reduction}))


def _nll_any(x: Any, label: Any, weight: Any = None, *, both: bool = False, **options: Any) -> Any:
    return (_nll_both if both else _nll)(x, label, weight, **options)


def _kldiv(x: Any, label: Any, *, reduction: str = "mean", log_target: bool = False) -> Any:
    if log_target:
        return paddle.nn.functional.kl_div(x, label, reduction, log_target)
    return paddle.nn.functional.kl_div(x, label, reduction)


def _sigmoid(
    x: Any, label: Any, weight: Any = None, *, pos_weight: Any = None, reduction: str = "none", **options: Any
) -> Any:
    if options:
        return paddle.nn.functional.sigmoid_focal_loss(x, label, reduction=reduction, **options)
    return paddle.nn.functional.binary_cross_entropy_with_logits(x, label, weight, reduction, pos_weight)


def _sigmoid_old(x: Any, label: Any, *, normalize: bool = False, ignore_index: int = -100) -> Any:
    if is_pir():
        return paddle._C_ops.sigmoid_cross_entropy_with_logits(x, label, None, normalize, ignore_index)
    attributes = {"normalize": normalize, "ignore_index": ignore_index}
    return legacy_op("sigmoid_cross_entropy_with_logits", {"X": x, "Label": label}, {"Out": x.dtype}, attributes)


def _sigmoid_any(x: Any, label: Any, **options: Any) -> Any:
    known = {"normalize", "ignore_index"}
    return (_sigmoid_old if known & options.keys() else _sigmoid)(x, label, **options)


def _hinge(logits: Any, labels: Any) -> Any:
    return any_op("hinge_loss", {"Logits": logits, "Labels": labels}, {"Loss": logits.dtype}, {})


def _classes(*sizes: int, high: int = 5, dims: Any = None) -> Any:
    return tensor(sizes, "int64", 0, high, dims=dims)


_CERTAIN = tensor(
    [4, 3], values=[[-math.inf, -0.5, -1.0], [-2.0, -math.inf, -0.1], [-1.0, -1.5, -0.5], [-math.inf, 0.0, -math.inf]]
)
"""Logarithms of probabilities, 0 among them."""
NLL = [
    *[case(x=tensor([6, 5]), label=_classes(6), reduction=name) for name in ("mean", "sum", "none")],
    *[
        case(x=tensor([6, 5]), label=_classes(6), weight=tensor([5], low=0), reduction=name)
        for name in ("mean", "none")
    ],
    case(x=tensor([4, 5], dims=[-1, 5]), label=tensor([4], "int64", values=[1, 2, 2, 0], dims=[-1]), ignore_index=2),
    case(x=tensor([2, 5]), label=tensor([2], "int64", values=[3, 3]), ignore_index=3),
    case(x=tensor([2, 5, 3, 4]), label=_classes(2, 3, 4)),
    case(x=tensor([2, 5, 3, 4]), label=_classes(2, 3, 4), weight=tensor([5], low=0), reduction="none", ignore_index=1),
    case(x=tensor([2, 5, 3]), label=_classes(2, 3), reduction="none"),
    *[
        case(x=_CERTAIN, label=tensor([4], "int64", values=[1, 0, 2, 1]), ignore_index=1, reduction=name)
        for name in ("mean", "none")
    ],
    *[
        case(x=tensor([6, 5]), label=_classes(6), weight=tensor([5], low=0), reduction=name, both=True)
        for name in ("mean", "sum", "none")
    ],
]
_NEW: dict[str, Any] = {"formats": ("pir",), "why": "Paddle 2.6 has no log_target"}
KLDIV = [
    *[
        case(x=tensor([3, 4]), label=tensor([3, 4], low=-0.2, high=1), reduction=name)
        for name in ("mean", "sum", "batchmean", "none")
    ],
    case(x=tensor([3, 4], dims=[-1, 4]), label=tensor([3, 4], low=0, dims=[-1, 4]), reduction="batchmean"),
    *[
        case(x=tensor([3, 4]), label=tensor([3, 4]), reduction=name, log_target=True, **_NEW)
        for name in ("sum", "none")
    ],
]
_LOGITS = tensor([7], values=[-50.0, -3.0, -0.0, 0.0, 1e-4, 3.0, 50.0])
SIGMOID = [
    case(x=tensor([3, 4], low=-5, high=5), label=tensor([3, 4], low=0)),
    case(x=_LOGITS, label=tensor([7], low=0)),
    case(x=tensor([3, 4], dims=[-1, 4]), label=tensor([3, 4], low=0, dims=[-1, 4]), reduction="mean"),
    case(x=tensor([3, 4]), label=tensor([3, 4], low=0), pos_weight=tensor([4], low=0, high=3)),
    case(x=_LOGITS, label=tensor([7], low=0), pos_weight=tensor([7], low=0, high=3), reduction="sum"),
    case(x=tensor([3, 4]), label=tensor([3, 4], low=0), weight=tensor([3, 4])),
    case(x=tensor([3, 4]), label=tensor([3, 4], low=0), gamma=1.5, alpha=0.3),
    case(x=tensor([6]), label=tensor([6], values=[0.0, 0.3, 1.0, 1.7, -0.4, 2.0]), ignore_index=0),
    case(x=tensor([6]), label=tensor([6], values=[0.0, 1.0, 1.0, 0.0, -1.0, -1.0]), ignore_index=-1, normalize=True),
    case(
        x=tensor([6], values=[-60.0, -20.0, -12.0, 12.0, 20.0, 60.0]),
        label=tensor([6], values=[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]),
        **TAIL,
    ),
]
HINGE = [
    case(logits=tensor([5, 1], low=-2, high=2), labels=tensor([5, 1], values=[0.0, 1.0, 1.0, 0.0, 1.0])),
    case(logits=tensor([4, 1], dims=[-1, 1]), labels=tensor([4, 1], values=[0.0, 1.0, 1.0, 0.0], dims=[-1, 1])),
]
IDENTITY = [case(x=tensor([3, 4], dims=[-1, 4]), reduction=name) for name in ("sum", "mean", "none")]
ACCURACY = [
    case(x=tensor([6, 5]), label=_classes(6, 1)),
    case(x=tensor([6, 5]), label=_classes(6, 1), k=3),
    case(x=tensor([6, 5], dims=[-1, 5]), label=_classes(6, 1, dims=[-1, 1]), k=2),
]


def _nll_random(draw: Any) -> Case:
    sizes, classes = [integer(draw, 1, 4) for _ in range(one_of(draw, 1, 3))], integer(draw, 1, 5)
    weight = {"weight": tensor([classes], low=0.1)} if flag(draw) else {}
    x = dynamic_tensor(draw, [sizes[0], classes, *sizes[1:]])
    reduction = one_of(draw, "mean", "sum", "none")
    # Where Paddle reduces pictures, its kernel writes beyond the result for each pixel that it ignores.
    ignored = -100 if len(sizes) == 3 and reduction != "none" else one_of(draw, -100, 0)
    return case(x=x, label=_classes(*sizes, high=classes), reduction=reduction, ignore_index=ignored, **weight)


def _kldiv_random(draw: Any) -> Case:
    sizes = shape(draw, 1, 4)
    return case(
        x=dynamic_tensor(draw, sizes),
        label=dynamic_tensor(draw, sizes, low=-0.2),
        reduction=one_of(draw, "mean", "sum", "none"),
    )


def _sigmoid_random(draw: Any) -> Case:
    sizes = shape(draw, 1, 4)
    x, label = dynamic_tensor(draw, sizes, low=-9, high=9), dynamic_tensor(draw, sizes, low=0)
    if flag(draw):
        return case(x=x, label=label, ignore_index=one_of(draw, -100, 0), normalize=flag(draw))
    return case(x=x, label=label, reduction=one_of(draw, "mean", "sum", "none"))


def _hinge_random(draw: Any) -> Case:
    sizes = [integer(draw, 1, 6), 1]
    labels = tensor(sizes, values=[[float(flag(draw))] for _ in range(sizes[0])])
    return case(logits=dynamic_tensor(draw, sizes, low=-3, high=3), labels=labels)


def _identity_random(draw: Any) -> Case:
    return case(x=dynamic_tensor(draw, shape(draw, 1, 4)), reduction=one_of(draw, "mean", "sum", "none"))


def _accuracy_random(draw: Any) -> Case:
    rows, classes = integer(draw, 1, 6), integer(draw, 1, 5)
    x = tensor([rows, classes], values=[_row(draw, classes) for _ in range(rows)])
    return case(x=x, label=_classes(rows, 1, high=classes), k=integer(draw, 1, classes))


def _row(draw: Any, classes: int) -> list[float]:
    """Distinct scores: equal ones would be in the order of an unstable sort."""
    return [float(item) for item in draw(st.permutations(range(classes)))]


OPS = [
    Op("nll_loss", _nll_any, *NLL, random=_nll_random),
    Op("kldiv_loss", _kldiv, *KLDIV, random=_kldiv_random),
    Op("sigmoid_cross_entropy_with_logits", _sigmoid_any, *SIGMOID, random=_sigmoid_random),
    Op("hinge_loss", _hinge, *HINGE, random=_hinge_random),
    Op(
        "identity_loss",
        lambda x, reduction: paddle.incubate.identity_loss(x, reduction),
        *IDENTITY,
        random=_identity_random,
    ),
    Op("accuracy", lambda x, label, k=1: paddle.static.accuracy(x, label, k), *ACCURACY, random=_accuracy_random),
]
