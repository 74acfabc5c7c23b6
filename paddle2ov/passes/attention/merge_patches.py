"""Replaces strided slices that are concatenated along another axis by a Transpose: patch merging, the Focus of YOLOX.

The elements are moved once then, not by the slices and again by the Concat.

Given:
    x [B, H, W, C] → Slice(every other row and column) four times, each from another corner → Concat(axis 3), where
    nothing else reads the slices. There may be one strided axis or several, with any stride that divides its length,
    and the Concat may be along any axis; the offsets count up along one strided axis after the other, in any order of
    these. At most one dimension may be dynamic, and no strided one.
Result:
    x → Reshape [B, H/2, 2, W/2, 2, C] → Transpose [0, 1, 3, 4, 2, 5] → Reshape [B, H/2, W/2, 4·C].
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from openvino import Node, Output

from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.consumers import only_consumer
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import Dims, dims_of
from paddle2ov.graph.upstream import sources_of
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import name_after, replace
from paddle2ov.passes.rule import MatchFailureError, at, require, rule


@rule("joins", "slices")
@at("Concat", reads=("Slice",))
def merge_patches(graph: Graph, concat: Node) -> Counts | None:
    """Transposes the pixels of a patch side by side, in place of strided slices that are joined."""
    slices = sources_of(concat)
    if len(slices) < 2 or any(slice_.get_type_name() != "Slice" for slice_ in slices):
        return None
    x = slices[0].input_value(0)
    if any(slice_.input_value(0) != x for slice_ in slices):
        return None
    dims = dims_of(x)
    if dims is None or 0 in dims or dims.count(None) > 1:
        raise MatchFailureError("several sizes are not known, or 0")
    require(all(map(only_consumer, concat.input_values())), "something else reads a slice")
    steps = _steps([_strided_axes(slice_, dims) for slice_ in slices])
    if steps is None:
        raise MatchFailureError("the slices do not cover all offsets in order")
    merged = _space_to_depth(x, dims, steps, concat.get_attributes()["axis"] % len(dims))
    name_after(merged.get_node().input_value(0).get_node(), concat, "patches", *slices)
    replace(concat.output(0), merged)
    return {"joins": 1, "slices": len(slices)}


def _strided_axes(node: Node, dims: Dims) -> dict[int, tuple[int, int]]:
    """Axis -> (start, stride) of the strided axes of a Slice; `{}` if it leaves out anything else."""
    operands = [ints_of(source) for source in node.input_values()[1:]]
    if len(operands) == 3:
        operands.append(list(range(len(operands[0] or ()))))
    taken: dict[int, tuple[int, int]] = {}
    if None in operands:
        return taken
    for start, stop, step, axis in zip(*(item or [] for item in operands), strict=True):
        dim = dims[axis % len(dims)]
        if dim is None or step < 1 or dim % step:
            return {}
        first, last = (value + dim if value < 0 else value for value in (start, stop))
        if not 0 <= first < step or last <= dim - step + first:
            return {}
        if step > 1:
            taken[axis % len(dims)] = first, step
    return taken


def _steps(taken: Sequence[dict[int, tuple[int, int]]]) -> dict[int, int] | None:
    """The strided axes and their strides, the slowest to change first; None if the offsets do not count up."""
    steps = {axis: step for axis, (_, step) in taken[0].items()}
    if len(taken) != math.prod(steps.values()):
        return None
    if any({axis: step for axis, (_, step) in item.items()} != steps for item in taken):
        return None
    # The offsets of an axis that changes slowly are 0 for longer.
    zeros = {axis: next((i for i, item in enumerate(taken) if item[axis][0]), 0) for axis in steps}
    order = sorted(steps, key=zeros.__getitem__, reverse=True)
    counted = itertools.product(*(range(steps[axis]) for axis in order))
    in_order = [tuple(item[axis][0] for axis in order) for item in taken] == list(counted)
    return {axis: steps[axis] for axis in order} if in_order else None


def _space_to_depth(x: Output, dims: Dims, steps: dict[int, int], axis: int) -> Output:
    """`x` with the neighbours along the strided axes moved in front of `axis`."""
    lengths = [-1 if dim is None else dim // steps.get(i, 1) for i, dim in enumerate(dims)]
    positions: list[int] = []  # of each axis once the strided ones are split
    split: list[int] = []
    for i, length in enumerate(lengths):
        positions.append(len(split))
        split += [length, steps[i]] if i in steps else [length]
    perm = list(positions)
    perm[axis:axis] = [positions[i] + 1 for i in steps]
    if lengths[axis] != -1:
        lengths[axis] *= math.prod(steps.values())
    apart = ops.transpose(ops.reshape(x, ints(split), False), ints(perm))
    return ops.reshape(apart, ints(lengths), False).output(0)
