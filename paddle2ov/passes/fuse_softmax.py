"""Replaces an exponential that is divided by its sum, in each spelling that OpenVINO recognises.

Given:
    Exp(x) or Exp(x - ReduceMax(x, axis)) → divided by its ReduceSum over the same one axis.
Result:
    Softmax(x, axis).
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output

from paddle2ov.graph.constants import constant_of, ints_of, number_of
from paddle2ov.graph.consumers import key_of
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import Dims, dims_of
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import at, rule
from paddle2ov.typing import known

_PLAIN = ("Add", "Exp", "Multiply", "Negative", "ReduceMax", "Subtract", "Unsqueeze")


@rule("softmaxes")
@at("Divide", "Multiply", needs=("ReduceSum",), reads=("Exp",))
def fuse_softmax(graph: Graph, node: Node) -> Counts | None:
    """Makes a Softmax of a quotient that is one; the maximum is subtracted by the Softmax itself."""
    sides = _quotient(node)
    total = None if sides is None else _statistic(sides[1], "ReduceSum")
    if sides is None or total is None or not _is_same(total[0], sides[0]):
        return None
    exponential, axis = sides[0].get_node(), total[1]
    x, nodes = exponential.input_value(0), [exponential]
    if (difference := _difference(x.get_node())) is not None:
        most = _statistic(difference[1], "ReduceMax")
        if most is not None and most[1] == axis and _is_same(most[0], difference[0]):
            nodes.append(x.get_node())
            x = difference[0]
    replace(node.output(0), ops.softmax(x, axis).output(0), *nodes)
    return {"softmaxes": 1}


def _quotient(node: Node) -> tuple[Output, Output] | None:
    """Dividend and divisor: of a Divide, or of a Multiply by a power of -1."""
    kind, sides = node.get_type_name(), node.input_values()
    if kind == "Divide":
        return sides[0], sides[1]
    for x, y in (sides, sides[::-1]):
        if y.get_node().get_type_name() == "Power" and number_of(y.get_node().input_value(1)) == -1:
            return x, y.get_node().input_value(0)
    return None


def _difference(node: Node) -> tuple[Output, Output] | None:
    """Minuend and subtrahend: of a Subtract, or of an Add of a Negative or of a product by -1."""
    kind, sides = node.get_type_name(), node.input_values()
    if kind == "Subtract":
        return sides[0], sides[1]
    for x, y in (sides, sides[::-1]) if kind == "Add" else ():
        if (negated := _negated(y.get_node())) is not None:
            return x, negated
    return None


def _negated(node: Node) -> Output | None:
    kind, sides = node.get_type_name(), node.input_values()
    if kind == "Negative":
        return sides[0]
    for x, y in (sides, sides[::-1]) if kind == "Multiply" else ():
        if number_of(y) == -1:
            return x
    return None


def _statistic(value: Output, kind: str) -> tuple[Output, int] | None:
    """What a tensor is the reduction of, over which one axis, if that is kept or added again."""
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
    return None if is_added and not _adds_axis(node, dims, axis) else (source, axis)


def _adds_axis(node: Node, dims: Dims, axis: int) -> bool:
    if node.get_type_name() == "Unsqueeze":
        added = ints_of(node.input_value(1))
        return added is not None and len(added) == 1 and added[0] % len(dims) == axis
    return None not in dims and dims_of(node.output(0)) == [*dims[:axis], 1, *dims[axis + 1 :]]


def _is_same(x: Output, y: Output, depth: int = 4) -> bool:
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
    return all(_is_same(*pair, depth - 1) for pair in zip(node.input_values(), other.input_values(), strict=True))
