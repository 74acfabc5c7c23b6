"""Programs for converters/indexing.py."""

import numpy as np

from gen_models.harness.building import function, is_pir, operator
from gen_models.harness.marks import COMPLEX_HERE, LEGACY, NEW, NOT_EMPTY, pir
from gen_models.harness.spec import Op, case, int32s, int64s, paddle, tensor


def _gather(x, index, axis_tensor=None, *, axis=None, as_tensor=False):
    if axis_tensor is not None:
        return paddle.gather(x, index, axis_tensor)
    return paddle.gather(x, index, paddle.full([1], axis, "int32") if as_tensor else axis)


def _gather_nd(x, index, declared=None):
    out = paddle.gather_nd(x, index)
    if declared is not None:  # Paddle declares nonsense where it does not know the last dimension of index
        if is_pir():
            out.set_type(paddle.pir.create_shaped_type(out.type(), declared))
        else:
            out.desc.set_shape(declared)
    return paddle.tanh(out) if declared else out


def _index_select(x, index=None, *, axis=0, places=None, unsqueeze=None):
    if unsqueeze is not None:
        x = paddle.unsqueeze(x, unsqueeze)
    if places is not None:
        index = paddle.to_tensor(places, "int64")
    return paddle.index_select(x, index, axis)


def _embedding(x, *, rows, width, padding_idx=None, zero_padding=True, **options):
    table = np.random.default_rng(7).uniform(-1, 1, [rows, width]).astype("float32")
    if padding_idx is not None and zero_padding:
        table[padding_idx] = 0
    rows = paddle.create_parameter(table.shape, "float32", default_initializer=paddle.nn.initializer.Assign(table))
    return paddle.nn.functional.embedding(x, rows, padding_idx, **options)


def _tdm_child(x, *, tree):
    rows = np.array(tree, "int32")
    attr = paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(rows))
    return paddle.incubate.layers.tdm_child(x, len(tree), rows.shape[1] - 3, attr)


_TREE = [
    [0, 0, 0, 0, 0],
    [0, 0, 0, 2, 3],
    [0, 1, 1, 4, 5],
    [0, 1, 1, 6, 0],
    [11, 2, 2, 0, 0],
    [12, 2, 2, 0, 0],
    [13, 2, 3, 0, 0],
]
"""Rows of (item, layer, parent, children); node 0 is none."""


OPS = [
    Op(
        "gather",
        _gather,
        case(x=tensor([4, 5]), index=int32s(2), axis=1),
        case(x=tensor([4, 5, 6]), index=int64s(0, 3, 1), axis=-2, **pir("Paddle 2.6 runs out of memory")),
        case(x=tensor([4, 5]), index=tensor([], "int64", values=[2])),
        case(x=tensor([4, 5]), index=tensor([], "int64", values=[2]), axis=1),
        case(x=tensor([4, 5]), index=tensor([3, 1], "int64", 0, 4)),
        case(x=tensor([4, 5]), index=tensor([0], "int64"), **NEW),
        case(x=tensor([4, 5]), index=int64s(-1, 0), **NEW),
        case(x=tensor([4, 5], dims=[-1, -1]), index=int64s(0, 3, 1, dims=[-1])),
        case(x=tensor([4, 5], "int64"), index=int64s(0, 1), axis=1, as_tensor=True),
        case(x=tensor([4], "int32"), index=int64s(0, 1)),
        *[
            case(
                x=tensor([4, 5, 6], dims=[-1, 5, -1]),
                index=int64s(0, 3, 1),
                axis_tensor=int32s(axis),
                **pir("Paddle 2.6 runs out of memory"),
            )
            for axis in (0, 1, 2)
        ],
        case(x=tensor([4, 5]), index=int64s(0, 3), axis_tensor=int64s(1)),
        case(x=tensor([4], dims=[-1]), index=int64s(2, 3), axis_tensor=int64s(0)),
    ),
    Op(
        "gather_nd",
        _gather_nd,
        case(x=tensor([4, 5]), index=tensor([3, 1], "int32", 0, 4)),
        case(x=tensor([4, 5, 6]), index=tensor([2, 3, 2], "int64", 0, 4)),
        case(x=tensor([4, 5]), index=tensor([2], "int64", 0, 4)),
        case(x=tensor([4, 5], dims=[-1, -1]), index=tensor([3, 2], "int64", 0, 4, dims=[-1, 2])),
        case(x=tensor([4, 5], "int64"), index=tensor([2, 2], "int64", values=[[-1, 2], [0, -5]]), **NEW),
        case(x=tensor([4, 5], "bool"), index=tensor([3, 2], "int64", 0, 4)),
        case(x=tensor([4, 5]), index=tensor([3, 0], "int64")),
        case(x=tensor([4, 5]), index=tensor([0, 2], "int64", dims=[-1, 2])),
        # the rank of the result says how many dimensions an index has
        case(x=tensor([4, 5]), index=tensor([3, 2], "int64", 0, 4, dims=[-1, -1]), declared=[-1], is_varied=False),
        case(x=tensor([4, 5]), index=tensor([3, 1], "int64", 0, 4, dims=[3, -1]), declared=[3, 5], is_varied=False),
        case(
            x=tensor([4, 5, 6], dims=[-1, 5, -1]),
            index=tensor([2, 3, 2], "int32", 0, 4, dims=[-1, -1, -1]),
            declared=[-1, -1, -1],
            is_varied=False,
        ),
        case(x=tensor([4, 5]), index=tensor([2], "int64", 0, 4, dims=[-1]), declared=[], is_varied=False),
        case(x=tensor([4, 5]), index=tensor([2, 0], "int64", dims=[-1, -1]), declared=[2, 4, 5], is_varied=False),
    ),
    Op(
        "index_select",
        _index_select,
        case(x=tensor([4, 5]), index=int64s(0, 3, 1)),
        case(x=tensor([4, 5]), index=int32s(2, 2), axis=1),
        case(x=tensor([4, 5, 6], "int64", dims=[-1, 5, -1]), index=int64s(0, 3, dims=[-1]), axis=-1),
        case(x=tensor([2, 3], dims=[-1, -1]), places=[0], axis=1, unsqueeze=1),
        case(x=tensor([2, 3], dims=[-1, 3]), places=[0, 0], axis=-1, unsqueeze=-1),
    ),
    Op(
        "index_sample",
        function("index_sample"),
        case(x=tensor([3, 5]), index=tensor([3, 2], "int64", 0, 5)),
        case(x=tensor([3, 5], dims=[-1, 5]), index=tensor([3, 7], "int32", 0, 5, dims=[-1, 7])),
        case(x=tensor([3, 5], "int64"), index=tensor([3, 1], "int64", 0, 5)),
    ),
    Op(
        "take_along_axis",
        function("take_along_axis"),
        case(arr=tensor([3, 5]), indices=tensor([3, 2], "int64", 0, 5), axis=1),
        case(arr=tensor([3, 5]), indices=tensor([2, 5], "int64", 0, 3), axis=0),
        case(arr=tensor([3, 5]), indices=tensor([1, 5], "int32", 0, 3), axis=-2),
        case(arr=tensor([3, 5, 4]), indices=tensor([3, 1, 4], "int64", 0, 5), axis=1),
        case(arr=tensor([3, 5, 4]), indices=tensor([1, 2, 1], "int64", 0, 5), axis=1),
        case(arr=tensor([3, 5], "int64", dims=[-1, -1]), indices=tensor([3, 2], "int64", 0, 5, dims=[-1, -1]), axis=1),
        case(
            arr=tensor([2, 2], "int32", values=[[2**24 + 1, 5], [-(2**30) - 1, 2**31 - 1]], dims=[-1, -1]),
            indices=tensor([2, 1], "int64", values=[[0], [1]]),
            axis=1,
        ),
        case(arr=tensor([6]), indices=int64s(0, 5, -1), axis=0, **NEW),
        case(arr=tensor([3, 5]), indices=tensor([2, 4], "int64", 0, 5), axis=1, broadcast=False, **NEW),
    ),
    Op(
        "lookup_table_v2",
        _embedding,
        case(x=tensor([2, 3], "int64", 0, 10), rows=10, width=4),
        case(x=tensor([2, 3], "int32", 0, 10), rows=10, width=4),
        case(x=tensor([2, 3], "int64", 0, 10, dims=[-1, -1]), rows=10, width=4),
        case(x=int64s(0, 3, 9, 3), rows=10, width=4, padding_idx=3),
        case(x=int64s(0, 3, 9, 3), rows=10, width=4, padding_idx=3, zero_padding=False),
        case(x=int64s(0, 3, 9, 3), rows=10, width=4, padding_idx=-1, zero_padding=False),
        case(x=tensor([], "int64", 0, 10), rows=10, width=4),
        case(x=tensor([0, 3], "int64"), rows=10, width=4),
    ),
    Op(
        "embedding_with_scaled_gradient",
        lambda x, **options: _embedding(x, scale_grad_by_freq=True, **options),
        case(x=tensor([2, 3], "int64", 0, 10, dims=[-1, -1]), rows=10, width=4),
        case(x=int64s(0, 3, 9, 3), rows=10, width=4, padding_idx=3, zero_padding=False),
        **NEW,
    ),
    Op(
        "tdm_child",
        _tdm_child,
        case(x=tensor([7, 1], "int64", values=[[0], [1], [2], [3], [4], [5], [6]]), tree=_TREE),
        case(x=tensor([2, 3], "int32", 0, 7, dims=[-1, -1]), tree=_TREE),
    ),
    Op(
        "lookup_table",
        operator("lookup_table", {"weight": "W", "x": "Ids"}, padding_idx=-1),
        case(x=tensor([4, 1], "int64", 0, 10), weight=tensor([10, 3])),
        **LEGACY,
    ),
    Op(
        "where",
        function("where"),
        case(condition=tensor([3, 4], "bool"), x=tensor([3, 4]), y=tensor([3, 4])),
        case(condition=tensor([3, 4], "bool"), x=tensor([3, 1]), y=tensor([4])),
        case(condition=tensor([], "bool"), x=tensor([]), y=tensor([])),
        case(condition=tensor([3, 4], "bool"), x=tensor([3, 4], "int64"), y=tensor([3, 4], "int64")),
        case(
            condition=tensor([3, 4], "bool", dims=[-1, -1]),
            x=tensor([3, 4], dims=[-1, -1]),
            y=tensor([3, 4], dims=[-1, 4]),
        ),
        case(condition=tensor([0, 4], "bool"), x=tensor([0, 4]), y=tensor([0, 4])),
        case(condition=tensor([40], "bool"), x=tensor([40], "int32", 2**24, 2**31), y=tensor([1], "int32", 0, 9)),
        case(
            condition=tensor([40], "bool"),
            x=tensor([40], "int64", 2**24, 2**31),
            y=tensor([40], "int64", 1 - 2**31, -(2**24)),
        ),
    ),
    Op(
        "where_index",
        lambda x, cast=None: paddle.nonzero(x if cast is None else paddle.cast(x, cast)),
        case(x=tensor([5], values=[0.5, 0, 1.5, 0.99, 2], dims=[-1]), cast="int32"),
        case(x=tensor([2, 3], values=[[0.5, -0.5, 3], [1, -1, -0.0]]), cast="int64"),
        case(x=tensor([6], "int64", -1, 2)),
        case(x=tensor([2, 3, 4], "int32", -1, 2, dims=[-1, -1, -1])),
        case(x=tensor([3, 4], "float32", values=[0, 1, 0, -0.0, 2, 0, 0, 3, 0, 0, 0, float("nan")])),
        case(x=tensor([3, 4], "bool", values=[False] * 12)),
        case(x=tensor([1, 3], "bool", values=[True, False, True])),
        case(x=tensor([2, 2], "complex64", values=[[0, 1j], [1, 0]]), **COMPLEX_HERE),
    ),
    Op(
        "masked_select",
        function("masked_select"),
        case(x=tensor([3, 4]), mask=tensor([3, 4], "bool")),
        case(x=tensor([3, 4], "int64", dims=[-1, -1]), mask=tensor([3, 4], "bool", dims=[-1, -1])),
        case(x=tensor([6]), mask=tensor([6], "bool", values=[False] * 6)),
        case(x=tensor([3, 4]), mask=tensor([3, 1], "bool"), **pir("Paddle 2 does not broadcast here")),
        case(
            x=tensor([3, 4], dims=[-1, -1]),
            mask=tensor([3, 1], "bool", dims=[-1, -1]),
            **pir("Paddle 2 does not broadcast here"),
        ),
        case(x=tensor([0, 2]), mask=tensor([0, 2], "bool"), **NOT_EMPTY),
    ),
    Op(
        "masked_fill",
        function("masked_fill"),
        case(x=tensor([3, 4]), mask=tensor([3, 4], "bool"), value=2.5),
        case(x=tensor([3, 4], dims=[-1, -1]), mask=tensor([3, 4], "bool", dims=[-1, -1]), value=-1e9),
        case(x=tensor([3, 4]), mask=tensor([4], "bool"), value=2.5),
        case(x=tensor([3, 4], "int64"), mask=tensor([3, 4], "bool"), value=2),
        case(x=tensor([40], "int32", 2**24, 2**31), mask=tensor([40], "bool"), value=-7),
        case(x=tensor([3, 4], "complex64"), mask=tensor([3, 4], "bool"), value=2.5, **COMPLEX_HERE),
    ),
    Op(
        "shard_index",
        function("shard_index"),
        case(x=tensor([4, 1], "int64", 0, 20), index_num=20, nshards=2, shard_id=0),
        case(x=tensor([4, 1], "int64", 0, 20), index_num=20, nshards=3, shard_id=2, ignore_value=-5),
        case(x=tensor([4, 1], "int32", 0, 20, dims=[-1, 1]), index_num=20, nshards=3, shard_id=1),
        case(
            x=tensor([3, 1], "int64", values=[2**24 + 1, 2**25 + 3, 2**27 + 1], dims=[-1, 1]),
            index_num=2**28,
            nshards=2,
            shard_id=0,
            ignore_value=-(2**24) - 1,
        ),
    ),
]
