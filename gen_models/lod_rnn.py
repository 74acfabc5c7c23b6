"""Recurrent layers over sequences one after the other."""

from __future__ import annotations

from typing import Any

from gen_models.harness.building import as_lod, legacy_op, operator
from gen_models.harness.marks import LOD
from gen_models.harness.spec import Case, Op, TensorSpec, case, tensor

_plain_gru = operator(
    "gru",
    {"input": "Input", "weight": "Weight", "bias": "Bias", "h0": "H0"},
    dict.fromkeys(("Hidden", "BatchGate", "BatchResetHiddenPrev", "BatchHidden"), ""),
    results=1,
    is_test=True,
)
_FUSED = ("Hidden", "Cell", "XX", "BatchedInput", "BatchedHidden", "BatchedCell", "ReorderedH0", "ReorderedC0")


def _gru(input, *, tagger=None, lod=None, **given):
    if tagger is None:
        return _plain_gru(input=as_lod(input, lod), **given)
    return _tagged(_plain_gru(input=_found(as_lod(input, lod), tagger["words"]), **given), tagger)


def _found(ids, words):
    return legacy_op("lookup_table", {"Ids": ids, "W": words}, {"Out": words.dtype}, {"padding_idx": -1})


def _tagged(hidden, tagger):
    """The best labels of each sequence, and its last state: what a tagger of Paddle 1 does with its words."""
    scores = legacy_op("mul", {"X": hidden, "Y": tagger["labels"]}, {"Out": hidden.dtype}, {})
    inputs = {"Emission": scores, "Transition": tagger["transition"]}
    path = legacy_op("crf_decoding", inputs, {"ViterbiPath": "int64"}, {})
    outputs = {"Out": hidden.dtype, "MaxIndex": "int32"}
    last = legacy_op("sequence_pool", {"X": hidden}, outputs, {"pooltype": "LAST", "is_test": True})[0]
    return [path, last]


def _rows(count: int, width: int) -> TensorSpec:
    return tensor([count, width], dims=[-1, width])


def _gru_case(rows: int, **more: Any) -> Case:
    return case(input=_rows(rows, 9), weight=tensor([3, 9]), **more)


def _lstm_case(rows: int, **more: Any) -> Case:
    more.setdefault("bias", tensor([1, 21]))
    return case(input=_rows(rows, 12), weight=tensor([3, 12]), **more)


def _ids(count: int) -> TensorSpec:
    return tensor([count, 1], "int64", low=0, high=8, dims=[-1, 1])


def _weights(width):
    return {"weight_x": tensor([4, width]), "weight_h": tensor([3, width])}


_EMBEDDED = {"embeddings": tensor([8, 12]), "weight_h": tensor([3, 12])}
_BACKWARDS = {"bias": tensor([1, 12]), "use_peepholes": False, "is_reverse": True, "lod": [0, 3, 6]}
_TAGGER = {"words": tensor([8, 9]), "labels": tensor([3, 5]), "transition": tensor([7, 5])}

OPS = [
    Op(
        "gru",
        _gru,
        _gru_case(5),
        _gru_case(5, bias=tensor([1, 9]), is_reverse=True),
        _gru_case(6, bias=tensor([1, 9]), h0=tensor([2, 3]), lod=[0, 3, 6], is_varied=False),
        _gru_case(6, bias=tensor([1, 9]), h0=tensor([3, 3]), lod=[0, 2, 4, 6], is_reverse=True, is_varied=False),
        _gru_case(4, origin_mode=True),
        _gru_case(4, gate_activation="relu", activation="identity"),
        _gru_case(1),
        *(
            case(input=_ids(rows), weight=tensor([3, 9]), tagger=_TAGGER, lod=lod)
            for rows, lod in ((6, None), (6, [0, 3, 6]), (13, None))
        ),
        **LOD,
    ),
    Op(
        "lstm",
        operator(
            "lstm",
            {"input": "Input", "weight": "Weight", "bias": "Bias", "h0": "H0", "c0": "C0"},
            dict.fromkeys(("Hidden", "Cell", "BatchGate", "BatchCellPreAct"), ""),
            sequences="input",
            results=2,
            is_test=True,
        ),
        _lstm_case(5),
        _lstm_case(5, is_reverse=True),
        _lstm_case(5, bias=tensor([1, 12]), use_peepholes=False),
        _lstm_case(6, h0=tensor([2, 3]), c0=tensor([2, 3]), lod=[0, 3, 6], is_varied=False),
        _lstm_case(6, h0=tensor([3, 3]), c0=tensor([3, 3]), lod=[0, 2, 4, 6], is_reverse=True, is_varied=False),
        _lstm_case(4, gate_activation="tanh", cell_activation="identity", candidate_activation="relu"),
        **LOD,
    ),
    Op(
        "fusion_gru",
        operator(
            "fusion_gru",
            {"x": "X", "weight_x": "WeightX", "weight_h": "WeightH", "bias": "Bias", "h0": "H0"},
            dict.fromkeys(("Hidden", "ReorderedH0", "XX", "BatchedInput", "BatchedOut"), ""),
            sequences="x",
            results=1,
        ),
        case(x=_rows(5, 4), **_weights(9)),
        case(x=_rows(6, 4), **_weights(9), bias=tensor([1, 9]), h0=tensor([2, 3]), lod=[0, 3, 6], is_reverse=True),
        **LOD,
    ),
    Op(
        "fused_embedding_fc_lstm",
        operator(
            "fused_embedding_fc_lstm",
            {"embeddings": "Embeddings", "ids": "Ids", "weight_h": "WeightH", "bias": "Bias"},
            dict.fromkeys(_FUSED, ""),
            sequences="ids",
            results=2,
        ),
        case(ids=_ids(5), **_EMBEDDED, bias=tensor([1, 21])),
        case(ids=_ids(6), **_EMBEDDED, **_BACKWARDS),
        **LOD,
    ),
    Op(
        "fusion_lstm",
        operator(
            "fusion_lstm",
            {"x": "X", "weight_x": "WeightX", "weight_h": "WeightH", "bias": "Bias"},
            dict.fromkeys((*_FUSED, "CheckedCell"), ""),
            sequences="x",
            results=2,
        ),
        case(x=_rows(5, 4), **_weights(12), bias=tensor([1, 21])),
        case(x=_rows(6, 4), **_weights(12), **_BACKWARDS),
        **LOD,
    ),
]
