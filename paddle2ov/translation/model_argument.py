"""What a conversion is asked for: the program that the arguments of `convert` name, its inputs and its results."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, TypeAlias, Union

from paddle2ov.errors import ConversionInputError, ModelReadError, system_reason
from paddle2ov.program.files import PathLike, parameter_file
from paddle2ov.program.model import Program
from paddle2ov.program.paths import local_path
from paddle2ov.program.reading import read_contents, read_program
from paddle2ov.program.signatures import Signature
from paddle2ov.translation.input_spec import (
    ExampleArgument,
    InputArgument,
    InputOverride,
    OutputArgument,
    parse_input,
    parse_output,
)

if TYPE_CHECKING:
    import paddle

Content: TypeAlias = bytes | bytearray | memoryview | IO[bytes]
"""A file in memory, or open."""
ModelArgument: TypeAlias = Union[
    PathLike, tuple[PathLike, PathLike], Content, Program, "paddle.nn.Layer", "paddle.static.Program"
]
ParamsArgument: TypeAlias = PathLike | Content | None


def read_model(
    model: ModelArgument,
    params: ParamsArgument,
    given: InputArgument,
    wanted: OutputArgument,
    example: ExampleArgument,
    signatures: Sequence[Signature],
    mapped: bool,
) -> tuple[Program, Sequence[InputOverride], Sequence[str]]:
    """The program of a model in files, in memory or of a live one, and what is asked of its inputs and results.

    Args:
        model: that of `convert`.
        params: that of `convert`.
        given: `input` of `convert`.
        wanted: `output` of `convert`.
        example: `example_input` of `convert`.
        signatures: those of operators that Paddle does not have.
        mapped: whether the weights stay in the parameter file.

    Raises:
        ModelReadError: the model cannot be found or read.
        ConversionInputError: the arguments do not fit each other, or are of types that cannot be converted.
    """
    if isinstance(model, tuple | list):
        if len(model) != 2 or params is not None:
            raise ConversionInputError("a model given as a pair is (program file, parameter file)")
        model, params = model
        model = local_path(model)
    if _is_content(model):
        if example is not None:
            raise ConversionInputError("example_input is for a paddle.nn.Layer; a saved model has its own input shapes")
        program = read_contents(_content(model, "model"), _content(params, "params"), signatures)
        return program, parse_input(given), parse_output(wanted)
    if params is not None and not isinstance(model, str | os.PathLike):
        raise ConversionInputError(f"params is for a model in files, not for a {type(model).__name__}")
    if not isinstance(model, str | os.PathLike | Program):
        from paddle2ov.translation.live import read_live

        return read_live(model, given, wanted, example, signatures)
    if example is not None:
        raise ConversionInputError("example_input is for a paddle.nn.Layer; a saved model has its own input shapes")
    if isinstance(model, Program):
        return model, parse_input(given), parse_output(wanted)
    program = read_program(model, parameter_file(params), signatures, mapped=mapped)
    return program, parse_input(given), parse_output(wanted)


def _is_content(value: object) -> bool:
    return isinstance(value, bytes | bytearray | memoryview) or (
        hasattr(value, "read") and not hasattr(value, "forward")
    )


def _content(value: object, name: str) -> bytes:
    """The bytes of a file that is in memory or open; none for None."""
    if value is None:
        return b""
    try:
        content = value.read() if hasattr(value, "read") else value
    except (OSError, ValueError) as error:  # a closed one, one that is written, a text that is none
        raise ModelReadError(f"{name}: the stream cannot be read: {system_reason(error)}") from error
    if not isinstance(content, bytes | bytearray | memoryview):
        raise ConversionInputError(
            f"{name}: a model in memory is bytes, or a stream of bytes, not {type(content).__name__}"
        )
    return bytes(content)
