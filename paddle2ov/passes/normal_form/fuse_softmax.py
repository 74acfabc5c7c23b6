"""Makes a Softmax of exp(x) / sum(exp(x))."""

from __future__ import annotations

from msgspec import Struct
from openvino import Node

from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.normal_form.spellings import difference, is_same, quotient, statistic
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule


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

    roots = ("Divide", "Multiply")
    needs = ("ReduceSum",)
    reads = ("Exp",)
    counts = ("softmaxes",)

    def pattern(self, graph: Graph, node: Node) -> _Written | None:
        sides = quotient(node)
        if sides is None or sides[0].get_node().get_type_name() != "Exp":
            return None
        total = statistic(sides[1], "ReduceSum")
        if total is None or not is_same(total.source, sides[0]):
            return None
        return _Written(node, sides[0].get_node(), total.axis)

    def check(self, graph: Graph, match: _Written) -> _Written:
        if dims_of(match.exponential.output(0)) is None:
            raise MatchFailureError("the rank is not known")
        return match

    def rewrite(self, graph: Graph, plan: _Written) -> Counts:
        x = plan.exponential.input_value(0)
        sides = difference(x.get_node())
        most = None if sides is None else statistic(sides[1], "ReduceMax")
        nodes = [plan.exponential]
        if sides is not None and most is not None and most.axis == plan.axis and is_same(most.source, sides[0]):
            nodes.append(x.get_node())
            x = sides[0]
        replace(plan.quotient.output(0), ops.softmax(x, plan.axis).output(0), *nodes)
        return {"softmaxes": 1}


fuse_softmax = FuseSoftmax()
