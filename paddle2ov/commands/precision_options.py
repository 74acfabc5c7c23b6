"""Options on precision: what weights are stored in, and what OpenVINO computes in where results are compared."""

from __future__ import annotations

from typing import Any

import click

COMPARED = ("f32", "bf16", "f16", "default")
_COMPILED = (
    "a saved model does not say what it is computed in: compile it with compile_model(..., precision='bf16') or "
    "INFERENCE_PRECISION_HINT; --verify-precision compares results in it"
)


class PrecisionChoice(click.Choice[str]):
    """Some precisions by name; says where those are that are no choice here."""

    def __init__(self, *names: str) -> None:
        super().__init__(names)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """As click's."""
        if value == "int8":
            from paddle2ov.compilation.precision import INT8  # which imports OpenVINO

            self.fail(INT8, param, ctx)
        if value == "bf16" and value not in self.choices:
            self.fail(_COMPILED, param, ctx)
        return super().convert(value, param, ctx)


precision_option = click.option(
    "--precision",
    "stored",
    type=PrecisionChoice("f32", "f16"),
    help="What float32 weights are stored in.  [default: f32]",
)


def is_stored_as_fp16(stored: str | None, fp16: bool | None) -> bool:
    """Whether weights are stored as float16: `--precision f16`, which ovc calls `--compress_to_fp16`.

    Raises:
        click.UsageError: the two contradict each other.
    """
    if stored is not None and fp16 is not None and (stored == "f16") != fp16:
        option = "--compress-to-fp16" if fp16 else "--no-compress-to-fp16"
        raise click.UsageError(f"--precision {stored} and {option} contradict each other: give one of them")
    return stored == "f16" or bool(fp16)
