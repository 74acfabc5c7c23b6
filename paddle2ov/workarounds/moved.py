"""What OpenVINO moves across other nodes although the result differs."""

from __future__ import annotations

from openvino import Input, Node

from paddle2ov.graph.consumers import only_consumer, readers
from paddle2ov.graph.node_kinds import ELEMENTWISE
from paddle2ov.graph.opset import create, ints, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.slices import OPEN_END
from paddle2ov.passes.constant_operands import reshaped_dims
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.index import Index
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, at, require

_ARITHMETIC = frozenset(
    ["Add", "Divide", "FloorMod", "Maximum", "Minimum", "Mod", "Multiply", "Power", "SquaredDifference", "Subtract"]
)


@at("Abs")
def abs_of_joined(graph: Graph, node: Node) -> list[Node] | None:
    """OpenVINO moves an Abs of rank 1, as if of a shape, to the inputs of a Concat, whatever else reads the Concat.

    In y / |y|.sum() of joined vectors, y became |y|.

    Given:
        Abs of rank 1 of what is not an input itself. The Concat may be several nodes before, which OpenVINO eliminates.
    """
    is_vector = len(dims_of(node) or ()) == 1
    return [node] if is_vector and node.input_value(0).get_node().get_type_name() != "Parameter" else None


@at("Broadcast", read_by=_ARITHMETIC)
def broadcast_to_nothing(graph: Graph, node: Node) -> list[Input] | None:
    """OpenVINO moves a Broadcast behind arithmetic, to the larger of the target and the shape of the operands.

    A target of size 0 becomes 1 where the operands have size 1: `paddle.full([paddle.shape(x)[0], 2], 3.0) + x.sum()`
    got a row where `x` has none.

    Given:
        Broadcast → binary arithmetic with another tensor, where along some axis the target may be 0 and the operands 1.
    """
    reader = only_consumer(node.output(0))
    if reader is None:
        return None
    if node.get_attributes()["mode"] not in ("numpy", "bidirectional"):
        raise MatchFailureError("OpenVINO does not move a Broadcast of this mode")
    (port,) = (port for port in reader.inputs() if port.get_source_output().get_node().get_name() == node.get_name())
    result, data, other = dims_of(node), dims_of(node.input_value(0)), dims_of(reader.input_value(1 - port.get_index()))
    if result is None or data is None or other is None:
        raise MatchFailureError("OpenVINO does not move a Broadcast of unknown rank")
    for axis, dim in enumerate(reversed(result)):
        if dim in (None, 0) and all(axis >= len(dims) or dims[-1 - axis] in (None, 1) for dims in (data, other)):
            return [port]
    raise MatchFailureError("the result has elements, or the operands have as many as the target")


@at("Transpose", when=lambda index, place: index.perm(place) == [0, 3, 1, 2])
def transpose_of_split_channels(graph: Graph, node: Node) -> list[Node]:
    """OpenVINO merges Transpose → Reshape with the change of layout of a convolution if the two seem to cancel out.

    To tell, it moves the split of an axis before the Transpose, but by the inverse permutation, and takes split
    channels for a split height: `Conv3D` over `x.transpose([0, 3, 1, 2]).unsqueeze(1)` read x without the transpose.

    Given:
        x [N, H, W, C] → Transpose to [N, C, H, W] → Reshape or Unsqueeze to [N, C1, C2, H, W]. Unknown sizes count as
        split, as `Model.reshape` may fix them later.
    """
    require(any(map(_may_split_channels, readers(node))), "no reshape splits the channels")
    return [node]


def _may_split_channels(node: Node) -> bool:
    if node.get_type_name() not in ("Reshape", "Unsqueeze"):
        return False
    image = dims_of(node.input_value(0))
    dims = reshaped_dims(node) if node.get_type_name() == "Reshape" else dims_of(node)
    if image is None or dims is None:
        return True
    if len(dims) != len(image) + 1 or (image[0] != dims[0] and None not in (image[0], dims[0])):
        return False
    return image[1] is None or image[1] != dims[1]


def _is_pointwise(index: Index, convolution: int) -> bool:
    return set((index.read_dims(convolution, 1) or ())[2:]) == {1}


@at("Convolution", when=_is_pointwise)
def stride_over_padding(graph: Graph, node: Node) -> list[Node] | None:
    """OpenVINO moves the strides of pointwise convolutions up, through elementwise nodes and other such convolutions.

    It ignores padding on the way: `Conv2D(c, n, 1, stride=2, padding=1)` after an activation had another shape. The
    model does not compile if the stride reaches a node of several outputs.

    Given:
        Pointwise Convolution with strides that is padded itself, or whose input is computed, by elementwise nodes and
        pointwise convolutions, from a padded one or from one of several outputs of a node.
    """
    if max(node.get_attributes()["strides"]) == 1:
        return None
    index = graph.index
    place = index.place_of(node)
    if _is_padded(node) or (place is not None and _meets_padding(index, place)):
        return [node]
    raise MatchFailureError("nothing is padded or split where the stride is moved to")


def slice_before(graph: Graph, node: Node) -> None:
    """The convolution has no strides: its padded input is sliced with them (Pad → Slice)."""
    attributes = node.get_attributes()
    x, filters = node.input_values()
    steps = attributes["strides"]
    if _is_padded(node):
        before, after = ([0, 0, *attributes[key]] for key in ("pads_begin", "pads_end"))
        x = ops.pad(x, ints(before), ints(after), "constant").output(0)
    none, axes = [0] * len(steps), ints(range(2, 2 + len(steps)))
    x = ops.slice(x, ints(none), ints([OPEN_END] * len(steps)), ints(steps), axes).output(0)
    attributes |= {"strides": [1] * len(steps), "auto_pad": "explicit", "pads_begin": none, "pads_end": none}
    replace(node.output(0), create("Convolution", [x, filters], attributes).output(0))


def _is_padded(convolution: Node) -> bool:
    attributes = convolution.get_attributes()
    return any((*attributes["pads_begin"], *attributes["pads_end"]))


def _meets_padding(index: Index, convolution: int) -> bool:
    pending, seen = [(convolution, index.sources[convolution][0])], set()
    while pending:
        reader, place = pending.pop()
        if place in seen:
            continue
        kind, node = index.kinds[place], index.nodes[place]
        if kind in ELEMENTWISE:
            pending += [(place, source) for source in index.sources[place]]
        elif kind == "Slice" or (kind == "Convolution" and _is_pointwise(index, place)):
            if kind != "Slice" and _is_padded(node):
                return True
            pending.append((place, index.sources[place][0]))  # a Slice of one pixel may do nothing, and be dropped
        elif index.kinds[reader] == "Convolution" or kind in ("Constant", "MaxPool") or node.get_output_size() == 1:
            continue  # a convolution keeps its stride; what else reads the node may not
        else:
            return True
        seen.add(place)
    return False
