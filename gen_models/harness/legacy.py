"""Legacy models need Paddle 2: a worker process in an interpreter of its own writes them."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gen_models.harness.generate import GenerationError
from gen_models.harness.spec import FORMATS, Case
from gen_models.programs.program import Program

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 120.0


def legacy_python() -> str | None:
    """The interpreter that has Paddle 2: PADDLE2OV_LEGACY_PYTHON, or that of `.venv-legacy`; None if there is none."""
    named = os.environ.get("PADDLE2OV_LEGACY_PYTHON")
    if named is not None:
        return named or None
    path = ROOT / ".venv-legacy" / "bin" / "python"
    return str(path) if path.exists() else None


def formats_here() -> tuple[str, ...]:
    """The formats that can be written here."""
    return FORMATS if legacy_python() is not None else FORMATS[:1]


class LegacyWorker:
    """A worker process; it is started on first use, and again when it has died.

    Its interpreter is the one that has Paddle 2, unless another is named.
    """

    def __init__(self, python: str | None = None) -> None:
        self._python = python
        self._process: subprocess.Popen[str] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="paddle2ov-")  # removed with this object
        self._log = Path(self._folder.name) / "log"

    def generate(self, op: str, module: str, case: Case | Sequence[Case] | None, folder: Path) -> Path:
        """Writes a case of an operator, several together, or (without a case) a whole network, as a legacy model.

        Raises:
            GenerationError: Paddle refuses the case, crashes on it, or takes too long.
        """
        source = getattr(sys.modules.get(module), "__file__", None)
        plain = case.to_json() if isinstance(case, Case) else [item.to_json() for item in case] if case else None
        request = {"op": op, "module": module, "source": source, "case": plain}
        return self._write(request, folder, f"{op}: {case}")

    def generate_program(self, program: Program, folder: Path) -> Path:
        """Writes a random program as a model of the format that the process's Paddle writes.

        Raises:
            GenerationError: Paddle refuses it, crashes on it, or takes too long.
        """
        return self._write({"program": program.to_json()}, folder, f"program {program.digest()}")

    def printed(self, code: str) -> str:
        """What code prints in the process.

        Raises:
            GenerationError: it raises an error, crashes, or takes too long.
        """
        return str(self._reply({"code": code}, code)["printed"])

    def _write(self, request: dict[str, Any], folder: Path, what: str) -> Path:
        self._reply({**request, "folder": str(Path(folder).absolute())}, what)
        return folder

    def _reply(self, request: dict[str, Any], what: str) -> dict[str, Any]:
        has_served = self._process is not None
        line = self._asked(request)
        if line == "" and has_served:
            # What Paddle 3 keeps of one program can crash it in another: only a new process tells of this one.
            line = self._asked(request)
        if not line:
            end = "took too long" if line is None else f"died; the end of its log:\n{self._tail()}"
            raise GenerationError(f"{'Paddle' if self._python else 'Paddle 2'} {end} on {what}")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise GenerationError(reply["error"])
        return reply

    def _asked(self, request: dict[str, Any]) -> str | None:
        """The line that the process replies, none if it takes too long, or an empty one if it died; both end it."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            ready, _, _ = select.select([process.stdout], [], [], TIMEOUT)
            line = process.stdout.readline() if ready else None
        except BrokenPipeError:
            line = ""
        if not line:
            self.close()
        return line

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            python = self._python or legacy_python()
            if python is None:
                raise GenerationError("no interpreter with Paddle 2 for legacy models; `make venv-legacy` sets one up")
            with self._log.open("w") as log:
                self._process = subprocess.Popen(
                    [python, "-W", "ignore", "-m", "gen_models.harness.worker"],
                    cwd=ROOT,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                )
        return self._process

    def _tail(self) -> str:
        return self._log.read_text(errors="replace")[-2000:].strip()
