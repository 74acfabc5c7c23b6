"""What mutants are made from: the models of all cases of the operators, in both formats, and small networks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from gen_models import all_networks, all_ops
from gen_models.harness.generate import GenerationError
from gen_models.harness.naming import matches
from gen_models.harness.network import Network
from gen_models.harness.store import generated, generated_network
from tools.mutation.mutant import PARAMETERS, PROGRAM

MOST_BYTES = 60_000
"""Larger programs are left out: their mutants take long, and hold nothing that small ones do not."""


@dataclass(frozen=True)
class Source:
    """A model that mutants are made from."""

    name: str
    format: str
    folder: str

    def program(self) -> bytes:
        return (Path(self.folder) / PROGRAM[self.format]).read_bytes()

    def parameters(self) -> bytes | None:
        path = Path(self.folder) / PARAMETERS
        return path.read_bytes() if path.is_file() else None


class Corpus:
    """Models by operator: one with few cases is drawn as often as one with many."""

    def __init__(self, groups: dict[str, list[Source]]) -> None:
        self.groups = groups
        self._names = sorted(groups)

    def draw(self, rng: Random, format: str | None = None) -> Source:
        while True:
            group = self.groups[rng.choice(self._names)]
            found = group if format is None else [one for one in group if one.format == format]
            if found:
                return rng.choice(found)

    def digest(self) -> str:
        """Changes when other models are in it; where they lie does not matter."""
        names = [[name, [(one.name, one.format) for one in self.groups[name]]] for name in self._names]
        return hashlib.sha256(json.dumps(names).encode()).hexdigest()[:8]

    def save(self, path: Path) -> None:
        """Writes where the models lie."""
        plain = {name: [[one.name, one.format, one.folder] for one in group] for name, group in self.groups.items()}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(plain))


@cache
def load_corpus(path: str) -> Corpus:
    """A corpus that was saved."""
    plain = json.loads(Path(path).read_text())
    return Corpus({name: [Source(*one) for one in group] for name, group in plain.items()})


def make_corpus(pattern: str, formats: Iterable[str], cases: int | None = None) -> Corpus:
    """The corpus of the operators and networks that a filter selects; models that are not there are generated.

    Args:
        pattern: which, by name.
        formats: in which formats.
        cases: the most cases of one operator.
    """
    groups: dict[str, list[Source]] = {}
    here = tuple(formats)
    for op in all_ops().values():
        if not matches(op.name, pattern):
            continue
        group = []
        for case in list(op.cases)[:cases]:
            for format in here:
                if format not in case.formats or case.xfail:
                    continue
                try:
                    group.append(Source(case.name, format, str(generated(op, case, format).absolute())))
                except GenerationError:
                    continue
        groups[op.name] = group
    for network in all_networks().values():
        if matches(network.name, pattern):
            groups[network.name] = _small(network, here)
    return Corpus({name: group for name, group in groups.items() if group})


def _small(network: Network, formats: tuple[str, ...]) -> list[Source]:
    found = []
    for format in formats:
        if format not in network.formats:
            continue
        try:
            folder = generated_network(network, format)
        except GenerationError:
            continue
        files = [folder / PROGRAM[format], folder / PARAMETERS]
        if sum(path.stat().st_size for path in files if path.is_file()) <= MOST_BYTES:
            found.append(Source(network.name, format, str(folder.absolute())))
    return found
