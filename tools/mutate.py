"""Damaged models by the thousand: each must convert, or be refused by an error of paddle2ov's own.

    python -m tools.mutate --files 1000000 --workers 2 --state FILE
    python -m tools.mutate --replay FOLDER --smaller

The models of all operators' cases in both formats, and small networks, are damaged: bytes, operators, operands, types,
shapes, attributes, constants, blocks, parameters; so are settings (`inference.yml`), arrays to verify with (`.npz`) and
state files of `paddle2ov batch`. Which file has which number is a function of the seed. Each is read in a process with
limits: 20 s of processor time, and 1 GB of memory beyond twice the size of its files. A foreign exception, a crash, a
hang or more memory is a finding: it is printed and kept. `--replay` reads it again; with `--smaller`, what does not
matter is taken away. With `--state` an interrupted campaign goes on where it was. A table of outcomes ends it. The exit
status is 1 if something was found.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gen_models.harness.legacy import formats_here
from tools.campaigns import add_options, conduct, ends_in_order, kept, number
from tools.mutation import plan, server
from tools.mutation.corpus import load_corpus, save_corpus
from tools.mutation.mutant import Mutant, kept as kept_mutant
from tools.mutation.shrink import shrink
from tools.mutation.trial import FINDINGS, OUTCOMES, Result

TIMEOUT = 7200.0
"""Of a chunk, for the executor; a file that hangs ends long before."""
CHUNK, BATCH = 500, 50
MAX_KEPT = 3
"""Findings of one bucket that a chunk keeps."""


@dataclass(frozen=True)
class Chunk:
    """Some mutants of one seed. `kept` is the folder for findings, `corpus` the file of what they are made from."""

    seed: int
    first: int
    examples: int
    kept: str
    corpus: str
    digest: str

    @property
    def name(self) -> str:
        return f"files {self.first} to {self.first + self.examples - 1} of seed {self.seed}"

    @property
    def key(self) -> str:
        return f"{self.digest}/{self.seed}/{self.first:09}/{self.examples}"


@ends_in_order
def main(arguments: list[str]) -> int:
    """Run; the exit status."""
    options = _options(arguments)
    if options.replay is not None:
        return _replay(options.replay, options.smaller)
    return 1 if _print(conduct(options, chunks(options), run_chunk, TIMEOUT)) else 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=number, default=10_000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the number of the first")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--filter", default="*", help="operators and networks by name: '*pool*:-*pool3d*'")
    parser.add_argument("--cases", type=number, help="the most cases of one operator")
    add_options(parser)
    parser.add_argument("--replay", type=Path, metavar="FOLDER", help="read a file that was kept")
    parser.add_argument("--smaller", action="store_true", help="with --replay: make it smaller, beside it")
    return parser.parse_args(arguments)


def chunks(options: argparse.Namespace) -> list[Chunk]:
    """The chunks of a campaign, whose corpus is generated; none where it only reports."""
    if options.only_report:
        return []
    corpus = save_corpus(kept(options) / "corpus", options.filter, formats_here(), options.cases)
    print(f"{sum(map(len, corpus.groups.values()))} models of {len(corpus.groups)} operators and networks")
    folder, end = kept(options), options.first + options.files
    return [
        Chunk(options.seed, first, min(CHUNK, end - first), str(folder), str(folder / "corpus"), corpus.digest())
        for first in range(options.first, end, CHUNK)
    ]


def run_chunk(chunk: Chunk) -> dict[str, Any]:
    """Makes and reads the mutants of a chunk; its record. Called in a process of the executor."""
    _load()
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    findings: list[dict[str, Any]] = []
    seen: Counter[str] = Counter()
    for place, mutant, result in _results(chunk):
        outcomes[mutant.row][result.outcome] += 1
        if result.outcome in FINDINGS:
            finding = {"number": place, "row": mutant.row, "outcome": result.outcome, "bucket": result.bucket}
            seen[result.bucket] += 1
            if seen[result.bucket] <= MAX_KEPT:
                finding["kept"] = str(Path(chunk.kept) / f"{chunk.seed}-{place}")
                mutant.keep(Path(chunk.kept) / f"{chunk.seed}-{place}", **finding, detail=result.detail)
            findings.append(finding)
    return {"outcomes": outcomes, "findings": findings}


def _results(chunk: Chunk) -> Iterator[tuple[int, Mutant, Result]]:
    """Each mutant with its number, and what comes of it; some at a time are read by one process."""
    corpus, end = load_corpus(chunk.corpus), chunk.first + chunk.examples
    for first in range(chunk.first, end, BATCH):
        places = range(first, min(first + BATCH, end))
        mutants = [plan.mutant(corpus, chunk.seed, place) for place in places]
        yield from zip(places, mutants, server.read_all(mutants), strict=True)


_load = cache(server.load)


def _replay(folder: Path, is_shrunk: bool) -> int:
    _load()
    mutant = kept_mutant(folder)
    result = server.read(mutant)
    print(f"{result.outcome}: {result.bucket}\n{result.detail}".strip())
    if result.outcome in FINDINGS and is_shrunk:
        small = shrink(mutant, result)
        again = server.read(small)
        target = folder.with_name(f"{folder.name}-small")
        print(small.keep(target, outcome=again.outcome, bucket=again.bucket, detail=again.detail))
    return 1 if result.outcome in FINDINGS else 0


def _print(records: dict[str, Any]) -> int:
    """Prints what was found, by bucket; how much."""
    by_bucket: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for key, record in records.items():
        if "failure" in record:
            by_bucket[f"a chunk failed: {record['failure']}"].append({"number": key})
        for finding in record.get("findings", ()):
            by_bucket[f"{finding['outcome']}: {finding['bucket']}"].append(finding)
    for bucket, findings in sorted(by_bucket.items(), key=lambda item: -len(item[1])):
        where = next((item["kept"] for item in findings if "kept" in item), "")
        print(
            f"{len(findings)} x {bucket}\n  {findings[0].get('row', '')}, number {findings[0]['number']}, kept: {where}"
        )
    print(table(records))
    return sum(map(len, by_bucket.values()))


def table(records: dict[str, Any]) -> str:
    """What was damaged, and what came of it, in Markdown."""
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records.values():
        for row, outcomes in record.get("outcomes", {}).items():
            rows[row].update(outcomes)
    lines = ["| | files | " + " | ".join(OUTCOMES) + " |", "|---" + "|---:" * (len(OUTCOMES) + 1) + "|"]
    for name, counts in [*sorted(rows.items()), ("all", sum(rows.values(), Counter()))]:
        cells = [counts.total(), *(counts[outcome] for outcome in OUTCOMES)]
        lines.append(f"| {name} | {' | '.join(f'{cell:,}' for cell in cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
