"""Which inputs of a graph are pictures with their channels last, by what reads them."""

from __future__ import annotations

from openvino import Model, layout_helpers
from openvino.op import Parameter

from paddle2ov.graph.constants import constant_of
from paddle2ov.graph.node_kinds import ELEMENTWISE

_KINDS = """
AvgPool BinaryConvolution Convolution ConvolutionBackpropData DeformableConvolution GroupConvolution
GroupConvolutionBackpropData MaxPool
"""
_WINDOWS = frozenset(_KINDS.split())
"""Nodes that move a window over a picture, whose second axis is that of the channels."""
_PASSED = ELEMENTWISE | {"Concat", "Gather", "Pad", "Slice", "StridedSlice"}
"""Nodes whose axes are those of what they read, where the rank stays."""


def channels_last(model: Model) -> frozenset[str]:
    """The names of inputs of rank 4 that are pictures with their channels last.

    The layout of an input says so, or a convolution, a pooling or a resize that reads it as such, be it through
    elementwise nodes and transposes.
    """
    pictures = (
        node
        for node in model.get_parameters()
        if node.get_output_partial_shape(0).rank == 4 and (_is_so_by_layout(node) or _is_read_so(node))
    )
    return frozenset(name for node in pictures for name in (node.get_friendly_name(), *node.output(0).get_names()))


def _is_so_by_layout(parameter: Parameter) -> bool:
    layout = parameter.get_layout()
    return layout_helpers.has_channels(layout) and layout_helpers.channels_idx(layout) in (3, -1)


def _is_read_so(parameter: Parameter) -> bool:
    start: tuple[int, ...] = (0, 1, 2, 3)
    pending, seen = [(parameter.output(0), start)], set()
    while pending:
        output, axes = pending.pop()  # the value, and where its axes come from
        for port in output.get_target_inputs():
            reader, kind, after = port.get_node(), port.get_node().get_type_name(), axes
            if kind in _WINDOWS and port.get_index() == 0:
                return axes[1] == 3
            if kind == "Interpolate" and port.get_index() == 0:
                resized = constant_of(reader.input_value(reader.get_input_size() - 1))
                return resized is not None and {axes[axis] for axis in resized.ravel().tolist()} == {1, 2}
            if kind == "Transpose":
                order = constant_of(reader.input_value(1))
                if order is None or order.size != 4:
                    continue
                after = tuple(axes[axis] for axis in order.ravel().tolist())
            elif kind not in _PASSED or reader.get_output_partial_shape(0).rank != 4:
                continue
            if (reader.get_friendly_name(), after) not in seen:
                seen.add((reader.get_friendly_name(), after))
                pending.append((reader.output(0), after))
    return False
