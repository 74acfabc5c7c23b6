"""Computes per-channel constants after a convolution's activation at run time, so that they are not fused.

In bfloat16, on processors without AMX, OpenVINO 2026.4 fuses such a constant into a convolution with a bias and
computes it wrongly for a single image of a single pixel, if the model has dynamic dimensions. A depthwise convolution
fails when it runs, with or without a bias.
"""

from __future__ import annotations

from typing import TypeAlias

from openvino import Input, Node

from paddle2ov.graph.constants import constant_of, ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.slices import slice_along
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import only_consumer
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.kinds import ELEMENTWISE
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import Rule

_LINEAR = ("Add", "Divide", "Multiply", "Subtract")
_FUSED = (*_LINEAR, "PRelu")

_Constants: TypeAlias = list[Input]
"""The inputs of the nodes after a convolution that are per-channel constants."""


@works_around("post_op_of_one_pixel")
class AvoidPixelPostOps(Rule[_Constants, _Constants]):
    """Hides per-channel constants after a convolution whose output may be a single pixel.

    Given:
        Convolution → Add with a constant, or GroupConvolution → elementwise nodes → Add, Divide, Multiply, Subtract or
        PRelu with a constant [1, n, 1, ...], n above 1. The output of the convolution is dynamic and may be a single
        pixel. Linear nodes directly after the convolution stay as they are: OpenVINO merges their constants.
    Result:
        A Slice of the constant to an end that is computed at run time, which keeps all of it.
    """

    roots = ("Convolution", "GroupConvolution")
    counts = ("constants",)

    def pattern(self, graph: Graph, node: Node) -> _Constants | None:
        return (_after_activations(node) or None) if _may_be_pixel(node) else None

    def check(self, graph: Graph, match: _Constants) -> _Constants:
        return match

    def rewrite(self, graph: Graph, plan: _Constants) -> Counts:
        for port in plan:
            node, constant = port.get_node(), port.get_source_output()
            count = max(constant.get_shape())
            axis = list(constant.get_shape()).index(count)
            image = node.input_value(1 - port.get_index())
            unknown = next(i for i, size in enumerate(image.get_partial_shape()) if size.is_dynamic)
            end = ops.add(ops.gather(ops.shape_of(image), ints([unknown]), ints(0)), ints([count]))
            row = slice_along(constant, ints([0]), end, axis)
            insert([port], row.output(0), node)
        return {"constants": len(plan)}


def _after_activations(convolution: Node) -> _Constants:
    found: _Constants = []
    is_biased = convolution.get_type_name() == "GroupConvolution"  # some of these are wrong without a bias as well
    is_linear = True
    node = only_consumer(convolution.output(0))
    while node is not None and node.get_type_name() in ELEMENTWISE:
        kind = node.get_type_name()
        constants = [port for port in node.inputs() if _is_along_channels(port)] if kind in _FUSED else []
        if constants and (not is_linear or kind == "PRelu"):
            found += constants if is_biased else []
        elif constants:
            is_biased |= kind in ("Add", "Subtract")
        is_linear &= bool(constants) and kind in _LINEAR
        node = only_consumer(node.output(0))
    return found


def _is_along_channels(port: Input) -> bool:
    array = constant_of(port.get_source_output())
    return array is not None and 1 < max(array.shape, default=0) == array.size


def _may_be_pixel(convolution: Node) -> bool:
    """Whether the result may have one pixel, and other sizes as well."""
    shape = convolution.get_output_partial_shape(0)
    return shape.is_dynamic and all(size.get_min_length() <= 1 for axis, size in enumerate(shape) if axis != 1)


avoid_pixel_post_ops = AvoidPixelPostOps()
