"""What mutants are made from: the models of all cases of the operators, in both formats, and small networks."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from gen_models import all_networks, all_ops
from gen_models.harness.generate import GenerationError
from gen_models.harness.naming import matches
from gen_models.harness.store import generated, generated_network
from tools.mutation.formats import FORMATS, LEGACY
from tools.mutation.mutant import PARAMETERS

MAX_BYTES = 60_000
"""Of networks; larger ones are left out: their mutants take long, and hold nothing that small ones do not."""


@dataclass(frozen=True)
class Source:
    """A model that mutants are made from."""

    name: str
    format: str
    folder: str

    @property
    def program(self) -> bytes:
        """The program; a legacy one without the call stacks, which say where the files lay that made it."""
        content = Path(self.folder, FORMATS[self.format].file).read_bytes()
        return content if self.format == "pir" else LEGACY.render(LEGACY.parse(content))

    @property
    def parameters(self) -> bytes | None:
        """The parameters' file, if there is one."""
        path = Path(self.folder, PARAMETERS)
        return path.read_bytes() if path.is_file() else None


class Corpus:
    """Models by operator: one with few cases is drawn as often as one with many."""

    def __init__(self, groups: dict[str, list[Source]]) -> None:
        self.groups = groups

    def draw(self, rng: Random, format: str | None = None) -> Source:
        while True:
            group = self.groups[rng.choice(sorted(self.groups))]
            candidates = [item for item in group if format in (None, item.format)]
            if candidates:
                return rng.choice(candidates)

    def digest(self) -> str:
        """Changes when other models are in it."""
        names = [Path(item.folder).name for name in sorted(self.groups) for item in self.groups[name]]
        return hashlib.sha256(" ".join(names).encode()).hexdigest()[:8]


@cache
def load_corpus(path: str) -> Corpus:
    """A corpus that was saved."""
    groups = json.loads(Path(path).read_text())
    return Corpus({name: [Source(*item) for item in group] for name, group in groups.items()})


def save_corpus(path: Path, pattern: str, formats: tuple[str, ...], cases: int | None = None) -> Corpus:
    """Generates the models that are not there, in a process of its own, as Paddle may end the one in which it exports.

    Args:
        path: the file that lists the models.
        pattern: which operators and networks, by name.
        formats: in which formats.
        cases: the most cases of one operator.
    """
    command = [sys.executable, "-X", "faulthandler", "-m", "tools.mutation.corpus"]
    command += [str(path), pattern, ",".join(formats), *([] if cases is None else [str(cases)])]
    for is_last in (False, False, True):  # what was exported until it ended is kept
        status = subprocess.run(command, check=False).returncode
        if status == 0:
            break
        if status > 0 or is_last:  # an error of ours, or one that stays
            raise SystemExit(f"the models could not be exported: status {status}")
    return load_corpus(str(path))


def sources(pattern: str, formats: Sequence[str], cases: int | None) -> Iterator[tuple[str, list[str]]]:
    """A group's name, and the fields of a source in it; models that are not there are generated in this process."""
    for op in all_ops().values():
        for case in op.cases[:cases] if matches(op.name, pattern) else ():
            for format in formats:
                if format in case.formats and not case.xfail:
                    try:
                        yield op.name, [case.name, format, str(generated(op, case, format))]
                    except GenerationError:
                        continue
    for network in all_networks().values():
        for format in network.formats if matches(network.name, pattern) else ():
            if format in formats:
                try:
                    source = Source(network.name, format, str(generated_network(network, format)))
                except GenerationError:
                    continue
                if len(source.program) + len(source.parameters or b"") <= MAX_BYTES:
                    yield network.name, [source.name, format, source.folder]


if __name__ == "__main__":
    _path, _pattern, _formats, *_cases = sys.argv[1:]
    _groups: dict[str, list[list[str]]] = {}
    for _name, _source in sources(_pattern, _formats.split(","), int(_cases[0]) if _cases else None):
        _groups.setdefault(_name, []).append(_source)
    Path(_path).parent.mkdir(parents=True, exist_ok=True)
    Path(_path).write_text(json.dumps(_groups))
