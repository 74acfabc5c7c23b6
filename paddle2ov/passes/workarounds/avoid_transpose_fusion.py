"""Transposes that OpenVINO fuses wrongly get one more axis.

OpenVINO 2026.4 fuses attention and the transposes around it into one kernel. Where a transpose of rank 4 exchanges axes
of equal size, the layout of a tensor does not follow from its shape: beside queries that another node computes, the
kernel assumes the wrong one.

A transpose from channels last to channels first, before a convolution or a resize, moves no data but is a view of the
same memory. If that memory is also an output of the model, as that of a tensor that is only reshaped, the view is of
other memory.
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
from paddle2ov.passes.rule import MatchFailureError, Rule

_MATMULS = {"MatMul", "ScaledDotProductAttention"}
_IN_PLACE = {"Concat", "Reshape", "Squeeze", "Unsqueeze"}


_Ordered: TypeAlias = tuple[Node, list[int]]
"""A transpose and its permutation."""


class AvoidTransposeFusion(Rule[_Ordered, _Ordered]):
    """Transpose is not fused into attention if it leaves the shape unchanged, nor made a view of a model output.

    Given:
        Transpose(x), x of known shape, that (a) moves axis 1, x of rank 4 and of the same shape as the result, before
        or after one of the MatMuls of MatMul → elementwise → Softmax → elementwise → MatMul, or
        ScaledDotProductAttention, where elementwise nodes may lie between; or (b) puts the last axis second, x of rank
        3 to 5, from which nodes that only reshape or concatenate make an output of the model.
    Result:
        Reshape([1, ...]) → Transpose of one rank more → Reshape, which OpenVINO runs separately. The target shapes
        are computed from that of x, so that the model can still be reshaped.
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
            raise MatchFailureError("sizes are not known")
        is_square = _may_be_of_attention(perm) and dims == dims_of(transpose.output(0))
        is_around = is_square and _is_around_attention(transpose)
        if not is_around and not (_puts_last_second(perm) and _views_a_result(transpose)):
            raise MatchFailureError("there is no attention with equal sizes and no model output beside it")
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
    """Whether it moves the last axis to the second position."""
    last = len(perm) - 1
    return 2 <= last <= 4 and perm == [0, last, *range(1, last)]


def _views_a_result(transpose: Node) -> bool:
    """Whether an output of the model shares the memory that it reads."""
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
    """Whether a MatMul reads the output of a Softmax, or computes its scores."""
    weights = nearest(producers(product), {"Softmax"}, ELEMENTWISE, producers)
    return bool(weights or nearest(readers(product), {"Softmax"}, ELEMENTWISE, readers))


avoid_transpose_fusion = AvoidTransposeFusion()
