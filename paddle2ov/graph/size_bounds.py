"""Hides the bounds of sizes from functions of the opset whose results OpenVINO bounds wrongly.

As OpenVINO 2026.4 infers shapes, it propagates lower and upper bounds of values that are computed from shapes alone,
and takes a value for constant where both bounds are the same. It computes the bounds of most results from the lower
and from the upper bounds of the inputs, as if all functions were monotonic: (n - 3)^2 is 4 for n from 1 to 5. For a
size without an upper bound the lower bound is 0, whatever is subtracted: n - 3 is never -2.
"""

from __future__ import annotations

from collections.abc import Callable

from openvino import Node, Output, Type
from openvino.op import Constant

from paddle2ov.graph.constants import is_zero
from paddle2ov.graph.node_factory import NodeInput
from paddle2ov.graph.opaque_values import hide_sizes
from paddle2ov.graph.quick_nodes import plain
from paddle2ov.graph.shapes import are_few, output_of
from paddle2ov.graph.upstream import upstream
from paddle2ov.graph.workarounds import works_around

_MAX_UPSTREAM = 200

_KEEP_SIGN = {
    **dict.fromkeys(("Add", "Concat", "Divide", "Maximum", "Multiply"), slice(None)),
    **dict.fromkeys(("Broadcast", "Convert", "Gather", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum"), slice(1)),
    **dict.fromkeys(("Reshape", "Slice", "Split", "Squeeze", "StridedSlice", "Tile", "Transpose"), slice(1)),
    **dict.fromkeys(("Unsqueeze", "VariadicSplit"), slice(1)),
    "Select": slice(1, None),
    "ShapeOf": slice(0),
}
"""Node types whose result is negative only if one of these inputs is."""


def _unary(function: Callable[..., Node], of_signed: bool) -> Callable[..., Node]:
    """`of_signed`: whether its bounds are wrong only for values that may be negative."""
    return lambda node: function(_without_bounds(node, of_signed))


def _binary(function: Callable[..., Node], of_signed: bool) -> Callable[..., Node]:
    def build(left: NodeInput, right: NodeInput, auto_broadcast: str = "NUMPY") -> Node:
        if _is_many(left) or _is_many(right):  # as the result is: no sizes
            return function(left, right, auto_broadcast)
        return function(_without_bounds(left, of_signed), _without_bounds(right, of_signed), auto_broadcast)

    return build


def _reduce_prod(node: NodeInput, reduction_axes: NodeInput, keep_dims: bool = False) -> Node:
    return plain.reduce_prod(_without_bounds(node, True), reduction_axes, keep_dims)


def _convert(data: NodeInput, destination_type: str | Type | type) -> Node:
    """Hides the bounds of what does not fit into 8 or 16 bits, or becomes boolean, as -2 and 2 both are true.

    A boolean is a comparison with 0: OpenVINO converts the first result of a node, whichever is to be converted.
    """
    if destination_type in ("boolean", Type.boolean) and isinstance(data, Node | Output):
        zero = plain.constant(0, output_of(data).get_element_type())
        return plain.not_equal(_without_bounds(data, of_signed=True), zero)
    return plain.convert(_without_bounds(data, False) if destination_type in _NARROW else data, destination_type)


_NARROW = {"i8", "i16", "u8", "u16", Type.i8, Type.i16, Type.u8, Type.u16}
"""Types to which the bounds of a conversion are wrong."""


def _without_bounds(value: NodeInput, of_signed: bool) -> NodeInput:
    """A copy of a few numbers that are computed from sizes alone; anything else as it is."""
    if not isinstance(value, Node | Output) or isinstance(value, Constant):
        return value
    output = output_of(value)
    if not are_few(output) or (of_signed and not _may_be_negative(output.get_node())):
        return value
    return hide_sizes(output)


def _is_many(value: NodeInput) -> bool:
    return isinstance(value, Node | Output) and not are_few(output_of(value))


def _may_be_negative(node: Node) -> bool:
    for visited, item in enumerate(upstream([node], _signed_sources)):
        if isinstance(item, Constant):
            if item.get_output_element_type(0).is_signed() and are_few(item.output(0)) and (item.get_data() < 0).any():
                return True
        elif item.get_type_name() not in _KEEP_SIGN or visited > _MAX_UPSTREAM:
            return True
    return False


def _signed_sources(node: Node) -> list[Node]:
    if node.get_type_name() == "Maximum" and any(map(is_zero, node.input_values())):
        return []  # never negative
    sources = _KEEP_SIGN.get(node.get_type_name())
    return [] if sources is None else [value.get_node() for value in node.input_values()[sources]]


logical_not = _unary(plain.logical_not, of_signed=False)


@works_around(
    "abs_of_sizes",
    "boolean_of_second_result",
    "equal_to_negative_size",
    "narrow_numbers_of_sizes",
    "power_of_sizes",
    "product_of_sizes",
    "remainder_of_sizes",
)
def hiding_bounds() -> dict[str, Callable[..., Node]]:
    """Functions of the opset that read copies of sizes, without bounds."""
    return {
        "abs": _unary(plain.abs, of_signed=True),
        "convert": _convert,
        "divide": _binary(plain.divide, of_signed=True),
        "equal": _binary(plain.equal, of_signed=True),
        "floor_mod": _binary(plain.floor_mod, of_signed=False),
        "logical_not": logical_not,
        "mod": _binary(plain.mod, of_signed=False),
        "power": _binary(plain.power, of_signed=False),
        "reduce_prod": _reduce_prod,
        "squared_difference": _binary(plain.squared_difference, of_signed=False),
    }
