"""Transposes around attention of as many heads as tokens are of rank 5.

OpenVINO 2026.4 takes attention and the transposes around it as one kernel. Where a transpose of rank 4 exchanges axes
of equal length, the shape does not tell in which order a tensor lies in memory: beside queries that another node
computed, the kernel takes the wrong one.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.opset import ops
from paddle2ov.passes.graph import (
    Counts,
    Graph,
    dims_of,
    givers,
    ints,
    name_after,
    nearest,
    perm_of,
    readers,
    replace,
)
from paddle2ov.passes.kinds import ELEMENTWISE

_PRODUCTS = {"MatMul", "ScaledDotProductAttention"}


def part_transposes(graph: Graph) -> Counts:
    """Transpose is not taken into attention whose shape would not tell it from none.

    Given:
        Transpose(x) that moves axis 1, x of rank 4 and of the same known shape as the result, before or after one of
        the products of MatMul → elementwise → Softmax → elementwise → MatMul, or ScaledDotProductAttention;
        elementwise nodes may lie between.
    Result:
        Reshape([1, ...]) → Transpose of rank 5 → Reshape, which OpenVINO computes by themselves. The shapes are
        computed from that of x, so that the model can still be given others.
    """
    counts = {"transposes": 0}
    for transpose in graph.nodes("Transpose"):
        dims = dims_of(transpose.input_value(0))
        if dims is None or len(dims) != 4 or None in dims or dims != dims_of(transpose.output(0)):
            continue
        perm = perm_of(transpose)
        if perm is None or perm[1] == 1 or not _is_around_attention(transpose):
            continue
        x, name = transpose.input_value(0), transpose.get_friendly_name()
        shape = ops.shape_of(x)
        deeper = ops.reshape(x, ops.concat([ints([1]), shape], 0), False)
        turned = ops.transpose(deeper, ints([0, *(axis + 1 for axis in perm)]))
        name_after(turned, name, "transpose")
        replace(transpose.output(0), ops.reshape(turned, ops.gather(shape, ints(perm), ints(0)), False).output(0))
        counts["transposes"] += 1
    if counts["transposes"]:
        graph.changed()
    return counts


def _is_around_attention(transpose: Node) -> bool:
    products = [
        *nearest(givers(transpose)[:1], _PRODUCTS, ELEMENTWISE, givers),
        *nearest(readers(transpose), _PRODUCTS, ELEMENTWISE, readers),
    ]
    return any(one.get_type_name() == "ScaledDotProductAttention" or _is_of_attention(one) for one in products)


def _is_of_attention(product: Node) -> bool:
    """Whether a MatMul reads the weights of a softmax, or gives the scores that one reads."""
    weights = nearest(givers(product), {"Softmax"}, ELEMENTWISE, givers)
    return bool(weights or nearest(readers(product), {"Softmax"}, ELEMENTWISE, readers))
