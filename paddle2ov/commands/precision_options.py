"""Options on precision: what weights are stored in, and what OpenVINO computes in where results are compared."""

from __future__ import annotations

from typing import Any

import click

STORED = ("f32", "f16")
COMPARED = ("f32", "bf16", "f16", "default")
_COMPILED = (
    "a saved model does not say what it is computed in: compile it with compile_model(..., precision='bf16') or "
    "INFERENCE_PRECISION_HINT; --verify-precision compares results in it"
)


class StoredPrecision(click.Choice[str]):
    """What weights are stored in; says where to find the precisions that are not a choice here."""

    def __init__(self) -> None:
        super().__init__(STORED)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """As click's."""
        if value == "int8":
            from paddle2ov.compilation.precision import INT8  # which imports OpenVINO

            self.fail(INT8, param, ctx)
        if value == "bf16":
            self.fail(_COMPILED, param, ctx)
        return super().convert(value, param, ctx)


class PrecisionChoice(click.Choice[str]):
    """What OpenVINO computes in; says where int8 is."""

    def __init__(self, *others: str) -> None:
        super().__init__((*COMPARED, *others))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """As click's."""
        if value == "int8":
            from paddle2ov.compilation.precision import INT8  # which imports OpenVINO

            self.fail(INT8, param, ctx)
        return super().convert(value, param, ctx)


precision_option = click.option(
    "--precision", "stored", type=StoredPrecision(), help="What float32 weights are stored in.  [default: f32]"
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
