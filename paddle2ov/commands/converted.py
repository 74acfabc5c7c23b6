"""What `paddle2ov MODEL --verify --inputs FILE` does with the model that it made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from paddle2ov.errors import ConversionInputError, ModelReadError

if TYPE_CHECKING:
    from openvino import Model, PartialShape

    from paddle2ov.program.model import AnyArray, Program
    from paddle2ov.verification.results import Verification
    from paddle2ov.verification.verify import PrecisionArgument

Arrays = dict[str, "AnyArray"]


def check_arrays(
    path: Path, model: Model, program: Program, preprocess: bool, measures: bool
) -> tuple[Arrays | None, Arrays | None]:
    """Reads the inputs in a file: for the converted model, and for the program that it is verified against.

    Either is None where the file does not fit it: with preprocessing built into the model, a file fits one of the two.
    The report needs inputs of the model (`measures`).

    Raises:
        ConversionInputError: the arrays do not fit.
        OSError: the file cannot be read.
    """
    from paddle2ov.verification.inputs import given_inputs, load, model_inputs

    arrays = load(path)
    if not preprocess:
        return model_inputs(model, program, arrays), given_inputs(program, arrays)[0]
    try:
        return model_inputs(model, program, arrays), None
    except ConversionInputError as error:
        if measures:
            raise
        try:
            return None, given_inputs(program, arrays)[0]
        except ConversionInputError:
            raise error from None


def refuse_overwriting_sources(
    program: Path, params: Path | None, targets: Sequence[Path], replaced: Path | None
) -> None:
    """Refuses targets that would overwrite the model that is to be converted, before any work is done.

    A model that cannot be found is not an error here: the conversion reports it.

    Args:
        program: the model.
        params: the parameter file, where one is named.
        targets: the files that will be written.
        replaced: a folder that will be replaced.

    Raises:
        ConversionInputError: one of the files, or the folder, is the model's.
    """
    from paddle2ov.program import find_model

    try:
        files = find_model(program, params)
    except ModelReadError:
        return
    for own in (files.program, *([files.params] if files.params is not None else ())):
        for target in targets:
            if target.exists() and target.samefile(own):
                raise ConversionInputError(f"{target} is a file of the model itself, and would be overwritten")
        if replaced is not None and own.resolve().is_relative_to(replaced.resolve()):
            raise ConversionInputError(f"{own} is a file of the model itself, and {replaced} would be replaced")


def compare_with_paddle(
    program: Any,
    params: Any,
    model: Model,
    outputs: str | None,
    shapes: str | None,
    arrays: Arrays | None,
    given: bool,
    built_in: Sequence[str],
    operators: bool,
    precision: str,
    paddle_python: str | None,
) -> Verification:
    """Verifies a converted model, as far as Paddle computes the same; a note says what is left out.

    Args:
        program: the model's files.
        params: the parameter file.
        model: the converted model.
        outputs: the results that it was converted for.
        shapes: of the inputs, as it was converted for.
        arrays: what to run on; None: random inputs.
        given: whether the caller gave arrays, be it for the converted model only.
        built_in: options of the conversion that make the model one that is not compared: "preprocess",
            "sequence-lengths", "compress-to-fp16", "bounded".
        operators: whether to compare every operator.
        precision: what OpenVINO computes in, as `verify` takes it.
        paddle_python: an interpreter that has Paddle.
    """
    from paddle2ov.verification.verify import verify

    notes = [_LEFT_OUT[one] for one in built_in if one in _LEFT_OUT]
    if given and arrays is None:
        notes.append("The arrays fit the model with its preprocessing only: compared on random inputs.")
    same = not {"preprocess", "sequence-lengths"}.intersection(built_in)
    found = verify(
        program,
        params,
        inputs=arrays,
        shapes=_within(model) if same and "bounded" in built_in else shapes,
        outputs=outputs,
        operators=operators,
        precision=cast("PrecisionArgument", precision),
        paddle_python=paddle_python,
        converted=model if same else None,
    )
    found.note = " ".join([*([found.note.removesuffix(".") + "."] if found.note else []), *notes])
    return found


_LEFT_OUT = {
    "preprocess": "Compared without the preprocessing that is built in.",
    "sequence-lengths": "Compared without the lengths of sequences.",
    "compress-to-fp16": "Compared before the weights became float16.",
}
"""Option -> what `--verify` leaves out because of it."""
_SETS = 3


def _within(model: Model) -> list[dict[str, PartialShape]]:
    """The model's input shapes, as bounds of the random inputs, once for each set (one set if they are static)."""
    shapes = {port.get_any_name(): port.get_partial_shape() for port in model.inputs}
    return [shapes] * (_SETS if any(one.is_dynamic for one in shapes.values()) else 1)


__all__ = ["check_arrays", "compare_with_paddle", "refuse_overwriting_sources"]
