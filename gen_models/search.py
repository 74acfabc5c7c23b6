"""Programs for converters/search.py."""

import math

from gen_models.harness.building import function, is_pir, operator
from gen_models.harness.marks import COMPUTED, legacy, pir
from gen_models.harness.spec import Op, case, int32s, int64s, paddle, tensor

STABLE = pir("Paddle 2.6 has no stable sort")


def _argsort(x, *, axis=-1, descending=False, stable=True):
    if not is_pir():
        return paddle.argsort(x, axis, descending), paddle.sort(x, axis, descending)
    return paddle.argsort(x, axis, descending, stable), paddle.sort(x, axis, descending, stable)


def _mode(x, *, axis=-1, keepdim=False, less=None):
    out, indices = paddle.mode(x, axis, keepdim)
    return out, indices if less is None else indices - less  # OpenVINO fuses arithmetic into reductions


def _searchsorted(sequence, values, *, out_int32=False, right=False, bucketize=False):
    if bucketize:
        return paddle.bucketize(values, sequence, out_int32, right)
    return paddle.searchsorted(sequence, values, out_int32, right)


TIES = [[3, 1, 3, 2, 3], [0, 0, 0, 0, 0], [1, 2, 2, 1, 2]]

LONG = [[7 * i % 11 for i in range(4096)], [-5] * 4096]
NAN = [[1.0, math.nan, 3.0, -2.0], [math.inf, 0.5, 2.0, -math.inf], [7.0, 2.0, math.nan, -1.0]]


OPS = [
    Op(
        "top_k_v2",
        function("topk"),
        case(x=tensor([3, 7]), k=2),
        case(x=tensor([3, 7]), k=7),
        case(x=tensor([3, 7]), k=2, axis=0, largest=False),
        case(x=tensor([2, 3, 7]), k=3, axis=-2),
        case(x=tensor([3, 7], dims=[-1, 7]), k=2, axis=0),
        case(x=tensor([3, 7], dims=[-1, -1]), k=int32s(3)),
        case(x=int64s(5, -3, 9, 0, 2, 7, -8), k=3),
        case(x=int32s(5, -3, 9, 0, 2, 7, -8), k=3, largest=False),
        case(x=tensor([200], "int32", -5, 5), k=1),  # equal ones: Paddle names the first
        case(x=tensor([2, 18, 100], dims=[-1, 18, 100]), k=16),  # rows that are compared at once
        case(x=tensor([40, 256]), k=5, largest=False),
        case(x=tensor([]), k=1),
    ),
    Op(
        "top_k",
        operator("top_k", outputs={"Out": "", "Indices": "int64"}),
        case(x=tensor([3, 7], dims=[-1, 7]), k=2, **legacy("an operator of old programs only")),
    ),
    Op(
        "arg_max",
        function("argmax"),
        case(x=tensor([3, 7]), axis=0),
        case(x=tensor([3, 7]), axis=-1, keepdim=True),
        case(x=tensor([3, 7]), keepdim=True),
        case(x=tensor([3, 7]), axis=1, dtype="int32"),
        case(x=tensor([3, 5], "float32", values=TIES), axis=1),
        case(x=tensor([3, 5], "int64", values=TIES), axis=0),
        case(x=tensor([2, 3, 7], dims=[-1, 3, -1])),
        case(x=tensor([])),
        case(x=tensor([]), axis=0, keepdim=True),
        case(x=tensor([2, 4096], "float32", values=LONG, dims=[-1, 4096]), axis=1),
        case(x=tensor([2, 5000, 3]), axis=1, keepdim=True),
        case(x=tensor([], "int64"), axis=0),
        case(x=tensor([9], "int32"), axis=0),
        case(x=tensor([2, 3, 7]), axis=tensor([], "int64", values=1), **COMPUTED),
        case(x=tensor([2, 3], "int64", dims=[-1, 3]), axis=int64s(-2), keepdim=True, **COMPUTED),
    ),
    Op(
        "arg_min",
        function("argmin"),
        case(x=tensor([2, 4096], "float32", values=LONG, dims=[-1, 4096]), axis=1),
        case(x=tensor([2, 5000, 3]), axis=1, keepdim=True),
        case(x=tensor([3, 7])),
        case(x=tensor([3, 7]), axis=0),
        case(x=tensor([3, 7]), axis=-1, keepdim=True),
        case(x=tensor([3, 5], "float32", values=TIES), axis=1),
        case(x=tensor([3, 7], dims=[-1, -1]), axis=1, dtype="int32"),
        case(x=tensor([])),
        case(x=tensor([2, 3, 7]), axis=tensor([], "int64", values=-1), dtype="int32", **COMPUTED),
    ),
    Op(
        "argsort",
        _argsort,
        case(x=tensor([3, 4], values=NAN), axis=1),
        case(x=tensor([3, 4], values=NAN), axis=1, descending=True),
        case(x=tensor([3, 4], values=NAN, dims=[-1, -1]), axis=0),
        case(x=tensor([3, 7]), descending=True),
        case(x=tensor([3, 7, 2]), axis=1),
        case(x=tensor([3, 7]), axis=0, descending=True),
        case(x=tensor([3, 5], "float32", values=TIES), axis=1),
        case(x=tensor([3, 5], "float32", values=TIES), axis=1, descending=True),
        case(x=int64s(5, -3, 9, 0, 2, 7, -8, 4, 1)),
        case(x=tensor([3, 7], dims=[-1, -1])),
        case(x=tensor([])),
        # Long rows with many equal elements, which only a stable sort keeps in order.
        *(
            case(x=tensor([2, 600], "int64", low=0, high=9), descending=descending, **STABLE)
            for descending in (False, True)
        ),
        case(x=tensor([600, 2], "int32", low=0, high=9), axis=0, **STABLE),
    ),
    Op(
        "kthvalue",
        function("kthvalue"),
        case(x=tensor([3, 4], values=NAN), k=2),
        case(x=tensor([3, 4], values=NAN), k=4, keepdim=True),
        case(x=tensor([3, 7]), k=2),
        case(x=tensor([3, 7]), k=7, keepdim=True),
        case(x=tensor([3, 7]), k=2, axis=0),
        case(x=tensor([3, 7], dims=[-1, -1]), k=3, axis=1),
        case(x=tensor([]), k=1),
    ),
    Op(
        "mode",
        _mode,
        case(x=tensor([6, 5, 4], "int64", 0, 3), axis=1, keepdim=True, less=1),
        case(x=tensor([3, 5], values=TIES)),
        case(x=tensor([3, 5], values=TIES), axis=0, keepdim=True),
        case(x=tensor([])),
        case(x=tensor([4, 6], "int64", 0, 3)),
        case(x=tensor([2, 6, 3], "int64", 0, 3, dims=[-1, -1, -1]), axis=1),
        case(x=int32s(2**24, 2**24 + 1, 2**30 + 1, 2**24 + 1, 2**30)),
    ),
    Op(
        "searchsorted",
        _searchsorted,
        case(
            sequence=tensor([4], values=[1, 3, 5, math.inf]),
            values=tensor([2, 3], values=[math.nan, math.inf, -math.inf, 0, 5, 9]),
        ),
        case(sequence=tensor([4], values=[1, 3, 5, 7]), values=tensor([2, 3], low=0, high=9), bucketize=True),
        case(
            sequence=int32s(1, 3, 5, 7),
            values=tensor([2, 3], "int32", 0, 9),
            right=True,
            out_int32=True,
            bucketize=True,
        ),
        case(sequence=tensor([4], values=[0.1, 0.3, 0.3, 0.7]), values=tensor([3], values=[0.3, -1.0, 0.9])),
        case(
            sequence=tensor([4], values=[0.1, 0.3, 0.3, 0.7]), values=tensor([3], values=[0.3, -1.0, 0.9]), right=True
        ),
        case(
            sequence=tensor([2, 3], "int64", values=[[1, 3, 5], [2, 4, 6]]),
            values=tensor([2, 4], "int64", 0, 8),
            out_int32=True,
        ),
        case(sequence=int64s(1, 3, 5, 7), values=tensor([2, 3], "int32", 0, 9)),
        case(sequence=int32s(1, 3, 5, 7), values=tensor([3], values=[2.5, 3.0, 3.5])),
        case(sequence=tensor([3], values=[0.5, 1.0, 2.5]), values=tensor([4], "int64", 0, 4), right=True),
        case(sequence=int32s(1, 3, 5, 7, dims=[-1]), values=tensor([2, 3], "int32", 0, 9, dims=[-1, -1])),
    ),
]
