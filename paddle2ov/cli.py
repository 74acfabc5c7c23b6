"""The command line: the script `paddle2ov`, and `python -m paddle2ov`. Without imports that take a while."""

from __future__ import annotations

import sys
from io import TextIOWrapper

from paddle2ov.commands.exit_status import interruptible
from paddle2ov.jobs.termination import merged_interrupts


def main() -> None:
    """The entry point of the `paddle2ov` script."""
    # Names of models may have characters that the output's encoding lacks; what `run` starts prints as ever.
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors == "strict" and sys.argv[1:2] != ["run"]:
        sys.stdout.reconfigure(errors="backslashreplace")
    with merged_interrupts():
        with interruptible():  # this import takes a while
            from paddle2ov.commands.group import cli
        cli(prog_name="paddle2ov")
