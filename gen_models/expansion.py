"""Programs for converters/expansion.py."""

from gen_models.harness.building import function, operator
from gen_models.harness.marks import LEGACY, pir
from gen_models.harness.spec import Op, case, int32s, int64s, paddle, tensor


def _expand(x, like=None, *, shape):
    """A string in `shape` names a dimension of `like`."""
    if like is not None:
        own = paddle.shape(like)
        shape = [own[int(dim)] if isinstance(dim, str) else dim for dim in shape]
    return paddle.expand(x, shape)


def _repeat_interleave(x, *, repeats, axis=None, unsqueeze=None):
    if unsqueeze is not None:  # along a new axis, as where heads share keys
        x = paddle.unsqueeze(x, unsqueeze)
    return paddle.repeat_interleave(x, repeats, axis)


OPS = [
    Op(
        "expand_v2",
        _expand,
        case(x=tensor([1, 3]), shape=[4, 3]),
        case(x=tensor([3]), shape=[2, 4, 3]),
        case(x=tensor([1, 3, 1]), shape=[2, -1, -1, 5]),
        case(x=tensor([]), shape=[2, 3]),
        case(x=tensor([3]), shape=[3]),
        case(x=tensor([1, 3], dims=[-1, 3]), shape=[4, 3]),
        case(x=tensor([2, 1], dims=[-1, -1]), shape=[-1, 5]),
        case(x=tensor([1, 3], "int64"), shape=int32s(4, 3)),
        case(x=tensor([1, 3], "bool"), shape=[int32s(4), -1]),
        case(x=tensor([1, 1, 8]), like=tensor([3, 5], dims=[-1, 5]), shape=["0", -1, -1]),
        case(x=tensor([1, 1, 8], dims=[1, -1, 8]), like=tensor([3, 5], dims=[-1, -1]), shape=["0", "1", 8]),
        case(x=tensor([1, 3], "int32"), shape=[0, 3], **pir("Paddle 2 refuses a dimension of 0")),
    ),
    Op(
        "expand_as_v2",
        function("expand_as"),
        case(x=tensor([1, 3]), y=tensor([4, 3])),
        case(x=tensor([3]), y=tensor([2, 4, 3])),
        case(x=tensor([]), y=tensor([2, 3])),
        case(x=tensor([]), y=tensor([])),
        case(x=tensor([1, 3], "int64", dims=[-1, 3]), y=tensor([4, 3], "int64", dims=[-1, 3])),
        case(x=tensor([1, 3], "bool"), y=tensor([4, 3], "bool")),
    ),
    Op(
        "expand",
        operator("expand", names={"times": "expand_times"}),
        case(x=tensor([2, 3]), times=[2, 1]),
        case(x=tensor([2, 3], dims=[-1, 3]), times=[2, 3]),
        **LEGACY,
    ),
    Op(
        "tile",
        function("tile"),
        *(
            case(x=tensor([2, 3]), repeat_times=repeat_times)
            for repeat_times in ([2, 1], [2], [2, 1, 3], [1, 1], [1, 1, 1])
        ),
        case(x=tensor([2, 2, 2, 1]), repeat_times=[1, 2, 2, 2, 2]),
        case(x=tensor([2, 1, 2, 3], dims=[-1, 1, -1, 3]), repeat_times=[2, 3, 2, 1]),
        case(x=tensor([3, 1, 1, 2, 2], dims=[-1, 1, 1, 2, 2]), repeat_times=[3, 2, 2, 1, 1]),
        case(x=tensor([2, 1, 2, 1, 2], dims=[-1, 1, -1, 1, 2]), repeat_times=int32s(2, 2, 1, 2, 2)),
        case(x=tensor([2, 2, 1]), repeat_times=int32s(3, 2, 2, 2, 2)),
        case(x=tensor([]), repeat_times=[3]),
        case(x=tensor([]), repeat_times=[2, 3]),
        case(x=tensor([2, 3], "int64", dims=[-1, -1]), repeat_times=[2, 2]),
        case(x=tensor([2, 3], "bool"), repeat_times=[1, 2]),
        case(x=tensor([2, 3], dims=[-1, 3]), repeat_times=int32s(2, 1, 2)),
        case(x=tensor([2, 3], "int32"), repeat_times=[int32s(2), 3]),
    ),
    Op(
        "repeat_interleave",
        _repeat_interleave,
        case(x=tensor([2, 3]), repeats=2),
        case(x=tensor([2, 3]), repeats=2, axis=0),
        case(x=tensor([2, 3]), repeats=3, axis=-1, **pir("Paddle 2.6 aborts on a negative axis")),
        case(x=tensor([2, 3], "int64", dims=[-1, 3]), repeats=2, axis=0),
        case(x=tensor([2, 3, 4], dims=[-1, -1, -1]), repeats=1, axis=1),
        case(x=tensor([2, 3, 4], dims=[-1, -1, 4]), repeats=3, axis=2, unsqueeze=2),
        case(x=tensor([2, 3], dims=[-1, 3]), repeats=2, axis=0, unsqueeze=-3),
    ),
    Op(
        "repeat_interleave_with_tensor_index",
        _repeat_interleave,
        case(x=tensor([2, 3]), repeats=int32s(1, 2, 3), axis=1),
        case(x=tensor([2, 3], dims=[-1, 3]), repeats=int64s(0, 2), axis=0),
        case(x=tensor([4], "int64"), repeats=int32s(3, 0, 0, 2), axis=0),
    ),
]
