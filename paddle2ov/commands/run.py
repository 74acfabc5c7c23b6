"""`paddle2ov run COMMAND ...`."""

from __future__ import annotations

import errno
import os
import runpy
import sys
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import click

from paddle2ov.commands.shared import plain_errors
from paddle2ov.errors import ConversionInputError
from paddle2ov.program.paths import missing

_FOR_OTHERS = (
    "\n`run` is for what uses PaddleX or PaddleOCR. A script written for paddle.inference imports that from here:\n"
    "  from paddle2ov.inference import Config, create_predictor\n"
    "Then it runs by itself, without `run` (docs/serving.md)."
)
_KNOWN = ("paddleocr", "paddlex")
"""Commands that are packages of the same name; other names may be anybody's."""


@click.command(
    "run",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    help="""Run COMMAND with the engine 'paddle2ov' known to PaddleX and PaddleOCR, which then need no Paddle.

    \b
    paddle2ov run paddleocr ocr -i page.png --engine paddle2ov
    paddle2ov run paddlex --serve --pipeline OCR --engine paddle2ov
    paddle2ov run script.py        a script that uses PaddleOCR or PaddleX

    COMMAND is a command that a Python package installs, or a script (.py); what follows is its own, and so are its
    messages and its exit status. The engine is known to that process, not to others that it starts.

    A script written for paddle.inference is not for `run`: change its import to paddle2ov.inference, and start it with
    python (docs/serving.md).
    """,
)
@click.argument("command")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run_command(command: str, arguments: tuple[str, ...]) -> None:
    """Runs a command in this process, which knows the engine."""
    script = command.endswith(".py")
    entry_point = None if script else _installed(command)
    if script and not Path(command).is_file():
        raise click.UsageError(f"{command}: {missing(Path(command), 'script')}")
    if script and not os.access(command, os.R_OK):
        raise click.UsageError(f"{command}: {os.strerror(errno.EACCES)}")
    with plain_errors():
        from paddle2ov.inference.paddlex import register_engine

        try:
            register_engine()
        except ConversionInputError as error:
            raise ConversionInputError(f"{error}{_FOR_OTHERS if script else ''}") from error
    sys.argv[:] = [command, *arguments]
    if entry_point is None:
        runpy.run_path(command, run_name="__main__")
    else:
        sys.exit(entry_point.load()())


def _installed(command: str) -> EntryPoint:
    """The console script of that name."""
    for entry_point in entry_points(group="console_scripts", name=command):
        return entry_point
    hint = ""
    if command in _KNOWN:
        hint = f"; is it installed in this environment? pip install {command}"
    elif meant := get_close_matches(command, {*_KNOWN, *entry_points(group="console_scripts").names}, 1, 0.8):
        hint = f"; did you mean {meant[0]}?"
    raise click.UsageError(f"'{command}' is neither a command of an installed Python package nor a script (.py){hint}")
