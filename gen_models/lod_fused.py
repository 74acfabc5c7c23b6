"""Sequences that lie one after the other, in operators that Paddle's passes fuse."""

from __future__ import annotations

from typing import Any

from gen_models.harness.building import as_lod, legacy_op
from gen_models.harness.marks import LOD
from gen_models.harness.spec import Op, case, tensor
from gen_models.lod import WORDS, backwards, step_rows


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


OPS = [
    Op(
        "fused_embedding_seq_pool",
        _embedding_pool,
        case(ids=step_rows(4, 1, **WORDS), w=tensor([6, 3])),
        case(ids=step_rows(4, 1, **WORDS), w=tensor([6, 3]), lod=[0, 2, 4]),
        case(ids=step_rows(8, 1, **WORDS), w=tensor([6, 3]), lod=[0, 4, 8], padding_idx=2),
        **LOD,
    ),
    Op(
        "fusion_seqconv_eltadd_relu",
        _conv_relu,
        case(x=step_rows(7, 2), filter=tensor([6, 4]), bias=tensor([4]), length=3, start=-1),
        case(x=step_rows(8, 2), filter=tensor([6, 4]), bias=tensor([4]), length=3, start=-1, lod=[0, 4, 8]),
        case(x=step_rows(8, 2), filter=tensor([4, 3]), bias=tensor([1, 3]), length=2, start=0, lod=[0, 4, 8]),
        **LOD,
    ),
    Op(
        "fusion_seqexpand_concat_fc",
        _expand_fc,
        case(x=step_rows(4, 3), rows=[tensor([1, 2])], weight=tensor([5, 4]), lod=[0, 4]),
        case(
            x=step_rows(6, 3),
            rows=[step_rows(2, 2), step_rows(2, 1)],
            weight=tensor([6, 4]),
            bias=tensor([1, 4]),
            activation="relu",
            lod=[0, 3, 6],
        ),
        **LOD,
    ),
    Op(
        "fusion_seqpool_cvm_concat",
        _pool_cvm_concat,
        case(xs=[step_rows(4, 3, low=0), step_rows(6, 3, low=0)], cvm=tensor([1, 2])),
        case(
            xs=[step_rows(4, 3, low=0), step_rows(4, 3, low=0)], cvm=tensor([2, 2]), pooltype="AVERAGE", lod=[0, 2, 4]
        ),
        **LOD,
    ),
    Op(
        "fusion_seqpool_concat",
        _pool_concat,
        case(xs=[step_rows(4, 2), step_rows(6, 2)]),
        case(xs=[step_rows(4, 2), step_rows(4, 2)], pooltype="AVERAGE", lod=[0, 2, 4]),
        case(xs=[step_rows(4, 2)], pooltype="SQRT", lod=[0, 2, 4]),
        **LOD,
    ),
]
