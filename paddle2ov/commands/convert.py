"""`paddle2ov convert MODEL`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paddle2ov.commands.conversion_options import (
    ConversionCommand,
    compared_precision,
    conversion_options,
    paddle_option,
    quiet_option,
)
from paddle2ov.commands.exit_status import FAILED, REFUSED
from paddle2ov.commands.shared import (
    ModelType,
    PathType,
    TargetType,
    chosen_params,
    ir_target,
    need,
    not_empty,
    params_option,
    plain_errors,
    progress_bar,
    refuse_overwriting_sources,
    traceback_option,
)
from paddle2ov.commands.verification_text import conclusion, print_precisions
from paddle2ov.commands.verify import STATUS
from paddle2ov.errors import Paddle2OVError
from paddle2ov.report import ConversionReport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from openvino import Model

    from paddle2ov.jobs.conversion_request import ConversionRequest
    from paddle2ov.typing import AnyArray
    from paddle2ov.verification.results import Verification


@click.command("convert", cls=ConversionCommand)
@click.argument("model", required=False, type=ModelType())
@click.option("-m", "--model-dir", type=PathType(), help="The model's folder (as MODEL).")
@click.option(
    "-mf",
    "--model-filename",
    callback=not_empty,
    help="The program's file name inside the folder.",
)
@params_option
@click.option(
    "-o",
    "-s",
    "--output-model",
    "--save-file",
    "target",
    type=TargetType(),
    help="Where to write the model (.xml; the weights go beside it). Default: the model's name in this folder. With "
    "--serve-layout: the model's name there.",
)
@conversion_options
@click.option(
    "--serve-layout",
    "serving",
    type=PathType(file_okay=False),
    help="Write the model into this folder as OpenVINO Model Server and Triton load it, and nowhere else.",
)
@click.option(
    "--without",
    multiple=True,
    help="Leave out a workaround for a fault of OpenVINO, by its name or the fault's; may be repeated.",
)
@click.option(
    "--report",
    "reports",
    multiple=True,
    type=PathType(dir_okay=False),
    help="Compile and measure the model, and write what became of every operator to this file (.html or .json; may be "
    "repeated).",
)
@click.option(
    "--verify",
    "compare",
    is_flag=True,
    help="Run the model (without --preprocess, before --precision f16) in Paddle too and compare; with --report, "
    "every operator. The exit status is that of verify, also where the conversion fails: 2.",
)
@compared_precision(
    "--verify-precision",
    "For --verify: what OpenVINO computes in; all: in each that this processor is made for, in one table.",
    "all",
)
@paddle_option
@click.option(
    "--inputs",
    "arrays",
    type=PathType(exists=True, dir_okay=False),
    help="For --report and --verify: an .npz file with an array for each input of the converted model. Default: random "
    "inputs.",
)
@click.option("--verbose", "-v", is_flag=True, help="Say what was read and how long each step took.")
@quiet_option
@traceback_option
def convert_command(
    model: Path | None,
    model_dir: Path | None,
    model_filename: str | None,
    params: Path | None,
    target: Path | None,
    serving: Path | None,
    extensions: tuple[Path, ...],
    reports: tuple[Path, ...],
    compare: bool,
    precision: str,
    paddle_python: str | None,
    arrays: Path | None,
    verbose: bool,
    quiet: bool,
    traceback: bool,
    **conversion: Any,
) -> None:
    """Convert MODEL to OpenVINO IR.

    MODEL is a folder that holds one Paddle inference model, a program file (inference.json, inference.pdmodel,
    __model__) or the path prefix that Paddle's own functions take.
    """
    if model is None and model_dir is None:
        raise click.UsageError("no model is given: name its folder, as in paddle2ov MODEL_DIR -o model.xml")
    if model is not None and model_dir is not None:
        raise click.UsageError("give the model once: as MODEL or as --model-dir")
    need("--report and --verify", bool(reports or compare), "--inputs")
    need("--verify", compare, "--verify-precision", "--paddle-python")
    source = model or model_dir
    assert source is not None
    verification = None
    with plain_errors(traceback, FAILED if compare else REFUSED, extensions=extensions):
        params = chosen_params(source, params)
        program = source / model_filename if model_filename else source
        xml = _target(target, source, serving)
        from paddle2ov.jobs.conversion_request import ConversionRequest

        for path in reports:
            from paddle2ov.reporting.page import check_target

            check_target(path)
        if compare:
            from paddle2ov.comparison.paddle_process import check_paddle

            check_paddle(paddle_python)
        layout = serving / xml.stem / "1" if serving is not None else None
        refuse_overwriting_sources(
            program, params, [*((xml, xml.with_suffix(".bin")) if serving is None else ()), *reports], layout
        )
        request = ConversionRequest(program=program, params=params, name=_name(source), **conversion)
        report = ConversionReport() if reports or compare else None
        converted = _convert(request, report, reports, verbose and not quiet, quiet)
        for text in () if quiet else request.taken_from_settings(converted):
            click.echo(text, err=True)
        if compare and report is not None and report.program is not None:
            request.check_comparable(converted, report.program)
        measured = verified = None
        if arrays is not None and report is not None and report.program is not None:
            measured, verified = request.arrays(arrays, converted, report.program, bool(reports))
        written = _write(converted, xml, serving, request.fp16)
        if not quiet:
            click.echo(f"{written}")
        if compare:
            verification = request.verify(
                converted,
                verified,
                arrays_given=arrays is not None,
                operators=bool(reports),
                precision=precision,
                paddle_python=paddle_python,
            )
        if report is not None and reports:
            _write_reports(request, reports, converted, report, verification, measured, quiet)
    if not quiet:
        if verification is not None:
            _print_verification(verification)
        for path in reports:
            click.echo(f"{path}")
    if verification is not None:
        sys.exit(STATUS[verification.verdict])


def _convert(
    request: ConversionRequest, report: ConversionReport | None, refused: Sequence[Path], verbose: bool, quiet: bool
) -> Model:
    """Converts the model, with a progress bar; where it is refused, the files for a report say so."""
    try:
        with progress_bar("converting", shown=not quiet) as advance:
            progress = partial(advance, "converting") if advance is not None else None
            return request.convert(report=report, verbose=verbose, progress=progress)
    except Paddle2OVError as error:
        for path in request.write_refusal(refused, error):
            if not quiet:
                click.echo(f"{path}")
        raise


def _write_reports(
    request: ConversionRequest,
    reports: Sequence[Path],
    model: Model,
    conversion: ConversionReport,
    verification: Verification | None,
    arrays: Mapping[str, AnyArray] | None,
    quiet: bool,
) -> None:
    """Compiles and measures the converted model, writes its reports, and prints the tables."""
    from paddle2ov.reporting import build_report, print_report, write_report

    report = build_report(model, conversion, name=request.name, inputs=arrays, verification=verification)
    for target in reports:
        write_report(report, target)
    if not quiet:
        print_report(report)


def _print_verification(verification: Verification) -> None:
    if verification.note:
        click.echo(verification.note)
    if verification.precisions is not None:
        print_precisions(verification.precisions)
    click.echo(conclusion(verification))


def _write(model: Model, xml: Path, serving: Path | None, fp16: bool) -> Path:
    """Writes the model as IR, or for servers; returns the path of its .xml."""
    from paddle2ov.deployment.saving import ABANDONED, remove_unfinished, save_model, write_ir
    from paddle2ov.deployment.serving import write_layout

    if serving is not None:
        return write_layout(model, serving, xml.stem, lambda model, path: write_ir(model, path, fp16))
    save_model(model, xml, fp16)
    remove_unfinished(xml.parent, ABANDONED)
    return xml


def _target(target: Path | None, source: Path, serving: Path | None) -> Path:
    """Where the IR goes; for servers, only its stem counts, which is the model's name."""
    if target is None:
        target = Path(f"{_name(source)}.xml")
    if serving is not None and target.name != str(target):
        raise click.UsageError(
            f"{target}: with --serve-layout, -o is the model's name there, such as {target.stem}; no other is written"
        )
    return ir_target(target, is_name=serving is not None)


def _name(source: Path) -> str:
    return source.resolve().name if source.is_dir() else source.name.removesuffix(source.suffix)
