"""Random cases of many operators, in rounds, on any executor; a state file records what has run.

A round draws a few cases of every operator in every format, so that a campaign that is cut short has reached all of
them. An operator that fails in a format is skipped there until the campaign is started again.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from gen_models import all_ops
from gen_models.harness.exploration import explore, formats
from gen_models.harness.naming import matches
from gen_models.harness.spec import FORMATS, import_paddle
from paddle2ov.jobs.executor import Executor, Outcome
from paddle2ov.jobs.state import State

ROUND = 20
"""Cases of one operator in one format per round."""


class ChunkLike(Protocol):
    """A unit of work of a campaign: some examples, with the name that tests have and a key in the state."""

    @property
    def name(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def examples(self) -> int: ...
    @property
    def kept(self) -> str: ...


AnyChunk = TypeVar("AnyChunk", bound=ChunkLike)


@dataclass(frozen=True)
class Chunk:
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


def chunks(pattern: str, seeds: int, formats_here: Iterable[str], kept: Path) -> list[Chunk]:
    """All chunks of a campaign of `seeds` cases per operator, spread over those of its formats that are asked for."""
    here = set(formats_here)
    wanted: dict[tuple[str, str], int] = {}
    for op in all_ops().values():
        asked = [format_ for format_ in formats(op) if format_ in here and matches(_name(op.name, format_), pattern)]
        wanted |= {(op.name, format): -(-seeds // len(asked)) for format in asked}
    return [
        Chunk(op, format, start // ROUND, min(ROUND, count - start), str(kept / f"{op}-{format}-{start // ROUND}"))
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


def run_chunk(chunk: Chunk) -> dict[str, Any]:
    """Runs one chunk; its record. Called in a process of the executor."""
    import_paddle().disable_signal_handler()  # which writes a report when the pool ends this process
    exploration = explore(all_ops()[chunk.op], chunk.format, chunk.examples, Path(chunk.kept), seed=chunk.round)
    record: dict[str, Any] = {"asked": chunk.examples, "compared": sorted(exploration.compared)}
    if exploration.error is not None:
        record["failure"] = f"{type(exploration.error).__name__}: {exploration.error}"
        record["case"] = "" if exploration.case is None else repr(exploration.case)
        record["kept"] = chunk.kept
    return record


def run(
    executor: Executor,
    planned: Iterable[AnyChunk],
    state: State,
    report: Callable[[AnyChunk, dict[str, Any]], None],
    function: Callable[[AnyChunk], dict[str, Any]],
) -> None:
    """Runs the chunks that the state does not hold, or holds as failed; `report` is told of each that ends."""
    failed: set[str] = set()

    def waiting() -> Iterator[AnyChunk]:
        for chunk in planned:
            record = state.get(chunk.key)
            done = record is not None and "failure" not in record and record["asked"] >= chunk.examples
            if not done and chunk.name not in failed:
                yield chunk

    for outcome in executor.run(function, waiting()):
        record = outcome.returned if outcome.returned is not None else _crash(outcome)
        if "failure" in record:
            failed.add(outcome.job.name)
        state.put(outcome.job.key, record)
        report(outcome.job, record)


def _crash(outcome: Outcome[AnyChunk, Any]) -> dict[str, Any]:
    """The record of a chunk that did not return, with the case that it drew last or those that it tried together."""
    drawn = Path(outcome.job.kept) / "drawn.txt"
    case = drawn.read_text() if drawn.is_file() else ""
    return {
        "asked": outcome.job.examples,
        "compared": [],
        "failure": outcome.failure,
        "case": case,
        "kept": outcome.job.kept,
    }


def scratch() -> Path:
    """A new folder for a campaign that is not to be continued."""
    return Path(tempfile.mkdtemp(prefix=f"campaign-{os.getpid()}-"))
