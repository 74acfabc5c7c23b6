"""Operators whose semantics changed between versions of Paddle although their name did not, or whose name did.

A program carries the version of the Paddle that wrote it (1.8.5 writes 1008005). Where that determines what an operator
computes, the reader sets its `Semantics`, so that converters need not compare versions. Programs of version 0 may be
written by any Paddle, such as a current development build, and have the current semantics.

Sources: Paddle's history, and models exported by Paddle 1.8.5 that were run in 1.8.5 and in 2.6.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

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
    # Scales were multiplied in single precision, and what became 1 was the first element in any number of dimensions.
    **{
        f"{mode}_interp{version}": (_PADDLE_3_0, Semantics(single_scales=True, first_if_single=True))
        for mode in ("nearest", "linear", "bilinear", "trilinear", "bicubic")
        for version in ("", "_v2")
    },
}


def semantics_of(op_type: str, version: int, attributes: Mapping[str, object] | None = None) -> Semantics:
    """The semantics of the operator, with these attributes, in that version of Paddle."""
    end, semantics = _OLD_SEMANTICS.get(op_type, (0, _CURRENT))
    found = semantics if 0 < version < end else _CURRENT
    return replace(found, end_before_first=True) if version < _PADDLE_3_0 and _has_steps(attributes or {}) else found


def _has_steps(attributes: Mapping[str, object]) -> bool:
    # Paddle 2 writes x[::-1] with the end -1, for "before the first element"; since Paddle 3 that is the last element.
    # The bounds may come as tensors, so that this is left to the converters.
    return "ends" in attributes and not attributes.keys().isdisjoint(("strides", "steps"))


def current_name(name: str, ports: Sequence[str] = (), operand_count: int = 0) -> str:
    """Today's name of an operator: `rms_norm` was that of `fused_rms_norm_quant` before Paddle 3.3.

    Args:
        name: the name in the program.
        ports: the ports of its operands, in a format that names them.
        operand_count: how many operands it has in a format that does not name them, missing ones among them.
    """
    if name == "rms_norm" and ("norm_weight" in ports or operand_count > 2):
        return "fused_rms_norm_quant"
    return name
