"""Which of the transforms that crop an image, or place it on a canvas, are built in; see `planning.py`."""

from __future__ import annotations

from paddle2ov.deployment.resize_steps import ResizeKeepRatio, ResizeSide
from paddle2ov.deployment.sizes import MAX_SIDE
from paddle2ov.deployment.steps import Crop, Pad, PadStride, Size, Step, size_after
from paddle2ov.deployment.transform_options import NotBuiltInError, Options
from paddle2ov.deployment.warp_steps import MAX_WARPED_SIDE, LetterBox, Warp, WarpKeepRes, WarpShort


def crop(options: Options, before: list[Step]) -> Step:
    """PaddleClas's and PaddleX's CropImage, of images that are large enough."""
    width, height = options.size_pair("size")
    least: Size = size_after(before)
    if before and isinstance(before[-1], ResizeSide) and before[-1].side == "short":
        least = before[-1].length, before[-1].length
    if (least[0] or 0) < height or (least[1] or 0) < width:
        raise NotBuiltInError("an image may be smaller")
    return Crop(options.name, (height, width))


def pad(options: Options, before: list[Step]) -> Step:
    """PaddleDetection's Pad, of images that are small enough."""
    height, width = options.size_pair("size")
    usual = 127.5 if options.is_paddlex else 114.0  # PaddleX's, PaddleDetection's
    fill = options.numbers("fill_value", (usual,) * 3)
    # Halves stay exact when they are subtracted and added again.
    if any(not (2 * level).is_integer() for level in fill):
        raise NotBuiltInError("fill_value is not a whole number of halves")
    most: Size = size_after(before)
    if before and isinstance(before[-1], ResizeKeepRatio):
        most = before[-1].long, before[-1].long
    if (most[0] or MAX_SIDE) > height or (most[1] or MAX_SIDE) > width:
        raise NotBuiltInError("an image may be larger")
    return Pad(options.name, (height, width), fill)


def pad_stride(options: Options, before: list[Step]) -> Step:
    """PaddleDetection's PadStride."""
    stride = options.get("stride", 0 if options.toolkit == "detection" else 32)
    if type(stride) is not int or stride > MAX_SIDE:
        raise options.invalid(f"stride is not a number of pixels: {str(stride)[:80]}")
    return PadStride(options.name, stride) if stride > 0 else Step(options.name)


def letter_box(options: Options, before: list[Step]) -> Step:
    """PaddleDetection's LetterBoxResize (JDE, FairMOT)."""
    return LetterBox(options.name, options.size_pair("target_size"))


def warp_affine(options: Options, before: list[Step]) -> Step:
    """PaddleDetection's WarpAffine (CenterNet, CenterTrack)."""
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
    width, height = options.size_pair("trainsize")
    unbiased = options.switch("use_udp", False)
    if unbiased and min(width, height) == 1:
        raise NotBuiltInError("use_udp where a side is 1")
    return Warp(options.name, _warped(height, width), "either" if unbiased else "width")


def eval_affine(options: Options, before: list[Step]) -> Step:
    """PaddleDetection's EvalAffine (HigherHRNet)."""
    return WarpShort(options.name, _warped(options.pixels("size"), 1)[0])


def _warped(height: int, width: int) -> tuple[int, int]:
    if max(height, width) > MAX_WARPED_SIDE:
        raise NotBuiltInError(f"a side is larger than {MAX_WARPED_SIDE}")
    return height, width
