"""Tensors with their axes in another order, or merged, or with the rank that the program declares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import wraps

from openvino import Output

from paddle2ov.converters.graph.common import Tensor, reshape
from paddle2ov.converters.graph.dims import dim_vector
from paddle2ov.converters.graph.spatial import ranked_dims
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import known_dims, output_of
from paddle2ov.translation.node_context import Converter, NamedOutputs, NodeContext


def merge_axes(x: Output, groups: Sequence[Sequence[int]]) -> Output:
    """`x` with each group of neighbouring axes flattened into one dimension."""
    if all(len(group) == 1 for group in groups):
        return x
    dims = ranked_dims(x)
    known = [known_dims([dims[axis] for axis in group]) for group in groups]
    sizes = [None if group is None else math.prod(group) for group in known]
    # 0 keeps the dimension at the same index, -1 infers one; with more unknown ones, the shape is needed at run time.
    target = [0 if size is None and [*groups[i]] == [i] else size for i, size in enumerate(sizes)]
    if None not in sizes or (target.count(None) <= 1 and 0 not in sizes):
        return ops.reshape(x, ints([-1 if size is None else size for size in target]), None in sizes).output(0)
    parts = [ops.reduce_prod(dim_vector(x, group), ints([0]), True) for group in groups]
    return ops.reshape(x, ops.concat(parts, 0), False).output(0)


def scalar_as_declared(node: NodeContext, out: Tensor, name: str = "out") -> Tensor:
    """`out`, or with shape [1] where it is 0-D and the program says [1]: Paddle before 2.5 had no 0-D tensors."""
    shape = output_of(out).get_partial_shape()
    if shape.rank.is_static and shape.rank.get_length() == 0 and node.declared_output_shape(name) == (1,):
        return reshape(out, [1])
    return out


def keeps_shape(converter: Converter) -> Converter:
    """A decorator: the converter has one more result, of which a gradient reads the shape only; x stands for it."""

    @wraps(converter)
    def convert(node: NodeContext) -> NamedOutputs:
        outputs = converter(node)
        return {"x_shape": node.get_input("x"), **outputs} if node.is_output_used("x_shape") else outputs

    return convert
