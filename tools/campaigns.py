"""What campaigns share: chunks of work on any executor, a state file that records what has run, options, progress.

A chunk that fails is run again when the campaign is started again.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, Protocol, TypeVar

from gen_models.harness.generate import GenerationError
from gen_models.harness.store import FOLDER
from paddle2ov.errors import Paddle2OVError
from paddle2ov.jobs.cluster import RayExecutor
from paddle2ov.jobs.executor import Executor, Outcome
from paddle2ov.jobs.local import LocalExecutor
from paddle2ov.jobs.state import State

TIMEOUT = 900.0
JOBS_PER_WORKER = 100  # Paddle and OpenVINO keep something of every program: a process is replaced now and then


class Chunk(Protocol):
    """A piece of work, with the name that tests have, a key in the state, and the folder for what fails."""

    @property
    def name(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def kept(self) -> str: ...


AnyChunk = TypeVar("AnyChunk", bound=Chunk)


def ends_in_order(main: Callable[[list[str]], int]) -> Callable[[list[str]], int]:
    """A command that says what stops it in a line: exit status 2 for an error of ours or of files, 130 for Ctrl-C."""

    @wraps(main)
    def run_main(arguments: list[str]) -> int:
        try:
            return main(arguments)
        except (Paddle2OVError, GenerationError, OSError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            print("Interrupted; with --state the same command goes on from here.", file=sys.stderr)
            return 130

    return run_main


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of where a campaign runs, what it is kept in, and that it only reports that."""
    parser.add_argument("--workers", type=number, default=1, help="processes")
    parser.add_argument("--ray", metavar="ADDRESS", help="run on this Ray cluster, which shares this file system")
    parser.add_argument("--state", type=Path, help="file that the campaign is kept in and continued from")
    parser.add_argument("--only-report", action="store_true", help="run nothing: report what the state holds")


def number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 1 or more")
    return int(text)


def kept(options: argparse.Namespace) -> Path:
    """The folder for what fails."""
    path = options.state.with_name(options.state.name + "_failures") if options.state else FOLDER.parent / "failures"
    return Path(path.absolute())


def scratch() -> Path:
    """A new folder for what is not to be continued."""
    return Path(tempfile.mkdtemp(prefix=f"campaign-{os.getpid()}-"))


def conduct(
    options: argparse.Namespace,
    planned: Sequence[AnyChunk],
    function: Callable[[AnyChunk], dict[str, Any]],
    timeout: float = TIMEOUT,
) -> dict[str, Any]:
    """Runs a campaign as its options say; what the state holds then."""
    with State(options.state or scratch() / "state") as state:
        if planned:
            run(executor(options, timeout), planned, state, function)
        return state.records()


def executor(options: argparse.Namespace, timeout: float) -> Executor:
    """What runs a campaign's chunks."""
    if options.ray is not None:
        return RayExecutor(options.ray, timeout)
    return LocalExecutor(options.workers, timeout, JOBS_PER_WORKER)


def run(
    executor: Executor,
    planned: Sequence[AnyChunk],
    state: State,
    function: Callable[[AnyChunk], dict[str, Any]],
) -> None:
    """Runs the chunks that the state does not hold, or holds as failed, and shows how far it is."""
    from rich.progress import Progress

    left = [chunk for chunk in planned if (record := state.get(chunk.key)) is None or "failure" in record]
    with Progress(*Progress.get_default_columns(), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("rounds", total=len(left))
        for outcome in executor.run(function, left):
            record = outcome.returned if outcome.returned is not None else _crash(outcome)
            state.put(outcome.job.key, record)
            bar.update(task, advance=1, description=outcome.job.name)
            if "failure" in record:
                bar.console.print(f"FAILED {outcome.job.name}", markup=False)


def _crash(outcome: Outcome[Any, Any]) -> dict[str, Any]:
    """The record of a chunk that did not return, with what it drew last."""
    kept = outcome.job.kept
    drawn = Path(kept) / "drawn.txt"
    case = drawn.read_text() if drawn.is_file() else ""
    return {"compared": [], "failure": outcome.failure, "case": case, "kept": kept}
