"""How many labels must change to make one sequence of another.

Paddle: `edit_distance`.
Semantics: `paddle/phi/kernels/cpu/edit_distance_kernel.cc`.
Sequences without given lengths lie one after the other: see `paddle2ov.converters.packed`.
"""

from __future__ import annotations

from openvino import Model, Node, Output, Type

from paddle2ov.converters.common import ints, shape_of
from paddle2ov.converters.packed import Tensor, batch_of
from paddle2ov.node_context import NamedOutputs, NodeContext
from paddle2ov.opset import ops
from paddle2ov.types import Packed


def edit_distance(node: NodeContext) -> NamedOutputs:
    """out = the least number of insertions, deletions and replacements (Levenshtein); by the length of refs."""
    hyps, hyps_length, one_by_one = batch_of(node, "hyps", "hypslength")
    refs, refs_length, _ = batch_of(node, "refs", "refslength")
    if one_by_one is not None:
        hyps, refs = (ops.squeeze(x, ints([2])) for x in (hyps, refs))
    row = _last_row(hyps, refs, hyps_length)
    # Of the shorter sequence's row the column that the other one's length names.
    columns = ops.unsqueeze(refs_length, ints([1]))
    out: Node = ops.convert(ops.gather_elements(row, columns, 1), Type.f32)
    if node.get_attribute("normalized", False):
        out = ops.divide(out, ops.convert(columns, Type.f32))
    return {"out": Packed(out, 0), "sequencenum": Packed(ops.gather(shape_of(hyps), ints([0]), ints(0)), 0)}


def _last_row(hyps: Tensor, refs: Tensor, lengths: Tensor) -> Output:
    """[batch, columns + 1]: the distances between the whole of hyps and every beginning of refs."""
    columns = ops.gather(shape_of(refs), ints([1]), ints(0))
    places = ops.range(ints(0), ops.add(ops.squeeze(columns, ints([0])), ints(1)), ints(1), "i64")

    step = ops.parameter([], Type.i64)
    label = ops.parameter([-1, 1], hyps.get_element_type())
    before = ops.parameter([-1, -1], Type.i64)
    others = ops.parameter([-1, -1], refs.get_element_type())
    until = ops.parameter([-1], Type.i64)
    inserted = ops.parameter([-1, -1], Type.i64)
    one = ops.add(before, ints(1))
    replaced = ops.add(
        ops.slice(before, ints([0]), ints([-1]), ints([1]), ints([1])),
        ops.convert(ops.not_equal(label, others), Type.i64),
    )
    from_above = ops.minimum(ops.slice(one, ints([1]), ints([2**31 - 1]), ints([1]), ints([1])), replaced)
    first = ops.slice(one, ints([0]), ints([1]), ints([1]), ints([1]))
    # row[j] = the least of from_above[k] and the insertions from k to j, over k <= j.
    each = ops.add(ops.unsqueeze(ops.concat([first, from_above], 1), ints([1])), inserted)
    row = ops.reduce_min(each, ints([2]), False)
    after = ops.result(ops.select(ops.unsqueeze(ops.less(step, until), ints([1])), row, before))

    go_on = ops.result(ops.constant(True))
    rounds = ops.gather(shape_of(hyps), ints(1), ints(0))
    loop = ops.loop(rounds.output(0), ops.constant(True).output(0))
    loop.set_function(Model([go_on, after], [step, label, before, others, until, inserted]))
    loop.set_special_body_ports([0, 0])
    loop.set_sliced_input(label, _output(hyps), 0, 1, 1, -1, 1)
    batch = ops.gather(shape_of(hyps), ints([0]), ints(0))
    start = ops.broadcast(places, ops.concat([batch, ops.add(columns, ints([1]))], 0))
    loop.set_merged_input(before, start.output(0), after.output(0))
    loop.set_invariant_input(others, _output(refs))
    loop.set_invariant_input(until, _output(lengths))
    distance = ops.subtract(ops.unsqueeze(places, ints([1])), places)
    none = ops.less(distance, ints(0))
    loop.set_invariant_input(inserted, ops.select(none, ints(2**24), distance).output(0))
    last: Output = loop.get_iter_value(after.output(0), -1)
    loop.validate_and_infer_types()
    return last


def _output(value: Tensor) -> Output:
    return value.output(0) if isinstance(value, Node) else value
