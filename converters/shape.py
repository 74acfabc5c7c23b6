"""Shapes and sizes of tensors, and reshaping.

Paddle: `shape`, `shape64`, `size` (PIR `numel`), `is_empty`, `reshape2`, `reshape`, `squeeze2`, `squeeze`,
`unsqueeze2`, `unsqueeze`, `flatten_contiguous_range` (PIR `flatten`), `flatten2`, `flatten`, `view_shape`.
Semantics: `paddle/phi/infermeta/unary.cc` (ReshapeInferMeta, SqueezeInferMeta, FlattenInferMeta),
`paddle/phi/kernels/funcs/unsqueeze.h`.
Refused: axes of squeeze that are computed by the program (the rank of the result would depend on them).
"""

from __future__ import annotations

import math

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.computed_axis import computed_axes, front_permutations
from paddle2ov.converters.graph.dims import dim_vector, int_vector, normalize_axis, rank_of, shape_of
from paddle2ov.converters.graph.reshaping import keeps_shape, merge_axes, scalar_as_declared
from paddle2ov.graph.expected_dims import of_length
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import Dims, known_dims, static_dims
from paddle2ov.graph.types import numpy_dtype
from paddle2ov.graph.upstream import inputs_behind
from paddle2ov.graph.values import ConstantValue
from paddle2ov.program.budget import check_rank
from paddle2ov.translation.folding import fold
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def shape(node: NodeContext) -> NamedOutputs:
    """out = the dimensions of input, as a 1-D tensor."""
    x = node.get_input("input")
    dtype = node.declared_output_dtype("out") or (Type.i64 if node.op_type == "shape64" else Type.i32)
    dims = static_dims(x)
    if dims is not None:
        return {"out": ConstantValue(np.array(dims, numpy_dtype(dtype)))}
    return {"out": ops.shape_of(x, dtype)}


def size(node: NodeContext) -> NamedOutputs:
    """size = the number of elements of x, an int64 tensor: 0-D, in old programs of shape [1]."""
    return {"size": fold(scalar_as_declared(node, _count(node.get_input("x")), "size"))}


def is_empty(node: NodeContext) -> NamedOutputs:
    """out = whether x has no elements, a boolean: 0-D, in old programs of shape [1]."""
    return {"out": fold(scalar_as_declared(node, ops.equal(_count(node.get_input("x")), ints(0))))}


def _count(x: Output) -> Node:
    dims = static_dims(x)
    return ops.reduce_prod(shape_of(x), ints([0]), False) if dims is None else ints(math.prod(dims))


@keeps_shape
def reshape(node: NodeContext) -> NamedOutputs:
    """out = x with another shape; one dimension may be -1 (inferred), a 0 keeps the dimension at the same index."""
    if node.is_known("shape"):
        target = node.get_ints("shape")
        check_rank(len(target))
        input_dims = node.input_dims("x")
        dims = known_dims(input_dims)
        target = _infer_dimension(target, input_dims)
        empty = dims is not None and 0 in dims  # in a tensor without elements a 0 is a dimension of 0
        if dims is not None:
            kept = [] if empty else dims
            resolved = [dims[i] if size == 0 and i < len(kept) else size for i, size in enumerate(target)]
            if -1 not in resolved and math.prod(resolved) == math.prod(dims):
                return {"out": node.get_input("x") if resolved == dims else node.get_reshaped("x", resolved)}
        return {"out": ops.reshape(node.get_input("x"), ints(target), not empty)}
    x = node.get_input("x")
    zero_keeps = node.get_input_size("shape") == 1
    for i in range(node.get_input_size("shape")):
        known = node.get_known("shape", i)
        zero_keeps |= known is not None and bool((np.asarray(known) == 0).any())
    pattern = int_vector(node, "shape")
    declared = node.declared_output_shape("out")
    if pattern.get_partial_shape().is_dynamic and declared is not None:
        # Paddle declares one dimension where it does not know how many there are.
        certain = len(declared) != 1 or node.declared_input_shape("shape") != (-1,)
        node.require(certain, "'shape' is computed by the program, and how many dimensions it gives is not known")
        pattern = of_length(pattern, len(declared))
    return {"out": ops.reshape(x, pattern, zero_keeps)}


def view_shape(node: NodeContext) -> NamedOutputs:
    """out = input with the shape dims; one dimension may be -1."""
    return {"out": ops.reshape(node.get_input("input"), ints(node.get_ints("dims")), False)}


@keeps_shape
def squeeze(node: NodeContext) -> NamedOutputs:
    """out = x without the dimensions in axis; those that are not 1 stay. No axis: without all dimensions of 1."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    declared = node.declared_input_shape("x") or (-1,) * rank
    if not node.is_known("axis"):
        return {"out": _squeeze_computed_axes(node, x, rank)}
    axes = [normalize_axis(node, axis, rank) for axis in node.get_ints("axis", [])]
    shape = x.get_partial_shape()
    candidates = [axis for axis in sorted(set(axes)) if axis < rank] or ([] if axes else range(rank))
    dropped = []
    for axis in candidates:
        dim = int(shape[axis].get_length()) if shape[axis].is_static else None
        # An unknown dimension goes if the program says so: the rank must be the one that it declares.
        if dim is None and declared[axis] == -1 and not axes and shape[axis].get_min_length() < 2:
            node.warn(
                f"Paddle drops dimension {axis}, of {inputs_behind(x)}, where it is 1; here it stays, with the "
                "rank that the program declares. Fix the shape with `input`"
            )
        if dim == 1 or (dim is None and (declared[axis] == 1 or (axes and declared[axis] == -1))):
            dropped.append(axis)
    # A slice of one element finds none in a tensor without elements. OpenVINO's Squeeze keeps such a dimension, as
    # Paddle does, and fails, as the rank is fixed at conversion; a Reshape drops it, where another one is 0 as well.
    if any(shape[axis].is_dynamic and shape[axis].get_max_length() == 1 for axis in dropped):
        left = [axis for axis in range(len(shape)) if axis not in dropped]
        return {"out": ops.reshape(x, dim_vector(x, left), False)}
    return {"out": ops.squeeze(x, ints(dropped)) if dropped else x}


def _squeeze_computed_axes(node: NodeContext, x: Output, rank: int) -> Node:
    """x without the dimensions at axes that the program computes, which must all be 1, as the rank depends on them."""
    axes, count = computed_axes(node)
    node.warn(
        f"of the axes that are computed from {inputs_behind(axes)}, Paddle drops those whose dimension is 1; here all "
        "must be 1, or the run fails. Write the axes as numbers in the network"
    )
    all_axes = ints(list(range(rank)))
    named = ops.equal(ops.unsqueeze(ops.floor_mod(axes, ints(rank)), ints(1)), all_axes)
    left = ops.squeeze(ops.non_zero(ops.logical_not(ops.reduce_logical_or(named, ints([0]), False)), "i64"), ints([0]))
    dims = ops.gather(shape_of(x), of_length(left, rank - count), ints(0))
    # Through one rank more: OpenVINO makes [-1] of the shape of a Reshape to a vector, which then never fails.
    wide = ops.reshape(x, ops.concat([dims, ints([1])], 0), False)
    return ops.squeeze(wide, ints([rank - count]))


@keeps_shape
def unsqueeze(node: NodeContext) -> NamedOutputs:
    """out = x with dimensions of 1 inserted at axis, one after the other."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    if not node.is_known("axis"):
        return {"out": _unsqueeze_computed_axes(node, x, rank)}
    inserted = [False] * rank
    axes = node.get_ints("axis")
    check_rank(rank + len(axes))
    for axis in axes:
        position = axis + len(inserted) + 1 if axis < 0 else axis
        node.require(0 <= position <= len(inserted), f"out of range for rank {rank}", axis=axis)
        inserted.insert(position, True)
    new = [i for i, is_new in enumerate(inserted) if is_new]
    return {"out": ops.unsqueeze(x, ints(new)) if new else x}


def _unsqueeze_computed_axes(node: NodeContext, x: Output, rank: int) -> Node:
    """x with dimensions of 1 at axes that the program computes; the rank depends on their number, which is known."""
    axes, count = computed_axes(node)
    dims: Node = shape_of(x)
    for i in range(count):
        rank += 1
        axis = ops.floor_mod(ops.gather(axes, ints(i), ints(0)), ints(rank))
        dims = ops.gather(ops.concat([ints([1]), dims], 0), front_permutations(axis, rank)[1], ints(0))
    return ops.reshape(x, dims, False)


@keeps_shape
def flatten_contiguous_range(node: NodeContext) -> NamedOutputs:
    """out = x with the dimensions start_axis ... stop_axis flattened into one."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    if rank == 0:
        return {"out": ops.reshape(x, ints([1]), False)}
    start = normalize_axis(node, node.get_int("start_axis", 1), rank, "start_axis")
    stop = normalize_axis(node, node.get_int("stop_axis", 1), rank, "stop_axis")
    node.require(start <= stop, "start_axis must not be greater than stop_axis", start_axis=start, stop_axis=stop)
    if start == stop:
        return {"out": x}
    groups = [*([i] for i in range(start)), range(start, stop + 1), *([i] for i in range(stop + 1, rank))]
    return {"out": merge_axes(x, groups)}


@keeps_shape
def flatten(node: NodeContext) -> NamedOutputs:
    """out = x as a matrix: the dimensions before axis flattened into one, and the others; a 0-D x as [1]."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    if rank == 0:
        return {"out": ops.reshape(x, ints([1]), False)}
    axis = node.get_int("axis", 1)
    node.require(0 <= axis <= rank, f"out of range for rank {rank}", axis=axis)
    return {"out": merge_axes(x, [range(axis), range(axis, rank)])}


def _infer_dimension(target: list[int], dims: Dims | None) -> list[int]:
    """The target with its -1 inferred, where the dimensions that it does not keep are known.

    At run time it cannot be inferred for a tensor without elements.
    """
    if dims is None or -1 not in target:
        return target
    rest = known_dims([dim for i, dim in enumerate(dims) if i >= len(target) or target[i] != 0])
    if rest is None:
        return target
    count, known = math.prod(rest), math.prod(size for size in target if size > 0)
    return target if count == 0 or count % known else [count // known if dim == -1 else dim for dim in target]
