"""Computes q, k and v of attention by separate projections: Swin, ViT, DeiT, SVTR, GPT, grouped queries.

Given:
    x → MatMul(weight [C, 3·h·d]) → Add(bias) → Reshape [B, N, 3, h, d] → Transpose [2, 0, 3, 1, 4] → q, k, v, each a
    Gather, Split or VariadicSplit along the axis of 3. The axis may be any of those that the last axis of the
    projection is split into, the slices may differ in size, and Add, Reshape and Transpose may be missing: then each
    slice must be transposed, or the rewrite would only turn one MatMul into three. The weight may be transposed, and a
    few nodes may compute the bias from constants, as in Swin v2, whose keys have none.
Result:
    x → MatMul(weight_q [C, h·d]) → Add(bias_q) → Reshape [B, N, h, d] → Transpose [0, 2, 1, 3] → q; likewise k and v. A
    scalar factor of q alone is folded into its weight and bias; below float32 only a power of two is, as another would
    add a rounding to each weight. OpenVINO's attention kernel and MatMul absorb transposes of that rank; one of rank 5
    is a pass over memory, and each of its three slices is another one unless it is contiguous.

The slices of a weight are copies: the columns of [C, 3·h·d] are not contiguous, and OpenVINO exposes the memory of a
Constant as read-only.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from msgspec import Struct
from openvino import Node, Output, Type

from paddle2ov.graph.arrays import affords_copy
from paddle2ov.graph.constants import constant_of, ints_of, number_of
from paddle2ov.graph.consumers import consumers, only_consumer
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.types import bfloat16_bits, bits_to_values
from paddle2ov.passes.computed_constants import computed_constant_of, large_constant
from paddle2ov.passes.constant_operands import perm_of, reshaped_dims
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import name_after, replace
from paddle2ov.passes.rule import MatchFailureError, at, require, rule
from paddle2ov.typing import AnyArray

_SLICING = {"Gather", "Split", "VariadicSplit"}


class _Shared(Struct, frozen=True):
    """A MatMul that several branches may share, with the Add, Reshape and Transpose, if any, before they slice it."""

    matmul: Node
    add: Node | None
    bias: Output | None
    reshape: Node | None
    transpose: Node | None
    values: Output  # the tensor that the branches slice


class _Projection(Struct, frozen=True):
    matrix: AnyArray  # [features, out] or, transposed, [out, features]
    transposed: bool
    bias: AnyArray | None
    element_type: Type  # of the elements of both


class _Slice(Struct, frozen=True):
    output: Output  # the slice that the branch reads now
    start: int
    stop: int
    squeezed: bool
    scale: float | None = None


class _Split(Struct, frozen=True):
    sizes: list[int]  # that the projection's last axis is split into
    axis: int  # of the Reshape's output, along which it is sliced
    rank: int  # of the Reshape's output
    perm: list[int] | None
    slices: list[_Slice]


@rule("projections", "parts", "scales")
@at("Reshape", "Split", "VariadicSplit", needs=("Transpose",), reads=("Add", "MatMul"))
def split_qkv(graph: Graph, node: Node) -> Counts | None:
    """Multiplies by the columns of each part, in place of slices of one product."""
    shared = _shared(node)
    if shared is None:
        return None
    projection, split = _projection(shared), _find_split(shared)
    require(affords_copy(projection.matrix.nbytes), "many projections share the weight: each has a copy of it")
    for number, piece in enumerate(split.slices):
        replace(piece.output, _part(shared, projection, split, number).output(0))
    scales = sum(piece.scale is not None for piece in split.slices)
    return {"projections": 1, "parts": len(split.slices), "scales": scales}


def _shared(node: Node) -> _Shared | None:
    value = node.input_value(0)
    source = value.get_node()
    add, bias = None, None
    if source.get_type_name() == "Add":
        sides = source.input_values()
        for product, other in (sides, sides[::-1]):
            if product.get_node().get_type_name() == "MatMul":
                add, source, bias = source, product.get_node(), other
                break
    if source.get_type_name() != "MatMul":
        return None
    reshape = node if node.get_type_name() == "Reshape" else None
    values, transpose = node.output(0) if reshape else value, None
    follower = only_consumer(values)
    if reshape and follower is not None and follower.get_type_name() == "Transpose":
        values, transpose = follower.output(0), follower
    kinds = {reader.get_node().get_type_name() for reader in consumers(values)}
    return _Shared(source, add, bias, reshape, transpose, values) if kinds & _SLICING else None


def _part(shared: _Shared, projection: _Projection, split: _Split, number: int) -> Node:
    """The projection of one slice, which is reshaped and transposed as all of them are now."""
    kind, piece = projection.element_type, split.slices[number]
    columns = _columns(projection.matrix, kind, split, piece, 0 if projection.transposed else 1)
    transpose_a = shared.matmul.get_attributes()["transpose_a"]
    value = ops.matmul(shared.matmul.input_value(0), large_constant(columns, kind), transpose_a, projection.transposed)
    name_after(value, shared.matmul, number)
    if projection.bias is not None and shared.add is not None:
        columns = _columns(projection.bias, kind, split, piece, projection.bias.ndim - 1)
        value = ops.add(value, large_constant(columns, kind))
        name_after(value, shared.add, number)
    if shared.reshape is not None:
        target = _slice_shape(shared.reshape, split, piece)
        value = ops.reshape(value, target, shared.reshape.get_attributes()["special_zero"])
        name_after(value, shared.reshape, number)
    if shared.transpose is not None and split.perm is not None:
        perm = split.perm
        if piece.squeezed:
            perm = [axis - (axis > split.axis) for axis in perm if axis != split.axis]
        value = ops.transpose(value, ints(perm))
        name_after(value, shared.transpose, number)
    return value


def _projection(shared: _Shared) -> _Projection:
    node, bias = shared.matmul, None
    if shared.bias is not None:
        bias = computed_constant_of(shared.bias)
        if bias is None:
            raise MatchFailureError("the bias is not constant")
    matrix = _matrix(node.input_value(1))
    if matrix is None or matrix.ndim != 2 or matrix.dtype.kind != "f":
        raise MatchFailureError("the weight is not a constant floating-point matrix")
    require(all(map(_is_read_once, (node, shared.add))), "something else reads the projection")
    transposed = bool(node.get_attributes()["transpose_b"])
    columns = matrix.shape[0 if transposed else 1]
    if bias is not None and (bias.ndim == 0 or bias.size != columns or bias.shape[-1] != columns):
        raise MatchFailureError("the bias is not one number for each column")
    return _Projection(matrix, transposed, bias, node.get_output_element_type(0))


def _is_read_once(node: Node | None) -> bool:
    return node is None or only_consumer(node.output(0)) is not None


def _matrix(output: Output) -> AnyArray | None:
    """The weight as an array, also if a Transpose follows the Constant: its columns are copied in any case."""
    node = output.get_node()
    if node.get_type_name() != "Transpose" or perm_of(node) != [1, 0]:
        return constant_of(output)
    array = constant_of(node.input_value(0))
    return None if array is None else array.T


def _find_split(shared: _Shared) -> _Split:
    reshape = shared.reshape
    before = dims_of((shared.add or shared.matmul).output(0))
    if not before or before[-1] is None:
        raise MatchFailureError(_UNKNOWN)
    after, sizes = (reshaped_dims(reshape), []) if reshape else (before, [before[-1]])
    if not after:
        raise MatchFailureError(_UNKNOWN)
    while math.prod(sizes) < before[-1] and len(sizes) < len(after):
        size = after[-1 - len(sizes)]
        if size is None:
            raise MatchFailureError(_UNKNOWN)
        sizes.insert(0, size)
    require(math.prod(sizes) == before[-1], "the reshape does not just split the last axis")
    perm = None if shared.transpose is None else perm_of(shared.transpose)
    if shared.transpose is not None and perm is None:
        raise MatchFailureError("the order of the axes is computed")
    axis, slices = _slices(shared.values, after, perm)
    require(axis >= len(after) - len(sizes), "the slices are not along the axis that the projection computes")
    if perm is None and not all(_is_transposed(piece.output, reshape is None) for piece in slices):
        raise MatchFailureError("a slice is not transposed: one MatMul is better than several")
    return _Split(sizes, axis, len(after), perm, [_with_scale(piece) for piece in slices])


_UNKNOWN = "sizes of the projection are not known"


def _with_scale(piece: _Slice) -> _Slice:
    """The slice with the scalar that it is multiplied by, if nothing else reads it."""
    reader = only_consumer(piece.output)
    if reader is None or reader.get_type_name() != "Multiply":
        return piece
    for source in reader.input_values():
        scale = number_of(source)
        if scale is not None and len(source.get_partial_shape()) <= len(piece.output.get_partial_shape()):
            if not _is_exact(scale, source.get_element_type()):
                return piece
            return _Slice(reader.output(0), piece.start, piece.stop, piece.squeezed, scale)
    return piece


def _is_exact(scale: float, element_type: Type) -> bool:
    """Whether weights may be multiplied by a number: in narrow types a power of two only, which adds no rounding."""
    return element_type in (Type.f32, Type.f64) or (abs(scale) <= 1 and abs(math.frexp(scale)[0]) == 0.5)


def _slices(values: Output, dims: list[int | None], perm: list[int] | None) -> tuple[int, list[_Slice]]:
    """The axis of the Reshape's output along which all consumers slice `values`, and the slices."""
    axes: set[int] = set()
    slices: list[_Slice] = []
    for reader in consumers(values):
        node = reader.get_node()
        require(node.get_type_name() in _SLICING, "something else reads the projection")
        is_gather = node.get_type_name() == "Gather"
        axis = ints_of(node.input_value(2 if is_gather else 1)) if reader.get_index() == 0 else None
        if axis is None or len(axis) != 1:
            raise MatchFailureError(_COMPUTED)
        at = axis[0] % len(dims)
        axes.add(at if perm is None else perm[at])
        size = dims[next(iter(axes))]
        require(len(axes) <= 1, "the slices are not all along one axis")
        if size is None:
            raise MatchFailureError(_UNKNOWN)
        slices += _gather_slices(node, size) if is_gather else _split_slices(node, size, at)
    slices.sort(key=lambda piece: piece.start)
    require(len(slices) >= 2, "there is only one slice")
    if any(previous.stop > other.start for previous, other in itertools.pairwise(slices)):
        raise MatchFailureError("the slices overlap")
    return next(iter(axes)), slices


_COMPUTED = "the position of a slice is computed"


def _gather_slices(node: Node, size: int) -> list[_Slice]:
    index = constant_of(node.input_value(1))
    if index is None:
        raise MatchFailureError(_COMPUTED)
    if index.ndim != 0 or node.get_attributes()["batch_dims"] != 0:
        raise MatchFailureError("a slice is gathered by a list of indices, or within each batch")
    start = int(index) % size
    return [_Slice(node.output(0), start, start + 1, True)]


def _split_slices(node: Node, size: int, axis: int) -> list[_Slice]:
    lengths = [size // len(node.outputs())] * len(node.outputs())
    if node.get_type_name() == "VariadicSplit":
        split_lengths = ints_of(node.input_value(2))
        if split_lengths is None:
            raise MatchFailureError(_COMPUTED)
        lengths = [size - sum(split_lengths) - 1 if item == -1 else item for item in split_lengths]
    slices, start = [], 0
    for output, length in zip(node.outputs(), lengths, strict=True):
        slices += _past_squeeze(output, start, length, axis)
        start += length
    return slices


def _past_squeeze(output: Output, start: int, length: int, axis: int) -> list[_Slice]:
    """One output of a Split, or of the Squeeze after it if nothing else reads it."""
    reader = only_consumer(output)
    if length == 1 and reader is not None and reader.get_type_name() == "Squeeze" and reader.get_input_size() == 2:
        axes = ints_of(reader.input_value(1))
        if axes is not None and len(axes) == 1 and axes[0] % len(output.get_partial_shape()) == axis:
            return [_Slice(reader.output(0), start, start + 1, True)]
    return [_Slice(output, start, start + length, False)] if consumers(output) else []


def _is_transposed(output: Output, reshaped: bool) -> bool:
    if reshaped:
        node = only_consumer(output)
        if node is None or node.get_type_name() != "Reshape":
            return False
        output = node.output(0)
    readers = consumers(output)
    return bool(readers) and all(reader.get_node().get_type_name() == "Transpose" for reader in readers)


def _columns(array: AnyArray, element_type: Type, split: _Split, piece: _Slice, axis: int) -> AnyArray:
    """The elements of one slice along an axis that the sizes split, scaled."""
    shape, within = array.shape, split.axis - (split.rank - len(split.sizes))
    parts = array.reshape(*shape[:axis], *split.sizes, *shape[axis + 1 :])
    chosen = parts[(slice(None),) * (axis + within) + (slice(piece.start, piece.stop),)]
    if piece.scale is not None:
        numbers = bits_to_values(chosen, element_type)
        scaled = numbers * numbers.dtype.type(piece.scale)
        chosen = bfloat16_bits(scaled) if element_type == Type.bf16 else scaled
    columns: AnyArray = np.ascontiguousarray(chosen).reshape(*shape[:axis], -1, *shape[axis + 1 :])
    return columns


def _slice_shape(reshape: Node, split: _Split, piece: _Slice) -> Node:
    """The target shape of one slice: that of the original Reshape with another size, or none, along the axis."""
    source, lead, sizes = reshape.input_value(1), split.rank - len(split.sizes), list(split.sizes)
    known = ints_of(source)
    within = split.axis - lead
    sizes[within : within + 1] = [] if piece.squeezed else [piece.stop - piece.start]
    if known is not None:
        return ints(known[:lead] + sizes)
    leading = ops.slice(source, ints([0]), ints([lead]), ints([1]))
    return ops.concat([leading, ops.constant(sizes, source.get_element_type())], 0)
