"""Quotients, differences and statistics in the spellings that OpenVINO takes for one another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from openvino import Node, Output

from paddle2ov.graph.constants import constant_of, ints_of, known, number_of
from paddle2ov.graph.consumers import key_of
from paddle2ov.graph.shapes import Dims, dims_of

_PLAIN = ("Add", "Exp", "Multiply", "Negative", "ReduceMax", "Subtract", "Unsqueeze")


class Statistic(NamedTuple):
    """A reduction over one axis, which is kept, counted from the front."""

    source: Output
    axis: int


def quotient(node: Node) -> tuple[Output, Output] | None:
    """Dividend and divisor: of a Divide, or of a Multiply by a power of -1."""
    kind, sides = node.get_type_name(), node.input_values()
    if kind == "Divide":
        return sides[0], sides[1]
    if kind == "Multiply":
        for x, y in (sides, sides[::-1]):
            if y.get_node().get_type_name() == "Power" and number_of(y.get_node().input_value(1)) == -1:
                return x, y.get_node().input_value(0)
    return None


def difference(node: Node) -> tuple[Output, Output] | None:
    """Minuend and subtrahend: of a Subtract, or of an Add of a Negative or of a product by -1."""
    kind, sides = node.get_type_name(), node.input_values()
    if kind == "Subtract":
        return sides[0], sides[1]
    if kind == "Add":
        for x, y in (sides, sides[::-1]):
            if (negated := _negated(y.get_node())) is not None:
                return x, negated
    return None


def _negated(node: Node) -> Output | None:
    if node.get_type_name() == "Negative":
        return node.input_value(0)
    if node.get_type_name() == "Multiply":
        sides = node.input_values()
        for x, y in (sides, sides[::-1]):
            if number_of(y) == -1:
                return x
    return None


def statistic(value: Output, kind: str) -> Statistic | None:
    """The reduction that a tensor is, if it is over one axis that is kept, or added again."""
    node = value.get_node()
    is_added = node.get_type_name() in ("Unsqueeze", "Reshape")
    reduction = node.input_value(0).get_node() if is_added else node
    if reduction.get_type_name() != kind or reduction.get_attributes()["keep_dims"] == is_added:
        return None
    source, axes = reduction.input_value(0), ints_of(reduction.input_value(1))
    dims = dims_of(source)
    if dims is None or axes is None or len(axes) != 1:
        return None
    axis = axes[0] % len(dims)
    if is_added and not _adds_axis(node, dims, axis):
        return None
    return Statistic(source, axis)


def _adds_axis(node: Node, dims: Dims, axis: int) -> bool:
    if node.get_type_name() == "Unsqueeze":
        added = ints_of(node.input_value(1))
        return added is not None and len(added) == 1 and added[0] % len(dims) == axis
    return None not in dims and dims_of(node.output(0)) == [*dims[:axis], 1, *dims[axis + 1 :]]


def is_same(x: Output, y: Output, depth: int = 4) -> bool:
    """Whether two tensors are one, or computed by equal nodes, of which OpenVINO keeps one."""
    if key_of(x) == key_of(y):
        return True
    node, other = x.get_node(), y.get_node()
    if not depth or x.get_index() != y.get_index() or node.get_type_name() != other.get_type_name():
        return False
    if node.get_type_name() == "Constant":
        return x.get_element_type() == y.get_element_type() and np.array_equal(
            known(constant_of(x)), known(constant_of(y))
        )
    if node.get_type_name() not in _PLAIN or node.get_attributes() != other.get_attributes():
        return False
    return all(is_same(*pair, depth - 1) for pair in zip(node.input_values(), other.input_values(), strict=True))
