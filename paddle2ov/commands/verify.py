"""`paddle2ov verify MODEL`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paddle2ov.commands.conversion_options import compared_precision, paddle_option
from paddle2ov.commands.exit_status import FAILED, REFUSED, ROUNDING, TIES
from paddle2ov.commands.shared import (
    OLD_NAMES,
    ModelCommand,
    PathType,
    inputs_option,
    joined,
    last_options,
    model_options,
    progress_bar,
    random_input_options,
    refuse_beside,
    timeout_option,
    tolerance_option,
)
from paddle2ov.commands.verification_text import NOTHING, print_compared, print_verification

if TYPE_CHECKING:
    from paddle2ov.verification.results import Verification

STATUS = {"agree": 0, "differ": REFUSED, "unknown": FAILED, "ties": TIES, "rounding": ROUNDING}


@click.command("verify", cls=ModelCommand, context_settings=OLD_NAMES)
@model_options
@inputs_option
@click.option(
    "--image",
    "images",
    multiple=True,
    type=PathType(exists=True, dir_okay=False),
    help="An image, prepared as the inference.yml beside the model says; may be repeated.",
)
@random_input_options
@tolerance_option("Of floats, relative to the largest value of a result. Default: 1e-4 in float32, else 0.05.")
@compared_precision(
    "--precision",
    "What OpenVINO computes in; default: what it takes on this processor unless told otherwise; all: in float32, then "
    "accuracy and speed of each that this processor has hardware for, in one table.",
    "all",
)
@click.option(
    "--device",
    help="OpenVINO's name of the device that the graph is made for, and runs on. Default: any, on the CPU.",
)
@click.option(
    "--quantized",
    type=PathType(exists=True, dir_okay=False),
    help="For --precision all: the same model in int8, as paddle2ov quantize writes it (.xml).",
)
@click.option(
    "--output",
    "outputs",
    multiple=True,
    callback=joined,
    help="Names of the results to compare, separated by commas; may be repeated. Default: all.",
)
@timeout_option(
    600,
    "Seconds for all of it but the conversion and the compilation; then nothing more is looked for, and what is known "
    "by then is printed.",
)
@click.option(
    "--sequence-lengths",
    is_flag=True,
    help="Compare several sequences in one input of an old model (LoD), as convert --sequence-lengths takes them.",
)
@click.option("--operators", is_flag=True, help="Compare every operator even if the results agree.")
@click.option("--case", type=PathType(file_okay=False), help="Folder for the operator at fault.")
@paddle_option
@last_options
def verify_command(inputs: tuple[Path, ...], images: tuple[Path, ...], as_json: bool, **options: Any) -> None:
    """Run MODEL in Paddle and in OpenVINO on the same inputs and compare.

    Each set of inputs is printed as soon as it is compared. Where the results differ, Paddle computes them in float64
    too, and the operator is looked for that is wrong by itself. Needs Paddle, which runs in a process of its own.

    The exit status is 0 if the results agree, 1 if they differ, 2 if that could not be found out, 3 if they are equal
    up to ties (another choice between equal scores, eigenvectors of another sign), and 4 if all that differs besides is
    Paddle's rounding: what it computes in float64 agrees with OpenVINO. With --precision all it is that of float32.
    """
    refuse_beside("--inputs or --image", bool(inputs or images))
    from paddle2ov.verification.verify import verify

    known: list[Verification] = []

    def on_run(verification: Verification) -> None:
        known[:] = [verification]
        if not as_json:
            print_compared(verification)

    try:
        with progress_bar("reading") as progress:
            verification = verify(inputs=inputs, images=images, progress=progress, on_run=on_run, **options)
    except KeyboardInterrupt:
        for verification in known:
            print_verification(verification, as_json, is_interrupted=True)
        if not known and not as_json:
            click.secho(NOTHING, fg="yellow")
        raise
    print_verification(verification, as_json)
    sys.exit(STATUS[verification.verdict])
