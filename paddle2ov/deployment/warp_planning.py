"""Which of the transforms that place a picture on a canvas are built in; see `planning.py`."""

from __future__ import annotations

from paddle2ov.deployment.options import CallersError, pair, whole
from paddle2ov.deployment.steps import Step
from paddle2ov.deployment.warp_steps import MOST_WARPED, LetterBox, Warp, WarpKept, WarpShort
from paddle2ov.errors import ModelReadError
from paddle2ov.program.settings import Settings, Transform


def letter_box(settings: Settings, transform: Transform, before: list[Step]) -> Step:
    """PaddleDetection's LetterBoxResize (JDE, FairMOT)."""
    _of_detection(settings)
    return LetterBox(transform.name, pair(settings, transform, "target_size"))


def warp_affine(settings: Settings, transform: Transform, before: list[Step]) -> Step:
    """PaddleDetection's WarpAffine (CenterNet, CenterTrack)."""
    _of_detection(settings)
    options = transform.options
    kept = _switch(settings, transform, "keep_res", settings.path.stem == "inference")  # PaddleX's default is true
    if kept:
        pad = options.get("pad", 31)
        if type(pad) is not int or not 1 <= pad < MOST_WARPED or pad & (pad + 1):
            raise CallersError(f"pad {str(pad)[:80]} is not one less than a power of two")
        return WarpKept(transform.name, pad + 1)
    sizes = (whole(settings, transform, key) if key in options else 512 for key in ("input_h", "input_w"))
    return Warp(transform.name, _warped(*sizes), "long", reverses=True)


def top_down(settings: Settings, transform: Transform, before: list[Step]) -> Step:
    """PaddleDetection's TopDownEvalAffine (HRNet, PP-TinyPose), of a whole picture."""
    _of_detection(settings)
    width, height = pair(settings, transform, "trainsize")
    unbiased = _switch(settings, transform, "use_udp", False)
    if unbiased and min(width, height) == 1:
        raise CallersError("use_udp where a side is 1")
    return Warp(transform.name, _warped(height, width), "either" if unbiased else "width")


def eval_affine(settings: Settings, transform: Transform, before: list[Step]) -> Step:
    """PaddleDetection's EvalAffine (HigherHRNet)."""
    _of_detection(settings)
    return WarpShort(transform.name, _warped(whole(settings, transform, "size"), 1)[0])


def _of_detection(settings: Settings) -> None:
    if settings.toolkit != "detection":
        raise CallersError("is not built in")


def _switch(settings: Settings, transform: Transform, key: str, default: bool) -> bool:
    value = transform.options.get(key, default)
    if not isinstance(value, bool):
        raise ModelReadError(f"{settings.path}: {transform.name}: {key} is neither true nor false: {str(value)[:80]}")
    return value


def _warped(height: int, width: int) -> tuple[int, int]:
    if max(height, width) > MOST_WARPED:
        raise CallersError(f"a side is larger than {MOST_WARPED}")
    return height, width


__all__ = ["eval_affine", "letter_box", "top_down", "warp_affine"]
