"""Permutations, simplified by dropping axes of size 1 and merging axes that stay adjacent."""

from __future__ import annotations

from collections.abc import Sequence

from openvino import Output

from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import Dims, dims_of


def simplify_perm(dims: Sequence[int | None], perm: Sequence[int]) -> list[int]:
    """The simplified permutation; `[]` or `[0]` where no element moves.

    A dynamic dimension is never assumed to be 1.

        [1, 0, 2] of [1, 8, 5]        -> [0]        8 and 5 stay adjacent
        [0, 2, 3, 1] of [1, 8, 5, 5]  -> [1, 0]     one matrix
        [0, 2, 3, 1] of [?, 8, 5, 5]  -> [0, 2, 1]  a batch of matrices
    """
    moving = [axis for axis in perm if dims[axis] != 1]
    kept = {axis: i for i, axis in enumerate(sorted(moving))}
    groups: list[int] = []  # the first axis of each
    last = -2
    for axis in (kept[axis] for axis in moving):
        if axis != last + 1:
            groups.append(axis)
        last = axis
    ranks = {axis: i for i, axis in enumerate(sorted(groups))}
    return [ranks[axis] for axis in groups]


def perm_kind(order: Sequence[int]) -> str:
    """The kind of a simplified permutation, as reports count it."""
    if len(order) <= 1:
        return "reshape"
    if list(order) in ([1, 0], [0, 2, 1]):
        return "2-D"
    return f"{len(order)}-D"


def moves_elements(dims: Dims | None, perm: Sequence[int]) -> bool:
    """Whether a permutation moves more than axes of size 1; True if the rank is not known."""
    return dims is None or perm_kind(simplify_perm(dims, perm)) != "reshape"


def compose(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """The permutation of two consecutive transposes."""
    return [first[axis] for axis in second]


def inverse(perm: Sequence[int]) -> list[int]:
    """The inverse permutation."""
    return sorted(range(len(perm)), key=perm.__getitem__)


def permute(x: Output, perm: Sequence[int]) -> Output:
    """`x` with its axes permuted: by a Reshape where no element moves, else by a Transpose; `x` if all axes stay."""
    if list(perm) == sorted(perm):
        return x
    dims = dims_of(x)
    if dims is not None and not moves_elements(dims, perm):
        return transpose_unit_axes(x, dims, perm)
    return ops.transpose(x, ints(perm)).output(0)


def transpose_unit_axes(x: Output, dims: Dims, perm: Sequence[int]) -> Output:
    """`x` transposed by a Reshape, where only axes of size 1 move."""
    unknown = [i for i, axis in enumerate(perm) if dims[axis] is None and axis != i]
    if len(unknown) <= 1 and (not unknown or 0 not in dims):
        target = []
        for i, axis in enumerate(perm):
            dim = dims[axis]
            target.append(dim if dim is not None else (-1 if i in unknown else 0))
        return ops.reshape(x, ints(target), 0 not in dims).output(0)
    # A Reshape can infer only one dimension.
    ones = [axis for axis, dim in enumerate(dims) if dim == 1]
    added = [i for i, axis in enumerate(perm) if dims[axis] == 1]
    squeezed = ops.squeeze(x, ints(ones))
    return ops.unsqueeze(squeezed, ints(added)).output(0)


def is_layout_change(perm: list[int] | None) -> bool:
    """Whether a known permutation is a change between channels-first and channels-last, or of batch and time steps."""
    if perm is None:
        return False
    last = len(perm) - 1
    between = list(range(1, last))
    return perm == [1, 0, 2] or (2 <= last <= 4 and perm in ([0, last, *between], [0, *between[1:], last, 1]))
