"""What the examples share: one process trains in Paddle, another runs the result without it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path


def run(train: Callable[[Path], None], deploy: Callable[[Path], bool]) -> int:
    """`train(folder)` here, `deploy(folder)` in a process of its own; the exit status is 0 if it returns True.

    The folder is the script's argument, by default a temporary one.
    """
    if sys.argv[1:2] == ["--deploy"]:
        return 0 if deploy(Path(sys.argv[2])) else 1
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else temporary)
        folder.mkdir(parents=True, exist_ok=True)
        train(folder)
        return subprocess.run([sys.executable, sys.argv[0], "--deploy", str(folder)], check=False).returncode
