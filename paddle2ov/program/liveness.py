"""Which part of a program its results need."""

from __future__ import annotations

from collections.abc import Iterable

from paddle2ov.program.model import Block


def prune(block: Block, wanted: Iterable[str], given: Iterable[str] = ()) -> tuple[Block, set[str]]:
    """Drops the operators that `wanted` does not need.

    Args:
        block: the block; it is not changed.
        wanted: the variables to compute.
        given: variables that are provided from outside, so that what computes them is not needed either.

    Returns:
        The block with the operators that are left, and every variable that they, or `wanted`, read.
    """
    given = set(given)
    needed = set(wanted) - {""}
    kept = []
    for operator in reversed(block.operators):
        read = needed.intersection(operator.output_names())
        if not read or (given and read <= given):
            continue
        kept.append(operator)
        needed.update(operator.input_names())
        for inner in operator.blocks:
            if inner.reads is None:
                inner.reads = frozenset(prune(inner, inner.outputs)[1])
            needed |= inner.reads
    needed.discard("")
    return Block(block.index, kept[::-1], block.inputs, block.outputs), needed
