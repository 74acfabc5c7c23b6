"""Processes that call functions when they are asked: what a benchmark compares takes turns in such processes."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.record import ROOT, reason


class Child:
    """A process that serves functions; another one takes its place if it dies.

    Args:
        command: what to run, a Python program that calls `serve`.
        log: the file for its errors, and what else it says.
    """

    def __init__(self, command: Sequence[str], log: Path) -> None:
        self._command, self._log = command, log
        self._environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self._start()

    def ask(self, function: str, *arguments: Any) -> Any:
        """What a function returns; if it fails, or the process ends, the reason as "failed"."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps([function, *arguments]) + "\n")
            self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("ANSWER"):
                return json.loads(line.removeprefix("ANSWER"))
        status = self.stop()
        self._start()
        return {"failed": f"dies of signal {-status}" if status < 0 else reason(self._log.read_text())}

    def stop(self) -> int:
        """Lets it end; returns its status, the negative number of a signal if it died of that."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        return self._process.wait()

    def _start(self) -> None:
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with self._log.open("a") as errors:
            self._process = subprocess.Popen(self._command, stderr=errors, env=self._environment, **pipes)


def serve(functions: Mapping[str, Callable[..., Any]]) -> None:
    """Answers each line of the standard input, a JSON list of a function's name and its arguments."""
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        try:
            answer = functions[name](*arguments)
        except Exception as error:  # whatever a library makes of a network
            answer = {"failed": reason(str(error) or type(error).__name__)}
        print("\nANSWER", json.dumps(answer), flush=True)
