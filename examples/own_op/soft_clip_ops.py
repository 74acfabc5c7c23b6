"""The converter of an operator of one's own."""

from __future__ import annotations

from openvino import opset16 as ops

from paddle2ov import ConversionExtension, NamedOutputs, NodeContext


def soft_clip(node: NodeContext) -> NamedOutputs:
    """out = x where |x| <= limit, else sign(x) (limit + log(1 + |x| - limit))."""
    x, limit = node.get_input("x"), node.get_attribute("limit")
    if limit < 0:
        node.refuse("the limit of a magnitude is not negative", limit=limit)
    size = ops.abs(x)
    kind = x.get_element_type()
    over = ops.maximum(ops.subtract(size, ops.constant(limit, kind)), ops.constant(0.0, kind))
    inside = ops.minimum(size, ops.constant(limit, kind))
    grown = ops.add(inside, ops.log(ops.add(over, ops.constant(1.0, kind))))
    return {"out": ops.multiply(ops.sign(x), grown)}


CONVERTERS = [ConversionExtension("soft_clip", soft_clip, signature="soft_clip(x) -> (out)")]
