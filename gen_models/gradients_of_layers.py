"""Gradients of gathering and scattering, of losses and norms, and of windows that slide over a tensor."""

from __future__ import annotations

from typing import Any

from gen_models.gradients import gradient
from gen_models.harness.building import any_op, function, is_pir, legacy_op
from gen_models.harness.marks import LEGACY, NEW, pir
from gen_models.harness.spec import Op, case, int32s, int64s, paddle, tensor
from gen_models.label_loss import LOG_TARGET, kldiv
from gen_models.loss import huber_loss, shares

_X = tensor([4, 3], dims=[-1, 3])
_ROWS = int64s(1, 0, 1)
_WIDE = tensor([2, 3, 4], dims=[-1, 3, 4])


_REPEATS: list[dict[str, Any]] = [
    {"x": _WIDE, "repeats": int32s(2, 0, 3), "axis": 1},
    {"x": tensor([3, 2], dims=[-1, 2]), "repeats": int64s(1, 0, 2), "axis": 0},
]
_ADDED = pir("along other axes than 0, Paddle 2.6 does not add all of them up")


def _prelu(x, weight, *, mode=None):
    if mode is None:
        return paddle.nn.functional.prelu(x, weight)
    if is_pir():
        return paddle._C_ops.prelu(x, weight, "NCHW", mode)
    return legacy_op("prelu", {"X": x, "Alpha": weight}, {"Out": x.dtype}, {"data_format": "NCHW", "mode": mode})


INDEXING = [
    gradient("gather_grad", function("gather"), case(x=_X, index=_ROWS), case(x=_WIDE, index=_ROWS, axis=1, **_ADDED)),
    gradient("index_select_grad", function("index_select"), case(x=_WIDE, index=_ROWS, axis=1)),
    gradient(
        "gather_nd_grad",
        function("gather_nd"),
        case(x=_WIDE, index=tensor([3, 2], "int64", values=[0, 1, 1, 2, 0, 1])),
        case(x=_X, index=tensor([2, 1], "int64", values=[3, 3])),
    ),
    gradient(
        "scatter_grad",
        function("scatter"),
        case(x=_X, index=int64s(2, 0), updates=tensor([2, 3])),
        case(x=_X, index=_ROWS, updates=tensor([3, 3]), overwrite=False),
    ),
    gradient(
        "scatter_nd_add_grad",
        function("scatter_nd_add"),
        case(x=_X, index=tensor([3, 1], "int64", values=[1, 0, 1]), updates=tensor([3, 3])),
    ),
    gradient(
        "index_add_grad",
        lambda x, index, axis, value: paddle.index_add(x, index, axis, value),
        case(x=_X, index=_ROWS, axis=0, value=tensor([3, 3])),
    ),
    gradient(
        "put_along_axis_grad",
        lambda x, index, value, reduce: paddle.put_along_axis(x, index, value, 1, reduce),
        *(
            case(x=_X, index=tensor([4, 1], "int64", values=[0, 2, 1, 1]), value=tensor([4, 1]), reduce=reduce)
            for reduce in ("assign", "add")
        ),
    ),
    gradient(
        "take_along_axis_grad",
        function("take_along_axis"),
        case(arr=tensor([4, 3]), indices=tensor([4, 2], "int64", low=0, high=3), axis=1),
    ),
    gradient("index_sample_grad", function("index_sample"), case(x=_X, index=tensor([4, 2], "int64", low=0, high=3))),
    gradient("masked_select_grad", function("masked_select"), case(x=tensor([4, 3]), mask=tensor([4, 3], "bool"))),
    gradient(
        "repeat_interleave_grad",
        function("repeat_interleave"),
        case(x=_WIDE, repeats=3, axis=1),
        case(x=_X, repeats=2, axis=0),
        case(x=_X, repeats=2, axis=-1, **pir("Paddle 2.6 aborts on a negative axis")),
        *(case(**arguments, **LEGACY) for arguments in _REPEATS),
    ),
    gradient(
        "repeat_interleave_with_tensor_index_grad",
        function("repeat_interleave"),
        *(case(**arguments, **NEW) for arguments in _REPEATS),
    ),
    gradient(
        "lookup_table_v2_grad",
        function("nn.functional.embedding"),
        case(ids=tensor([2, 3], "int64", low=0, high=4, dims=[-1, 3]), weight=tensor([4, 2])),
        case(ids=int64s(1, 0, 1), weight=tensor([4, 2]), padding_idx=1),
    ),
    gradient("top_k_v2_grad", lambda x, k, axis: paddle.topk(x, k, axis)[0], case(x=_WIDE, k=2, axis=1)),
    gradient(
        "argsort_grad",
        function("sort"),
        case(x=_WIDE, axis=1),
        case(x=_X, axis=-1, descending=True),
        case(x=tensor([]), axis=-1),
    ),
    gradient("cummax_grad", lambda x, axis: paddle.cummax(x, axis)[0], case(x=_WIDE, axis=1)),
    gradient("cummin_grad", lambda x, axis: paddle.cummin(x, axis)[0], case(x=_WIDE, axis=-1)),
    gradient(
        "kthvalue_grad",
        lambda x, k, axis, keepdim: paddle.kthvalue(x, k, axis, keepdim)[0],
        case(x=_WIDE, k=2, axis=1, keepdim=False),
        case(x=_WIDE, k=2, axis=1, keepdim=True),
    ),
]

_SOURCE, _TARGET = int64s(0, 1, 2, 0, 3), int64s(1, 2, 1, 0, 1)
_EDGES = {"source": _SOURCE, "target": _TARGET}


def _segment(x, ids, *, kind):
    return getattr(paddle.geometric, f"segment_{kind}")(x, ids)


GRAPHS = [
    gradient(
        "graph_send_recv_grad",
        function("geometric.send_u_recv"),
        *(case(x=_X, **_EDGES, reduce_op=name) for name in ("sum", "mean", "max")),
    ),
    gradient(
        "graph_send_ue_recv_grad",
        function("geometric.send_ue_recv"),
        *(
            case(x=_X, y=tensor([5, 3]), **_EDGES, message_op=item, reduce_op=two)
            for item, two in (("add", "sum"), ("mul", "mean"))
        ),
        case(x=_X, y=tensor([5, 1]), **_EDGES, message_op="mul", reduce_op="sum"),
    ),
    gradient(
        "graph_send_uv_grad",
        function("geometric.send_uv"),
        *(case(x=_X, y=tensor([4, 3]), **_EDGES, message_op=name) for name in ("add", "mul")),
    ),
    gradient(
        "segment_pool_grad",
        _segment,
        *(case(x=_X, ids=int64s(0, 0, 1, 1), kind=kind) for kind in ("sum", "mean", "min")),
    ),
]

_LABELS = tensor([4, 1], "int64", values=[0, 2, 1, 2])
_PROBABILITIES = tensor([4, 3], low=0.1, high=0.9, dims=[-1, 3])

LOSSES = [
    gradient("softmax_grad", function("nn.functional.softmax"), case(x=_WIDE), case(x=_WIDE, axis=1)),
    gradient("log_softmax_grad", function("nn.functional.log_softmax"), case(x=_WIDE), case(x=_WIDE, axis=1)),
    gradient(
        "softmax_with_cross_entropy_grad",
        function("nn.functional.softmax_with_cross_entropy"),
        case(logits=_X, label=_LABELS),
        case(logits=_X, label=_LABELS, ignore_index=2),
        case(logits=_WIDE, label=tensor([2, 1, 4], "int64", low=0, high=3), axis=1),
        case(logits=_X, label=shares(4, 3), soft_label=True),
    ),
    gradient(
        "huber_loss_grad",
        huber_loss,
        *(
            case(input=tensor([2, 3], low=-3, high=3, dims=[-1, 3]), label=tensor([2, 3], dims=[-1, 3]), delta=delta)
            for delta in (0.7, 0.0, -0.7)
        ),
    ),
    gradient(
        "kldiv_loss_grad",
        kldiv,
        *(case(x=_X, label=tensor([4, 3], low=-0.2, high=1), reduction=name) for name in ("mean", "batchmean", "none")),
        case(x=_X, label=tensor([4, 3]), reduction="sum", log_target=True, **LOG_TARGET),
    ),
    gradient(
        "bce_loss_grad",
        function("nn.functional.binary_cross_entropy"),
        case(input=_PROBABILITIES, label=tensor([4, 3], low=0, high=1), reduction="none"),
    ),
    gradient(
        "sigmoid_cross_entropy_with_logits_grad",
        function("nn.functional.binary_cross_entropy_with_logits"),
        case(logit=_X, label=tensor([4, 3], low=0, high=1), reduction="none"),
        case(logit=_X, label=tensor([4, 3], low=0, high=1), pos_weight=tensor([3], low=0.1), reduction="none"),
    ),
    gradient(
        "prelu_grad",
        _prelu,
        case(x=tensor([2, 3, 2], dims=[-1, 3, 2]), weight=tensor([3], low=0.1)),
        case(x=_X, weight=tensor([1], low=0.1)),
        case(x=tensor([2, 3, 2], dims=[-1, 3, 2]), weight=tensor([1, 3, 2], low=0.1), mode="element"),
    ),
    gradient(
        "swiglu_grad", function("incubate.nn.functional.swiglu"), case(x=_X, y=_X, **NEW), case(x=tensor([3, 4]), **NEW)
    ),
    gradient("atan2_grad", function("atan2"), case(x=_X, y=tensor([4, 3], dims=[-1, 3]))),
]


def _layer_norm(x, weight=None, bias=None):
    return paddle.nn.functional.layer_norm(x, [3, 4], weight, bias)


def _batch_norm(x, mean, variance, weight, bias):
    mean.stop_gradient = variance.stop_gradient = True
    return paddle.nn.functional.batch_norm(x, mean, variance, weight, bias)


def _group_norm(x, weight, bias):
    named = {"X": x, "Scale": weight, "Bias": bias}
    outputs = {"Y": x.dtype, "Mean": x.dtype, "Variance": x.dtype}
    made = any_op("group_norm", named, outputs, {"epsilon": 1e-5, "groups": 2, "data_layout": "NCHW"})
    return made if is_pir() else made[0]


def _affine(channels):
    return {"weight": tensor([channels], low=0.5, high=2), "bias": tensor([channels])}


_IMAGE = tensor([2, 4, 3, 2], dims=[-1, 4, 3, 2])

NORMS = [
    gradient(
        "layer_norm_grad", _layer_norm, case(x=_WIDE, weight=tensor([12], low=0.5), bias=tensor([12])), case(x=_WIDE)
    ),
    gradient(
        "batch_norm_grad",
        _batch_norm,
        case(x=_IMAGE, mean=tensor([4]), variance=tensor([4], low=0.5, high=2), **_affine(4)),
    ),
    gradient("group_norm_grad", _group_norm, case(x=_IMAGE, **_affine(4))),
    gradient(
        "instance_norm_grad",
        lambda x, weight, bias: paddle.nn.functional.instance_norm(x, weight=weight, bias=bias),
        case(x=tensor([2, 4, 3, 2]), **_affine(4)),
        **NEW,
    ),
]


FIXED = {"dynamic": False, "why": "a filter that is an input, whose size must be known"}
_PHOTO = tensor([2, 4, 6, 5])


WINDOWS = [
    gradient(
        "conv2d_grad",
        function("nn.functional.conv2d"),
        case(x=_PHOTO, weight=tensor([3, 4, 3, 2]), stride=2, padding=[1, 0], **FIXED),
        case(x=_PHOTO, weight=tensor([6, 2, 3, 3]), groups=2, padding=1, dilation=[1, 2], **FIXED),
    ),
    gradient(
        "depthwise_conv2d_grad",
        function("nn.functional.conv2d"),
        case(x=_PHOTO, weight=tensor([4, 1, 3, 3]), groups=4, padding=1, **FIXED),
    ),
    gradient(
        "conv3d_grad",
        function("nn.functional.conv3d"),
        case(x=tensor([1, 2, 4, 3, 3]), weight=tensor([3, 2, 2, 2, 2]), padding=1, stride=2, **FIXED),
    ),
    gradient(
        "conv2d_transpose_grad",
        function("nn.functional.conv2d_transpose"),
        case(x=tensor([2, 4, 3, 3]), weight=tensor([4, 2, 3, 3]), stride=2, padding=1, **FIXED),
    ),
    gradient(
        "pool2d_grad",
        lambda x, kind, **attributes: getattr(paddle.nn.functional, f"{kind}_pool2d")(x, **attributes),
        case(x=tensor([2, 4, 6, 5], dims=[-1, 4, 6, 5]), kind="max", kernel_size=3, stride=2, padding=1),
        case(x=tensor([1, 1, 2, 2], values=[[[[1.0, 1.0], [1.0, 0.0]]]]), kind="max", kernel_size=2),
        case(x=tensor([2, 4, 6, 5], dims=[-1, 4, 6, 5]), kind="avg", kernel_size=3, stride=2, padding=1),
        case(x=_PHOTO, kind="avg", kernel_size=2, padding=1, exclusive=False),
        case(x=tensor([2, 6, 5, 4], dims=[-1, 6, 5, 4]), kind="max", kernel_size=2, data_format="NHWC"),
        case(x=tensor([2, 4, 6, 5], dims=[-1, 4, 6, 5]), kind="adaptive_avg", output_size=1),
        case(x=tensor([2, 4, 6, 4]), kind="adaptive_avg", output_size=2, **FIXED),
    ),
    *(
        gradient(
            f"pad3d{'_double' * (order - 1)}_grad",
            lambda x, pad, mode: paddle.nn.functional.pad(x, pad, mode, 3.0 if mode == "constant" else 0.0),
            *(
                case(x=tensor([2, 1, 4, 3], dims=[-1, 1, 4, 3]), pad=[1, 2, 0, 1], mode=mode)
                for mode in ("constant", "reflect")
            ),
            order=order,
        )
        for order in (1, 2)
    ),
]
OPS: list[Op] = [*INDEXING, *GRAPHS, *LOSSES, *NORMS, *WINDOWS]
