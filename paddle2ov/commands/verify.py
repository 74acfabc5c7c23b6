"""`paddle2ov verify MODEL`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paddle2ov.commands.conversion_options import compared_precision, paddle_option
from paddle2ov.commands.exit_status import FAILED, REFUSED, ROUNDING, TIES
from paddle2ov.commands.shared import (
    OLD_NAMES,
    ModelType,
    PathType,
    chosen_params,
    extension_option,
    inputs_option,
    joined,
    params_option,
    plain_errors,
    progress_bar,
    refuse_beside,
    seed_option,
    shapes_option,
    timeout_option,
    traceback_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle2ov.verification.results import Culprit, PrecisionTable, Rounded, Run, Verification

STATUS = {"agree": 0, "differ": REFUSED, "unknown": FAILED, "ties": TIES, "rounding": ROUNDING}
_WORST = 5
_MAX_ROUNDED = 3
_COLORS = {"agree": "green", "differ": "red", "unknown": "yellow", "ties": "yellow", "rounding": "yellow"}
WORDS = {
    "agree": "agrees",
    "differ": "differs",
    "unknown": "not known",
    "ties": "agrees up to ties",
    "rounding": "agrees up to Paddle's rounding",
}
_VERDICTS = {
    "agree": "The results agree with Paddle's.",
    "differ": "The results differ from Paddle's.",
    "unknown": "The results agree with Paddle's as far as they were compared.",
    "ties": "The results are Paddle's up to choices that are as right as its own (ties).",
    "rounding": "The results differ from Paddle's by Paddle's own rounding: in float64 it agrees with OpenVINO.",
}


@click.command("verify", context_settings=OLD_NAMES)
@click.argument("model", type=ModelType())
@params_option
@inputs_option
@click.option(
    "--image",
    "images",
    multiple=True,
    type=PathType(exists=True, dir_okay=False),
    help="An image, prepared as the inference.yml beside the model says; may be repeated.",
)
@shapes_option
@seed_option
@click.option(
    "--tolerance",
    type=float,
    help="Of floats, relative to the largest value of a result. Default: 1e-4 in float32, else 0.05.",
)
@compared_precision(
    "--precision",
    "What OpenVINO computes in; default: what it takes on this processor unless told otherwise; all: in float32, then "
    "accuracy and speed of each that this processor has hardware for, in one table.",
    "all",
)
@click.option(
    "--device",
    help="OpenVINO's name of the device that the graph is made for, and runs on. Default: any, on the CPU.",
)
@click.option(
    "--quantized",
    type=PathType(exists=True, dir_okay=False),
    help="For --precision all: the same model in int8, as paddle2ov quantize writes it (.xml).",
)
@click.option(
    "--output",
    "outputs",
    multiple=True,
    callback=joined,
    help="Names of the results to compare, separated by commas; may be repeated. Default: all.",
)
@timeout_option(
    600,
    "Seconds for all of it but the conversion and the compilation; then nothing more is looked for, and what is known "
    "by then is printed.",
)
@click.option(
    "--sequence-lengths",
    is_flag=True,
    help="Compare several sequences in one input of an old model (LoD), as convert --sequence-lengths takes them.",
)
@click.option("--operators", is_flag=True, help="Compare every operator even if the results agree.")
@click.option("--case", type=PathType(file_okay=False), help="Folder for the operator at fault.")
@extension_option
@paddle_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@traceback_option
def verify_command(
    model: Path,
    params: Path | None,
    inputs: tuple[Path, ...],
    images: tuple[Path, ...],
    shapes: tuple[str, ...],
    extensions: tuple[Path, ...],
    as_json: bool,
    traceback: bool,
    **options: Any,
) -> None:
    """Run MODEL in Paddle and in OpenVINO on the same inputs and compare.

    Each set of inputs is printed as soon as it is compared. Where the results differ, Paddle computes them in float64
    too, and the operator is looked for that is wrong by itself. Needs Paddle, which runs in a process of its own.

    The exit status is 0 if the results agree, 1 if they differ, 2 if that could not be found out, 3 if they are equal
    up to ties (another choice between equal scores, eigenvectors of another sign), and 4 if all that differs besides is
    Paddle's rounding: what it computes in float64 agrees with OpenVINO. With --precision all it is that of float32.
    """
    refuse_beside("--inputs or --image", bool(inputs or images))
    from paddle2ov.verification.verify import verify

    with plain_errors(traceback, extensions=extensions), progress_bar("reading") as progress:
        verification = verify(
            model,
            chosen_params(model, params),
            inputs=inputs,
            images=images,
            shapes=list(shapes),
            progress=progress,
            on_run=None if as_json else _print_compared,
            **options,
        )
    if as_json:
        click.echo(json.dumps(verification.to_dict(), indent=1))
    else:
        _print(verification)
    sys.exit(STATUS[verification.verdict])


def _print(verification: Verification) -> None:
    """What is known beyond the comparison of the results, which is printed by now."""
    for run in verification.runs:
        if not run.ok and not run.error:
            _print_explained(run)
    if verification.operators:
        worst = sorted(
            (operator for operator in verification.operators if operator.outputs), key=lambda operator: -operator.error
        )
        culprit, last = verification.culprit, verification.operators[-1].place
        until = " up to the one at fault" if culprit is not None and culprit.place == last else ""
        click.secho(
            f"operators{until}: {len(worst)} of {len(verification.operators)} compared; the largest differences",
            bold=True,
        )
        for entry in worst[:_WORST]:
            click.echo(f"  {entry.error:9.2g}  {entry.place}")
    if verification.rounded:
        _print_rounded(verification.rounded)
    if verification.culprit is not None:
        _print_culprit(verification.culprit)
    if verification.precisions is not None:
        print_precisions(verification.precisions)
    if verification.note:
        click.echo(verification.note)
    if verification.unfinished:
        click.secho(f"The time was up (--timeout); what was not finished: {verification.unfinished}", fg="yellow")
    click.secho(conclusion(verification), fg=_COLORS[verification.verdict])


def conclusion(verification: Verification) -> str:
    """What was found, in a sentence."""
    if verification.error:
        return f"OpenVINO does not run inputs that Paddle runs: {verification.error}"
    return _VERDICTS[verification.verdict]


def print_precisions(table: PrecisionTable) -> None:
    """Accuracy and speed of each precision, and what to choose."""
    click.secho(f"precision   times as fast         ms  agreement  largest difference   ({table.meaning})", bold=True)
    for row in table.rows:
        click.echo(
            f"{row.name:<9} {row.times:15.2f} {row.milliseconds:10.3f} {row.agreement:10.2%} {row.largest_text:>19}   "
            f"{': '.join(filter(None, (WORDS[row.verdict], row.reason)))}"
        )
    for name, reason in table.missing.items():
        click.echo(f"{name:<9} not compared: {reason}")
    click.echo(f"{table.advice}.")


def _print_compared(verification: Verification) -> None:
    """The set of inputs that was compared last."""
    if len(verification.runs) == 1:
        versions = f"Paddle {verification.paddle}, OpenVINO {verification.openvino}"
        click.echo(f"{verification.model} ({verification.format}): {versions}")
        click.echo(
            f"OpenVINO computes in {verification.precision}, Paddle in f32; tolerance {verification.tolerance:g}"
        )
    run = verification.runs[-1]
    click.secho(_shapes(run), bold=True)
    if run.refused:
        click.echo(f"  not compared: {run.refused}")
    if run.error:
        click.secho(f"  OpenVINO does not run these inputs: {run.error}", fg="red")
        return
    for output in run.outputs:
        distance = f"  absolute {output.absolute:.2g}, relative {output.relative:.2g}" if output.comparable else ""
        click.echo(f"  {output.name}  {output.dtype} {list(output.shape)}{distance}")
        if not output.ok:
            click.secho(f"    differs: {output.reason}", fg="red")


def _shapes(run: Run) -> str:
    return ", ".join(f"{name} {list(shape)}" for name, shape in run.inputs.items()) or "no inputs"


def _print_explained(run: Run) -> None:
    """Why the results of a set of inputs differ, as far as that is known."""
    if not (run.ties or run.float64 or run.rounding):
        return
    click.secho(_shapes(run), bold=True)
    for tie in run.ties:
        click.echo(f"  {tie.describe()}")
    if run.explained:
        click.secho("  equal up to these ties: from Paddle's choices on, the results agree", fg="yellow")
    elif isinstance(run.float64, str):
        click.echo(f"  not computed in float64: {run.float64}")
    else:
        differing = {output.name for output in run.outputs if not output.ok and output.comparable}
        for entry in run.float64:
            if entry.name in differing:
                click.echo(f"  {entry.describe()}")
    if run.rounding:
        click.secho("  this is Paddle's rounding", fg="yellow")


def _print_rounded(rounded: Sequence[Rounded]) -> None:
    click.secho("Paddle's rounding, alone and on the same inputs", bold=True)
    for rounding in rounded[:_MAX_ROUNDED]:
        click.echo(f"  {rounding.place}")
        for entry in rounding.float64:
            click.echo(f"    {entry.describe()}")
    if len(rounded) > _MAX_ROUNDED:
        click.echo(f"  {len(rounded) - _MAX_ROUNDED} more")


def _print_culprit(culprit: Culprit) -> None:
    click.secho(_title(culprit), fg="red", bold=True)
    for place in culprit.within:
        click.echo(f"  in {place}")
    click.echo(f"  {culprit.place}")
    for output in culprit.isolated or culprit.outputs:
        click.echo(f"  {output.name}: {output.reason or 'agrees when it gets the inputs of Paddle'}")
    if isinstance(culprit.float64, tuple):
        for entry in culprit.float64:
            click.echo(f"  {entry.describe()}")
    elif culprit.float64:
        click.echo(f"  not computed in float64: {culprit.float64}")
    if culprit.case is not None:
        click.echo(f"  its inputs and results: {culprit.case}")


def _title(culprit: Culprit) -> str:
    if culprit.amplifies:
        return "First to differ in the whole model, though not by itself"
    if isinstance(culprit.float64, tuple) and all(comparison.is_nearer for comparison in culprit.float64):
        return "Off by itself, though nearer to float64 than Paddle"
    return "First to differ although its inputs agree"
