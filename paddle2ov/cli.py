"""The command line: `paddle2ov MODEL_DIR -o model.xml`, `paddle2ov ops`."""

from __future__ import annotations

import difflib
import fnmatch
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paddle2ov import __version__
from paddle2ov.commands.batch import batch_command
from paddle2ov.commands.shared import (
    PathType,
    extension_option,
    not_empty,
    params_option,
    plain_errors,
    run_extensions,
    traceback_option,
)
from paddle2ov.commands.verify import STATUS, STATUS_UNKNOWN, VERDICTS, verify_command

if TYPE_CHECKING:
    from paddle2ov.inspection import Inspection
    from paddle2ov.registry import Registry


class _DefaultToConvert(click.Group):
    """`paddle2ov MODEL_DIR ...` is short for `paddle2ov convert MODEL_DIR ...`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h", "--version"):
            meant = difflib.get_close_matches(args[0], self.commands, 1)
            if meant and not Path(args[0]).exists():
                raise click.UsageError(f"'{args[0]}' is neither a command nor a model; '{meant[0]}' is a command", ctx)
            args = ["convert", *args]
        return super().parse_args(ctx, args)


def _versions(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        import openvino

        click.echo(f"paddle2ov {__version__} (OpenVINO {openvino.__version__})")
        ctx.exit()


@click.group(cls=_DefaultToConvert, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--version", is_flag=True, callback=_versions, expose_value=False, is_eager=True, help="Show versions.")
def cli() -> None:
    """PaddlePaddle models on OpenVINO.

    \b
    paddle2ov MODEL_DIR -o model.xml      convert a model (short for: paddle2ov convert ...)
    paddle2ov inspect MODEL_DIR           show what a model is made of and whether it converts
    paddle2ov verify MODEL_DIR            compare what OpenVINO computes with what Paddle computes
    paddle2ov batch DIR -o OUT            convert every model below a folder
    paddle2ov ops                         list the operators that can be converted

    `paddle2ov convert --help` shows what a conversion can be told.
    """  # noqa: D301 - click looks for the character that \b stands for, which a raw docstring would not hold


@cli.command("convert")
@click.argument("model", required=False, type=PathType(path_type=Path))
@click.option("-m", "--model-dir", "--model_dir", type=PathType(path_type=Path), help="The model's folder (as MODEL).")
@click.option(
    "-mf",
    "--model-filename",
    "--model_filename",
    callback=not_empty,
    help="The program's file name inside the folder.",
)
@click.option(
    "-pf",
    "--params-filename",
    "--params_filename",
    callback=not_empty,
    help="The parameters' file name inside the folder.",
)
@click.option(
    "-o",
    "-s",
    "--output-model",
    "--output_model",
    "--save-file",
    "--save_file",
    "target",
    type=PathType(path_type=Path),
    help="Where to write the model (.xml; the weights go beside it). Default: the model's name in this folder.",
)
@click.option("--input", "inputs", help='Inputs with shapes: "x[1,3,224..640,?],im_shape[1,2]".')
@click.option("--output", "outputs", help="Names of the results to keep, separated by commas. Default: all.")
@click.option(
    "--bounded", is_flag=True, help="Bound dynamic inputs by the shapes in the inference.yml beside the model."
)
@click.option(
    "--preprocess",
    is_flag=True,
    help="Build the preprocessing of the inference.yml beside the model into it; it then takes bytes as cv2.imread "
    "gives them. Says what remains yours.",
)
@click.option(
    "--sequence-lengths",
    is_flag=True,
    help="Add inputs and results NAME.lengths, for several sequences in one input of an old model (LoD).",
)
@click.option(
    "--serve-layout",
    "serving",
    type=PathType(file_okay=False, path_type=Path),
    help="Write the model into this folder as OpenVINO Model Server and Triton load it, under the name of the output "
    "model.",
)
@click.option(
    "--compress-to-fp16/--no-compress-to-fp16",
    "--compress_to_fp16/--no_compress_to_fp16",
    "fp16",
    default=False,
    show_default=True,
    help="Store float32 weights as float16, as openvino.save_model does.",
)
@extension_option
@click.option(
    "--report",
    "reports",
    multiple=True,
    type=PathType(dir_okay=False, path_type=Path),
    help="Compile and measure the model, and write what became of every operator to this file (.html or .json; may be "
    "repeated).",
)
@click.option(
    "--verify",
    "compare",
    is_flag=True,
    help="Run the model (without --preprocess) in Paddle too and compare; with --report, every operator. The exit "
    "status is that of verify, also where the conversion fails: 2.",
)
@click.option("--paddle-python", type=PathType(), help="For --verify: an interpreter that has Paddle.")
@click.option(
    "--inputs",
    "arrays",
    type=PathType(exists=True, dir_okay=False, path_type=Path),
    help="For --report and --verify: an .npz file with an array for each input. Default: random inputs.",
)
@click.option("--verbose", "-v", is_flag=True, help="Say what was read and how long each step took.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
@traceback_option
def convert_command(
    model: Path | None,
    model_dir: Path | None,
    model_filename: str | None,
    params_filename: str | None,
    target: Path | None,
    inputs: str | None,
    outputs: str | None,
    bounded: bool,
    sequence_lengths: bool,
    preprocess: bool,
    serving: Path | None,
    fp16: bool,
    extensions: tuple[Path, ...],
    reports: tuple[Path, ...],
    compare: bool,
    paddle_python: str | None,
    arrays: Path | None,
    verbose: bool,
    quiet: bool,
    traceback: bool,
) -> None:
    """Convert MODEL to OpenVINO IR.

    MODEL is a folder that holds one Paddle inference model, a program file (inference.json, inference.pdmodel,
    __model__) or the path prefix that Paddle's own functions take.
    """
    if (model is None) == (model_dir is None):
        raise click.UsageError("give the model once: as MODEL or as --model-dir")
    source = model or model_dir
    assert source is not None
    params = None
    with plain_errors(traceback, STATUS_UNKNOWN if compare else 1):
        if params_filename is not None:
            params = (source if source.is_dir() else source.parent) / params_filename
        program = source / model_filename if model_filename is not None else source
        xml = _target(target, source)
        from paddle2ov.commands import report as reporting
        from paddle2ov.conversion import convert
        from paddle2ov.errors import Paddle2OVError
        from paddle2ov.report import ConversionReport
        from paddle2ov.saving import save_model, write_ir

        reporting.check_targets(reports)
        conversion = ConversionReport() if reports else None
        run_extensions(extensions)
        try:
            with _progress(enabled=not quiet) as progress:
                converted = convert(
                    program,
                    params,
                    input=inputs,
                    output=outputs,
                    verbose=verbose and not quiet,
                    progress=progress,
                    report=conversion,
                    bounded=bounded,
                    sequence_lengths=sequence_lengths,
                    preprocess=preprocess,
                )
        except Paddle2OVError as error:
            reporting.write_refused(reports, program, params, _name(source), error)
            raise
        written = xml
        if serving is not None:
            from paddle2ov.deployment.serving import write_layout

            written = write_layout(converted, serving, xml.stem, lambda model, path: write_ir(model, path, fp16))
        if serving is None or target is not None:
            save_model(converted, xml, fp16)
        found = None
        if compare:
            from paddle2ov.verification.verify import verify

            found = verify(
                program,
                params,
                inputs=arrays,
                shapes=inputs,
                operators=bool(reports),
                paddle_python=paddle_python,
            )
        if conversion is not None:
            reporting.write(reports, converted, conversion, _name(source), found, arrays, show=not quiet)
    if not quiet:
        if found is not None:
            click.echo(VERDICTS[found.verdict])
        for path in dict.fromkeys((written, *([xml] if target is not None else []), *reports)):
            click.echo(f"{path}")
    if found is not None:
        sys.exit(STATUS[found.verdict])


@cli.command("inspect")
@click.argument("model", type=PathType(path_type=Path))
@params_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@traceback_option
def inspect_command(model: Path, params: Path | None, as_json: bool, traceback: bool) -> None:
    """Show what MODEL is made of and whether it converts; nothing is written.

    The exit status is 0 if it converts and 1 if not.
    """
    with plain_errors(traceback):
        from paddle2ov.inspection import inspect

        found = inspect(model, params)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=1))
    else:
        _print_inspection(found)
    sys.exit(0 if found.convertible else 1)


@cli.command("ops")
@click.argument("pattern", default="*")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: name -> family (or reason).")
@click.option("--unsupported", is_flag=True, help="List the operators of Paddle that cannot be converted, and why.")
def ops_command(pattern: str, as_json: bool, unsupported: bool) -> None:
    """List the operators that can be converted, by family; PATTERN filters them ('reduce_*')."""
    from paddle2ov.registry import STRUCTURE, Registry

    registry = Registry()
    if unsupported:
        _print_unsupported(registry, pattern, as_json)
        return
    names = [name for name in registry.names() if fnmatch.fnmatchcase(name, pattern)]
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(_family(registry, name), []).append(name)
    structure = [name for name in STRUCTURE if fnmatch.fnmatchcase(name, pattern)]
    if structure:
        families["program structure"] = structure
        names += structure
    if as_json:
        click.echo(json.dumps({name: family for family, members in families.items() for name in members}, indent=1))
        return
    for family in sorted(families):
        click.secho(f"{family} ({len(families[family])})", bold=True)
        click.echo(click.wrap_text(", ".join(families[family]), 100, "  ", "  "))
    click.echo(f"{len(names)} operators in {len(families)} families")


cli.add_command(batch_command)
cli.add_command(verify_command)


def main() -> None:
    """The entry point of the `paddle2ov` script."""
    cli(prog_name="paddle2ov")


def _print_unsupported(registry: Registry, pattern: str, as_json: bool) -> None:
    from paddle2ov.program.signatures import ROWS
    from paddle2ov.registry import STRUCTURE
    from paddle2ov.unsupported import by_reason

    missing = [name for name in ROWS if registry.get(name) is None and name not in STRUCTURE]
    groups = by_reason(name for name in missing if fnmatch.fnmatchcase(name, pattern))
    if as_json:
        click.echo(json.dumps({name: why for why, members in groups.items() for name in members}, indent=1))
        return
    for why, members in groups.items():
        click.secho(f"{why} ({len(members)})", bold=True)
        click.echo(click.wrap_text(", ".join(members), 100, "  ", "  "))
    click.echo(f"{sum(len(members) for members in groups.values())} operators")


def _family(registry: Registry, name: str) -> str:
    converter = registry.get(name)
    module = str(getattr(converter, "__module__", "") or "")
    head, _, tail = module.rpartition(".")
    return tail if head == "paddle2ov.converters" else module


def _print_inspection(found: Inspection) -> None:
    nesting = f", branches and loops {found.nesting} deep" if found.nesting else ""
    dead = f", {found.dead_operators} that no result needs" if found.dead_operators else ""
    click.echo(f"{found.format} program, version {found.version}{nesting}{dead}")
    click.echo(f"{found.parameters} parameters, {found.parameter_bytes / 1e6:.1f} MB")
    for title, ports in (("inputs", found.inputs), ("results", found.outputs)):
        click.secho(title, bold=True)
        for port in ports:
            shape = "?" if port.shape is None else ", ".join("?" if dim < 0 else str(dim) for dim in port.shape)
            click.echo(f"  {port.name}  {port.dtype} [{shape}]")
    click.secho("operators", bold=True)
    for operator in found.operators:
        click.echo(f"  {operator.count:5}  {operator.name}{'' if operator.supported else '  (no converter)'}")
    if found.convertible:
        click.secho("It converts.", fg="green")
    for refusal in found.refusals:
        click.secho(f"Refused: {refusal.operator}: {refusal.reason}", fg="red")
        click.echo(f"  at {refusal.place}")


def _target(target: Path | None, source: Path) -> Path:
    if target is None:
        target = Path(f"{_name(source)}.xml")
    if target.is_dir():
        raise click.UsageError(f"{target} is a folder; name the file to write, such as {target / 'model.xml'}")
    if target.suffix != ".xml":
        target = target.with_name(target.name + ".xml")
    return target


def _name(source: Path) -> str:
    return source.resolve().name if source.is_dir() else source.name.removesuffix(source.suffix)


@contextmanager
def _progress(enabled: bool) -> Iterator[Any]:
    if not enabled or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("converting", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


if __name__ == "__main__":
    main()
