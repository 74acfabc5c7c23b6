"""Attributes that Paddle's passes for oneDNN set on operators: fusions and scales for int8."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

_NOT_FUSED = "fuse_brelu fuse_relu fuse_relu_before_depthwise_conv fuse_residual_connection fuse_with_relu"
_NOT_MOVED = """
fused_reshape2_shape fused_reshape_out fused_reshape_x fused_reshape_y fused_squeeze2_axes fused_transpose_out
fused_transpose_x fused_transpose_y fused_unsqueeze2_axes
"""
_NOT_SCALED = "fused_output_scale scale_data scale_in scale_in_eltwise scale_out scale_x"
_NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "fuse_activation": ("", "identity"),
    **dict.fromkeys(_NOT_FUSED.split(), (False,)),
    **dict.fromkeys(_NOT_MOVED.split(), ([],)),
    **dict.fromkeys(_NOT_SCALED.split(), (1.0,)),
    "scale_weights": ([1.0], []),
    "scale_y": (1.0, [1.0], []),
    "shift_data": (0.0,),
}
"""The attributes, and the values with which they have no effect."""
ONEDNN = frozenset((*_NEUTRAL, "force_fp32_output"))
"""All of them, and what makes kernels for int8 and bfloat16 return float32."""


def effective_attributes(attributes: Mapping[str, Any], read: Set[str]) -> dict[str, Any]:
    """Those of an operator's attributes that change its result and are not in `read`, with their values."""
    names = _NEUTRAL.keys() & attributes.keys() - read
    return {name: attributes[name] for name in names if attributes[name] not in _NEUTRAL[name]}
