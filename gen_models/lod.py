"""Sequences that lie one after the other: one, as it is fed, or several of one length."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from gen_models.harness.building import as_lod, legacy_op
from gen_models.harness.marks import LOD, legacy
from gen_models.harness.spec import Op, TensorSpec, case, int64s, tensor

_F64 = legacy("Paddle 3 has no LoD; OpenVINO's CPU plugin computes f64 as f32")


def _op(name: str, x: Any, attrs: dict[str, Any], **inputs: Any) -> Any:
    return legacy_op(name, {"X": x, **inputs}, {"Out": x[0].dtype if isinstance(x, list) else x.dtype}, attrs)


def backwards(x: Any) -> Any:
    """What follows sees the sequences too: each of them read backwards."""
    return legacy_op("sequence_reverse", {"X": x}, {"Y": x.dtype}, {})


def _pool(x: Any, *, lod: Any = None, pooltype: str = "AVERAGE") -> Any:
    outputs = {"Out": x.dtype, "MaxIndex": "int32"}
    attrs = {"pooltype": pooltype, "is_test": True}
    return legacy_op("sequence_pool", {"X": as_lod(x, lod)}, outputs, attrs)[0]


def _concat(xs: Any, *, lods: Any = None) -> Any:
    sequences = [as_lod(x, lod) for x, lod in zip(xs, lods or [None] * len(xs), strict=True)]
    return backwards(_op("sequence_concat", sequences, {}))


def _pad(x: Any, pad_value: Any, *, padded_length: int = -1, lod: Any = None) -> Any:
    inputs = {"X": as_lod(x, lod), "PadValue": pad_value}
    return legacy_op("sequence_pad", inputs, {"Out": x.dtype, "Length": "int64"}, {"padded_length": padded_length})


def _unpad(x: Any, length: Any) -> Any:
    out = _op("sequence_unpad", x, {}, Length=length)
    return backwards(out)


def _slice(x: Any, offset: Any, length: Any, *, lod: Any = None) -> Any:
    return backwards(_op("sequence_slice", as_lod(x, lod), {}, Offset=offset, Length=length))


def _expand(x: Any, y: Any, *, lod: Any = None, x_lod: Any = None, ref_level: int = -1) -> Any:
    x = as_lod(x, x_lod) if x_lod is not None else x
    out = _op("sequence_expand", x, {"ref_level": ref_level}, Y=as_lod(y, lod))
    return backwards(out) if x_lod is not None else out


def _conv(x: Any, filter: Any, *, start: int = 0, length: int, lod: Any = None) -> Any:
    attrs = {"contextLength": length, "contextStart": start, "contextStride": 1, "paddingTrainable": False}
    return _op("sequence_conv", as_lod(x, lod), attrs, Filter=filter)


def _enumerate(x: Any, *, win_size: int, pad_value: int = 0, lod: Any = None) -> Any:
    return _op("sequence_enumerate", as_lod(x, lod), {"win_size": win_size, "pad_value": pad_value})


def _erase(x: Any, *, tokens: Any, lod: Any = None) -> Any:
    out = _op("sequence_erase", as_lod(x, lod), {"tokens": list(tokens)})
    return backwards(out)


def _scatter(x: Any, ids: Any, updates: Any, *, lod: Any = None) -> Any:
    return _op("sequence_scatter", x, {}, Ids=as_lod(ids, lod), Updates=as_lod(updates, lod))


def _lod_reset(x: Any, y: Any = None, *, target_lod: Any = None, lod: Any = None, read: bool = True) -> Any:
    y = as_lod(y, lod) if lod else y
    attrs = {"target_lod": target_lod or []}
    out = legacy_op("lod_reset", {"X": x, "Y": y}, {"Out": x.dtype}, attrs)
    return backwards(out) if read else out


def step_rows(*shape: int, dtype: str = "float32", **data: Any) -> TensorSpec:
    """Steps of any number: dimension 0 is that of all sequences together."""
    return tensor(shape, dtype, dims=[-1, *shape[1:]], **data)


def offsets(lengths: Sequence[int]) -> list[int]:
    """Where sequences of these lengths begin, and where the last one ends."""
    return [0, *itertools.accumulate(lengths)]


_POOLED = [
    case(x=step_rows(6, 3), lod=lod, pooltype=kind)
    for kind in ("AVERAGE", "SUM", "SQRT", "MAX", "LAST", "FIRST")
    for lod in (None, [0, 2, 4, 6], [0, 1, 4, 6])
]
WORDS = {"dtype": "int64", "low": 0, "high": 6}

OPS = [
    Op(
        "sequence_pool",
        _pool,
        *_POOLED,
        case(x=step_rows(6, 3, 2), lod=[0, 3, 6], pooltype="MAX"),
        case(x=tensor([4, 2])),
        **LOD,
    ),
    Op(
        "sequence_softmax",
        lambda x, lod=None: _op("sequence_softmax", as_lod(x, lod), {}),
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
        lambda x, new_dim, lod=None: backwards(_op("sequence_reshape", as_lod(x, lod), {"new_dim": new_dim})),
        case(x=step_rows(4, 6), new_dim=3),
        case(x=step_rows(4, 2), new_dim=4, lod=[0, 2, 4]),
        case(x=step_rows(6, 2), new_dim=4, lod=[0, 2, 6]),
        case(x=step_rows(3, 2), new_dim=1, lod=[0, 1, 3]),
        **LOD,
    ),
    Op(
        "sequence_pad",
        _pad,
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
        _unpad,
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
        _slice,
        case(x=step_rows(6, 2), offset=tensor([1, 1], "int64", values=[2]), length=tensor([1, 1], "int64", values=[3])),
        case(
            x=step_rows(6, 2),
            offset=tensor([2, 1], "int64", values=[1, 0]),
            length=tensor([2, 1], "int64", values=[3, 1]),
            lod=[0, 4, 6],
        ),
        case(
            x=step_rows(6, 2),
            offset=tensor([2, 1], "int64", values=[1, 0]),
            length=tensor([2, 1], "int64", values=[1, 3]),
            lod=[0, 3, 6],
        ),
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
        lambda x, y, lod=None: backwards(_op("sequence_expand_as", x, {}, Y=as_lod(y, lod))),
        case(x=tensor([1, 3]), y=step_rows(4, 1)),
        case(x=step_rows(3, 2), y=step_rows(6, 1), lod=[0, 2, 4, 6]),
        case(x=step_rows(3, 2), y=step_rows(6, 1), lod=[0, 1, 4, 6]),
        **LOD,
    ),
    Op(
        "sequence_conv",
        _conv,
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
        _enumerate,
        case(x=step_rows(5, 1, dtype="int64"), win_size=2),
        case(x=step_rows(6, 1, dtype="int32"), win_size=3, pad_value=-1, lod=[0, 3, 6]),
        case(x=step_rows(6, 1, dtype="int64"), win_size=3, pad_value=7, lod=[0, 1, 4, 6]),
        case(x=step_rows(2, 1, dtype="int64"), win_size=4),
        **LOD,
    ),
    Op(
        "sequence_erase",
        _erase,
        case(x=step_rows(8, 1, **WORDS), tokens=[1, 3]),
        case(x=step_rows(8, 1, **WORDS), tokens=[2, 4, 5], lod=[0, 4, 8]),
        case(x=step_rows(8, 1, **WORDS), tokens=[2, 4], lod=[0, 1, 5, 8]),
        case(x=step_rows(8, 1, **WORDS), tokens=[], lod=[0, 1, 5, 8]),
        **LOD,
    ),
    Op(
        "sequence_scatter",
        _scatter,
        case(
            x=tensor([1, 6]), ids=step_rows(4, 1, dtype="int64", values=[[1], [1], [5], [0]]), updates=step_rows(4, 1)
        ),
        case(
            x=tensor([2, 6]),
            ids=step_rows(4, 1, dtype="int64", values=[[1], [1], [5], [0]]),
            updates=step_rows(4, 1),
            lod=[0, 2, 4],
        ),
        case(
            x=tensor([2, 6]),
            ids=step_rows(4, 1, dtype="int64", values=[[1], [1], [5], [0]]),
            updates=step_rows(4, 1),
            lod=[0, 3, 4],
        ),
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
