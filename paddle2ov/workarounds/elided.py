"""Nodes that OpenVINO eliminates although they change something."""

from __future__ import annotations

from openvino import Node, Output

from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.consumers import nearest, readers
from paddle2ov.graph.node_kinds import REDUCTIONS
from paddle2ov.graph.opaque_values import hide, is_hidden
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.passes.computed_constants import computed_constant_of
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.index import VARYING
from paddle2ov.passes.replacement import insert, replace
from paddle2ov.passes.rule import MatchFailureError, at, require
from paddle2ov.typing import known

_IN_BRANCHES, _DATA, _SIZES = frozenset(VARYING), frozenset(("Parameter", *VARYING)), frozenset(("ShapeOf",))
_RESHAPING = {"Reshape", "Squeeze", "Transpose", "Unsqueeze"}


@at("Gather", when=lambda index, place: 1 in (index.read_dims(place) or ()) and index.read_dims(place, 1) == [1])
def gather_of_one(graph: Graph, node: Node) -> list[Node] | None:
    """OpenVINO does not compile Unsqueeze → Gather of the only element → Squeeze → Unsqueeze of another axis.

    `x[..., [0]]` of a last axis of size 1 did not compile in some places. Gathers of several indices along such an axis
    are made otherwise in `graph/safe_functions.py`.

    Given:
        Gather from an axis of size 1 by a constant index of shape [1].
    """
    dims = known(dims_of(node.input_value(0)))
    index, axis = (computed_constant_of(node.input_value(i)) for i in (1, 2))
    if axis is None or dims[axis.item()] != 1:
        raise MatchFailureError("the axis may have several elements")
    require(index is not None and index.item() in (0, -1), "the index is not known")
    return [node]


def leave_out(graph: Graph, node: Node) -> None:
    """The input of the node."""
    replace(node.output(0), node.input_value(0))


@at("Abs")
def abs_of_sizes(graph: Graph, node: Node) -> list[Node] | None:
    """OpenVINO eliminates an Abs whose input it can bound before the run, whatever the sign: |n - 5| was n - 5.

    It can bound constants, shapes and what is computed from them; in a branch also the inputs of the If, as it inlines
    the branch if the condition is constant.

    Given:
        Abs of signed numbers that depend on no Parameter except for its shape; in branches, any Abs of signed numbers.
    """
    kinds = _IN_BRANCHES if graph.is_branch else _DATA
    is_bounded = node.get_element_type().is_signed() and graph.is_independent(node, kinds, _SIZES)
    return [node] if is_bounded and not is_hidden(node.input_value(0)) else None


def keep_abs(graph: Graph, node: Node) -> None:
    """Maximum(x, -x) for integers; for floats, which may be -0, Abs of a copy that each run makes."""
    x = node.input_value(0)
    if node.get_element_type().is_real():
        insert([node.input(0)], hide(x, graph.runtime_zero(node)).output(0), node)
    else:
        replace(node.output(0), ops.maximum(x, ops.negative(x)).output(0))


@at(*sorted(REDUCTIONS), read_by=_RESHAPING, when=lambda index, place: len(index.dims(place) or ()) > 1)
def reshape_of_reduced(graph: Graph, node: Node) -> list[Node] | None:
    """OpenVINO eliminates a reshape after a reduction if it would change nothing had the reduction kept its axes.

    The mean over axis 1 of [N, T, C], reshaped to [-1, 1], came out as [N, C].

    Given:
        Reduce without keep_dims, to rank 2 or more → one or several of Reshape, Squeeze, Transpose and Unsqueeze, one
        of which has an output of the same rank, or of unknown rank.
    """
    dims = known(dims_of(node))
    if node.get_attributes()["keep_dims"]:
        return None
    shapes = map(dims_of, nearest(readers(node), _RESHAPING, _RESHAPING, readers))
    if not any(shape is None or len(shape) == len(dims) for shape in shapes):
        return None
    require(ints_of(node.input_value(1)) is not None, "the axes are computed")
    return [node]


@at("Slice", needs=("GatherElements",))
def slice_before_gather(graph: Graph, node: Node) -> list[Node] | None:
    """OpenVINO eliminates a Slice with start 0 and step 1 that a GatherElements reads, also through what it eliminates.

    `index_sample` of the first rows of a tensor was refused at run time, read beyond the tensor, or counted negative
    indices from another end.

    Given:
        Slice with step 1 whose starts are 0 along all of its axes, or may be found to be 0 by constant folding, in a
        model that has a GatherElements.
    """
    starts, steps = ints_of(node.input_value(1)), ints_of(node.input_value(3))
    if any(starts or ()) or any(step != 1 for step in steps or ()):
        return None
    if starts is None and not graph.is_independent(node.input_value(1).get_node(), _DATA, _SIZES):
        return None
    has_axes = node.get_input_size() < 5 or ints_of(node.input_value(4)) is not None
    if dims_of(node.input_value(0)) is None or not has_axes or steps is None:
        raise MatchFailureError("the rank, the axes or the steps are not known")
    return [node]


def slice_by_strides(graph: Graph, node: Node) -> None:
    """StridedSlice of all axes."""
    x, starts, ends, *_ = node.input_values()
    rank = len(known(dims_of(x)))
    axes = known(ints_of(node.input_value(4))) if node.get_input_size() > 4 else range(rank)
    axes = [axis % rank for axis in axes]
    unbounded = [int(axis not in axes) for axis in range(rank)]
    lower, upper = (_spread(bounds, axes, rank) for bounds in (starts, ends))
    replace(node.output(0), ops.strided_slice(x, lower, upper, ints([1] * rank), unbounded, unbounded).output(0))


def _spread(bounds: Output, axes: list[int], rank: int) -> Node:
    """Bounds of the sliced axes as bounds of all axes."""
    values = ints_of(bounds)
    if values is None:
        return ops.scatter_update(ints([0] * rank), ints(axes), ops.convert(bounds, "i64"), ints(0))
    of_axis = dict(zip(axes, values, strict=True))
    return ints([of_axis.get(axis, 0) for axis in range(rank)])
