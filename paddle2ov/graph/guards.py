"""Guards the creation of nodes that would crash OpenVINO, or exhaust the memory, as soon as it evaluates them.

OpenVINO evaluates constants wherever the shape of a node depends on them: while a graph is built and while it is
compiled, even what is not folded here. Its evaluation trusts the inputs. Therefore

- a node whose output has no elements, in a static shape, becomes a constant at once: many node types cannot be
  evaluated on such inputs, and then none reads one;
- a node that is impossible in itself, such as a TopK of more elements than there are, is refused.

Only a constant without elements, and a few node types, can introduce tensors without elements. Other nodes are
checked only once there is such a constant, since most programs have none.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import numpy as np
from openvino import Node, Output, Shape
from openvino.op import Constant

from paddle2ov.graph.evaluation import evaluate
from paddle2ov.graph.node_factory import create
from paddle2ov.graph.node_kinds import CONVOLUTIONS
from paddle2ov.graph.shapes import dims_of, known_dims, parsed
from paddle2ov.graph.upstream import depends_on_data
from paddle2ov.graph.workarounds import works_around
from paddle2ov.program.budget import MAX_COMPUTED_ELEMENTS, check_computed

_MAX_DIVISORS = 1 << 16


class _EmptyConstants(threading.local):
    """Whether a constant without elements was made in this thread since `seen` was reset."""

    seen = False


empty_constants = _EmptyConstants()

_SIZES = {
    "Broadcast": (1,),
    "Col2Im": (1,),
    "Eye": (0, 1),
    "Interpolate": (1,),
    "OneHot": (1,),
    "RandomUniform": (0,),
    "Tile": (1,),
    "TopK": (1,),
}
"""Node types that infer shapes from the bounds of inputs, and which inputs these are."""


def with_clamped_sizes(kind: str, inputs: Sequence[Output], attributes: dict[str, Any]) -> Node:
    """The node that OpenVINO refused, with computed sizes clamped to at least 0.

    OpenVINO 2026.4 refuses sizes whose lower bound is negative, such as n - 1 with n in 0..8.
    """
    clamped = list(inputs)
    for i in _SIZES.get(kind, ()):
        if clamped[i].get_node().get_type_name() != "Constant" and not clamped[i].get_element_type().is_real():
            zero = Constant(clamped[i].get_element_type(), Shape([]), [0]).output(0)
            clamped[i] = create("Maximum", [clamped[i], zero], {"auto_broadcast": "numpy"}).output(0)
    return create(kind, clamped, attributes)


def checked(node: Node, kind: str) -> Node:
    """A new node of a kind that is in `SUSPECT`, or while there is a constant without elements.

    Returns:
        The node, or a constant in its place.

    Raises:
        ValueError: it is impossible.
    """
    if kind in _CHECKED:
        _CHECKED[kind](node)
    if empty_constants.seen and kind in _LAYERS:
        _check_layer(node)
    return _without_elements(node) if empty_constants.seen or kind in _SHRINKING else node


def checked_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of OpenVINO that makes nodes, which checks them."""

    @wraps(function)
    def checking(*values: Any, **attributes: Any) -> Any:
        if function.__name__ == "unique":
            _check_has_elements(values[0])
        node = function(*values, **attributes)
        kind = node.get_type_name()
        if kind in _WINDOWED:
            check_windows(node.get_attributes())
            _check_layer(node)
        return _without_elements(checked(node, kind))

    return checking


def _without_elements(node: Node) -> Node:
    """The node; a constant where its only result is known to have no elements."""
    if node.get_output_size() != 1:
        return node
    shape = node.get_output_partial_shape(0)
    if shape.is_dynamic or "0" not in (text := shape.to_string()) or 0 not in (parsed(text) or ()):
        return node
    empty_constants.seen = True
    return Constant(node.get_output_element_type(0), shape.to_shape(), [])


_SHRINKING = frozenset(("Broadcast", "Gather", "NonZero", "Range", "ShapeOf", "Slice"))
"""Node types whose output may have no elements although their data have some."""

UNCHECKED = frozenset(("assign", "constant", "if_op", "loop", "parameter", "read_value", "result", "tensor_iterator"))
"""Functions whose nodes are not checked."""


def _check_topk(node: Node) -> None:
    axis = int(node.get_attributes()["axis"])
    input_shape, output_shape = (node.get_input_partial_shape(0), node.get_output_partial_shape(0))
    if input_shape.rank.is_static and input_shape[axis].is_static and output_shape[axis].is_static:
        size, count = input_shape[axis].get_length(), output_shape[axis].get_length()
        if count > size:
            raise ValueError(f"the first {count} of {size} elements are asked for")


def _check_division(node: Node) -> None:
    if not node.get_output_element_type(0).is_integral():
        return
    right = evaluate(node.input_value(1), _MAX_DIVISORS, _MAX_DIVISORS)
    if right is None or not ((right == 0) | (right == -1)).any():
        return
    left = evaluate(node.input_value(0), _MAX_DIVISORS, _MAX_DIVISORS)
    if left is None:
        return
    if not right.all():
        raise ZeroDivisionError("an integer is divided by zero")
    if left.dtype.kind == "i" and (left == np.iinfo(left.dtype).min).any():
        raise ValueError("the least integer is divided by -1")


def check_reshape(node: Node) -> None:
    """Refuses a Reshape with `special_zero` to another number of elements; OpenVINO checks those without."""
    input_shape, output_shape = node.get_input_partial_shape(0), node.get_output_partial_shape(0)
    if input_shape.is_static and output_shape.is_static:
        before, after = (known_dims(parsed(value.to_string())) or [] for value in (input_shape, output_shape))
        if math.prod(before) != math.prod(after):
            raise ValueError(f"a tensor of shape {before} is reshaped to {after}")


def _check_axis(node: Node) -> None:
    """Refuses an axis, given as an input, that the data does not have."""
    if node.get_input_size() < 2:
        return
    axis, rank = node.input_value(1).get_node(), node.get_input_partial_shape(0).rank
    if isinstance(axis, Constant) and rank.is_static:
        value = int(axis.get_data().reshape(-1)[0])
        if not -rank.get_length() <= value < rank.get_length():
            raise ValueError(f"axis {value} of {rank.get_length()} dimensions")


@works_around("unique_of_no_elements")
def _check_has_elements(data: Node | Output) -> None:
    """Refuses a constant without elements: OpenVINO 2026.4 crashes as soon as it makes a Unique of one."""
    node = data.get_node() if isinstance(data, Output) else data
    if isinstance(node, Constant) and 0 in node.get_output_shape(0):
        raise ValueError("a constant without elements, of which OpenVINO finds no unique ones")


def _check_rank(node: Node) -> None:
    if node.get_input_partial_shape(0).rank == 0:
        raise ValueError("a tensor of no dimensions is indexed along an axis")


def _check_transform(node: Node) -> None:
    if node.get_input_shape(1)[0] == 0:
        raise ValueError("a Fourier transform along no axis")


def _check_size(node: Node) -> None:
    dims = dims_of(node) or [0]
    count = math.prod(dim for dim in dims if dim is not None)
    if count <= MAX_COMPUTED_ELEMENTS:
        return
    is_integral = not node.get_output_element_type(0).is_real()
    if is_integral and None not in dims and not depends_on_data(node, if_far=False):
        check_computed(count)
    if count > _MAX_ELEMENTS:  # OpenVINO takes the memory, or crashes, as it compiles the model
        raise ValueError(f"a tensor of {count} elements or more")


_WINDOWED = frozenset(("AvgPool", "ConvolutionBackpropData", "GroupConvolutionBackpropData", "MaxPool"))
_LAYERS = _WINDOWED | CONVOLUTIONS
_MAX_STEPS = 2**31
_LEAST = {"strides": 1, "dilations": 1, "kernel": 1, "pads_begin": -_MAX_STEPS, "pads_end": -_MAX_STEPS}
_MAX_STRIDES = 2**24
_MAX_ELEMENTS = 2**32


def check_windows(attributes: Mapping[str, Any]) -> None:
    """Refuses strides, dilations and sizes of windows beyond 32 bits: their products must fit in 64."""
    for name, least in _LEAST.items():
        values = attributes.get(name, ())
        if len(values) and not (min(values) >= least and max(values) < _MAX_STEPS):
            raise ValueError(f"impossible {name} {[int(value) for value in values]}")


def _check_strides(node: Node) -> None:
    """Refuses large strides of a transposed convolution: OpenVINO counts through their product in each run."""
    strides = [int(stride) for stride in node.get_attributes()["strides"]]
    if math.prod(strides) > _MAX_STRIDES:
        raise ValueError(f"impossible strides {strides}")


def _check_layer(node: Node) -> None:
    """Refuses a layer over nothing but padding: OpenVINO crashes when it compiles one."""
    if any(0 in (dims_of(value) or ()) for value in node.input_values()[:2]) and 0 not in (dims_of(node) or (0,)):
        raise ValueError(f"a {node.get_type_name()} over no elements")


_GATES = {"GRUSequence": 3, "LSTMSequence": 4, "RNNSequence": 1}


def _check_recurrent(node: Node) -> None:
    """Refuses weights and states of other sizes: OpenVINO accepts any, and reads beyond them."""
    hidden, gates = int(node.get_attributes()["hidden_size"]), _GATES[node.get_type_name()]
    shapes = [dims_of(value) for value in node.input_values()]
    weights, recurrent, bias = shapes[-3:]
    wanted = [
        *((state, 2, hidden) for state in shapes[1:-4]),
        (weights, 1, gates * hidden),
        (weights, 2, (shapes[0] or [None, None, None])[2]),
        (recurrent, 1, gates * hidden),
        (recurrent, 2, hidden),
        (bias, 1, (gates + bool(node.get_attributes().get("linear_before_reset"))) * hidden),
    ]
    for dims, axis, size in wanted:
        if dims is not None and size is not None and dims[axis] not in (None, size):
            raise ValueError(f"weights or states of shape {dims} for {hidden} units")


_CHECKED: Mapping[str, Callable[[Node], None]] = {
    "Broadcast": _check_size,
    "ConvolutionBackpropData": _check_strides,
    "CumSum": _check_axis,
    "DFT": _check_transform,
    "Divide": _check_division,
    "GRUSequence": _check_recurrent,
    "GroupConvolutionBackpropData": _check_strides,
    "IDFT": _check_transform,
    "IRDFT": _check_transform,
    "LSTMSequence": _check_recurrent,
    "Mod": _check_division,
    "RDFT": _check_transform,
    "RNNSequence": _check_recurrent,
    "Range": _check_size,
    "ScatterElementsUpdate": _check_rank,
    "Tile": _check_size,
    "TopK": _check_topk,
    "Unique": _check_axis,
}
"""Checks by node type; they raise ValueError, which the translator reports with the place of the operator."""

SUSPECT = _CHECKED.keys() | _SHRINKING
"""Node types that are always checked."""
