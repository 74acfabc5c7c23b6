"""`paddle2ov check MODEL`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paddle2ov.commands.conversion_options import compared_precision
from paddle2ov.commands.exit_status import REFUSED, TIES
from paddle2ov.commands.shared import (
    OLD_NAMES,
    ModelCommand,
    PathType,
    inputs_option,
    last_options,
    model_options,
    progress_bar,
    random_input_options,
    refuse_beside,
    timeout_option,
)
from paddle2ov.report import shapes_text

if TYPE_CHECKING:
    from paddle2ov.checking.results import Check, CheckedRun, Fault

STATUS = {"agree": 0, "differ": REFUSED, "ties": TIES}
_COLORS = {"agree": "green", "differ": "red", "ties": "yellow"}
_VERDICTS = {
    "agree": "The device computes what the graph says.",
    "differ": "The device does not compute what the graph says.",
    "ties": "The device computes what the graph says, up to choices between nearly equal numbers.",
}
REWRITE = "A rewrite of the conversion changes what the graph computes."
_WAYS = {
    "float64": "by NumPy in float64",
    "evaluate": "by OpenVINO's reference evaluation",
    "alone": "by the device, each node alone",
}


@click.command("check", cls=ModelCommand, context_settings=OLD_NAMES)
@model_options
@inputs_option
@random_input_options
@click.option("--device", default="CPU", show_default=True, help="OpenVINO's name of the device.")
@compared_precision("--precision", "What the device computes in; default: what it takes unless told otherwise.")
@click.option("--case", type=PathType(file_okay=False), help="Folder for the smallest part at fault.")
@timeout_option(
    300,
    "Seconds to look for the smallest part, after which the smallest found so far is taken; the comparison before it "
    "is not limited.",
)
@last_options
def check_command(inputs: tuple[Path, ...], as_json: bool, **options: Any) -> None:
    """Check that a device computes MODEL right: a Paddle model or an IR (.xml). Needs no Paddle.

    The compiled model runs inputs of several sizes on one request; its results are compared with those of the graph
    computed node by node. Where they differ by more than rounding, the smallest part of the graph that is wrong is
    looked for, or the rewrite of the conversion that is.

    The exit status is 0 if the results agree, 1 if they differ, 2 if that could not be found out, and 3 if they are
    equal up to choices between nearly equal numbers.
    """
    refuse_beside("--inputs", bool(inputs))
    from paddle2ov.checking.check import check

    with progress_bar("reading") as progress:
        result = check(inputs=inputs, progress=progress, **options)
    if as_json:
        click.echo(json.dumps(result.to_dict(), indent=1))
    else:
        _print(result)
    sys.exit(STATUS[result.verdict])


def _print(result: Check) -> None:
    click.echo(f"{result.model}: OpenVINO {result.openvino}")
    own = (
        "" if result.precision == result.default_precision else f"; unless told otherwise in {result.default_precision}"
    )
    click.echo(f"{result.device} computes in {result.precision}{own}")
    for run in result.runs:
        _print_run(run)
    if result.references:
        graph = "graph before rewrites" if result.is_converted else "graph of the file"
        click.echo(f"compared with the {graph}; its nodes, constants aside, computed one by one")
    for way, kinds in result.references.items():
        some = ", ".join(kinds) if way == "alone" else ""
        click.echo(f"{sum(kinds.values()):7} {_WAYS[way]}{': ' if some else ''}{some}")
    for fault in result.faults:
        _print_fault(fault)
    if result.note:
        click.echo(result.note)
    only_rewrites = result.faults and all(fault.kind == "rewrite" for fault in result.faults)
    click.secho(REWRITE if only_rewrites else _VERDICTS[result.verdict], fg=_COLORS[result.verdict])


def _print_run(run: CheckedRun) -> None:
    click.secho(f"request {run.request + 1}: {shapes_text(run.inputs) or 'no inputs'}", bold=True)
    if run.refused:
        click.echo(f"  not compared: {run.refused}")
    if run.error:
        click.secho(f"  the device cannot: {run.error}", fg="red")
    for output in run.outputs:
        if output.drawn:
            click.echo(f"  {output.name}  depends on random numbers")
            continue
        click.echo(
            f"  {output.name}  {output.dtype}  absolute {output.absolute:.2g}, relative {output.relative:.2g}; "
            f"rounding allows absolute {output.allowed:.2g}"
        )
        if not output.ok:
            click.secho(f"    differs: {output.reason}", fg="red")
    for tie in run.ties:
        click.secho(f"  {tie.describe()}", fg="yellow")


def _print_fault(fault: Fault) -> None:
    if fault.kind == "rewrite":
        click.secho(f"The rewrite {fault.name} changes what the graph computes", fg="red", bold=True)
        click.echo(f"  {fault.reason}")
        return
    click.secho("The smallest part that is wrong", fg="red", bold=True)
    click.echo(f"  {', '.join(fault.nodes) or fault.name}")
    for primitive in fault.primitives:
        click.echo(f"  computed as {primitive}")
    if fault.references:
        click.echo(f"  compared with {', '.join(fault.references)}")
    for shapes in fault.shapes:
        click.echo(f"  run on {', '.join(str(list(shape)) for shape in shapes)}")
    click.echo(f"  {fault.reason}")
    if fault.case is not None:
        click.echo(f"  as files: {fault.case} (python {fault.case / 'reproduce.py'})")
