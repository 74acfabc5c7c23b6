"""What a Paddle program is, and the readers that make one from either file format."""

from __future__ import annotations

import importlib
from collections.abc import Iterable

from paddle2ov.errors import ModelReadError
from paddle2ov.program.files import ModelFiles, PathLike, find_model
from paddle2ov.program.model import Program
from paddle2ov.program.signatures import Signature


def load_readers() -> None:
    """Loads what reading any model needs; it takes its time once in a process."""
    importlib.import_module("paddle2ov.program.parameters")


def read_program(model: PathLike, params: PathLike | None = None, signatures: Iterable[Signature] = ()) -> Program:
    """Reads a model's program and maps its parameters.

    Args:
        model: a model folder, a program file or a path prefix (see `find_model`).
        params: the parameter file, where it does not stand beside the program under the usual name.
        signatures: signatures of operators that Paddle does not have.

    Raises:
        ModelReadError: the model cannot be found, is damaged, or is of an unknown kind or version.
    """
    from paddle2ov.program import parameters  # the schema decoders are loaded when a model is read
    from paddle2ov.program.vocabulary import Vocabulary

    files = find_model(model, params)
    vocabulary = Vocabulary(signatures)
    if files.format == "pir":
        from paddle2ov.program.pir import read_pir

        program, declared = read_pir(files.program, vocabulary)
    else:
        from paddle2ov.program.legacy import read_legacy

        program, declared = read_legacy(files.program, vocabulary)
    for name in (*(one.name for one in program.inputs), *(one.name for one in program.outputs)):
        if "\0" in name:
            raise ModelReadError(f"{files.program}: the name {name!r:.80} of an input or result holds a zero byte")
    if files.params is not None:
        program.parameters = parameters.read_combined(files.params, declared)
    elif declared and files.format == "legacy" and _any_separate(files, declared[0].name):
        program.parameters = parameters.read_separate(files.program.parent, declared)
    elif declared:
        looked = ", ".join(path.name for path in files.candidates)
        raise ModelReadError(
            f"{files.program}: the program has {len(declared)} parameters, but there is no parameter file "
            f"beside it (looked for {looked})"
        )
    return program


def _any_separate(files: ModelFiles, name: str) -> bool:
    try:
        return (files.program.parent / name).is_file()
    except (OSError, ValueError):
        return False


__all__ = ["ModelFiles", "PathLike", "Program", "find_model", "load_readers", "read_program"]
