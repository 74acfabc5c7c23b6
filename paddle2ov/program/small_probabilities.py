"""Marks each softmax whose smallest values the program tells from 0, by a logarithm or a comparison.

Paddle's kernel (`paddle/phi/kernels/funcs/softmax_impl.h`) takes logits that are more than 64 below the largest for 64
below it, so that no probability is less than e^-64 of the largest. OpenVINO's has no such bound: they are as small as
they are, and 0 from 88 on. That is the same number to sums and products, but not to what is named here.
"""

from __future__ import annotations

from msgspec.structs import replace

from paddle2ov.program.model import Block, Operator
from paddle2ov.program.traits import with_trait

TELLING = with_trait("tells from 0")
"""Operators to which a small number is not the same as 0."""

PASSING_ON = with_trait("passes on")
"""Operators that move small numbers, or make other small numbers of them."""


def mark_softmaxes_tested_against_zero(block: Block) -> Block:
    """Sets `bounded_logits` in the semantics of softmaxes whose results reach an operator that tells them from 0.

    What crosses the border of a branch or of a loop counts as tested.

    Args:
        block: the main block; it is not changed.

    Returns:
        The block with these operators replaced.
    """
    tested: set[str] = set()
    marked: set[int] = set()
    has_blocks = True
    for _ in range(2):  # a loop's next iteration may read what this one writes
        if has_blocks:
            has_blocks = _visit(block, tested, marked, set())

    def changed(operator: Operator) -> Operator:
        if id(operator) not in marked:
            return operator
        return replace(operator, semantics=replace(operator.semantics, bounded_logits=True))

    return block.mapped(changed) if marked else block


def _visit(block: Block, tested: set[str], marked: set[int], seen: set[int]) -> bool:
    """Walks the block backwards, from readers to what they read; whether there are inner blocks."""
    if id(block.operators) in seen:
        return True
    seen.add(id(block.operators))
    has_blocks = False
    for operator in reversed(block.operators):
        kind = operator.type
        if operator.blocks:
            has_blocks = True
            tested.update(operator.input_names())
            for inner in operator.blocks:
                tested.update(inner.outputs)
                _visit(inner, tested, marked, seen)
        elif kind in TELLING:
            tested.update(operator.input_names())
        elif kind == "softmax":
            if not tested.isdisjoint(operator.output_names()):
                marked.add(id(operator))
        elif kind in PASSING_ON and not tested.isdisjoint(operator.output_names()):
            tested.update(operator.input_names())
    return has_blocks
