"""Campaigns of random programs: a chunk is one program in one format, for `harness/campaign.py` to run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gen_models.harness.generate import GenerationError
from gen_models.programs import random_program
from gen_models.programs.compare import Mismatch, differences, write_program
from gen_models.programs.shrink import keep, shrink


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

    @property
    def examples(self) -> int:
        """Always one: of a process that dies it is known at which."""
        return 1


@dataclass
class ProgramOutcome:
    """What came of the programs of a chunk."""

    compared: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    failures: list[dict[str, str]] = field(default_factory=list)


def run_chunk(chunk: ProgramChunk) -> dict[str, Any]:
    """Runs one chunk; its record. Called in a process of the executor."""
    from gen_models.harness.spec import import_paddle

    import_paddle().disable_signal_handler()
    outcome = explore_programs([chunk.seed], chunk.format, Path(chunk.kept), sizes=chunk.sizes)
    record: dict[str, Any] = {
        "asked": chunk.examples,
        "compared": outcome.compared,
        "refused": outcome.refused,
        "kept": chunk.kept,
    }
    if outcome.failures:
        record["failures"] = outcome.failures
        record["failure"] = "; ".join(f"{failure['program']}: {failure['text'][:200]}" for failure in outcome.failures)
        record["case"] = ", ".join(failure["script"] for failure in outcome.failures)
    return record


def explore_programs(
    seeds: Iterable[int], format: str, folder: Path, is_shrunk: bool = True, sizes: str = "small"
) -> ProgramOutcome:
    """Compares the programs of the seeds; those that differ are made small, and kept with their scripts.

    The folder is left behind only when something differs, or when the process dies: then its `drawn.txt` is the
    program that was tried last.
    """
    outcome = ProgramOutcome()
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        program, name = random_program(seed, sizes), f"{format}/{seed}"
        (folder / "drawn.txt").write_text(json.dumps(program.to_json()))
        try:
            write_program(program, format, folder / "model")
        except GenerationError as error:
            outcome.refused[name] = f"{error.__cause__ or error}"[-300:]
            continue
        outcome.compared.append(name)
        for item in _of_each_kind(differences(program, folder / "model")):
            small = shrink(item, format, folder) if is_shrunk else item
            outcome.failures.append(keep(small, name, format, folder))
    (folder / "drawn.txt").unlink(missing_ok=True)
    shutil.rmtree(folder / "model", ignore_errors=True)
    if not outcome.failures:
        shutil.rmtree(folder)
    return outcome


def _of_each_kind(found: Iterable[Mismatch]) -> Iterator[Mismatch]:
    """One difference of each kind: a fault that shows with rewrites and without them is one."""
    said = set()
    for item in found:
        kind = (item.step, item.kind[2])
        if kind not in said:
            said.add(kind)
            yield item


__all__ = ["ProgramChunk", "ProgramOutcome", "explore_programs", "run_chunk"]
