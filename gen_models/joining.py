"""Programs for converters/joining.py."""

from gen_models.harness.building import function, legacy_op
from gen_models.harness.marks import COMPLEX_HERE, legacy, pir
from gen_models.harness.spec import Op, case, int32s, paddle, tensor


def _split(x, *, parts, axis=0, as_tensor=False):
    if as_tensor:
        axis = paddle.full([1], axis, "int32")
        parts = parts if isinstance(parts, int) else [paddle.full([1], parts[0], "int32"), *parts[1:]]
    return paddle.split(x, parts, axis)


def _partial(kind):
    def build(x, *, start_index=0, length=-1):
        return legacy_op(kind, {"X": x}, {"Out": x[0].dtype}, {"start_index": start_index, "length": length})

    return build


LEGACY_ONLY = legacy("no function of Paddle 3 makes it")
_PARTS = [
    case(x=[tensor([3, 5]), tensor([3, 5])]),
    case(x=[tensor([3, 5]), tensor([3, 5])], start_index=1, length=2),
    case(x=[tensor([3, 5]), tensor([3, 5]), tensor([3, 5])], start_index=-2, length=2),
    case(x=[tensor([3, 5], dims=[-1, 5])] * 2, start_index=-3, length=1),
]


OPS = [
    Op("partial_concat", _partial("partial_concat"), *_PARTS, **LEGACY_ONLY),
    Op("partial_sum", _partial("partial_sum"), *_PARTS[:2], **LEGACY_ONLY),
    Op(
        "concat",
        lambda x, axis=0, as_tensor=False: paddle.concat(x, paddle.full([1], axis, "int32") if as_tensor else axis),
        case(x=[tensor([2, 3]), tensor([2, 1]), tensor([2, 2])], axis=1),
        case(x=[tensor([2, 3, 4]), tensor([2, 3, 1])], axis=-1),
        case(x=[tensor([2, 3], dims=[-1, 3]), tensor([4, 3], dims=[-1, 3])]),
        case(x=[tensor([2, 3], dims=[-1, -1]), tensor([2, 2], dims=[-1, -1])], axis=1),
        case(x=[tensor([0, 3]), tensor([4, 3])]),
        case(x=[tensor([2, 3])], axis=0),
        case(x=[tensor([2], "int64"), tensor([3], "int64")]),
        case(x=[tensor([2], "bool"), tensor([3], "bool")]),
        case(x=[tensor([2, 3], "int32"), tensor([2, 3], "int32")], axis=1, as_tensor=True),
        case(x=[tensor([2, 3]), tensor([2, 3])], axis=-2),
        case(x=[tensor([2, 3, 4]), tensor([2, 1, 4])], axis=tensor([], "int64", values=1)),
        case(x=[tensor([2, 3], dims=[-1, 3]), tensor([2, 2], dims=[-1, 2])], axis=int32s(-1)),
        case(x=[tensor([2], "bool"), tensor([3], "bool")], axis=int32s(0)),
    ),
    Op(
        "stack",
        function("stack"),
        case(x=[tensor([2, 3]), tensor([2, 3])]),
        case(x=[tensor([2, 3]), tensor([2, 3])], axis=2),
        case(x=[tensor([2, 3]), tensor([2, 3])], axis=-2),
        case(x=[tensor([]), tensor([]), tensor([])]),
        case(x=[tensor([2], "int64")], axis=1),
        case(x=[tensor([2, 3], dims=[-1, -1])] * 3, axis=1),
        case(x=[tensor([0, 3])] * 2, **pir("Paddle 2 does not stack empty tensors")),
    ),
    Op(
        "split",
        _split,
        case(x=tensor([6, 4]), parts=[1, -1, 3]),
        case(x=tensor([6, 4]), parts=[3, 1], axis=1),
        case(x=tensor([6, 4]), parts=[3, -1], axis=-1),
        case(x=tensor([6, 4], dims=[-1, 4]), parts=[2, -1]),
        case(x=tensor([6, 4], dims=[-1, -1]), parts=[1, 1, 2], axis=1),
        case(x=tensor([6, 4], "int64"), parts=[6]),
        case(x=tensor([6, 4], "bool"), parts=[2, 4]),
        case(x=tensor([6, 4]), parts=[2, 4], as_tensor=True),
        case(x=tensor([6, 4]), parts=[int32s(2), 4]),
        case(x=tensor([6, 4]), parts=[3, -1], axis=tensor([], "int64", values=1)),
        case(x=tensor([2, 6, 4], dims=[-1, -1, 4]), parts=[1, 2, 3], axis=int32s(1)),
    ),
    Op(
        "split_with_num",
        _split,
        case(x=tensor([6, 4]), parts=3),
        case(x=tensor([6, 4, 2], dims=[-1, -1, 2]), parts=2, axis=-2),
        case(x=tensor([6, 4], "int64"), parts=1),
        case(x=tensor([6, 4]), parts=4, axis=1),
        case(x=tensor([6, 4]), parts=2, axis=1, as_tensor=True),
        case(x=tensor([6, 4]), parts=2, axis=tensor([], "int64", values=0)),
        case(x=tensor([2, 6, 4], dims=[-1, -1, 4]), parts=3, axis=int32s(1)),
    ),
    Op(
        "unstack",
        function("unstack"),
        case(x=tensor([3, 4]), axis=1),
        case(x=tensor([3, 4, 2]), axis=-2),
        case(x=tensor([3])),
        case(x=tensor([1, 4], "int64")),
        case(x=tensor([3, 4], dims=[3, -1])),
    ),
    Op(
        "unbind",
        function("unbind"),
        case(x=tensor([3, 4]), axis=1),
        case(x=tensor([3, 4, 2]), axis=-1),
        case(x=tensor([1, 4], "int64")),
        case(x=tensor([3, 4, 5], dims=[3, -1, -1])),
    ),
    Op(
        "broadcast_tensors",
        function("broadcast_tensors"),
        case(x=[tensor([3, 1]), tensor([1, 4])]),
        case(x=[tensor([2, 3, 1]), tensor([4]), tensor([3, 4])]),
        case(x=[tensor([3, 4], "int64"), tensor([1], "int64")]),
        case(x=[tensor([3, 4], "bool"), tensor([1, 4], "bool")]),
        case(x=[tensor([3, 1], dims=[-1, 1]), tensor([1, 4], dims=[1, -1])]),
        case(x=[tensor([])] * 2),
    ),
    Op(
        "meshgrid",
        function("meshgrid"),
        case(x=[tensor([3]), tensor([4])]),
        case(x=[tensor([3]), tensor([4]), tensor([2])]),
        case(x=[tensor([3], dims=[-1]), tensor([4], dims=[-1])]),
        case(x=[tensor([3], "int64"), tensor([1], "int64")]),
        case(x=[tensor([3], "complex64"), tensor([2], "complex64")], **COMPLEX_HERE),
    ),
]
