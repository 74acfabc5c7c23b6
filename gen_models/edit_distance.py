"""The edit distance of sequences of labels."""

from gen_models.harness.building import any_op, as_lod
from gen_models.harness.marks import LOD
from gen_models.harness.spec import Op, case, int64s, tensor


def _edit_distance(hyps, refs, hyps_length=None, refs_length=None, *, normalized=True, lod=None):
    if hyps_length is None:
        hyps, refs = as_lod(hyps, lod), as_lod(refs, lod)
    inputs = {"Hyps": hyps, "Refs": refs, "HypsLength": hyps_length, "RefsLength": refs_length}
    number, distance = any_op(
        "edit_distance", inputs, {"SequenceNum": "int64", "Out": "float32"}, {"normalized": normalized}
    )
    return [distance, number]


def _words(*shape, dims=None):
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
