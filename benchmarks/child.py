"""Processes that answer each line with a line: what a benchmark compares takes turns in such processes."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


class Child:
    """A process that reads lines and writes lines.

    Args:
        command: what to run.
        environment: its environment.
        folder: its working directory, if that is another one.
        log: the file for its errors; without one they are this process's.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path | None = None,
        log: Path | None = None,
    ) -> None:
        with log.open("w") if log is not None else contextlib.nullcontext() as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=environment,
                cwd=folder,
            )

    def line(self) -> str:
        """The next line that it writes; "" where it has ended."""
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def ask(self, text: str) -> str:
        """What it answers; "" where it has ended."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{text}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return ""
        return self.line()

    def answer(self, kind: str, line: str) -> str | None:
        """The rest of the first line that begins with a word, from a line on; None where it has ended before."""
        while line and not line.startswith(kind):
            line = self.line()
        return line.removeprefix(kind) if line else None

    def stop(self) -> int:
        """Lets it end; returns its status, the negative number of a signal if it died of that."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        return self._process.wait()
