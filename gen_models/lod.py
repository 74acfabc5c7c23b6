"""Sequences that lie one after the other: one, as it is fed, or several of one length."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from gen_models.harness.building import as_lod, legacy_op
from gen_models.harness.marks import LOD
from gen_models.harness.spec import Case, Op, TensorSpec, case, tensor
from gen_models.harness.strategies import dynamic_tensor, flag, integer, one_of, shape

_F64: dict[str, Any] = {"formats": ("legacy",), "why": "Paddle 3 has no LoD; OpenVINO's CPU plugin computes f64 as f32"}


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


def some_sequences(draw: Any, most: int = 4) -> tuple[int, list[int] | None]:
    """A number of rows, and the offsets of sequences in it, of one length or of several; None for one sequence."""
    count, steps = integer(draw, 1, 3), integer(draw, 1, most)
    equal = flag(draw)
    lengths = [steps if equal else integer(draw, 1, most) for _ in range(count)]
    return sum(lengths), None if count == 1 and flag(draw) else offsets(lengths)


def offsets(lengths: Sequence[int]) -> list[int]:
    """Where sequences of these lengths begin, and where the last one ends."""
    return [0, *itertools.accumulate(lengths)]


def _pool_random(draw: Any) -> Case:
    rows, lod = some_sequences(draw)
    kind = one_of(draw, "AVERAGE", "SUM", "SQRT", "MAX", "LAST", "FIRST")
    return case(
        x=step_rows(rows, *[integer(draw, 1, 4) for _ in range(integer(draw, 1, 2))]), pooltype=kind, lod=lod, **LOD
    )


def _simple_random(width: int = 0, dtype: str = "float32", **attributes: Any) -> Any:
    def draw_case(draw: Any) -> Case:
        rows, lod = some_sequences(draw)
        drawn = {name: value(draw) for name, value in attributes.items()}
        return case(x=step_rows(rows, width or integer(draw, 1, 5), dtype=dtype), lod=lod, **drawn, **LOD)

    return draw_case


def _conv_random(draw: Any) -> Case:
    rows, lod = some_sequences(draw, 6)
    width, length = integer(draw, 1, 4), integer(draw, 1, 5)
    return case(
        x=step_rows(rows, width),
        filter=tensor([length * width, integer(draw, 1, 4)]),
        length=length,
        start=integer(draw, -4, 3),
        lod=lod,
        **LOD,
    )


def _concat_random(draw: Any) -> Case:
    count, width = integer(draw, 1, 3), integer(draw, 1, 3)
    lengths = [[integer(draw, 1, 4) for _ in range(count)] for _ in range(integer(draw, 2, 3))]
    return case(
        xs=[step_rows(sum(length), width) for length in lengths], lods=[offsets(length) for length in lengths], **LOD
    )


def _pad_random(draw: Any) -> Case:
    rows, lod = some_sequences(draw)
    longer = one_of(draw, -1, rows + integer(draw, 0, 3))
    return case(
        x=step_rows(rows, 3), pad_value=tensor([1] if flag(draw) else [3]), padded_length=longer, lod=lod, **LOD
    )


def _unpad_random(draw: Any) -> Case:
    count, steps = integer(draw, 2, 4), integer(draw, 1, 5)
    lengths = [integer(draw, 0, steps) for _ in range(count)]
    x = dynamic_tensor(draw, [count, steps, *shape(draw, 0, 2)])
    return case(x=x, length=dynamic_tensor(draw, [count], "int64", values=lengths), **LOD)


def _slice_random(draw: Any) -> Case:
    rows = integer(draw, 1, 8)
    offset = integer(draw, 0, rows - 1)
    length = integer(draw, 1, rows - offset)
    bounds = {"offset": offset, "length": length}
    tensors = {name: tensor([1, 1], "int64", values=[value]) for name, value in bounds.items()}
    return case(x=step_rows(rows, integer(draw, 1, 3)), **tensors, **LOD)


def _expand_random(draw: Any) -> Case:
    rows, lod = some_sequences(draw)
    count, width = 1 if lod is None else len(lod) - 1, integer(draw, 1, 3)
    if lod is None or flag(draw):
        return case(x=step_rows(count, width), y=step_rows(rows, 1), lod=lod, **LOD)
    steps = integer(draw, 1, 3)
    x_lod = [i * steps for i in range(count + 1)]
    return case(x=step_rows(x_lod[-1], width), y=step_rows(rows, 1), lod=lod, x_lod=x_lod, ref_level=0, **LOD)


def _expand_as_random(draw: Any) -> Case:
    rows, lod = some_sequences(draw)
    return case(x=step_rows(1 if lod is None else len(lod) - 1, 3), y=step_rows(rows, 1), lod=lod, **LOD)


def _erase_random(draw: Any) -> Case:
    rows, lod = some_sequences(draw, 6)
    tokens = [integer(draw, 0, 6) for _ in range(integer(draw, 0, 3))]
    return case(x=step_rows(rows, 1, **WORDS), tokens=tokens, lod=lod, **LOD)


def _scatter_random(draw: Any) -> Case:
    rows, lod = some_sequences(draw)
    width = integer(draw, 1, 6)
    ids = step_rows(rows, 1, dtype="int64", values=[[integer(draw, 0, width - 1)] for _ in range(rows)])
    x = tensor([1 if lod is None else len(lod) - 1, width])
    return case(x=x, ids=ids, updates=step_rows(rows, 1), lod=lod, **LOD)


def _lod_reset_random(draw: Any) -> Case:
    rows, lod = some_sequences(draw)
    lod = lod or [0, rows]
    y = {"y": step_rows(rows, 1), "lod": lod} if flag(draw) else {"target_lod": lod}
    return case(x=step_rows(rows, integer(draw, 1, 3)), **y, **LOD)


_POOLED = [
    case(x=step_rows(6, 3), lod=lod, pooltype=kind, **LOD)
    for kind in ("AVERAGE", "SUM", "SQRT", "MAX", "LAST", "FIRST")
    for lod in (None, [0, 2, 4, 6], [0, 1, 4, 6])
]
WORDS = {"dtype": "int64", "low": 0, "high": 6}

OPS = [
    Op(
        "sequence_pool",
        _pool,
        *_POOLED,
        case(x=step_rows(6, 3, 2), lod=[0, 3, 6], pooltype="MAX", **LOD),
        case(x=tensor([4, 2]), **LOD),
        random=_pool_random,
    ),
    Op(
        "sequence_softmax",
        lambda x, lod=None: _op("sequence_softmax", as_lod(x, lod), {}),
        case(x=step_rows(6, 1), **LOD),
        case(x=step_rows(6, 1), lod=[0, 3, 6], **LOD),
        case(x=step_rows(6, 1), lod=[0, 1, 4, 6], **LOD),
        case(x=step_rows(6, 1, dtype="float64"), lod=[0, 1, 2, 3, 4, 5, 6], **_F64),
        random=_simple_random(1),
    ),
    Op(
        "sequence_reverse",
        lambda x, lod=None: backwards(as_lod(x, lod)),
        case(x=step_rows(5, 3), **LOD),
        case(x=step_rows(6, 3), lod=[0, 2, 4, 6], **LOD),
        case(x=step_rows(6, 3), lod=[0, 1, 4, 6], **LOD),
        case(x=step_rows(6, 1, dtype="int64"), lod=[0, 6], **LOD),
        case(
            x=tensor([5, 1], "int64", values=[2**24 + 1, -(2**24) - 3, 2**31 - 1, -7, 2**30 + 1]),
            lod=[0, 2, 5],
            **LOD,
        ),
        random=_simple_random(),
    ),
    Op(
        "sequence_concat",
        _concat,
        case(xs=[step_rows(3, 2), step_rows(4, 2)], **LOD),
        case(xs=[step_rows(4, 2), step_rows(2, 2), step_rows(6, 2)], lods=[[0, 2, 4], [0, 1, 2], [0, 3, 6]], **LOD),
        case(xs=[step_rows(4, 2), step_rows(2, 2), step_rows(6, 2)], lods=[[0, 1, 4], [0, 1, 2], [0, 4, 6]], **LOD),
        random=_concat_random,
    ),
    Op(
        "sequence_reshape",
        lambda x, new_dim, lod=None: backwards(_op("sequence_reshape", as_lod(x, lod), {"new_dim": new_dim})),
        case(x=step_rows(4, 6), new_dim=3, **LOD),
        case(x=step_rows(4, 2), new_dim=4, lod=[0, 2, 4], **LOD),
        case(x=step_rows(4, 2), new_dim=1, lod=[0, 2, 4], **LOD),
        case(x=step_rows(6, 2), new_dim=4, lod=[0, 2, 6], **LOD),
        case(x=step_rows(3, 2), new_dim=1, lod=[0, 1, 3], **LOD),
        random=_simple_random(4, new_dim=lambda draw: one_of(draw, 1, 2, 4)),
    ),
    Op(
        "sequence_pad",
        _pad,
        case(x=step_rows(4, 3), pad_value=tensor([1]), **LOD),
        case(x=step_rows(4, 3), pad_value=tensor([1]), padded_length=6, **LOD),
        case(x=step_rows(4, 3), pad_value=tensor([3]), padded_length=4, lod=[0, 2, 4], **LOD),
        case(x=step_rows(4, 1, dtype="int64"), pad_value=tensor([1], "int64"), padded_length=5, **LOD),
        case(x=step_rows(6, 3), pad_value=tensor([1]), lod=[0, 1, 4, 6], **LOD),
        case(x=step_rows(6, 3), pad_value=tensor([3]), padded_length=5, lod=[0, 1, 4, 6], **LOD),
        case(x=step_rows(6, 2, 2), pad_value=tensor([1]), padded_length=3, lod=[0, 1, 4, 6], **LOD),
        random=_pad_random,
    ),
    Op(
        "sequence_unpad",
        _unpad,
        case(
            x=tensor([1, 5, 2], dims=[1, -1, 2]),
            length=tensor([1], "int64", values=[3]),
            formats=("legacy",),
            dynamic=False,
            why="Paddle 3 has no LoD; of a batch of unknown size the lengths may differ",
        ),
        case(x=tensor([3, 5, 2]), length=tensor([3], "int64", values=[3, 0, 5]), **LOD),
        case(x=tensor([3, 5], dims=[-1, -1]), length=tensor([3], "int64", values=[1, 5, 2], dims=[-1]), **LOD),
        random=_unpad_random,
    ),
    Op(
        "sequence_slice",
        _slice,
        case(
            x=step_rows(6, 2),
            offset=tensor([1, 1], "int64", values=[2]),
            length=tensor([1, 1], "int64", values=[3]),
            **LOD,
        ),
        case(
            x=step_rows(6, 2),
            offset=tensor([2, 1], "int64", values=[1, 0]),
            length=tensor([2, 1], "int64", values=[3, 1]),
            lod=[0, 4, 6],
            **LOD,
        ),
        case(
            x=step_rows(6, 2),
            offset=tensor([2, 1], "int64", values=[1, 0]),
            length=tensor([2, 1], "int64", values=[1, 3]),
            lod=[0, 3, 6],
            **LOD,
        ),
        random=_slice_random,
    ),
    Op(
        "sequence_expand",
        _expand,
        case(x=tensor([1, 3]), y=step_rows(4, 1), **LOD),
        case(x=step_rows(3, 2), y=step_rows(6, 1), lod=[0, 2, 4, 6], **LOD),
        case(x=step_rows(4, 2), y=step_rows(6, 1), lod=[0, 3, 6], x_lod=[0, 2, 4], ref_level=0, **LOD),
        case(x=step_rows(3, 2), y=step_rows(6, 1), lod=[0, 1, 4, 6], **LOD),
        case(x=step_rows(4, 2), y=step_rows(6, 1), lod=[0, 2, 6], x_lod=[0, 1, 4], ref_level=0, **LOD),
        case(x=step_rows(4, 2), y=step_rows(6, 1), lod=[0, 3, 6], x_lod=[0, 1, 4], ref_level=0, **LOD),
        random=_expand_random,
    ),
    Op(
        "sequence_expand_as",
        lambda x, y, lod=None: backwards(_op("sequence_expand_as", x, {}, Y=as_lod(y, lod))),
        case(x=tensor([1, 3]), y=step_rows(4, 1), **LOD),
        case(x=step_rows(3, 2), y=step_rows(6, 1), lod=[0, 2, 4, 6], **LOD),
        case(x=step_rows(3, 2), y=step_rows(6, 1), lod=[0, 1, 4, 6], **LOD),
        random=_expand_as_random,
    ),
    Op(
        "sequence_conv",
        _conv,
        case(x=step_rows(5, 2), filter=tensor([6, 4]), length=3, start=-1, **LOD),
        case(x=step_rows(6, 2), filter=tensor([6, 4]), length=3, start=-1, lod=[0, 3, 6], **LOD),
        case(x=step_rows(6, 2), filter=tensor([6, 4]), length=3, start=-1, lod=[0, 2, 6], **LOD),
        case(x=step_rows(6, 2), filter=tensor([4, 3]), length=2, start=1, lod=[0, 1, 4, 6], **LOD),
        case(x=step_rows(6, 2), filter=tensor([4, 3]), length=2, start=0, lod=[0, 2, 4, 6], **LOD),
        case(x=step_rows(6, 2), filter=tensor([4, 3]), length=2, start=1, lod=[0, 2, 4, 6], **LOD),
        case(x=step_rows(6, 2), filter=tensor([4, 3]), length=2, start=-3, lod=[0, 6], **LOD),
        case(x=step_rows(2, 2), filter=tensor([2, 3]), length=1, start=-4, **LOD),
        case(x=step_rows(2, 2), filter=tensor([4, 3]), length=2, start=3, lod=[0, 1, 2], **LOD),
        random=_conv_random,
    ),
    Op(
        "sequence_enumerate",
        _enumerate,
        case(x=step_rows(5, 1, dtype="int64"), win_size=2, **LOD),
        case(x=step_rows(6, 1, dtype="int32"), win_size=3, pad_value=-1, lod=[0, 3, 6], **LOD),
        case(x=step_rows(6, 1, dtype="int64"), win_size=3, pad_value=7, lod=[0, 1, 4, 6], **LOD),
        case(x=step_rows(2, 1, dtype="int64"), win_size=4, **LOD),
        random=_simple_random(1, "int64", win_size=lambda draw: integer(draw, 1, 5)),
    ),
    Op(
        "sequence_erase",
        _erase,
        case(x=step_rows(8, 1, **WORDS), tokens=[1, 3], **LOD),
        case(x=step_rows(8, 1, **WORDS), tokens=[2, 4, 5], lod=[0, 4, 8], **LOD),
        case(x=step_rows(8, 1, **WORDS), tokens=[2, 4], lod=[0, 1, 5, 8], **LOD),
        random=_erase_random,
    ),
    Op(
        "sequence_scatter",
        _scatter,
        case(
            x=tensor([1, 6]),
            ids=step_rows(4, 1, dtype="int64", values=[[1], [1], [5], [0]]),
            updates=step_rows(4, 1),
            **LOD,
        ),
        case(
            x=tensor([2, 6]),
            ids=step_rows(4, 1, dtype="int64", values=[[1], [1], [5], [0]]),
            updates=step_rows(4, 1),
            lod=[0, 2, 4],
            **LOD,
        ),
        case(
            x=tensor([2, 6]),
            ids=step_rows(4, 1, dtype="int64", values=[[1], [1], [5], [0]]),
            updates=step_rows(4, 1),
            lod=[0, 3, 4],
            **LOD,
        ),
        random=_scatter_random,
    ),
    Op(
        "lod_reset",
        _lod_reset,
        case(x=tensor([3, 4]), target_lod=[0, 1, 3], read=False, **LOD),
        case(x=step_rows(6, 2), target_lod=[0, 2, 4, 6], **LOD),
        case(x=step_rows(6, 2), y=step_rows(6, 1), lod=[0, 3, 6], **LOD),
        random=_lod_reset_random,
    ),
]
