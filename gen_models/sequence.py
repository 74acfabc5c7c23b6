"""Sequences as tensors."""

from gen_models.harness.building import as_lod, legacy_op, operator
from gen_models.harness.marks import NO_FUNCTION, legacy
from gen_models.harness.spec import Op, case, tensor

_F64 = legacy("legacy only; OpenVINO's CPU plugin computes f64 as f32")


def _row_conv(x, filters, *, lod=None):
    x = as_lod(x, lod) if len(x.shape) == 2 else x
    return legacy_op("row_conv", {"X": x, "Filter": filters}, {"Out": "float32"}, {})


def _im2sequence(x, *, read=False, **options):
    attributes = {"strides": [1, 1], "paddings": [0, 0, 0, 0], **options}
    out = legacy_op("im2sequence", {"X": x}, {"Out": "float32"}, attributes)
    # Each image is a sequence.
    return legacy_op("sequence_reverse", {"X": out * 2.0}, {"Y": "float32"}, {}) if read else out


def _clicks(rows, columns, dims=None):
    return {
        "x": tensor([rows, columns], low=0, high=9, dims=dims),
        "cvm": tensor([rows, 2], dims=None if dims is None else [dims[0], 2]),
    }


_IMAGE = tensor([2, 3, 5, 6])

OPS = [
    Op(
        "add_position_encoding",
        operator("add_position_encoding", alpha=1.0, beta=1.0),
        case(x=tensor([2, 5, 6]), **NO_FUNCTION),
        case(x=tensor([2, 5, 6], dims=[-1, -1, 6]), alpha=0.5, beta=2.0, **NO_FUNCTION),
        case(x=tensor([2, 5, 2]), **NO_FUNCTION),
        case(x=tensor([2, 3, 4], "float64"), **_F64),
    ),
    Op(
        "row_conv",
        _row_conv,
        case(x=tensor([2, 5, 3]), filters=tensor([3, 3])),
        case(x=tensor([2, 5, 3], dims=[-1, -1, 3]), filters=tensor([2, 3])),
        case(x=tensor([2, 2, 3]), filters=tensor([4, 3])),
        case(x=tensor([2, 2, 3]), filters=tensor([1, 3])),
        case(x=tensor([5, 3], dims=[-1, 3]), filters=tensor([3, 3])),
        case(x=tensor([6, 3], dims=[-1, 3]), filters=tensor([2, 3]), lod=[0, 3, 6]),
        **NO_FUNCTION,
    ),
    Op(
        "cvm",
        operator("cvm", {"x": "X", "cvm": "CVM"}, "Y", use_cvm=True),
        case(**_clicks(3, 5)),
        case(**_clicks(3, 5), use_cvm=False),
        case(**_clicks(3, 2, dims=[-1, 2])),
        **NO_FUNCTION,
    ),
    Op(
        "im2sequence",
        _im2sequence,
        case(x=_IMAGE, kernels=[2, 3]),
        case(x=_IMAGE, kernels=[2, 2], strides=[2, 1], paddings=[1, 0, 1, 2]),
        case(x=tensor([2, 3, 5, 6], dims=[-1, -1, -1, -1]), kernels=[5, 1]),
        case(x=tensor([2, 3, 5, 6], dims=[-1, 3, 5, -1]), kernels=[5, 1], read=True),
        **NO_FUNCTION,
    ),
]
