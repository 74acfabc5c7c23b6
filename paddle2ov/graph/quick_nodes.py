"""Equivalents of the functions of OpenVINO's opset that a conversion calls most, without their overhead.

OpenVINO's own functions spend more time on decorators, on a new node factory per call and on telling overloads apart
than on the node: 8 µs instead of 3 for an Add, 40 instead of 3 for a Constant. These have the same arguments, except
`name`; tests/translation/test_opset.py compares both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from openvino import Node, Output, Type, opset16
from openvino.op import Constant, Result

from paddle2ov.graph.guards import CreateNode, note_empty

UNARY = {
    "abs": "Abs",
    "ceiling": "Ceiling",
    "cos": "Cos",
    "erf": "Erf",
    "exp": "Exp",
    "floor": "Floor",
    "hsigmoid": "HSigmoid",
    "hswish": "HSwish",
    "log": "Log",
    "logical_not": "LogicalNot",
    "negative": "Negative",
    "relu": "Relu",
    "sigmoid": "Sigmoid",
    "sign": "Sign",
    "sin": "Sin",
    "sqrt": "Sqrt",
    "tanh": "Tanh",
}
BINARY = {
    "add": "Add",
    "divide": "Divide",
    "equal": "Equal",
    "floor_mod": "FloorMod",
    "less": "Less",
    "less_equal": "LessEqual",
    "logical_and": "LogicalAnd",
    "logical_or": "LogicalOr",
    "maximum": "Maximum",
    "minimum": "Minimum",
    "mod": "Mod",
    "multiply": "Multiply",
    "not_equal": "NotEqual",
    "power": "Power",
    "subtract": "Subtract",
}
REDUCTIONS = {
    "reduce_l2": "ReduceL2",
    "reduce_logical_or": "ReduceLogicalOr",
    "reduce_max": "ReduceMax",
    "reduce_mean": "ReduceMean",
    "reduce_min": "ReduceMin",
    "reduce_prod": "ReduceProd",
    "reduce_sum": "ReduceSum",
}
# Types that NumPy has, one element in a byte or more; constants of others are left to OpenVINO's function.
_NUMPY_NAMES = ("boolean", "f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
_NUMBERS = (np.ndarray, np.generic, int, float, list)
_NUMPY_TYPES = {kind: kind.to_dtype() for kind in (getattr(Type, name) for name in _NUMPY_NAMES)}


def _constant(value: Any, *rest: Any, **more: Any) -> Constant:
    known = _NUMPY_TYPES.get(rest[0]) if rest else None
    if more or len(rest) > 1 or (rest and known is None) or not isinstance(value, _NUMBERS):
        made: Constant = opset16.constant(value, *rest, **more)
        return made
    array = value if isinstance(value, np.ndarray) else np.array(value)
    if not array.size:
        note_empty()
    return Constant(array if known is None or array.dtype == known else array.astype(known))


def _result(data: Any, name: str | None = None) -> Node:
    if not isinstance(data, Output):
        return opset16.result(data, name=name)
    node = Result(data)
    if name is not None:
        node.set_friendly_name(name)
    return node


def _inputs(values: Sequence[Any]) -> list[Output]:
    """The arguments of a node factory: numbers become constants, a node all of its outputs."""
    outputs = []
    for value in values:
        if isinstance(value, Output):
            outputs.append(value)
        elif isinstance(value, Node):
            outputs += value.outputs()
        else:
            outputs.append(_constant(np.array(value)).output(0))
    return outputs


def quick_functions(create: CreateNode) -> dict[str, Callable[..., Node]]:
    """The functions by their names in the opset; each makes its node with `create`."""

    def unary(kind: str) -> Callable[..., Node]:
        return lambda node: create(kind, _inputs((node,)), {})

    def binary(kind: str) -> Callable[..., Node]:
        def build(left: Any, right: Any, auto_broadcast: str = "NUMPY") -> Node:
            attributes = {} if auto_broadcast == "NUMPY" else {"auto_broadcast": auto_broadcast.upper()}
            return create(kind, _inputs((left, right)), attributes)

        return build

    def reduction(kind: str) -> Callable[..., Node]:
        def build(node: Any, reduction_axes: Any, keep_dims: bool = False) -> Node:
            return create(kind, _inputs((node, reduction_axes)), {"keep_dims": keep_dims})

        return build

    def broadcast(data: Any, target_shape: Any, axes_mapping: Any = None, broadcast_spec: str = "NUMPY") -> Node:
        values = (data, target_shape) if broadcast_spec.upper() != "EXPLICIT" else (data, target_shape, axes_mapping)
        return create("Broadcast", _inputs(values), {"mode": broadcast_spec.upper()})

    def clamp(data: Any, min_value: float, max_value: float) -> Node:
        return create("Clamp", _inputs((data,)), {"min": min_value, "max": max_value})

    def concat(nodes: Sequence[Any], axis: int) -> Node:
        return create("Concat", _inputs(nodes), {"axis": axis})

    def convert(data: Any, destination_type: Any) -> Node:
        if not isinstance(destination_type, str | Type):
            return opset16.convert(data, destination_type)
        return create("Convert", _inputs((data,)), {"destination_type": destination_type})

    def convolution(
        data: Any,
        filters: Any,
        strides: Sequence[int],
        pads_begin: Sequence[int],
        pads_end: Sequence[int],
        dilations: Sequence[int],
        auto_pad: str = "EXPLICIT",
        kind: str = "Convolution",
    ) -> Node:
        attributes = {"strides": strides, "dilations": dilations, "pads_begin": pads_begin, "pads_end": pads_end}
        return create(kind, _inputs((data, filters)), {**attributes, "auto_pad": auto_pad.upper()})

    def gather(data: Any, indices: Any, axis: Any, batch_dims: int = 0) -> Node:
        return create("Gather", _inputs((data, indices, axis)), {"batch_dims": batch_dims})

    def gather_nd(data: Any, indices: Any, batch_dims: int = 0) -> Node:
        return create("GatherND", _inputs((data, indices)), {"batch_dims": batch_dims})

    def gelu(data: Any, approximation_mode: str) -> Node:
        return create("Gelu", _inputs((data,)), {"approximation_mode": approximation_mode})

    def matmul(data_a: Any, data_b: Any, transpose_a: bool, transpose_b: bool) -> Node:
        return create("MatMul", _inputs((data_a, data_b)), {"transpose_a": transpose_a, "transpose_b": transpose_b})

    def mvn(data: Any, axes: Any, normalize_variance: bool, eps: float, eps_mode: str) -> Node:
        attributes = {"normalize_variance": normalize_variance, "eps": eps, "eps_mode": eps_mode}
        return create("MVN", _inputs((data, axes)), attributes)

    def non_zero(data: Any, output_type: Any = "i64") -> Node:
        return create("NonZero", _inputs((data,)), {"output_type": output_type})

    def prelu(data: Any, slope: Any) -> Node:
        return create("PRelu", _inputs((data, slope)), {})

    def range_(start: Any, stop: Any, step: Any, output_type: Any) -> Node:
        return create("Range", _inputs((start, stop, step)), {"output_type": output_type})

    def reshape(node: Any, output_shape: Any, special_zero: bool) -> Node:
        return create("Reshape", _inputs((node, output_shape)), {"special_zero": special_zero})

    def select(cond: Any, then_node: Any, else_node: Any, auto_broadcast: str = "numpy") -> Node:
        return create("Select", _inputs((cond, then_node, else_node)), {"auto_broadcast": auto_broadcast.upper()})

    def shape_of(data: Any, output_type: Any = "i64") -> Node:
        return create("ShapeOf", _inputs((data,)), {"output_type": output_type})

    def slice_(data: Any, start: Any, stop: Any, step: Any, axes: Any = None) -> Node:
        values = (data, start, stop, step) if axes is None else (data, start, stop, step, axes)
        return create("Slice", _inputs(values), {})

    def softmax(data: Any, axis: int) -> Node:
        return create("Softmax", _inputs((data,)), {"axis": axis})

    def split(data: Any, axis: Any, num_splits: int) -> Node:
        return create("Split", _inputs((data, axis)), {"num_splits": num_splits})

    def squeeze(data: Any, axes: Any = None, allow_axis_skip: bool = False) -> Node:
        values = (data,) if axes is None else (data, axes)
        return create("Squeeze", _inputs(values), {"allow_axis_skip": allow_axis_skip})

    def swish(data: Any, beta: Any = None) -> Node:
        return opset16.swish(data) if beta is None else create("Swish", _inputs((data, beta)), {})

    def transpose(data: Any, input_order: Any) -> Node:
        return create("Transpose", _inputs((data, input_order)), {})

    def unsqueeze(data: Any, axes: Any) -> Node:
        return create("Unsqueeze", _inputs((data, axes)), {})

    def variadic_split(data: Any, axis: Any, split_lengths: Any) -> Node:
        return create("VariadicSplit", _inputs((data, axis, split_lengths)), {})

    single = (
        *(broadcast, clamp, concat, convert, convolution, gather, gather_nd, gelu, matmul, mvn, non_zero, prelu),
        *(reshape, select, shape_of, softmax, split, squeeze, swish, transpose, unsqueeze, variadic_split),
    )
    return {
        **{name: unary(kind) for name, kind in UNARY.items()},
        **{name: binary(kind) for name, kind in BINARY.items()},
        **{name: reduction(kind) for name, kind in REDUCTIONS.items()},
        **{function.__name__: function for function in single},
        "group_convolution": partial(convolution, kind="GroupConvolution"),
        "range": range_,
        "slice": slice_,
        "constant": _constant,
        "result": _result,
    }


__all__ = ["BINARY", "REDUCTIONS", "UNARY", "quick_functions"]
