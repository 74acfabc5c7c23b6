"""Recurrent layers over sequences one after the other."""

from __future__ import annotations

from typing import Any

from gen_models.harness.building import as_lod, legacy_op
from gen_models.harness.marks import LOD
from gen_models.harness.spec import Case, Op, TensorSpec, case, tensor
from gen_models.harness.strategies import flag, integer, one_of
from gen_models.lod import some_sequences


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


def _gru_random(draw: Any) -> Case:
    (rows, lod), width = some_sequences(draw), integer(draw, 1, 4)
    return case(
        input=_rows(rows, 3 * width),
        weight=tensor([width, 3 * width]),
        bias=tensor([1, 3 * width]) if flag(draw) else None,
        h0=tensor([1 if lod is None else len(lod) - 1, width]) if flag(draw) else None,
        lod=lod,
        is_reverse=flag(draw),
        origin_mode=flag(draw),
        activation=one_of(draw, "tanh", "relu", "sigmoid", "identity"),
        **LOD,
    )


def _lstm_random(draw: Any) -> Case:
    (rows, lod), width, peepholes, initial = some_sequences(draw), integer(draw, 1, 4), flag(draw), flag(draw)
    state = tensor([1 if lod is None else len(lod) - 1, width]) if initial else None
    return case(
        input=_rows(rows, 4 * width),
        weight=tensor([width, 4 * width]),
        bias=tensor([1, (7 if peepholes else 4) * width]),
        h0=state,
        c0=state,
        lod=lod,
        use_peepholes=peepholes,
        is_reverse=flag(draw),
        cell_activation=one_of(draw, "tanh", "relu", "identity"),
        candidate_activation=one_of(draw, "tanh", "relu", "sigmoid"),
        **LOD,
    )


def _fusion_gru_random(draw: Any) -> Case:
    (rows, lod), width, inner = some_sequences(draw), integer(draw, 1, 4), integer(draw, 1, 4)
    return case(
        x=_rows(rows, width),
        weight_x=tensor([width, 3 * inner]),
        weight_h=tensor([inner, 3 * inner]),
        bias=tensor([1, 3 * inner]) if flag(draw) else None,
        h0=tensor([1 if lod is None else len(lod) - 1, inner]) if flag(draw) else None,
        lod=lod,
        is_reverse=flag(draw),
        use_seq=flag(draw),
        activation=one_of(draw, "tanh", "relu"),
        **LOD,
    )


def _fused_lstm(draw: Any, inner: int) -> dict[str, Any]:
    """What the fused layers have in common."""
    peepholes = flag(draw)
    return {
        "weight_h": tensor([inner, 4 * inner]),
        "bias": tensor([1, (7 if peepholes else 4) * inner]),
        "use_peepholes": peepholes,
        "is_reverse": flag(draw),
        "use_seq": flag(draw),
        "cell_activation": one_of(draw, "tanh", "relu"),
        "candidate_activation": one_of(draw, "tanh", "sigmoid"),
    }


def _fusion_lstm_random(draw: Any) -> Case:
    (rows, lod), width, inner = some_sequences(draw), integer(draw, 1, 4), integer(draw, 1, 4)
    x = {"x": _rows(rows, width), "weight_x": tensor([width, 4 * inner])}
    return case(**x, **_fused_lstm(draw, inner), lod=lod, **LOD)


def _embedded_lstm_random(draw: Any) -> Case:
    (rows, lod), inner = some_sequences(draw), integer(draw, 1, 4)
    x = {"ids": _ids(rows), "embeddings": tensor([8, 4 * inner])}
    return case(**x, **_fused_lstm(draw, inner), lod=lod, **LOD)


def _gru_case(rows: int, **more: Any) -> Case:
    return case(input=_rows(rows, 9), weight=tensor([3, 9]), **more, **LOD)


def _lstm_case(rows: int, **more: Any) -> Case:
    more.setdefault("bias", tensor([1, 21]))
    return case(input=_rows(rows, 12), weight=tensor([3, 12]), **more, **LOD)


def _ids(count: int) -> TensorSpec:
    return tensor([count, 1], "int64", low=0, high=8, dims=[-1, 1])


_TAGGER = {"words": tensor([8, 9]), "labels": tensor([3, 5]), "transition": tensor([7, 5])}

OPS = [
    Op(
        "gru",
        _gru,
        _gru_case(5),
        _gru_case(5, bias=tensor([1, 9]), is_reverse=True),
        _gru_case(6, bias=tensor([1, 9]), h0=tensor([2, 3]), lod=[0, 3, 6]),
        _gru_case(6, bias=tensor([1, 9]), h0=tensor([3, 3]), lod=[0, 2, 4, 6], is_reverse=True),
        _gru_case(4, origin_mode=True),
        _gru_case(4, gate_activation="relu", activation="identity"),
        _gru_case(1),
        *(
            case(input=_ids(rows), weight=tensor([3, 9]), tagger=_TAGGER, lod=lod, **LOD)
            for rows, lod in ((6, None), (6, [0, 3, 6]), (13, None))
        ),
        random=_gru_random,
    ),
    Op(
        "lstm",
        _lstm,
        _lstm_case(5),
        _lstm_case(5, is_reverse=True),
        _lstm_case(5, bias=tensor([1, 12]), use_peepholes=False),
        _lstm_case(6, h0=tensor([2, 3]), c0=tensor([2, 3]), lod=[0, 3, 6]),
        _lstm_case(6, h0=tensor([3, 3]), c0=tensor([3, 3]), lod=[0, 2, 4, 6], is_reverse=True),
        _lstm_case(4, gate_activation="tanh", cell_activation="identity", candidate_activation="relu"),
        random=_lstm_random,
    ),
    Op(
        "fusion_gru",
        _fusion_gru,
        case(x=_rows(5, 4), weight_x=tensor([4, 9]), weight_h=tensor([3, 9]), **LOD),
        case(
            x=_rows(6, 4),
            weight_x=tensor([4, 9]),
            weight_h=tensor([3, 9]),
            bias=tensor([1, 9]),
            h0=tensor([2, 3]),
            lod=[0, 3, 6],
            is_reverse=True,
            **LOD,
        ),
        random=_fusion_gru_random,
    ),
    Op(
        "fused_embedding_fc_lstm",
        _embedded_lstm,
        case(ids=_ids(5), embeddings=tensor([8, 12]), weight_h=tensor([3, 12]), bias=tensor([1, 21]), **LOD),
        case(
            ids=_ids(6),
            embeddings=tensor([8, 12]),
            weight_h=tensor([3, 12]),
            bias=tensor([1, 12]),
            use_peepholes=False,
            is_reverse=True,
            lod=[0, 3, 6],
            **LOD,
        ),
        random=_embedded_lstm_random,
    ),
    Op(
        "fusion_lstm",
        _fusion_lstm,
        case(x=_rows(5, 4), weight_x=tensor([4, 12]), weight_h=tensor([3, 12]), bias=tensor([1, 21]), **LOD),
        case(
            x=_rows(6, 4),
            weight_x=tensor([4, 12]),
            weight_h=tensor([3, 12]),
            bias=tensor([1, 12]),
            use_peepholes=False,
            is_reverse=True,
            lod=[0, 3, 6],
            **LOD,
        ),
        random=_fusion_lstm_random,
    ),
]
