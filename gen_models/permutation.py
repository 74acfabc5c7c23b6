"""Programs for converters/permutation.py."""

from __future__ import annotations

from hypothesis import strategies as st

from gen_models.harness.building import legacy_op
from gen_models.harness.marks import LEGACY
from gen_models.harness.spec import Op, case, paddle, tensor


def _shaped(draw, low=1, high=5, max_rank=5):
    shape = draw(st.lists(st.integers(low, high), min_size=1, max_size=max_rank))
    dims = [draw(st.sampled_from([dim, -1])) for dim in shape]
    return shape, dims


def _transpose_random(draw):
    shape, dims = _shaped(draw)
    perm = draw(st.permutations(range(len(shape))))
    dtype = draw(st.sampled_from(["float32", "int32", "int64", "bool"]))
    return case(x=tensor(shape, dtype, dims=dims), perm=list(perm))


def _flip_random(draw):
    shape, dims = _shaped(draw)
    rank = len(shape)
    axes = draw(st.lists(st.integers(-rank, rank - 1), min_size=1, max_size=rank, unique_by=lambda axis: axis % rank))
    return case(x=tensor(shape, dims=dims), axis=axes)


def _roll_random(draw):
    shape, dims = _shaped(draw)
    rank = len(shape)
    axes = draw(st.lists(st.integers(-rank, rank - 1), min_size=1, max_size=rank, unique_by=lambda axis: axis % rank))
    shifts = draw(st.lists(st.integers(-7, 7), min_size=len(axes), max_size=len(axes)))
    return case(x=tensor(shape, dims=dims), shifts=shifts, axis=axes)


def _shuffle_random(draw):
    factor = draw(st.integers(1, 3))
    n, c, h, w = (draw(st.integers(1, 3)) for _ in range(4))
    shape = [n, c * factor * factor, h, w]
    layout = draw(st.sampled_from(["NCHW", "NHWC"]))
    shape = shape if layout == "NCHW" else [shape[0], *shape[2:], shape[1]]
    return case(x=tensor(shape), factor=factor, data_format=layout)


def _unshuffle_random(draw):
    factor = draw(st.integers(1, 3))
    n, c, h, w = (draw(st.integers(1, 3)) for _ in range(4))
    shape = [n, c, h * factor, w * factor]
    layout = draw(st.sampled_from(["NCHW", "NHWC"]))
    shape = shape if layout == "NCHW" else [shape[0], *shape[2:], shape[1]]
    return case(x=tensor(shape), factor=factor, data_format=layout)


def _channel_shuffle_random(draw):
    groups = draw(st.integers(1, 4))
    shape = [
        draw(st.integers(1, 3)),
        groups * draw(st.integers(1, 3)),
        draw(st.integers(1, 3)),
        draw(st.integers(1, 3)),
    ]
    layout = draw(st.sampled_from(["NCHW", "NHWC"]))
    shape = shape if layout == "NCHW" else [shape[0], *shape[2:], shape[1]]
    return case(x=tensor(shape), groups=groups, data_format=layout)


def _old_transpose_random(draw):
    drawn = _transpose_random(draw).arguments
    return case(x=tensor(drawn["x"].shape), perm=drawn["perm"], **LEGACY)


def _reverse_random(draw):
    shape, dims = _shaped(draw)
    axes = draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True))
    return case(x=tensor(shape, dims=dims), axis=axes, **LEGACY)


def _shuffle_channel_random(draw):
    group = draw(st.integers(1, 4))
    shape = [draw(st.integers(1, 3)), group * draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.integers(1, 3))]
    return case(x=tensor(shape), group=group, **LEGACY)


OPS = [
    Op(
        "transpose2",
        lambda x, perm: paddle.transpose(x, perm),
        case(x=tensor([2, 3]), perm=[1, 0]),
        case(x=tensor([1, 7]), perm=[1, 0]),
        case(x=tensor([7, 1]), perm=[1, 0]),
        case(x=tensor([2, 3, 4, 5]), perm=[0, 2, 1, 3]),
        case(x=tensor([2, 3, 4, 5]), perm=[0, 2, 3, 1]),
        case(x=tensor([2, 3, 4, 5]), perm=[0, -1, -3, -2]),
        case(x=tensor([2, 3, 4], dims=[-1, 3, -1]), perm=[2, 0, 1]),
        case(x=tensor([2, 1, 4], dims=[-1, 1, 4]), perm=[1, 0, 2]),
        case(x=tensor([2, 1, 4], dims=[-1, 1, -1]), perm=[0, 2, 1]),
        case(x=tensor([1, 2, 1, 4], dims=[1, -1, 1, -1]), perm=[1, 0, 3, 2]),
        case(x=tensor([1, 0, 4]), perm=[1, 0, 2]),
        case(x=tensor([5]), perm=[0]),
        case(x=tensor([]), perm=[]),
        case(x=tensor([2, 3, 4], "int64"), perm=[2, 1, 0]),
        case(x=tensor([2, 3, 4], "bool"), perm=[1, 2, 0]),
        case(x=tensor([2, 1, 2, 1, 2, 3], "int32"), perm=[5, 0, 4, 1, 3, 2]),
        random=_transpose_random,
    ),
    Op(
        "transpose",
        lambda x, perm: legacy_op("transpose", {"X": x}, {"Out": x.dtype}, {"axis": perm}),
        case(x=tensor([2, 3, 4]), perm=[0, 2, 1], **LEGACY),
        random=_old_transpose_random,
    ),
    Op(
        "flip",
        lambda x, axis: paddle.flip(x, axis),
        case(x=tensor([2, 3]), axis=[0]),
        case(x=tensor([2, 3, 4]), axis=[-1, 0]),
        case(x=tensor([2, 3, 4], "int64"), axis=1),
        case(x=tensor([2, 3, 4], "bool"), axis=[0, 1, 2]),
        case(x=tensor([2, 3, 4], dims=[-1, -1, 4]), axis=[1, 2]),
        case(x=tensor([0, 3]), axis=[0]),
        case(x=tensor([2, 3]), axis=[]),
        case(x=tensor([]), axis=[]),
        random=_flip_random,
    ),
    Op(
        "reverse",
        lambda x, axis: legacy_op("reverse", {"X": x}, {"Out": x.dtype}, {"axis": axis}),
        case(x=tensor([2, 3, 4]), axis=[0, 2], **LEGACY),
        random=_reverse_random,
    ),
    Op(
        "roll",
        lambda x, shifts, axis=None: paddle.roll(x, shifts, axis),
        case(x=tensor([3, 4]), shifts=1),
        case(x=tensor([3, 4]), shifts=-5),
        case(x=tensor([3, 4]), shifts=2, axis=0),
        case(x=tensor([3, 4, 5]), shifts=[2, -1], axis=[1, -1]),
        case(x=tensor([2, 8, 8, 3], dims=[-1, 8, 8, 3]), shifts=[-4, -4], axis=[1, 2]),
        case(x=tensor([3, 4], "int64", dims=[-1, -1]), shifts=[9], axis=[1]),
        case(x=tensor([3, 4], "int32", dims=[-1, -1]), shifts=3),
        case(x=tensor([3, 4]), shifts=tensor([2], "int64", values=[1, -1]), axis=[0, 1]),
        case(x=tensor([0, 4]), shifts=1, axis=0),
        random=_roll_random,
    ),
    Op(
        "pixel_shuffle",
        lambda x, factor, data_format="NCHW": paddle.nn.functional.pixel_shuffle(x, factor, data_format),
        case(x=tensor([2, 8, 3, 4]), factor=2),
        case(x=tensor([1, 9, 3, 4], dims=[-1, 9, -1, -1]), factor=3),
        case(x=tensor([2, 3, 4, 8]), factor=2, data_format="NHWC"),
        case(x=tensor([2, 3, 4, 5]), factor=1),
        random=_shuffle_random,
    ),
    Op(
        "pixel_unshuffle",
        lambda x, factor, data_format="NCHW": paddle.nn.functional.pixel_unshuffle(x, factor, data_format),
        case(x=tensor([2, 2, 4, 6]), factor=2),
        case(x=tensor([1, 2, 6, 9], dims=[-1, 2, 6, 9]), factor=3),
        case(x=tensor([2, 4, 6, 3]), factor=2, data_format="NHWC"),
        random=_unshuffle_random,
    ),
    Op(
        "channel_shuffle",
        lambda x, groups, data_format="NCHW": paddle.nn.functional.channel_shuffle(x, groups, data_format),
        case(x=tensor([2, 6, 3, 4]), groups=2),
        case(x=tensor([2, 6, 3, 4], dims=[-1, 6, -1, -1]), groups=3),
        case(x=tensor([2, 3, 4, 6]), groups=2, data_format="NHWC"),
        random=_channel_shuffle_random,
    ),
    Op(
        "shuffle_channel",
        lambda x, group: legacy_op("shuffle_channel", {"X": x}, {"Out": x.dtype}, {"group": group}),
        case(x=tensor([2, 6, 3, 4]), group=3, **LEGACY),
        random=_shuffle_channel_random,
    ),
]
