"""Decoding of sequences of labels."""

from gen_models.harness.building import as_lod, function, legacy_op
from gen_models.harness.marks import NO_FUNCTION
from gen_models.harness.spec import Op, case, int64s, tensor


def _tagged(sequences, steps, tags, *lengths, dims=None):
    return {
        "potentials": tensor([sequences, steps, tags], dims=dims and [*dims, tags]),
        "transition_params": tensor([tags, tags]),
        "lengths": int64s(*lengths, dims=dims and dims[:1]),
    }


_OPEN = [-1, -1]
VITERBI = [
    case(**_tagged(2, 4, 5, 4, 4)),
    case(**_tagged(3, 6, 4, 6, 2, 4, dims=_OPEN)),
    case(**_tagged(3, 6, 4, 3, 1, 5, dims=_OPEN), include_bos_eos_tag=False),
    case(**_tagged(1, 1, 4, 1)),
    case(**_tagged(1, 3, 4, 2)),
    case(**_tagged(2, 3, 4, 1, 1)),
    case(**_tagged(4, 13, 4, 13, 1, 8, 6, dims=_OPEN)),
]


def _crf(emission, transition, length=None, label=None, *, lod=None):
    if length is None:
        emission, label = (None if value is None else as_lod(value, lod) for value in (emission, label))
    inputs = {"Emission": emission, "Transition": transition, "Length": length, "Label": label}
    return legacy_op("crf_decoding", inputs, {"ViterbiPath": "int64"}, {})


CRF = [
    case(emission=tensor([2, 4, 5]), transition=tensor([7, 5]), length=int64s(4, 4)),
    case(emission=tensor([3, 6, 4], dims=[-1, -1, 4]), transition=tensor([6, 4]), length=int64s(5, 2, 4, dims=[-1])),
    case(
        emission=tensor([3, 6, 4]),
        transition=tensor([6, 4]),
        length=int64s(5, 2, 4),
        label=tensor([3, 6], "int64", low=0, high=4),
    ),
    case(emission=tensor([3, 2, 4]), transition=tensor([6, 4]), length=int64s(1, 0, 2)),
    case(emission=tensor([1, 3, 4]), transition=tensor([6, 4]), length=int64s(2)),
    case(emission=tensor([5, 4], dims=[-1, 4]), transition=tensor([6, 4])),
    case(
        emission=tensor([6, 4], dims=[-1, 4]),
        transition=tensor([6, 4]),
        label=tensor([6, 1], "int64", low=0, high=4, dims=[-1, 1]),
        lod=[0, 2, 6],
    ),
]


def _tree(*shape, dtype="int64", dims=None):
    return {
        "ids": tensor(shape, dtype, low=0, high=50, dims=dims),
        "parents": tensor(shape, dtype, low=0, high=shape[2], dims=dims),
    }


def _ctc_align(x, length=None, *, lod=None, **options):
    attributes = {"blank": 0, "merge_repeated": True, "padding_value": 0, **options}
    if length is None:
        return legacy_op("ctc_align", {"Input": as_lod(x, lod)}, {"Output": x.dtype}, attributes)
    outputs = {"Output": x.dtype, "OutputLength": x.dtype}
    return legacy_op("ctc_align", {"Input": x, "InputLength": length}, outputs, attributes)


_TOKENS = tensor([2, 6], "int32", values=[[0, 1, 1, 0, 1, 2], [3, 3, 0, 0, 3, 4]])
_TOKENS_LENGTH = tensor([2, 1], "int32", values=[[6], [5]])
_ROW = tensor([8, 1], "int32", values=[[0], [1], [1], [2], [2], [0], [2], [3]], dims=[-1, 1])

CTC_ALIGN = [
    case(x=_TOKENS, length=_TOKENS_LENGTH, merge_repeated=False, padding_value=9),
    case(x=_TOKENS, length=_TOKENS_LENGTH, blank=3),
    case(x=_ROW),
    case(x=_ROW, blank=1, merge_repeated=False, lod=[0, 4, 8]),
    case(x=_ROW, lod=[0, 2, 4, 6, 8]),
    case(x=tensor([3, 1], "int32", values=[[0], [0], [0]], dims=[-1, 1])),
]

OPS = [
    Op("viterbi_decode", function("text.viterbi_decode"), *VITERBI),
    Op("crf_decoding", _crf, *CRF, **NO_FUNCTION),
    Op(
        "gather_tree",
        function("nn.functional.gather_tree"),
        case(**_tree(4, 2, 3, dtype="int32")),
        case(**_tree(4, 2, 3, dims=[-1, -1, -1])),
        case(**_tree(1, 2, 3)),
        case(**_tree(5, 1, 1)),
    ),
    Op("ctc_align", _ctc_align, *CTC_ALIGN, **NO_FUNCTION),
]
