"""Builds the preprocessing that the settings describe into the model, which then takes pictures as `cv2.imread` gives.

The input that holds the picture becomes uint8 [N, H, W, 3] in the order blue, green, red. Built in are, as PaddleX's,
PaddleOCR's and PaddleDetection's Python code computes them:

- DecodeImage: the order of the channels (RGB unless it says BGR);
- Resize / ResizeImage to one size, interpolation nearest, linear or cubic. OpenCV computes linear and cubic on bytes in
  fixed point; here it is float32, rounded to whole levels, which differs by at most one level of 255;
- NormalizeImage: PaddleDetection computes (x·scale − mean)/std, the others x·(scale/std) + (−mean/std), in float32;
- ToCHWImage / Permute.

A transform whose result depends on the picture's own size (DetResizeForTest, RecResizeImg, resize_short, keep_ratio,
Pad) stays with the caller, who needs that size for the post-processing too; so does everything before it. Labels of the
training (DetLabelEncode, KeepKeys, ...) are passed over.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from openvino import Dimension, Model, Output, PartialShape, Type

from paddle2ov.deployment.settings import Settings, Transform
from paddle2ov.errors import ConversionInputError, ModelReadError
from paddle2ov.opset import ops

_TRAINING = re.compile(r".*LabelEncode|KeepKeys")
_MOST_PIXELS = 2**15
# After these the picture is bytes still, so that the steps behind them can be built in.
_BYTES = ("CropImage", "DetResizeForTest", "Resize", "ResizeByLong", "ResizeByShort", "ResizeImage")
# Interpolations by OpenCV's numbers (PaddleDetection) and by PaddleX's words.
_NUMBERS = {0: "nearest", 1: "linear", 2: "cubic"}
_WORDS = {"NEAREST": "nearest", "LINEAR": "linear", "BICUBIC": "cubic"}


@dataclass(frozen=True, slots=True)
class Step:
    """One transform that is built in, with what it needs: a size (height, width), or factors and shifts."""

    kind: str
    size: tuple[int, int] = (0, 0)
    interpolation: str = ""
    first: tuple[float, ...] = ()
    second: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What is built in, in its order, and what stays with the caller: pairs (transform, reason)."""

    steps: list[Step]
    remaining: list[tuple[str, str]]
    rgb: bool


class _CallersError(Exception):
    """A transform that stays with the caller."""


def fixed_size(settings: Settings) -> tuple[int, int] | None:
    """The (height, width) that every picture is resized to; None if it is not one size."""
    for step in reversed(plan(settings).steps):
        if step.kind == "resize":
            return step.size
    return None


def plan(settings: Settings) -> Plan:
    """Which transforms are built in.

    Raises:
        ModelReadError: a transform is told what it cannot be told.
    """
    steps: list[Step] = []
    remaining: list[tuple[str, str]] = []
    rgb = True
    chw = False
    ended = ""  # the caller's transform after which the picture is no longer bytes
    for transform in settings.transforms or []:
        if _TRAINING.fullmatch(transform.name):
            continue
        try:
            if ended:
                raise _CallersError(f"comes after {ended}")
            if transform.name == "DecodeImage":
                rgb = _choice(settings, transform, "img_mode", "RGB", ("RGB", "BGR")) == "RGB"
                if transform.options.get("channel_first", False):
                    raise _CallersError("channel_first")
                continue
            step = _step(settings, transform, chw)
        except _CallersError as reason:
            # What comes before it cannot be built in either: the caller's part is the beginning.
            remaining += [(before.kind, f"comes before {transform.name}") for before in steps]
            remaining.append((transform.name, str(reason)))
            steps = []
            if transform.name not in _BYTES:
                ended = ended or transform.name
        else:
            steps.append(step)
            chw = chw or step.kind == "chw"
    if steps and not chw:
        raise ModelReadError(f"{settings.path}: its preprocessing does not end in channels first (ToCHWImage, Permute)")
    if not any(step.kind == "chw" for step in steps):
        steps = []  # the caller's part goes beyond the layout of pictures
    return Plan(steps, remaining, rgb)


def _step(settings: Settings, transform: Transform, chw: bool) -> Step:
    options = transform.options
    if transform.name in ("ToCHWImage", "Permute"):
        if chw:
            raise ModelReadError(f"{settings.path}: {transform.name}: channels are first already")
        return Step("chw")
    if transform.name == "NormalizeImage":
        return _normalize(settings, transform, chw)
    if transform.name == "ResizeImage":
        return _resize_image(settings, transform)
    if transform.name == "Resize":
        if options.get("keep_ratio", False) is not False:
            raise _CallersError("keep_ratio: the size depends on the picture")
        known = _NUMBERS if isinstance(options.get("interp", 2), int) else _WORDS
        default: Any = 2 if settings.toolkit == "detection" else "LINEAR"
        interpolation = known.get(options.get("interp", default))
        if interpolation is None:
            raise _CallersError(f"interpolation {options.get('interp')} is not built in")
        size = _pair(settings, transform, "target_size")  # PaddleDetection: height, width
        return Step("resize", size, interpolation)
    raise _CallersError(
        "its size depends on the picture"
        if "Resize" in transform.name or "Pad" in transform.name
        else "is not built in"
    )


def _resize_image(settings: Settings, transform: Transform) -> Step:
    options = transform.options
    if options.get("resize_short") is not None:
        raise _CallersError("resize_short: the size depends on the picture")
    if str(options.get("backend", "cv2")).lower() != "cv2":
        raise _CallersError(f"backend {options['backend']} interpolates in its own way")
    word = str(options.get("interpolation") or "LINEAR").upper()
    word = {"BILINEAR": "LINEAR", "CUBIC": "BICUBIC"}.get(word, word)
    if word not in _WORDS:
        raise _CallersError(f"interpolation {options['interpolation']} is not built in")
    width, height = _pair(settings, transform, "size")  # PaddleClas: width, height
    return Step("resize", (height, width), _WORDS[word])


def _normalize(settings: Settings, transform: Transform, chw: bool) -> Step:
    options = transform.options
    order = options.get("order", "")
    if order not in ("", "hwc", "chw", None):
        raise ModelReadError(f"{settings.path}: NormalizeImage: order '{order}' is none of hwc, chw")
    if order and (order == "chw") != chw:
        raise _CallersError(f"order '{order}' where channels are {'first' if chw else 'last'}")
    if options.get("channel_num", 3) != 3:
        raise _CallersError("channel_num is not 3")
    mean = _numbers(settings, transform, "mean", (0.485, 0.456, 0.406))
    std = _numbers(settings, transform, "std", (0.229, 0.224, 0.225))
    if settings.toolkit == "detection":
        scale = 1.0 / 255.0 if options.get("is_scale", True) else 1.0
        if options.get("norm_type") not in (None, "none", "mean_std"):
            raise ModelReadError(f"{settings.path}: NormalizeImage: norm_type {options['norm_type']!r} is not known")
        if options.get("norm_type") == "none":
            mean, std = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
        return Step("normalize", first=(scale,), second=(*mean, *std))
    scale = _fraction(settings, options.get("scale"))
    factors = tuple(scale / one for one in std)
    return Step("normalize_affine", first=factors, second=tuple(-a / b for a, b in zip(mean, std, strict=True)))


def _fraction(settings: Settings, value: Any) -> float:
    """A number, or a quotient as the settings write it: "1./255."."""
    if value is None:
        return 1.0 / 255.0
    if isinstance(value, str):
        try:
            above, _, below = value.partition("/")
            value = float(above) / (float(below) if below else 1.0)
        except (ValueError, ZeroDivisionError):
            value = None
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < abs(value) < 1e6:
        raise ModelReadError(f"{settings.path}: NormalizeImage: the scale is not a number")
    return float(value)


def _numbers(settings: Settings, transform: Transform, key: str, default: tuple[float, ...]) -> tuple[float, ...]:
    value = transform.options.get(key)
    if value is None:
        return default
    given = value if isinstance(value, list) else [value] * 3
    numbers = [one for one in given if isinstance(one, int | float) and not isinstance(one, bool)]
    if len(given) != 3 or len(numbers) != 3 or not all(abs(one) < 1e6 and math.isfinite(one) for one in numbers):
        raise ModelReadError(f"{settings.path}: {transform.name}: {key} is not three numbers: {str(value)[:80]}")
    if key == "std" and not all(abs(one) > 1e-12 for one in numbers):
        raise ModelReadError(f"{settings.path}: {transform.name}: std holds 0")
    return tuple(float(one) for one in numbers)


def _pair(settings: Settings, transform: Transform, key: str) -> tuple[int, int]:
    value = transform.options.get(key)
    pair: list[Any] = value if isinstance(value, list) else [value] * 2
    if len(pair) != 2 or not all(type(one) is int and 1 <= one <= _MOST_PIXELS for one in pair):
        raise ModelReadError(f"{settings.path}: {transform.name}: {key} is not a size: {str(value)[:80]}")
    return pair[0], pair[1]


def _choice(settings: Settings, transform: Transform, key: str, default: str, known: tuple[str, ...]) -> str:
    value = transform.options.get(key, default)
    if value not in known:
        raise ModelReadError(
            f"{settings.path}: {transform.name}: {key} {str(value)[:80]!r} is none of {', '.join(known)}"
        )
    return str(value)


def build_in(model: Model, settings: Settings) -> Plan:
    """Replaces the model's picture input by one that takes bytes, and computes the preprocessing behind it.

    Returns:
        What was built in and what remains.

    Raises:
        ModelReadError: the settings are not of the form that is known.
        ConversionInputError: nothing can be built in, or the model has not one input that is a picture.
    """
    found = plan(settings)
    if not found.steps:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in found.remaining) or "the file describes none"
        raise ConversionInputError(f"preprocess: {settings.path}: nothing can be built in ({reasons})")
    pictures = [
        parameter
        for parameter in model.get_parameters()
        if parameter.get_partial_shape().rank == 4 and parameter.get_partial_shape()[1] == 3
    ]
    if len(pictures) != 1:
        raise ConversionInputError(f"preprocess: the model has {len(pictures)} inputs of shape [N, 3, H, W], not one")
    (old,) = pictures
    shape = old.get_partial_shape()
    if old.get_element_type() != Type.f32:
        raise ConversionInputError(
            f"preprocess: input '{old.get_friendly_name()}' is {old.get_element_type()}, not f32"
        )
    resized = any(step.kind == "resize" for step in found.steps)
    for axis, size in zip((2, 3), fixed_size(settings) or (), strict=False):
        if not shape[axis].compatible(Dimension(size)):
            raise ModelReadError(f"{settings.path}: pictures become {size} large, the input takes {shape[axis]}")
    names = old.output(0).get_names()
    picture = PartialShape([shape[0], *((-1, -1) if resized else (shape[2], shape[3])), 3])
    new = ops.parameter(picture, np.uint8, name=old.get_friendly_name())
    value = _compute(new.output(0), found)
    users = list(old.output(0).get_target_inputs())
    for user in users:
        user.replace_source_output(value)
    position = model.get_parameter_index(old)
    model.replace_parameter(position, new)
    new.output(0).set_names(names)
    model.validate_nodes_and_infer_types()
    model.set_rt_info(describe(found), ["paddle2ov", "preprocessing"])
    return found


def describe(found: Plan) -> str:
    """What was built in and what stays with the caller, in words; the model's runtime information keeps it."""
    steps = ", ".join(
        f"resize to {step.size[0]} x {step.size[1]} ({step.interpolation})" if step.kind == "resize" else step.kind
        for step in found.steps
        if step.kind != "chw"
    )
    text = f"takes uint8 [N, H, W, 3] in the order blue, green, red; built in: {steps or 'layout'}"
    remaining = "; ".join(f"{name} ({reason})" for name, reason in found.remaining)
    return text + (f"; yours: {remaining}" if remaining else "")


def _compute(value: Output, found: Plan) -> Output:
    """The steps, on channels first throughout: no step but the layout itself depends on where the channels are."""
    value = ops.transpose(value, np.array([0, 3, 1, 2])).output(0)
    if found.rgb:
        value = ops.gather(value, np.array([2, 1, 0]), np.array(1)).output(0)
    value = ops.convert(value, np.float32).output(0)
    for step in found.steps:
        if step.kind == "resize":
            value = _resize(value, step)
        elif step.kind == "normalize_affine":
            value = ops.add(ops.multiply(value, _channels(step.first)), _channels(step.second)).output(0)
        elif step.kind == "normalize":
            scaled = ops.multiply(value, np.float32(step.first[0]))
            value = ops.divide(ops.subtract(scaled, _channels(step.second[:3])), _channels(step.second[3:])).output(0)
    return value


def _channels(values: tuple[float, ...]) -> Any:
    return ops.constant(np.array(values, np.float32).reshape(1, 3, 1, 1))


def _resize(value: Output, step: Step) -> Output:
    """OpenCV's resize: pixel centres at half pixels (nearest: at whole ones), cubic with a = -0.75, whole levels."""
    nearest = step.interpolation == "nearest"
    resized = ops.interpolate(
        value,
        np.array(step.size, np.int64),
        {"nearest": "nearest", "linear": "linear_onnx", "cubic": "cubic"}[step.interpolation],
        "sizes",
        axes=np.array([2, 3]),
        coordinate_transformation_mode="asymmetric" if nearest else "half_pixel",
        nearest_mode="floor",
        cube_coeff=-0.75,
    )
    if nearest:
        return resized.output(0)
    levels = ops.floor(ops.add(resized, np.float32(0.5)))
    return ops.clamp(levels, 0.0, 255.0).output(0)
