"""A cache of generated models, keyed by their content, the code that generates them and the version of Paddle."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

from gen_models.harness.generate import generate, generate_together
from gen_models.harness.legacy import ROOT, LegacyWorker, legacy_python
from gen_models.harness.network import Network, generate_network
from gen_models.harness.spec import Case, Op

FOLDER = Path(os.environ.get("PADDLE2OV_MODELS", ROOT / ".cache" / "models"))


def generated(op: Op, case: Case, format: str) -> Path:
    """The folder of a case's model; it is written if it is not there.

    Raises:
        GenerationError: Paddle refuses the case.
    """
    name = case.name or f"{op.name}_random"
    digest = case.digest(format, paddle_version(format), _sources(op.module), _framework())
    return _kept(FOLDER / format / f"{name}-{digest}", lambda folder: write(op, case, format, folder))


def generated_together(op: Op, cases: Sequence[Case], format: str) -> Path:
    """The folder of one model of several cases (`generate_together`); it is written if it is not there.

    Raises:
        GenerationError: Paddle refuses one of the cases, or that they are in one program.
    """
    digests = [case.digest(format, paddle_version(format), _sources(op.module), _framework()) for case in cases]
    digest = hashlib.sha256("".join(digests).encode()).hexdigest()[:12]

    def write(folder: Path) -> Path:
        if format == "pir":
            return generate_together(op, cases, format, folder)
        return worker().generate(op.name, op.module, cases, folder)

    return _kept(FOLDER / format / f"{op.name}_together-{digest}", write)


def write(op: Op, case: Case, format: str, folder: Path) -> Path:
    """Writes the model of a case, in this process or by the worker for legacy models.

    Raises:
        GenerationError: Paddle refuses the case.
    """
    if format == "pir":
        return generate(op, case, format, folder)
    return worker().generate(op.name, op.module, case, folder)


def generated_network(network: Network, format: str) -> Path:
    """The folder of a network's model; it is written if it is not there.

    Raises:
        GenerationError: Paddle cannot export it.
    """
    parts = (network.name, format, paddle_version(format), _sources(network.module), _framework())
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]

    def write(folder: Path) -> Path:
        if format == "pir":
            return generate_network(network, format, folder)
        return worker().generate(network.name, network.module, None, folder)

    return _kept(FOLDER / format / f"{network.name}-{digest}", write)


def _kept(folder: Path, write: Callable[[Path], Path]) -> Path:
    """The folder, written if it is not there. Once there, it stays: another process may be reading it."""
    if (folder / "case.json").exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".making-", dir=folder.parent) as making:
        written = write(Path(making) / folder.name)
        try:
            written.replace(folder)
        except OSError:  # another process was first
            if not (folder / "case.json").exists():
                raise
    return folder


@cache
def worker() -> LegacyWorker:
    """This process's worker for legacy models."""
    return LegacyWorker()


@cache
def _sources(module: str) -> str:
    """The text of a module and of those modules of its package that its functions come from."""
    texts: dict[str, str] = {}
    package = module.partition(".")[0]

    def visit(name: str) -> None:
        loaded = sys.modules.get(name)
        path = getattr(loaded, "__file__", None)
        if name in texts or path is None:
            return
        texts[name] = Path(path).read_text()
        for value in vars(loaded).values():
            other = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            if isinstance(other, str) and other.partition(".")[0] == package:
                visit(other)

    visit(module)
    return "\0".join(texts[name] for name in sorted(texts))


@cache
def paddle_version(format: str) -> str:
    """The version of the Paddle that writes a format, found without importing it; "" if there is none."""
    python = sys.executable if format == "pir" else legacy_python()
    if python is None:
        return ""
    find = "import importlib.metadata as m; print([d.version for d in m.distributions() if 'paddlepaddle' in d.name])"
    return subprocess.run([python, "-c", find], capture_output=True, text=True, check=True).stdout.strip()


@cache
def _framework() -> str:
    here = Path(__file__).parent
    return "\0".join((here / name).read_text() for name in ("spec.py", "generate.py", "network.py"))
