"""Random cases of the operators, many at a time.

    python -m tools.campaign --seeds 200 --state FILE

Each operator is given `--seeds` random cases, spread over its formats, 20 a round. What Paddle accepts is converted
twice, as declared and with every dimension dynamic, and compared. A failure is printed with the smallest case that
shows it. With `--state` an interrupted campaign goes on where it was; what failed is tried again. The exit status is 1
if something failed.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from gen_models.harness import campaign
from gen_models.harness.generate import GenerationError
from gen_models.harness.legacy import formats_here
from gen_models.harness.store import FOLDER
from paddle2ov.errors import Paddle2OVError
from paddle2ov.jobs.cluster import RayExecutor
from paddle2ov.jobs.executor import Executor
from paddle2ov.jobs.local import LocalExecutor
from paddle2ov.jobs.state import State

TIMEOUT = 900.0
JOBS_PER_WORKER = 100  # Paddle and OpenVINO keep something of every program: a process is replaced now and then


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


@ends_in_order
def main(arguments: list[str]) -> int:
    """Run; the exit status."""
    options = _options(arguments)
    with State(options.state or campaign.scratch() / "state") as state:
        if not options.only_report:
            planned = campaign.chunks(options.filter, options.seeds, formats_here(), kept(options))
            if not planned:
                named = campaign.operators_named(options.filter)
                if not named:
                    print(f"error: no operator matches {options.filter!r}", file=sys.stderr)
                    return 2
                print(f"No random cases to run: {options.filter!r} selects none of {', '.join(named)}")
                return 0
            run(executor(options), planned, state, campaign.run_chunk)
        return 1 if _print(state.records()) else 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="testOpRandom/*", help="by name: 'testOpRandom/*pool*:-*legacy'")
    parser.add_argument("--seeds", type=number, default=20, help="cases per operator, over its formats")
    add_options(parser)
    return parser.parse_args(arguments)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of where a campaign runs, what it is kept in, and that it only reports that."""
    parser.add_argument("--workers", type=number, default=1, help="processes")
    parser.add_argument("--ray", metavar="ADDRESS", help="run on this Ray cluster, which shares this file system")
    parser.add_argument("--state", type=Path, help="file that the campaign is kept in and continued from")
    parser.add_argument("--only-report", action="store_true", help="run nothing: report what the state holds")


def kept(options: argparse.Namespace) -> Path:
    """The folder for what fails."""
    path = options.state.with_name(options.state.name + "_failures") if options.state else FOLDER.parent / "failures"
    return Path(path.absolute())


def number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 1 or more")
    return int(text)


def executor(options: argparse.Namespace, timeout: float = TIMEOUT) -> Executor:
    """What runs a campaign's jobs."""
    if options.ray is not None:
        return RayExecutor(options.ray, timeout)
    return LocalExecutor(options.workers, timeout, JOBS_PER_WORKER)


def run(
    executor: Executor,
    planned: list[campaign.AnyChunk],
    state: State,
    function: Callable[[campaign.AnyChunk], dict[str, Any]],
) -> None:
    """Runs a campaign, and shows how far it is."""
    from rich.progress import Progress

    done = {key for key, record in state.records().items() if "failure" not in record}
    with Progress(*Progress.get_default_columns(), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("rounds", total=sum(chunk.key not in done for chunk in planned))

        def report(chunk: campaign.AnyChunk, record: dict[str, Any]) -> None:
            bar.update(task, advance=1, description=chunk.name)
            if "failure" in record:
                bar.console.print(f"FAILED {chunk.name}", markup=False)

        campaign.run(executor, planned, state, report, function)


def _print(records: dict[str, Any]) -> int:
    failed = {key: record for key, record in records.items() if "failure" in record}
    for key, record in failed.items():
        print(f"\ntestOpRandom/{key.rpartition('/')[0]}")
        print(f"  {record['case'] or '(no case)'}\n  {record['failure']}\n  kept: {record['kept']}")
    compared: dict[str, set[str]] = defaultdict(set)
    for key, record in records.items():  # a case that two rounds drew counts once
        compared[key.rpartition("/")[0]].update(record["compared"])
    cases = sum(map(len, compared.values()))
    operators = {key.partition("/")[0] for key, found in compared.items() if found}
    print(f"{cases} cases of {len(operators)} operators compared, {len(failed)} failures")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
