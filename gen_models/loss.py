"""Losses that inference programs hold."""

import numpy as np

from gen_models.harness.building import any_op, function, operator
from gen_models.harness.marks import DIGITS, F64
from gen_models.harness.spec import Op, case, paddle, tensor


def _cross_entropy(logits, label, *, use_softmax=True, **options):
    if use_softmax:
        options = {"return_softmax": True, **options}
        return paddle.nn.functional.softmax_with_cross_entropy(logits, label, **options)
    outputs = {"Softmax": logits.dtype, "Loss": logits.dtype}
    attributes = {
        "soft_label": False,
        "use_softmax": False,
        "numeric_stable_mode": True,
        "ignore_index": -100,
        "axis": -1,
    }
    inputs, pir_name = {"Logits": logits, "Label": label}, "cross_entropy_with_softmax"
    return any_op("softmax_with_cross_entropy", inputs, outputs, {**attributes, **options}, pir_name)[1]


def shares(*shape, axis=-1, dims=None):
    values = np.random.default_rng(0).uniform(0.05, 1, shape)
    return tensor(shape, values=values / values.sum(axis, keepdims=True), dims=dims)


CROSS_ENTROPY = [
    case(logits=tensor([4, 5]), label=tensor([4, 1], "int64", 0, 5)),
    case(logits=tensor([4, 5]), label=tensor([4, 1], "int32", 0, 5), return_softmax=False),
    case(logits=tensor([4, 5], dims=[-1, -1]), label=tensor([4, 1], "int64", values=[1, 2, 4, 2], dims=[-1, 1]),
         ignore_index=2),
    case(logits=tensor([4, 5]), label=tensor([4, 1], "int64", values=[1, -100, 4, 2])),
    case(logits=tensor([2, 5, 3]), label=tensor([2, 1, 3], "int64", 0, 5), axis=1),
    case(logits=tensor([4, 5]), label=shares(4, 5), soft_label=True),
    case(logits=tensor([2, 5, 3], dims=[-1, 5, -1]), label=shares(2, 5, 3, axis=1, dims=[-1, 5, -1]), soft_label=True,
         axis=1),
    case(logits=tensor([2, 3], values=[[50.0, -10.0, 0.0], [-3.0, 30.0, 1.0]]), label=tensor([2, 1], "int64", 0, 3)),
    case(logits=tensor([3, 3], values=[[90.0, 0.0, -70.0], [0.0, -65.0, -1e4], [0.0, 200.0, -300.0]]),
         label=tensor([3, 1], "int64", values=[2, 1, 0])),
    case(logits=tensor([2, 3], values=[[90.0, 0.0, -70.0], [0.0, -65.0, -1e4]], dims=[-1, -1]), soft_label=True,
         label=shares(2, 3, dims=[-1, -1])),
    case(logits=shares(4, 5), label=tensor([4, 1], "int64", 0, 5), use_softmax=False),
    case(logits=shares(4, 5), label=shares(4, 5), soft_label=True, use_softmax=False),
]  # fmt: skip


LABEL_SMOOTH = [
    case(label=shares(4, 5)),
    case(label=shares(2, 3, 4, dims=[-1, -1, -1]), epsilon=0.3),
    case(label=shares(4, 5), prior_dist=shares(1, 5), epsilon=0.2),
    case(label=tensor([3, 4], "float64"), **F64),
]


BCE_LOSS = [
    case(input=tensor([3, 4], low=0.01, high=0.99), label=tensor([3, 4], low=0.0, high=1.0)),
    case(
        input=tensor([2, 3], low=0.01, high=0.99, dims=[-1, -1]), label=tensor([2, 3], low=0.0, high=1.0, dims=[-1, -1])
    ),
    case(input=tensor([4], values=[0.0, 1.0, 0.0, 1.0]), label=tensor([4], values=[0.0, 1.0, 1.0, 0.25])),
]


huber_loss = operator("huber_loss", {"input": "X", "label": "Y"}, {"Out": "", "Residual": ""}, results=1, delta=1.0)


HUBER_LOSS = [
    case(input=tensor([3, 4], low=-2.0, high=2.0), label=tensor([3, 4], low=-2.0, high=2.0)),
    case(input=tensor([3, 1], dims=[-1, 1]), label=tensor([3, 1], dims=[-1, 1]), delta=0.3),
]


LOG_LOSS = [
    case(input=tensor([4, 1], low=0.01, high=0.99), label=tensor([4, 1], low=0.0, high=1.0)),
    case(
        input=tensor([4, 1], values=[0.0, 1.0, 0.0, 1.0], dims=[-1, 1]),
        label=tensor([4, 1], values=[0.0, 1.0, 1.0, 0.25], dims=[-1, 1]),
        epsilon=0.01,
    ),
    case(
        input=tensor([4, 1], values=[[0.9999], [0.999999], [0.9999998], [1.0]]),
        label=tensor([4, 1], values=[[0.0], [0.3], [0.0], [0.5]]),
        **DIGITS,
    ),
]


OPS = [
    Op("softmax_with_cross_entropy", _cross_entropy, *CROSS_ENTROPY),
    Op("label_smooth", function("nn.functional.label_smooth"), *LABEL_SMOOTH),
    Op(
        "bce_loss",
        lambda input, label: paddle.nn.functional.binary_cross_entropy(input, label, reduction="none"),
        *BCE_LOSS,
    ),
    Op("huber_loss", huber_loss, *HUBER_LOSS),
    Op("log_loss", function("nn.functional.log_loss"), *LOG_LOSS),
]
