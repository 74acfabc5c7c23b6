"""Concatenation, stacking and splitting of tensors.

Paddle: `concat`, `stack`, `split`, `split_with_num`, `unstack`, `unbind`, `broadcast_tensors`, `meshgrid`,
`partial_concat`, `partial_sum`.
Semantics: `paddle/phi/infermeta/multiary.cc` (ConcatInferMeta, StackInferMeta, MeshgridInferMeta),
`paddle/phi/infermeta/unary.cc` (SplitInferMeta, UnStackInferMeta, UnbindInferMeta).
Refused: an axis of `stack` that is computed by the program; a negative start_index of partial_sum.
"""

from __future__ import annotations

from functools import reduce

from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor
from paddle2ov.converters.graph.computed_axis import computed_axis, front_permutations
from paddle2ov.converters.graph.dims import input_along_axis, normalize_axis, rank_of, shape_of
from paddle2ov.errors import OpConversionError
from paddle2ov.graph.expected_dims import expect_dims
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.graph.values import UNKNOWN_LOD, LoDTensor, SequenceLengths
from paddle2ov.graph.workarounds import works_around
from paddle2ov.program.budget import check_rank
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def concat(node: NodeContext) -> NamedOutputs:
    """out = the tensors of x concatenated along axis."""
    tensors = node.get_inputs("x")
    rank = max(rank_of(node, x) for x in tensors)
    if rank > 1 and not node.is_known("axis"):
        front, back = front_permutations(computed_axis(node, rank), rank)
        return {"out": ops.transpose(ops.concat([ops.transpose(x, front) for x in tensors], 0), back)}
    axis = normalize_axis(node, node.get_int("axis", 0), rank) if node.is_known("axis") else 0
    out = tensors[0] if len(tensors) == 1 else ops.concat(tensors, axis)
    return {"out": _sequences_of_all(node, out, len(tensors)) if axis == 0 and len(tensors) > 1 else out}


def _sequences_of_all(node: NodeContext, out: Tensor, count: int) -> Tensor | LoDTensor:
    """The rows of several tensors, with the sequences (LoD) of all of them, if all have some."""
    if not all(node.has_sequences("x", i) for i in range(count)):
        return out
    try:
        lengths = [input_lengths for i in range(count) if (input_lengths := node.sequence_lengths("x", i)) is not None]
    except OpConversionError:  # raised again by what needs them
        return LoDTensor(output_of(out), UNKNOWN_LOD)
    return LoDTensor(output_of(out), SequenceLengths(output_of(ops.concat(lengths, 0))))


def stack(node: NodeContext) -> NamedOutputs:
    """y = the tensors of x stacked along a new axis."""
    tensors = node.get_inputs("x")
    rank = rank_of(node, tensors[0])
    axis = normalize_axis(node, node.get_int("axis", 0), rank + 1)
    parts = [ops.unsqueeze(x, ints(axis)) for x in tensors]
    return {"out": parts[0] if len(parts) == 1 else ops.concat(parts, axis)}


def split(node: NodeContext) -> NamedOutputs:
    """out = consecutive slices of x along axis: of the lengths `sections` (one may be -1), or num equal ones."""
    if node.is_known("axis"):
        x, _, axis = input_along_axis(node, 0)
        return {"out": _split(node, x, axis)}
    x = node.get_input("x")
    rank = rank_of(node, x)
    front, back = front_permutations(computed_axis(node, rank), rank)
    return {"out": [ops.transpose(part, back) for part in _split(node, ops.transpose(x, front).output(0), 0)]}


def _split(node: NodeContext, x: Output, axis: int) -> list[Output]:
    count = node.get_output_size("out")
    number = node.get_int("num", 0)
    has_sections = node.has_input("sections") or len(node.get_attribute("sections", [])) > 0
    if number > 0 or not has_sections:
        # OpenVINO makes any number of slices, whatever there is to split.
        node.require(number == count, f"the operator has {count} results", num=number)
        return _split_equally(x, axis, count)
    if count == 1:
        return [x]
    lengths: Tensor = node.get_tensor("sections", Type.i64)
    if node.is_known("sections"):
        sections = node.get_ints("sections")
        dim = x.get_partial_shape()[axis]
        if -1 in sections and dim.is_dynamic:
            return _split_around(x, axis, sections)
        if -1 in sections:
            sections[sections.index(-1)] = int(dim.get_length()) - sum(size for size in sections if size != -1)
        lengths = ints(sections)
    return list(ops.variadic_split(x, ints(axis), lengths).outputs())


@works_around("split_beyond_the_tensor")
def _split_around(x: Output, axis: int, sections: list[int]) -> list[Output]:
    """Slices of an axis of unknown size, one of which has what the others leave.

    OpenVINO's CPU plugin (2026.4) reads memory beyond the tensor where the others are longer than the axis.
    """
    rest = sections.index(-1)
    before, after = sections[:rest], sections[rest + 1 :]
    first, last = ints([sum(before)]), ints([-sum(after) if after else OPEN_END])
    head = _split_known(slice_along(x, ints([0]), first, axis).output(0), axis, before)
    left = slice_along(x, first, ints([OPEN_END]), axis).output(0)
    middle = slice_along(left, ints([0]), last, axis).output(0)
    tail = _split_known(slice_along(left, last, ints([OPEN_END]), axis).output(0), axis, after)
    return [*head, middle, *tail]


def _split_known(x: Output, axis: int, sections: list[int]) -> list[Output]:
    if not sections:
        return []
    x = expect_dims(x, {axis: sum(sections)})
    return [x] if len(sections) == 1 else list(ops.variadic_split(x, ints(axis), ints(sections)).outputs())


def unstack(node: NodeContext) -> NamedOutputs:
    """out[i] = x[i] along axis."""
    x, _, axis = input_along_axis(node, 0, "input" if node.op_type == "unbind" else "x")
    parts = _split_equally(x, axis, node.get_output_size("out"))
    return {"out": [ops.squeeze(part, ints(axis)) for part in parts]}


def broadcast_tensors(node: NodeContext) -> NamedOutputs:
    """out[i] = input[i] broadcast to the shape that all inputs share."""
    first, *others = node.get_inputs("input")
    whole: Tensor = first
    for other in others:
        whole = _broadcast_with(whole, other)
    return {"out": [whole, *(_broadcast_with(x, whole) for x in others)]}


def _column_slices(node: NodeContext) -> list[Node]:
    start, length = node.get_int("start_index", 0), node.get_int("length", -1)
    # A negative start counts from the end, where start + length may reach 0: the end itself.
    stop = start + length
    end = OPEN_END if length < 0 or (start < 0 and stop >= 0) else stop
    return [slice_along(x, ints([start]), ints([end]), 1) for x in node.get_inputs("x")]


def partial_concat(node: NodeContext) -> NamedOutputs:
    """out = the columns start_index : start_index + length of the matrices of x, concatenated."""
    parts = _column_slices(node)
    return {"out": parts[0] if len(parts) == 1 else ops.concat(parts, 1)}


def partial_sum(node: NodeContext) -> NamedOutputs:
    """out = the sum of the columns start_index : start_index + length of the matrices of x."""
    start = node.get_int("start_index", 0)
    node.require(start >= 0, "Paddle reads foreign memory where it is negative", start_index=start)
    return {"out": reduce(ops.add, _column_slices(node))}


def meshgrid(node: NodeContext) -> NamedOutputs:
    """out[i][j0, j1, ...] = inputs[i][ji]."""
    tensors = [ops.reshape(x, ints([-1]), False) for x in node.get_inputs("inputs")]
    check_rank(len(tensors))
    shape = ops.concat([shape_of(x) for x in tensors], 0) if len(tensors) > 1 else shape_of(tensors[0])
    return {"out": [ops.broadcast(x, shape, ints([i]), "EXPLICIT") for i, x in enumerate(tensors)]}


def _split_equally(x: Output, axis: int, count: int) -> list[Output]:
    if count == 1:
        return [x]
    return list(ops.split(x, ints(axis), count).outputs())


def _broadcast_with(x: Tensor, other: Tensor) -> Tensor:
    """`x` broadcast bidirectionally with the shape of another tensor (a 0-D one changes nothing)."""
    if output_of(other).get_partial_shape().rank == 0:
        return x
    return ops.broadcast(x, shape_of(other), None, "BIDIRECTIONAL")
