"""Decoding of sequences of labels.

Paddle: `viterbi_decode`.
Semantics: `paddle/phi/kernels/cpu/viterbi_decode_kernel.cc`.
"""

from __future__ import annotations

import numpy as np
from openvino import Model, Output, Type

from paddle2ov.converters.common import cast_to, const_like, ints
from paddle2ov.node_context import NamedOutputs, NodeContext
from paddle2ov.opset import ops


def viterbi_decode(node: NodeContext) -> NamedOutputs:
    """scores, path = the best sum of potentials and transitions of each sequence, and its labels (0 behind its end).

    With `include_bos_eos_tag` the last but one row of the transitions is added at the end, the last one at the start.
    """
    x, transitions = node.get_input("potentials"), node.get_input("transition_params")
    lengths = cast_to(node.get_input("lengths"), Type.i64)
    # The path is as long as the longest sequence.
    steps = ops.reduce_max(lengths, ints([0]), False)
    used = ops.slice(x, ints([0]), ops.unsqueeze(steps, ints([0])), ints([1]), ints([1])).output(0)
    remaining = ops.unsqueeze(lengths, ints([1])).output(0)
    alpha, history = _forward(
        used, transitions, remaining, steps.output(0), node.get_attribute("include_bos_eos_tag", True)
    )
    best = ops.topk(alpha, ints(1), 1, "max", "value", index_element_type=Type.i64, stable=True)
    path = _backward(history, best.output(1), remaining, steps.output(0))
    return {"scores": ops.squeeze(best.output(0), ints([1])), "path": path}


def _forward(x: Output, transitions: Output, lengths: Output, steps: Output, with_tags: bool) -> tuple[Output, Output]:
    """alpha [batch, labels]: the best score of a path that ends in each label; history: the label before, per step."""
    kind = x.get_element_type()
    dims = list(x.get_partial_shape())
    flat = [dims[0], dims[2]]
    step = ops.parameter([], Type.i64)
    now = ops.parameter([dims[0], 1, dims[2]], kind)
    before = ops.parameter(flat, kind)
    table = ops.parameter(transitions.get_partial_shape(), kind)
    length = ops.parameter(lengths.get_partial_shape(), Type.i64)

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
    # The first step counts for a sequence of length 0 too.
    goes_on = ops.logical_or(ops.less(step, length), ops.equal(step, ints(0)))
    alpha = ops.result(ops.select(goes_on, after, before))
    label_before = ops.result(best.output(1))
    go_on = ops.result(ops.constant(np.array(True)))

    loop = ops.loop(steps, ops.constant(np.array(True)).output(0))
    loop.set_function(Model([go_on, alpha, label_before], [step, now, before, table, length]))
    loop.set_special_body_ports([0, 0])
    loop.set_sliced_input(now, x, 0, 1, 1, -1, 1)
    start = ops.multiply(
        ops.squeeze(ops.slice(x, ints([0]), ints([1]), ints([1]), ints([1])), ints([1])), const_like(0, x)
    )
    loop.set_merged_input(before, start.output(0), alpha.output(0))
    loop.set_invariant_input(table, transitions)
    loop.set_invariant_input(length, lengths)
    final = loop.get_iter_value(alpha.output(0), -1)
    history = loop.get_concatenated_slices(label_before.output(0), 0, 1, 1, -1, 1)
    loop.validate_and_infer_types()
    return final, history


def _backward(history: Output, last: Output, lengths: Output, steps: Output) -> Output:
    """path [batch, steps]: from the last label of each sequence to the first, 0 behind its end."""
    dims = list(history.get_partial_shape())
    round_ = ops.parameter([], Type.i64)
    before = ops.parameter([dims[0], 1, dims[2]], Type.i64)
    label = ops.parameter([dims[0], 1], Type.i64)
    length = ops.parameter(lengths.get_partial_shape(), Type.i64)
    total = ops.parameter([], Type.i64)

    step = ops.subtract(ops.subtract(total, ints(1)), round_)
    inside = ops.less(step, length)
    here = ops.result(ops.select(inside, label, const_like(0, label)))
    previous = ops.gather_elements(ops.squeeze(before, ints([1])), label, 1)
    next_label = ops.result(ops.select(inside, previous, label))
    go_on = ops.result(ops.constant(np.array(True)))

    loop = ops.loop(steps, ops.constant(np.array(True)).output(0))
    loop.set_function(Model([go_on, here, next_label], [round_, before, label, length, total]))
    loop.set_special_body_ports([0, 0])
    loop.set_sliced_input(before, _flipped(history), 0, 1, 1, -1, 1)
    loop.set_merged_input(label, last, next_label.output(0))
    loop.set_invariant_input(length, lengths)
    loop.set_invariant_input(total, steps)
    path = loop.get_concatenated_slices(here.output(0), 0, 1, 1, -1, 1)
    loop.validate_and_infer_types()
    return _flipped(path)


def _flipped(x: Output) -> Output:
    """x with its second axis, the steps, turned round: a Loop slices and concatenates forwards only."""
    return ops.slice(x, ints([-1]), ints([np.iinfo(np.int64).min]), ints([-1]), ints([1])).output(0)
