"""The one place that names the OpenVINO opset that converters emit.

`ops` has all functions of that opset. Those that a conversion calls most are replaced by equivalents with the same
arguments, but for `name`: OpenVINO's own spend more time on decorators, on a new node factory per call and on telling
overloads apart than on the node (8 µs instead of 3 for an Add, 40 instead of 3 for a Constant);
tests/translation/test_opset.py holds both against each other. They rest on a class that is not part of OpenVINO's
public interface; where it is not there, or is another one, OpenVINO's functions are used as they are.

Nodes that OpenVINO could not evaluate without ending the process are constants or refused, see `guards.py`.

The types of `ops` are those of `opset_stub.pyi`, which tools/opset_stub.py writes from the signatures of both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from openvino import Node, Output, Type, opset16
from openvino.op import Constant, Result
from openvino.utils.node_factory import NodeFactory

from paddle2ov.graph.guards import UNCHECKED, check_reshape, checked_create, checked_function, is_constant, note_empty
from paddle2ov.graph.shapes import parsed
from paddle2ov.graph.workarounds import works_around

if TYPE_CHECKING:
    from paddle2ov.graph.opset_stub import Opset

OPSET = "opset16"

_UNARY = {
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
_BINARY = {
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
_REDUCTIONS = {
    "reduce_l2": "ReduceL2",
    "reduce_logical_or": "ReduceLogicalOr",
    "reduce_max": "ReduceMax",
    "reduce_mean": "ReduceMean",
    "reduce_min": "ReduceMin",
    "reduce_prod": "ReduceProd",
    "reduce_sum": "ReduceSum",
}
# NumPy has no such type, or holds several elements in a byte: left to OpenVINO's function.
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
    """What a factory takes: numbers become constants, a node stands for all of its outputs."""
    outputs = []
    for value in values:
        if isinstance(value, Output):
            outputs.append(value)
        elif isinstance(value, Node):
            outputs += value.outputs()
        else:
            outputs.append(_constant(np.array(value)).output(0))
    return outputs


def _fast(create: Callable[[str, list[Output], dict[str, Any]], Node]) -> dict[str, Callable[..., Node]]:
    """The functions that are replaced; each makes its node with `create`."""

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
        **{name: unary(kind) for name, kind in _UNARY.items()},
        **{name: binary(kind) for name, kind in _BINARY.items()},
        **{name: reduction(kind) for name, kind in _REDUCTIONS.items()},
        **{function.__name__: function for function in single},
        "group_convolution": partial(convolution, kind="GroupConvolution"),
        "range": range_,
        "slice": slice_,
        "constant": _constant,
        "result": _result,
    }


def _replacements() -> dict[str, Callable[..., Node]]:
    try:
        from openvino._pyopenvino import NodeFactory as Factory

        fast = _fast(checked_create(Factory(OPSET).create))
        one = fast["constant"](1.0, Type.f32)
        fast["convert"](fast["add"](one, one), Type.i64)
    except Exception:  # whatever another OpenVINO makes of it: its own functions do the same
        return {}
    return fast


@works_around("greater_than_nan")
def _greater(left: Any, right: Any, auto_broadcast: str = "NUMPY") -> Node:
    # OpenVINO's Greater and GreaterEqual, compiled for AVX-512, take NaN for greater than anything; these two do not.
    return ops.less(right, left, auto_broadcast)


@works_around("greater_than_nan")
def _greater_equal(left: Any, right: Any, auto_broadcast: str = "NUMPY") -> Node:
    return ops.less_equal(right, left, auto_broadcast)


@works_around("reshape_of_matmul_to_number")
def _reshape_safely(reshape: Callable[..., Node]) -> Callable[..., Node]:
    def to_shape(node: Any, output_shape: Any, special_zero: bool) -> Node:
        made = reshape(node, output_shape, special_zero)
        if special_zero:
            check_reshape(made)
        if made.get_output_partial_shape(0).to_string() == "[]":
            # OpenVINO's CPU plugin (2026.4) dies of a product of matrices that is reshaped to no dimensions.
            rank = made.get_input_partial_shape(0).rank
            if rank.is_static and rank.get_length() > 0:
                return ops.squeeze(node, np.arange(rank.get_length()))
        return made

    return to_shape


@works_around("broadcast_to_ones", "broadcast_to_number")
def _broadcast_safely(broadcast: Callable[..., Node]) -> Callable[..., Node]:
    def to_shape(data: Any, target_shape: Any, axes_mapping: Any = None, broadcast_spec: str = "NUMPY") -> Node:
        made = broadcast(data, target_shape, axes_mapping, broadcast_spec)
        if made.get_output_partial_shape(0).rank == 0:
            # OpenVINO's CPU plugin (2026.4) dies of a Broadcast to no dimensions.
            return ops.reshape(data, np.array([], np.int64), False)
        missing = _missing_axes(made) if broadcast_spec == "BIDIRECTIONAL" else 0
        return (
            broadcast(ops.unsqueeze(data, np.arange(missing)), target_shape, None, broadcast_spec) if missing else made
        )

    return to_shape


@works_around("select_of_its_condition", "select_of_another_condition")
def _select_safely(select: Callable[..., Node]) -> Callable[..., Node]:
    def choose(cond: Any, then_node: Any, else_node: Any, auto_broadcast: str = "numpy") -> Node:
        made = select(cond, then_node, else_node, auto_broadcast)
        if made.get_output_element_type(0) != Type.boolean:
            return made
        # OpenVINO's CPU plugin (2026.4) makes bytes of booleans, but for conditions: one node that is both is lost.
        chosen = ops.logical_and(cond, then_node)
        return ops.logical_or(chosen, ops.logical_and(ops.logical_not(cond), else_node))

    return choose


@works_around("size_of_open_slice_in_32_bits")
def _slice_safely(slice_: Callable[..., Node]) -> Callable[..., Node]:
    def cut(data: Any, start: Any, stop: Any, step: Any, axes: Any = None) -> Node:
        made = slice_(data, start, stop, step, axes)
        if ".." not in made.get_output_partial_shape(0).to_string():
            return made
        stops, steps = (made.input_value(place).get_node() for place in (2, 3))
        if not isinstance(stops, Constant) or not isinstance(steps, Constant):
            return made
        # Of an unknown size OpenVINO (2026.4) takes 2^31 - 1 for the largest, and computes with it in 32 bits.
        stop, strides = _open_ends(stops.get_data()), steps.get_data()
        if strides.min() >= -1:
            return slice_(data, start, stop, strides, axes)
        backwards = slice_(data, start, stop, np.maximum(strides, -1), axes)
        ends = np.full(len(strides), np.iinfo(np.int64).max)
        return slice_(backwards, np.zeros(len(strides), np.int64), ends, np.maximum(-strides, 1), axes)

    return cut


def _open_ends(stops: NDArray[Any]) -> NDArray[np.int64]:
    """The ends of a Slice in 64 bits, those beyond 32 bits as far as can be."""
    narrow, wide = np.iinfo(np.int32), np.iinfo(np.int64)
    stops = stops.astype(np.int64)
    return np.where(stops >= narrow.max, wide.max, np.where(stops <= narrow.min, wide.min, stops))


@works_around("gather_of_unsqueezed_axis")
def _gather_safely(gather: Callable[..., Node]) -> Callable[..., Node]:
    def take(data: Any, indices: Any, axis: Any, batch_dims: int = 0) -> Node:
        made = gather(data, indices, axis, batch_dims)
        place = None if batch_dims or isinstance(made, Constant) else _single_axis(made)
        return made if place is None else _repeated(made.input_value(0), list(made.get_input_shape(1)), place)

    return take


@works_around("gather_of_unsqueezed_axis")
def _single_axis(gather: Node) -> int | None:
    """The axis from which a Gather takes elements by constant indices, if it has a size of 1 and they an axis.

    OpenVINO (2026.4) takes out such a Gather, with the axes of the indices, where an Unsqueeze made the axis.
    """
    text = gather.get_input_partial_shape(0).to_string()
    data = parsed(text) if "1" in text else None
    if data is None or 1 not in data or not isinstance(axis := gather.input_value(2).get_node(), Constant):
        return None
    place = int(axis.get_data().reshape(-1)[0]) % len(data)
    indices = gather.get_input_partial_shape(1)
    if data[place] != 1 or indices.is_dynamic or indices.rank == 0 or not is_constant(gather.input_value(1).get_node()):
        return None
    return place


def _repeated(data: Output, counts: Sequence[int], axis: int) -> Node:
    """data with its axis of size 1 repeated so many times; more counts are axes before it."""
    if len(counts) > 1:
        data = ops.unsqueeze(data, np.arange(axis, axis + len(counts) - 1)).output(0)
    target = np.ones(data.get_partial_shape().rank.get_length(), np.int64)
    target[axis : axis + len(counts)] = counts
    return ops.broadcast(data, target, None, "BIDIRECTIONAL")


@works_around("broadcast_to_ones")
def _missing_axes(broadcast: Node) -> int:
    """How many dimensions more a Broadcast gives than it takes; 0 where that is not known.

    OpenVINO (2026.4) takes out one to a shape of ones, of what another node has reshaped, whatever its rank.
    """
    given, made = broadcast.get_input_partial_shape(0).rank, broadcast.get_output_partial_shape(0).rank
    return made.get_length() - given.get_length() if given.is_static and made.is_static else 0


def _factory() -> Callable[[str, list[Output], dict[str, Any]], Node]:
    """Makes a node of any kind; OpenVINO's quick one is not part of its public interface."""

    def slow(kind: str, inputs: list[Output], attributes: dict[str, Any]) -> Node:
        return NodeFactory(OPSET).create(kind, [*inputs], attributes)

    try:
        from openvino._pyopenvino import NodeFactory as Factory

        quick: Callable[[str, list[Output], dict[str, Any]], Node] = Factory(OPSET).create
        quick("Convert", [Constant(np.array(1.0)).output(0)], {"destination_type": "i64"})
    except Exception:  # whatever another OpenVINO makes of it
        return slow
    return quick


_create = _factory()


def create(kind: str, inputs: Sequence[Output], attributes: Mapping[str, Any]) -> Node:
    """A node of any kind, with the attributes that `Node.get_attributes` gives of another one."""
    return _create(kind, list(inputs), dict(attributes))


ops = cast(
    "Opset", SimpleNamespace(**{name: value for name, value in vars(opset16).items() if not name.startswith("_")})
)
vars(ops).update(
    {name: checked_function(value) for name, value in vars(ops).items() if callable(value) and name not in UNCHECKED}
)
vars(ops).update(_replacements(), greater=_greater, greater_equal=_greater_equal)
vars(ops).update(reshape=_reshape_safely(ops.reshape), broadcast=_broadcast_safely(ops.broadcast))
vars(ops).update(select=_select_safely(ops.select), gather=_gather_safely(ops.gather), slice=_slice_safely(ops.slice))

__all__ = ["OPSET", "create", "ops"]
