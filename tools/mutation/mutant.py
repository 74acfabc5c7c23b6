"""A damaged model: its files, and how paddle2ov is to read it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PARAMETERS = "inference.pdiparams"
SETTINGS = "inference.yml"
_ABOUT = "mutant.json"
_DESCRIBED = ("reader", "kind", "sizes", "options", "family", "source")


@dataclass
class Mutant:
    """Files by their names, and what is done with them.

    Attributes:
        reader: what reads them, a key of `trial.READERS`.
        kind: what was damaged: "pir", "legacy", "settings", ...
        files: their contents.
        sizes: files that are longer than their contents, by holes.
        options: arguments for the reader.
        family: of the mutations that made it.
        source: the model that it was made from.
    """

    reader: str
    kind: str
    files: dict[str, bytes]
    sizes: dict[str, int] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    family: str = ""
    source: str = ""

    @property
    def row(self) -> str:
        """Its row in the table of outcomes."""
        return f"{self.kind}: {self.family}" if self.kind in ("pir", "legacy") else self.family

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(max(len(content), self.sizes.get(name, 0)) for name, content in self.files.items())

    def write(self, folder: Path) -> None:
        """Writes the files into a folder that exists."""
        for name, content in self.files.items():
            with (folder / name).open("wb") as file:
                file.write(content)
                if name in self.sizes:
                    file.truncate(self.sizes[name])

    def keep(self, folder: Path, **more: Any) -> Path:
        """Writes the files, and what they are, into a new folder that `kept` reads."""
        folder.mkdir(parents=True, exist_ok=True)
        self.write(folder)
        about = {name: getattr(self, name) for name in _DESCRIBED}
        (folder / _ABOUT).write_text(json.dumps(about | more, indent=1) + "\n")
        return folder


def kept(folder: Path) -> Mutant:
    """The mutant that was kept in a folder; one without a description is a model to convert."""
    path = folder / _ABOUT
    about: dict[str, Any] = {"reader": "convert", "kind": "model"}
    if path.exists():
        about |= json.loads(path.read_text())
    files = {}
    for item in sorted(folder.iterdir()):
        if item.name != _ABOUT:
            with item.open("rb") as file:
                files[item.name] = file.read(_data_end(file.fileno()) if item.name in about.get("sizes", ()) else -1)
    return Mutant(files=files, **{name: about[name] for name in _DESCRIBED if name in about})


def _data_end(descriptor: int) -> int:
    """Where the first hole of a file begins."""
    end = os.lseek(descriptor, 0, os.SEEK_HOLE)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return end
