"""Losses against labels, and how many labels are right."""

import math

from gen_models.harness.building import any_op, function, is_pir, operator
from gen_models.harness.marks import TAIL, pir
from gen_models.harness.spec import Op, case, int64s, paddle, tensor


def _nll(x, label, weight=None, *, both=False, **options):
    """The loss; `both`: and the sum of the weights, which no function returns."""
    if not both:
        return paddle.nn.functional.nll_loss(x, label, weight, **options)
    inputs, outputs = {"X": x, "Label": label, "Weight": weight}, {"Out": x.dtype, "Total_weight": x.dtype}
    return list(any_op("nll_loss", inputs, outputs, {"ignore_index": -100, **options}))


def kldiv(x, label, *, reduction, log_target=False):
    """The operator, which Paddle's function calls for the losses alone and reduces them by another."""
    attributes = {"reduction": reduction, **({"log_target": log_target} if is_pir() else {})}
    return any_op("kldiv_loss", {"X": x, "Target": label}, {"Loss": x.dtype}, attributes)


_sigmoid_old = operator(
    "sigmoid_cross_entropy_with_logits",
    {"x": "X", "label": "Label", "pos_weight": "pos_weight"},
    normalize=False,
    ignore_index=-100,
)


def _sigmoid(x, label, weight=None, *, pos_weight=None, reduction="none", **options):
    if {"normalize", "ignore_index"} & options.keys():
        return _sigmoid_old(x=x, label=label, **options)
    if options:
        return paddle.nn.functional.sigmoid_focal_loss(x, label, reduction=reduction, **options)
    return paddle.nn.functional.binary_cross_entropy_with_logits(x, label, weight, reduction, pos_weight)


def _classes(*sizes, dims=None):
    return tensor(sizes, "int64", 0, 5, dims=dims)


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
    case(x=tensor([4, 5], dims=[-1, 5]), label=int64s(1, 2, 2, 0, dims=[-1]), ignore_index=2),
    case(x=tensor([2, 5]), label=int64s(3, 3), ignore_index=3),
    case(x=tensor([2, 5, 3, 4]), label=_classes(2, 3, 4)),
    case(x=tensor([2, 5, 3, 4]), label=_classes(2, 3, 4), weight=tensor([5], low=0), reduction="none", ignore_index=1),
    case(x=tensor([2, 5, 3]), label=_classes(2, 3), reduction="none"),
    *[case(x=_CERTAIN, label=int64s(1, 0, 2, 1), ignore_index=1, reduction=name) for name in ("mean", "none")],
    *[
        case(x=tensor([6, 5]), label=_classes(6), weight=tensor([5], low=0), reduction=name, both=True)
        for name in ("mean", "sum", "none")
    ],
]
LOG_TARGET = pir("Paddle 2.6 has no log_target")
KLDIV = [
    *[
        case(x=tensor([3, 4]), label=tensor([3, 4], low=-0.2, high=1), reduction=name)
        for name in ("mean", "sum", "batchmean", "none")
    ],
    case(x=tensor([3, 4], dims=[-1, 4]), label=tensor([3, 4], low=0, dims=[-1, 4]), reduction="batchmean"),
    *[
        case(x=tensor([3, 4]), label=tensor([3, 4]), reduction=name, log_target=True, **LOG_TARGET)
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


OPS = [
    Op("nll_loss", _nll, *NLL),
    Op("kldiv_loss", kldiv, *KLDIV),
    Op("sigmoid_cross_entropy_with_logits", _sigmoid, *SIGMOID),
    Op("hinge_loss", operator("hinge_loss", {"logits": "Logits", "labels": "Labels"}, "Loss"), *HINGE),
    Op("identity_loss", function("incubate.identity_loss"), *IDENTITY),
    Op("accuracy", function("static.accuracy"), *ACCURACY),
]
