"""Lets Select read its operands directly, without additions of zeros that only broadcast them.

Given:
    c boolean; Select(Convert(c) + zeros != 0, x + zeros, y + zeros), any of the additions missing, where zeros are sums
    of zeros in the shapes of c, x and y: what Paddle's `where` writes if the shapes may differ.
Result:
    Select(c, x, y). Each addition less saves a pass over memory. Where a softmax is between two such masks, OpenVINO
    fuses all of it into one kernel, for which the registers suffice only without the additions.
"""

from __future__ import annotations

from collections.abc import Sequence

from openvino import Node, Output, Type

from paddle2ov.graph.constants import is_zero
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.passes.constant_operands import broadcast_shape
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import at, require, rule


@rule("choices")
@at("Select", reads=("Add", "NotEqual"))
def broadcast_select(graph: Graph, node: Node) -> Counts | None:
    """Has a Select broadcast its operands itself, without sums of them and zeros."""
    condition, zeros = _condition(node.input_value(0))
    sides = [condition]
    for side in node.input_values()[1:]:
        bare, more = _without_zeros(side)
        sides.append(bare)
        zeros += more
    if not zeros:
        return None
    require(node.get_attributes()["auto_broadcast"] == "numpy", "the Select does not broadcast")
    require(all(_covers(sides, zero) for zero in zeros), "the zeros may be larger than what they are added to")
    require(_rank(node.output(0)) == _rank(*sides), "the result would have another rank")
    replaced = [old.get_node() for old, new in zip(node.input_values(), sides, strict=True) if old != new]
    condition, chosen, other = sides
    replace(node.output(0), ops.select(condition, chosen, other).output(0), *replaced)
    return {"choices": 1}


def _rank(*values: Output) -> int | None:
    """The rank after broadcasting; None where it is not known."""
    ranks = [value.get_partial_shape().rank for value in values]
    return max(rank.get_length() for rank in ranks) if all(rank.is_static for rank in ranks) else None


def _condition(value: Output) -> tuple[Output, list[Output]]:
    """The boolean before Convert, Add of zeros and NotEqual, with those zeros; else the value itself."""
    node = value.get_node()
    if node.get_type_name() == "NotEqual" and is_zero(node.input_value(1)):
        number, zeros = _without_zeros(node.input_value(0))
        cast = number.get_node()
        if zeros and cast.get_type_name() == "Convert" and cast.input_value(0).get_element_type() == Type.boolean:
            return cast.input_value(0), zeros
    return value, []


def _without_zeros(value: Output) -> tuple[Output, list[Output]]:
    node = value.get_node()
    if node.get_type_name() == "Add":
        for bare, other in (node.input_values(), node.input_values()[::-1]):
            zeros = _zero_terms(other)
            if zeros is not None:
                return bare, zeros
    return value, []


def _zero_terms(value: Output, depth: int = 6) -> list[Output] | None:
    """The terms of a sum of zeros; None if the value is anything else."""
    node = value.get_node()
    kind = node.get_type_name()
    if (kind == "Broadcast" and is_zero(node.input_value(0))) or is_zero(value):
        return [value]
    if kind not in ("Add", "Convert") or not depth:
        return None
    parts = [_zero_terms(value, depth - 1) for value in node.input_values()]
    return None if None in parts else [item for part in parts for item in part or ()]


def _covers(sides: Sequence[Output], zeros: Output) -> bool:
    """Whether the operands broadcast together are at least as large as these zeros, along every axis."""
    if any(broadcast_shape(zeros.get_node()) == side for side in sides):
        return True
    dims = dims_of(zeros)
    shapes = [dims_of(side) or [] for side in sides]
    if dims is None or len(dims) > max(map(len, shapes)):
        return False
    return all(
        dim == 1 or (dim is not None and any(shape[-back:][:1] == [dim] for shape in shapes if len(shape) >= back))
        for back, dim in zip(range(len(dims), 0, -1), dims, strict=True)
    )
