"""Decoding of sequences of labels."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from gen_models.spec import Case, Op, case, paddle, tensor


def _viterbi(potentials: Any, transition_params: Any, lengths: Any, *, include_bos_eos_tag: bool = True) -> Any:
    scores, path = paddle.text.viterbi_decode(potentials, transition_params, lengths, include_bos_eos_tag)
    return [scores, path]


def _lengths(*lengths: int, dims: Any = None) -> Any:
    return tensor([len(lengths)], "int64", values=list(lengths), dims=dims)


def _random(draw: Any) -> Case:
    batch, steps, labels = draw(st.integers(1, 4)), draw(st.integers(1, 6)), draw(st.integers(3, 6))
    return case(
        potentials=tensor([batch, steps, labels], dims=[-1, -1, labels]),
        transition_params=tensor([labels, labels]),
        lengths=_lengths(*(draw(st.integers(1, steps)) for _ in range(batch)), dims=[-1]),
        include_bos_eos_tag=draw(st.booleans()),
    )


VITERBI = [
    case(potentials=tensor([2, 4, 5]), transition_params=tensor([5, 5]), lengths=_lengths(4, 4)),
    case(
        potentials=tensor([3, 6, 4], dims=[-1, -1, 4]),
        transition_params=tensor([4, 4]),
        lengths=_lengths(6, 2, 4, dims=[-1]),
    ),
    case(
        potentials=tensor([3, 6, 4], dims=[-1, -1, 4]),
        transition_params=tensor([4, 4]),
        lengths=_lengths(3, 1, 5, dims=[-1]),
        include_bos_eos_tag=False,
    ),
    case(potentials=tensor([1, 1, 4]), transition_params=tensor([4, 4]), lengths=_lengths(1)),
    case(potentials=tensor([2, 3, 4]), transition_params=tensor([4, 4]), lengths=_lengths(1, 1)),
]

OPS = [Op("viterbi_decode", _viterbi, VITERBI, _random)]
