"""Moves data only once that is rolled and split into windows, or merged and rolled back: Swin's shifted windows.

Given:
    x [B, H, W, C] → Roll(axes 1, 2) → Reshape [B, n, s, n, s, C] → Transpose [0, 1, 3, 2, 4, 5] → Reshape, or the
    inverse: any chain of Reshape, Transpose and Roll that nothing else reads, with at least two nodes that move data,
    one of them a Roll. Transposes and Rolls leave the first and the last axis in place; Reshapes may move windows into
    the batch, as long as the number of tokens of each node divides the largest. Only B may be dynamic.
Result:
    x → Reshape [B, H·W, C] → Gather(indices of the tokens) → Reshape.

Windows that are not shifted move only once anyway; the equivalent Transpose of rank 4, [B·n, s, n, s·C], takes as long
as that of rank 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from openvino import Node, Type

from paddle2ov.graph.arrays import affords_copy
from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.consumers import only_consumer
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of, known_dims
from paddle2ov.passes.computed_constants import large_constant
from paddle2ov.passes.constant_operands import perm_of
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import name_after, replace
from paddle2ov.passes.rule import at, require, rule
from paddle2ov.typing import AnyArray, known

_MAX_TOKENS = 1 << 22
"""Of an image, each of which has an index; 65,536 of an image of 1024 x 1024 in patches of 4 x 4."""


@rule("chains", "moves before", "moves after")
@at("Roll")
def gather_windows(graph: Graph, roll: Node) -> Counts | None:
    """Computes where each token comes from, and gathers the tokens of a chain around a Roll at once."""
    require(_only_moves_data(roll), "it rolls the first or the last axis, or sizes are unknown")
    chain = _chain(roll)
    if chain is None:
        return None
    moving = [node for node in chain if node.get_type_name() != "Reshape"]
    require(len(moving) >= 2, "nothing else moves the data")
    lengths = [math.prod(_inner_dims(node)) for node in moving]  # how many tokens of a batch item each moves
    length = max(lengths)
    require(not any(length % less for less in lengths), "the nodes of the chain divide the tokens differently")
    require(length <= _MAX_TOKENS and affords_copy(4 * length), "lists of tokens would take too much memory")
    indices = _gather_indices(moving, length)
    before, dims = known(dims_of(chain[0].input_value(0))), known(dims_of(chain[-1].output(0)))
    x = ops.reshape(chain[0].input_value(0), ints([-1, length, dims[-1] or 0]), False)
    moved = ops.gather(x, large_constant(indices.astype(np.int32), Type.i32), ints(1))
    name_after(moved, roll, "windows", *moving)
    after = [-1 if before[0] is not None or dims[0] is None else dims[0], *(dim or 0 for dim in dims[1:])]
    replace(chain[-1].output(0), ops.reshape(moved, ints(after), False).output(0))
    return {"chains": 1, "moves before": len(moving), "moves after": 1}


def _chain(roll: Node) -> list[Node] | None:
    """The chain around a Roll, in the order of the data, if this is its first Roll."""
    chain, width = [roll], _width(roll)
    while True:
        before = chain[0].input_value(0).get_node()
        if not _only_moves_data(before) or _width(before) != width or only_consumer(before.output(0)) is None:
            break
        if before.get_type_name() == "Roll":
            return None
        chain.insert(0, before)
    while True:
        follower = only_consumer(chain[-1].output(0))
        if follower is None or not _only_moves_data(follower) or _width(follower) != width:
            break
        chain.append(follower)
    return chain


def _only_moves_data(node: Node) -> bool:
    """Whether a node only moves data, within batch items."""
    kind = node.get_type_name()
    if kind not in ("Reshape", "Transpose", "Roll"):
        return False
    before, after = dims_of(node.input_value(0)), dims_of(node.output(0))
    if not before or not after or len(before) < 3 or len(after) < 3:
        return False
    if None in before[1:] or None in after[1:] or 0 in before[1:] or before[-1] != after[-1]:
        return False
    last = len(before) - 1
    if kind == "Transpose":
        perm = perm_of(node)
        return perm is not None and perm[0] == 0 and perm[last] == last
    if kind == "Roll":
        shifts, axes = ints_of(node.input_value(1)), ints_of(node.input_value(2))
        if shifts is None or axes is None:
            return False
        return all(axis % (last + 1) not in (0, last) for axis in axes)
    return True


def _width(node: Node) -> int | None:
    dims = dims_of(node.output(0))
    return dims[-1] if dims else None


def _inner_dims(node: Node) -> list[int]:
    return known(known_dims(known(dims_of(node.input_value(0)))[1:-1]))


def _gather_indices(moving: Sequence[Node], length: int) -> AnyArray:
    """The source index of each token of a batch item."""
    indices: AnyArray = np.arange(length)
    for node in moving:
        indices = indices.reshape(-1, *_inner_dims(node))
        if node.get_type_name() == "Transpose":
            indices = indices.transpose(known(perm_of(node))[:-1])
        else:
            rank = indices.ndim + 1
            shifts, axes = (known(ints_of(value)) for value in node.input_values()[1:])
            shifts = shifts * len(axes) if len(shifts) == 1 else shifts
            indices = np.roll(indices, shifts, [axis % rank for axis in axes])
        indices = indices.reshape(-1)
    return indices
