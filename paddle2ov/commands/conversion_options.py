"""The options of a conversion, of one model or of a batch, and others that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from paddle2ov.commands.shared import PathType, extension_option, joined, quiet_warnings, together, with_dashes
from paddle2ov.compilation.precision_names import INT8, PRECISIONS, short_name

_Command = TypeVar("_Command", bound=Callable[..., None])

_COMPILED = (
    "a saved model does not say what it is computed in: compile it with compile_model(..., precision='bf16') or "
    "INFERENCE_PRECISION_HINT; --verify-precision compares results in it"
)


class PrecisionChoice(click.Choice[str]):
    """Some precisions by name; says where those are that are no choice here."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """As click's, but takes other names too."""
        value = short_name(value)
        if value == "int8":
            self.fail(INT8, param, ctx)
        if value == "bf16" and value not in self.choices:
            self.fail(_COMPILED, param, ctx)
        return super().convert(value, param, ctx)


def compared_precision(option: str, meaning: str, *others: str) -> Callable[[_Command], _Command]:
    """The option for what OpenVINO computes in where results are compared."""
    choice = PrecisionChoice((*PRECISIONS, *others))
    return click.option(option, "precision", type=choice, default="f32", show_default=True, help=meaning)


input_option = click.option(
    "--input",
    multiple=True,
    callback=joined,
    help='Inputs with shapes: "x[1,3,224..640,?],im_shape[1,2]"; may be repeated.',
)
output_option = click.option(
    "--output",
    multiple=True,
    callback=joined,
    help="Names of the results, separated by commas; may be repeated. Default: all.",
)
paddle_option = click.option(
    "--paddle-python",
    type=PathType(path_type=str),  # "./python" is not "python"
    help="For comparisons: an interpreter that has Paddle. Default: this one.",
)


def _silence_warnings(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    """Shows no warning while the command runs; those that are errors (-W error) are still raised."""
    if value:
        ctx.with_resource(quiet_warnings())
    return value


quiet_option = click.option(
    "--quiet", "-q", is_flag=True, callback=_silence_warnings, help="Print nothing but errors: no warnings either."
)

conversion_options = together(
    input_option,
    output_option,
    click.option("--bounded", is_flag=True, help="Bound dynamic inputs by the inference.yml beside the model."),
    click.option(
        "--preprocess",
        is_flag=True,
        help="Build the preprocessing of the inference.yml beside the model into it; it then takes bytes as cv2.imread "
        "gives them. Says what is built in, and what remains yours.",
    ),
    click.option(
        "--sequence-lengths",
        is_flag=True,
        help="Add inputs and results NAME.lengths, for several sequences in one input of an old model (LoD).",
    ),
    click.option(
        "--precision",
        "stored",
        type=PrecisionChoice(("f32", "f16")),
        help="What float32 weights are stored in.  [default: f32]",
    ),
    click.option(
        "--compress-to-fp16/--no-compress-to-fp16",
        "fp16",
        default=None,
        help="The same as --precision f16, by the name it has for ovc. Off unless asked for, where ovc and "
        "openvino.save_model do it by default.",
    ),
    click.option(
        "--device",
        type=click.Choice(["CPU", "GPU", "NPU"]),
        help="Make the graph for this device: what its part of OpenVINO computes wrongly is kept out. Default: what "
        "any of them does.",
    ),
    extension_option,
)
"""The options of a conversion, which are fields of `ConversionRequest`; the command is a `ConversionCommand`."""


class ValuedFlags(click.Command):
    """A command whose flags with a `--no-` form may have a value, as those of `ovc` do.

    `--compress_to_fp16=False` or `--compress_to_fp16 False`.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click's, with each of these as the form that it means."""
        flags = {name: option for option in self.params if option.secondary_opts for name in option.opts}
        end = args.index("--") if "--" in args else len(args)
        arguments: list[str] = []
        for argument in args[:end]:
            if arguments and with_dashes(arguments[-1]) in flags and argument.lower() in ("true", "false"):
                argument = f"{arguments.pop()}={argument}"
            name, separator, value = argument.partition("=")
            if separator and with_dashes(name) in flags:
                option = flags[with_dashes(name)]
                argument = name if click.BOOL.convert(value, option, ctx) else option.secondary_opts[0]
            arguments.append(argument)
        return super().parse_args(ctx, [*arguments, *args[end:]])


class ConversionCommand(ValuedFlags):
    """A command with `conversion_options`."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command with `fp16`: `--precision f16`, which ovc calls `--compress_to_fp16`."""
        stored, fp16 = ctx.params.pop("stored"), ctx.params["fp16"]
        if stored is not None and fp16 is not None and (stored == "f16") != fp16:
            option = "--compress-to-fp16" if fp16 else "--no-compress-to-fp16"
            raise click.UsageError(f"--precision {stored} and {option} contradict each other: give one of them", ctx)
        ctx.params["fp16"] = stored == "f16" or bool(fp16)
        return super().invoke(ctx)
