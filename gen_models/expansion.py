"""Programs for converters/expansion.py."""

from __future__ import annotations

from hypothesis import strategies as st

from gen_models.harness.building import legacy_op
from gen_models.harness.marks import LEGACY
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


def _expand_random(draw):
    shape = draw(st.lists(st.sampled_from([1, 1, 2, 3]), max_size=4))
    target = [draw(st.integers(1, 3)) for _ in range(draw(st.integers(0, 2)))]
    target += [draw(st.sampled_from([dim, -1] if dim > 1 else [1, 2, 3, -1])) for dim in shape]
    dims = [draw(st.sampled_from([dim, -1])) for dim in shape]
    dtype = draw(st.sampled_from(["float32", "int64", "bool"]))
    return case(x=tensor(shape, dtype, dims=dims), shape=target or [1])


def _expand_as_random(draw):
    full = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    kept = full[draw(st.integers(0, len(full))) :]
    return case(x=tensor([draw(st.sampled_from([dim, 1])) for dim in kept]), y=tensor(full))


def _tile_random(draw):
    shape = draw(st.lists(st.integers(1, 3), max_size=5))
    times = draw(st.lists(st.integers(1, 3), min_size=1, max_size=5))
    dims = [draw(st.sampled_from([dim, -1])) for dim in shape]
    return case(x=tensor(shape, draw(st.sampled_from(["float32", "int64", "bool"])), dims=dims), repeat_times=times)


def _repeat_random(draw):
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    axis = draw(st.none() | st.integers(0, len(shape) - 1))
    return case(x=tensor(shape), repeats=draw(st.integers(1, 3)), axis=axis)


def _repeat_each_random(draw):
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    axis = draw(st.integers(0, len(shape) - 1))
    repeats = [draw(st.integers(0, 3)) for _ in range(shape[axis])]
    repeats[0] += 1
    return case(x=tensor(shape), repeats=int32s(*repeats), axis=axis)


def _old_expand_random(draw):
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    times = [draw(st.integers(1, 3)) for _ in shape]
    dims = [draw(st.sampled_from([dim, -1])) for dim in shape]
    return case(x=tensor(shape, dims=dims), times=times, **LEGACY)


OPS = [
    Op(
        "expand_v2",
        _expand,
        case(x=tensor([1, 3]), shape=[4, 3]),
        case(x=tensor([1, 3]), shape=[4, -1]),
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
        case(x=tensor([1, 3], "int32"), shape=[0, 3], formats=("pir",), why="Paddle 2 refuses a dimension of 0"),
        random=_expand_random,
    ),
    Op(
        "expand_as_v2",
        lambda x, y: paddle.expand_as(x, y),
        case(x=tensor([1, 3]), y=tensor([4, 3])),
        case(x=tensor([3]), y=tensor([2, 4, 3])),
        case(x=tensor([]), y=tensor([2, 3])),
        case(x=tensor([]), y=tensor([])),
        case(x=tensor([1, 3], "int64", dims=[-1, 3]), y=tensor([4, 3], "int64", dims=[-1, 3])),
        case(x=tensor([1, 3], "bool"), y=tensor([4, 3], "bool")),
        random=_expand_as_random,
    ),
    Op(
        "expand",
        lambda x, times: legacy_op("expand", {"X": x}, {"Out": x.dtype}, {"expand_times": times}),
        case(x=tensor([2, 3]), times=[2, 1], **LEGACY),
        case(x=tensor([2, 3], dims=[-1, 3]), times=[2, 3], **LEGACY),
        random=_old_expand_random,
    ),
    Op(
        "tile",
        lambda x, repeat_times: paddle.tile(x, repeat_times),
        case(x=tensor([2, 3]), repeat_times=[2, 1]),
        case(x=tensor([2, 3]), repeat_times=[2]),
        case(x=tensor([2, 3]), repeat_times=[2, 1, 3]),
        case(x=tensor([2, 3]), repeat_times=[1, 1]),
        case(x=tensor([2, 3]), repeat_times=[1, 1, 1]),
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
        random=_tile_random,
    ),
    Op(
        "repeat_interleave",
        _repeat_interleave,
        case(x=tensor([2, 3]), repeats=2),
        case(x=tensor([2, 3]), repeats=2, axis=0),
        case(x=tensor([2, 3]), repeats=3, axis=-1, formats=("pir",), why="Paddle 2.6 aborts on a negative axis"),
        case(x=tensor([2, 3], "int64", dims=[-1, 3]), repeats=2, axis=0),
        case(x=tensor([2, 3, 4], dims=[-1, -1, -1]), repeats=1, axis=1),
        case(x=tensor([2, 3, 4], dims=[-1, -1, 4]), repeats=3, axis=2, unsqueeze=2),
        case(x=tensor([2, 3], dims=[-1, 3]), repeats=2, axis=0, unsqueeze=-3),
        random=_repeat_random,
    ),
    Op(
        "repeat_interleave_with_tensor_index",
        _repeat_interleave,
        case(x=tensor([2, 3]), repeats=int32s(1, 2, 3), axis=1),
        case(x=tensor([2, 3], dims=[-1, 3]), repeats=int64s(0, 2), axis=0),
        case(x=tensor([4], "int64"), repeats=int32s(3, 0, 0, 2), axis=0),
        random=_repeat_each_random,
    ),
]
