"""Keeps the rank of the scores where a mask per window is added: OpenVINO does not fuse attention of rank 5.

Given:
    scores [B·n, h, N, N] → Reshape [B, n, h, N, N] → Add(mask [1, n, 1 or h, 1 or N, 1 or N], possibly without the
    leading 1) → Reshape [B·n, h, N, N]. B may be unknown; so may n, if the Reshape takes it from the mask.
Result:
    scores → Add(mask [n, 1 or h, N, N], repeated B times). OpenVINO then runs the attention as one kernel. If B is
    known and the mask is constant, so is its repetition.
"""

from __future__ import annotations

import math

from openvino import Node, Output, Type

from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.consumers import key_of, only_consumer
from paddle2ov.graph.node_kinds import BINARY, REDUCTIONS, UNARY
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of, known_dims
from paddle2ov.graph.upstream import source_behind
from paddle2ov.passes.constant_operands import perm_of
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import name_after, replace
from paddle2ov.passes.rule import MatchFailureError, at, require, rule
from paddle2ov.typing import known


@rule("masks")
@at("Add", needs=("Softmax",), reads=("Reshape",), read_by=("Reshape",))
def add_masks_to_scores(graph: Graph, add: Node) -> Counts | None:
    """The scores may be either operand if both are reshaped."""
    last = only_consumer(add.output(0))
    if last is None:
        return None
    sides = add.input_values()
    reshaped = [
        (value.get_node(), mask)
        for value, mask in (sides, sides[::-1])
        if value.get_node().get_type_name() == "Reshape" and only_consumer(value) is not None
    ]
    if not reshaped:
        return None
    fitting = [(first, mask) for first, mask in reshaped if _splits_batch(first, mask, last)]
    require(fitting, "the reshapes do not just split the first axis into images and windows")
    for first, mask in fitting:
        windows = _window_count(first, mask)
        if windows is not None:
            added = _add_repeated(first.input_value(0), mask, windows)
            name_after(added, add, "scores", first, last)
            replace(last.output(0), added.output(0))
            return {"masks": 1}
    raise MatchFailureError("the mask may have another number of windows")


def _add_repeated(scores: Output, mask: Output, windows: Output) -> Node:
    """Scores and their mask, which is repeated for each image; `windows`: how many there are of an image."""
    dims, shape = known(dims_of(scores)), known(dims_of(mask))
    inner = ([1] * (len(dims) + 1 - len(shape)) + [dim or 1 for dim in shape])[2:]
    flat = ops.reshape(mask, ints([-1, *inner]), False)
    length = ops.gather(ops.shape_of(_projection_input(scores) or scores, Type.i64), ints([0]), ints(0))
    times = ops.concat([ops.divide(length, windows), ints([1] * (len(dims) - 1))], 0)
    return ops.add(scores, ops.tile(flat, times))


def _splits_batch(first: Node, mask: Output, last: Node) -> bool:
    before, split, after = (dims_of(output) for output in (first.input_value(0), first.output(0), last.output(0)))
    shape = dims_of(mask)
    if not before or not split or not after or not shape or len(before) < 3 or len(split) != len(before) + 1:
        return False
    shape = [*[1] * (len(split) - len(shape)), *shape]
    same = before[1:] == split[2:] == after[1:] and None not in before[1:] and len(after) == len(before)
    return (
        same
        and split[1] != 1
        and len(shape) == len(split)
        and shape[0] == 1
        and shape[1] == split[1]
        and all(item == 1 or item == dim for item, dim in zip(shape[2:], split[2:], strict=True))
    )


def _window_count(first: Node, mask: Output) -> Output | None:
    """The number of windows per image; None if the mask may have another one, which would be broadcast."""
    split, target = known(dims_of(first.output(0))), first.input_value(1).get_node()
    if split[1] is not None:
        return ints([split[1]]).output(0)
    pieces = target.input_values()[:2] if target.get_type_name() == "Concat" else []
    if [dims_of(piece) for piece in pieces] != [[1], [1]]:
        return None
    gather = source_behind(pieces[1], ("Convert", "Unsqueeze"))
    if gather.get_type_name() != "Gather" or gather.input_value(0).get_node().get_type_name() != "ShapeOf":
        return None
    shape_source, index = gather.input_value(0).get_node().input_value(0), ints_of(gather.input_value(1))
    axis = 1 - len(split) + len(dims_of(mask) or [])
    while mask != shape_source:
        axes = ints_of(mask.get_node().input_value(1)) if mask.get_node().get_type_name() == "Unsqueeze" else None
        added = [item % len(dims_of(mask) or []) for item in axes or [axis]]
        if axis in added:
            return None
        axis -= sum(item < axis for item in added)
        mask = mask.get_node().input_value(0)
    if index is None or len(index) != 1 or index[0] % len(dims_of(shape_source) or []) != axis:
        return None
    number = ops.convert(pieces[1], Type.i64)
    return ops.maximum(number, ints([1])).output(0)  # no division by 0


def _projection_input(scores: Output) -> Output | None:
    """The tensor that queries and keys are projected from, if its first dimension is that of the scores.

    OpenVINO fuses attention into one kernel only if nothing else reads a tensor in between, not even for its shape.
    """
    projected: Output | None = None
    waiting, seen = [scores], {key_of(scores)}
    while waiting:
        value = waiting.pop()
        node = value.get_node()
        if node.get_type_name() == "MatMul" and len(dims_of(node.input_value(1)) or ()) == 2:
            source = node.input_value(0)
            apart = projected is not None and source != projected
            if apart or node.get_attributes()["transpose_a"] or len(dims_of(source) or ()) < 3:
                return None
            projected = source
            continue
        sources = _inputs_of_same_length(value)
        if not sources or len(seen) > _MAX_BETWEEN:
            return None
        for source in sources:
            if key_of(source) not in seen:
                seen.add(key_of(source))
                waiting.append(source)
    return projected


_MAX_BETWEEN = 50
"""Nodes between a projection and the scores. Attention has some twenty, with its queries and keys normalised."""


def _inputs_of_same_length(value: Output) -> list[Output]:
    """The inputs of a node whose first dimension is that of its output; none if no input has it."""
    node = value.get_node()
    kind, after = node.get_type_name(), dims_of(value)
    shapes = [dims_of(value) for value in node.input_values()]
    if not after or not shapes or None in shapes:
        return []
    before = shapes[0] or []
    if kind in BINARY or kind == "MatMul":
        shorter = [len(dims or ()) < len(after) or (dims or [1])[0] == 1 for dims in shapes]
        return [value for value, is_shorter in zip(node.input_values(), shorter, strict=True) if not is_shorter]
    if kind == "Transpose":
        same = (perm_of(node) or [1])[0] == 0
    elif kind == "Reshape":
        inner = known_dims(before[1:]), known_dims(after[1:])
        same = inner[0] is not None and inner[1] is not None and math.prod(inner[0]) == math.prod(inner[1])
    elif kind in REDUCTIONS:
        axes = ints_of(node.input_value(1))
        same = axes is not None and all(axis % len(before) for axis in axes)
    else:
        same = kind in UNARY or kind in _KEEP_SHAPES
    return [node.input_value(0)] if same else []


_KEEP_SHAPES = ("MVN", "NormalizeL2", "Softmax")
