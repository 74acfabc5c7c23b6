"""Raises the rank of transposes around attention that OpenVINO would fuse wrongly.

OpenVINO 2026.4 fuses attention and the transposes around it into one kernel. If a transpose of rank 4 exchanges axes of
equal size, the layout of a tensor does not follow from its shape: next to queries that another node computes, the
kernel assumes the wrong one.
"""

from __future__ import annotations

from typing import TypeAlias

from openvino import Node

from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.upstream import sources_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import nearest, readers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.kinds import ELEMENTWISE, MOVES
from paddle2ov.passes.operands import perm_of
from paddle2ov.passes.rule import MatchFailureError, Rule
from paddle2ov.passes.workarounds.deeper_transpose import transpose_deeper

_MATMULS = {"MatMul", "ScaledDotProductAttention"}
_BETWEEN = ELEMENTWISE | MOVES
"""OpenVINO removes reshapes around the products: of the transposes of one attention, none may be left as it is."""


_Ordered: TypeAlias = tuple[Node, list[int]]
"""A transpose and its permutation."""


@works_around("attention_with_as_many_heads_as_tokens")
class AvoidTransposeFusion(Rule[_Ordered, _Ordered]):
    """Transposes at rank 5 around attention if the transpose leaves the shape unchanged.

    Given:
        Transpose of rank 4 that moves axis 1, among axes of one known size, so that the shape stays. It is before or
        after one of the MatMuls of MatMul → elementwise → Softmax → elementwise → MatMul, or
        ScaledDotProductAttention, possibly with elementwise nodes and reshapes in between.
    Result:
        Unsqueeze → Transpose of one rank more → Reshape, which OpenVINO runs separately.
    """

    roots = ("Transpose",)
    counts = ("transposes",)

    def pattern(self, graph: Graph, node: Node) -> _Ordered | None:
        perm = perm_of(node)
        return (node, perm) if perm is not None and len(perm) == 4 and perm[1] != 1 else None

    def check(self, graph: Graph, match: _Ordered) -> _Ordered:
        transpose, perm = match
        dims = dims_of(transpose.input_value(0))
        moved = [axis for axis, source in enumerate(perm) if axis != source]
        if dims is None or None in [dims[axis] for axis in moved]:
            raise MatchFailureError("sizes are not known")
        if any(dims[axis] != dims[perm[axis]] for axis in moved):
            raise MatchFailureError("it changes the shape")
        if not _is_around_attention(transpose):
            raise MatchFailureError("there is no attention next to it")
        return match

    def rewrite(self, graph: Graph, plan: _Ordered) -> Counts:
        transpose_deeper(*plan)
        return {"transposes": 1}


def _is_around_attention(transpose: Node) -> bool:
    products = [
        *nearest(sources_of(transpose)[:1], _MATMULS, _BETWEEN, sources_of),
        *nearest(readers(transpose), _MATMULS, _BETWEEN, readers),
    ]
    return any(one.get_type_name() == "ScaledDotProductAttention" or _is_of_attention(one) for one in products)


def _is_of_attention(product: Node) -> bool:
    """Whether a MatMul reads the output of a Softmax, or computes its scores."""
    weights = nearest(sources_of(product), {"Softmax"}, _BETWEEN, sources_of)
    return bool(weights or nearest(readers(product), {"Softmax"}, _BETWEEN, readers))


avoid_transpose_fusion = AvoidTransposeFusion()
