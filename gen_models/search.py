"""Programs for converters/search.py."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from gen_models.harness.building import legacy_op
from gen_models.harness.marks import COMPUTED
from gen_models.harness.spec import Op, case, paddle, tensor

STABLE = {"formats": ("pir",), "why": "Paddle 2.6 has no stable sort"}


def _argsort(x, *, axis=-1, descending=False, stable=True):
    if paddle.__version__ < "3":
        return paddle.argsort(x, axis, descending), paddle.sort(x, axis, descending)
    return paddle.argsort(x, axis, descending, stable), paddle.sort(x, axis, descending, stable)


def _mode(x, *, axis=-1, keepdim=False, less=None):
    out, indices = paddle.mode(x, axis, keepdim)
    return out, indices if less is None else indices - less  # OpenVINO fuses arithmetic into reductions


def _searchsorted(sequence, values, *, out_int32=False, right=False, bucketize=False):
    if bucketize:
        return paddle.bucketize(values, sequence, out_int32, right)
    return paddle.searchsorted(sequence, values, out_int32, right)


def _distinct(draw, shape, kind):
    """Data without ties: which of equal elements an unstable sort names is not defined."""
    count = 1
    for dim in shape:
        count *= dim
    values = draw(st.permutations(range(count)))
    return tensor(shape, kind, values=list(values), dims=[draw(st.sampled_from([dim, -1])) for dim in shape])


def _topk_random(draw):
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    x = _distinct(draw, shape, draw(st.sampled_from(["float32", "int64", "int32"])))
    return case(x=x, k=draw(st.integers(1, shape[axis])), axis=axis, largest=draw(st.booleans()))


def _arg_random(draw):
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    axis = draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    x = tensor(shape, draw(st.sampled_from(["float32", "int64"])))
    return case(x=x, axis=axis, keepdim=draw(st.booleans()), dtype=draw(st.sampled_from(["int32", "int64"])))


def _argsort_random(draw):
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    x = _distinct(draw, shape, draw(st.sampled_from(["float32", "int64", "int32"])))
    return case(x=x, axis=axis, descending=draw(st.booleans()))


def _kth_random(draw):
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    x = _distinct(draw, shape, "float32")
    return case(x=x, k=draw(st.integers(1, shape[axis])), axis=axis, keepdim=draw(st.booleans()))


def _mode_random(draw):
    shape = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    return case(x=tensor(shape, "int64", 0, 3), axis=axis, keepdim=draw(st.booleans()))


def _searchsorted_random(draw):
    length = draw(st.integers(1, 6))
    sequence = sorted(draw(st.lists(st.integers(0, 6), min_size=length, max_size=length)))
    values = tensor(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)), "int32", 0, 7)
    right = draw(st.booleans())
    return case(sequence=tensor([length], "int32", values=sequence), values=values, right=right)


TIES = [[3, 1, 3, 2, 3], [0, 0, 0, 0, 0], [1, 2, 2, 1, 2]]

LONG = [[7 * i % 11 for i in range(4096)], [-5] * 4096]
NAN = [[1.0, math.nan, 3.0, -2.0], [math.inf, 0.5, 2.0, -math.inf], [7.0, 2.0, math.nan, -1.0]]


def _old_topk_random(draw):
    shape = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    k = draw(st.integers(1, shape[-1]))
    return case(x=tensor(shape), k=k, formats=("legacy",), why="an operator of old programs only")


OPS = [
    Op(
        "top_k_v2",
        lambda x, k, axis=-1, largest=True, sorted=True: paddle.topk(x, k, axis, largest, sorted),
        case(x=tensor([3, 7]), k=2),
        case(x=tensor([3, 7]), k=7),
        case(x=tensor([3, 7]), k=2, axis=0, largest=False),
        case(x=tensor([2, 3, 7]), k=3, axis=-2),
        case(x=tensor([3, 7], dims=[-1, 7]), k=2, axis=0),
        case(x=tensor([3, 7], dims=[-1, -1]), k=tensor([1], "int32", values=[3])),
        case(x=tensor([7], "int64", values=[5, -3, 9, 0, 2, 7, -8]), k=3),
        case(x=tensor([7], "int32", values=[5, -3, 9, 0, 2, 7, -8]), k=3, largest=False),
        case(x=tensor([200], "int32", -5, 5), k=1),  # equal ones: Paddle names the first
        case(x=tensor([]), k=1),
        random=_topk_random,
    ),
    Op(
        "top_k",
        lambda x, k: legacy_op("top_k", {"X": x}, {"Out": x.dtype, "Indices": "int64"}, {"k": k}),
        case(x=tensor([3, 7], dims=[-1, 7]), k=2, formats=("legacy",), why="an operator of old programs only"),
        random=_old_topk_random,
    ),
    Op(
        "arg_max",
        lambda x, axis=None, keepdim=False, dtype="int64": paddle.argmax(x, axis, keepdim, dtype),
        case(x=tensor([3, 7])),
        case(x=tensor([3, 7]), axis=0),
        case(x=tensor([3, 7]), axis=-1, keepdim=True),
        case(x=tensor([3, 7]), keepdim=True),
        case(x=tensor([3, 7]), axis=1, dtype="int32"),
        case(x=tensor([3, 5], "float32", values=TIES), axis=1),
        case(x=tensor([3, 5], "int64", values=TIES), axis=0),
        case(x=tensor([3, 7], dims=[-1, -1]), axis=1),
        case(x=tensor([2, 3, 7], dims=[-1, 3, -1])),
        case(x=tensor([])),
        case(x=tensor([]), axis=0, keepdim=True),
        case(x=tensor([2, 4096], "float32", values=LONG, dims=[-1, 4096]), axis=1),
        case(x=tensor([2, 5000, 3]), axis=1, keepdim=True),
        case(x=tensor([], "int64"), axis=0),
        case(x=tensor([9], "int32"), axis=0),
        case(x=tensor([2, 3, 7]), axis=tensor([], "int64", values=1), **COMPUTED),
        case(
            x=tensor([2, 3], "int64", dims=[-1, 3]),
            axis=tensor([1], "int64", values=[-2]),
            keepdim=True,
            **COMPUTED,
        ),
        random=_arg_random,
    ),
    Op(
        "arg_min",
        lambda x, axis=None, keepdim=False, dtype="int64": paddle.argmin(x, axis, keepdim, dtype),
        case(x=tensor([2, 4096], "float32", values=LONG, dims=[-1, 4096]), axis=1),
        case(x=tensor([2, 5000, 3]), axis=1, keepdim=True),
        case(x=tensor([3, 7])),
        case(x=tensor([3, 7]), axis=0),
        case(x=tensor([3, 7]), axis=-1, keepdim=True),
        case(x=tensor([3, 5], "float32", values=TIES), axis=1),
        case(x=tensor([3, 7], dims=[-1, -1]), axis=1, dtype="int32"),
        case(x=tensor([])),
        case(x=tensor([2, 3, 7]), axis=tensor([], "int64", values=-1), dtype="int32", **COMPUTED),
        random=_arg_random,
    ),
    Op(
        "argsort",
        _argsort,
        case(x=tensor([3, 4], values=NAN), axis=1),
        case(x=tensor([3, 4], values=NAN), axis=1, descending=True),
        case(x=tensor([3, 4], values=NAN, dims=[-1, -1]), axis=0),
        case(x=tensor([3, 7])),
        case(x=tensor([3, 7]), descending=True),
        case(x=tensor([3, 7, 2]), axis=1),
        case(x=tensor([3, 7]), axis=0, descending=True),
        case(x=tensor([3, 5], "float32", values=TIES), axis=1),
        case(x=tensor([3, 5], "float32", values=TIES), axis=1, descending=True),
        case(x=tensor([9], "int64", values=[5, -3, 9, 0, 2, 7, -8, 4, 1])),
        case(x=tensor([3, 7], dims=[-1, -1])),
        case(x=tensor([])),
        # Long rows with many equal elements, which only a stable sort keeps in order.
        *(
            case(x=tensor([2, 600], "int64", low=0, high=9), descending=descending, **STABLE)
            for descending in (False, True)
        ),
        case(x=tensor([600, 2], "int32", low=0, high=9), axis=0, **STABLE),
        random=_argsort_random,
    ),
    Op(
        "kthvalue",
        lambda x, k, axis=None, keepdim=False: paddle.kthvalue(x, k, axis, keepdim),
        case(x=tensor([3, 4], values=NAN), k=2),
        case(x=tensor([3, 4], values=NAN), k=4, keepdim=True),
        case(x=tensor([3, 7]), k=2),
        case(x=tensor([3, 7]), k=7, keepdim=True),
        case(x=tensor([3, 7]), k=2, axis=0),
        case(x=tensor([3, 7], dims=[-1, -1]), k=3, axis=1),
        case(x=tensor([]), k=1),
        random=_kth_random,
    ),
    Op(
        "mode",
        _mode,
        case(x=tensor([6, 5, 4], "int64", 0, 3), axis=1, keepdim=True, less=1),
        case(x=tensor([3, 5], values=TIES)),
        case(x=tensor([3, 5], values=TIES), axis=0, keepdim=True),
        case(x=tensor([4, 6], "int64", 0, 3)),
        case(x=tensor([2, 6, 3], "int64", 0, 3, dims=[-1, -1, -1]), axis=1),
        case(x=tensor([5], "int32", values=[2**24, 2**24 + 1, 2**30 + 1, 2**24 + 1, 2**30])),
        random=_mode_random,
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
            sequence=tensor([4], "int32", values=[1, 3, 5, 7]),
            values=tensor([2, 3], "int32", 0, 9),
            right=True,
            out_int32=True,
            bucketize=True,
        ),
        case(sequence=tensor([4], values=[0.1, 0.3, 0.3, 0.7]), values=tensor([3], values=[0.3, -1.0, 0.9])),
        case(
            sequence=tensor([4], values=[0.1, 0.3, 0.3, 0.7]),
            values=tensor([3], values=[0.3, -1.0, 0.9]),
            right=True,
        ),
        case(
            sequence=tensor([2, 3], "int64", values=[[1, 3, 5], [2, 4, 6]]),
            values=tensor([2, 4], "int64", 0, 8),
            out_int32=True,
        ),
        case(sequence=tensor([4], "int64", values=[1, 3, 5, 7]), values=tensor([2, 3], "int32", 0, 9)),
        case(sequence=tensor([4], "int32", values=[1, 3, 5, 7]), values=tensor([3], values=[2.5, 3.0, 3.5])),
        case(sequence=tensor([3], values=[0.5, 1.0, 2.5]), values=tensor([4], "int64", 0, 4), right=True),
        case(
            sequence=tensor([4], "int32", values=[1, 3, 5, 7], dims=[-1]),
            values=tensor([2, 3], "int32", 0, 9, dims=[-1, -1]),
        ),
        random=_searchsorted_random,
    ),
]
