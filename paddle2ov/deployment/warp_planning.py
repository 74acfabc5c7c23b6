"""Which of the transforms that place an image on a canvas are built in; see `planning.py`."""

from __future__ import annotations

from paddle2ov.deployment.steps import Step
from paddle2ov.deployment.transform_options import NotBuiltInError, pixels, size_pair
from paddle2ov.deployment.warp_steps import MAX_WARPED_SIDE, LetterBox, Warp, WarpKeepRes, WarpShort
from paddle2ov.errors import ModelReadError
from paddle2ov.program.settings import Settings, Transform


def letter_box(settings: Settings, transform: Transform, before: list[Step]) -> Step:
    """PaddleDetection's LetterBoxResize (JDE, FairMOT)."""
    _of_detection(settings)
    return LetterBox(transform.name, size_pair(settings, transform, "target_size"))


def warp_affine(settings: Settings, transform: Transform, before: list[Step]) -> Step:
    """PaddleDetection's WarpAffine (CenterNet, CenterTrack)."""
    _of_detection(settings)
    options = transform.options
    kept = _switch(settings, transform, "keep_res", settings.path.stem == "inference")  # PaddleX's default is true
    if kept:
        pad = options.get("pad", 31)
        if type(pad) is not int or not 1 <= pad < MAX_WARPED_SIDE or pad & (pad + 1):
            raise NotBuiltInError(f"pad {str(pad)[:80]} is not one less than a power of two")
        return WarpKeepRes(transform.name, pad + 1)
    sizes = (pixels(settings, transform, key) if key in options else 512 for key in ("input_h", "input_w"))
    return Warp(transform.name, _warped(*sizes), "long", reverses=True)


def top_down(settings: Settings, transform: Transform, before: list[Step]) -> Step:
    """PaddleDetection's TopDownEvalAffine (HRNet, PP-TinyPose), of a whole image."""
    _of_detection(settings)
    width, height = size_pair(settings, transform, "trainsize")
    unbiased = _switch(settings, transform, "use_udp", False)
    if unbiased and min(width, height) == 1:
        raise NotBuiltInError("use_udp where a side is 1")
    return Warp(transform.name, _warped(height, width), "either" if unbiased else "width")


def eval_affine(settings: Settings, transform: Transform, before: list[Step]) -> Step:
    """PaddleDetection's EvalAffine (HigherHRNet)."""
    _of_detection(settings)
    return WarpShort(transform.name, _warped(pixels(settings, transform, "size"), 1)[0])


def _of_detection(settings: Settings) -> None:
    if settings.toolkit != "detection":
        raise NotBuiltInError("is not built in")


def _switch(settings: Settings, transform: Transform, key: str, default: bool) -> bool:
    value = transform.options.get(key, default)
    if not isinstance(value, bool):
        raise ModelReadError(f"{settings.path}: {transform.name}: {key} is neither true nor false: {str(value)[:80]}")
    return value


def _warped(height: int, width: int) -> tuple[int, int]:
    if max(height, width) > MAX_WARPED_SIDE:
        raise NotBuiltInError(f"a side is larger than {MAX_WARPED_SIDE}")
    return height, width
