"""Which variables hold sequences (LoD) although the program does not declare them so.

A Paddle operator passes the LoD of its first operand on as it runs; a program declares what was known as it was
written. The boxes that `generate_proposals` gives for each image have LoD only in the run. The detectors of Paddle 1
scale, decode and clip such boxes, and then tell by their LoD which image each belongs to.
"""

from __future__ import annotations

import math

from paddle2ov.program.model import Operator, Program
from paddle2ov.program.signatures import signature
from paddle2ov.program.traits import with_trait


def undeclared_sequences(program: Program) -> set[str]:
    """The variables of the outermost block that hold the sequences of others without being declared so."""
    if program.format == "pir":  # which has no LoD
        return set()
    operators, makers, keepers = program.block.operators, with_trait("makes sequences"), with_trait("keeps sequences")
    made = {name for operator in operators if operator.type in makers for name in operator.output_names() if name}
    known = set(made)
    for operator in operators if made else ():
        if operator.type in keepers and _passes_on(operator, program, known):
            known.update(filter(None, operator.output_names()))
    return known - made


def _passes_on(operator: Operator, program: Program, sequences: set[str]) -> bool:
    """Whether the first operand holds sequences, and its rows stay what they are."""
    row = signature(operator.type)
    names = operator.inputs.get(row.operands[0]) if row is not None else None
    if not names or names[0] not in sequences:
        return False
    if "shape" in operator.attributes:
        size = _row_size(program, names[0])
        return size is not None and all(size == _row_size(program, name) for name in operator.outputs.get("out", ()))
    axes = operator.attributes.get("axes")
    return not isinstance(axes, list) or 0 not in axes


def _row_size(program: Program, name: str) -> int | None:
    """How many elements a row of the variable has, as declared."""
    variable = program.variables.get(name)
    sizes = (variable.shape or ())[1:] if variable is not None else ()
    return math.prod(sizes) if sizes and min(sizes) > 0 else None
