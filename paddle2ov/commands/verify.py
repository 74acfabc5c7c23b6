"""`paddle2ov verify MODEL`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from paddle2ov.commands.shared import (
    ModelType,
    PathType,
    extension_option,
    params_option,
    plain_errors,
    progress_bar,
    traceback_option,
)

if TYPE_CHECKING:
    from paddle2ov.verification.verify import Culprit, Precision, Run, Verification

STATUS = {"agree": 0, "differ": 1, "ties": 3}
STATUS_UNKNOWN = 2
_WORST = 5
_COLORS = {"agree": "green", "differ": "red", "ties": "yellow"}
VERDICTS = {
    "agree": "The results agree with Paddle's.",
    "differ": "The results differ from Paddle's.",
    "ties": "The results are Paddle's up to the order of ties.",
}


@click.command("verify")
@click.argument("model", type=ModelType())
@params_option
@click.option(
    "--inputs",
    multiple=True,
    type=PathType(exists=True, dir_okay=False, path_type=Path),
    help="An .npz file with an array for each input; may be repeated. Default: random inputs.",
)
@click.option(
    "--image",
    "images",
    multiple=True,
    type=PathType(exists=True, dir_okay=False, path_type=Path),
    help="An image, prepared as the inference.yml beside the model says; may be repeated.",
)
@click.option(
    "--shape",
    "shapes",
    multiple=True,
    help='Shapes of random inputs: "x[1,3,48,320]"; may be repeated. Default: three, if the model\'s are dynamic.',
)
@click.option("--seed", default=0, show_default=True, help="Of the random inputs.")
@click.option(
    "--tolerance",
    type=float,
    help="Of floats, relative to the largest value of a result. Default: 1e-4 in float32, else 0.05.",
)
@click.option(
    "--precision",
    type=click.Choice(["f32", "bf16", "default"]),
    default="f32",
    show_default=True,
    help="What OpenVINO computes in; default: what it takes on this processor unless told otherwise.",
)
@click.option("--output", "outputs", help="Names of the results to compare, separated by commas. Default: all.")
@click.option("--operators", is_flag=True, help="Compare every operator even if the results agree.")
@click.option("--case", type=PathType(file_okay=False, path_type=Path), help="Folder for the operator at fault.")
@extension_option
@click.option("--paddle-python", type=PathType(), help="An interpreter that has Paddle. Default: this one.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@traceback_option
def verify_command(
    model: Path,
    params: Path | None,
    inputs: tuple[Path, ...],
    images: tuple[Path, ...],
    shapes: tuple[str, ...],
    seed: int,
    tolerance: float | None,
    precision: Precision,
    outputs: str | None,
    operators: bool,
    case: Path | None,
    extensions: tuple[Path, ...],
    paddle_python: str | None,
    as_json: bool,
    traceback: bool,
) -> None:
    """Run MODEL in Paddle and in OpenVINO on the same inputs and compare.

    Where they differ, the first operator is named whose results differ although its inputs agree. Needs Paddle, which
    runs in a process of its own.

    The exit status is 0 if the results agree, 1 if they differ, 2 if that could not be found out, and 3 if they are
    equal up to the order of ties: sorts and selections that choose otherwise between equal scores.
    """
    from paddle2ov.verification.verify import verify

    with plain_errors(traceback, STATUS_UNKNOWN):
        from paddle2ov.translation.extension import run_extensions

        run_extensions(extensions)
        with progress_bar("reading") as progress:
            found = verify(
                model,
                params,
                inputs=inputs,
                images=images,
                shapes=list(shapes),
                seed=seed,
                tolerance=tolerance,
                precision=precision,
                outputs=outputs,
                operators=operators,
                case=case,
                paddle_python=paddle_python,
                progress=progress,
            )
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=1))
    else:
        _print(found)
    sys.exit(STATUS[found.verdict])


def _print(found: Verification) -> None:
    click.echo(f"{found.model} ({found.format}): Paddle {found.paddle}, OpenVINO {found.openvino}")
    click.echo(f"OpenVINO computes in {found.precision}, Paddle in f32; tolerance {found.tolerance:g}")
    for run in found.runs:
        _print_run(run)
    if found.operators:
        worst = sorted((one for one in found.operators if one.outputs), key=lambda one: -one.error)
        click.secho(f"operators: {len(worst)} of {len(found.operators)} compared; the largest differences", bold=True)
        for entry in worst[:_WORST]:
            click.echo(f"  {entry.error:9.2g}  {entry.place}")
    if found.culprit is not None:
        _print_culprit(found.culprit)
    if found.note:
        click.echo(found.note)
    click.secho(VERDICTS[found.verdict], fg=_COLORS[found.verdict])


def _print_run(run: Run) -> None:
    shapes = ", ".join(f"{name} {list(shape)}" for name, shape in run.inputs.items())
    click.secho(shapes or "no inputs", bold=True)
    if run.refused:
        click.echo(f"  not compared: {run.refused}")
    for one in run.outputs:
        distance = f"absolute {one.absolute:.2g}, relative {one.relative:.2g}"
        click.echo(f"  {one.name}  {one.dtype} {list(one.shape)}  {distance}")
        if not one.ok:
            click.secho(f"    differs: {one.reason}", fg="yellow" if run.explained else "red")
    for tie in run.ties:
        click.echo(f"  {tie.describe()}")
    if run.explained:
        click.secho("  equal up to these ties: from Paddle's choices on, the results agree", fg="yellow")


def _print_culprit(culprit: Culprit) -> None:
    click.secho("First to differ although its inputs agree", fg="red", bold=True)
    for place in culprit.within:
        click.echo(f"  in {place}")
    click.echo(f"  {culprit.place}")
    for one in culprit.isolated or culprit.outputs:
        click.echo(f"  {one.name}: {one.reason or 'agrees when it gets the inputs of Paddle'}")
    if culprit.case is not None:
        click.echo(f"  its inputs and results: {culprit.case}")
