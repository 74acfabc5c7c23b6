"""Operators whose meaning changed while their name stayed: what the reader writes down for programs of older Paddles.

A program carries the version of the Paddle that wrote it (1.8.5 writes 1008005). Where that decides what an operator
computes, the reader says so in its `Semantics`; a converter sees the meaning and asks for no version.
Programs of version 0 may come from anywhere, a development build of today too, and have today's meaning.

Found by running what Paddle 1.8.5 exported in Paddle 1.8.5 and in 2.6.2, and in Paddle's history.
"""

from __future__ import annotations

from paddle2ov.program.model import Semantics

_PADDLE_2_0, _PADDLE_2_4, _PADDLE_3_0 = 2_000_000, 2_004_000, 3_000_000

_CURRENT = Semantics()
_OLD_SEMANTICS: dict[str, tuple[int, Semantics]] = {
    # The remainder of integers had the sign of the dividend, as in C++.
    "elementwise_mod": (_PADDLE_2_0, Semantics(truncated_quotient=True)),
    "elementwise_floordiv": (_PADDLE_2_4, Semantics(truncated_quotient=True)),
    # An average that counts the padding was divided by the window's size also where it reaches beyond the padding.
    "pool2d": (_PADDLE_2_0, Semantics(full_window_average=True)),
    "pool3d": (_PADDLE_2_0, Semantics(full_window_average=True)),
    # Both axes were divided by the number of rows.
    "yolo_box": (_PADDLE_2_0, Semantics(square_grid=True)),
    # The weight of positive examples weighed what is below the larger of x and 0, of negative examples as well.
    "sigmoid_cross_entropy_with_logits": (_PADDLE_3_0, Semantics(weighted_rest=True)),
}


def semantics_of(op_type: str, version: int) -> Semantics:
    """What the operator meant to the Paddle of that version."""
    end, semantics = _OLD_SEMANTICS.get(op_type, (0, _CURRENT))
    return semantics if 0 < version < end else _CURRENT
