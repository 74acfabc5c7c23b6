"""Writes the files of a report, also that on a model that is refused; checks beforehand that they can be written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paddle2ov.errors import ConversionInputError, Paddle2OVError

if TYPE_CHECKING:
    from openvino import Model

    from paddle2ov.report import ConversionReport
    from paddle2ov.typing import AnyArray
    from paddle2ov.verification.results import Verification


def check_targets(targets: Sequence[Path]) -> None:
    """Refuses files that no report can be written to, before any work is done.

    Raises:
        ConversionInputError: see `paddle2ov.reporting.page.check_target`.
    """
    from paddle2ov.reporting.page import check_target

    for target in targets:
        check_target(target)


def write(
    targets: Sequence[Path],
    model: Model,
    conversion: ConversionReport,
    name: str,
    verification: Verification | None,
    inputs: Mapping[str, AnyArray] | None,
    show: bool,
) -> None:
    """Compiles and measures a converted model, writes its reports, and prints the tables.

    Raises:
        ConversionInputError: the arrays do not fit the model.
        OSError: a file cannot be written.
    """
    from paddle2ov.reporting import build_report, print_report, write_report

    report = build_report(model, conversion, name=name, inputs=inputs, verification=verification)
    for target in targets:
        write_report(report, target)
    if show:
        print_report(report)


def write_refused(
    targets: Sequence[Path],
    source: Path,
    params: Path | None,
    name: str,
    error: Paddle2OVError,
    inputs: str | None = None,
    outputs: str | None = None,
    bounded: bool = False,
    sequence_lengths: bool = False,
) -> None:
    """Writes what is known of a program whose conversion was refused; nothing where it cannot even be read.

    The options are those of the conversion: what else is refused depends on them.
    """
    from paddle2ov.inspection import find_refusals
    from paddle2ov.program import read_program
    from paddle2ov.program.vocabulary import Vocabulary
    from paddle2ov.reporting import refused_report, write_report
    from paddle2ov.translation.input_spec import parse_input, parse_output
    from paddle2ov.translation.registry import Registry

    if isinstance(error, ConversionInputError) or not targets:
        return
    try:
        registry = Registry()
        signatures = registry.signatures()
        program = read_program(source, params, signatures)
        overrides = parse_input(inputs)
        if bounded:
            from paddle2ov.deployment.beside import folder_of, required_settings
            from paddle2ov.deployment.bounds import bounded as bounded_by

            overrides = bounded_by(required_settings(folder_of(source)), program.inputs, overrides)
        found = find_refusals(
            program, registry, Vocabulary(signatures), overrides, parse_output(outputs), sequence_lengths
        )
        report = refused_report(program, error, name, found)
    except Paddle2OVError:
        return
    for target in targets:
        write_report(report, target)
