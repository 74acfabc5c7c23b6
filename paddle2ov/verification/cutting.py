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
from paddle2ov.program.model import Operator, Program
from paddle2ov.verification import cutting_legacy, cutting_pir
from paddle2ov.verification.editing import Cut, write_model


def extract(
    folder: Path,
    files: ModelFiles,
    program: Program,
    operator: Operator,
    inputs: Collection[str],
    results: Sequence[str],
) -> ModelFiles | None:
    """Writes the model of one operator to `folder`, in the format of its own model.

    Args:
        folder: where to write; it exists.
        files: the files of the whole model.
        program: the same, read.
        operator: an operator of its main block.
        inputs: the variables that it reads and that become inputs.
        results: the variables that it writes and that become results.

    Returns:
        None where the operator cannot stand alone: it owns blocks, or reads something that depends on the model's
        inputs and is not among `inputs`.
    """
    if operator.blocks:
        return None
    cutter = cutting_pir if program.format == "pir" else cutting_legacy
    cut = cutter.cut_operator(files, operator, inputs, results)
    return write_model(folder, cut.content, cut.weights, program) if cut is not None else None


def cut_body(
    folder: Path, files: ModelFiles, program: Program, operator: Operator, block: int, dynamic: Collection[str]
) -> tuple[ModelFiles, Cut] | None:
    """Writes the model of a block to `folder`.

    Args:
        folder: where to write; it exists.
        files: the files of the model around it.
        program: the same, read.
        operator: an `if` or `while` of its main block.
        block: which of its blocks.
        dynamic: the variables that depend on the model's inputs.

    Returns:
        None where the block cannot stand alone: it is empty, the loop condition depends on tensor arrays, or it
        writes in place to an outer value.
    """
    cutter = cutting_pir if program.format == "pir" else cutting_legacy
    cut = cutter.cut_body(files, program, operator, block, dynamic)
    return (write_model(folder, cut.content, cut.weights, program), cut) if cut is not None else None
