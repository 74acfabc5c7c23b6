"""Arithmetic with scalars and lists of tensors.

Paddle: `scale`, `increment`, `clip`, `pow`, `sum` (PIR `add_n`).
Semantics: `paddle/phi/kernels/cpu/{scale,increment,add_n}_kernel.cc`, `paddle/phi/kernels/impl/clip_kernel_impl.h`,
`paddle/phi/kernels/impl/activation_impl.h` (PowKernel). With integers, Paddle first truncates the scalar to an integer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from openvino import Output, Type

from paddle2ov.converters.graph.common import Tensor, as_declared_float, cast_to, const_like, widen_narrow_integers
from paddle2ov.converters.graph.dims import scalar_of
from paddle2ov.converters.graph.exact import constant_power
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.types import numpy_dtype
from paddle2ov.graph.values import ConstantValue
from paddle2ov.translation.node_context import REQUIRED, NamedOutputs, NodeContext, Required


def number(node: NodeContext, name: str, x: Output, default: float | Required = REQUIRED) -> Tensor | float:
    """A scalar attribute or input: a Python number, or a 0-D tensor of the type of x if the program computes it."""
    if not node.is_known(name):
        return scalar_of(node, name, x.get_element_type())
    value = node.get_constant(name, default).reshape(-1)[0].item()
    if x.get_element_type() == Type.boolean:
        return int(value != 0)
    if x.get_element_type().is_real():
        return float(value)
    return int(value) if np.isfinite(value) else float(value)


def _tensor(value: Tensor | float, x: Tensor) -> Tensor:
    return const_like(value, x) if isinstance(value, int | float) else cast_to(value, x.get_element_type())


def scale(node: NodeContext) -> NamedOutputs:
    """out = scale · x + bias, or scale · (x + bias) with bias_after_scale = False."""
    x = node.get_input("x")
    boolean = x.get_element_type() == Type.boolean
    factor, bias = number(node, "scale", x, 1.0), number(node, "bias", x, 0.0)
    after = node.get_bool("bias_after_scale", True)
    known = node.get_known("x")
    storage = numpy_dtype(x.get_element_type())
    plain = isinstance(factor, int | float) and isinstance(bias, int | float)
    if plain and storage is not None and known is not None and known.size <= 64 and known.dtype.kind != "c":
        number_x, by, plus = (np.asarray(value).astype(storage) for value in (known, factor, bias))
        return {"out": ConstantValue(np.asarray(number_x * by + plus if after else (number_x + plus) * by, storage))}
    multiply, add = (ops.logical_and, ops.logical_or) if boolean else (ops.multiply, ops.add)
    kind = x.get_element_type()
    out: Tensor = widen_narrow_integers(x)
    for step in ("scale", "bias") if after else ("bias", "scale"):
        if step == "scale" and not _is_neutral(factor, 1):
            out = multiply(out, _tensor(factor, out))
        elif step == "bias" and not _is_neutral(bias, 0):
            out = add(out, _tensor(bias, out))
    return {"out": cast_to(out, kind)}


def _is_neutral(value: Tensor | float, neutral: int) -> bool:
    return isinstance(value, int | float) and value == neutral


def increment(node: NodeContext) -> NamedOutputs:
    """out = x + value."""
    x = node.get_input("x")
    step, kind, wide = number(node, "value", x, 1.0), x.get_element_type(), widen_narrow_integers(x)
    return {"out": cast_to(ops.add(wide, _tensor(step, wide)), kind)}


def clip(node: NodeContext) -> NamedOutputs:
    """out = min(max(x, min), max)."""
    x = as_declared_float(node, node.get_input("x"))
    low, high = number(node, "min", x), number(node, "max", x)
    if isinstance(low, float) and isinstance(high, float) and x.get_element_type().is_real() and low <= high:
        return {"out": ops.clamp(x, low, high)}
    out: Tensor = x
    if _is_within_type(low, x):
        out = ops.maximum(out, _tensor(low, x))
    if _is_within_type(high, x):
        out = ops.minimum(out, _tensor(high, x))
    return {"out": out}


def _is_within_type(bound: Tensor | float, x: Output) -> bool:
    """Whether a bound is within the range of the type of x: beyond it, it has no effect."""
    storage = numpy_dtype(x.get_element_type())
    if not isinstance(bound, int | float) or storage is None or storage.kind not in "iu":
        return True
    limits: Any = np.iinfo(storage.name)
    return bool(limits.min <= bound <= limits.max)


def pow_(node: NodeContext) -> NamedOutputs:
    """out = x^y, y a scalar."""
    x = as_declared_float(node, node.get_input("x"))
    exponent = number(node, "y", x, 1.0)
    if _is_neutral(exponent, 1):
        return {"out": x}
    if _is_neutral(exponent, 2):
        return {"out": cast_to(ops.multiply(widen_narrow_integers(x), widen_narrow_integers(x)), x.get_element_type())}
    if x.get_element_type() in (Type.i32, Type.i64) and isinstance(exponent, int) and exponent > 0:
        return {"out": constant_power(x, exponent)}
    return {"out": ops.power(x, _tensor(exponent, x))}


def sum_(node: NodeContext) -> NamedOutputs:
    """out = the sum of all inputs; those without elements count as 0, whatever their shapes."""
    inputs = node.get_inputs("inputs")
    total, *rest = [x for x in inputs if 0 not in (dims_of(x) or ())] or inputs
    for x in rest:
        total = ops.add(total, x).output(0)
    return {"out": total}
