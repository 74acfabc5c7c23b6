"""What the commands have in common: options, targets that are no sources, how errors and what is logged are shown."""

from __future__ import annotations

import logging
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from traceback import walk_tb
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from paddle2ov.commands.exit_status import FAILED, interruptible
from paddle2ov.errors import (
    ALL_REFUSALS,
    NEXT_STEPS,
    ConversionInputError,
    ConversionWarning,
    ModelReadError,
    OpConversionError,
    Paddle2OVError,
    is_refusal,
    shown,
    system_message,
)
from paddle2ov.jobs.termination import quiet_forks, terminable
from paddle2ov.program.archives import SUFFIXES, is_archive, parameters_beside, unpacked, with_origins
from paddle2ov.program.files import find_model
from paddle2ov.program.paths import local_path
from paddle2ov.progress import LoggedStages, StageProgress

_log = logging.getLogger("paddle2ov")
_Command = TypeVar("_Command", bound=Callable[..., None])


class PathType(click.Path):
    """A path that is not empty: `Path("")` is the current folder, which an unset shell variable does not mean.

    A shell leaves `~` as it is in `--out=~/models`, and `file://` in any case. Nor is it `-`: no model is one stream.
    """

    def __init__(self, path_type: type = Path, **kinds: bool) -> None:
        super().__init__(path_type=path_type, **kinds)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """As click's, but refuses the empty path and one of another machine."""
        if value == "":
            self.fail("the path is empty.", param, ctx)
        if value == "-":
            self.fail("'-' is no file: nothing is read from the standard input or written to the output.", param, ctx)
        try:
            path = local_path(value)
        except ConversionInputError as error:
            self.fail(str(error), param, ctx)
        return super().convert(path, param, ctx)


class TargetType(PathType):
    """The path of a file to write, which is not written as a folder's, and is no device."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """As click's, but refuses a separator at the end, and what is neither a file nor a folder."""
        if isinstance(value, str) and value.endswith(("/", os.sep)):
            self.fail(f"{value} is a folder; name the file to write, such as {Path(value) / 'model.xml'}", param, ctx)
        path: Path = super().convert(value, param, ctx)
        is_device = os.fspath(path).startswith(("/dev/std", "/dev/fd/", "/proc/"))  # also where it leads to a file
        with suppress(OSError):  # there is none yet
            mode = path.stat().st_mode
            is_device |= not (S_ISREG(mode) or S_ISDIR(mode))
        if is_device:
            self.fail(f"{path} is no file: a model is written to two, such as model.xml and model.bin", param, ctx)
        return path


class ModelType(PathType):
    """The path of a model; an archive is unpacked for as long as the command runs."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, or that of the folder with what is in the archive."""
        path = super().convert(value, param, ctx)
        if not isinstance(path, Path) or ctx is None or not path.name.lower().endswith(SUFFIXES):
            return path
        with plain_errors():
            return ctx.with_resource(unpacked(path)) if is_archive(path) else path


_OTHERS = (".bin", ".json", ".onnx", ".pb", ".pdiparams", ".pdmodel", ".pt", ".pth", ".tflite")
"""Suffixes of files other than an IR's .xml: whoever names one wants something else."""


def ir_target(target: Path, is_name: bool = False) -> Path:
    """The .xml that `-o` names: its suffix may be left out. `is_name`: it is a name, and may be that of a folder.

    Raises:
        click.UsageError: it is a folder, or a file of another kind.
    """
    if target.suffix.lower() in _OTHERS:
        raise click.UsageError(f"{target}: what is written is OpenVINO IR; name it {target.with_suffix('.xml').name}")
    if not is_name and target.is_dir():
        raise click.UsageError(f"{target} is a folder; name the file to write, such as {target / 'model.xml'}")
    return target.with_suffix(".xml") if target.suffix.lower() == ".xml" else target.with_name(f"{target.name}.xml")


def together(*options: Callable[[Any], Any]) -> Callable[[_Command], _Command]:
    """Arguments and options that several commands have, in this order, as one decorator."""

    def decorated(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


extension_option = click.option(
    "--extension",
    "extensions",
    multiple=True,
    type=PathType(exists=True, dir_okay=False),
    help="A Python file that registers converters of your own; may be repeated.",
)
params_option = click.option(
    "-pf",
    "--params",
    "--params-filename",
    type=PathType(),
    help="The parameter file: in the model's folder or archive, else from the current folder. Default: it is found.",
)
inputs_option = click.option(
    "--inputs",
    multiple=True,
    type=PathType(exists=True, dir_okay=False),
    help="An .npz file with an array for each input; may be repeated. Default: random inputs.",
)


def _in_sets(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> list[str]:
    """The inputs of each set: one that is named again begins another set."""
    if not value:
        return []
    from paddle2ov.translation.input_spec import parse_input

    sets: list[str] = []
    names: set[str | None] = set()
    for text in value:
        try:
            own = {override.name for override in parse_input(text)}
        except ConversionInputError as error:
            raise click.BadParameter(str(error), ctx, param) from error
        if sets and None not in own and own.isdisjoint(names):
            sets[-1] += f",{text}"
            names |= own
        else:
            sets.append(text)
            names = own
    return sets


def with_dashes(name: str) -> str:
    """The name of an option that is written with underscores, as those of `ovc` and `paddle2onnx` are."""
    return name.replace("_", "-")


OLD_NAMES = {"token_normalize_func": lambda name: "input" if name == "shape" else with_dashes(name)}
"""Settings of commands that have `random_input_options`: `--shape`, as it was called once, is taken as well."""
random_input_options = together(
    click.option(
        "--input",
        "shapes",
        multiple=True,
        callback=_in_sets,
        help='Shapes of random inputs: "x[1,3,48,320],im_shape[1,2]"; may be repeated, an input that is named again '
        "begins another set. Default: several sets, if the model's shapes are dynamic.",
    ),
    click.option("--seed", default=0, show_default=True, help="Of the random inputs."),
)
traceback_option = click.option("--traceback", is_flag=True, help="Show the Python traceback of an error.")
model_options = together(click.argument("model", type=ModelType()), params_option)
"""The first of each `ModelCommand`."""
last_options = together(
    extension_option, click.option("--json", "as_json", is_flag=True, help="Print JSON."), traceback_option
)
"""The last of each `ModelCommand`."""


def joined(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> str | None:
    """What an option that may be repeated lists, as one list."""
    return ",".join(value) if value else None


def chosen_params(model: Path, params: Path | None) -> Path | None:
    """The parameter file that `params_option` names: in the model's folder, or else from the current one."""
    return parameters_beside(model if model.is_dir() else model.parent, params)


def not_empty(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuses an empty file name, which would mean the folder."""
    if value == "":
        raise click.BadParameter("the name is empty.", ctx, param)
    return value


def need(where: str, is_there: bool, *options: str) -> None:
    """Refuses options that have no effect where what they are for is not given.

    `where` is what they are for, such as "--verify" or "--verify and --check".

    Raises:
        click.UsageError: one of the options is given, and that is not.
    """
    missing = "neither is" if " and " in where else "that is not"
    for option in () if is_there else _given(options):
        raise click.UsageError(f"{option} is for {where}, and {missing} given")


def refuse_beside(others: str, are_there: bool) -> None:
    """Refuses the options for random inputs where there are none, as the inputs are given by `others`.

    Raises:
        click.UsageError: one of the options is given.
    """
    for option in _given(("--input", "--seed")) if are_there else ():
        raise click.UsageError(f"{option} is for random inputs, and there are none with {others}")


def _given(options: Sequence[str]) -> Iterator[str]:
    """Those that the command line has, be it with the value that is the default."""
    ctx = click.get_current_context()
    names = {option: param.name for param in ctx.command.params for option in param.opts if param.name is not None}
    return (
        option for option in options if ctx.get_parameter_source(names[option]) not in (None, ParameterSource.DEFAULT)
    )


def _number(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Refuses NaN, which no range does."""
    if value is not None and math.isnan(value):
        raise click.BadParameter("nan is not a number.", ctx, param)
    return value


def tolerance_option(meaning: str) -> Callable[[_Command], _Command]:
    """The option for the tolerance of a comparison; `meaning` says of what it is."""
    return click.option("--tolerance", type=click.FloatRange(0, 10**9), callback=_number, help=meaning)


def timeout_option(seconds: float, meaning: str) -> Callable[[_Command], _Command]:
    """The option for a time limit of this many seconds by default; `meaning` says what it limits."""
    return click.option(
        "--timeout",
        type=click.FloatRange(0, 10**9),
        callback=lambda *given: _number(*given) or None,
        default=seconds,
        show_default=True,
        help=f"{meaning} 0: no limit.",
    )


def refuse_overwriting_sources(
    program: Path, params: Path | None, targets: Sequence[Path], replaced: Path | None
) -> None:
    """Refuses targets that would overwrite the model that is to be converted, before any work is done.

    `replaced` is a folder that will be replaced. A model that cannot be found is not an error here: the conversion
    reports it.

    Raises:
        ConversionInputError: one of the files, or the folder, is the model's.
    """
    try:
        files = find_model(program, params)
    except ModelReadError:
        return
    for own in (files.program, *([files.params] if files.params is not None else ())):
        for target in targets:
            if target.exists() and target.samefile(own):
                raise ConversionInputError(f"{target} is a file of the model itself, and would be overwritten")
        # os.path.realpath: Path.resolve raises RuntimeError of links in a circle
        if replaced is not None and Path(os.path.realpath(own)).is_relative_to(os.path.realpath(replaced)):
            raise ConversionInputError(f"{own} is a file of the model itself, and {replaced} would be replaced")


@contextmanager
def plain_errors(
    traceback: bool = False,
    refused: int = FAILED,
    interrupted: str = "Interrupted.",
    extensions: Sequence[Path] = (),
) -> Iterator[None]:
    """Runs `extensions`; shows an error of ours, or of files, as one message and exits; with `traceback` raises it.

    The exit status is `refused` for a model that OpenVINO cannot express, `FAILED` for anything else. Ctrl-C shows the
    message `interrupted` and exits with 130, as shells do; SIGTERM ends in order too, with 143.
    """
    try:
        with quiet_forks(), terminable(), interruptible(interrupted):
            if extensions:
                from paddle2ov.translation.extension import run_extensions

                run_extensions(extensions)
            yield
    except BrokenPipeError:
        raise
    except (Paddle2OVError, OSError, UserWarning) as error:  # warnings may be errors (-W error)
        if traceback or (isinstance(error, OSError) and is_of_output(error)):
            raise
        click.secho(f"error: {with_origins(shown(system_message(error)))}", fg="red", err=True)
        if not is_refusal(error):
            sys.exit(FAILED)
        if isinstance(error, OpConversionError):
            click.echo(f"{NEXT_STEPS}\n{ALL_REFUSALS}", err=True)
        sys.exit(refused)


class ModelCommand(click.Command):
    """A command on MODEL, with `model_options` and `last_options`; errors are plain."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the extensions, and the command with the parameter file that is meant."""
        options = ctx.params
        with plain_errors(options.pop("traceback"), extensions=options.pop("extensions")):
            options["params"] = chosen_params(options["model"], options["params"])
            return super().invoke(ctx)


def is_of_output(error: OSError) -> bool:
    """Whether what failed is a stream that click or rich print to: it has no name, as files do that are opened."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    return error.filename is None and frames[-1].f_globals.get("__name__", "").startswith(("click.", "rich."))


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Shows warnings of ours as one message; which are shown, or are errors, is Python's to decide (-W).

    What is logged as a warning looks the same, where nothing else is set up for it.
    """
    usual, logged = warnings.formatwarning, logging.lastResort

    def formatted(message: Warning | str, category: type[Warning], *where: Any, **options: Any) -> str:
        text = str(message)
        if issubclass(category, ConversionWarning) or text.startswith("paddle2ov"):
            return f"warning: {with_origins(shown(text))}\n"
        return usual(message, category, *where, **options)

    warnings.formatwarning = formatted
    if logged is not None:
        logging.lastResort = copy(logged)  # which writes to what is the standard error by then: above a bar
        logging.lastResort.setFormatter(logging.Formatter("warning: %(message)s"))
    try:
        yield
    finally:
        warnings.formatwarning, logging.lastResort = usual, logged


@contextmanager
def quiet_warnings() -> Iterator[None]:
    """Shows no warnings, and logs none."""
    usual, level = warnings.showwarning, _log.level
    warnings.showwarning = lambda *_, **__: None
    _log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        warnings.showwarning = usual
        _log.setLevel(level)


@contextmanager
def progress_bar(start: str, shown: bool = True) -> Iterator[StageProgress | None]:
    """A progress bar, as a function of (description, steps done, steps in all); lines where stderr is no terminal."""
    if not shown or not sys.stderr.isatty():
        yield LoggedStages(sys.stderr) if shown else None
        return
    from rich.console import Console

    from paddle2ov.commands.bars import Stages, bar_on

    # What is printed meanwhile goes above the bar, unless it goes elsewhere than to the terminal.
    apart = not sys.stdout.isatty()
    with bar_on(Console(stderr=True), redirect_stdout=not apart) as bar:
        yield Stages(bar, start)
