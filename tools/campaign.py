"""Random cases of the operators, many at a time.

    python -m tools.campaign --seeds 200 --state FILE

Each operator is given `--seeds` random cases, spread over its formats, 20 a round, so that a campaign that is cut short
has reached all of them. What Paddle accepts is converted twice, as declared and with every dimension dynamic, and
compared. A failure is printed with the smallest case that shows it. With `--state` an interrupted campaign goes on
where it was; what failed is tried again. The exit status is 1 if something failed.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gen_models import all_ops
from gen_models.harness.exploration import explore, formats
from gen_models.harness.legacy import formats_here
from gen_models.harness.naming import matches
from gen_models.harness.spec import FORMATS, import_paddle
from tools.campaigns import add_options, conduct, ends_in_order, kept, number

ROUND = 20
"""Cases of one operator in one format per round."""


@dataclass(frozen=True)
class OperatorChunk:
    """One operator in one format in one round. `kept` is the folder for what fails."""

    op: str
    format: str
    round: int
    examples: int
    kept: str

    @property
    def name(self) -> str:
        """As the tests are called: `testOpRandom/cumsum/pir`."""
        return _name(self.op, self.format)

    @property
    def key(self) -> str:
        return f"{self.op}/{self.format}/{self.round}"


@ends_in_order
def main(arguments: list[str]) -> int:
    """Run; the exit status."""
    options = _options(arguments)
    planned = [] if options.only_report else chunks(options.filter, options.seeds, formats_here(), kept(options))
    if not planned and not options.only_report:
        named = operators_named(options.filter)
        if not named:
            print(f"error: no operator matches {options.filter!r}", file=sys.stderr)
            return 2
        print(f"No random cases to run: {options.filter!r} selects none of {', '.join(named)}")
        return 0
    return 1 if _print(conduct(options, planned, run_chunk)) else 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="testOpRandom/*", help="by name: 'testOpRandom/*pool*:-*legacy'")
    parser.add_argument("--seeds", type=number, default=20, help="cases per operator, over its formats")
    add_options(parser)
    return parser.parse_args(arguments)


def chunks(pattern: str, seeds: int, formats_here: Iterable[str], kept: Path) -> list[OperatorChunk]:
    """All chunks of a campaign of `seeds` cases per operator, spread over those of its formats that are asked for."""
    here = set(formats_here)
    wanted: dict[tuple[str, str], int] = {}
    for op in all_ops().values():
        asked = [format_ for format_ in formats(op) if format_ in here and matches(_name(op.name, format_), pattern)]
        wanted |= {(op.name, format): -(-seeds // len(asked)) for format in asked}
    return [
        OperatorChunk(
            op, format, start // ROUND, min(ROUND, count - start), str(kept / f"{op}-{format}-{start // ROUND}")
        )
        for start in range(0, seeds, ROUND)
        for (op, format), count in wanted.items()
        if start < count
    ]


def operators_named(pattern: str) -> list[str]:
    """The operators that a filter selects, by declared cases or by random ones, which they need not have."""
    return [
        op.name
        for op in all_ops().values()
        if any(
            matches(name, pattern)
            for format in FORMATS
            for name in (_name(op.name, format), *(f"testOpFuzzy/{case.name}/{format}" for case in op.cases))
        )
    ]


def _name(op: str, format: str) -> str:
    return f"testOpRandom/{op}/{format}"


def run_chunk(chunk: OperatorChunk) -> dict[str, Any]:
    """Runs one chunk; its record. Called in a process of the executor."""
    import_paddle().disable_signal_handler()  # which writes a report when the pool ends this process
    exploration = explore(all_ops()[chunk.op], chunk.format, chunk.examples, Path(chunk.kept), seed=chunk.round)
    record: dict[str, Any] = {"asked": chunk.examples, "compared": sorted(exploration.compared)}
    if exploration.error is not None:
        record["failure"] = f"{type(exploration.error).__name__}: {exploration.error}"
        record["case"] = "" if exploration.case is None else repr(exploration.case)
        record["kept"] = chunk.kept
    return record


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
