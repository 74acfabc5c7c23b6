"""Which transforms of the settings can be built into a model, and which stay with the caller.

The transforms stand in an order, and the model is at its end: what comes before a transform that stays with the caller
stays with the caller too. Transforms that prepare labels for training (DetLabelEncode, KeepKeys,
LoadAnnotations, ...) are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from paddle2ov.deployment.resize_steps import LimitLong, Pillow, Resize, ResizeKeepRatio, ResizeSide, Sampling
from paddle2ov.deployment.sizes import MAX_SIDE
from paddle2ov.deployment.steps import Affine, Crop, Normalize, Pad, PadStride, Size, Step
from paddle2ov.deployment.taps import FILTERS
from paddle2ov.deployment.text_steps import Kind, TextHeight, TextLine, TextResize, TextSize
from paddle2ov.deployment.transform_options import (
    NotBuiltInError,
    choice,
    divisor,
    fraction,
    is_side,
    numbers,
    pixels,
    round_up,
    size_pair,
)
from paddle2ov.deployment.warp_planning import eval_affine, letter_box, top_down, warp_affine
from paddle2ov.errors import ModelReadError
from paddle2ov.program.settings import Settings, Transform

_TRAINING = re.compile(r".*LabelEncode|KeepKeys|LoadAnnotations|AddEdgeLabel|GenerateInstanceTargets")
_LAYOUT = ("ToCHWImage", "Permute")
# Interpolations by OpenCV's numbers (PaddleDetection) and by words.
_NUMBERS = {0: "nearest", 1: "linear", 2: "cubic", 3: "area"}
_WORDS = {
    "AREA": "area",
    "BICUBIC": "cubic",
    "BILINEAR": "linear",
    "CUBIC": "cubic",
    "LINEAR": "linear",
    "NEAREST": "nearest",
}
_PILLOW = {"LINEAR": "bilinear", "LANCZOS4": "lanczos"}  # what Pillow's filters are called besides
_DEFAULT_SIDE = 736  # of DetResizeForTest without options
_NO_BYTES = frozenset(("Pad", "PadStride", "RecResizeImg"))
"""Of the transforms in `_MAKERS`, those whose result is not bytes: no step after them can be built in."""
_DEPENDS_ON_NEXT = "the size of one image decides that of the next"


@dataclass(frozen=True, slots=True)
class PreprocessingPlan:
    """What is built in, in its order, and what stays with the caller: pairs (transform, reason).

    `size` is that of the images after it, as far as it does not depend on theirs.
    """

    steps: list[Step]
    remaining: list[tuple[str, str]]
    rgb: bool
    size: Size = (None, None)

    @property
    def resizes(self) -> bool:
        """Whether a step changes the size of the image."""
        return any(step.size((-1, -1)) != (-1, -1) for step in self.steps)


def plan(settings: Settings) -> PreprocessingPlan:
    """Which transforms are built in.

    Raises:
        ModelReadError: a transform has an invalid option.
    """
    steps: list[Step] = []
    remaining: list[tuple[str, str]] = []
    rgb = True
    chw = False
    ended = ""  # the caller's transform after which the image is no longer bytes
    for transform in settings.transforms or []:
        if _TRAINING.fullmatch(transform.name):
            continue
        try:
            if ended:
                raise NotBuiltInError(f"comes after {ended}")
            if transform.name == "DecodeImage":
                rgb = choice(settings, transform, "img_mode", "RGB", ("RGB", "BGR")) == "RGB"
                if transform.options.get("channel_first", False):
                    raise NotBuiltInError("channel_first")
                continue
            step = _step(settings, transform, chw, steps)
        except NotBuiltInError as reason:
            # What comes before it cannot be built in either: the caller's part is the beginning.
            remaining += [(before.name, f"comes before {transform.name}") for before in steps]
            remaining.append((transform.name, str(reason)))
            steps = []
            if transform.name not in _MAKERS.keys() - _NO_BYTES or settings.floats:
                ended = ended or transform.name
        else:
            steps.append(step)
            chw = chw or transform.name in (*_LAYOUT, "RecResizeImg")
    if settings.channels_first:
        steps += [Step("ToCHWImage")] if not ended else []
        chw = True
    if steps and not chw:
        raise ModelReadError(f"{settings.path}: its preprocessing does not end in channels first (ToCHWImage, Permute)")
    if not any(step.name in (*_LAYOUT, "RecResizeImg") for step in steps):
        steps = []  # the caller's part goes beyond the layout of images
    return PreprocessingPlan(steps, remaining, rgb, _size(steps))


def _size(steps: list[Step]) -> Size:
    size: Size = (None, None)
    for step in steps:
        size = step.size(size)
    return size


def _step(settings: Settings, transform: Transform, chw: bool, before: list[Step]) -> Step:
    if transform.name in _LAYOUT:
        if chw:
            raise ModelReadError(f"{settings.path}: {transform.name}: channels are first already")
        return Step(transform.name)
    if transform.name in ("NormalizeImage", "Normalize"):
        return _normalize(settings, transform, chw)
    make = _MAKERS.get(transform.name)
    if make is None:
        size_decides = "Resize" in transform.name or "Pad" in transform.name
        raise NotBuiltInError("its size depends on the image" if size_decides else "is not built in")
    if chw != (transform.name == "PadStride"):
        raise NotBuiltInError(f"where channels are {'first' if chw else 'last'}")
    return make(settings, transform, before)


def _resize(settings: Settings, transform: Transform, before: list[Step]) -> Step:
    options = transform.options
    if "size" in options and settings.toolkit == "common":  # PaddleOCR: height, width
        return Resize(transform.name, size_pair(settings, transform, "size"), Sampling())
    # By default PaddleDetection keeps the ratio in its own deployment, PaddleSeg's models in PaddleX.
    usual = settings.toolkit == "segmentation" if settings.path.stem == "inference" else settings.toolkit == "detection"
    kept = options.get("keep_ratio", usual) is not False
    default: Any = 2 if settings.toolkit == "detection" else "LINEAR"
    sampling = _sampling(settings, options.get("interp", default), options)
    if settings.toolkit != "segmentation" and kept:
        least, most = sorted(size_pair(settings, transform, "target_size"))
        by_factor = settings.path.stem != "inference"  # that file is PaddleX's, which resizes by the rounded size
        if by_factor and sampling.interpolation in ("nearest", "area"):
            raise NotBuiltInError(f"{sampling.interpolation} interpolation by a factor is not built in")
        return ResizeKeepRatio(transform.name, least, most, sampling, by_factor=by_factor)
    if settings.toolkit != "segmentation":
        return Resize(transform.name, size_pair(settings, transform, "target_size"), sampling)
    if options.get("target_size", [512, 512] if settings.floats else -1) == -1:
        raise NotBuiltInError("no target_size")
    width, height = size_pair(settings, transform, "target_size", (512, 512))  # PaddleSeg: width, height
    step = divisor(settings, transform, None if settings.floats else 32)
    if kept:
        return ResizeKeepRatio(transform.name, min(height, width), max(height, width), sampling, step)
    return Resize(transform.name, (round_up(height, step), round_up(width, step)), sampling)


def _resize_image(settings: Settings, transform: Transform, before: list[Step]) -> Step:
    options = transform.options
    backend = str(options.get("backend") or "cv2")
    if backend.lower() not in ("cv2", "pil"):
        raise NotBuiltInError(f"backend {backend[:80]} interpolates in its own way")
    sampling = (_sampling if backend.lower() == "cv2" else _pillow)(
        settings, options.get("interpolation") or "LINEAR", options
    )
    if options.get("resize_short"):
        return ResizeSide(transform.name, "short", pixels(settings, transform, "resize_short"), sampling)
    width, height = size_pair(settings, transform, "size")  # PaddleClas: width, height
    return Resize(transform.name, (height, width), sampling)


def _resize_side(settings: Settings, transform: Transform, before: list[Step]) -> Step:
    side = "short" if transform.name == "ResizeByShort" else "long"
    options = transform.options
    if isinstance(options.get("short_size"), list):
        raise NotBuiltInError("short_size is one of several")
    if options.get("max_size") not in (None, 1e10):
        raise NotBuiltInError(f"max_size: {_DEPENDS_ON_NEXT}")  # PaddleSeg keeps the short size that it is cut to
    key = f"{side}_size" if f"{side}_size" in options else f"target_{side}_edge"
    sampling = _sampling(settings, options.get("interp", "LINEAR"), options)
    length = pixels(settings, transform, key)
    return ResizeSide(
        transform.name, "short" if side == "short" else "long", length, sampling, divisor(settings, transform)
    )


def _limit_long(settings: Settings, transform: Transform, before: list[Step]) -> Step:
    options = transform.options
    least = pixels(settings, transform, "min_long") if options.get("min_long") is not None else 1
    most = pixels(settings, transform, "max_long") if options.get("max_long") is not None else MAX_SIDE
    if least > most:
        raise ModelReadError(f"{settings.path}: LimitLong: min_long is larger than max_long")
    return LimitLong(transform.name, least, most, _sampling(settings, "LINEAR", {}))


def _text_resize(settings: Settings, transform: Transform, before: list[Step]) -> Step:
    options, name = transform.options, transform.name
    if "image_shape" in options:
        height, width = size_pair(settings, transform, "image_shape")
        return TextHeight(name, height) if options.get("keep_ratio") is True else TextSize(name, (height, width))
    if "limit_side_len" not in options and "resize_long" in options:
        return TextResize(name, "long_alone", pixels(settings, transform, "resize_long"), MAX_SIDE)
    limit = pixels(settings, transform, "limit_side_len") if "limit_side_len" in options else _DEFAULT_SIDE
    kind: Kind = choice(settings, transform, "limit_type", "min", ("min", "max", "resize_long"))
    most = pixels(settings, transform, "max_side_limit") if "max_side_limit" in options else 4000
    return TextResize(name, kind, limit, most)


def _text_line(settings: Settings, transform: Transform, before: list[Step]) -> Step:
    shape = transform.options.get("image_shape")
    if not isinstance(shape, list) or len(shape) != 3 or not all(is_side(side) for side in shape):
        raise ModelReadError(f"{settings.path}: RecResizeImg: image_shape is not [3, H, W]: {str(shape)[:80]}")
    if shape[0] != 3:
        raise NotBuiltInError("image_shape has not three channels")
    if transform.options.get("padding", True) is not True:
        raise NotBuiltInError("padding is not true")
    return TextLine(transform.name, shape[1], shape[2])


def _crop(settings: Settings, transform: Transform, before: list[Step]) -> Step:
    width, height = size_pair(settings, transform, "size")
    least: Size = _size(before)
    if before and isinstance(before[-1], ResizeSide) and before[-1].side == "short":
        least = before[-1].length, before[-1].length
    if settings.toolkit != "common":
        raise NotBuiltInError("is not built in")
    if (least[0] or 0) < height or (least[1] or 0) < width:
        raise NotBuiltInError("an image may be smaller")
    return Crop(transform.name, (height, width))


def _pad(settings: Settings, transform: Transform, before: list[Step]) -> Step:
    if settings.toolkit != "detection":
        raise NotBuiltInError("is not built in")
    height, width = size_pair(settings, transform, "size")
    usual = 127.5 if settings.path.stem == "inference" else 114.0  # PaddleX's, PaddleDetection's
    fill = numbers(settings, transform, "fill_value", (usual,) * 3)
    if any(
        not (2 * level).is_integer() for level in fill
    ):  # the others stay exact when they are taken off and added again
        raise NotBuiltInError("fill_value is not a whole number of halves")
    most: Size = _size(before)
    if before and isinstance(before[-1], ResizeKeepRatio):
        most = before[-1].long, before[-1].long
    if (most[0] or MAX_SIDE) > height or (most[1] or MAX_SIDE) > width:
        raise NotBuiltInError("an image may be larger")
    return Pad(transform.name, (height, width), fill)


def _pad_stride(settings: Settings, transform: Transform, before: list[Step]) -> Step:
    stride = transform.options.get("stride", 0 if settings.toolkit == "detection" else 32)
    if type(stride) is not int or stride > MAX_SIDE:
        raise ModelReadError(f"{settings.path}: PadStride: stride is not a number of pixels: {str(stride)[:80]}")
    return PadStride(transform.name, stride) if stride > 0 else Step(transform.name)


def _normalize(settings: Settings, transform: Transform, chw: bool) -> Step:
    options, name = transform.options, transform.name
    if settings.toolkit == "segmentation":
        mean = numbers(settings, transform, "mean", (0.5, 0.5, 0.5))
        std = numbers(settings, transform, "std", (0.5, 0.5, 0.5))
        if settings.floats:
            return Normalize(name, 1.0, mean, std, by_255=True)
        return _affine(name, 1.0 / 255.0, mean, std)
    order = options.get("order", "")
    if order not in ("", "hwc", "chw", None):
        raise ModelReadError(f"{settings.path}: NormalizeImage: order {str(order)[:80]!r} is not one of hwc, chw")
    if order and (order == "chw") != chw:
        raise NotBuiltInError(f"order '{order}' where channels are {'first' if chw else 'last'}")
    if options.get("channel_num", 3) != 3:
        raise NotBuiltInError("channel_num is not 3")
    mean = numbers(settings, transform, "mean", (0.485, 0.456, 0.406))
    std = numbers(settings, transform, "std", (0.229, 0.224, 0.225))
    if settings.toolkit == "detection":
        is_scale = options.get("is_scale", True)
        if not isinstance(is_scale, bool):
            raise ModelReadError(f"{settings.path}: NormalizeImage: is_scale is neither true nor false")
        scale = 1.0 / 255.0 if is_scale else 1.0
        if options.get("norm_type") not in (None, "none", "mean_std"):
            raise ModelReadError(
                f"{settings.path}: NormalizeImage: norm_type {str(options['norm_type'])[:80]!r} is not known"
            )
        if options.get("norm_type") == "none":
            mean, std = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
        return Normalize(name, scale, mean, std)
    return _affine(name, fraction(settings, options.get("scale")), mean, std)


def _affine(name: str, scale: float, mean: tuple[float, ...], std: tuple[float, ...]) -> Affine:
    return Affine(
        name, tuple(scale / deviation for deviation in std), tuple(-a / b for a, b in zip(mean, std, strict=True))
    )


_MAKERS: dict[str, Callable[[Settings, Transform, list[Step]], Step]] = {
    "CropImage": _crop,
    "DetResizeForTest": _text_resize,
    "EvalAffine": eval_affine,
    "LetterBoxResize": letter_box,
    "LimitLong": _limit_long,
    "Pad": _pad,
    "PadStride": _pad_stride,
    "RecResizeImg": _text_line,
    "Resize": _resize,
    "ResizeByLong": _resize_side,
    "ResizeByShort": _resize_side,
    "ResizeImage": _resize_image,
    "TopDownEvalAffine": top_down,
    "WarpAffine": warp_affine,
}


def _sampling(settings: Settings, name: Any, options: dict[str, Any]) -> Sampling:
    interpolation = _NUMBERS.get(name) if type(name) is int else _WORDS.get(str(name).upper())
    if interpolation is None:
        raise NotBuiltInError(f"interpolation {str(name)[:80]} is not built in")
    return Sampling(interpolation, levels=not settings.floats)


def _pillow(settings: Settings, word: Any, options: dict[str, Any]) -> Sampling:
    name = _PILLOW.get(str(word).upper(), str(word).lower())
    if name in ("nearest", "box"):  # which pixels they take, the rounding errors of its doubles decide
        raise NotBuiltInError(f"interpolation {name} of backend pil is not built in")
    if name not in FILTERS:
        raise NotBuiltInError(f"interpolation {str(word)[:80]} is not built in")
    return Pillow(name)
