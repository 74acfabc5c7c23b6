"""Operands of elementwise operators: of one type, aligned, real."""

from __future__ import annotations

from openvino import Output

from paddle2ov.converters.graph.common import as_float
from paddle2ov.converters.graph.dims import rank_of
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import Dims, dims_of, static_dims
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NodeContext


def real_input(node: NodeContext, name: str = "x") -> Output:
    """The input as floating point."""
    _refuse_complex(node, name)
    return as_float(node, node.get_input(name))


def operands(node: NodeContext) -> tuple[Output, Output]:
    """The two operands, of one type and aligned by the legacy attribute `axis`; complex ones are refused."""
    _refuse_complex(node, "x", "y")
    x, y = node.get_input("x"), node.get_input("y")
    axis = node.get_int("axis", -1)
    if axis != -1 and rank_of(node, x) != rank_of(node, y):
        if rank_of(node, x) > rank_of(node, y):
            y = align(node, "y", rank_of(node, x), axis)
        else:
            x = align(node, "x", rank_of(node, y), axis)
    if x.get_element_type() != y.get_element_type():
        y = ops.convert(y, x.get_element_type()).output(0)
    dims, others = dims_of(x), dims_of(y)
    if dims is None or others is None or len(dims) == len(others):
        return x, y
    return _with_rank_of_constant(x, y, dims, others), _with_rank_of_constant(y, x, others, dims)


@works_around(
    "bias_of_higher_rank",
    "elementwise_with_single_element_of_higher_rank",
    "transpose_before_constant_of_higher_rank",
    "weight_of_norm_of_higher_rank",
)
def _with_rank_of_constant(x: Output, y: Output, dims: Dims, others: Dims) -> Output:
    """`x`, with leading dimensions of 1 where the other operand has more: a constant, or one of a single element.

    OpenVINO's CPU plugin (2026.4) computes what has one constant element before a reshape or transpose of the other
    operand, and drops the dimensions that only the constant has. So it does where it fuses a layer with its bias, or a
    norm with its weight.
    """
    more = len(others) - len(dims)
    is_constant = y.get_node().get_type_name() == "Constant" and set(others[:more]) == {1}
    if more <= 0 or not (is_constant or set(others) == {1}) or x.get_node().get_type_name() == "Constant":
        return x
    return ops.unsqueeze(x, ints(list(range(more)))).output(0)


def align(node: NodeContext, name: str, rank: int, axis: int) -> Output:
    """An operand unsqueezed so that its first dimension is at `axis` of a tensor of the given rank."""
    node.require(0 <= axis <= rank, f"out of range for rank {rank}", axis=axis)
    small = node.get_input(name)
    missing = rank - axis - rank_of(node, small)
    dims = static_dims(small)
    if dims is not None and missing > 0 and node.is_known(name):
        return node.get_reshaped(name, [*[1] * axis, *dims, *[1] * missing])  # a constant, as passes expect
    if missing > 0:
        return ops.unsqueeze(small, ints([rank_of(node, small) + i for i in range(missing)])).output(0)
    if missing < 0:  # Paddle ignores trailing dimensions of 1
        return ops.squeeze(small, ints([rank_of(node, small) - 1 - i for i in range(-missing)])).output(0)
    return small


def _refuse_complex(node: NodeContext, *names: str) -> None:
    """For converters in packages of their own, to which the translator gives complex numbers as well."""
    for name in names:
        if node.is_complex(name):
            node.refuse(f"complex '{name}' is not supported")
