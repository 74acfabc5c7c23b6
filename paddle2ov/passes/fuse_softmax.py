"""Makes a Softmax of exp(x) / sum(exp(x))."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from openvino import Node, Output

from paddle2ov.graph.constants import constant_of, ints_of, known
from paddle2ov.graph.consumers import key_of
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import Dims, dims_of
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule

_PLAIN = ("Exp", "ReduceMax", "Subtract", "Unsqueeze")


class _Written(Struct, frozen=True):
    """A softmax that is written out."""

    quotient: Node
    exponential: Node
    axis: int


class FuseSoftmax(Rule[_Written, _Written]):
    """Replaces an exponential that is divided by its sum.

    Given:
        Exp(x) or Exp(x - ReduceMax(x, axis)) → divided by its ReduceSum over the same one axis.
    Result:
        Softmax(x, axis).
    """

    roots = ("Divide",)
    needs = ("ReduceSum",)
    reads = ("Exp",)
    counts = ("softmaxes",)

    def pattern(self, graph: Graph, node: Node) -> _Written | None:
        dividend, divisor = node.input_values()
        total = _statistic(divisor, "ReduceSum")
        if dividend.get_node().get_type_name() != "Exp" or total is None or not _is_same(total[0], dividend):
            return None
        return _Written(node, dividend.get_node(), total[1])

    def check(self, graph: Graph, match: _Written) -> _Written:
        if dims_of(match.exponential.output(0)) is None:
            raise MatchFailureError("the rank is not known")
        return match

    def rewrite(self, graph: Graph, plan: _Written) -> Counts:
        x, nodes = plan.exponential.input_value(0), [plan.exponential]
        difference = x.get_node()
        if difference.get_type_name() == "Subtract":
            most = _statistic(difference.input_value(1), "ReduceMax")
            if most is not None and most[1] == plan.axis and _is_same(most[0], difference.input_value(0)):
                nodes.append(difference)
                x = difference.input_value(0)
        replace(plan.quotient.output(0), ops.softmax(x, plan.axis).output(0), *nodes)
        return {"softmaxes": 1}


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


fuse_softmax = FuseSoftmax()
