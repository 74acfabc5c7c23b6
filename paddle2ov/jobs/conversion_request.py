"""The request to convert a model in files: `paddle2ov convert` has one, a batch one for each model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from paddle2ov.errors import ConversionInputError, Paddle2OVError

if TYPE_CHECKING:
    from openvino import Model, PartialShape

    from paddle2ov.program.model import Program
    from paddle2ov.typing import AnyArray
    from paddle2ov.verification.results import Verification

Arrays = dict[str, "AnyArray"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionRequest:
    """A model, and how it is to be converted. What is not listed is as for `convert`.

    Attributes:
        name: the model's name.
        program: a folder or a program file.
        fp16: whether weights are stored as float16.
    """

    name: str
    program: Path
    params: Path | None = None
    input: str | None = None
    output: str | None = None
    bounded: bool = False
    preprocess: bool = False
    sequence_lengths: bool = False
    fp16: bool = False
    device: str | None = None
    without: tuple[str, ...] = ()

    def convert(self, **options: Any) -> Model:
        """Converts the model; `options` are further ones of `convert`.

        Raises:
            Paddle2OVError: as `convert`.
        """
        from paddle2ov.conversion import convert

        return convert(
            self.program,
            self.params,
            input=self.input,
            output=self.output,
            device=self.device,
            without=self.without,
            bounded=self.bounded,
            preprocess=self.preprocess,
            sequence_lengths=self.sequence_lengths,
            share_weights=False,
            **options,
        )

    def taken_from_settings(self, model: Model) -> list[str]:
        """What the settings beside the model made of it: the preprocessing that was built in, and the inputs.

        Where a part of the preprocessing remains, the conversion has warned of it.
        """
        if not (self.bounded or self.preprocess):
            return []
        text = model.get_rt_info(["paddle2ov", "preprocessing"]).astype(str) if self.preprocess else ""
        ports = ((port.get_any_name(), port.get_element_type(), port.get_partial_shape()) for port in model.inputs)
        inputs = f"its inputs: {', '.join(f'{name} {kind.to_string()}{shape}' for name, kind, shape in ports)}"
        return [f"the model {text}", inputs] if text and "; yours: " not in text else [inputs]

    def write_refusal(self, targets: Sequence[Path], error: Paddle2OVError) -> Sequence[Path]:
        """Writes reports on a program whose conversion was refused; none where it cannot even be read.

        Returns those that are written.
        """
        if isinstance(error, ConversionInputError) or not targets:
            return ()
        from paddle2ov.deployment.beside import folder_of, required_settings
        from paddle2ov.deployment.bounds import bounded
        from paddle2ov.inspection import find_refusals
        from paddle2ov.reporting import refused_report, write_report
        from paddle2ov.translation.model_argument import prepare
        from paddle2ov.translation.registry import Registry

        try:
            request = prepare(
                Registry(), self.program, self.params, self.input, self.output, sequence_lengths=self.sequence_lengths
            )
            if self.bounded:
                settings = required_settings(folder_of(self.program))
                request = replace(request, overrides=bounded(settings, request.program.inputs, request.overrides))
            report = refused_report(request.program, error, self.name, find_refusals(request))
        except Paddle2OVError:
            return ()
        for target in targets:
            write_report(report, target)
        return targets

    def arrays(self, path: Path, model: Model, program: Program, measures: bool) -> tuple[Arrays | None, Arrays | None]:
        """Reads the inputs in a file: for the converted model, and for the program that it is verified against.

        Either is None where the file does not fit it: with preprocessing built into the model, a file fits one of the
        two. The report needs inputs of the model (`measures`).

        Raises:
            ConversionInputError: the arrays do not fit.
            OSError: the file cannot be read.
        """
        from paddle2ov.inputs.given_arrays import given_inputs, in_types_of, load, model_inputs

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
        own = [variable.name for variable in program.inputs]
        inside = [port.get_any_name() for port in model.inputs if port.get_names().isdisjoint(own)]
        if inside and not (self.preprocess or self.sequence_lengths):
            raise ConversionInputError(
                f"--verify: --input cuts the model at '{inside[0]}', and Paddle runs the program from its own inputs: "
                f"{', '.join(own) or 'none'}"
            )

    def verify(
        self, model: Model, arrays: Arrays | None = None, *, arrays_given: bool = False, **options: Any
    ) -> Verification:
        """Verifies the converted model, as far as Paddle computes the same; a note says what is left out.

        Args:
            model: the converted model.
            arrays: what to run on; None: random inputs.
            arrays_given: whether the caller gave arrays, be it for the converted model only.
            options: further ones of `verify`.

        Raises:
            Paddle2OVError: as `verify`.
        """
        from paddle2ov.verification.verify import verify

        left_out = {
            "Compared without the preprocessing that is built in.": self.preprocess,
            "Compared before the weights became float16.": self.fp16,
            "The arrays fit the model with its preprocessing only: compared on random inputs.": (
                arrays_given and arrays is None
            ),
        }
        verification = verify(
            self.program,
            self.params,
            inputs=arrays,
            shapes=_within(model) if self.bounded and not self.preprocess else self.input,
            outputs=self.output,
            converted=None if self.preprocess else model,
            sequence_lengths=self.sequence_lengths,
            **options,
        )
        notes = [f"{verification.note.removesuffix('.')}."] if verification.note else []
        verification.note = " ".join([*notes, *(note for note, holds in left_out.items() if holds)])
        return verification


_SETS = 3


def _within(model: Model) -> list[dict[str, PartialShape]]:
    """The model's input shapes, as bounds of the random inputs, once for each set (one set if they are static)."""
    from paddle2ov.graph.node_names import LENGTHS_SUFFIX

    names = {port.get_any_name(): port for port in model.inputs}
    shapes = {name: port.get_partial_shape() for name, port in names.items() if not name.endswith(LENGTHS_SUFFIX)}
    return [shapes] * (_SETS if any(shape.is_dynamic for shape in shapes.values()) else 1)
