"""A projection that several branches share is cut where they part: Swin, ViT, DeiT, SVTR, GPT, grouped queries."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.graph.opset import ops
from paddle2ov.passes.graph import (
    Counts,
    Graph,
    computed_constant_of,
    constant_of,
    consumers,
    dims_of,
    elements_of,
    ints,
    ints_of,
    large_constant,
    name_after,
    numbers_of,
    only_consumer,
    perm_of,
    replace,
    reshaped_dims,
    without,
)
from paddle2ov.passes.rule import Refusal, Rule
from paddle2ov.program.model import AnyArray

_PARTING = {"Gather", "Split", "VariadicSplit"}


@dataclass(frozen=True)
class _Shared:
    """A product that several branches may share: what there is of Add, Reshape and Transpose before they part."""

    matmul: Node
    add: Node | None
    bias: Output | None
    reshape: Node | None
    transpose: Node | None
    values: Output  # what the branches take their parts of


@dataclass(frozen=True)
class _Projection:
    matmul: Node
    add: Node | None
    matrix: AnyArray  # [features, out] or, transposed, [out, features]
    transposed: bool
    bias: AnyArray | None
    kind: Type  # of the elements of both


@dataclass(frozen=True)
class _Slice:
    output: Output  # what the branch reads now
    start: int
    stop: int
    squeezed: bool
    scale: float | None = None


@dataclass(frozen=True)
class _Split:
    reshape: Node | None
    transpose: Node | None
    sizes: list[int]  # what the projection's last axis is split into
    axis: int  # of the Reshape's result: where the parts lie
    rank: int  # of the Reshape's result
    perm: list[int] | None
    parts: list[_Slice]


class SplitQkv(Rule[_Shared, tuple[_Projection, _Split]]):
    """Attention reads q, k and v from projections of their own.

    Given:
        x → MatMul(weight [C, 3·h·d]) → Add(bias) → Reshape [B, N, 3, h, d] → Transpose [2, 0, 3, 1, 4] → q, k, v,
        each a Gather, Split or VariadicSplit along the axis of 3. The axis may stand elsewhere among those that the
        projection's last one is split into, the parts may differ in size, and Add, Reshape and Transpose may be
        missing: then each part must be transposed, or the cut would only make one product into three. The weight may
        be transposed, and a few nodes may compute the bias from constants, as Swin v2 does, whose keys have none.
    Result:
        x → MatMul(weight_q [C, h·d]) → Add(bias_q) → Reshape [B, N, h, d] → Transpose [0, 2, 1, 3] → q; k and v alike.
        A number that only q is multiplied by goes into its weight and bias; below float32 only a power of two does, as
        another would be rounded with each weight. OpenVINO's attention kernel and MatMul
        absorb transposes of that rank; a 5-D one is a pass over memory, and its three slices another one each where
        they are not contiguous.

    The parts of a weight are copies: the columns of [C, 3·h·d] are no contiguous memory, and OpenVINO hands out the
    memory of a Constant for reading only.
    """

    roots = ("Reshape", "Split", "VariadicSplit")
    needs = ("Transpose",)
    counts = ("projections", "parts", "scales")

    def pattern(self, graph: Graph, node: Node) -> _Shared | None:
        value = node.input_value(0)
        source = value.get_node()
        add, bias = None, None
        if source.get_type_name() == "Add":
            sides = source.input_values()
            for one, other in (sides, sides[::-1]):
                if one.get_node().get_type_name() == "MatMul":
                    add, source, bias = source, one.get_node(), other
                    break
        if source.get_type_name() != "MatMul":
            return None
        reshape = node if node.get_type_name() == "Reshape" else None
        values, transpose = node.output(0) if reshape else value, None
        follower = only_consumer(values)
        if reshape and follower is not None and follower.get_type_name() == "Transpose":
            values, transpose = follower.output(0), follower
        kinds = {reader.get_node().get_type_name() for reader in consumers(values)}
        return _Shared(source, add, bias, reshape, transpose, values) if kinds & _PARTING else None

    def check(self, graph: Graph, match: _Shared) -> tuple[_Projection, _Split]:
        return _projection(match), _find_split(match)

    def rewrite(self, graph: Graph, plan: tuple[_Projection, _Split]) -> Counts:
        projection, cut = plan
        lead = cut.rank - len(cut.sizes)
        x, add = projection.matmul.input_value(0), projection.add
        transpose_a = projection.matmul.get_attributes()["transpose_a"]
        for k, part in enumerate(cut.parts):
            columns = _columns(projection.matrix, projection.kind, cut, part, 0 if projection.transposed else 1)
            value = ops.matmul(x, large_constant(columns, projection.kind), transpose_a, projection.transposed)
            name_after(value, projection.matmul, k)
            if projection.bias is not None and add is not None:
                columns = _columns(projection.bias, projection.kind, cut, part, projection.bias.ndim - 1)
                value = ops.add(value, large_constant(columns, projection.kind))
                name_after(value, add, k)
            if cut.reshape is not None:
                target = _slice_shape(cut.reshape, lead, cut, part)
                value = ops.reshape(value, target, cut.reshape.get_attributes()["special_zero"])
                name_after(value, cut.reshape, k)
            if cut.transpose is not None and cut.perm is not None:
                perm = cut.perm
                if part.squeezed:
                    perm = [axis - (axis > cut.axis) for axis in perm if axis != cut.axis]
                value = ops.transpose(value, ints(perm))
                name_after(value, cut.transpose, k)
            replace(part.output, value.output(0))
        scales = sum(part.scale is not None for part in cut.parts)
        return {"projections": 1, "parts": len(cut.parts), "scales": scales}


def _projection(shared: _Shared) -> _Projection:
    node, bias = shared.matmul, None
    if shared.bias is not None:
        bias = computed_constant_of(shared.bias)
        if bias is None:
            raise Refusal("the bias is not constant")
    matrix = _matrix(node.input_value(1))
    if matrix is None or matrix.ndim != 2 or matrix.dtype.kind != "f":
        raise Refusal("the weight is no constant matrix of floating point")
    if not all(map(_is_read_once, (node, shared.add))):
        raise Refusal("something else reads the projection")
    transposed = bool(node.get_attributes()["transpose_b"])
    columns = matrix.shape[0 if transposed else 1]
    if bias is not None and (bias.size != columns or bias.shape[-1] != columns):
        raise Refusal("the bias is not one number for each column")
    return _Projection(node, shared.add, matrix, transposed, bias, node.get_output_element_type(0))


def _is_read_once(node: Node | None) -> bool:
    return node is None or only_consumer(node.output(0)) is not None


def _matrix(output: Output) -> AnyArray | None:
    """A weight; also one that is transposed, which its columns are copied from as well."""
    node = output.get_node()
    if node.get_type_name() != "Transpose" or perm_of(node) != [1, 0]:
        return constant_of(output)
    array = constant_of(node.input_value(0))
    return None if array is None else array.T


def _find_split(shared: _Shared) -> _Split:
    reshape = shared.reshape
    before = dims_of((shared.add or shared.matmul).output(0))
    if not before or before[-1] is None:
        raise Refusal(_UNKNOWN)
    after, sizes = (reshaped_dims(reshape), []) if reshape else (before, [before[-1]])
    if not after:
        raise Refusal(_UNKNOWN)
    while math.prod(sizes) < before[-1] and len(sizes) < len(after):
        size = after[-1 - len(sizes)]
        if size is None:
            raise Refusal(_UNKNOWN)
        sizes.insert(0, size)
    if math.prod(sizes) != before[-1]:
        raise Refusal("the reshape does not just split the last axis")
    perm = None if shared.transpose is None else perm_of(shared.transpose)
    if shared.transpose is not None and perm is None:
        raise Refusal("the order of the axes is computed")
    axis, parts = _slices(shared.values, after, perm)
    if axis < len(after) - len(sizes):
        raise Refusal("the parts are not of the axis that the projection computes")
    if perm is None and not all(_is_transposed(part.output, reshape is None) for part in parts):
        raise Refusal("a part is not transposed: one product is better than several")
    return _Split(reshape, shared.transpose, sizes, axis, len(after), perm, [_with_scale(part) for part in parts])


_UNKNOWN = "sizes of the projection are not known"


def _with_scale(part: _Slice) -> _Slice:
    """A part with the number that it is multiplied by, if nothing else is done to it."""
    reader = only_consumer(part.output)
    if reader is None or reader.get_type_name() != "Multiply":
        return part
    for source in reader.input_values():
        number = constant_of(source)
        if number is not None and number.size == 1 and number.ndim <= len(part.output.get_partial_shape()):
            scale = float(numbers_of(number.reshape(1), source.get_element_type())[0])
            if not _is_exact(scale, source.get_element_type()):
                return part
            return _Slice(reader.output(0), part.start, part.stop, part.squeezed, scale)
    return part


def _is_exact(scale: float, kind: Type) -> bool:
    """Whether weights may be multiplied by a number."""
    return kind in (Type.f32, Type.f64) or (abs(scale) <= 1 and abs(math.frexp(scale)[0]) == 0.5)


def _slices(values: Output, dims: list[int | None], perm: list[int] | None) -> tuple[int, list[_Slice]]:
    """The axis of the Reshape's result along which all consumers of `values` take their parts, and the parts."""
    axes: set[int] = set()
    parts: list[_Slice] = []
    for reader in consumers(values):
        node = reader.get_node()
        if node.get_type_name() not in _PARTING:
            raise Refusal("something else reads the projection")
        is_gather = node.get_type_name() == "Gather"
        axis = ints_of(node.input_value(2 if is_gather else 1)) if reader.get_index() == 0 else None
        if axis is None or len(axis) != 1:
            raise Refusal(_COMPUTED)
        at = axis[0] % len(dims)
        axes.add(at if perm is None else perm[at])
        size = dims[next(iter(axes))]
        if len(axes) > 1:
            raise Refusal("the parts are not all along one axis")
        if size is None:
            raise Refusal(_UNKNOWN)
        parts += _gather_slices(node, size) if is_gather else _split_slices(node, size, at)
    parts.sort(key=lambda part: part.start)
    if len(parts) < 2:
        raise Refusal("there is only one part")
    if any(one.stop > other.start for one, other in itertools.pairwise(parts)):
        raise Refusal("the parts overlap")
    return next(iter(axes)), parts


_COMPUTED = "which part is taken is computed"


def _gather_slices(node: Node, size: int) -> list[_Slice]:
    index = constant_of(node.input_value(1))
    if index is None or index.ndim != 0 or node.get_attributes()["batch_dims"] != 0:
        raise Refusal(_COMPUTED)
    start = int(index) % size
    return [_Slice(node.output(0), start, start + 1, True)]


def _split_slices(node: Node, size: int, axis: int) -> list[_Slice]:
    lengths = [size // len(node.outputs())] * len(node.outputs())
    if node.get_type_name() == "VariadicSplit":
        given = ints_of(node.input_value(2))
        if given is None:
            raise Refusal(_COMPUTED)
        lengths = [size - sum(given) - 1 if one == -1 else one for one in given]
    parts, start = [], 0
    for output, length in zip(node.outputs(), lengths, strict=True):
        parts += _past_squeeze(output, start, length, axis)
        start += length
    return parts


def _past_squeeze(output: Output, start: int, length: int, axis: int) -> list[_Slice]:
    """One part of a Split; of the Squeeze after it, if that is all that reads it."""
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


def _columns(array: AnyArray, kind: Type, cut: _Split, part: _Slice, axis: int) -> AnyArray:
    """The elements of one part along an axis that the sizes split, scaled."""
    shape, within = array.shape, cut.axis - (cut.rank - len(cut.sizes))
    split = array.reshape(*shape[:axis], *cut.sizes, *shape[axis + 1 :])
    chosen = split[(slice(None),) * (axis + within) + (slice(part.start, part.stop),)]
    if part.scale is not None:
        numbers = numbers_of(chosen, kind)
        chosen = elements_of(numbers * numbers.dtype.type(part.scale), kind)
    columns: AnyArray = np.ascontiguousarray(chosen).reshape(*shape[:axis], -1, *shape[axis + 1 :])
    return columns


def _slice_shape(reshape: Node, lead: int, cut: _Split, part: _Slice) -> Node:
    """The shape of one part: that of the whole with another size, or none, along the axis."""
    source = reshape.input_value(1)
    known = ints_of(source)
    sizes = list(cut.sizes)
    sizes[cut.axis - lead] = part.stop - part.start
    if part.squeezed:
        sizes = without(sizes, cut.axis - lead)
    if known is not None:
        return ints(known[:lead] + sizes)
    leading = ops.slice(source, ints([0]), ints([lead]), ints([1]))
    return ops.concat([leading, ops.constant(sizes, source.get_element_type())], 0)


split_qkv = SplitQkv()
