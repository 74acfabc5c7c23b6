"""Casts, and operators that pass their input on.

Paddle: `cast`; `assign`, `share_data`, `memcpy`, `memcpy_d2h`, `memcpy_h2d`, `npu_identity`, `print`,
`depend`, `assign_array`, `assign_out`, `c_identity`, `rnn_memory_helper`, `shadow_feed`; `assert`; `dropout`,
`dropout_nd`, `seed`.
Semantics: `paddle/phi/kernels/cpu/{cast,dropout}_kernel.cc`.

Dropout in training mode is random, see `random/distributions.py`.
"""

from __future__ import annotations

import numpy as np
from openvino import Type

from paddle2ov.converters.complex.elementary import from_real
from paddle2ov.converters.graph.common import (
    NARROW_INTEGERS,
    Tensor,
    cast_to,
    const,
    const_like,
    fold_constants,
    with_exact_division,
)
from paddle2ov.converters.graph.dims import scalar_of, shape_of
from paddle2ov.graph.complex_pairs import real_imag
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.values import ConstantValue, EmptyTensorArray
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def cast(node: NodeContext) -> NamedOutputs:
    """out = x in another type: to integers truncated, to bool as x != 0."""
    if (known := fold_constants(node, np.asarray, "x")) is not None:
        return {"out": known}
    x = node.get_input("x")
    dtype = node.get_dtype("dtype", node.declared_output_dtype())
    if dtype is None:
        node.refuse("the type to cast to is not one that OpenVINO has", dtype=node.get_attribute("dtype", None))
    if node.is_complex("out") and not node.is_complex("x"):
        return {"out": from_real(x, dtype)}
    if node.is_complex("x") and not node.is_complex("out"):
        if dtype == Type.boolean:  # whether the real or the imaginary part is not 0
            return {"out": ops.reduce_logical_or(ops.not_equal(x, const_like(0, x)), ints([-1]), False)}
        x = real_imag(x)[0]
    if dtype == Type.boolean and x.get_element_type() != Type.boolean:
        return {"out": ops.not_equal(x, const_like(0, x))}
    if dtype.is_integral() and x.get_element_type().is_real():
        x = with_exact_division(x)
    if dtype in NARROW_INTEGERS and x.get_element_type().is_real():  # C++ wraps around; OpenVINO saturates
        x = ops.convert(x, Type.i32).output(0)
    return {"out": cast_to(x, dtype)}


def identity(node: NodeContext) -> NamedOutputs:
    """out = x: the operator copies or marks its input, and leaves the values as they are."""
    source = "in" if node.op_type == "print" else "x"
    return {"out": EmptyTensorArray() if node.is_empty_array(source) else node.get_input(source)}


def nothing(node: NodeContext) -> NamedOutputs:
    """Nothing: the operator checks or prints at run time, and has no results."""
    return {}


def seed(node: NodeContext) -> NamedOutputs:
    """out = [seed]; 0 stands for any number, and nothing but dropout in training depends on it."""
    return {"out": ConstantValue(np.array([node.get_int("seed", 0)], np.int32))}


def dropout(node: NodeContext) -> NamedOutputs:
    """out = x at inference; x · (1 - p) where training did not scale what it kept (mode "downgrade_in_infer").

    mask = 1 at inference, where Paddle has none.
    """
    x = node.get_input("x")
    mode = node.get_str("mode", "downgrade_in_infer")
    node.require(mode in ("upscale_in_train", "downgrade_in_infer"), "unknown mode", mode=mode)
    keeps_all = node.is_known("p") and node.get_float("p", 0.5) == 0 and not node.is_output_used("mask")
    if not node.get_bool("is_test", False) and not keeps_all:
        from paddle2ov.converters.random.distributions import dropout_in_training  # few models have it

        return dropout_in_training(node)
    outputs: dict[str, Tensor] = {"out": x}
    if mode == "downgrade_in_infer" and node.is_known("p"):
        keep = const_like(float(np.float32(1) - np.float32(node.get_float("p", 0.5))), x)
        outputs["out"] = ops.multiply(x, keep)
    elif mode == "downgrade_in_infer":
        p = scalar_of(node, "p", x.get_element_type())
        outputs["out"] = ops.multiply(x, ops.subtract(const_like(1, x), p))
    if node.is_output_used("mask"):
        outputs["mask"] = ops.broadcast(const(1, Type.u8), shape_of(x))
    return outputs
