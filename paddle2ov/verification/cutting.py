"""Parts of a Paddle model as models of their own: an operator, or a block of an `if` or a `while`.

What a part reads becomes an input; weights, and what constants from outside of it are computed by, stay. The program's
file is edited, not written anew, so that the operators are those that the file holds: in a PIR program as JSON
(`cutting_pir.py`), in a legacy one as protobuf (`cutting_legacy.py`). Of a block, what works on tensor arrays is left
out, as arrays are neither fed nor fetched; what is written to them is a result.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from paddle2ov.program.files import ModelFiles
from paddle2ov.program.model import Operator
from paddle2ov.verification import cutting_legacy, cutting_pir
from paddle2ov.verification.editing import Cut, write_model
from paddle2ov.verification.values import Values


def extract(
    folder: Path, values: Values, operator: Operator, inputs: Collection[str], results: Sequence[str]
) -> ModelFiles | None:
    """Writes the model of an operator of the main block to a folder, with some variables as inputs and as results.

    None where the operator cannot stand alone: it owns blocks, or reads something that depends on the model's inputs
    and is not among `inputs`.
    """
    if operator.blocks:
        return None
    cutter = cutting_pir if values.program.format == "pir" else cutting_legacy
    cut = cutter.cut_operator(values.files, operator, inputs, results)
    return write_model(folder, cut.content, cut.weights, values.program) if cut is not None else None


def cut_body(folder: Path, values: Values, operator: Operator, block: int) -> tuple[ModelFiles, Cut] | None:
    """Writes the model of a block of an `if` or `while` of the main block to a folder.

    None where the block cannot stand alone: it is empty, the loop condition depends on tensor arrays, or it writes in
    place to an outer value.
    """
    cutter = cutting_pir if values.program.format == "pir" else cutting_legacy
    cut = cutter.cut_body(values, operator, block)
    return (write_model(folder, cut.content, cut.weights, values.program), cut) if cut is not None else None
