"""Equivalents of the functions of OpenVINO's opset that a conversion calls most, without their overhead.

OpenVINO's own functions spend more time on decorators, on a new node factory per call and on telling overloads apart
than on the node: 8 µs instead of 3 for an Add, 40 instead of 3 for a Constant. These have the same arguments, except
`name`; tests/translation/test_opset.py compares both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from openvino import Node, Output, Type, opset16
from openvino.op import Constant, Result

from paddle2ov.graph.guards import CreateNode, note_empty

if TYPE_CHECKING:
    from paddle2ov.graph.opset_stub import NodeInput

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


def _inputs(values: Sequence[NodeInput]) -> list[Output]:
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


class QuickNodes:
    """Functions of the opset, each of which makes its node with `create`."""

    def __init__(self, create: CreateNode) -> None:
        self._create = create

    def functions(self) -> dict[str, Callable[..., Node]]:
        """All of them by their names in the opset."""
        single = (
            *(self.broadcast, self.clamp, self.concat, self.convert, self.convolution, self.gather, self.gather_nd),
            *(self.gelu, self.matmul, self.mvn, self.non_zero, self.prelu, self.reshape, self.select, self.shape_of),
            *(self.softmax, self.split, self.squeeze, self.swish, self.transpose, self.unsqueeze, self.variadic_split),
        )
        return {
            **{name: self._unary(kind) for name, kind in UNARY.items()},
            **{name: self._binary(kind) for name, kind in BINARY.items()},
            **{name: self._reduction(kind) for name, kind in REDUCTIONS.items()},
            **{function.__name__: function for function in single},
            "group_convolution": partial(self.convolution, kind="GroupConvolution"),
            "range": self.range_,
            "slice": self.slice_,
            "constant": _constant,
            "result": _result,
        }

    def broadcast(
        self,
        data: NodeInput,
        target_shape: NodeInput,
        axes_mapping: NodeInput | None = None,
        broadcast_spec: str = "NUMPY",
    ) -> Node:
        values = [data, target_shape]
        if broadcast_spec.upper() == "EXPLICIT":
            assert axes_mapping is not None
            values.append(axes_mapping)
        return self._create("Broadcast", _inputs(values), {"mode": broadcast_spec.upper()})

    def clamp(self, data: NodeInput, min_value: float, max_value: float) -> Node:
        return self._create("Clamp", _inputs((data,)), {"min": min_value, "max": max_value})

    def concat(self, nodes: Sequence[NodeInput], axis: int) -> Node:
        return self._create("Concat", _inputs(nodes), {"axis": axis})

    def convert(self, data: NodeInput, destination_type: str | Type | type) -> Node:
        if not isinstance(destination_type, str | Type):
            return opset16.convert(data, destination_type)
        return self._create("Convert", _inputs((data,)), {"destination_type": destination_type})

    def convolution(
        self,
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
        return self._create(kind, _inputs((data, filters)), {**attributes, "auto_pad": auto_pad.upper()})

    def gather(self, data: NodeInput, indices: NodeInput, axis: NodeInput, batch_dims: int = 0) -> Node:
        return self._create("Gather", _inputs((data, indices, axis)), {"batch_dims": batch_dims})

    def gather_nd(self, data: NodeInput, indices: NodeInput, batch_dims: int = 0) -> Node:
        return self._create("GatherND", _inputs((data, indices)), {"batch_dims": batch_dims})

    def gelu(self, data: NodeInput, approximation_mode: str) -> Node:
        return self._create("Gelu", _inputs((data,)), {"approximation_mode": approximation_mode})

    def matmul(self, data_a: NodeInput, data_b: NodeInput, transpose_a: bool, transpose_b: bool) -> Node:
        return self._create(
            "MatMul", _inputs((data_a, data_b)), {"transpose_a": transpose_a, "transpose_b": transpose_b}
        )

    def mvn(self, data: NodeInput, axes: NodeInput, normalize_variance: bool, eps: float, eps_mode: str) -> Node:
        attributes = {"normalize_variance": normalize_variance, "eps": eps, "eps_mode": eps_mode}
        return self._create("MVN", _inputs((data, axes)), attributes)

    def non_zero(self, data: NodeInput, output_type: str | Type = "i64") -> Node:
        return self._create("NonZero", _inputs((data,)), {"output_type": output_type})

    def prelu(self, data: NodeInput, slope: NodeInput) -> Node:
        return self._create("PRelu", _inputs((data, slope)), {})

    def range_(self, start: NodeInput, stop: NodeInput, step: NodeInput, output_type: str | Type) -> Node:
        return self._create("Range", _inputs((start, stop, step)), {"output_type": output_type})

    def reshape(self, node: NodeInput, output_shape: NodeInput, special_zero: bool) -> Node:
        return self._create("Reshape", _inputs((node, output_shape)), {"special_zero": special_zero})

    def select(
        self, cond: NodeInput, then_node: NodeInput, else_node: NodeInput, auto_broadcast: str = "numpy"
    ) -> Node:
        return self._create("Select", _inputs((cond, then_node, else_node)), {"auto_broadcast": auto_broadcast.upper()})

    def shape_of(self, data: NodeInput, output_type: str | Type = "i64") -> Node:
        return self._create("ShapeOf", _inputs((data,)), {"output_type": output_type})

    def slice_(
        self, data: NodeInput, start: NodeInput, stop: NodeInput, step: NodeInput, axes: NodeInput | None = None
    ) -> Node:
        values = (data, start, stop, step) if axes is None else (data, start, stop, step, axes)
        return self._create("Slice", _inputs(values), {})

    def softmax(self, data: NodeInput, axis: int) -> Node:
        return self._create("Softmax", _inputs((data,)), {"axis": axis})

    def split(self, data: NodeInput, axis: NodeInput, num_splits: int) -> Node:
        return self._create("Split", _inputs((data, axis)), {"num_splits": num_splits})

    def squeeze(self, data: NodeInput, axes: NodeInput | None = None, allow_axis_skip: bool = False) -> Node:
        values = (data,) if axes is None else (data, axes)
        return self._create("Squeeze", _inputs(values), {"allow_axis_skip": allow_axis_skip})

    def swish(self, data: NodeInput, beta: NodeInput | None = None) -> Node:
        return opset16.swish(data) if beta is None else self._create("Swish", _inputs((data, beta)), {})

    def transpose(self, data: NodeInput, input_order: NodeInput) -> Node:
        return self._create("Transpose", _inputs((data, input_order)), {})

    def unsqueeze(self, data: NodeInput, axes: NodeInput) -> Node:
        return self._create("Unsqueeze", _inputs((data, axes)), {})

    def variadic_split(self, data: NodeInput, axis: NodeInput, split_lengths: NodeInput) -> Node:
        return self._create("VariadicSplit", _inputs((data, axis, split_lengths)), {})

    def _unary(self, kind: str) -> Callable[..., Node]:
        return lambda node: self._create(kind, _inputs((node,)), {})

    def _binary(self, kind: str) -> Callable[..., Node]:
        def build(left: NodeInput, right: NodeInput, auto_broadcast: str = "NUMPY") -> Node:
            attributes = {} if auto_broadcast == "NUMPY" else {"auto_broadcast": auto_broadcast.upper()}
            return self._create(kind, _inputs((left, right)), attributes)

        return build

    def _reduction(self, kind: str) -> Callable[..., Node]:
        def build(node: NodeInput, reduction_axes: NodeInput, keep_dims: bool = False) -> Node:
            return self._create(kind, _inputs((node, reduction_axes)), {"keep_dims": keep_dims})

        return build


__all__ = ["BINARY", "REDUCTIONS", "UNARY", "QuickNodes"]
