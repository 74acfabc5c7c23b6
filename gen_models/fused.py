"""Fused layers that Paddle runs on a CPU."""

import itertools

from gen_models.harness.building import function, is_pir, legacy_op, operator
from gen_models.harness.spec import Op, case, paddle, tensor

_fc = operator(
    "fc", {"input": "Input", "w": "W", "bias": "Bias"}, in_num_col_dims=1, activation_type="", padding_weights=False
)
FC = [
    case(input=tensor([3, 4]), w=tensor([4, 5])),
    case(input=tensor([3, 4], dims=[-1, 4]), w=tensor([4, 5]), bias=tensor([5])),
    case(input=tensor([2, 3, 4], dims=[-1, -1, 4]), w=tensor([4, 5]), bias=tensor([5]), in_num_col_dims=2),
    case(input=tensor([2, 3, 2, 2]), w=tensor([12, 5]), bias=tensor([1, 5]), activation_type="relu"),
]


SOFTMAX_MASK = [
    case(x=tensor([2, 3, 4, 4]), mask=tensor([2, 1, 4, 4], low=-5.0, high=0.0)),
    case(x=tensor([2, 3, 4, 4], dims=[-1, 3, -1, -1]), mask=tensor([2, 1, 4, 4], dims=[-1, 1, -1, -1])),
]


def _squared_mat_sub(x, y, *, scalar=1.0):
    if is_pir():
        return paddle._C_ops.fusion_squared_mat_sub(x, y, scalar)
    outputs = dict.fromkeys(("SquaredX", "SquaredY", "SquaredXY", "Out"), x.dtype)
    return legacy_op("fusion_squared_mat_sub", {"X": x, "Y": y}, outputs, {"scalar": scalar})[3]


SQUARED_MAT_SUB = [
    case(x=tensor([3, 4]), y=tensor([4, 5])),
    case(x=tensor([3, 4], dims=[-1, 4]), y=tensor([4, 5]), scalar=0.5),
]


def _repeated(x, w, bias):
    if is_pir():
        return paddle._C_ops.fusion_repeated_fc_relu(x, w, bias)[-1]
    outputs = {"ReluOut": [x.dtype] * (len(w) - 1), "Out": x.dtype}
    return legacy_op("fusion_repeated_fc_relu", {"X": x, "W": w, "Bias": bias}, outputs, {})[-1]


def _layers(rows, *widths, dims=None):
    return {
        "x": tensor([rows, widths[0]], dims=dims),
        "w": [tensor([a, b]) for a, b in itertools.pairwise(widths)],
        "bias": [tensor([1, b]) for b in widths[1:]],
    }


OPS = [
    Op("fusion_repeated_fc_relu", _repeated, case(**_layers(3, 4, 5, 2)), case(**_layers(3, 4, 5, 6, 2, dims=[-1, 4]))),
    Op("fc", _fc, *FC),
    Op("fused_softmax_mask", function("incubate.softmax_mask_fuse"), *SOFTMAX_MASK),
    Op("fusion_squared_mat_sub", _squared_mat_sub, *SQUARED_MAT_SUB),
]
