"""The index of the house: which converter each Paddle operator has.

Keys are Paddle's operator names as in legacy programs, or PIR's own where only PIR has the operator; sorted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle2ov.converters import (
    conv,
    conv_transpose,
    creation,
    cumulative,
    interpolation,
    linalg,
    normalization,
    reduction,
    rnn,
    search,
)

if TYPE_CHECKING:
    from paddle2ov.registry import Converter

OP_TABLE: dict[str, Converter] = {
    "addmm": linalg.addmm,
    "baddbmm": linalg.addmm,
    "batch_norm": normalization.batch_norm,
    "bicubic_interp": interpolation.interpolate("cubic", version=1),
    "bicubic_interp_v2": interpolation.interpolate("cubic"),
    "bilinear_interp": interpolation.interpolate("linear", version=1),
    "bilinear_interp_v2": interpolation.interpolate("linear"),
    "bilinear_tensor_product": linalg.bilinear_tensor_product,
    "bmm": linalg.bmm,
    "conv2d": conv.conv,
    "conv2d_transpose": conv_transpose.conv_transpose,
    "conv2d_transpose_bias": conv_transpose.conv_transpose,
    "conv3d": conv.conv,
    "conv3d_transpose": conv_transpose.conv_transpose,
    "cummax": cumulative.cummax,
    "cummin": cumulative.cummin,
    "cumprod": cumulative.cumprod,
    "cumsum": cumulative.cumsum,
    "depthwise_conv2d": conv.conv,
    "depthwise_conv2d_bias": conv.conv,
    "depthwise_conv2d_transpose": conv_transpose.conv_transpose,
    "depthwise_conv3d_bias": conv.conv,
    "dot": linalg.dot,
    "fill_constant": creation.fill_constant,
    "frobenius_norm": reduction.frobenius_norm,
    "full_int_array": creation.full_int_array,
    "fused_conv2d_add_act": conv.fused_conv2d_add_act,
    "group_norm": normalization.group_norm,
    "instance_norm": normalization.instance_norm,
    "l1_norm": reduction.l1_norm,
    "layer_norm": normalization.layer_norm,
    "linear_interp": interpolation.interpolate("linear", version=1),
    "linear_interp_v2": interpolation.interpolate("linear"),
    "logcumsumexp": cumulative.logcumsumexp,
    "logsumexp": reduction.logsumexp,
    "matmul": linalg.matmul,
    "matmul_v2": linalg.matmul_v2,
    "mean": reduction.mean_all,
    "mul": linalg.mul,
    "multi_dot": linalg.multi_dot,
    "mv": linalg.mv,
    "nearest_interp": interpolation.interpolate("nearest", version=1),
    "nearest_interp_v2": interpolation.interpolate("nearest"),
    "norm": reduction.norm,
    "p_norm": reduction.p_norm,
    "reduce_all": reduction.reduce_all,
    "reduce_amax": reduction.reduce_max,
    "reduce_amin": reduction.reduce_min,
    "reduce_any": reduction.reduce_any,
    "reduce_max": reduction.reduce_max,
    "reduce_mean": reduction.reduce_mean,
    "reduce_min": reduction.reduce_min,
    "reduce_prod": reduction.reduce_prod,
    "reduce_sum": reduction.reduce_sum,
    "rnn": rnn.rnn,
    "squared_l2_norm": reduction.squared_l2_norm,
    "sync_batch_norm": normalization.batch_norm,
    "top_k_v2": search.top_k_v2,
    "trilinear_interp": interpolation.interpolate("linear", version=1),
    "trilinear_interp_v2": interpolation.interpolate("linear"),
}
