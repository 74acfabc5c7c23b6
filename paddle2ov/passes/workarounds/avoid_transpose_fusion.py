"""Transposes that OpenVINO takes into something else, where that goes wrong, have one axis more.

OpenVINO 2026.4 takes attention and the transposes around it as one kernel. Where a transpose of rank 4 exchanges axes
of equal length, the shape does not tell in which order a tensor lies in memory: beside queries that another node
computed, the kernel takes the wrong one.

A transpose from channels last to channels first, before a convolution or a resize, is no move but another view of the
same memory. Where that memory is a result of the model too, as a tensor that is only reshaped, the view is of another.
"""

from __future__ import annotations

from typing import TypeAlias

from openvino import Node

from paddle2ov.graph.opset import ops
from paddle2ov.passes.graph import (
    Counts,
    Graph,
    consumers,
    dims_of,
    ints,
    name_after,
    nearest,
    perm_of,
    producers,
    readers,
    replace,
)
from paddle2ov.passes.kinds import ELEMENTWISE
from paddle2ov.passes.rule import Refusal, Rule

_MATMULS = {"MatMul", "ScaledDotProductAttention"}
_IN_PLACE = {"Concat", "Reshape", "Squeeze", "Unsqueeze"}


_Ordered: TypeAlias = tuple[Node, list[int]]
"""A transpose and its order."""


class AvoidTransposeFusion(Rule[_Ordered, _Ordered]):
    """Transpose is not taken into attention whose shape would not tell it from none, nor for a view of a result.

    Given:
        Transpose(x), x of known shape, that (a) moves axis 1, x of rank 4 and of the same shape as the result, before
        or after one of the products of MatMul → elementwise → Softmax → elementwise → MatMul, or
        ScaledDotProductAttention, where elementwise nodes may lie between; or (b) puts the last axis second, x of rank
        3 to 5, of which a result of the model is made by nodes that only reshape it or join it with others.
    Result:
        Reshape([1, ...]) → Transpose of one rank more → Reshape, which OpenVINO computes by themselves. The shapes are
        computed from that of x, so that the model can still be given others.
    """

    roots = ("Transpose",)
    counts = ("transposes",)

    def pattern(self, graph: Graph, node: Node) -> _Ordered | None:
        perm = perm_of(node)
        if perm is None or not (_may_be_of_attention(perm) or _puts_last_second(perm)):
            return None
        return node, perm

    def check(self, graph: Graph, match: _Ordered) -> _Ordered:
        transpose, perm = match
        dims = dims_of(transpose.input_value(0))
        if dims is None or None in dims:
            raise Refusal("sizes are not known")
        is_square = _may_be_of_attention(perm) and dims == dims_of(transpose.output(0))
        is_around = is_square and _is_around_attention(transpose)
        if not is_around and not (_puts_last_second(perm) and _views_a_result(transpose)):
            raise Refusal("no attention of equal lengths and no result beside it")
        return match

    def rewrite(self, graph: Graph, plan: _Ordered) -> Counts:
        transpose, perm = plan
        x = transpose.input_value(0)
        shape = ops.shape_of(x)
        deeper = ops.reshape(x, ops.concat([ints([1]), shape], 0), False)
        permuted = ops.transpose(deeper, ints([0, *(axis + 1 for axis in perm)]))
        name_after(permuted, transpose, "transpose")
        target = ops.gather(shape, ints(perm), ints(0))
        replace(transpose.output(0), ops.reshape(permuted, target, False).output(0))
        return {"transposes": 1}


def _may_be_of_attention(perm: list[int]) -> bool:
    return len(perm) == 4 and perm[1] != 1


def _puts_last_second(perm: list[int]) -> bool:
    """Whether it puts channels first that are last."""
    last = len(perm) - 1
    return 2 <= last <= 4 and perm == [0, last, *range(1, last)]


def _views_a_result(transpose: Node) -> bool:
    """Whether a result of the model is made of what it reads."""
    if producers(transpose)[0].get_type_name() == "Parameter":
        return False
    others = [reader.get_node() for reader in consumers(transpose.input_value(0))]
    return bool(nearest([one for one in others if one.get_type_name() in _IN_PLACE], {"Result"}, _IN_PLACE, readers))


def _is_around_attention(transpose: Node) -> bool:
    products = [
        *nearest(producers(transpose)[:1], _MATMULS, ELEMENTWISE, producers),
        *nearest(readers(transpose), _MATMULS, ELEMENTWISE, readers),
    ]
    return any(one.get_type_name() == "ScaledDotProductAttention" or _is_of_attention(one) for one in products)


def _is_of_attention(product: Node) -> bool:
    """Whether a MatMul reads the weights of a softmax, or gives the scores that one reads."""
    weights = nearest(producers(product), {"Softmax"}, ELEMENTWISE, producers)
    return bool(weights or nearest(readers(product), {"Softmax"}, ELEMENTWISE, readers))


avoid_transpose_fusion = AvoidTransposeFusion()
