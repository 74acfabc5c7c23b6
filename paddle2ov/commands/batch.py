"""`paddle2ov batch FOLDER -o OUT`."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paddle2ov.commands.exit_status import REFUSED
from paddle2ov.commands.precision_options import COMPARED, PrecisionChoice, is_stored_as_fp16, precision_option
from paddle2ov.commands.shared import PathType, device_option, extension_option, joined, need, not_nan, plain_errors

if TYPE_CHECKING:
    from paddle2ov.jobs.conversions import ConversionJob, Record
    from paddle2ov.jobs.discovery import FoundModel
    from paddle2ov.jobs.executor import Executor


@click.command("batch")
@click.argument("folder", type=PathType(path_type=Path))
@click.option(
    "-o", "--out", required=True, type=PathType(file_okay=False, path_type=Path), help="Where to write the models."
)
@click.option("--verify", "compare", is_flag=True, help="Run each model in Paddle too and compare.")
@click.option(
    "--verify-precision",
    "precision",
    type=PrecisionChoice(*COMPARED, "all"),
    default="f32",
    show_default=True,
    help="For --verify and --check: what OpenVINO computes in; all, for --verify: in each that this processor is made "
    "for, in one table.",
)
@click.option("--tolerance", type=float, help="For --verify: of floats, relative to the largest value of a result.")
@click.option("--check", is_flag=True, help="Check that this device computes each model right; needs no Paddle.")
@click.option("--paddle-python", type=PathType(), help="For --verify: an interpreter that has Paddle.")
@device_option
@precision_option
@click.option("--compress-to-fp16", "fp16", is_flag=True, default=None, help="The same as --precision f16.")
@extension_option
@click.option(
    "--input",
    "inputs",
    multiple=True,
    callback=joined,
    help='Inputs of each model, with shapes: "x[1,3,224..640,?]"; may be repeated.',
)
@click.option(
    "--output",
    "outputs",
    multiple=True,
    callback=joined,
    help="Names of the results to keep, of each model; may be repeated. Default: all.",
)
@click.option("--bounded", is_flag=True, help="Bound dynamic inputs by the inference.yml beside each model.")
@click.option("--preprocess", is_flag=True, help="Build the preprocessing of the inference.yml into each model.")
@click.option("--sequence-lengths", is_flag=True, help="Add inputs and results NAME.lengths, for old models (LoD).")
@click.option(
    "--report",
    "reports",
    is_flag=True,
    help="Compile and measure each model, and write what became of its operators beside it (.html).",
)
@click.option(
    "-j", "--workers", type=click.IntRange(1), default=None, help="Processes.  [default: half of the processors]"
)
@click.option(
    "--timeout",
    type=click.FloatRange(1, 10**9),
    callback=not_nan,
    default=600.0,
    show_default=True,
    help="Seconds for one model.",
)
@click.option(
    "--ray", metavar="ADDRESS", help="Run on this Ray cluster, which shares the file system; 'auto' finds it."
)
@click.option("--again", is_flag=True, help="Also convert what an earlier run has done.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
def batch_command(
    folder: Path,
    out: Path,
    compare: bool,
    check: bool,
    precision: str,
    tolerance: float | None,
    paddle_python: str | None,
    device: str | None,
    stored: str | None,
    fp16: bool | None,
    extensions: tuple[Path, ...],
    inputs: str | None,
    outputs: str | None,
    bounded: bool,
    preprocess: bool,
    sequence_lengths: bool,
    reports: bool,
    workers: int | None,
    timeout: float,
    ray: str | None,
    again: bool,
    quiet: bool,
) -> None:
    """Convert every Paddle model below FOLDER.

    The results mirror FOLDER below OUT, which also gets summary.json, summary.html (needs Jinja2) and the state
    (.paddle2ov-batch): a run that is interrupted goes on from there; a model that has changed or failed is done again.
    A model that crashes or takes too long fails alone.

    The exit status is 0 if every model is converted (and agrees, if need be up to the order of ties), 1 if not, 2 if
    nothing could be done.
    """
    from paddle2ov.jobs.conversions import GOOD
    from paddle2ov.jobs.discovery import find_models

    records: dict[str, Record] = {}
    as_fp16 = is_stored_as_fp16(stored, fp16)
    need({"--verify-precision": "precision"}, "--verify and --check", compare or check)
    need({"--tolerance": "tolerance", "--paddle-python": "paddle_python"}, "--verify", compare)
    if check and precision == "all":
        raise click.UsageError("--check computes in one precision: --verify-precision all is for --verify alone")
    again_from_here = "Interrupted; the same command goes on from here."
    with plain_errors(interrupted=again_from_here, extensions=extensions):  # each process runs them again
        if reports:
            from paddle2ov.reporting.page import check_target

            check_target(out / "report.html")
        models = find_models(folder, out, _warn)
        if not models:
            raise click.UsageError(f"no Paddle model below {folder}")
        settings: dict[str, Any] = {
            "input": inputs,
            "output": outputs,
            "preprocess": preprocess,
            "sequence_lengths": sequence_lengths,
            "precision": precision,
            "device": device,
            "tolerance": tolerance,
            "report": reports,
        }
        changing = (as_fp16, bounded, compare, check, settings, *(path.read_bytes() for path in extensions))
        paths = tuple(path.absolute() for path in extensions)
        options = {"fp16": as_fp16, "bounded": bounded, "compare": compare, "check": check, **settings}
        jobs = _jobs(models, {**options, "paddle_python": paddle_python, "extensions": paths}, changing)
        records = _run(_executor(ray, workers, timeout), jobs, out, again, quiet)
    with plain_errors():
        has_page = _write_summary(records, out)
    counts = Counter(record["state"] for record in records.values())
    if not quiet:
        click.echo(", ".join(f"{count} {state}" for state, count in sorted(counts.items())))
        click.echo(f"{out / 'summary.json'}")
        if has_page:
            click.echo(f"{out / 'summary.html'}")
        else:
            click.echo(f"{out / 'summary.html'} is not written: that needs Jinja2: pip install 'paddle2ov[report]'")
    sys.exit(0 if all(state in GOOD for state in counts) else REFUSED)


def _warn(message: str) -> None:
    from paddle2ov.jobs.names import printable

    click.secho(f"Warning: {printable(message)}", fg="yellow", err=True)


def _jobs(models: Sequence[FoundModel], options: Mapping[str, Any], changing: Sequence[object]) -> list[ConversionJob]:
    """The jobs for the models that can be read.

    Args:
        models: those that were found.
        options: fields of all jobs.
        changing: what makes a model of an earlier run stale when it changes, beside its files.
    """
    from paddle2ov.jobs.conversions import ConversionJob
    from paddle2ov.jobs.discovery import fingerprint

    jobs = []
    for model in models:
        try:
            changes_with = fingerprint(model, *changing)
        except OSError as error:
            _warn(f"{model.name}: skipped: {error}")
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


def _executor(ray: str | None, workers: int | None, timeout: float) -> Executor:
    if ray is not None:
        from paddle2ov.jobs.cluster import RayExecutor

        return RayExecutor(ray, timeout, workers)
    from paddle2ov.jobs.local import LocalExecutor

    return LocalExecutor(workers or max(1, (os.cpu_count() or 1) // 2), timeout, jobs_per_worker=50)


def _run(executor: Executor, jobs: list[ConversionJob], out: Path, again: bool, quiet: bool) -> dict[str, Record]:
    """Runs the jobs and returns the records of all of them, by their names."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import MofNCompleteColumn, Progress

    from paddle2ov.deployment.saving import remove_unfinished
    from paddle2ov.jobs.conversions import GOOD, run
    from paddle2ov.jobs.state import State

    with State.recovered(out / ".paddle2ov-batch", _warn) as state:
        if again:
            for job in jobs:
                state.put(job.name, {"state": "failed", "message": "not done yet", "fingerprint": ""})
        console = Console(stderr=True)
        columns = (*Progress.get_default_columns(), MofNCompleteColumn())
        with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
            task = bar.add_task("converting", total=len(jobs))

            def report(job: ConversionJob, record: Record) -> None:
                bar.update(task, advance=1, description=escape(job.name))
                for text in () if quiet else record.get("warnings", ()):
                    click.secho(f"Warning: {job.name}: {text}", fg="yellow", err=True)
                if record["state"] not in GOOD:
                    click.secho(f"{job.name}: {record['state']}: {record['message']}", fg="red", err=True)

            try:
                run(executor, jobs, state, report)
            finally:  # a process that is killed leaves what it was writing
                for folder in {job.target.parent for job in jobs}:
                    remove_unfinished(folder)
        records = state.records()
    return {job.name: records[job.name] for job in jobs}


def _write_summary(records: dict[str, Any], out: Path) -> bool:
    """Writes the summary as JSON and, which needs Jinja2, as a page; returns whether it did the latter."""
    from paddle2ov.deployment.saving import write_text
    from paddle2ov.jobs.conversions import GOOD

    data = {"models": [{"name": name, **_relative(record, out)} for name, record in records.items()]}
    write_text(out / "summary.json", json.dumps(data, indent=1) + "\n")
    try:
        from paddle2ov.reporting.page import BATCH, render

        shown = [
            {**model, "message": "; ".join(filter(None, [model.get("message"), *model.get("warnings", ())]))}
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
