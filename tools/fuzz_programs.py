"""Random programs of 5 to 30 Paddle calls, compared with what Paddle computes.

    python -m tools.fuzz_programs --seeds 1000 --workers 2 --state FILE
    python -m tools.fuzz_programs --replay FILE.json --format pir

Each seed is a program, in each format that can be written here. It is converted with rewrites and without, and compared
with Paddle in float32 and, with rewrites, in the precision that OpenVINO takes by default on this processor; one
request runs inputs of a large, a small and a middle size and the large one again. A program that differs is made
smaller, printed as a layer in plain Paddle, and kept as data, for --replay. With `--state` an interrupted campaign goes
on where it was; what failed is tried again. The exit status is 1 if something differs.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gen_models.harness.generate import GenerationError
from gen_models.harness.legacy import formats_here
from gen_models.harness.spec import FORMATS, import_paddle
from gen_models.programs import SIZES, random_program
from gen_models.programs.compare import Mismatch, differences, write_program
from gen_models.programs.program import Program
from gen_models.programs.shrink import keep, shown, shrink
from tools.campaigns import add_options, conduct, ends_in_order, kept, number, scratch


@dataclass(frozen=True)
class ProgramChunk:
    """The program of one seed and one choice of `SIZES` in one format. `kept` is the folder for what differs."""

    format: str
    seed: int
    kept: str
    sizes: str = "small"

    @property
    def name(self) -> str:
        """As the tests are called."""
        return f"testProgram/{self._what}"

    @property
    def key(self) -> str:
        """In the state."""
        return f"programs/{self._what}"

    @property
    def _what(self) -> str:
        return f"{self.format}/{self.seed}" if self.sizes == "small" else f"{self.format}/{self.sizes}/{self.seed}"


@ends_in_order
def main(arguments: list[str]) -> int:
    """Run; the exit status."""
    options = _options(arguments)
    if options.replay is not None:
        return _replay(options.replay, options.format or "pir", options.smaller)
    planned = [] if options.only_report else chunks(options, kept(options))
    return 1 if _print(conduct(options, planned, run_chunk)) else 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=number, default=100, help="programs")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--sizes", choices=SIZES, default="small", help="large: of up to 64 rows and channels")
    parser.add_argument("--format", choices=FORMATS, help="only this format")
    add_options(parser)
    parser.add_argument("--replay", type=Path, metavar="FILE.json", help="compare a program that was kept")
    parser.add_argument("--smaller", action="store_true", help="with --replay: make what differs smaller")
    return parser.parse_args(arguments)


def chunks(options: argparse.Namespace, folder: Path) -> list[ProgramChunk]:
    """The chunks of a campaign: each seed in all formats, then the next."""
    return [
        ProgramChunk(format, seed, str(folder / f"programs-{format}-{options.sizes}-{seed}"), options.sizes)
        for seed in range(options.first, options.first + options.seeds)
        for format in formats_here()
        if options.format in (None, format)
    ]


def run_chunk(chunk: ProgramChunk) -> dict[str, Any]:
    """Runs one chunk; its record. Called in a process of the executor."""
    import_paddle().disable_signal_handler()
    return explore_program(chunk)


def explore_program(chunk: ProgramChunk) -> dict[str, Any]:
    """Compares the program of a chunk; what differs is made small, and kept. Returns the record.

    The folder is left behind only when something differs, or when the process dies: then its `drawn.txt` is the
    program.
    """
    program, name, folder = random_program(chunk.seed, chunk.sizes), f"{chunk.format}/{chunk.seed}", Path(chunk.kept)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "drawn.txt").write_text(json.dumps(program.to_json()))
    record: dict[str, Any] = {"compared": [], "refused": {}, "kept": chunk.kept}
    failures: list[dict[str, str]] = []
    try:
        write_program(program, chunk.format, folder / "model")
    except GenerationError as error:
        record["refused"][name] = f"{error.__cause__ or error}"[-300:]
    else:
        record["compared"].append(name)
        for item in _of_each_kind(differences(program, folder / "model")):
            failures.append(keep(shrink(item, chunk.format, folder), name, chunk.format, folder))
    (folder / "drawn.txt").unlink(missing_ok=True)
    shutil.rmtree(folder / "model", ignore_errors=True)
    if failures:
        record["failures"] = failures
        record["failure"] = "; ".join(f"{failure['program']}: {failure['text'][:200]}" for failure in failures)
        record["case"] = ", ".join(failure["kept"] for failure in failures)
    else:
        shutil.rmtree(folder)
    return record


def _of_each_kind(found: Iterable[Mismatch]) -> Iterator[Mismatch]:
    """One difference of each kind: a fault that shows with rewrites and without them is one."""
    said = set()
    for item in found:
        kind = (item.step, item.kind[2])
        if kind not in said:
            said.add(kind)
            yield item


def _replay(path: Path, format: str, is_shrunk: bool) -> int:
    program = Program.from_json(json.loads(path.read_text()))
    folder = scratch()
    write_program(program, format, folder / "model")
    mismatches = list(differences(program, folder / "model"))
    for item in mismatches:
        print(shown(keep(shrink(item, format, folder) if is_shrunk else item, path.stem, format, folder)), end="\n\n")
    print(f"{len(mismatches)} ways differ")
    return 1 if mismatches else 0


def _print(records: dict[str, Any]) -> int:
    count = 0
    for key, record in records.items():
        for item in record.get("failures", ()):
            count += 1
            print(f"\n{shown(item)}")
        if "failure" in record and "failures" not in record:
            count += 1
            print(f"\n{key}: {record['failure']}\n  kept: {record['kept']}/drawn.txt")
    compared = sum(len(record["compared"]) for record in records.values())
    refused = sum(len(record.get("refused", ())) for record in records.values())
    print(f"{compared} programs compared, {count} differences; Paddle refused {refused} more")
    return count


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
