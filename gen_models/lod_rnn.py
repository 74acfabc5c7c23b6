"""Recurrent layers over sequences one after the other."""

from __future__ import annotations

from typing import Any

from gen_models.harness.building import as_lod, legacy_op
from gen_models.harness.marks import LOD
from gen_models.harness.spec import Case, Op, TensorSpec, case, tensor


def _gru(input: Any, weight: Any, bias: Any = None, h0: Any = None, *, lod: Any = None, **attributes: Any) -> Any:
    tagger = attributes.pop("tagger", None)
    if tagger:
        input = _found(as_lod(input, lod), tagger["words"])
    else:
        input = as_lod(input, lod)
    inputs = {"Input": input, "Weight": weight, "Bias": bias, "H0": h0}
    ports = ("BatchGate", "BatchResetHiddenPrev", "BatchHidden", "Hidden")
    hidden = legacy_op("gru", inputs, dict.fromkeys(ports, input.dtype), {"is_test": True, **attributes})[3]
    return _tagged(hidden, tagger) if tagger else hidden


def _found(ids: Any, words: Any) -> Any:
    return legacy_op("lookup_table", {"Ids": ids, "W": words}, {"Out": words.dtype}, {"padding_idx": -1})


def _tagged(hidden: Any, tagger: dict[str, Any]) -> Any:
    """The best labels of each sequence, and its last state: what a tagger of Paddle 1 does with its words."""
    scores = legacy_op("mul", {"X": hidden, "Y": tagger["labels"]}, {"Out": hidden.dtype}, {})
    inputs = {"Emission": scores, "Transition": tagger["transition"]}
    path = legacy_op("crf_decoding", inputs, {"ViterbiPath": "int64"}, {})
    outputs = {"Out": hidden.dtype, "MaxIndex": "int32"}
    last = legacy_op("sequence_pool", {"X": hidden}, outputs, {"pooltype": "LAST", "is_test": True})[0]
    return [path, last]


def _lstm(
    input: Any, weight: Any, bias: Any, h0: Any = None, c0: Any = None, *, lod: Any = None, **attributes: Any
) -> Any:
    inputs = {"Input": as_lod(input, lod), "Weight": weight, "Bias": bias, "H0": h0, "C0": c0}
    ports = ("Hidden", "Cell", "BatchGate", "BatchCellPreAct")
    return legacy_op("lstm", inputs, dict.fromkeys(ports, input.dtype), {"is_test": True, **attributes})[:2]


def _fusion_gru(
    x: Any, weight_x: Any, weight_h: Any, bias: Any = None, h0: Any = None, *, lod: Any = None, **attributes: Any
) -> Any:
    inputs = {"X": as_lod(x, lod), "WeightX": weight_x, "WeightH": weight_h, "Bias": bias, "H0": h0}
    ports = ("ReorderedH0", "XX", "BatchedInput", "BatchedOut", "Hidden")
    return legacy_op("fusion_gru", inputs, dict.fromkeys(ports, x.dtype), attributes)[4]


def _fusion_lstm(x: Any, weight_x: Any, weight_h: Any, bias: Any, *, lod: Any = None, **attributes: Any) -> Any:
    inputs = {"X": as_lod(x, lod), "WeightX": weight_x, "WeightH": weight_h, "Bias": bias}
    ports = ("Hidden", "Cell", "XX", "BatchedInput", "BatchedHidden", "BatchedCell", "ReorderedH0", "ReorderedC0")
    return legacy_op("fusion_lstm", inputs, dict.fromkeys((*ports, "CheckedCell"), x.dtype), attributes)[:2]


def _embedded_lstm(ids: Any, embeddings: Any, weight_h: Any, bias: Any, *, lod: Any = None, **attributes: Any) -> Any:
    inputs = {"Ids": as_lod(ids, lod), "Embeddings": embeddings, "WeightH": weight_h, "Bias": bias}
    ports = ("Hidden", "Cell", "XX", "BatchedInput", "BatchedHidden", "BatchedCell", "ReorderedH0", "ReorderedC0")
    outputs = dict.fromkeys(ports, embeddings.dtype)
    return legacy_op("fused_embedding_fc_lstm", inputs, outputs, attributes)[:2]


def _rows(count: int, width: int) -> TensorSpec:
    return tensor([count, width], dims=[-1, width])


def _gru_case(rows: int, **more: Any) -> Case:
    return case(input=_rows(rows, 9), weight=tensor([3, 9]), **more)


def _lstm_case(rows: int, **more: Any) -> Case:
    more.setdefault("bias", tensor([1, 21]))
    return case(input=_rows(rows, 12), weight=tensor([3, 12]), **more)


def _ids(count: int) -> TensorSpec:
    return tensor([count, 1], "int64", low=0, high=8, dims=[-1, 1])


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
        _lstm,
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
        _fusion_gru,
        case(x=_rows(5, 4), weight_x=tensor([4, 9]), weight_h=tensor([3, 9])),
        case(
            x=_rows(6, 4),
            weight_x=tensor([4, 9]),
            weight_h=tensor([3, 9]),
            bias=tensor([1, 9]),
            h0=tensor([2, 3]),
            lod=[0, 3, 6],
            is_reverse=True,
        ),
        **LOD,
    ),
    Op(
        "fused_embedding_fc_lstm",
        _embedded_lstm,
        case(ids=_ids(5), embeddings=tensor([8, 12]), weight_h=tensor([3, 12]), bias=tensor([1, 21])),
        case(
            ids=_ids(6),
            embeddings=tensor([8, 12]),
            weight_h=tensor([3, 12]),
            bias=tensor([1, 12]),
            use_peepholes=False,
            is_reverse=True,
            lod=[0, 3, 6],
        ),
        **LOD,
    ),
    Op(
        "fusion_lstm",
        _fusion_lstm,
        case(x=_rows(5, 4), weight_x=tensor([4, 12]), weight_h=tensor([3, 12]), bias=tensor([1, 21])),
        case(
            x=_rows(6, 4),
            weight_x=tensor([4, 12]),
            weight_h=tensor([3, 12]),
            bias=tensor([1, 12]),
            use_peepholes=False,
            is_reverse=True,
            lod=[0, 3, 6],
        ),
        **LOD,
    ),
]
