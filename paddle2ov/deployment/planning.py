"""Which transforms of the settings can be built into a model, and which stay with the caller.

The transforms stand in an order, and the model is at its end: what comes before a transform that stays with the caller
stays with the caller too. Transforms that prepare labels for training (DetLabelEncode, KeepKeys,
LoadAnnotations, ...) are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from paddle2ov.deployment.resize_steps import LimitLong, Pillow, Resize, ResizeKeepRatio, ResizeSide, Sampling
from paddle2ov.deployment.sizes import MAX_SIDE
from paddle2ov.deployment.steps import Affine, Normalize, Size, Step, size_after
from paddle2ov.deployment.taps import FILTERS
from paddle2ov.deployment.text_steps import Kind, TextHeight, TextLine, TextResize, TextSize
from paddle2ov.deployment.transform_options import NotBuiltInError, Options, is_side, round_up
from paddle2ov.deployment.warp_planning import crop, eval_affine, letter_box, pad, pad_stride, top_down, warp_affine
from paddle2ov.errors import ModelReadError
from paddle2ov.program.settings import Settings

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

    def describe(self, sizes: Sequence[str] = ()) -> str:
        """In words what is built in, with the inputs of sizes that are computed, and what stays with the caller."""
        steps = ", ".join([*(text for step in self.steps if (text := step.describe())), *sizes])
        text = f"takes uint8 [N, H, W, 3] in the order blue, green, red; built in: {steps or 'layout'}"
        remaining = "; ".join(f"{name} ({reason})" for name, reason in self.remaining)
        return text + (f"; yours: {remaining}" if remaining else "")


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
        options = Options(settings, transform.name, transform.options)
        try:
            if ended:
                raise NotBuiltInError(f"comes after {ended}")
            if transform.name == "DecodeImage":
                rgb = options.choice("img_mode", "RGB", ("RGB", "BGR")) == "RGB"
                if options.get("channel_first", False):
                    raise NotBuiltInError("channel_first")
                continue
            step = _step(options, chw, steps)
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
    return PreprocessingPlan(steps, remaining, rgb, size_after(steps))


def _step(options: Options, chw: bool, before: list[Step]) -> Step:
    if options.name in _LAYOUT:
        if chw:
            raise options.invalid("channels are first already")
        return Step(options.name)
    if options.name in ("NormalizeImage", "Normalize"):
        return _normalize(options, chw)
    make = _MAKERS.get(options.name)
    if make is None:
        size_decides = "Resize" in options.name or "Pad" in options.name
        raise NotBuiltInError("its size depends on the image" if size_decides else "is not built in")
    if chw != (options.name == "PadStride"):
        raise NotBuiltInError(f"where channels are {'first' if chw else 'last'}")
    if options.toolkit != _OF_ONE_TOOLKIT.get(options.name, options.toolkit):
        raise NotBuiltInError("is not built in")
    return make(options, before)


def _resize(options: Options, before: list[Step]) -> Step:
    if options.has("size") and options.toolkit == "common":  # PaddleOCR: height, width
        return Resize(options.name, options.size_pair("size"), Sampling())
    # By default PaddleDetection keeps the ratio in its own deployment, PaddleSeg's models in PaddleX.
    usual = options.toolkit == "segmentation" if options.is_paddlex else options.toolkit == "detection"
    kept = options.get("keep_ratio", usual) is not False
    default: Any = 2 if options.toolkit == "detection" else "LINEAR"
    sampling = _sampling(options, options.get("interp", default))
    if options.toolkit != "segmentation" and kept:
        least, most = sorted(options.size_pair("target_size"))
        by_factor = not options.is_paddlex  # that file is PaddleX's, which resizes by the rounded size
        if by_factor and sampling.interpolation in ("nearest", "area"):
            raise NotBuiltInError(f"{sampling.interpolation} interpolation by a factor is not built in")
        return ResizeKeepRatio(options.name, least, most, sampling, by_factor=by_factor)
    if options.toolkit != "segmentation":
        return Resize(options.name, options.size_pair("target_size"), sampling)
    if options.get("target_size", [512, 512] if options.settings.floats else -1) == -1:
        raise NotBuiltInError("no target_size")
    width, height = options.size_pair("target_size", (512, 512))  # PaddleSeg: width, height
    step = options.divisor(None if options.settings.floats else 32)
    if kept:
        return ResizeKeepRatio(options.name, min(height, width), max(height, width), sampling, step)
    return Resize(options.name, (round_up(height, step), round_up(width, step)), sampling)


def _resize_image(options: Options, before: list[Step]) -> Step:
    backend = str(options.get("backend") or "cv2")
    if backend.lower() not in ("cv2", "pil"):
        raise NotBuiltInError(f"backend {backend[:80]} interpolates in its own way")
    name = options.get("interpolation") or "LINEAR"
    sampling = _sampling(options, name) if backend.lower() == "cv2" else _pillow(name)
    if options.get("resize_short"):
        return ResizeSide(options.name, "short", options.pixels("resize_short"), sampling)
    width, height = options.size_pair("size")  # PaddleClas: width, height
    return Resize(options.name, (height, width), sampling)


def _resize_side(options: Options, before: list[Step]) -> Step:
    side: Literal["short", "long"] = "short" if options.name == "ResizeByShort" else "long"
    if isinstance(options.get("short_size"), list):
        raise NotBuiltInError("short_size is one of several")
    if options.get("max_size") not in (None, 1e10):
        raise NotBuiltInError(f"max_size: {_DEPENDS_ON_NEXT}")  # PaddleSeg keeps the short size that it is cut to
    key = f"{side}_size" if options.has(f"{side}_size") else f"target_{side}_edge"
    sampling = _sampling(options, options.get("interp", "LINEAR"))
    return ResizeSide(options.name, side, options.pixels(key), sampling, options.divisor())


def _limit_long(options: Options, before: list[Step]) -> Step:
    least = options.pixels("min_long") if options.get("min_long") is not None else 1
    most = options.pixels("max_long") if options.get("max_long") is not None else MAX_SIDE
    if least > most:
        raise options.invalid("min_long is larger than max_long")
    return LimitLong(options.name, least, most, _sampling(options, "LINEAR"))


def _text_resize(options: Options, before: list[Step]) -> Step:
    name = options.name
    if options.has("image_shape"):
        height, width = options.size_pair("image_shape")
        return TextHeight(name, height) if options.get("keep_ratio") is True else TextSize(name, (height, width))
    if not options.has("limit_side_len") and options.has("resize_long"):
        return TextResize(name, "long_alone", options.pixels("resize_long"), MAX_SIDE)
    limit = options.pixels("limit_side_len", _DEFAULT_SIDE)
    kind: Kind = options.choice("limit_type", "min", ("min", "max", "resize_long"))
    most = options.pixels("max_side_limit", 4000)
    return TextResize(name, kind, limit, most)


def _text_line(options: Options, before: list[Step]) -> Step:
    shape = options.get("image_shape")
    if not isinstance(shape, list) or len(shape) != 3 or not all(is_side(side) for side in shape):
        raise options.invalid(f"image_shape is not [3, H, W]: {str(shape)[:80]}")
    if shape[0] != 3:
        raise NotBuiltInError("image_shape has not three channels")
    if options.get("padding", True) is not True:
        raise NotBuiltInError("padding is not true")
    return TextLine(options.name, shape[1], shape[2])


def _normalize(options: Options, chw: bool) -> Step:
    name = options.name
    if options.toolkit == "segmentation":
        mean = options.numbers("mean", (0.5, 0.5, 0.5))
        std = options.numbers("std", (0.5, 0.5, 0.5))
        if options.settings.floats:
            return Normalize(name, 1.0, mean, std, by_255=True)
        return _affine(name, 1.0 / 255.0, mean, std)
    order = options.get("order", "")
    if order not in ("", "hwc", "chw", None):
        raise options.invalid(f"order {str(order)[:80]!r} is not one of hwc, chw")
    if order and (order == "chw") != chw:
        raise NotBuiltInError(f"order '{order}' where channels are {'first' if chw else 'last'}")
    if options.get("channel_num", 3) != 3:
        raise NotBuiltInError("channel_num is not 3")
    mean = options.numbers("mean", (0.485, 0.456, 0.406))
    std = options.numbers("std", (0.229, 0.224, 0.225))
    if options.toolkit == "detection":
        scale = 1.0 / 255.0 if options.switch("is_scale", True) else 1.0
        if options.get("norm_type") not in (None, "none", "mean_std"):
            raise options.invalid(f"norm_type {str(options.get('norm_type'))[:80]!r} is not known")
        if options.get("norm_type") == "none":
            mean, std = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
        return Normalize(name, scale, mean, std)
    return _affine(name, options.scale(), mean, std)


def _affine(name: str, scale: float, mean: tuple[float, ...], std: tuple[float, ...]) -> Affine:
    return Affine(
        name, tuple(scale / deviation for deviation in std), tuple(-a / b for a, b in zip(mean, std, strict=True))
    )


_OF_ONE_TOOLKIT = {
    "CropImage": "common",
    **dict.fromkeys(("EvalAffine", "LetterBoxResize", "Pad", "TopDownEvalAffine", "WarpAffine"), "detection"),
}
"""What is built in for one toolkit alone."""

_MAKERS: dict[str, Callable[[Options, list[Step]], Step]] = {
    "CropImage": crop,
    "DetResizeForTest": _text_resize,
    "EvalAffine": eval_affine,
    "LetterBoxResize": letter_box,
    "LimitLong": _limit_long,
    "Pad": pad,
    "PadStride": pad_stride,
    "RecResizeImg": _text_line,
    "Resize": _resize,
    "ResizeByLong": _resize_side,
    "ResizeByShort": _resize_side,
    "ResizeImage": _resize_image,
    "TopDownEvalAffine": top_down,
    "WarpAffine": warp_affine,
}


def _sampling(options: Options, name: Any) -> Sampling:
    interpolation = _NUMBERS.get(name) if type(name) is int else _WORDS.get(str(name).upper())
    if interpolation is None:
        raise NotBuiltInError(f"interpolation {str(name)[:80]} is not built in")
    return Sampling(interpolation, levels=not options.settings.floats)


def _pillow(word: Any) -> Sampling:
    name = _PILLOW.get(str(word).upper(), str(word).lower())
    if name in ("nearest", "box"):  # which pixels they take, the rounding errors of its doubles decide
        raise NotBuiltInError(f"interpolation {name} of backend pil is not built in")
    if name not in FILTERS:
        raise NotBuiltInError(f"interpolation {str(word)[:80]} is not built in")
    return Pillow(name)
