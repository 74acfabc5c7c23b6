"""Operators whose semantics changed between versions of Paddle although their name did not.

A program carries the version of the Paddle that wrote it (1.8.5 writes 1008005). Where that determines what an operator
computes, the reader sets its `Semantics`, so that converters need not compare versions. Programs of version 0 may be
written by any Paddle, such as a current development build, and have the current semantics.

Sources: Paddle's history, and models exported by Paddle 1.8.5 that were run in 1.8.5 and in 2.6.2.
"""

from __future__ import annotations

from paddle2ov.program.model import Semantics

_PADDLE_2_0, _PADDLE_2_4, _PADDLE_3_0 = 2_000_000, 2_004_000, 3_000_000

_CURRENT = Semantics()
_OLD_SEMANTICS: dict[str, tuple[int, Semantics]] = {
    # The remainder of integers had the sign of the dividend, as in C++; the quotient was rounded towards zero.
    "elementwise_mod": (_PADDLE_2_0, Semantics(truncated_quotient=True)),
    "elementwise_floordiv": (_PADDLE_2_4, Semantics(truncated_quotient=True)),
    # An average that counts the padding was divided by the window's size even if the window exceeds the padding.
    "pool2d": (_PADDLE_2_0, Semantics(full_window_average=True)),
    "pool3d": (_PADDLE_2_0, Semantics(full_window_average=True)),
    # Both axes were divided by the number of rows.
    "yolo_box": (_PADDLE_2_0, Semantics(square_grid=True)),
    # `pos_weight` also scaled the terms of negative examples below max(x, 0).
    "sigmoid_cross_entropy_with_logits": (_PADDLE_3_0, Semantics(weighted_rest=True)),
    # Floats that differ by less than 1e-8 were equal.
    **dict.fromkeys(("equal", "not_equal", "equal_all"), (_PADDLE_3_0, Semantics(coarse_equality=True))),
    # Scales were multiplied in single precision.
    **{
        f"{mode}_interp{version}": (_PADDLE_3_0, Semantics(single_scales=True))
        for mode in ("nearest", "linear", "bilinear", "trilinear", "bicubic")
        for version in ("", "_v2")
    },
}


def semantics_of(op_type: str, version: int) -> Semantics:
    """The semantics of the operator in that version of Paddle."""
    end, semantics = _OLD_SEMANTICS.get(op_type, (0, _CURRENT))
    return semantics if 0 < version < end else _CURRENT
