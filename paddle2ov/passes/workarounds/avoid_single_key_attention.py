"""The scores of attention over an unknown number of keys pass through one more node before their softmax.

OpenVINO 2026.4 takes product, softmax and product as one kernel. Compiled first for one key, this kernel is wrong for
16 keys or more in every later run, unless something other than a factor or an activation stands before the softmax, as
a mask does: a decoder in a loop, which begins with one token, writes something else from the 16th on.
"""

from __future__ import annotations

from openvino import Node, Output, Shape, Type
from openvino.op import Constant

from paddle2ov.graph.opset import ops
from paddle2ov.passes.graph import Counts, Graph, constant_of, dims_of, name_after, replace
from paddle2ov.passes.kinds import UNARY

_LEAST, _LEAST_HALF = 1e-30, 1e-7
"""What is added; half precision has nothing so small. Neither changes an exponential."""


def avoid_single_key_attention(graph: Graph) -> Counts:
    """Softmax reads a sum where it would read a product.

    Given:
        (a) scores [..., q, k] = MatMul, k unknown → times constants, activations, plus a single number → Softmax of the
        last axis → MatMul, or (b) ScaledDotProductAttention of as many keys, without mask.
    Result:
        (a) scores → the same → Add(1e-30) → Softmax → MatMul, (b) with 1e-30 for a mask: the kernel that OpenVINO makes
        of it is right for every k, and as fast.
    """
    counts = {"scores": 0}
    for softmax in graph.nodes("Softmax"):
        scores = softmax.input_value(0)
        dims = dims_of(scores) or []
        last = len(dims) > 2 and softmax.get_attributes()["axis"] in (-1, len(dims) - 1)
        if last and dims[-1] is None and _is_product(scores) and _weighs(softmax):
            parted = ops.add(scores, _least(scores))
            name_after(parted, softmax.get_friendly_name(), "scores")
            softmax.input(0).replace_source_output(parted.output(0))
            counts["scores"] += 1
    for attention in graph.nodes("ScaledDotProductAttention"):
        q, k, v, *rest = attention.input_values()
        dims = dims_of(k) or []
        if len(dims) > 2 and dims[-2] is None and not attention.get_attributes()["causal"] and _is_open(rest):
            masked = ops.scaled_dot_product_attention(q, k, v, _least(q), *rest[1:])
            replace(attention.output(0), masked.output(0))
            counts["scores"] += 1
    if counts["scores"]:
        graph.changed()
    return counts


def _is_product(value: Output) -> bool:
    """Whether a product comes as it is, times constants, through activations or with one number, which may be 0."""
    while value.get_node().get_type_name() != "MatMul":
        node = value.get_node()
        kind, sides = node.get_type_name(), node.input_values()
        if kind in ("Multiply", "Divide"):
            variable = [one for one in sides if one.get_node().get_type_name() != "Constant"]
        elif kind in ("Add", "Subtract"):
            variable = [one for one in sides if not _is_single(one)]
        elif kind in UNARY:
            variable = sides
        else:
            return False
        if len(variable) != 1:
            return False
        value = variable[0]
    return True


def _is_single(value: Output) -> bool:
    dims = dims_of(value)
    return dims is not None and all(one == 1 for one in dims)


def _weighs(softmax: Node) -> bool:
    return any(port.get_node().get_type_name() == "MatMul" for port in softmax.output(0).get_target_inputs())


def _is_open(rest: list[Output]) -> bool:
    """Whether the inputs after the values have no mask, or one number for all, which may be 0."""
    mask = constant_of(rest[0]) if rest else None
    return not rest or (mask is not None and mask.size == 1)


def _least(like: Output) -> Node:
    kind = like.get_element_type()
    return Constant(kind, Shape([]), [_LEAST_HALF if kind == Type.f16 else _LEAST])
