"""The functions of the opset as OpenVINO has them, checked; those that a conversion calls most without its overhead.

OpenVINO's own functions spend more time on decorators, on a new node factory per call and on telling overloads apart
than on the node: 8 µs instead of 3 for an Add, 40 instead of 3 for a Constant. The quick ones have the same arguments,
except `name`; tests/translation/test_opset.py compares both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from openvino import Node, Output, Type, opset16
from openvino.op import Constant, Result

from paddle2ov.graph.guards import (
    SUSPECT,
    UNCHECKED,
    check_windows,
    checked,
    checked_function,
    empty_constants,
    with_clamped_sizes,
)
from paddle2ov.graph.node_factory import FUNCTIONS, NodeInput, create
from paddle2ov.program.budget import charge_copy

if TYPE_CHECKING:
    from openvino_opset import Opset


def _by_function(kinds: str) -> dict[str, str]:
    """The functions' names, `floor_mod`, of node types, `FloorMod`."""
    return {re.sub("(?<=[a-z])(?=[A-Z])", "_", kind).lower(): kind for kind in kinds.split()}


UNARY = _by_function(
    "Abs Ceiling Cos Erf Exp Floor HSigmoid HSwish Log LogicalNot Negative Relu Sigmoid Sign Sin Sqrt Tanh"
)
BINARY = _by_function(
    "Add Divide Equal FloorMod Less LessEqual LogicalAnd LogicalOr Maximum Minimum Mod Multiply NotEqual Power Subtract"
)
REDUCTIONS = _by_function("ReduceL2 ReduceLogicalOr ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum")
# Types that NumPy has, one element in a byte or more; constants of others are left to OpenVINO's function.
_NUMPY_NAMES = ("boolean", "f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
_NUMBERS = (np.ndarray, np.generic, int, float, list)
_NUMPY_TYPES = {kind: kind.to_dtype() for kind in (getattr(Type, name) for name in _NUMPY_NAMES)}


def make(kind: str, values: Sequence[NodeInput], attributes: dict[str, Any]) -> Node:
    """A node, checked. Of what it reads, numbers become constants, and a node stands for all of its outputs."""
    inputs = []
    for value in values:
        if isinstance(value, Output):
            inputs.append(value)
        elif isinstance(value, Node):
            inputs += value.outputs()
        else:
            inputs.append(constant(np.array(value)).output(0))
    if "strides" in attributes:
        check_windows(attributes)
    try:
        node = create(kind, inputs, attributes)
    except RuntimeError:
        node = with_clamped_sizes(kind, inputs, attributes)
    return checked(node, kind) if kind in SUSPECT or empty_constants.seen else node


def constant(value: Any, *rest: Any, **more: Any) -> Constant:
    known = _NUMPY_TYPES.get(rest[0]) if rest else None
    if more or len(rest) > 1 or (rest and known is None) or not isinstance(value, _NUMBERS):
        made: Constant = opset16.constant(value, *rest, **more)
        return made
    array = value if isinstance(value, np.ndarray) else np.array(value)
    if not array.size:
        empty_constants.seen = True
    charge_copy(array.nbytes)
    return Constant(array if known is None or array.dtype == known else array.astype(known))


def result(data: Any, name: str | None = None) -> Node:
    if not isinstance(data, Output):
        return opset16.result(data, name=name)
    node = Result(data)
    if name is not None:
        node.set_friendly_name(name)
    return node


def broadcast(
    data: NodeInput,
    target_shape: NodeInput,
    axes_mapping: NodeInput | None = None,
    broadcast_spec: str = "NUMPY",
) -> Node:
    values = [data, target_shape]
    if broadcast_spec.upper() == "EXPLICIT":
        assert axes_mapping is not None
        values.append(axes_mapping)
    return make("Broadcast", values, {"mode": broadcast_spec.upper()})


def clamp(data: NodeInput, min_value: float, max_value: float) -> Node:
    return make("Clamp", (data,), {"min": min_value, "max": max_value})


def concat(nodes: Sequence[NodeInput], axis: int) -> Node:
    return make("Concat", nodes, {"axis": axis})


def convert(data: NodeInput, destination_type: str | Type | type) -> Node:
    if not isinstance(destination_type, str | Type):
        return opset16.convert(data, destination_type)
    return make("Convert", (data,), {"destination_type": destination_type})


def convolution(
    data: NodeInput,
    filters: NodeInput,
    strides: Sequence[int],
    pads_begin: Sequence[int],
    pads_end: Sequence[int],
    dilations: Sequence[int],
    auto_pad: str = "EXPLICIT",
    kind: str = "Convolution",
) -> Node:
    attributes = {"strides": strides, "dilations": dilations, "pads_begin": pads_begin, "pads_end": pads_end}
    return make(kind, (data, filters), {**attributes, "auto_pad": auto_pad.upper()})


def gather(data: NodeInput, indices: NodeInput, axis: NodeInput, batch_dims: int = 0) -> Node:
    return make("Gather", (data, indices, axis), {"batch_dims": batch_dims})


def gather_nd(data: NodeInput, indices: NodeInput, batch_dims: int = 0) -> Node:
    return make("GatherND", (data, indices), {"batch_dims": batch_dims})


def gelu(data: NodeInput, approximation_mode: str) -> Node:
    return make("Gelu", (data,), {"approximation_mode": approximation_mode})


def matmul(data_a: NodeInput, data_b: NodeInput, transpose_a: bool, transpose_b: bool) -> Node:
    return make("MatMul", (data_a, data_b), {"transpose_a": transpose_a, "transpose_b": transpose_b})


def mvn(data: NodeInput, axes: NodeInput, normalize_variance: bool, eps: float, eps_mode: str) -> Node:
    attributes = {"normalize_variance": normalize_variance, "eps": eps, "eps_mode": eps_mode}
    return make("MVN", (data, axes), attributes)


def non_zero(data: NodeInput, output_type: str | Type = "i64") -> Node:
    return make("NonZero", (data,), {"output_type": output_type})


def prelu(data: NodeInput, slope: NodeInput) -> Node:
    return make("PRelu", (data, slope), {})


def range_(start: NodeInput, stop: NodeInput, step: NodeInput, output_type: str | Type) -> Node:
    return make("Range", (start, stop, step), {"output_type": output_type})


def reshape(node: NodeInput, output_shape: NodeInput, special_zero: bool) -> Node:
    return make("Reshape", (node, output_shape), {"special_zero": special_zero})


def select(cond: NodeInput, then_node: NodeInput, else_node: NodeInput, auto_broadcast: str = "numpy") -> Node:
    return make("Select", (cond, then_node, else_node), {"auto_broadcast": auto_broadcast.upper()})


def shape_of(data: NodeInput, output_type: str | Type = "i64") -> Node:
    return make("ShapeOf", (data,), {"output_type": output_type})


def slice_(data: NodeInput, start: NodeInput, stop: NodeInput, step: NodeInput, axes: NodeInput | None = None) -> Node:
    values = (data, start, stop, step) if axes is None else (data, start, stop, step, axes)
    return make("Slice", values, {})


def softmax(data: NodeInput, axis: int) -> Node:
    return make("Softmax", (data,), {"axis": axis})


def split(data: NodeInput, axis: NodeInput, num_splits: int) -> Node:
    return make("Split", (data, axis), {"num_splits": num_splits})


def squeeze(data: NodeInput, axes: NodeInput | None = None, allow_axis_skip: bool = False) -> Node:
    values = (data,) if axes is None else (data, axes)
    return make("Squeeze", values, {"allow_axis_skip": allow_axis_skip})


def swish(data: NodeInput, beta: NodeInput | None = None) -> Node:
    return opset16.swish(data) if beta is None else make("Swish", (data, beta), {})


def transpose(data: NodeInput, input_order: NodeInput) -> Node:
    return make("Transpose", (data, input_order), {})


def unsqueeze(data: NodeInput, axes: NodeInput) -> Node:
    return make("Unsqueeze", (data, axes), {})


def variadic_split(data: NodeInput, axis: NodeInput, split_lengths: NodeInput) -> Node:
    return make("VariadicSplit", (data, axis, split_lengths), {})


def _unary(kind: str) -> Callable[..., Node]:
    return lambda node: make(kind, (node,), {})


def _binary(kind: str) -> Callable[..., Node]:
    def build(left: NodeInput, right: NodeInput, auto_broadcast: str = "NUMPY") -> Node:
        attributes = {} if auto_broadcast == "NUMPY" else {"auto_broadcast": auto_broadcast.upper()}
        return make(kind, (left, right), attributes)

    return build


def _reduction(kind: str) -> Callable[..., Node]:
    def build(node: NodeInput, reduction_axes: NodeInput, keep_dims: bool = False) -> Node:
        return make(kind, (node, reduction_axes), {"keep_dims": keep_dims})

    return build


_ALONE: tuple[Callable[..., Node], ...] = (
    *(broadcast, clamp, concat, constant, convert, convolution, gather, gather_nd, gelu, matmul, mvn, non_zero, prelu),
    *(range_, reshape, result, select, shape_of, slice_, softmax, split, squeeze, swish, transpose, unsqueeze),
    variadic_split,
)
QUICK = {
    **{name: _unary(kind) for name, kind in UNARY.items()},
    **{name: _binary(kind) for name, kind in BINARY.items()},
    **{name: _reduction(kind) for name, kind in REDUCTIONS.items()},
    **{function.__name__.rstrip("_"): function for function in _ALONE},
    "group_convolution": partial(convolution, kind="GroupConvolution"),
}
"""The quick functions, by their names in the opset."""

_CHECKED = {
    name: checked_function(value) if callable(value) and name not in UNCHECKED else value
    for name, value in FUNCTIONS.items()
    if name not in QUICK
}
plain = cast("Opset", SimpleNamespace(**_CHECKED, **QUICK))
"""The whole opset."""

__all__ = ["BINARY", "QUICK", "REDUCTIONS", "UNARY", "make", "plain"]
