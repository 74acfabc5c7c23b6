"""Reads a model of either format, from files or from memory."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable
from pathlib import Path

from paddle2ov.arguments import check_flags
from paddle2ov.errors import ConversionInputError, FailingAs, ModelReadError
from paddle2ov.program.archives import is_packed
from paddle2ov.program.budget import MAX_PROGRAM_BYTES
from paddle2ov.program.files import SNIFF_BYTES, ModelFiles, PathLike, find_model, format_of
from paddle2ov.program.model import Program
from paddle2ov.program.parameters import read_combined, read_separate
from paddle2ov.program.signatures import Signature
from paddle2ov.program.sources import ChangedError, MemorySource, Source
from paddle2ov.program.vocabulary import Vocabulary

PARAMETERS = "inference.pdiparams"
"""What the file of the parameters is called."""


def read_program(
    model: PathLike, params: PathLike | None = None, signatures: Iterable[Signature] = (), *, mapped: bool = True
) -> Program:
    """Reads a model's program, and maps or reads its parameters.

    Args:
        model: a model folder, a program file or a path prefix (see `find_model`).
        params: the parameter file, if it is not beside the program under the usual name.
        signatures: signatures of operators that Paddle does not have.
        mapped: whether the weights stay in the parameter file, which must then stay as it is for as long as they are
            used. Otherwise they are read, once and whole: if files change meanwhile all are read again, or refused.

    Raises:
        ModelReadError: the model cannot be found, is damaged, or is of an unknown kind or version, or its files change
            while they are read.
        ConversionInputError: an argument is of another type.
    """
    check_flags(mapped=mapped)
    vocabulary = Vocabulary(_checked(signatures))
    for is_last in (False, True):
        source = Source(waits=not mapped)
        try:
            files = find_model(model, params)
            source.note(files.program, *([files.params] if files.params is not None else ()))
            program = _read(files, vocabulary, source, mapped)
            source.check()
            return program
        except ModelReadError as error:
            if is_last and not source.is_unchanged() and not isinstance(error, ChangedError):
                raise ChangedError(f"{model}: changed while it was being read: {error}") from error
            if is_last or source.is_unchanged():
                raise
    raise AssertionError


def _checked(signatures: Iterable[Signature]) -> list[Signature]:
    listed = list(signatures) if isinstance(signatures, Iterable) else None
    if listed is None or not all(isinstance(signature, Signature) for signature in listed):
        raise ConversionInputError(f"signatures: those of operators are expected, not {signatures!r:.80}")
    return listed


def read_contents(program: bytes, params: bytes, signatures: Iterable[Signature] = ()) -> Program:
    """Reads a model whose files are in memory only.

    Raises:
        ModelReadError: they are damaged, or of an unknown kind or version.
    """
    if is_packed(program):
        raise ModelReadError("the content is that of an archive, which is given by its path")
    name = program_name(program)
    paths = Path(name), Path(PARAMETERS)
    kind = format_of(program[:SNIFF_BYTES], paths[0])
    if kind is None:
        raise ModelReadError(f"{name}: neither a PIR program (JSON) nor a legacy one (protobuf)")
    source = MemorySource(dict(zip(paths, (program, params), strict=True)))
    files = ModelFiles(paths[0], kind, paths[1] if params else None, ())
    return _read(files, Vocabulary(signatures), source, mapped=False)


def program_name(content: bytes) -> str:
    """What the file of a program with this content is called."""
    return "inference.json" if content.removeprefix(BOM_UTF8).lstrip()[:1] == b"{" else "inference.pdmodel"


def _read(files: ModelFiles, vocabulary: Vocabulary, source: Source, mapped: bool) -> Program:
    with FailingAs(lambda reason: ModelReadError(f"{files.program}: cannot be read: {reason}")):
        content = source.read(files.program, MAX_PROGRAM_BYTES)
        if files.format == "pir":
            from paddle2ov.program.pir import read_pir

            program, declared = read_pir(files.program, content, vocabulary)
        else:
            from paddle2ov.program.legacy import read_legacy

            program, declared = read_legacy(files.program, content, vocabulary)
        program.source, program.size = source, len(content)
        _check_names(files.program, program)
        if files.params is not None:
            program.parameters = read_combined(files.params, declared, source, mapped)
        elif declared and not files.candidates:  # a program in memory
            raise ModelReadError(f"params: the program has {len(declared)} parameters, and none are given")
        elif declared and files.format == "legacy" and _any_separate(files, declared[0].name):
            program.parameters = read_separate(files.program.parent, declared, source)
        elif declared:
            looked = ", ".join(path.name for path in files.candidates)
            raise ModelReadError(
                f"{files.program}: the program has {len(declared)} parameters, but there is no parameter file "
                f"beside it (looked for {looked})"
            )
        return program


def _check_names(path: Path, program: Program) -> None:
    """Refuses names that neither Paddle gives nor a terminal shows, and that an IR cannot hold."""
    types = dict.fromkeys([operator.source_type for operator in program.block.walk()])
    results = [result.name for result in program.outputs]
    for kind, names in (
        ("an operator's type", types),
        ("a variable's name", program.variables),
        ("a result's name", results),
    ):
        if "".join(names).isprintable() and max(map(len, names), default=0) <= _MAX_NAME:
            continue  # nearly all programs
        for name in names:
            if len(name) > _MAX_NAME:
                raise ModelReadError(f"{path}: {kind} has {len(name)} characters: {name[:80]!r}...")
            if match := re.search(_CONTROL, name):
                raise ModelReadError(f"{path}: {kind} holds the control character {match[0]!a}: {name[:80]!a}")


_MAX_NAME = 4000
_CONTROL = "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"


def _any_separate(files: ModelFiles, name: str) -> bool:
    try:
        return (files.program.parent / name).is_file()
    except (OSError, ValueError):
        return False
