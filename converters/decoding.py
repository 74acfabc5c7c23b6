"""Decoding of sequences of labels.

Paddle: `viterbi_decode`, `crf_decoding`, `gather_tree`, `ctc_align`.
Semantics: `paddle/phi/kernels/cpu/{viterbi_decode,crf_decoding,gather_tree}_kernel.cc`,
`paddle/phi/kernels/impl/ctc_align_kernel_impl.h`.
Sequences without given lengths are LoD tensors: see `paddle2ov.converters.lod.sequences`.
"""

from __future__ import annotations

from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const_like, dim_of, dim_vector, index_range, shape_of
from paddle2ov.converters.graph.loops import Outputs, scan
from paddle2ov.converters.lod.sequences import batch_input, from_dense, to_dense
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.slices import OPEN_END, reverse_along, slice_along
from paddle2ov.graph.values import UNKNOWN_LOD, LoDTensor
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def viterbi_decode(node: NodeContext) -> NamedOutputs:
    """scores, path = the best sum of potentials and transitions of each sequence, and its labels (0 after its end).

    With `include_bos_eos_tag` the last but one row of the transitions is added at the end, the last one at the start.
    """
    x, transitions = node.get_input("potentials"), node.get_input("transition_params")
    lengths = cast_to(node.get_input("lengths"), Type.i64)
    score, path = _best_path(x, transitions, lengths, node.get_bool("include_bos_eos_tag", True))
    return {"scores": score, "path": path}


def _best_path(x: Tensor, transitions: Output, lengths: Tensor, with_tags: bool) -> tuple[Node, Output]:
    # The path is as long as the longest sequence.
    steps = ops.reduce_max(lengths, ints([0]), False)
    used = slice_along(x, ints([0]), ops.unsqueeze(steps, ints([0])), 1).output(0)
    remaining = ops.unsqueeze(lengths, ints([1])).output(0)
    alpha, history = _forward(used, transitions, remaining, with_tags)
    best = ops.topk(alpha, ints(1), 1, "max", "value", index_element_type=Type.i64, stable=True)
    path = _backward(history, best.output(1), remaining, steps.output(0))
    return ops.squeeze(best.output(0), ints([1])), path


def crf_decoding(node: NodeContext) -> NamedOutputs:
    """viterbi_path = the labels of the best sum of emissions, transitions, start (row 0) and stop scores (row 1).

    With labels given: whether the path has them. 0 after the end of a sequence.
    """
    weights = node.get_input("transition")
    x, lengths, layout = batch_input(node, "emission", "length")
    start, stop = (ops.gather(weights, ints(row), ints(0)) for row in (0, 1))
    transitions = slice_along(weights, ints([2]), ints([OPEN_END]), 0).output(0)
    # Start and stop scores are those of the first and the last step.
    size = dim_of(x, 1)
    positions = ops.unsqueeze(index_range(size), ints([0, 2]))
    ends = ops.unsqueeze(ops.subtract(lengths, ints(1)), ints([1, 2]))
    scores: Tensor = x
    for position, score in ((ints(0), start), (ends, stop)):
        scores = ops.add(scores, ops.select(ops.equal(positions, position), score, const_like(0, x)))
    _, path = _best_path(output_of(scores), transitions, lengths, with_tags=False)
    length = dim_vector(path, [1])
    rest = ops.concat([ints([0]), ops.subtract(ops.unsqueeze(size, ints([0])), length)], 0)
    labels_of_path = ops.pad(path, ints([0, 0]), rest, "constant", ints(0))
    if node.has_input("label"):
        given: Tensor = cast_to(node.get_input("label"), Type.i64)
        given = given if layout is None else to_dense(given, layout, None)  # of the same LoD as the emissions
        labels = ops.reshape(given, shape_of(labels_of_path), False)
        inside = ops.less(ops.squeeze(positions, ints([2])), ops.unsqueeze(lengths, ints([1])))
        labels_of_path = ops.convert(ops.logical_and(inside, ops.equal(labels, labels_of_path)), Type.i64)
    if layout is None:
        return {"viterbi_path": labels_of_path}
    return {"viterbi_path": from_dense(ops.unsqueeze(labels_of_path, ints([2])), layout)}


def gather_tree(node: NodeContext) -> NamedOutputs:
    """out = the tokens of each beam, followed back from the last step through its parents."""
    ids, parents = node.get_input("ids"), node.get_input("parents")
    size = shape_of(ids)
    beams = index_range(ops.gather(size, ints(2), ints(0)))
    first = ops.broadcast(beams, ops.slice(size, ints([1]), ints([3]), ints([1])))

    def one_back(_: Tensor, slices: Outputs, state: Outputs, invariants: Outputs) -> tuple[list[Node], list[Node]]:
        positions = ops.unsqueeze(state[0], ints([0]))
        here, parent = (ops.gather_elements(part, positions, 2) for part in slices)
        return [ops.convert(ops.squeeze(parent, ints([0])), Type.i64)], [here]

    _, (out,) = scan(0, [reverse_along(one, [0]).output(0) for one in (ids, parents)], [first], [], one_back)
    return {"out": reverse_along(out, [0]).output(0)}


def ctc_align(node: NodeContext) -> NamedOutputs:
    """output = the labels without blanks, runs of equal ones merged, padded by padding_value; and their number.

    An LoD tensor has no padding; if it would be empty, it holds a single -1.
    """
    x, length, layout = batch_input(node, "input", "input_length")
    if layout is not None:
        x = ops.squeeze(x, ints([2])).output(0)
    kind = x.get_element_type()
    blank, merge = node.get_int("blank", 0), node.get_bool("merge_repeated", True)
    dims = shape_of(x)
    size = ops.gather(dims, ints(1), ints(0))
    positions = ops.unsqueeze(index_range(size), ints([0]))
    keep = ops.logical_and(
        ops.not_equal(x, const_like(blank, x)), ops.less(positions, ops.unsqueeze(length, ints([1])))
    )
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
    wide = ops.add(dims, ints([0, 1]))
    empty = ops.broadcast(const_like(node.get_int("padding_value", 0), x), wide)
    filled = ops.scatter_elements_update(empty, target, x, ints(1))
    out = slice_along(filled, ints([0]), ints([-1]), 1)
    number = ops.reduce_sum(ops.convert(keep, kind), ints([1]), True)
    return {"output": out, "output_length": number}


def _forward(x: Output, transitions: Output, lengths: Output, with_tags: bool) -> tuple[Output, Output]:
    """alpha [batch, labels]: the best score of a path that ends in each label; history: the label before, per step."""

    def forward(step: Tensor, slices: Outputs, state: Outputs, invariants: Outputs) -> tuple[list[Node], Outputs]:
        (now,), (before,), (table, length) = slices, state, invariants
        logit = ops.squeeze(now, ints([1]))
        sums = ops.add(ops.unsqueeze(before, ints([2])), table)
        best = ops.topk(sums, ints(1), 1, "max", "value", index_element_type=Type.i64, stable=True)
        moved = ops.add(ops.squeeze(best.output(0), ints([1])), logit)
        first = ops.add(logit, ops.gather(table, ints(-1), ints(0))) if with_tags else logit
        after = ops.select(ops.equal(step, ints(0)), first, moved)
        if with_tags:
            ends = ops.equal(ops.subtract(length, step), ints(1))
            stop = ops.gather(table, ints(-2), ints(0))
            after = ops.add(after, ops.select(ends, stop, const_like(0.0, stop)))
        # The first step counts even for a sequence of length 0.
        goes_on = ops.logical_or(ops.less(step, length), ops.equal(step, ints(0)))
        return [ops.select(goes_on, after, before)], [best.output(1)]

    first = ops.squeeze(slice_along(x, ints([0]), ints([1]), 1), ints([1]))
    start = ops.multiply(first, const_like(0, x))
    (final,), (history,) = scan(1, [x], [start], [transitions, lengths], forward)
    return final, history


def _backward(history: Output, last: Output, lengths: Output, steps: Output) -> Output:
    """path [batch, steps]: from the last label of each sequence to the first, 0 after its end."""

    def backward(done: Tensor, slices: Outputs, state: Outputs, invariants: Outputs) -> tuple[list[Node], list[Node]]:
        (before,), (label,), (length, total) = slices, state, invariants
        inside = ops.less(ops.subtract(ops.subtract(total, ints(1)), done), length)
        here = ops.select(inside, label, const_like(0, label))
        previous = ops.gather_elements(ops.squeeze(before, ints([1])), label, 1)
        return [ops.select(inside, previous, label)], [here]

    # `scan` only goes forwards.
    _, (path,) = scan(1, [reverse_along(history, [1]).output(0)], [last], [lengths, steps], backward)
    return reverse_along(path, [1]).output(0)
