"""What a Paddle program is, and the readers that make one from either file format.

A module is loaded when its name is first used: whoever only looks for the files of a model needs no reader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddle2ov.program.files import ModelFiles, PathLike, find_model
    from paddle2ov.program.model import Program
    from paddle2ov.program.reading import load_readers, read_contents, read_program

_MODULES = {
    "ModelFiles": "files",
    "PathLike": "files",
    "Program": "model",
    "find_model": "files",
    "load_readers": "reading",
    "read_contents": "reading",
    "read_program": "reading",
}

__all__ = ["ModelFiles", "PathLike", "Program", "find_model", "load_readers", "read_contents", "read_program"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value
