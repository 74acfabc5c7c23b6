"""Campaigns of random programs: a chunk is one program in one format, for `harness/campaign.py` to run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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


def run_chunk(chunk: ProgramChunk) -> dict[str, Any]:
    """Runs one chunk; its record. Called in a process of the executor."""
    from gen_models.harness.spec import import_paddle

    import_paddle().disable_signal_handler()
    return explore_program(chunk)


def explore_program(chunk: ProgramChunk) -> dict[str, Any]:
    """Compares the program of a chunk; what differs is made small, and kept with its script. Returns the record.

    The folder is left behind only when something differs, or when the process dies: then its `drawn.txt` is the
    program.
    """
    program, name, folder = random_program(chunk.seed, chunk.sizes), f"{chunk.format}/{chunk.seed}", Path(chunk.kept)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "drawn.txt").write_text(json.dumps(program.to_json()))
    record: dict[str, Any] = {"asked": chunk.examples, "compared": [], "refused": {}, "kept": chunk.kept}
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
        record["case"] = ", ".join(failure["script"] for failure in failures)
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


__all__ = ["ProgramChunk", "explore_program", "run_chunk"]
