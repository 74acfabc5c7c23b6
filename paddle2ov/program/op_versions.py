"""Operators whose meaning changed while their name stayed: what the reader writes down for programs of older Paddles.

A program carries the version of the Paddle that wrote it (1.8.5 writes 1008005). Where that decides what an operator
computes, the reader sets an attribute which no Paddle has; a converter sees the meaning and asks for no version.
Programs of version 0 may come from anywhere, a development build of today too, and have today's meaning.

Found by running what Paddle 1.8.5 exported in Paddle 1.8.5 and in 2.6.2, and in Paddle's history.
"""

from __future__ import annotations

from typing import Any

_PADDLE_2_0, _PADDLE_2_4, _PADDLE_3_0 = 2_000_000, 2_004_000, 3_000_000

_WHOLE_WINDOW: dict[str, Any] = {"whole_window": True}

_BEFORE: dict[str, tuple[int, dict[str, Any]]] = {
    # The remainder of integers had the sign of the dividend, as in C++.
    "elementwise_mod": (_PADDLE_2_0, {"rounding_mode": "trunc"}),
    "elementwise_floordiv": (_PADDLE_2_4, {"rounding_mode": "trunc"}),
    # An average that counts the padding was divided by the window's size also where it reaches beyond the padding.
    "pool2d": (_PADDLE_2_0, _WHOLE_WINDOW),
    "pool3d": (_PADDLE_2_0, _WHOLE_WINDOW),
    # Both axes were divided by the number of rows.
    "yolo_box": (_PADDLE_2_0, {"square_grid": True}),
    # The weight of positive examples weighed what is below the larger of x and 0, of negative examples as well.
    "sigmoid_cross_entropy_with_logits": (_PADDLE_3_0, {"weight_of_rest": True}),
}


def old_meaning(op_type: str, version: int) -> dict[str, Any]:
    """Attributes that say what the operator meant to the Paddle of that version; none where it means the same today."""
    end, attributes = _BEFORE.get(op_type, (0, {}))
    return attributes if 0 < version < end else {}
