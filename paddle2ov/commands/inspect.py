"""`paddle2ov inspect MODEL`: prints what `inspection.py` finds."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from paddle2ov.commands.conversion_options import input_option, output_option
from paddle2ov.commands.exit_status import REFUSED
from paddle2ov.commands.shared import ModelCommand, last_options, model_options
from paddle2ov.errors import NEXT_STEPS
from paddle2ov.report import size_text

if TYPE_CHECKING:
    from paddle2ov.inspection import Inspection


@click.command("inspect", cls=ModelCommand)
@model_options
@input_option
@output_option
@last_options
def inspect_command(as_json: bool, **options: Any) -> None:
    """Show what MODEL is made of and whether it converts; nothing is written.

    The conversion is tried, with --input and --output; what the model is made of is that of the whole program.

    The exit status is 0 if it converts, 1 if not, and 2 if that could not be found out.
    """
    from paddle2ov.inspection import inspect

    inspection = inspect(**options)
    if as_json:
        click.echo(json.dumps(inspection.to_dict(), indent=1))
    else:
        _print(inspection)
    sys.exit(0 if inspection.convertible else REFUSED)


def _print(inspection: Inspection) -> None:
    nesting = f", branches and loops {inspection.nesting} deep" if inspection.nesting else ""
    dead = f", {inspection.dead_operators} operators that no result needs" if inspection.dead_operators else ""
    paddle = f" (Paddle {inspection.paddle})" if inspection.paddle else ""
    click.echo(f"{inspection.format} program, version {inspection.version}{paddle}{nesting}{dead}")
    click.echo(f"{inspection.parameters} parameters, {size_text(inspection.parameter_bytes)}")
    for kind, ports in (("inputs", inspection.inputs), ("results", inspection.outputs)):
        click.secho(f"{kind}, as declared", bold=True)
        for port in ports:
            shape = "?" if port.shape is None else ", ".join("?" if dim < 0 else str(dim) for dim in port.shape)
            sequences = "  sequences (LoD)" if port.has_sequences else ""
            click.echo(f"  {port.name}  {port.dtype} [{shape}]{sequences}")
    if any(port.has_sequences for port in inspection.inputs):
        click.echo("  It is converted for one sequence in each input; convert --sequence-lengths takes several.")
    click.secho("operators", bold=True)
    for operator in inspection.operators:
        click.echo(f"  {operator.count:5}  {operator.name}{'' if operator.supported else '  (no converter)'}")
    if inspection.convertible:
        click.secho("It converts.", fg="green")
    for refusal in inspection.refusals:
        first, *places = str(refusal).splitlines()
        click.secho(f"Refused: {first}", fg="red")
        click.echo("\n".join(places))
    if any(not refusal.given for refusal in inspection.refusals):
        click.echo(NEXT_STEPS)
    elif inspection.refusals:
        click.echo("It converts with what the program declares: leave out --input, or give what fits.")
