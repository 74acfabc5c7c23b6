"""`paddle2ov MODEL --report FILE`: what the command does beside converting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddle2ov.errors import ConversionInputError, Paddle2OVError

if TYPE_CHECKING:
    from openvino import Model

    from paddle2ov.program.model import AnyArray
    from paddle2ov.report import ConversionReport
    from paddle2ov.verification.verify import Verification


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


def write_refused(targets: Sequence[Path], program: Any, params: Any, name: str, error: Paddle2OVError) -> None:
    """Writes what is known of a program whose conversion was refused; nothing where it cannot even be read."""
    from paddle2ov.program import read_program
    from paddle2ov.reporting import refused_report, write_report

    if isinstance(error, ConversionInputError):
        return
    try:
        report = refused_report(read_program(program, params), error, name)
    except Paddle2OVError:
        return
    for target in targets:
        write_report(report, target)
