"""Random cases of the operators, many at a time.

    python -m tools.campaign --seeds 200 --state FILE --page docs/campaign.md

Each operator is given `--seeds` random cases, spread over its formats, 20 a round. What Paddle accepts is converted
twice, as declared and with every dimension dynamic, and compared. A failure is printed with the smallest case that
shows it. With `--state` an interrupted campaign goes on where it was; what failed is tried again. The exit status is 1
if something failed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gen_models import all_ops
from gen_models.harness import campaign
from gen_models.harness.exploration import formats
from gen_models.harness.legacy import legacy_python
from gen_models.harness.spec import FORMATS
from gen_models.harness.store import FOLDER, paddle_version
from paddle2ov.deployment.saving import write_text
from paddle2ov.errors import Paddle2OVError
from paddle2ov.jobs.cluster import RayExecutor
from paddle2ov.jobs.executor import Executor
from paddle2ov.jobs.local import LocalExecutor
from paddle2ov.jobs.state import State

TIMEOUT = 900.0
JOBS_PER_WORKER = 100  # Paddle and OpenVINO keep something of every program: a process is replaced now and then

HEAD = """# Random campaign

Written by `python -m tools.campaign --state FILE --page docs/campaign.md`, which runs random cases of every operator
with a strategy (`gen_models/`), in both formats: what Paddle accepts of what the strategy draws is converted as
declared and with every dimension dynamic, and compared with Paddle's results.

Paddle {pir} (PIR), Paddle {legacy} (legacy), OpenVINO {openvino}. {asked} random examples were drawn for each operator,
those of both formats together. Without those that came twice they are {examples} cases of {reached} operators
({each}), with {failures} failures. Of {missing} more operators with a
strategy no case has been run; a campaign goes through all operators in rounds.

| operator | PIR | legacy | failures |
|---|---:|---:|---:|
"""


def main(arguments: list[str]) -> int:
    """Run; the exit status."""
    options = _options(arguments)
    here = FORMATS if legacy_python() is not None else ("pir",)
    try:
        with State(options.state or campaign.scratch() / "state") as state:
            if not options.only_page:
                planned = campaign.chunks(options.filter, options.seeds, here, kept(options))
                if not planned:
                    print(f"error: no operator with random cases matches {options.filter!r}", file=sys.stderr)
                    return 2
                run(executor(options), planned, state, campaign.run_chunk)
            failures = _print_failures(state.records())
            if options.page is not None:
                write_text(options.page, page(state.records()))
    except (Paddle2OVError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Interrupted; with --state the same command goes on from here.", file=sys.stderr)
        return 130
    return 1 if failures else 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="testOpRandom/*", help="by name: 'testOpRandom/*pool*:-*legacy'")
    parser.add_argument("--seeds", type=number, default=20, help="cases per operator, over its formats")
    add_options(parser)
    parser.add_argument("--page", type=Path, help="write the page of results here")
    parser.add_argument("--only-page", action="store_true", help="run nothing: report what the state holds")
    return parser.parse_args(arguments)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of where a campaign runs and what it is kept in."""
    parser.add_argument("--workers", type=number, default=1, help="processes")
    parser.add_argument("--ray", metavar="ADDRESS", help="run on this Ray cluster, which shares this file system")
    parser.add_argument("--state", type=Path, help="file that the campaign is kept in and continued from")


def kept(options: argparse.Namespace) -> Path:
    """The folder for what fails."""
    path = options.state.with_name(options.state.name + "_failures") if options.state else FOLDER.parent / "failures"
    return Path(path.absolute())


def number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of 1 or more")
    return int(text)


def executor(options: argparse.Namespace) -> Executor:
    """What runs a campaign's jobs."""
    if options.ray is not None:
        return RayExecutor(options.ray, TIMEOUT)
    return LocalExecutor(options.workers, TIMEOUT, JOBS_PER_WORKER)


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


def _print_failures(records: dict[str, Any]) -> int:
    failed = {key: record for key, record in records.items() if "failure" in record}
    for key, record in failed.items():
        print(f"\ntestOpRandom/{key.rpartition('/')[0]}")
        print(f"  {record['case'] or '(no case)'}\n  {record['failure']}\n  kept: {record['kept']}")
    compared = sum(len(record["compared"]) for record in records.values())
    print(f"{compared} cases compared, {len(failed)} failures")
    return len(failed)


def page(records: dict[str, Any]) -> str:
    """The page of results."""
    import openvino

    counts: dict[tuple[str, str], set[str]] = {}
    failures: dict[str, list[str]] = {}
    asked: Counter[str] = Counter()
    for key, record in records.items():
        op, format, _ = key.split("/")
        counts.setdefault((op, format), set()).update(record["compared"])
        asked[op] += record["asked"]
        if "failure" in record:
            failures.setdefault(op, []).append(f"- `{op}` ({format}): `{record['case']}`")
    known = {op.name: formats(op) for op in all_ops().values() if op.random is not None}
    rows = []
    for op, has in known.items():
        cells = [str(len(counts.get((op, format), ()))) if format in has else "" for format in FORMATS]
        rows.append(f"| `{op}` | {cells[0]} | {cells[1]} | {len(failures.get(op, []))} |")
    ran = {key: len(cases) for key, cases in counts.items() if cases}
    reached = {op for op, _ in ran} & known.keys()
    fewest, most = (choose((asked[op] for op in reached), default=0) for choose in (min, max))
    text = HEAD.format(
        asked=fewest if fewest == most else f"{fewest} to {most}",
        pir=_paddle("pir"),
        legacy=_paddle("legacy"),
        openvino=openvino.__version__.partition("-")[0],
        reached=len(reached),
        missing=len(known) - len(reached),
        examples=sum(ran.values()),
        each=_spread(list(ran.values())),
        failures=sum(len(one) for one in failures.values()),
    )
    text += "\n".join(rows) + "\n"
    if failures:
        text += "\n## Failures\n\n" + "\n".join(line for op in sorted(failures) for line in failures[op]) + "\n"
    return text


def _paddle(format: str) -> str:
    return paddle_version(format).strip("[]'") or "not installed"


def _spread(counts: list[int]) -> str:
    ordered = sorted(counts) or [0]
    return f"{ordered[0]} to {ordered[-1]} per operator and format, {ordered[len(ordered) // 2]} in the middle"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
