"""What mutants are made from: the models of all cases of the operators, in both formats, and small networks."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from random import Random

import msgspec

from gen_models import all_networks, all_ops
from gen_models.harness.generate import GenerationError
from gen_models.harness.naming import matches
from gen_models.harness.network import Network
from gen_models.harness.store import generated, generated_network
from paddle2ov.program.framework_proto import ProgramDesc
from tools.mutation.mutant import PARAMETERS, PROGRAM

MAX_BYTES = 60_000
"""Larger programs are left out: their mutants take long, and hold nothing that small ones do not."""


class Source(msgspec.Struct, frozen=True):
    """A model that mutants are made from."""

    name: str
    format: str
    program: bytes
    parameters: bytes | None


class Corpus:
    """Models by operator: one with few cases is drawn as often as one with many."""

    def __init__(self, groups: dict[str, list[Source]]) -> None:
        self.groups = groups
        self._names = sorted(groups)

    def draw(self, rng: Random, format: str | None = None) -> Source:
        while True:
            group = self.groups[rng.choice(self._names)]
            candidates = group if format is None else [item for item in group if item.format == format]
            if candidates:
                return rng.choice(candidates)

    def digest(self) -> str:
        """Changes when other models are in it."""
        hashed = hashlib.sha256()
        for name in self._names:
            for item in self.groups[name]:
                hashed.update(msgspec.msgpack.encode(item))
        return hashed.hexdigest()[:8]

    def save(self, path: Path) -> None:
        """Writes all models into one file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.msgpack.encode(self.groups))


@cache
def load_corpus(path: str) -> Corpus:
    """A corpus that was saved."""
    return Corpus(msgspec.msgpack.decode(Path(path).read_bytes(), type=dict[str, list[Source]]))


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
                    group.append(_source(case.name, format, generated(op, case, format)))
                except GenerationError:
                    continue
        groups[op.name] = group
    for network in all_networks().values():
        if matches(network.name, pattern):
            groups[network.name] = _small(network, here)
    return Corpus({name: group for name, group in groups.items() if group})


def save_corpus(path: Path, pattern: str, formats: Iterable[str], cases: int | None = None) -> None:
    """Makes a corpus in a process of its own, as Paddle may end the one in which it exports.

    What was exported until then is kept, so that the next process goes on from there.
    """
    command = [
        sys.executable,
        "-X",
        "faulthandler",
        "-m",
        "tools.mutation.corpus",
        str(path),
        pattern,
        ",".join(formats),
    ]
    command += [] if cases is None else [str(cases)]
    for is_last in (False, False, True):
        status = subprocess.run(command, check=False).returncode
        if status == 0:
            return
        if status > 0 or is_last:  # an error of ours, or one that stays
            raise SystemExit(f"the models could not be exported: status {status}")


def _small(network: Network, formats: tuple[str, ...]) -> list[Source]:
    sources = []
    for format in formats:
        if format not in network.formats:
            continue
        try:
            folder = generated_network(network, format)
        except GenerationError:
            continue
        source = _source(network.name, format, folder)
        if len(source.program) + len(source.parameters or b"") <= MAX_BYTES:
            sources.append(source)
    return sources


def _source(name: str, format: str, folder: Path) -> Source:
    path = folder / PARAMETERS
    content = (folder / PROGRAM[format]).read_bytes()
    weights = path.read_bytes() if path.is_file() else None
    return Source(name, format, content if format == "pir" else _without_call_stacks(content), weights)


def _without_call_stacks(content: bytes) -> bytes:
    """A legacy program that does not say where the files lay that made it: it is the same everywhere."""
    program = ProgramDesc.FromString(content)
    for block in program.blocks:
        for op in block.ops:
            kept = [text for text in op.attrs if b"op_callstack" not in text]
            del op.attrs[:]
            op.attrs.extend(kept)
    serialized: bytes = program.SerializeToString(deterministic=True)
    return serialized


if __name__ == "__main__":
    _path, _pattern, _formats, *_cases = sys.argv[1:]
    make_corpus(_pattern, _formats.split(","), int(_cases[0]) if _cases else None).save(Path(_path))
