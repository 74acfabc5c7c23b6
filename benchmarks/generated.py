"""The networks of `gen_models` and those of `benchmarks.networks` as models; one that is not there is exported."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from benchmarks.record import ROOT, reason
from gen_models.harness.legacy import legacy_python

SOURCES = ("benchmarks/*networks.py", "benchmarks/detection_heads.py", "gen_models/networks/*.py")


def model_folder(name: str, format: str = "pir") -> Path:
    """The folder of a network of `gen_models` in that format."""
    from gen_models import all_networks
    from gen_models.harness.store import generated_network

    return generated_network(all_networks()[name], format).absolute()


def exported(name: str, format: str) -> Path | None:
    """The folder of a network of `benchmarks.networks`; None where no Paddle is there that writes it."""
    sources = b"".join(path.read_bytes() for pattern in SOURCES for path in sorted(ROOT.glob(pattern)))
    folder = ROOT / ".cache" / "benchmarks" / hashlib.sha256(sources).hexdigest()[:8] / format / name
    program = folder / f"inference.{'json' if format == 'pir' else 'pdmodel'}"
    python = sys.executable if format == "pir" else legacy_python()
    if python is not None and not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = [python, "-W", "ignore", "-m", "benchmarks.networks", name, str(folder / "inference")]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if run.returncode:
            print(f"{name} is not exported, {format}: {reason(run.stderr)}", file=sys.stderr)
    return folder if program.exists() else None
