"""Evenly spaced numbers.

Paddle: `range` (PIR `arange`), `range_v2` (PIR only), `linspace`, `logspace`.
Semantics: `paddle/phi/kernels/cpu/{arange,linspace,logspace}_kernel.cc`, `paddle/phi/kernels/funcs/range_function.h`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from openvino import Node, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const_like, exact_divide
from paddle2ov.converters.graph.dims import index_range, scalar_of
from paddle2ov.graph import arrays
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.types import numpy_dtype
from paddle2ov.graph.values import ConstantValue
from paddle2ov.graph.workarounds import works_around
from paddle2ov.program.budget import check_computed
from paddle2ov.translation.node_context import NamedOutputs, NodeContext, OutputLike
from paddle2ov.typing import AnyArray

_LARGE = 4096


def arange(node: NodeContext) -> NamedOutputs:
    """out = start, start + step, ... up to but without end."""
    dtype = node.get_dtype("dtype") or node.declared_output_dtype("out") or node.get_input("start").get_element_type()
    if (known := _known_range(node, dtype, inclusive=False)) is not None:
        return {"out": known}
    start, end, step = (scalar_of(node, name, dtype) for name in ("start", "end", "step"))
    if not (_is_dimension(end) and node.is_known("start") and not node.get_constant("start").any()):
        end = _clamped_end(start, end, step)
    return {"out": ops.range(start, end, step, dtype.get_type_name())}


def _known_range(node: NodeContext, dtype: Type, inclusive: bool) -> ConstantValue | None:
    """A few numbers, each the sum of the one before and the step, as in the kernel; None for many or computed ones."""
    storage, names = numpy_dtype(dtype), ("start", "end", "step")
    if storage is None or not all(map(node.is_known, names)):
        return None
    numbers = [node.get_constant(name).reshape(-1)[0] for name in names]
    start, end, step = (item.item() if inclusive else item.astype(storage).item() for item in numbers)
    node.require(step != 0, "the step must not be 0", step=step)
    if inclusive:
        count = int((end - start) / step + 1)
    elif start != end and (end > start) != (step > 0):
        count = 0  # Paddle 2 refuses it
    elif dtype.is_integral():
        count = (abs(end - start) + abs(step) - 1) // abs(step)
    else:
        count = math.ceil(abs((end - start) / step))
    check_computed(count)
    if count > _LARGE:
        return None
    steps = arrays.full(count, step, storage)
    steps[:1] = start
    return ConstantValue(np.add.accumulate(steps, dtype=storage))


def _is_dimension(end: Node) -> bool:
    """Whether `end` is a dimension of a tensor, as in most ranges."""
    while end.get_type_name() in ("Convert", "Gather", "Reshape", "Slice", "Squeeze", "StridedSlice"):
        end = end.input_value(0).get_node()
    return bool(end.get_type_name() == "ShapeOf")


@works_around("range_against_its_step")
def _clamped_end(start: Node, end: Node, step: Node) -> Node:
    """`end`, or `start` where the step leads away from it: OpenVINO's CPU plugin (2026.4) ignores signs."""
    up = ops.greater(step, const_like(0, step))
    return ops.select(up, ops.maximum(start, end), ops.minimum(start, end))


def range_v2(node: NodeContext) -> NamedOutputs:
    """out = start, start + step, ... up to and including end."""
    dtype = node.get_dtype("dtype") or node.declared_output_dtype("out") or node.get_input("start").get_element_type()
    if (known := _known_range(node, dtype, inclusive=True)) is not None:
        return {"out": known}
    start, end, step = (scalar_of(node, name) for name in ("start", "end", "step"))
    number = Type.f32 if any(value.get_element_type().is_real() for value in (start, end, step)) else Type.i64
    first, last, by = (ops.convert(value, number) for value in (start, end, step))
    distance = ops.subtract(last, first)
    # With a step of the right sign the quotient is not negative, so that truncation and floor agree.
    intervals = ops.floor(exact_divide(distance, by)) if number == Type.f32 else ops.divide(distance, by)
    dynamic_count = ops.add(ops.convert(intervals, Type.i64), ints(1))
    index = ops.convert(index_range(dynamic_count), dtype)
    scaled = ops.multiply(index, ops.convert(step, dtype))
    return {"out": ops.add(scaled, ops.convert(start, dtype))}


def _number(node: NodeContext, name: str, storage: Any) -> Any:
    return node.get_constant(name).reshape(-1)[0].astype(storage).item()


def _one(number: Tensor) -> Node:
    """The number as a vector: what OpenVINO computes of a scalar and a constant of shape [1] may be a scalar."""
    return ops.unsqueeze(ops.reshape(number, ints([]), False), ints(0))


def _spaced(node: NodeContext, *others: str) -> tuple[AnyArray | Node, Type]:
    """`num` numbers from start to stop inclusive, counted from both ends, and the type of the result.

    They are an array, in double, if all inputs are known, also these `others`.
    """
    dtype = node.get_dtype("dtype") or node.declared_output_dtype("out") or Type.f32
    storage, count_name = numpy_dtype(dtype), "number" if node.op_type == "linspace" else "num"
    if storage is not None and all(map(node.is_known, ("start", "stop", count_name, *others))):
        number = node.get_int(count_name)
        node.require(number >= 0, "a negative number", **{count_name: number})
        check_computed(number)
        if number <= _LARGE:
            low, high = (_number(node, name, storage) for name in ("start", "stop"))
            distance, k = float(storage.type(high - low)) / max(number - 1, 1), arrays.arange(number)
            is_first = (k < number // 2) | (number == 1)
            return np.where(is_first, low + distance * k, high - distance * (number - k - 1)), dtype
    # The kernels take the bounds in the type of the result and compute in double.
    kind = Type.f64 if dtype == Type.f64 else Type.f32
    start, stop = (_one(cast_to(node.get_tensor(name, dtype), kind)) for name in ("start", "stop"))
    count = scalar_of(node, count_name, Type.i64)
    intervals = _one(cast_to(ops.maximum(ops.subtract(count, ints(1)), ints(1)), kind))
    step = ops.divide(ops.subtract(stop, start), intervals)
    index = cast_to(index_range(count), kind)
    left = cast_to(ops.subtract(ops.subtract(count, ints(1)), index_range(count)), kind)
    first_half = ops.less(index, cast_to(ops.divide(count, ints(2)), kind))
    is_single = ops.equal(count, ints(1))
    from_start, from_stop = ops.add(start, ops.multiply(step, index)), ops.subtract(stop, ops.multiply(step, left))
    return ops.select(ops.logical_or(first_half, is_single), from_start, from_stop), dtype


def linspace(node: NodeContext) -> NamedOutputs:
    """out = `number` numbers from start to stop, both included, at equal distances."""
    values, dtype = _spaced(node)
    return {"out": _as_result(values, dtype)}


def logspace(node: NodeContext) -> NamedOutputs:
    """out = base to the power of `num` numbers from start to stop, both included, at equal distances."""
    exponents, dtype = _spaced(node, "base")
    if isinstance(exponents, np.ndarray):
        return {"out": _as_result(np.power(float(_number(node, "base", numpy_dtype(dtype))), exponents), dtype)}
    base = _one(cast_to(node.get_tensor("base", dtype), exponents.get_element_type()))
    return {"out": _as_result(ops.power(base, exponents), dtype)}


def _as_result(values: AnyArray | Node, dtype: Type) -> OutputLike:
    if isinstance(values, np.ndarray):
        return ConstantValue(values.astype(numpy_dtype(dtype)))
    return cast_to(values, dtype)
