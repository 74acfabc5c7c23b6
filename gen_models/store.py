"""Generated models by content: what was generated before, by the same code and the same Paddle, is not generated again."""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from pathlib import Path

from gen_models.generate import generate
from gen_models.legacy import ROOT, LegacyWorker, legacy_python
from gen_models.network import Network, generate_network
from gen_models.spec import Case, Op

FOLDER = Path(os.environ.get("PADDLE2OV_MODELS", ROOT / ".cache" / "models"))


def generated(op: Op, case: Case, format: str) -> Path:
    """The folder of a case's model; it is written if it is not there.

    Raises:
        GenerationError: Paddle refuses the case.
    """
    name = case.name or f"{op.name}_random"
    paddle = "" if format == "pir" else str(legacy_python())
    digest = case.digest(format, paddle, _text(op.source), _framework())
    folder = FOLDER / format / f"{name}-{digest}"
    if (folder / "case.json").exists():
        return folder
    return write(op, case, format, folder)


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
    source = getattr(sys.modules[network.module], "__file__", "") or ""
    parts = (network.name, format, str(legacy_python()) if format == "legacy" else "", _text(source), _framework())
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]
    folder = FOLDER / format / f"{network.name}-{digest}"
    if (folder / "case.json").exists():
        return folder
    if format == "pir":
        return generate_network(network, format, folder)
    return worker().generate(network.name, network.module, None, folder)


@cache
def worker() -> LegacyWorker:
    """This process's worker for legacy models."""
    return LegacyWorker()


@cache
def _text(path: str) -> str:
    return Path(path).read_text() if path else ""


@cache
def _framework() -> str:
    here = Path(__file__).parent
    return "\0".join((here / name).read_text() for name in ("spec.py", "generate.py", "network.py"))
