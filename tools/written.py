"""Files that tools write; with `--check` they are compared, and stay as they are."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def write_or_check(tool: str, texts: Mapping[Path, str], arguments: Sequence[str]) -> int:
    """Writes what differs, or says that it is stale; the exit status, which is 1 if something is."""
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if "--check" in arguments:
            print(f"{path.name} is stale: run python -m tools.{tool}", file=sys.stderr)
        else:
            path.write_text(texts[path], encoding="utf-8")
    return int("--check" in arguments and bool(stale))
