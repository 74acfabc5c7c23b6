"""The edit distance of sequences of labels."""

from __future__ import annotations

from typing import Any

from gen_models.harness.building import as_lod, is_pir, legacy_op
from gen_models.harness.marks import LOD
from gen_models.harness.spec import Op, case, int64s, paddle, tensor


def _edit_distance(
    hyps: Any, refs: Any, hyps_length: Any = None, refs_length: Any = None, *, normalized: bool = True, lod: Any = None
) -> Any:
    if hyps_length is not None:
        if is_pir():  # the function checks for a variable of Paddle 2
            number, distance = paddle._C_ops.edit_distance(hyps, refs, hyps_length, refs_length, normalized)
            return [distance, number]
        distance, number = paddle.nn.functional.loss.edit_distance(
            hyps, refs, normalized, None, hyps_length, refs_length
        )
        return [distance, number]
    inputs = {"Hyps": as_lod(hyps, lod), "Refs": as_lod(refs, lod)}
    outputs = {"Out": "float32", "SequenceNum": "int64"}
    return legacy_op("edit_distance", inputs, outputs, {"normalized": normalized})


def _words(*shape: int, dims: Any = None) -> Any:
    return tensor(shape, "int64", low=0, high=4, dims=dims)


OPS = [
    Op(
        "edit_distance",
        _edit_distance,
        case(hyps=_words(2, 5), refs=_words(2, 7), hyps_length=int64s(5, 3), refs_length=int64s(7, 4)),
        case(
            hyps=_words(3, 6, dims=[-1, -1]),
            refs=_words(3, 4, dims=[-1, -1]),
            hyps_length=int64s(6, 0, 2, dims=[-1]),
            refs_length=int64s(0, 4, 1, dims=[-1]),
            normalized=False,
        ),
        case(hyps=_words(5, 1, dims=[-1, 1]), refs=_words(7, 1, dims=[-1, 1]), **LOD),
        case(hyps=_words(6, 1, dims=[-1, 1]), refs=_words(6, 1, dims=[-1, 1]), lod=[0, 3, 6], **LOD),
    )
]
