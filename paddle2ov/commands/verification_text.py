"""What `paddle2ov verify` prints of what it found."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from paddle2ov.report import shapes_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle2ov.verification.results import Culprit, PrecisionTable, Rounded, Run, Verification

_WORST = 5
_MAX_ROUNDED = 3
_COLORS = {"agree": "green", "differ": "red", "unknown": "yellow", "ties": "yellow", "rounding": "yellow"}
_VERDICTS = {
    "agree": "The results agree with Paddle's.",
    "differ": "The results differ from Paddle's.",
    "unknown": "The results agree with Paddle's as far as they were compared.",
    "ties": "The results are Paddle's up to choices that are as right as its own (ties). Nothing is to be done "
    "(status 3).",
    "rounding": "The results differ from Paddle's by Paddle's own rounding: in float64, Paddle agrees with OpenVINO. "
    "Nothing is to be done (status 4).",
}
NOTHING = "Nothing was compared with Paddle."
_MORE_TIME = "Paddle alone takes seconds to start: give more time with --timeout SECONDS (0: no limit)"


def print_verification(verification: Verification, as_json: bool, is_interrupted: bool = False) -> None:
    """What is known beyond the comparison of the results, which is printed by now; as JSON, all of it."""
    if as_json:
        click.echo(json.dumps(verification.to_dict(), indent=1))
        return
    for run in () if verification.is_compared else verification.runs:
        _print_run(run, verification.tolerance)
    for run in verification.runs:
        if not run.ok and not run.error:
            _print_explained(run)
    if verification.operators:
        worst = sorted(
            (operator for operator in verification.operators if operator.outputs), key=lambda operator: -operator.error
        )
        culprit, last = verification.culprit, verification.operators[-1].place
        until = " up to the one at fault" if culprit is not None and culprit.place == last else ""
        blame = ", none is at fault" if verification.verdict == "rounding" else ""
        click.secho(
            f"operators{until}: {len(worst)} of {len(verification.operators)} compared{blame}; the largest differences",
            bold=True,
        )
        for entry in worst[:_WORST]:
            reasons = "; ".join(output.reason for output in entry.outputs if not output.comparable)
            click.echo(f"  {'-':>9}  {entry.place}: {reasons}" if reasons else f"  {entry.error:9.2g}  {entry.place}")
    if verification.rounded:
        _print_rounded(verification.rounded)
    if verification.culprit is not None:
        _print_culprit(verification.culprit)
    if verification.precisions is not None:
        print_precisions(verification.precisions)
    if verification.note:
        click.echo(verification.note)
    if verification.unfinished:
        stopped = "Interrupted" if is_interrupted else "The time was up (--timeout)"
        click.secho(f"{stopped}; what was not finished: {verification.unfinished}", fg="yellow")
        if not (is_interrupted or verification.is_compared):
            click.secho(_MORE_TIME, fg="yellow")
    click.secho(conclusion(verification), fg=_COLORS[verification.verdict])


def conclusion(verification: Verification) -> str:
    """What was found, in a sentence."""
    if verification.error:
        return f"OpenVINO does not run inputs that Paddle runs: {verification.error}"
    if verification.verdict == "unknown" and not verification.is_compared:
        return NOTHING
    return _VERDICTS[verification.verdict]


def print_precisions(table: PrecisionTable) -> None:
    """Accuracy and speed of each precision, and what to choose."""
    click.secho(
        f"precision   times as fast         ms  agreement  largest difference   (agreement: {table.meaning})", bold=True
    )
    for row in table.rows:
        click.echo("{:<9} {:>15} {:>10} {:>10} {:>19}   {}".format(*row.cells))
    for name, reason in table.missing.items():
        click.echo(f"{name:<9} not compared: {reason}")
    click.echo(f"{table.advice}.")


def print_compared(verification: Verification) -> None:
    """The set of inputs that was compared last; those that Paddle refuses wait for one that it takes."""
    if not verification.is_compared:
        return  # if it takes none, the error says why
    *before, run = verification.runs
    is_first = all(item.refused for item in before)
    if is_first:
        versions = f"Paddle {verification.paddle}, OpenVINO {verification.openvino}"
        click.echo(f"{verification.model} ({verification.format}): {versions}")
        click.echo(
            f"OpenVINO computes in {verification.precision}, Paddle in f32; tolerance {verification.tolerance:g}"
        )
    for item in (*(before if is_first else ()), run):
        _print_run(item, verification.tolerance)


def _print_run(run: Run, tolerance: float) -> None:
    click.secho(shapes_text(run.inputs) or "no inputs", bold=True)
    if run.refused:
        click.echo(f"  not compared: {run.refused}")
    if run.error:
        click.secho(f"  OpenVINO does not run these inputs: {run.error}", fg="red")
        return
    for output in run.outputs:
        digits = _digits(output.relative, tolerance)
        distance = f"  absolute {output.absolute:.{digits}g}, relative {output.relative:.{digits}g}"
        distance = distance if output.comparable else ""
        click.echo(f"  {output.name}  {output.dtype} {list(output.shape)}{distance}")
        if not output.ok:
            click.secho(f"    differs: {output.reason}", fg="red")


def _digits(difference: float, tolerance: float) -> int:
    """Two, or as many as show that a difference is above the tolerance."""
    above = (n for n in range(2, 17) if float(f"{difference:.{n}g}") > tolerance)
    return next(above, 17) if difference > tolerance else 2


def _print_explained(run: Run) -> None:
    """Why the results of a set of inputs differ, as far as that is known."""
    if not (run.ties or run.float64 or run.rounding):
        return
    click.secho(shapes_text(run.inputs) or "no inputs", bold=True)
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
