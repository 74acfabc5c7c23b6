"""How a choice of entries passes nodes of some kinds that treat each entry by itself; for `narrowing`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol, TypeAlias

from openvino import Node, Output

from paddle2ov.converters.detection.choice import CannotNarrowError, Place, axis_before, constant_ints, dims_list
from paddle2ov.converters.graph.common import Tensor
from paddle2ov.graph.opset import ops


class Narrow(Protocol):
    """What a rule needs: the chosen entries of a value, and a node on other inputs."""

    def __call__(self, x: Output, place: Place) -> Output:
        """The chosen entries of `x`."""

    def clone(self, node: Node, inputs: Sequence[Tensor], place: Place) -> Node:
        """The node on other inputs; the same one for the same place."""


Rule: TypeAlias = Callable[[Narrow, Node, Output, Place], Tensor]
"""Computes the chosen entries of an output of a node from those of its inputs."""


def _parted(narrow: Narrow, node: Node, x: Output, place: Place) -> Output:
    _other_axes(node, place, 1)
    inputs = [narrow(node.input_value(0), place), *node.input_values()[1:]]
    return narrow.clone(node, inputs, place).output(x.get_index())


def _other_axes(node: Node, place: Place, port: int, rank: int | None = None) -> list[int]:
    """The constant axes that a node names at an input, none of them the entries'."""
    axes = constant_ints(node.input_value(port))
    if axes is None:
        raise CannotNarrowError
    rank = rank or len(dims_list(node.input_value(0)))
    axes = [axis % rank for axis in axes]
    if any(place.has(axis) for axis in axes):
        raise CannotNarrowError
    return axes


def _reduced(narrow: Narrow, node: Node, x: Output, place: Place) -> Node:
    if node.get_attributes()["keep_dims"]:
        _other_axes(node, place, 1)
        return narrow.clone(node, [narrow(node.input_value(0), place), node.input_value(1)], place)
    return _without_axes(narrow, node, place)


def _squeezed(narrow: Narrow, node: Node, x: Output, place: Place) -> Node:
    if node.get_input_size() != 2:
        raise CannotNarrowError
    return _without_axes(narrow, node, place)


def _without_axes(narrow: Narrow, node: Node, place: Place) -> Node:
    axes = constant_ints(node.input_value(1))
    if axes is None or place.spread > 1:
        raise CannotNarrowError
    rank = len(dims_list(node.input_value(0)))
    left = [axis for axis in range(rank) if axis not in {one % rank for one in axes}]
    own = replace(place, axis=left[place.axis])
    return narrow.clone(node, [narrow(node.input_value(0), own), node.input_value(1)], place)


def _unsqueezed(narrow: Narrow, node: Node, x: Output, place: Place) -> Node:
    rank = len(dims_list(x))
    axes = _other_axes(node, place, 1, rank)
    own = replace(place, axis=place.axis - sum(axis < place.axis for axis in axes))
    if any(place.axis < axis < place.axis + place.spread for axis in axes):
        raise CannotNarrowError
    return narrow.clone(node, [narrow(node.input_value(0), own), node.input_value(1)], place)


def _picked(narrow: Narrow, node: Node, x: Output, place: Place) -> Node:
    """Gather along another axis."""
    index, axis = dims_list(node.input_value(1)), constant_ints(node.input_value(2))
    if axis is None or node.get_attributes()["batch_dims"] or place.spread > 1 or len(index) > 1:
        raise CannotNarrowError
    at = axis[0] % len(dims_list(node.input_value(0)))
    own = place.axis + (not index and place.axis >= at)
    if own == at:
        raise CannotNarrowError
    return narrow.clone(node, [narrow(node.input_value(0), replace(place, axis=own)), *node.input_values()[1:]], place)


def _sliced(narrow: Narrow, node: Node, x: Output, place: Place) -> Node:
    if node.get_input_size() != 5:
        raise CannotNarrowError
    _other_axes(node, place, 4)
    return narrow.clone(node, [narrow(node.input_value(0), place), *node.input_values()[1:]], place)


def _turned(narrow: Narrow, node: Node, x: Output, place: Place) -> Node:
    axis = axis_before(node, place.axis, place.spread)
    if axis is None:
        raise CannotNarrowError
    return narrow.clone(node, [narrow(node.input_value(0), replace(place, axis=axis)), node.input_value(1)], place)


def _softmax(narrow: Narrow, node: Node, x: Output, place: Place) -> Node:
    axis = node.get_attributes()["axis"] % len(dims_list(x))
    if place.has(axis):
        raise CannotNarrowError
    return narrow.clone(node, [narrow(node.input_value(0), place)], place)


def _product(narrow: Narrow, node: Node, x: Output, place: Place) -> Node:
    rows, columns = node.input_values()
    attributes, rank = node.get_attributes(), len(dims_list(rows))
    plain = not attributes["transpose_a"] and len(dims_list(columns)) <= 2
    if not plain or place.loose or place.spread > 1 or place.axis >= rank - 1:
        raise CannotNarrowError
    return narrow.clone(node, [narrow(rows, place), columns], place)


def _convolved(narrow: Narrow, node: Node, x: Output, place: Place) -> Node:
    attributes, filters = node.get_attributes(), dims_list(node.input_value(1))
    spatial = filters[2:]
    same = set(spatial) == {1} and set(attributes["strides"]) == {1}
    same = same and not any(attributes["pads_begin"]) and not any(attributes["pads_end"])
    if not same or place.axis < 2 or place.loose:
        raise CannotNarrowError
    return narrow.clone(node, [narrow(node.input_value(0), place), node.input_value(1)], place)


# --- making nodes anew ------------------------------------------------------------------------------------------------

Maker: TypeAlias = Callable[[Node, Sequence[Tensor]], Node]
"""Makes a node like another one on other inputs."""


def _maker(function: str, *names: str) -> Maker:
    """Calls a function of the opset with inputs and the named attributes of the other node."""

    def make(node: Node, inputs: Sequence[Tensor]) -> Node:
        attributes = node.get_attributes() if names else {}
        made: Node = getattr(ops, function)(*inputs, *(attributes[name] for name in names))
        return made

    return make


def _snake(kind: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).lstrip("_")


_ONE = """
Abs Ceiling Cos Erf Exp Floor LogicalNot Log Mish Negative Relu Sigmoid Sign Sin Sqrt Tanh
"""
_SEVERAL = """
Add Divide Equal FloorMod Greater GreaterEqual Less LessEqual LogicalAnd LogicalOr Maximum Minimum Mod Multiply NotEqual
Power Select Subtract
"""
UNARY, _BINARY = _ONE.split(), _SEVERAL.split()
_REDUCTIONS = ("ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum")
MAKERS: dict[str, Maker] = {
    **{kind: _maker(_snake(kind)) for kind in (*UNARY, *_BINARY)},
    **{kind: _maker(_snake(kind), "keep_dims") for kind in _REDUCTIONS},
    "Clamp": _maker("clamp", "min", "max"),
    "Concat": lambda node, inputs: ops.concat(list(inputs), node.get_attributes()["axis"]),
    "Convert": lambda node, inputs: ops.convert(inputs[0], node.get_element_type()),
    "Convolution": _maker("convolution", "strides", "pads_begin", "pads_end", "dilations", "auto_pad"),
    "Gather": _maker("gather"),
    "HSigmoid": _maker("hsigmoid"),
    "HSwish": _maker("hswish"),
    "MatMul": _maker("matmul", "transpose_a", "transpose_b"),
    "Slice": _maker("slice"),
    "SoftPlus": _maker("softplus"),
    "Softmax": _maker("softmax", "axis"),
    "Split": _maker("split", "num_splits"),
    "Squeeze": _maker("squeeze"),
    "Transpose": _maker("transpose"),
    "Unsqueeze": _maker("unsqueeze"),
    "VariadicSplit": _maker("variadic_split"),
}
ELEMENTWISE = (*UNARY, *_BINARY, "Clamp", "Convert", "HSigmoid", "HSwish", "SoftPlus")
RULES: dict[str, Rule] = {
    **dict.fromkeys(_REDUCTIONS, _reduced),
    "Convolution": _convolved,
    "Gather": _picked,
    "MatMul": _product,
    "Slice": _sliced,
    "Softmax": _softmax,
    "Split": _parted,
    "Squeeze": _squeezed,
    "Transpose": _turned,
    "Unsqueeze": _unsqueezed,
    "VariadicSplit": _parted,
}
