"""Ranks, axes and dimensions: constants where they are known, else computed in the graph."""

from __future__ import annotations

from collections.abc import Sequence

from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import Dims, dims_of, output_of, static_dims
from paddle2ov.graph.slices import OPEN_END
from paddle2ov.graph.workarounds import works_around
from paddle2ov.program.budget import check_rank
from paddle2ov.translation.node_context import REQUIRED, NodeContext, Required


def static_rank(x: Tensor) -> int:
    """The rank of `x`, which must be known."""
    return int(output_of(x).get_partial_shape().rank.get_length())


def rank_of(node: NodeContext, x: Output) -> int:
    """The rank of `x`; refuses the operator where it is not known."""
    return len(checked_dims(node, x))


def checked_dims(node: NodeContext, x: Output) -> Dims:
    """The dimensions of `x`; refuses the operator where its rank is not known."""
    dims = dims_of(x)
    if dims is None:
        node.refuse("an input of unknown rank is not supported")
    check_rank(len(dims))
    return dims


def normalize_axis(node: NodeContext, axis: int, rank: int, name: str = "axis") -> int:
    """`axis` counted from the front; refuses one that is out of range (0-D counts as 1-D, as in Paddle)."""
    bound = max(rank, 1)
    if not -bound <= axis < bound:
        node.refuse(f"out of range for rank {rank}", **{name: axis})
    return axis % bound


def input_along_axis(node: NodeContext, default: int | Required = REQUIRED, name: str = "x") -> tuple[Output, int, int]:
    """An input, its rank, and the attribute `axis`, counted from the front."""
    x = node.get_input(name)
    rank = rank_of(node, x)
    return x, rank, normalize_axis(node, node.get_int("axis", default), rank)


def scalar_of(node: NodeContext, name: str, dtype: Type | None = None, default: float | Required = REQUIRED) -> Node:
    """A single number, whatever the shape of the operand is, as a 0-D tensor."""
    return ops.reshape(node.get_tensor(name, dtype, default), ints([]), False)


def int_vector(node: NodeContext, name: str) -> Output:
    """A list of integers (a shape, axes, bounds) as a 1-D int64 tensor, whatever the shape of the operand is.

    There is one for each dimension, or for some. Raises BudgetError for more than a tensor has dimensions.
    """
    x = node.get_tensor(name, Type.i64)
    if x.get_partial_shape().rank != 1:
        x = ops.reshape(x, ints([-1]), False).output(0)
    length = x.get_partial_shape()[0]
    if length.is_static:
        check_rank(int(length.get_length()))
    return x


def shape_vector(node: NodeContext, name: str) -> Output:
    """A shape as a 1-D int64 tensor of known length, which is the rank of the result."""
    x = int_vector(node, name)
    if x.get_partial_shape()[0].is_dynamic:
        node.refuse(f"'{name}' is computed by the program, and how many dimensions it gives is not known")
    return x


def shape_of(x: Tensor) -> Node:
    """The shape of `x` as a 1-D int64 tensor; a constant where it is known."""
    dims = static_dims(x)
    return ops.shape_of(x, Type.i64) if dims is None else ints(dims)


def dim_of(x: Tensor, axis: int) -> Node:
    """One dimension of `x`, 0-D int64, a constant where it is known; an axis below 0 counts from the end."""
    dims = dims_of(x)
    dim = None if dims is None else dims[axis]
    return ops.gather(ops.shape_of(x, Type.i64), ints(axis), ints(0)) if dim is None else ints(dim)


def dim_vector(x: Tensor, axes: Sequence[int]) -> Node:
    """Some dimensions of `x`, 1-D int64, a constant where all of them are known."""
    dims = dims_of(x)
    known = [] if dims is None else [dim for axis in axes if (dim := dims[axis]) is not None]
    return ints(known) if len(known) == len(axes) else ops.gather(ops.shape_of(x, Type.i64), ints(axes), ints(0))


def dim_range(x: Tensor, begin: int, end: int | None = None) -> Node:
    """The dimensions of `x` from one axis up to another, as of a list, 1-D int64; a constant where all are known."""
    dims = dims_of(x)
    if dims is not None:
        return dim_vector(x, range(len(dims))[begin:end])
    return ops.slice(ops.shape_of(x, Type.i64), ints([begin]), ints([OPEN_END if end is None else end]), ints([1]))


@works_around("tile_of_no_rows", "topk_of_no_rows")
def with_shape(out: Output, shape: Tensor) -> Output:
    """`out`, which has this shape: OpenVINO 2026.4 gives what has no elements the shape of the run before.

    It does so where the counts are those of the last run that had elements. Dimensions that are known stay known.
    """
    dims = dims_of(out)
    if dims is None or None not in dims:
        return out
    sizes = [ops.gather(shape, ints([i]), ints(0)) if dim is None else ints([dim]) for i, dim in enumerate(dims)]
    return ops.reshape(out, ops.concat(sizes, 0), False).output(0)


def index_range(size: Tensor) -> Node:
    """0, 1, ... size - 1, 1-D int64; `size` is 0-D."""
    return ops.range(ints(0), size, ints(1), "i64")
