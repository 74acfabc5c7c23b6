"""Decoding of sequences of labels, and their distance.

Paddle: `viterbi_decode`, `crf_decoding`, `gather_tree`, `ctc_align`, `edit_distance`.
Semantics: `paddle/phi/kernels/cpu/{viterbi_decode,crf_decoding,gather_tree,edit_distance}_kernel.cc`,
`paddle/phi/kernels/impl/ctc_align_kernel_impl.h`.
Sequences without given lengths are LoD tensors: see `paddle2ov.converters.lod.sequences`.
"""

from __future__ import annotations

from collections.abc import Sequence

from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const_like
from paddle2ov.converters.graph.dims import dim_of, dim_range, dim_vector, index_range, shape_of
from paddle2ov.converters.graph.loops import Outputs, loop, scan
from paddle2ov.converters.graph.selection import one_of_each
from paddle2ov.converters.lod.sequences import (
    batch_input,
    continuations,
    goes_on,
    is_by_row,
    padded_lengths,
    rows_of_dense,
    to_dense,
)
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.graph.values import NO_LOD, UNKNOWN_LOD, LoDTensor, SequenceLayout, SequenceLengths
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def viterbi_decode(node: NodeContext) -> NamedOutputs:
    """scores, path = the best sum of potentials and transitions of each sequence, and its labels (0 after its end).

    With `include_bos_eos_tag` the last but one row of the transitions is added at the end, the last one at the start.
    """
    x, transitions = node.get_input("potentials"), node.get_input("transition_params")
    lengths = cast_to(node.get_input("lengths"), Type.i64)
    # The path is as long as the longest sequence.
    used = slice_along(x, ints([0]), ops.reduce_max(lengths, ints([0]), True), 1)
    start: Tensor = const_like(0, x)
    stop: Tensor = start
    if node.get_bool("include_bos_eos_tag", True):
        start, stop = (ops.gather(transitions, ints(row), ints(0)) for row in (-1, -2))
        # The first step counts even for a sequence of length 0, but does not end it.
        stop = ops.select(ops.greater(ops.unsqueeze(lengths, ints([1, 2])), ints(0)), stop, const_like(0, x))
    scores, path = _best_path(used, transitions, lengths, start, stop)
    return {"scores": scores, "path": path}


def crf_decoding(node: NodeContext) -> NamedOutputs:
    """viterbi_path = the labels of the best sum of emissions, transitions, start (row 0) and stop scores (row 1).

    With labels given: whether the path has them. 0 after the end of a sequence.
    """
    weights = node.get_input("transition")
    start, stop = (ops.gather(weights, ints(row), ints(0)) for row in (0, 1))
    transitions = slice_along(weights, ints([2]), ints([OPEN_END]), 0)
    if not node.has_input("length"):
        emission, layout = node.get_input("emission"), node.sequence_layout("emission")
        rows: Tensor = _path_of_sequences(emission, layout, transitions, start, stop)
        if node.has_input("label"):  # of the same LoD as the emissions
            row_labels = ops.reshape(cast_to(node.get_input("label"), Type.i64), shape_of(rows), False)
            rows = ops.convert(ops.equal(row_labels, rows), Type.i64)
        return {"viterbi_path": LoDTensor(output_of(rows), layout)}
    x, lengths, _ = batch_input(node, "emission", "length")
    _, path = _best_path(x, transitions, lengths, start, stop)
    if node.has_input("label"):
        labels = ops.reshape(cast_to(node.get_input("label"), Type.i64), shape_of(path), False)
        inside = ops.less(ops.unsqueeze(index_range(dim_of(x, 1)), ints([0])), ops.unsqueeze(lengths, ints([1])))
        path = ops.convert(ops.logical_and(inside, ops.equal(labels, path)), Type.i64)
    return {"viterbi_path": path}


def _path_of_sequences(x: Output, layout: SequenceLayout, transitions: Tensor, start: Tensor, stop: Tensor) -> Tensor:
    """The labels [rows, 1] of the best path of each sequence of x [rows, labels]."""
    if is_by_row(layout):
        ends = continuations(x, layout) if isinstance(layout, SequenceLengths) else ()
        return _path_by_row(x, ends, transitions, start, stop)
    dense = to_dense(x, layout)
    lengths = padded_lengths(dense, layout) if isinstance(layout, SequenceLengths) else None
    _, path = _best_path(dense, transitions, lengths, start, stop)
    return rows_of_dense(ops.unsqueeze(path, ints([2])), layout)


def _path_by_row(x: Output, ends: Sequence[Tensor], transitions: Tensor, start: Tensor, stop: Tensor) -> Tensor:
    """The same, row by row; of several sequences whether each row goes on from the row before, and to the next one."""
    start, stop = (ops.unsqueeze(value, ints([0])) for value in (start, stop))
    table = ops.transpose(transitions, ints([1, 0]))  # [label, label before]

    def forward(slices: Outputs, state: Outputs, invariants: Outputs) -> tuple[list[Node], list[Node]]:
        emission, *continuation = slices
        before: Tensor = state[0]
        for item in continuation:
            before = ops.select(goes_on(item), before, invariants[1])
        scores = ops.add(before, emission)
        return [ops.unsqueeze(ops.reduce_max(ops.add(scores, invariants[0]), ints([1]), False), ints([0]))], [scores]

    def backward(slices: Outputs, state: Outputs, invariants: Outputs) -> tuple[list[Node], list[Node]]:
        scores, *continuation = slices
        following: Tensor = state[0]
        for item in continuation:
            following = ops.select(goes_on(item), following, invariants[1])
        _, label = _best_label(ops.add(scores, following), 1)
        return [ops.gather(invariants[0], label, ints(0))], [label]

    (scores,) = scan(0, [x, *ends[:1]], [start], [table, start], forward)
    (path,) = scan(0, [scores, *ends[1:]], [stop], [table, stop], backward, reverse=True)
    return ops.unsqueeze(path, ints([1]))


def _best_path(
    x: Tensor, transitions: Tensor, lengths: Tensor | None, start: Tensor, stop: Tensor
) -> tuple[Node, Node]:
    """The best sum of each sequence [batch, steps, labels], and its labels; None for lengths: all steps count."""
    table = ops.transpose(transitions, ints([1, 0]))  # [label, label before]

    def forward(slices: Outputs, state: Outputs, invariants: Outputs) -> tuple[list[Node], list[Node]]:
        best = ops.reduce_max(ops.add(state[0], invariants[0]), ints([2]), False)
        after = ops.add(ops.unsqueeze(best, ints([1])), slices[0])
        return [after], [after]

    first = ops.add(ops.gather(x, ints([0]), ints(1)), start)
    others = slice_along(x, ints([1]), ints([OPEN_END]), 1)
    scores = ops.concat([first, *scan(1, [others], [first], [table], forward)], 1)
    sliced: list[Tensor] = [scores]
    invariants: list[Tensor] = [table]
    if lengths is None:
        last = ops.gather(scores, ints([-1]), ints(1))
    else:
        lengths = ops.unsqueeze(lengths, ints([1]))
        ends = ops.maximum(ops.subtract(lengths, ints(1)), ints(0))
        last = one_of_each(scores, ends)
        positions = ops.unsqueeze(index_range(dim_of(x, 1)), ints([0]))
        sliced.append(positions)
        invariants.append(ends)
    best, label = _best_label(ops.add(last, stop))

    def backward(slices: Outputs, state: Outputs, invariants: Outputs) -> tuple[list[Node], list[Node]]:
        _, before = _best_label(ops.add(slices[0], ops.gather(invariants[0], state[0], ints(0))))
        if lengths is not None:
            before = ops.select(ops.less(slices[1], invariants[1]), before, state[0])
        return [before], [before]

    sliced = [slice_along(item, ints([0]), ints([-1]), 1) for item in sliced]
    path: Node = ops.concat([*scan(1, sliced, [label], invariants, backward, reverse=True), label], 1)
    if lengths is not None:
        path = ops.select(ops.less(positions, lengths), path, ints(0))
    return ops.squeeze(best, ints([1, 2])), path


def _best_label(scores: Tensor, axis: int = 2) -> tuple[Output, Node]:
    """The best of scores [batch, 1, labels] or [1, labels], and its label [batch, 1] or [1]."""
    best = ops.topk(scores, ints(1), axis, "max", "value", index_element_type=Type.i64, stable=True)
    return best.output(0), ops.squeeze(best.output(1), ints([axis]))


def gather_tree(node: NodeContext) -> NamedOutputs:
    """out = the tokens of each beam, followed back from the last step through its parents."""
    ids, parents = node.get_input("ids"), node.get_input("parents")
    first = ops.broadcast(index_range(dim_of(ids, 2)), dim_range(ids, 1))

    def one_back(slices: Outputs, state: Outputs, invariants: Outputs) -> tuple[list[Node], list[Node]]:
        positions = ops.unsqueeze(state[0], ints([0]))
        here, parent = (ops.gather_elements(part, positions, 2) for part in slices)
        return [ops.convert(ops.squeeze(parent, ints([0])), Type.i64)], [here]

    (out,) = scan(0, [ids, parents], [first], [], one_back, reverse=True)
    return {"out": out}


def ctc_align(node: NodeContext) -> NamedOutputs:
    """output = the labels without blanks, runs of equal ones merged, padded by padding_value; and their number.

    An LoD tensor has no padding; if it would be empty, it holds a single -1.
    """
    x, length, layout = batch_input(node, "input", "input_length")
    if layout is not None:
        x = ops.squeeze(x, ints([2])).output(0)
    kind = x.get_element_type()
    blank, merge = node.get_int("blank", 0), node.get_bool("merge_repeated", True)
    size = dim_of(x, 1)
    positions = ops.unsqueeze(index_range(size), ints([0]))
    is_label, is_inside = ops.not_equal(x, const_like(blank, x)), ops.less(positions, ops.unsqueeze(length, ints([1])))
    keep = ops.logical_and(is_label, is_inside)
    if merge:
        padded = ops.pad(x, ints([0, 1]), ints([0, -1]), "constant", const_like(-1, x))
        keep = ops.logical_and(keep, ops.not_equal(x, padded))
    if layout is not None:
        left = ops.gather_nd(x, ops.transpose(ops.non_zero(keep, "i64"), ints([1, 0])))
        number = shape_of(left)
        nothing = ops.convert(ops.equal(number, ints([0])), Type.i64)
        filled = ops.pad(left, ints([0]), nothing, "constant", const_like(-1, x))
        return {"output": LoDTensor(ops.unsqueeze(filled, ints([1])), 1 if layout == 1 else UNKNOWN_LOD)}
    position = ops.cum_sum(ops.convert(keep, Type.i64), ints(1))
    # What is dropped goes to an extra column, which is cut off.
    target = ops.select(keep, ops.subtract(position, ints(1)), size)
    wide = ops.add(shape_of(x), ints([0, 1]))
    empty = ops.broadcast(const_like(node.get_int("padding_value", 0), x), wide)
    filled = ops.scatter_elements_update(empty, target, x, ints(1))
    out = slice_along(filled, ints([0]), ints([-1]), 1)
    number = ops.reduce_sum(ops.convert(keep, kind), ints([1]), True)
    return {"output": out, "output_length": number}


def edit_distance(node: NodeContext) -> NamedOutputs:
    """out = the least number of insertions, deletions and replacements; normalized divides by the length of refs."""
    hyps, hyps_length, one_by_one = batch_input(node, "hyps", "hypslength")
    refs, refs_length, _ = batch_input(node, "refs", "refslength")
    if one_by_one is not None:
        hyps, refs = (ops.squeeze(x, ints([2])) for x in (hyps, refs))
    row = _last_row(hyps, refs, hyps_length)
    # The column at the length of refs.
    columns = ops.unsqueeze(refs_length, ints([1]))
    out: Node = ops.convert(ops.gather_elements(row, columns, 1), Type.f32)
    if node.get_bool("normalized", False):
        out = ops.divide(out, ops.convert(columns, Type.f32))
    return {"out": LoDTensor(out, NO_LOD), "sequencenum": LoDTensor(dim_vector(hyps, [0]), NO_LOD)}


def _last_row(hyps: Tensor, refs: Tensor, lengths: Tensor) -> Output:
    """[batch, columns + 1]: the distances between hyps and every prefix of refs."""
    columns = dim_vector(refs, [1])
    positions = index_range(ops.add(ops.squeeze(columns, ints([0])), ints(1)))

    distance = ops.subtract(ops.unsqueeze(positions, ints([1])), positions)
    insertions = ops.select(ops.less(distance, ints(0)), ints(2**24), distance)

    def next_row(step: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], None]:
        (before,), (labels, others, until, inserted) = state, invariants
        label = ops.gather(labels, ops.unsqueeze(step, ints([0])), ints(1))
        deleted = ops.add(before, ints(1))
        differs = ops.convert(ops.not_equal(label, others), Type.i64)
        replaced = ops.add(slice_along(before, ints([0]), ints([-1]), 1), differs)
        from_above = ops.minimum(slice_along(deleted, ints([1]), ints([OPEN_END]), 1), replaced)
        first = slice_along(deleted, ints([0]), ints([1]), 1)
        # row[j] = the least of from_above[k] and the insertions from k to j, over k <= j.
        each = ops.add(ops.unsqueeze(ops.concat([first, from_above], 1), ints([1])), inserted)
        row = ops.reduce_min(each, ints([2]), False)
        return [ops.select(ops.unsqueeze(ops.less(step, until), ints([1])), row, before)], None

    batch = dim_vector(hyps, [0])
    start = ops.broadcast(positions, ops.concat([batch, ops.add(columns, ints([1]))], 0))
    (last,) = loop(dim_of(hyps, 1), [start], [hyps, refs, lengths, insertions], next_row)
    return last
