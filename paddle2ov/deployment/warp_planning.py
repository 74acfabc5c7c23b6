"""Which of the transforms that place an image on a canvas are built in; see `planning.py`."""

from __future__ import annotations

from paddle2ov.deployment.steps import Step
from paddle2ov.deployment.transform_options import NotBuiltInError, Options
from paddle2ov.deployment.warp_steps import MAX_WARPED_SIDE, LetterBox, Warp, WarpKeepRes, WarpShort


def letter_box(options: Options, before: list[Step]) -> Step:
    """PaddleDetection's LetterBoxResize (JDE, FairMOT)."""
    _of_detection(options)
    return LetterBox(options.name, options.size_pair("target_size"))


def warp_affine(options: Options, before: list[Step]) -> Step:
    """PaddleDetection's WarpAffine (CenterNet, CenterTrack)."""
    _of_detection(options)
    kept = options.switch("keep_res", options.is_paddlex)  # PaddleX's default is true
    if kept:
        pad = options.get("pad", 31)
        if type(pad) is not int or not 1 <= pad < MAX_WARPED_SIDE or pad & (pad + 1):
            raise NotBuiltInError(f"pad {str(pad)[:80]} is not one less than a power of two")
        return WarpKeepRes(options.name, pad + 1)
    sizes = (options.pixels(key, 512) for key in ("input_h", "input_w"))
    return Warp(options.name, _warped(*sizes), "long", reverses=True)


def top_down(options: Options, before: list[Step]) -> Step:
    """PaddleDetection's TopDownEvalAffine (HRNet, PP-TinyPose), of a whole image."""
    _of_detection(options)
    width, height = options.size_pair("trainsize")
    unbiased = options.switch("use_udp", False)
    if unbiased and min(width, height) == 1:
        raise NotBuiltInError("use_udp where a side is 1")
    return Warp(options.name, _warped(height, width), "either" if unbiased else "width")


def eval_affine(options: Options, before: list[Step]) -> Step:
    """PaddleDetection's EvalAffine (HigherHRNet)."""
    _of_detection(options)
    return WarpShort(options.name, _warped(options.pixels("size"), 1)[0])


def _of_detection(options: Options) -> None:
    if options.toolkit != "detection":
        raise NotBuiltInError("is not built in")


def _warped(height: int, width: int) -> tuple[int, int]:
    if max(height, width) > MAX_WARPED_SIDE:
        raise NotBuiltInError(f"a side is larger than {MAX_WARPED_SIDE}")
    return height, width
