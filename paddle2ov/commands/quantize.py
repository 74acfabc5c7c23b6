"""`paddle2ov quantize MODEL`."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paddle2ov.commands.conversion_options import input_option, quiet_option
from paddle2ov.commands.exit_status import REFUSED
from paddle2ov.commands.shared import (
    ModelCommand,
    PathType,
    TargetType,
    ir_target,
    last_options,
    model_options,
    refuse_overwriting_sources,
)

if TYPE_CHECKING:
    from paddle2ov.quantization.results import Quantized


@click.command("quantize", cls=ModelCommand)
@model_options
@click.option(
    "--data",
    multiple=True,
    required=True,
    type=PathType(exists=True),
    help="Pictures, .npz files with an array for each input, or folders of both; may be repeated. Some hundred of what "
    "the model is to be used for.",
)
@click.option(
    "-o",
    "--output-model",
    "target",
    type=TargetType(),
    required=True,
    help="Where to write the model (.xml; the weights go beside it).",
)
@click.option(
    "--max-drop",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Layers go back to floating point until less accuracy than this is lost, such as 0.01.",
)
@click.option(
    "--subset-size", type=click.IntRange(1), default=300, show_default=True, help="How many items to calibrate with."
)
@click.option(
    "--weights", type=click.Choice(["int8", "int4"]), help="Make only the weights of products that small, not the data."
)
@input_option
@quiet_option
@last_options
def quantize_command(
    model: Path,
    params: Path | None,
    data: tuple[Path, ...],
    target: Path,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Convert MODEL and quantize it to 8-bit integers with NNCF, calibrated with data of yours.

    Prints how near the results are to those in float32, and how long they take, in each precision of this processor.
    The exit status is 1 if more accuracy is lost than --max-drop allows; the model is written all the same.

    Needs the extra 'quantize'; pictures also need the extra 'image', and an inference.yml beside the model.
    """
    from paddle2ov.deployment.saving import check_writable, save_model
    from paddle2ov.quantization.quantize import quantize

    target = ir_target(target)
    refuse_overwriting_sources(model, params, [target, target.with_suffix(".bin")], None)
    check_writable(target)
    quantized = quantize(model, data, params=params, progress=not quiet and not as_json, **options)
    save_model(quantized.model, target, fp16=False)
    if as_json:
        click.echo(json.dumps({"model": str(target), **quantized.to_dict()}, indent=1))
    elif not quiet:
        _print(quantized)
        click.echo(f"{target}")
    if quantized.loses_too_much:
        click.secho(
            f"More agreement is lost than --max-drop {quantized.max_drop:g} allows: {quantized.lost:.3g}",
            fg="yellow",
            err=True,
        )
        sys.exit(REFUSED)


def _print(quantized: Quantized) -> None:
    click.echo(f"precision     agreement    ms an item   (agreement with f32: {quantized.meaning})")
    for precision in quantized.precisions:
        click.echo(f"{precision.name:<12} {precision.agreement:10.2%} {precision.milliseconds:13.2f}")
    if quantized.has_few_items:
        items = "1 item is" if quantized.calibrated_with == 1 else f"{quantized.calibrated_with} items are"
        click.secho(f"warning: {items} too few to calibrate with: give some hundred", fg="yellow", err=True)
    if quantized.is_measured_on_calibration:
        click.echo("agreement is that of the data it was calibrated with: give 50 items or more to measure on others")
    counts = Counter(layer.precision for layer in quantized.layers)
    click.echo(f"layers: {', '.join(f'{count} in {name}' for name, count in counts.most_common()) or 'none'}")
    for layer in quantized.layers:
        if layer.why_float:
            click.echo(f"  {layer.name} ({layer.kind}) in {layer.precision}: {layer.why_float}")
    click.echo(quantized.advice[0].upper() + quantized.advice[1:] + ".")
