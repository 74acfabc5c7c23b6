"""What a conversion is asked for: the program that the arguments of `convert` name, its inputs and its results."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any, TypeAlias, Union

from paddle2ov.errors import ConversionInputError, ModelReadError, system_reason
from paddle2ov.program.files import PathLike, parameter_file
from paddle2ov.program.model import Program
from paddle2ov.program.paths import local_path
from paddle2ov.program.reading import read_contents, read_program
from paddle2ov.translation.input_spec import (
    ExampleArgument,
    InputArgument,
    OutputArgument,
    parse_input,
    parse_output,
)
from paddle2ov.translation.model_builder import TranslationRequest
from paddle2ov.translation.registry import Registry
from paddle2ov.translation.sequence_lengths import SequenceCount

if TYPE_CHECKING:
    import paddle

Content: TypeAlias = bytes | bytearray | memoryview | IO[bytes]
"""A file in memory, or open."""
ModelArgument: TypeAlias = Union[
    PathLike, tuple[PathLike, PathLike], Content, Program, "paddle.nn.Layer", "paddle.static.Program"
]
ParamsArgument: TypeAlias = PathLike | Content | None


def prepare(
    registry: Registry,
    model: ModelArgument,
    params: ParamsArgument = None,
    input: InputArgument = None,
    output: OutputArgument = None,
    *,
    example_input: ExampleArgument = None,
    share_weights: bool = True,
    sequence_lengths: bool | SequenceCount = False,
) -> TranslationRequest:
    """Reads a model in files, in memory, or a live one; all arguments but `registry` are those of `convert`.

    Raises:
        ModelReadError: the model cannot be found or read.
        ConversionInputError: the arguments do not fit each other, or are of types that cannot be converted.
    """
    signatures = registry.signatures()
    model, params = split_pair(model, params)
    is_file = isinstance(model, str | os.PathLike) or is_content(model)  # on a disk or in memory
    if params is not None and not is_file:
        raise ConversionInputError(f"params is for a model in files, not for a {type(model).__name__}")
    if is_file or isinstance(model, Program):
        if example_input is not None:
            raise ConversionInputError("example_input is for a paddle.nn.Layer; a saved model has its own input shapes")
        if isinstance(model, Program):
            program = model
        elif isinstance(model, str | os.PathLike):
            program = read_program(model, parameter_file(params), signatures, mapped=share_weights)
        else:
            program = read_contents(content_of(model, "model"), content_of(params, "params"), signatures)
        overrides, outputs = parse_input(input), parse_output(output)
    else:
        from paddle2ov.translation.live import read_live

        program, overrides, outputs = read_live(model, input, output, example_input, signatures)
    return TranslationRequest(
        program,
        overrides,
        outputs,
        registry,
        # The weights of a model in files are in mapped memory, or in arrays that nothing else uses.
        share_weights=share_weights or (program is not model and program.source is not None),
        sequence_lengths=sequence_lengths,
    )


def split_pair(model: Any, params: Any) -> tuple[Any, Any]:
    """A model and its parameters, be they given as a pair in place of the model.

    Raises:
        ConversionInputError: it is no pair, or there are parameters besides.
    """
    if not isinstance(model, tuple | list):
        return model, params
    if len(model) != 2 or params is not None:
        raise ConversionInputError("a model given as a pair is (program file, parameter file)")
    return local_path(model[0]), model[1]


def is_content(value: object) -> bool:
    """Whether a model or its parameters are in memory, or open."""
    return isinstance(value, bytes | bytearray | memoryview) or (
        hasattr(value, "read") and not hasattr(value, "forward")
    )


def content_of(value: object, name: str) -> bytes:
    """The bytes of a file that is in memory or open; none for None.

    Raises:
        ModelReadError: the stream cannot be read.
        ConversionInputError: it is anything else.
    """
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
