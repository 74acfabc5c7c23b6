"""Sequences that lie one after the other, in operators that Paddle's passes fuse."""

from gen_models.harness.building import as_lod, legacy_op, operator
from gen_models.harness.marks import LOD
from gen_models.harness.spec import Op, case, tensor
from gen_models.lod import WINDOW, WORDS, backwards, step_rows


def _expand_fc(x, rows, weight, bias=None, *, activation="identity", lod):
    each = list(range(len(lod)))
    sequences = [as_lod(x, lod), *(as_lod(row, each) for row in rows)]
    inputs = {"X": sequences, "FCWeight": weight, "FCBias": bias}
    outputs = {"Out": x.dtype, "FCOut": x.dtype}
    return legacy_op("fusion_seqexpand_concat_fc", inputs, outputs, {"fc_activation": activation})[0]


_pool_cvm_concat = operator(
    "fusion_seqpool_cvm_concat", {"xs": "X", "cvm": "CVM"}, sequences="xs", pooltype="SUM", axis=1, use_cvm=True
)


OPS = [
    Op(
        "fused_embedding_seq_pool",
        operator(
            "fused_embedding_seq_pool",
            {"w": "W", "ids": "Ids"},
            sequences="ids",
            combiner="sum",
            padding_idx=-1,
            is_sparse=False,
        ),
        case(ids=step_rows(4, 1, **WORDS), w=tensor([6, 3])),
        case(ids=step_rows(4, 1, **WORDS), w=tensor([6, 3]), lod=[0, 2, 4]),
        case(ids=step_rows(8, 1, **WORDS), w=tensor([6, 3]), lod=[0, 4, 8], padding_idx=2),
        **LOD,
    ),
    Op(
        "fusion_seqconv_eltadd_relu",
        operator(
            "fusion_seqconv_eltadd_relu",
            {"x": "X", "filter": "Filter", "bias": "Bias"},
            {"Out": "", "ColMat": ""},
            sequences="x",
            results=1,
            names=WINDOW,
            contextStride=1,
        ),
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
        lambda **given: backwards(_pool_cvm_concat(**given)),  # each row is a sequence
        case(xs=[step_rows(4, 3, low=0), step_rows(6, 3, low=0)], cvm=tensor([1, 2])),
        case(
            xs=[step_rows(4, 3, low=0), step_rows(4, 3, low=0)], cvm=tensor([2, 2]), pooltype="AVERAGE", lod=[0, 2, 4]
        ),
        **LOD,
    ),
    Op(
        "fusion_seqpool_concat",
        operator("fusion_seqpool_concat", {"xs": "X"}, sequences="xs", pooltype="SUM", axis=1),
        case(xs=[step_rows(4, 2), step_rows(6, 2)]),
        case(xs=[step_rows(4, 2), step_rows(4, 2)], pooltype="AVERAGE", lod=[0, 2, 4]),
        case(xs=[step_rows(4, 2)], pooltype="SQRT", lod=[0, 2, 4]),
        **LOD,
    ),
]
