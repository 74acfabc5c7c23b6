"""Damaged models by the thousand: each must convert, or be refused by an error of paddle2ov's own.

    python -m tools.mutate --files 1000000 --workers 2 --state FILE
    python -m tools.mutate --replay FOLDER --smaller

The models of all operators' cases in both formats, and small networks, are damaged: bytes, operators, operands, types,
shapes, attributes, constants, blocks, parameters; so are settings (`inference.yml`), arrays to verify with (`.npz`) and
state files of `paddle2ov batch`. Which file has which number is a function of the seed. Each is read in a process with
limits: 20 s of processor time, and 1 GB of memory beyond twice the size of its files. A foreign exception, a crash, a
hang or more memory is a finding: it is printed and kept. `--replay` reads it again; with `--smaller`, what does not
matter is taken away. With `--state` an interrupted campaign goes on where it was; `--page` writes the table of outcomes
into a page. The exit status is 1 if something was found.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from gen_models.harness import campaign
from gen_models.harness.legacy import legacy_python
from gen_models.harness.spec import FORMATS
from paddle2ov.jobs.state import State
from tools.campaign import add_options, ends_in_order, executor, kept, number, run
from tools.mutation import server
from tools.mutation.campaign import chunks, run_chunk
from tools.mutation.corpus import load_corpus, save_corpus
from tools.mutation.mutant import kept as kept_mutant
from tools.mutation.page import write_table
from tools.mutation.shrink import shrink
from tools.mutation.trial import FINDINGS

TIMEOUT = 7200.0
"""Of a chunk, for the executor; a file that hangs ends long before."""


@ends_in_order
def main(arguments: list[str]) -> int:
    """Run; the exit status."""
    options = _options(arguments)
    if options.replay is not None:
        return _replay(options.replay, options.smaller)
    with State(options.state or campaign.scratch() / "state") as state:
        if not options.only_report:
            here = FORMATS if legacy_python() is not None else ("pir",)
            path = kept(options) / "corpus"
            save_corpus(path, options.filter, here, options.cases)
            corpus = load_corpus(str(path))
            print(f"{sum(map(len, corpus.groups.values()))} models of {len(corpus.groups)} operators and networks")
            planned = chunks(options.seed, options.first, options.files, kept(options), path, corpus.digest())
            run(executor(options, TIMEOUT), planned, state, run_chunk)
        records = state.records()
    if options.page is not None:
        write_table(options.page, records)
    return 1 if _print(records) else 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=number, default=10_000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the number of the first")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--filter", default="*", help="operators and networks by name: '*pool*:-*pool3d*'")
    parser.add_argument("--cases", type=number, help="the most cases of one operator")
    add_options(parser)
    parser.add_argument("--page", type=Path, metavar="FILE.md", help="write the table of outcomes into this page")
    parser.add_argument("--only-report", action="store_true", help="run nothing: report what the state holds")
    parser.add_argument("--replay", type=Path, metavar="FOLDER", help="read a file that was kept")
    parser.add_argument("--smaller", action="store_true", help="with --replay: make it smaller, beside it")
    return parser.parse_args(arguments)


def _replay(folder: Path, is_shrunk: bool) -> int:
    server.load()
    mutant = kept_mutant(folder)
    result = server.alone(lambda _: mutant, 0).result
    print(f"{result.outcome}: {result.bucket}\n{result.detail}".strip())
    if result.outcome in FINDINGS and is_shrunk:
        small = shrink(mutant, result)
        small_result = server.alone(lambda _: small, 0).result
        print(
            small.keep(
                folder.with_name(f"{folder.name}-small"),
                outcome=small_result.outcome,
                bucket=small_result.bucket,
                detail=small_result.detail,
            )
        )
    return 1 if result.outcome in FINDINGS else 0


def _print(records: dict[str, Any]) -> int:
    """Prints what was found, by bucket; how much."""
    outcomes: Counter[str] = Counter()
    by_bucket: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for key, record in records.items():
        if "failure" in record:
            by_bucket[f"a chunk failed: {record['failure']}"].append({"number": key})
        for row in record.get("outcomes", {}).values():
            outcomes.update(row)
        for value in record.get("findings", ()):
            by_bucket[f"{value['outcome']}: {value['bucket']}"].append(value)
    for bucket, ones in sorted(by_bucket.items(), key=lambda item: -len(item[1])):
        where = next((item["kept"] for item in ones if "kept" in item), "")
        print(f"{len(ones)} x {bucket}\n  {ones[0].get('row', '')}, number {ones[0]['number']}, kept: {where}")
    seconds = sum(record.get("seconds", 0) for record in records.values())
    total = sum(outcomes.values())
    print(
        f"{total} files ({1e3 * seconds / max(total, 1):.1f} ms each): "
        + ", ".join(f"{n} {name}" for name, n in outcomes.most_common())
    )
    return sum(map(len, by_bucket.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
