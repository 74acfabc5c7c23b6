"""Rolls, reshapes and transposes in a row are one move: Swin's shifted windows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from openvino import Node, Type

from paddle2ov.graph.opset import ops
from paddle2ov.passes.graph import (
    Counts,
    Graph,
    dims_of,
    ints,
    ints_of,
    name_after,
    only_consumer,
    perm_of,
    replace,
    weight,
)
from paddle2ov.program.model import AnyArray


def gather_windows(graph: Graph) -> Counts:
    """Data that is rolled and cut into windows, or put together and rolled back, moves once.

    Given:
        x [B, H, W, C] → Roll(axes 1, 2) → Reshape [B, n, s, n, s, C] → Transpose [0, 1, 3, 2, 4, 5] → Reshape, or
        the way back: any chain of Reshape, Transpose and Roll that nothing else reads, with at least two moves and one
        of them a Roll, that keeps the first axis first and the last one last. B may be unknown; the rest is not.
    Result:
        x → Reshape [B, H·W, C] → Gather(the places of the tokens) → Reshape. Windows that are not shifted move once as
        they are; the Transpose of rank 4 that theirs amounts to, [B·n, s, n, s·C], takes as long as that of rank 6.
    """
    counts = {"chains": 0, "moves before": 0, "moves after": 0}
    done: set[str] = set()
    for roll in graph.nodes("Roll"):
        if roll.get_name() in done:
            continue
        chain = _chain(roll)
        done.update(node.get_name() for node in chain)
        moves = sum(node.get_type_name() != "Reshape" for node in chain)
        if moves < 2 or not _lengths_fit(chain):
            continue
        places = _places(chain)
        before, dims = dims_of(chain[0].input_value(0)), dims_of(chain[-1].output(0))
        assert before is not None
        assert dims is not None
        batch = dims[0] if before[0] is None else None
        x = ops.reshape(chain[0].input_value(0), ints([-1, places.size, dims[-1] or 0]), False)
        moved = ops.gather(x, weight(places.astype(np.int32), Type.i32), ints(1))
        name_after(moved, roll.get_friendly_name(), "windows")
        after = [-1 if batch is None else batch, *(dim or 0 for dim in dims[1:])]
        replace(chain[-1].output(0), ops.reshape(moved, ints(after), False).output(0))
        counts["chains"] += 1
        counts["moves before"] += moves
        counts["moves after"] += 1
    if counts["chains"]:
        graph.changed()
    return counts


def _chain(roll: Node) -> list[Node]:
    """The nodes around a Roll that belong to one move, in the order of the data; empty if it is none itself."""
    if not _moves(roll):
        return []
    width = _width(roll)
    chain = [roll]
    while True:
        node = chain[0].input_value(0).get_node()
        if not _moves(node) or _width(node) != width or only_consumer(node.output(0)) is None:
            break
        chain.insert(0, node)
    while True:
        follower = only_consumer(chain[-1].output(0))
        if follower is None or not _moves(follower) or _width(follower) != width:
            break
        chain.append(follower)
    return chain


def _moves(node: Node) -> bool:
    """Whether a node only moves data, inside the items of a batch."""
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


def _inner(node: Node) -> list[int]:
    dims = dims_of(node.input_value(0))
    assert dims is not None
    return [dim for dim in dims[1:-1] if dim is not None]


def _lengths_fit(chain: Sequence[Node]) -> bool:
    lengths = [math.prod(_inner(node)) for node in chain if node.get_type_name() != "Reshape"]
    return all(max(lengths) % length == 0 for length in lengths)


def _places(chain: Sequence[Node]) -> AnyArray:
    """Where each token of a batch item comes from."""
    moving = [node for node in chain if node.get_type_name() != "Reshape"]
    length = max(math.prod(_inner(node)) for node in moving)
    places: AnyArray = np.arange(length)
    for node in moving:
        places = places.reshape(-1, *_inner(node))
        if node.get_type_name() == "Transpose":
            perm = perm_of(node)
            assert perm is not None
            places = places.transpose(perm[:-1])
        else:
            rank = places.ndim + 1
            shifts, axes = ints_of(node.input_value(1)), ints_of(node.input_value(2))
            assert shifts is not None
            assert axes is not None
            shifts = shifts * len(axes) if len(shifts) == 1 else shifts
            places = np.roll(places, shifts, [axis % rank for axis in axes])
        places = places.reshape(-1)
    return places
