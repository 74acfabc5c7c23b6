"""`paddle2ov batch PATH... -o OUT`."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
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
from paddle2ov.commands.exit_status import REFUSED
from paddle2ov.commands.shared import PathType, need, plain_errors, timeout_option, tolerance_option
from paddle2ov.errors import ModelReadError, install_command, system_message

if TYPE_CHECKING:
    from paddle2ov.jobs.conversions import ConversionJob, Record
    from paddle2ov.jobs.discovery import FoundModel
    from paddle2ov.jobs.executor import Executor


@click.command("batch", cls=ConversionCommand)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=PathType())
@click.option("-o", "--out", required=True, type=PathType(file_okay=False), help="Where to write the models.")
@click.option("--verify", "compare", is_flag=True, help="Run each model in Paddle too and compare.")
@compared_precision(
    "--verify-precision",
    "For --verify and --check: what OpenVINO computes in; all, for --verify: in each that this processor is made for, "
    "in one table.",
    "all",
)
@tolerance_option("For --verify: of floats, relative to the largest value of a result.")
@click.option("--check", is_flag=True, help="Check that this device computes each model right; needs no Paddle.")
@paddle_option
@conversion_options
@click.option(
    "--report",
    is_flag=True,
    help="Compile and measure each model, and write what became of its operators beside it (.html).",
)
@click.option(
    "-j", "--workers", type=click.IntRange(1), default=None, help="Processes.  [default: half of the processors]"
)
@timeout_option(600, "Seconds for all that is done with one model, after which it counts as failed.")
@click.option(
    "--ray", metavar="ADDRESS", help="Run on this Ray cluster, which shares the file system; 'auto' finds it."
)
@click.option("--again", is_flag=True, help="Also convert what an earlier run has done.")
@quiet_option
def batch_command(
    paths: tuple[Path, ...],
    out: Path,
    extensions: tuple[Path, ...],
    workers: int | None,
    timeout: float | None,
    ray: str | None,
    again: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Convert every Paddle model of each PATH: below a folder, in an archive, of a program file.

    The results mirror a folder below OUT: of FOLDER/a/inference.json comes OUT/a.xml, of FOLDER/b.tar OUT/b.xml. Of
    several PATHs, each is one more level: OUT/FOLDER/a.xml. OUT also gets summary.json, summary.html (needs Jinja2) and
    the state (.paddle2ov-batch): a run that is interrupted goes on from there; a model that has changed or failed is
    done again. A model that crashes or takes too long fails alone.

    The exit status is 0 if every model is converted (and agrees, if need be up to ties or Paddle's rounding), 1 if
    not, 2 if nothing could be done.
    """
    from paddle2ov.jobs.conversions import GOOD
    from paddle2ov.jobs.discovery import find_models
    from paddle2ov.program.files import LOOKED_FOR

    compare, check = options["compare"], options["check"]
    need("--verify and --check", compare or check, "--verify-precision")
    need("--verify", compare, "--tolerance", "--paddle-python")
    if check and options["precision"] == "all":
        raise click.UsageError("--check computes in one precision: --verify-precision all is for --verify alone")
    interrupted = f"Interrupted; the same command{' without --again' if again else ''} goes on from here."
    with plain_errors(interrupted=interrupted, extensions=extensions):  # each process runs them again
        if options["report"]:
            from paddle2ov.reporting.page import check_target

            check_target(out / "report.html")
        models = find_models(paths, out, _warn)
        if not models:
            raise ModelReadError(
                f"{', '.join(map(str, paths))}: no Paddle inference model there (looked for {LOOKED_FOR}, and archives)"
            )
        if compare and ray is None:
            from paddle2ov.comparison.paddle_process import check_paddle

            check_paddle(options["paddle_python"])
        changing: tuple[object, ...] = ({**options, "paddle_python": None}, *(path.read_bytes() for path in extensions))
        jobs = _jobs(models, {**options, "extensions": tuple(path.absolute() for path in extensions)}, changing)
        records, kept = _run(_executor(ray, workers, timeout), jobs, out, again, quiet)
    with plain_errors():
        has_page = _write_summary(records, out)
    counts = Counter(record["state"] for record in records.values())
    if not quiet:
        click.echo(", ".join(f"{state}: {count}" for state, count in sorted(counts.items())))
        if kept:
            click.echo(f"{kept} of these by an earlier run; --again does them anew")
        doubtful = [
            record["target"] for record in records.values() if record["state"] not in GOOD and "target" in record
        ]
        if doubtful:
            click.echo(f"written, but not to be relied on: {', '.join(os.path.relpath(path) for path in doubtful)}")
        click.echo(f"{out / 'summary.json'}")
        if has_page:
            click.echo(f"{out / 'summary.html'}")
        else:
            click.echo(f"{out / 'summary.html'} is not written: that needs Jinja2: {install_command('report')}")
    sys.exit(0 if all(state in GOOD for state in counts) else REFUSED)


def _warn(message: str) -> None:
    from paddle2ov.jobs.names import printable

    if not click.get_current_context().params["quiet"]:
        click.secho(f"warning: {printable(message)}", fg="yellow", err=True)


def _jobs(models: Sequence[FoundModel], options: Mapping[str, Any], changing: Sequence[object]) -> list[ConversionJob]:
    """The jobs for the models that can be read; what is `changing` makes models of an earlier run stale."""
    from paddle2ov.jobs.conversions import ConversionJob
    from paddle2ov.jobs.discovery import fingerprint

    jobs = []
    for model in models:
        try:
            changes_with = fingerprint(model, *changing)
        except OSError as error:
            _warn(f"{model.name}: skipped: {system_message(error)}")
            continue
        jobs.append(
            ConversionJob(
                name=model.name,
                program=model.files.program.absolute(),
                params=model.files.params and model.files.params.absolute(),
                format=model.files.format,
                target=model.target.absolute(),
                fingerprint=changes_with,
                **options,
            )
        )
    return jobs


def _executor(ray: str | None, workers: int | None, timeout: float | None) -> Executor:
    if ray is not None:
        from paddle2ov.jobs.cluster import RayExecutor

        return RayExecutor(ray, timeout, workers)
    from paddle2ov.jobs.local import LocalExecutor

    return LocalExecutor(workers or max(1, (os.cpu_count() or 1) // 2), timeout, jobs_per_worker=50)


def _run(
    executor: Executor, jobs: list[ConversionJob], out: Path, again: bool, quiet: bool
) -> tuple[dict[str, Record], int]:
    """Runs the jobs; returns the records of all of them by their names, and how many an earlier run has done."""
    from rich.console import Console
    from rich.markup import escape

    from paddle2ov.commands.bars import bar_on
    from paddle2ov.deployment.saving import remove_unfinished
    from paddle2ov.jobs.conversions import GOOD, run, waiting
    from paddle2ov.jobs.state import State

    with State.recovered(out / ".paddle2ov-batch", _warn) as state:
        if again:
            for job in jobs:
                state.put(job.name, {"state": "failed", "message": "not done yet", "fingerprint": ""})
        to_do = waiting(jobs, state)
        console = Console(stderr=True)
        with bar_on(console, counts=True, disable=quiet or not console.is_terminal) as bar:
            task = bar.add_task("converting", total=len(to_do))

            def report(job: ConversionJob, record: Record) -> None:
                bar.update(task, advance=1, description=escape(job.name))
                for text in () if quiet else record.get("warnings", ()):
                    click.secho(f"warning: {job.name}: {text}", fg="yellow", err=True)
                if "settings" in record and not quiet:
                    click.echo(f"{job.name}: {record['settings']}", err=True)
                if record["state"] not in GOOD:
                    click.secho(f"{job.name}: {record['state']}: {record['message']}", fg="red", err=True)

            try:
                run(executor, to_do, state, report)
            finally:  # a process that is killed leaves what it was writing
                for folder in {job.target.parent for job in jobs}:
                    remove_unfinished(folder)
        records = state.records()
    return {job.name: records[job.name] for job in jobs}, len(jobs) - len(to_do)


def _write_summary(records: dict[str, Any], out: Path) -> bool:
    """Writes the summary as JSON and, which needs Jinja2, as a page; returns whether it did the latter."""
    from paddle2ov.deployment.saving import write_text
    from paddle2ov.jobs.conversions import GOOD

    data = {"models": [{"name": name, **_relative(record, out)} for name, record in records.items()]}
    write_text(out / "summary.json", json.dumps(data, indent=1) + "\n")
    try:
        from paddle2ov.reporting.page import BATCH, render

        shown = [
            {
                **model,
                "message": "; ".join(
                    filter(None, [model.get("message"), model.get("settings"), *model.get("warnings", ())])
                ),
            }
            for model in data["models"]
        ]
        page = render("batch.html.jinja", {"models": shown, "good": GOOD}, BATCH, models=shown, done=GOOD)
    except ImportError:
        (out / "summary.html").unlink(missing_ok=True)  # of an earlier run
        return False
    write_text(out / "summary.html", page)
    return True


def _relative(record: Record, out: Path) -> Record:
    """A record whose report is named as the summary, in the folder of the results, links to it."""
    if "report" not in record:
        return record
    return {**record, "report": Path(os.path.relpath(record["report"], out.absolute())).as_posix()}
