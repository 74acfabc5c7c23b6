"""Adds a tiny constant to attention scores over a dynamic number of keys.

OpenVINO 2026.4 fuses MatMul, Softmax and MatMul into one kernel. If this kernel is first compiled for one key, it is
wrong for 16 keys or more in every later run, unless something other than a scale or an activation, such as a mask,
precedes the softmax: a decoder in a loop, which begins with one token, generates wrong tokens from the 16th on.
"""

from __future__ import annotations

from openvino import Node, Output, Shape, Type
from openvino.op import Constant

from paddle2ov.graph.constants import number_of
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import nearest, readers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.kinds import MOVES, UNARY
from paddle2ov.passes.replacement import name_after, replace
from paddle2ov.passes.rule import MatchFailureError, Rule

_EPSILON, _EPSILON_HALF = 1e-30, 1e-7
"""The constants that are added; 1e-30 is 0 in half precision. Neither changes an exponential."""


@works_around("attention_compiled_for_one_key")
class AvoidSingleKeyAttention(Rule[Node, Node]):
    """Inserts an Add of a tiny constant between scaled attention scores and their softmax.

    Given:
        (a) scores [..., q, k] = MatMul, k dynamic → multiplication by constants, activations, addition of a scalar that
        may be 0 → Softmax over the last axis → MatMul, possibly with reshapes in between, or (b)
        ScaledDotProductAttention with dynamic k and no mask.
    Result:
        (a) scores → the same → Add(1e-30) → Softmax → MatMul, (b) with 1e-30 as mask: the kernel that OpenVINO then
        selects is right for every k, and as fast.
    """

    roots = ("Softmax", "ScaledDotProductAttention")
    counts = ("scores",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        return node if node.get_type_name() != "Softmax" or _feeds_matmul(node) else None

    def check(self, graph: Graph, match: Node) -> Node:
        is_softmax = match.get_type_name() == "Softmax"
        dims = dims_of(match.input_value(0 if is_softmax else 1))
        if dims is None or len(dims) < 3:
            raise MatchFailureError("the rank is less than 3, or not known")
        if is_softmax and match.get_attributes()["axis"] not in (-1, len(dims) - 1):
            raise MatchFailureError("the softmax is not over the keys")
        if dims[-1 if is_softmax else -2] is not None:
            raise MatchFailureError("the number of keys is known")
        if is_softmax and not _is_scaled_matmul(match.input_value(0)):
            raise MatchFailureError("there is more than scales and activations before the softmax")
        if not is_softmax and (match.get_attributes()["causal"] or not _has_no_mask(match.input_values()[3:])):
            raise MatchFailureError("the attention has a mask")
        return match

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        if plan.get_type_name() == "Softmax":
            scores = plan.input_value(0)
            added = ops.add(scores, _epsilon(scores))
            name_after(added, plan, "scores")
            plan.input(0).replace_source_output(added.output(0))
        else:
            q, k, v, *rest = plan.input_values()
            masked = ops.scaled_dot_product_attention(q, k, v, _epsilon(q), rest[1] if len(rest) > 1 else None)
            replace(plan.output(0), masked.output(0))
        return {"scores": 1}


def _is_scaled_matmul(value: Output) -> bool:
    """Whether a value is a MatMul, with constant scales, activations, or an added scalar that may be 0."""
    while value.get_node().get_type_name() != "MatMul":
        node = value.get_node()
        if any(number_of(one) for one in node.input_values()) and node.get_type_name() in ("Add", "Subtract"):
            return False  # which this rule may have added
        kind, sides = node.get_type_name(), node.input_values()
        if kind in ("Multiply", "Divide"):
            variable = [one for one in sides if one.get_node().get_type_name() != "Constant"]
        elif kind in ("Add", "Subtract"):
            variable = [one for one in sides if not _is_single(one)]
        elif kind in UNARY:
            variable = sides
        elif kind in MOVES:
            variable = sides[:1]
        else:
            return False
        if len(variable) != 1:
            return False
        value = variable[0]
    return True


def _is_single(value: Output) -> bool:
    dims = dims_of(value)
    return dims is not None and all(one == 1 for one in dims)


def _feeds_matmul(softmax: Node) -> bool:
    return bool(nearest(readers(softmax), {"MatMul"}, MOVES, readers))


def _has_no_mask(rest: list[Output]) -> bool:
    """Whether the inputs after v include no mask, or a constant of 0."""
    return not rest or number_of(rest[0]) == 0


def _epsilon(like: Output) -> Node:
    kind = like.get_element_type()
    return Constant(kind, Shape([]), [_EPSILON_HALF if kind == Type.f16 else _EPSILON])


avoid_single_key_attention = AvoidSingleKeyAttention()
