"""Sinks a Squeeze through the elementwise nodes after a transposed convolution, so that these can be fused.

The rank of the convolution is kept, since OpenVINO's transposed convolution is slower at rank 3 than at rank 4.

Given:
    A transposed convolution (→ Add of a constant) → Squeeze → elementwise nodes with constants, each the only reader of
    the one before.
Result:
    The Squeeze comes last; if only an Unsqueeze of the same axes reads it, both are eliminated.
"""

from __future__ import annotations

from openvino import Node, Output

from paddle2ov.graph.constants import constant_of
from paddle2ov.graph.consumers import consumers, only_consumer, revalidate, rewire
from paddle2ov.graph.node_kinds import BINARY, UNARY
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.passes.computed_constants import reshaped_constant
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.layout.permutable import MAX_CONSTANT_ELEMENTS
from paddle2ov.passes.layout.squeeze_unit_axes import Axes, axes_of, is_slope
from paddle2ov.passes.replacement import name_after, replace
from paddle2ov.passes.rule import MatchFailureError, at, require, rule

_STARTS = ("ConvolutionBackpropData", "GroupConvolutionBackpropData")


@rule("sunk", "cancelled")
@at("Squeeze", reads=("Add", *_STARTS))
def sink_squeezes(graph: Graph, squeeze: Node) -> Counts | None:
    """Moves a Squeeze after the nodes that read it, up to an Unsqueeze that it cancels with."""
    start = squeeze.input_value(0).get_node()
    if start.get_type_name() == "Add" and constant_of(start.input_value(1)) is not None:
        start = start.input_value(0).get_node()
    if start.get_type_name() not in _STARTS:
        return None
    axes = axes_of(squeeze)
    if axes is None:
        raise MatchFailureError("the axes are computed, or the rank is not known")
    path = _path(squeeze, axes)
    last, value = (path[-1] if path else squeeze).output(0), squeeze.input_value(0)
    follower, readers = only_consumer(last), consumers(last)
    meets = follower is not None and follower.get_type_name() == "Unsqueeze" and axes_of(follower) == axes
    require(path or meets, "the next node cannot move before the squeeze")
    for node in path:
        value = _with_unit_axes(node, value, axes)
    if follower is not None and meets:
        replace(follower.output(0), value)
        return {"cancelled": 1}
    after = ops.squeeze(value, ints(sorted(axes)))
    name_after(after, squeeze, "sunk")
    for reader in readers:
        reader.replace_source_output(after.output(0))
    return {"sunk": 1}


def _path(squeeze: Node, axes: Axes) -> list[Node]:
    """The nodes that the Squeeze can pass."""
    path: list[Node] = []
    output = squeeze.output(0)
    rank = len(dims_of(output) or ())
    while (node := only_consumer(output)) is not None and _passes(node, output, axes, rank):
        path.append(node)
        output = node.output(0)
    return path


def _passes(node: Node, output: Output, axes: Axes, rank: int) -> bool:
    if node.get_type_name() in BINARY:
        arrays = [constant_of(source) for source in node.input_values() if source != output]
        return node.get_attributes().get("auto_broadcast", "numpy") == "numpy" and all(
            array is not None and array.ndim <= rank and array.size <= MAX_CONSTANT_ELEMENTS for array in arrays
        )
    reads_data = node.input_value(0) == output  # not as the slope or another parameter of an activation
    return reads_data and (node.get_type_name() in UNARY or is_slope(node, axes))


def _with_unit_axes(node: Node, value: Output, axes: Axes) -> Output:
    """The node, changed to compute on data with these axes of size 1."""
    rank = len(dims_of(value) or ()) - len(axes)
    for i, reader in enumerate(node.inputs()):
        array = constant_of(reader.get_source_output()) if node.get_type_name() in BINARY else None
        if array is not None and array.ndim:
            sizes = iter((1,) * (rank - array.ndim) + array.shape)
            shape = [1 if axis in axes else next(sizes) for axis in range(rank + len(axes))]
            rewire(node, i, reshaped_constant(reader.get_source_output(), shape))
        elif array is None and (i == 0 or node.get_type_name() in BINARY):
            rewire(node, i, value)
    revalidate(node)
    return node.output(0)
