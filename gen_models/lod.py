"""Sequences that lie one after the other: one, as it is fed, or several of one length."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from gen_models.harness.building import as_lod, legacy_op, operator
from gen_models.harness.marks import LOD, legacy
from gen_models.harness.spec import Op, TensorSpec, case, int64s, tensor

_F64 = legacy("Paddle 3 has no LoD; OpenVINO's CPU plugin computes f64 as f32")


def _read(build):
    """The builder, with its result read as sequences."""
    return lambda **given: backwards(build(**given))


def backwards(x):
    """What follows sees the sequences too: each of them read backwards."""
    return legacy_op("sequence_reverse", {"X": x}, {"Y": x.dtype}, {})


def _concat(xs, *, lods=None):
    sequences = [as_lod(x, lod) for x, lod in zip(xs, lods or [None] * len(xs), strict=True)]
    return backwards(legacy_op("sequence_concat", {"X": sequences}, {"Out": xs[0].dtype}, {}))


def _expand(x, y, *, lod=None, x_lod=None, ref_level=-1):
    x = as_lod(x, x_lod) if x_lod is not None else x
    out = legacy_op("sequence_expand", {"X": x, "Y": as_lod(y, lod)}, {"Out": x.dtype}, {"ref_level": ref_level})
    return backwards(out) if x_lod is not None else out


def _lod_reset(x, y=None, *, target_lod=None, lod=None, read=True):
    y = as_lod(y, lod) if lod else y
    attrs = {"target_lod": target_lod or []}
    out = legacy_op("lod_reset", {"X": x, "Y": y}, {"Out": x.dtype}, attrs)
    return backwards(out) if read else out


def step_rows(*shape: int, dtype: str = "float32", **data: Any) -> TensorSpec:
    """Steps of any number: dimension 0 is that of all sequences together."""
    return tensor(shape, dtype, dims=[-1, *shape[1:]], **data)


def _column(*values: int) -> TensorSpec:
    return tensor([len(values), 1], "int64", values=values)


def offsets(lengths: Sequence[int]) -> list[int]:
    """Where sequences of these lengths begin, and where the last one ends."""
    return [0, *itertools.accumulate(lengths)]


_POOLED = [
    case(x=step_rows(6, 3), lod=lod, pooltype=kind)
    for kind in ("AVERAGE", "SUM", "SQRT", "MAX", "LAST", "FIRST")
    for lod in (None, [0, 2, 4, 6], [0, 1, 4, 6])
]
WORDS = {"dtype": "int64", "low": 0, "high": 6}
_IDS = step_rows(4, 1, dtype="int64", values=[[1], [1], [5], [0]])
WINDOW = {"length": "contextLength", "start": "contextStart"}
"""What cases call the attributes of a window."""

OPS = [
    Op(
        "sequence_pool",
        operator(
            "sequence_pool",
            {"x": "X"},
            {"Out": "", "MaxIndex": "int32"},
            sequences="x",
            results=1,
            pooltype="AVERAGE",
            is_test=True,
        ),
        *_POOLED,
        case(x=step_rows(6, 3, 2), lod=[0, 3, 6], pooltype="MAX"),
        case(x=tensor([4, 2])),
        **LOD,
    ),
    Op(
        "sequence_softmax",
        operator("sequence_softmax", sequences="x"),
        case(x=step_rows(6, 1), **LOD),
        case(x=step_rows(6, 1), lod=[0, 3, 6], **LOD),
        case(x=step_rows(6, 1), lod=[0, 1, 4, 6], **LOD),
        case(x=step_rows(6, 1, dtype="float64"), lod=[0, 1, 2, 3, 4, 5, 6], **_F64),
    ),
    Op(
        "sequence_reverse",
        lambda x, lod=None: backwards(as_lod(x, lod)),
        case(x=step_rows(5, 3)),
        case(x=step_rows(6, 3), lod=[0, 2, 4, 6]),
        case(x=step_rows(6, 3), lod=[0, 1, 4, 6]),
        case(x=step_rows(6, 1, dtype="int64"), lod=[0, 6]),
        case(x=tensor([5, 1], "int64", values=[2**24 + 1, -(2**24) - 3, 2**31 - 1, -7, 2**30 + 1]), lod=[0, 2, 5]),
        **LOD,
    ),
    Op(
        "sequence_concat",
        _concat,
        case(xs=[step_rows(3, 2), step_rows(4, 2)]),
        case(xs=[step_rows(4, 2), step_rows(2, 2), step_rows(6, 2)], lods=[[0, 2, 4], [0, 1, 2], [0, 3, 6]]),
        case(xs=[step_rows(4, 2), step_rows(2, 2), step_rows(6, 2)], lods=[[0, 1, 4], [0, 1, 2], [0, 4, 6]]),
        **LOD,
    ),
    Op(
        "sequence_reshape",
        _read(operator("sequence_reshape", sequences="x")),
        case(x=step_rows(4, 6), new_dim=3),
        case(x=step_rows(4, 2), new_dim=4, lod=[0, 2, 4]),
        case(x=step_rows(6, 2), new_dim=4, lod=[0, 2, 6]),
        case(x=step_rows(3, 2), new_dim=1, lod=[0, 1, 3]),
        **LOD,
    ),
    Op(
        "sequence_pad",
        operator(
            "sequence_pad",
            {"x": "X", "pad_value": "PadValue"},
            {"Out": "", "Length": "int64"},
            sequences="x",
            padded_length=-1,
        ),
        case(x=step_rows(4, 3), pad_value=tensor([1])),
        case(x=step_rows(4, 3), pad_value=tensor([1]), padded_length=6),
        case(x=step_rows(4, 3), pad_value=tensor([3]), padded_length=4, lod=[0, 2, 4]),
        case(x=step_rows(4, 1, dtype="int64"), pad_value=tensor([1], "int64"), padded_length=5),
        case(x=step_rows(6, 3), pad_value=tensor([1]), lod=[0, 1, 4, 6]),
        case(x=step_rows(6, 3), pad_value=tensor([3]), padded_length=5, lod=[0, 1, 4, 6]),
        case(x=step_rows(6, 2, 2), pad_value=tensor([1]), padded_length=3, lod=[0, 1, 4, 6]),
        **LOD,
    ),
    Op(
        "sequence_unpad",
        _read(operator("sequence_unpad", {"x": "X", "length": "Length"})),
        case(
            x=tensor([1, 5, 2], dims=[1, -1, 2]),
            length=int64s(3),
            **legacy("Paddle 3 has no LoD; of a batch of unknown size the lengths may differ", dynamic=False),
        ),
        case(x=tensor([3, 5, 2]), length=int64s(3, 0, 5), **LOD),
        case(x=tensor([3, 5], dims=[-1, -1]), length=int64s(1, 5, 2, dims=[-1]), **LOD),
    ),
    Op(
        "sequence_slice",
        _read(operator("sequence_slice", {"x": "X", "offset": "Offset", "length": "Length"}, sequences="x")),
        case(x=step_rows(6, 2), offset=_column(2), length=_column(3)),
        case(x=step_rows(6, 2), offset=_column(1, 0), length=_column(3, 1), lod=[0, 4, 6]),
        case(x=step_rows(6, 2), offset=_column(1, 0), length=_column(1, 3), lod=[0, 3, 6]),
        **LOD,
    ),
    Op(
        "sequence_expand",
        _expand,
        case(x=tensor([1, 3]), y=step_rows(4, 1)),
        case(x=step_rows(3, 2), y=step_rows(6, 1), lod=[0, 2, 4, 6]),
        case(x=step_rows(4, 2), y=step_rows(6, 1), lod=[0, 3, 6], x_lod=[0, 2, 4], ref_level=0),
        case(x=step_rows(3, 2), y=step_rows(6, 1), lod=[0, 1, 4, 6]),
        case(x=step_rows(4, 2), y=step_rows(6, 1), lod=[0, 2, 6], x_lod=[0, 1, 4], ref_level=0),
        case(x=step_rows(4, 2), y=step_rows(6, 1), lod=[0, 3, 6], x_lod=[0, 1, 4], ref_level=0),
        **LOD,
    ),
    Op(
        "sequence_expand_as",
        _read(operator("sequence_expand_as", {"x": "X", "y": "Y"}, sequences="y")),
        case(x=tensor([1, 3]), y=step_rows(4, 1)),
        case(x=step_rows(3, 2), y=step_rows(6, 1), lod=[0, 2, 4, 6]),
        case(x=step_rows(3, 2), y=step_rows(6, 1), lod=[0, 1, 4, 6]),
        **LOD,
    ),
    Op(
        "sequence_conv",
        operator(
            "sequence_conv",
            {"x": "X", "filter": "Filter"},
            sequences="x",
            names=WINDOW,
            start=0,
            contextStride=1,
            paddingTrainable=False,
        ),
        case(x=step_rows(5, 2), filter=tensor([6, 4]), length=3, start=-1),
        case(x=step_rows(6, 2), filter=tensor([6, 4]), length=3, start=-1, lod=[0, 2, 6]),
        case(x=step_rows(6, 2), filter=tensor([4, 3]), length=2, start=1, lod=[0, 1, 4, 6]),
        case(x=step_rows(6, 2), filter=tensor([4, 3]), length=2, start=0, lod=[0, 2, 4, 6]),
        case(x=step_rows(6, 2), filter=tensor([4, 3]), length=2, start=1, lod=[0, 2, 4, 6]),
        case(x=step_rows(6, 2), filter=tensor([4, 3]), length=2, start=-3, lod=[0, 6]),
        case(x=step_rows(2, 2), filter=tensor([2, 3]), length=1, start=-4),
        case(x=step_rows(2, 2), filter=tensor([4, 3]), length=2, start=3, lod=[0, 1, 2]),
        **LOD,
    ),
    Op(
        "sequence_enumerate",
        operator("sequence_enumerate", sequences="x", pad_value=0),
        case(x=step_rows(5, 1, dtype="int64"), win_size=2),
        case(x=step_rows(6, 1, dtype="int32"), win_size=3, pad_value=-1, lod=[0, 3, 6]),
        case(x=step_rows(6, 1, dtype="int64"), win_size=3, pad_value=7, lod=[0, 1, 4, 6]),
        case(x=step_rows(2, 1, dtype="int64"), win_size=4),
        **LOD,
    ),
    Op(
        "sequence_erase",
        _read(operator("sequence_erase", sequences="x")),
        case(x=step_rows(8, 1, **WORDS), tokens=[1, 3]),
        case(x=step_rows(8, 1, **WORDS), tokens=[2, 4, 5], lod=[0, 4, 8]),
        case(x=step_rows(8, 1, **WORDS), tokens=[2, 4], lod=[0, 1, 5, 8]),
        case(x=step_rows(8, 1, **WORDS), tokens=[], lod=[0, 1, 5, 8]),
        **LOD,
    ),
    Op(
        "sequence_scatter",
        operator("sequence_scatter", {"x": "X", "ids": "Ids", "updates": "Updates"}, sequences="ids updates"),
        case(x=tensor([1, 6]), ids=_IDS, updates=step_rows(4, 1)),
        case(x=tensor([2, 6]), ids=_IDS, updates=step_rows(4, 1), lod=[0, 2, 4]),
        case(x=tensor([2, 6]), ids=_IDS, updates=step_rows(4, 1), lod=[0, 3, 4]),
        **LOD,
    ),
    Op(
        "lod_reset",
        _lod_reset,
        case(x=tensor([3, 4]), target_lod=[0, 1, 3], read=False),
        case(x=step_rows(6, 2), target_lod=[0, 2, 4, 6]),
        case(x=step_rows(6, 2), y=step_rows(6, 1), lod=[0, 3, 6]),
        case(x=step_rows(6, 2), y=tensor([4], "int32", values=[0, 1, 4, 6])),
        **LOD,
    ),
]
