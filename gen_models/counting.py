"""Programs for converters/counting.py."""

import numpy as np

from gen_models.harness.building import function, legacy_op
from gen_models.harness.marks import NEW, OLD, pir
from gen_models.harness.spec import Op, case, int64s, paddle, tensor


def _unique(x, *, index=False, inverse=False, counts=False, axis=None, dtype="int64"):
    return paddle.unique(x, index, inverse, counts, axis, dtype)


def _unique_with_counts(x, *, dtype):
    outputs = {"Out": x.dtype, "Index": dtype, "Count": dtype}
    return legacy_op("unique_with_counts", {"X": x}, outputs, {"dtype": {"int32": 2, "int64": 3}[dtype]})


def _unique_consecutive(x, *, inverse=False, counts=False, axis=None, dtype="int64"):
    return paddle.unique_consecutive(x, inverse, counts, axis, dtype)


OPS = [
    Op(
        "unique",
        _unique,
        case(x=tensor([8], "int64", 0, 5)),
        case(x=tensor([8], "int64", 0, 5), index=True, inverse=True, counts=True),
        case(x=tensor([3, 4], "int64", 0, 5), inverse=True),
        case(x=tensor([3, 4], "int64", 0, 5), counts=True, dtype="int32"),
        case(x=tensor([4, 2], "int64", 0, 2), axis=0, index=True, inverse=True, counts=True),
        case(x=tensor([2, 6], "int64", 0, 2), axis=1, inverse=True),
        case(x=tensor([8], values=[1.5, -2, 1.5, 0, 3, 0, -2, 7]), index=True),
        case(x=tensor([8], "int64", 0, 5, dims=[-1]), inverse=True, counts=True),
        case(x=tensor([0, 3]), inverse=True, **pir("at run time OpenVINO stops", dynamic=False)),
    ),
    Op(
        "unique_with_counts",
        _unique_with_counts,
        case(x=int64s(3, 1, 3, 0, 4, 1, 1, 0), dtype="int32"),
        case(x=tensor([8], "float32", values=[3, 1, 3, 0, 4, 1, 1, 0], dims=[-1]), dtype="int64"),
        **OLD,
    ),
    Op(
        "unique_consecutive",
        _unique_consecutive,
        case(x=int64s(1, 1, 2, 2, 3, 1, 1, 2, 2)),
        case(x=int64s(1, 1, 2, 2, 3, 1, 1, 2, 2), inverse=True, counts=True),
        case(x=tensor([3, 4], "int64", 0, 2), inverse=True, counts=True, dtype="int32"),
        case(x=tensor([5, 2], "int64", values=[[1, 2], [1, 2], [3, 2], [1, 2], [1, 2]]), axis=0, inverse=True),
        case(x=tensor([2, 4], "int64", values=[[1, 1, 2, 2], [3, 3, 3, 4]]), axis=1, counts=True),
        case(x=tensor([9], "float32", values=[1, 1, 2, 2, 3, 1, 1, 2, 2], dims=[-1]), counts=True),
        case(x=tensor([0]), inverse=True, counts=True),
        case(x=int64s(2**24 + 1, 2**24, 2**24, 2**30, 2**30 + 1), inverse=True, counts=True),
    ),
    Op(
        "bincount",
        function("bincount"),
        case(x=tensor([8], "int64", 0, 6)),
        case(x=tensor([8], "int32", 0, 6), minlength=10),
        case(x=tensor([8], "int64", 0, 6), weights=tensor([8])),
        case(x=tensor([8], "int64", 0, 6, dims=[-1]), weights=tensor([8], dims=[-1]), minlength=9),
    ),
    Op(
        "histogram",
        function("histogram"),
        case(x=tensor([30]), bins=6, min=-1, max=1),
        case(x=tensor([30]), bins=4),
        case(x=tensor([41], values=np.arange(41)), bins=41, min=0, max=41),  # 41 / 41 is no 41 * (1 / 41)
        case(x=tensor([5, 6], "int64", 0, 20), bins=7, min=2, max=15),
        case(x=tensor([30], "int32", 0, 20, dims=[-1]), bins=5),
        case(x=tensor([5], values=[2.0] * 5), bins=4),
        case(x=tensor([30]), bins=6, min=-1, max=1, density=True, **NEW),
        case(x=tensor([30]), bins=6, min=-1, max=1, weight=tensor([30]), **NEW),
    ),
]
