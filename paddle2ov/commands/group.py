"""Which command is meant, `paddle2ov MODEL_DIR -o model.xml` too, and what options that none has are answered with."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from paddle2ov import __version__
from paddle2ov.commands.batch import batch_command
from paddle2ov.commands.check import check_command
from paddle2ov.commands.convert import convert_command
from paddle2ov.commands.exit_status import FAILED, UNREAD, interruptible
from paddle2ov.commands.inspect import inspect_command
from paddle2ov.commands.ops import ops_command
from paddle2ov.commands.quantize import quantize_command
from paddle2ov.commands.run import run_command
from paddle2ov.commands.shared import is_of_output, plain_warnings, with_dashes
from paddle2ov.commands.verify import verify_command


class _DefaultToConvert(click.Group):
    """`paddle2ov MODEL_DIR ...` is short for `paddle2ov convert MODEL_DIR ...`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h", "--version"):
            option = f"--{with_dashes(args[0])}"
            if option in ("--help", "--version"):
                meant = f"'{option}' is an option"
            elif takers := _takers(option):
                meant = f"'{option}' is an option of {takers}"
            else:
                close = difflib.get_close_matches(args[0], self.commands, 1)
                meant = f"'{close[0]}' is a command" if close else ""
            if meant and not any(Path(args[0] + end).exists() for end in ("", ".json", ".pdmodel")):
                raise click.UsageError(f"'{args[0]}' is neither a command nor a model; {meant}", ctx)
            args = ["convert", *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists no commands: the help text does so, with what they take."""

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """The context of a call; `--help` and `--version` print here already."""
        with interruptible(), _printing():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; what other converters call an option is answered with what it is here."""
        with interruptible(), _printing(), plain_warnings():  # what a command imports may be interrupted as well
            try:
                return super().invoke(ctx)
            except click.UsageError as error:
                raise _with_hint(error) from None


def _takers(option: str) -> str:
    """The commands that have an option."""
    return ", ".join(
        name for name, command in cli.commands.items() if any(option in item.opts for item in command.params)
    )


_NO_ONNX = "it is not needed: nothing goes through ONNX"
_BUILT_IN = "use --preprocess, which builds in what the settings beside the model say, or openvino.preprocess"
_TARGET = "use -o FOLDER/NAME.xml"
_FOREIGN = {
    **dict.fromkeys(("-b", "--batch"), 'use --input "x[8,3,640,640]"'),
    **dict.fromkeys(("--layout", "--mean-values", "--reverse-input-channels", "--scale", "--scale-values"), _BUILT_IN),
    **dict.fromkeys(("--source-layout", "--target-layout"), _BUILT_IN),
    **dict.fromkeys(("--model-name", "--output-dir"), _TARGET),
    "--framework": "leave it out: all models are Paddle's",
    "--input-model": "give the model as MODEL, or with --model-dir",
    "--data-type": "use --precision f16",
    "--enable-auto-update-opset": _NO_ONNX,
    "--enable-onnx-checker": "use --verify, which compares with Paddle",
    "--input-shape": 'use --input "x[1,3,640,640]"',
    "--opset-version": _NO_ONNX,
}
"""Options of paddle2onnx and of OpenVINO's earlier converter, and what to do here."""


def _with_hint(error: click.UsageError) -> click.UsageError:
    """The error; of an option of another converter or command, or a file as an argument, one that says what to do."""
    if isinstance(error, click.NoSuchOption):
        option = with_dashes(error.option_name)
        takers = _takers(option)
        hint = _FOREIGN.get(option) or (takers and f"{option} is an option of {takers}")
        return click.UsageError(f"No such option '{error.option_name}': {hint}.", error.ctx) if hint else error
    if "unexpected extra argument" in error.message and ".pdiparams" in error.message:
        return click.UsageError(f"{error.message}: the parameter file is given as --params FILE", error.ctx)
    if "unexpected extra argument" in error.message and ".xml" in error.message:
        return click.UsageError(f"{error.message}: the file to write is given as -o FILE", error.ctx)
    return error


@contextmanager
def _printing() -> Iterator[None]:
    """Where the output cannot be written, that is no verdict on the model; other errors go on."""
    try:
        yield
    except BrokenPipeError:  # `| head`
        _drop_output()
        sys.exit(UNREAD)
    except OSError as error:
        if not is_of_output(error):
            raise
        _drop_output()  # a full disk
        click.secho(f"error: the output cannot be written: {error.strerror or error}", fg="red", err=True)
        sys.exit(FAILED)


def _drop_output() -> None:
    """Lets what is buffered go nowhere, which would be written once more at the end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _versions(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        import openvino

        click.echo(f"paddle2ov {__version__} (OpenVINO {openvino.__version__})")
        ctx.exit()


@click.group(
    cls=_DefaultToConvert,
    commands=[
        convert_command,
        inspect_command,
        verify_command,
        check_command,
        batch_command,
        quantize_command,
        ops_command,
        run_command,
    ],
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 110,
        "token_normalize_func": with_dashes,
    },
    help="""PaddlePaddle models on OpenVINO.

    \b
    paddle2ov MODEL_DIR -o model.xml      convert a model (short for: paddle2ov convert ...)
    paddle2ov inspect MODEL_DIR           show what a model is made of and whether it converts
    paddle2ov verify MODEL_DIR            compare what OpenVINO computes with what Paddle computes
    paddle2ov check MODEL                 check, without Paddle, that this device computes the graph right
    paddle2ov batch DIR ... -o OUT        convert every model below folders, or of archives and files
    paddle2ov quantize MODEL --data ...   convert a model to int8, calibrated with data of yours
    paddle2ov ops                         list the operators that can be converted
    paddle2ov run COMMAND ...             run paddleocr or paddlex without Paddle

    `paddle2ov convert --help` lists the options of a conversion.
    """,
)
@click.option("--version", is_flag=True, callback=_versions, expose_value=False, is_eager=True, help="Show versions.")
def cli() -> None:
    """The group that all commands belong to."""
