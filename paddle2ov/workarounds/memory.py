"""Tensors whose memory OpenVINO gives to something else, or forgets to clear."""

from __future__ import annotations

import numpy as np
from openvino import Node, Output
from openvino.op import Constant

from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.consumers import consumers, rewire
from paddle2ov.graph.loop_invariants import in_own_memory, may_be_written, read_after_writes
from paddle2ov.graph.opset import create, ints, ops
from paddle2ov.graph.permutation import is_layout_change
from paddle2ov.graph.shapes import dims_of, static_dims
from paddle2ov.graph.types import value_of
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.index import Index
from paddle2ov.passes.replacement import insert, replace
from paddle2ov.passes.rule import at, require
from paddle2ov.passes.shared_memory import shares_memory

_IMAGE = 4


@at("Transpose", when=lambda index, place: is_layout_change(index.perm(place)))
def transpose_views(graph: Graph, transpose: Node) -> list[Node]:
    """OpenVINO merges a transpose with a change of layout beside it, although something else has its input's memory.

    If the two cancel out, the transpose becomes a view of its input's memory, in which its reader then finds other
    data: a convolution over a tensor with channels last, or a recurrent layer over one with steps first, read numbers
    up to 1e34.

    Given:
        Transpose(x) of rank 3 to 5 that moves the last axis to the second place or the second one to the last, or
        exchanges the first two of three. The buffer of x, or of one of its views (Reshape, Squeeze, Unsqueeze, Split,
        VariadicSplit, Gather of an axis of one element), has another user: a Concat, a Result, a node that writes in
        place, or another such Transpose of a view. Unknown sizes may be fixed later, so that they do not matter.
    """
    require(shares_memory(transpose), "nothing else shares the memory")
    return [transpose]


@at("Interpolate")
def resize_views(graph: Graph, resize: Node) -> list[Node] | None:
    """OpenVINO resizes along axes 1 and 2 of rank 4 on a view of its input's memory, in the channels-last layout.

    It chooses that layout after it has decided which tensors share memory.

    Given:
        Interpolate(x) along axes 1 and 2 of rank 4, where the memory of x is shared as for `transpose_views`.
    """
    dims, axes = dims_of(resize.input_value(0)), ints_of(resize.input_value(resize.get_input_size() - 1))
    if dims is None or len(dims) != _IMAGE or axes is None or sorted(axis % _IMAGE for axis in axes) != [1, 2]:
        return None
    require(shares_memory(resize), "nothing else shares the memory")
    return [resize]


def read_copy(graph: Graph, node: Node) -> None:
    """The node reads Maximum(x, x), which copies."""
    rewire(node, 0, in_own_memory(node.input_value(0)))


@at("ReduceMean", when=lambda index, place: len(index.ints(place, 1) or ()) == 3)
def channel_means(graph: Graph, mean: Node) -> list[Node] | None:
    """OpenVINO adds the mean of each channel to that of the run before, where channels are in blocks of 16.

    They are so after a transposed convolution. The first run of a request is right, the second is not.

    Given:
        x [N, C, H, W] → ReduceMean over axes 0, 2 and 3.
    """
    axes, dims = ints_of(mean.input_value(1)), dims_of(mean.input_value(0)) or []
    is_of_channels = len(dims) == _IMAGE and axes is not None and {axis % _IMAGE for axis in axes} == {0, 2, 3}
    return [mean] if is_of_channels else None


def flatten_pixels(graph: Graph, mean: Node) -> None:
    """The mean is over axes 0 and 2 of [N, C, H·W] (Reshape → ReduceMean → Unsqueeze)."""
    rows = ops.reshape(mean.input_value(0), ints([0, 0, -1]), True)
    keeps = bool(mean.get_attributes()["keep_dims"])
    flat = ops.reduce_mean(rows, ints([0, 2]), keeps)
    replace(mean.output(0), (ops.unsqueeze(flat, ints([3])) if keeps else flat).output(0))


@at("Loop", "TensorIterator")
def loop_invariants(graph: Graph, loop: Node) -> list[Output]:
    """OpenVINO lets the body of a Loop overwrite what every iteration reads.

    Given:
        Parameter of a Loop's body → nodes that may be views → a node that may write there. The parameter is invariant,
        or read by another view.
    """
    return read_after_writes(loop)


def copy(graph: Graph, value: Output) -> None:
    """What may write there reads a copy."""
    writing = [port for port in consumers(value) if may_be_written(port)]
    copied = in_own_memory(value)
    for port in writing:
        insert([port], copied, port.get_node())


def _reads_shared_weights(index: Index, place: int) -> bool:
    weights = index.sources[place][1]
    return index.kinds[weights] == "Constant" and len(index.readers[weights]) > 1


@at("MatMul", when=_reads_shared_weights)
def square_weights(graph: Graph, product: Node) -> list[Node] | None:
    """OpenVINO lays weights out once for all products that read them, which it finds by address, shape and type.

    Given:
        MatMul(x, weights, transpose_b) of square constant weights that another MatMul reads as they are.
    """
    weights, dims = product.input_value(1), static_dims(product.input_value(1)) or [0]
    if len(dims) < 2 or dims[-1] != dims[-2] or not product.get_attributes()["transpose_b"]:
        return None
    others = [port.get_node() for port in consumers(weights) if port.get_index() == 1]
    plain = (item.get_type_name() == "MatMul" and not item.get_attributes()["transpose_b"] for item in others)
    return [product] if any(plain) else None


def transpose_weights(graph: Graph, product: Node) -> None:
    """The product reads a constant of the transposed weights, which differs from the other one in a saved model too."""
    x, weights = product.input_values()
    node = weights.get_node()
    assert isinstance(node, Constant), "the finder looks for one"
    turned = ops.constant(np.swapaxes(value_of(node), -1, -2).copy(), weights.get_element_type())
    settings = {**product.get_attributes(), "transpose_b": False}
    replace(product.output(0), create("MatMul", [x, turned.output(0)], settings).output(0))
