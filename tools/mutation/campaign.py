"""Chunks of a campaign, for any executor: so many numbers of mutants, and what came of them."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from tools.mutation import plan, server
from tools.mutation.corpus import load_corpus
from tools.mutation.mutant import Mutant
from tools.mutation.trial import FINDINGS

CHUNK = 500
_BATCH = 100
_RUN_EVERY = 1000
"""Of these, one that converts is compiled and run too. What comes of it is OpenVINO's, and counted apart."""
_RUN_LIMITS = server.Limits(seconds=10, bytes=16_000_000_000)
_MAX_KEPT = 3
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


def chunks(seed: int, first: int, files: int, kept: Path, corpus: Path, digest: str) -> list[Chunk]:
    """The chunks of a campaign."""
    end = first + files
    starts = range(first, end, CHUNK)
    return [Chunk(seed, start, min(CHUNK, end - start), str(kept), str(corpus), digest) for start in starts]


def run_chunk(chunk: Chunk) -> dict[str, Any]:
    """Makes and reads the mutants of a chunk; its record. Called in a process of the executor."""
    make = _prepared(chunk.corpus, chunk.seed)
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    ran: Counter[str] = Counter()
    findings: list[dict[str, Any]] = []
    seen: Counter[str] = Counter()
    started = time.perf_counter()
    end = chunk.first + chunk.examples
    for first in range(chunk.first, end, _BATCH):
        for number, tried in server.run(make, range(first, min(first + _BATCH, end))):
            result = tried.result
            outcomes[tried.row][result.outcome] += 1
            if result.outcome == "converted" and number % _RUN_EVERY == 0:
                ran.update(_run(make(number)))
            if result.outcome not in FINDINGS:
                continue
            bucket = f"{result.outcome}: {result.bucket}"
            seen[bucket] += 1
            finding: dict[str, Any] = {
                "number": number,
                "row": tried.row,
                "outcome": result.outcome,
                "bucket": result.bucket,
            }
            if seen[bucket] <= _MAX_KEPT:
                finding["kept"] = str(Path(chunk.kept) / f"{chunk.seed}-{number}")
                make(number).keep(Path(finding["kept"]), **finding, detail=result.detail)
            findings.append(finding)
    seconds = round(time.perf_counter() - started, 3)
    return {"asked": chunk.examples, "outcomes": outcomes, "ran": ran, "findings": findings, "seconds": seconds}


def _run(mutant: Mutant) -> list[str]:
    """What comes of a model that converts when it is compiled and run."""
    if mutant.reader != "convert":
        return []
    run = replace(mutant, reader="run")
    return [server.alone(lambda _: run, 0, _RUN_LIMITS).result.outcome]


@cache
def _prepared(corpus: str, seed: int) -> Callable[[int], Mutant]:
    server.load()
    held = load_corpus(corpus)
    return lambda number: plan.mutant(held, seed, number)
