"""What `paddle2ov convert` is asked for: conversion, arrays that are given, comparison with Paddle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from paddle2ov.commands.shared import progress_bar
from paddle2ov.errors import ConversionInputError, Paddle2OVError
from paddle2ov.graph.node_names import LENGTHS_SUFFIX

if TYPE_CHECKING:
    from openvino import Model, PartialShape

    from paddle2ov.program.model import Program
    from paddle2ov.report import ConversionReport
    from paddle2ov.typing import AnyArray
    from paddle2ov.verification.results import Verification
    from paddle2ov.verification.verify import PrecisionArgument

Arrays = dict[str, "AnyArray"]


@dataclass(frozen=True, slots=True)
class ConversionRequest:
    """A model, and how it is to be converted.

    Attributes:
        program: a folder or a program file.
        params: the parameter file, where one is named.
        name: the model's name.
        inputs: names and shapes of inputs, as `convert(input=...)`.
        outputs: the names of the results to keep.
        bounded: as for `convert`.
        preprocess: as for `convert`.
        sequence_lengths: as for `convert`.
        fp16: whether weights are stored as float16.
        device: as for `convert`.
        without: as for `convert`.
    """

    program: Path
    params: Path | None
    name: str
    inputs: str | None
    outputs: str | None
    bounded: bool
    preprocess: bool
    sequence_lengths: bool
    fp16: bool
    device: str | None
    without: tuple[str, ...]

    def convert(self, report: ConversionReport | None, refused: Sequence[Path], verbose: bool, progress: bool) -> Model:
        """Converts the model.

        Args:
            report: is filled with what the conversion did.
            refused: files for the report of a model that is refused.
            verbose: as for `convert`.
            progress: whether to show a bar.

        Raises:
            Paddle2OVError: as `convert`.
        """
        from paddle2ov.conversion import convert
        from paddle2ov.reporting import files as reporting

        try:
            with progress_bar("converting", shown=progress) as advance:
                return convert(
                    self.program,
                    self.params,
                    input=self.inputs,
                    output=self.outputs,
                    verbose=verbose,
                    progress=advance and (lambda done, total: advance("converting", done, total)),
                    report=report,
                    device=self.device,
                    without=self.without,
                    bounded=self.bounded,
                    sequence_lengths=self.sequence_lengths,
                    preprocess=self.preprocess,
                    share_weights=False,
                )
        except Paddle2OVError as error:
            reporting.write_refused(
                refused,
                self.program,
                self.params,
                self.name,
                error,
                inputs=self.inputs,
                outputs=self.outputs,
                bounded=self.bounded,
                sequence_lengths=self.sequence_lengths,
            )
            raise

    def arrays(self, path: Path, model: Model, program: Program, measures: bool) -> tuple[Arrays | None, Arrays | None]:
        """Reads the inputs in a file: for the converted model, and for the program that it is verified against.

        Either is None where the file does not fit it: with preprocessing built into the model, a file fits one of the
        two. The report needs inputs of the model (`measures`).

        Raises:
            ConversionInputError: the arrays do not fit.
            OSError: the file cannot be read.
        """
        from paddle2ov.verification.inputs import given_inputs, in_types_of, load, model_inputs

        arrays = load(path)
        if not self.preprocess:
            return model_inputs(model, program, arrays), given_inputs(program, in_types_of(program, arrays))[0]
        try:
            return model_inputs(model, program, arrays), None
        except ConversionInputError as error:
            if measures:
                raise
            try:
                return None, given_inputs(program, arrays)[0]
            except ConversionInputError:
                raise error from None

    def check_comparable(self, model: Model, program: Program) -> None:
        """Refuses to verify a model that is cut inside of the program: Paddle runs that from its own inputs.

        Raises:
            ConversionInputError: the model has other inputs than the program.
        """
        own = [one.name for one in program.inputs]
        inside = [port.get_any_name() for port in model.inputs if port.get_names().isdisjoint(own)]
        if inside and not (self.preprocess or self.sequence_lengths):
            raise ConversionInputError(
                f"--verify: --input cuts the model at '{inside[0]}', and Paddle runs the program from its own inputs: "
                f"{', '.join(own) or 'none'}"
            )

    def verify(
        self,
        model: Model,
        arrays: Arrays | None,
        given: bool,
        operators: bool,
        precision: str,
        paddle_python: str | None,
    ) -> Verification:
        """Verifies the converted model, as far as Paddle computes the same; a note says what is left out.

        Args:
            model: the converted model.
            arrays: what to run on; None: random inputs.
            given: whether the caller gave arrays, be it for the converted model only.
            operators: whether to compare every operator.
            precision: what OpenVINO computes in, as `verify` takes it.
            paddle_python: an interpreter that has Paddle.

        Raises:
            Paddle2OVError: as `verify`.
        """
        from paddle2ov.verification.verify import verify

        left_out = {
            "Compared without the preprocessing that is built in.": self.preprocess,
            "Compared before the weights became float16.": self.fp16,
            "The arrays fit the model with its preprocessing only: compared on random inputs.": (
                given and arrays is None
            ),
        }
        found = verify(
            self.program,
            self.params,
            inputs=arrays,
            shapes=_within(model) if self.bounded and not self.preprocess else self.inputs,
            outputs=self.outputs,
            operators=operators,
            precision=cast("PrecisionArgument", precision),
            paddle_python=paddle_python,
            converted=None if self.preprocess else model,
            sequence_lengths=self.sequence_lengths,
        )
        notes = [f"{found.note.removesuffix('.')}."] if found.note else []
        found.note = " ".join([*notes, *(note for note, holds in left_out.items() if holds)])
        return found


_SETS = 3


def _within(model: Model) -> list[dict[str, PartialShape]]:
    """The model's input shapes, as bounds of the random inputs, once for each set (one set if they are static)."""
    names = {port.get_any_name(): port for port in model.inputs}
    shapes = {name: port.get_partial_shape() for name, port in names.items() if not name.endswith(LENGTHS_SUFFIX)}
    return [shapes] * (_SETS if any(one.is_dynamic for one in shapes.values()) else 1)


__all__ = ["ConversionRequest"]
