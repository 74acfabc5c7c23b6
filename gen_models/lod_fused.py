"""Sequences that lie one after the other, in operators that Paddle's passes fuse."""

from __future__ import annotations

from typing import Any

from gen_models.harness.building import as_lod, legacy_op
from gen_models.harness.marks import LOD
from gen_models.harness.spec import Case, Op, case, tensor
from gen_models.harness.strategies import flag, integer, one_of
from gen_models.lod import WORDS, backwards, some_sequences, step_rows


def _embedding_pool(ids: Any, w: Any, *, lod: Any = None, padding_idx: int = -1) -> Any:
    attrs = {"combiner": "sum", "padding_idx": padding_idx, "is_sparse": False}
    return legacy_op("fused_embedding_seq_pool", {"W": w, "Ids": as_lod(ids, lod)}, {"Out": w.dtype}, attrs)


def _conv_relu(x: Any, filter: Any, bias: Any, *, start: int, length: int, lod: Any = None) -> Any:
    inputs = {"X": as_lod(x, lod), "Filter": filter, "Bias": bias}
    attrs = {"contextLength": length, "contextStart": start, "contextStride": 1}
    return legacy_op("fusion_seqconv_eltadd_relu", inputs, {"Out": x.dtype, "ColMat": x.dtype}, attrs)[0]


def _expand_fc(x: Any, rows: Any, weight: Any, bias: Any = None, *, activation: str = "identity", lod: Any) -> Any:
    each = list(range(len(lod)))
    sequences = [as_lod(x, lod), *(as_lod(row, each) for row in rows)]
    outputs = {"Out": x.dtype, "FCOut": x.dtype}
    inputs = {"X": sequences, "FCWeight": weight, "FCBias": bias}
    return legacy_op("fusion_seqexpand_concat_fc", inputs, outputs, {"fc_activation": activation})[0]


def _pool_concat(xs: Any, *, pooltype: str = "SUM", lod: Any = None) -> Any:
    sequences = [as_lod(x, lod) for x in xs]
    return legacy_op("fusion_seqpool_concat", {"X": sequences}, {"Out": "float32"}, {"pooltype": pooltype, "axis": 1})


def _pool_cvm_concat(xs: Any, cvm: Any, *, pooltype: str = "SUM", lod: Any = None) -> Any:
    sequences = [as_lod(x, lod) for x in xs]
    attrs = {"pooltype": pooltype, "axis": 1, "use_cvm": True}
    out = legacy_op("fusion_seqpool_cvm_concat", {"X": sequences, "CVM": cvm}, {"Out": "float32"}, attrs)
    return backwards(out)  # each row is a sequence


_POOLINGS = ("SUM", "AVERAGE", "SQRT")


def _embedding_pool_random(draw: Any) -> Case:
    rows, lod = some_sequences(draw)
    padding = one_of(draw, -1, 0, 2)
    return case(
        ids=step_rows(rows, 1, **WORDS), w=tensor([6, integer(draw, 1, 5)]), padding_idx=padding, lod=lod, **LOD
    )


def _conv_relu_random(draw: Any) -> Case:
    rows, lod = some_sequences(draw, 8)
    width, length, out = integer(draw, 1, 4), integer(draw, 1, 4), integer(draw, 1, 4)
    return case(
        x=step_rows(rows, width),
        filter=tensor([length * width, out]),
        bias=tensor([1, out] if flag(draw) else [out]),
        length=length,
        start=integer(draw, 1 - length, 0),
        lod=lod,
        **LOD,
    )


def _expand_fc_random(draw: Any) -> Case:
    rows, lod = some_sequences(draw)
    lod = lod or [0, rows]
    widths = [integer(draw, 1, 3) for _ in range(integer(draw, 2, 4))]
    out = integer(draw, 1, 4)
    return case(
        x=step_rows(rows, widths[0]),
        rows=[step_rows(len(lod) - 1, width) for width in widths[1:]],
        weight=tensor([sum(widths), out]),
        bias=tensor([1, out]) if flag(draw) else None,
        activation=one_of(draw, "identity", "relu", "sigmoid", "tanh"),
        lod=lod,
        **LOD,
    )


def _pool_concat_random(draw: Any) -> Case:
    rows, lod = some_sequences(draw)
    width, count = integer(draw, 1, 4), integer(draw, 1, 3)
    return case(xs=[step_rows(rows, width)] * count, pooltype=one_of(draw, *_POOLINGS), lod=lod, **LOD)


def _pool_cvm_concat_random(draw: Any) -> Case:
    rows, lod = some_sequences(draw)
    batch, width, count = 1 if lod is None else len(lod) - 1, integer(draw, 2, 5), integer(draw, 1, 3)
    return case(
        xs=[step_rows(rows, width, low=0)] * count,
        cvm=tensor([batch, 2]),
        pooltype=one_of(draw, *_POOLINGS),
        lod=lod,
        **LOD,
    )


OPS = [
    Op(
        "fused_embedding_seq_pool",
        _embedding_pool,
        case(ids=step_rows(4, 1, **WORDS), w=tensor([6, 3]), **LOD),
        case(ids=step_rows(4, 1, **WORDS), w=tensor([6, 3]), lod=[0, 2, 4], **LOD),
        case(ids=step_rows(8, 1, **WORDS), w=tensor([6, 3]), lod=[0, 4, 8], padding_idx=2, **LOD),
        random=_embedding_pool_random,
    ),
    Op(
        "fusion_seqconv_eltadd_relu",
        _conv_relu,
        case(x=step_rows(7, 2), filter=tensor([6, 4]), bias=tensor([4]), length=3, start=-1, **LOD),
        case(x=step_rows(8, 2), filter=tensor([6, 4]), bias=tensor([4]), length=3, start=-1, lod=[0, 4, 8], **LOD),
        case(x=step_rows(8, 2), filter=tensor([4, 3]), bias=tensor([1, 3]), length=2, start=0, lod=[0, 4, 8], **LOD),
        random=_conv_relu_random,
    ),
    Op(
        "fusion_seqexpand_concat_fc",
        _expand_fc,
        case(x=step_rows(4, 3), rows=[tensor([1, 2])], weight=tensor([5, 4]), lod=[0, 4], **LOD),
        case(
            x=step_rows(6, 3),
            rows=[step_rows(2, 2), step_rows(2, 1)],
            weight=tensor([6, 4]),
            bias=tensor([1, 4]),
            activation="relu",
            lod=[0, 3, 6],
            **LOD,
        ),
        random=_expand_fc_random,
    ),
    Op(
        "fusion_seqpool_cvm_concat",
        _pool_cvm_concat,
        case(xs=[step_rows(4, 3, low=0), step_rows(6, 3, low=0)], cvm=tensor([1, 2]), **LOD),
        case(
            xs=[step_rows(4, 3, low=0), step_rows(4, 3, low=0)],
            cvm=tensor([2, 2]),
            pooltype="AVERAGE",
            lod=[0, 2, 4],
            **LOD,
        ),
        random=_pool_cvm_concat_random,
    ),
    Op(
        "fusion_seqpool_concat",
        _pool_concat,
        case(xs=[step_rows(4, 2), step_rows(6, 2)], **LOD),
        case(xs=[step_rows(4, 2), step_rows(4, 2)], pooltype="AVERAGE", lod=[0, 2, 4], **LOD),
        case(xs=[step_rows(4, 2)], pooltype="SQRT", lod=[0, 2, 4], **LOD),
        random=_pool_concat_random,
    ),
]
