"""Levenshtein distance of sequences of labels.

Paddle: `edit_distance`.
Semantics: `paddle/phi/kernels/cpu/edit_distance_kernel.cc`.
Sequences without given lengths are LoD tensors: see `paddle2ov.converters.lod.sequences`.
"""

from __future__ import annotations

from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, dim_vector, index_range
from paddle2ov.converters.graph.loops import Outputs, scan
from paddle2ov.converters.lod.sequences import batch_input
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.graph.values import NO_LOD, LoDTensor
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


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
    return {
        "out": LoDTensor(out, NO_LOD),
        "sequencenum": LoDTensor(dim_vector(hyps, [0]), NO_LOD),
    }


def _last_row(hyps: Tensor, refs: Tensor, lengths: Tensor) -> Output:
    """[batch, columns + 1]: the distances between hyps and every prefix of refs."""
    columns = dim_vector(refs, [1])
    positions = index_range(ops.add(ops.squeeze(columns, ints([0])), ints(1)))

    distance = ops.subtract(ops.unsqueeze(positions, ints([1])), positions)
    insertions = ops.select(ops.less(distance, ints(0)), ints(2**24), distance)

    def next_row(step: Tensor, slices: Outputs, state: Outputs, invariants: Outputs) -> tuple[list[Node], list[Node]]:
        (label,), (before,), (others, until, inserted) = slices, state, invariants
        deleted = ops.add(before, ints(1))
        replaced = ops.add(
            slice_along(before, ints([0]), ints([-1]), 1),
            ops.convert(ops.not_equal(label, others), Type.i64),
        )
        from_above = ops.minimum(slice_along(deleted, ints([1]), ints([OPEN_END]), 1), replaced)
        first = slice_along(deleted, ints([0]), ints([1]), 1)
        # row[j] = the least of from_above[k] and the insertions from k to j, over k <= j.
        each = ops.add(ops.unsqueeze(ops.concat([first, from_above], 1), ints([1])), inserted)
        row = ops.reduce_min(each, ints([2]), False)
        return [ops.select(ops.unsqueeze(ops.less(step, until), ints([1])), row, before)], []

    batch = dim_vector(hyps, [0])
    start = ops.broadcast(positions, ops.concat([batch, ops.add(columns, ints([1]))], 0))
    (last,), _ = scan(1, [hyps], [start], [refs, lengths, insertions], next_row)
    return last
