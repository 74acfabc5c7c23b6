"""Mutations of `inference.yml`, beside a model that takes pictures of any size."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

import yaml

from tools.mutation import extremes
from tools.mutation.damage import damaged
from tools.mutation.mutant import PROGRAM, SETTINGS, Mutant
from tools.mutation.structure import places

_MEANS = {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}
_NORMALIZE = {"NormalizeImage": {**_MEANS, "scale": "1./255.", "order": "hwc"}}
_SHAPES = {"x": [[1, 3, 32, 32], [1, 3, 736, 736], [1, 3, 4000, 4000]]}


def _common(*transforms: Any) -> dict[str, Any]:
    """As PaddleX, PaddleOCR and PaddleClas write it."""
    return {
        "Global": {"model_name": "any"},
        "Hpi": {
            "backend_configs": {
                "paddle_infer": {"trt_dynamic_shapes": _SHAPES},
                "tensorrt": {"dynamic_shapes": _SHAPES},
            }
        },
        "PreProcess": {
            "transform_ops": [*transforms, _NORMALIZE, {"ToCHWImage": None}, {"KeepKeys": {"keep_keys": ["image"]}}]
        },
    }


def _detection(*transforms: Any) -> dict[str, Any]:
    """As PaddleDetection writes it."""
    steps = [*transforms, {"type": "NormalizeImage", "is_scale": True, **_MEANS}, {"type": "Permute"}]
    return {"mode": "paddle", "Preprocess": steps, "image_shape": [3, 64, 64]}


def _segmentation(*transforms: Any) -> dict[str, Any]:
    """As PaddleSeg writes it."""
    steps = [*transforms, {"type": "Normalize", "mean": [0.4], "std": [0.2, 0.3, 0.4]}]
    return {
        "Deploy": {
            "input_shape": [None, 3, None, None],
            "model": "inference.json",
            "params": "inference.pdiparams",
            "transforms": steps,
        }
    }


DOCUMENTS = (
    _common({"DecodeImage": {"channel_first": False, "img_mode": "BGR"}}, {"DetResizeForTest": {"resize_long": 960}}),
    _common({"DetResizeForTest": {"limit_side_len": 736, "limit_type": "min", "max_side_limit": 4000}}),
    _common({"ResizeImage": {"size": [40, 24], "interpolation": "bilinear", "backend": "cv2"}}),
    _common({"ResizeImage": {"resize_short": 40}}, {"CropImage": {"size": [32, 24]}}),
    _common({"RecResizeImg": {"image_shape": [3, 48, 96]}}),
    _detection({"type": "Resize", "interp": 2, "keep_ratio": False, "target_size": [24, 40]}),
    _detection(
        {"type": "Resize", "interp": 2, "keep_ratio": True, "target_size": [64, 64]}, {"type": "Pad", "size": [64, 64]}
    ),
    _detection({"type": "LetterBoxResize", "target_size": [64, 96]}, {"type": "PadStride", "stride": 32}),
    _detection({"type": "WarpAffine", "keep_res": False, "input_h": 64, "input_w": 64}),
    _detection({"type": "TopDownEvalAffine", "trainsize": [48, 64]}),
    _segmentation({"type": "Resize", "target_size": [64, 48], "keep_ratio": False}),
    _segmentation({"type": "ResizeByLong", "long_size": 64}, {"type": "Pad", "target_size": [64, 64]}),
    _segmentation({"type": "ResizeByShort", "short_size": 64, "max_size": 96}, {"type": "LimitLong", "max_long": 96}),
    _segmentation({"type": "PaddingImage", "target_size": [64, 64]}, {"type": "ResizeByLong", "long_size": 1}),
)
_WORDS = (
    *("bilinear", "LANCZOS4", "cv2", "pil", "max", "min", "resize_long", "chw", "RGB"),
    *("1./0", "1e400", "1/3", "0x10", "nan", ".."),
)


def mutant(rng: Random) -> Mutant:
    """Damaged settings."""
    draw = rng.random()
    document: Any = copy.deepcopy(rng.choice(DOCUMENTS))
    if draw < 0.7:
        family = "settings: values"
        for _ in range(rng.choice((1, 1, 2, 3))):
            _change(rng, document, rng.choice(DOCUMENTS))
        text = _dump(document)
    elif draw < 0.9:
        family = "settings: bytes"
        text = damaged(rng, _dump(document), _dump(rng.choice(DOCUMENTS)))
    else:
        family = "settings: growth"
        text = _grown(rng, _dump(document))
    options = rng.choice(({"bounded": True}, {"preprocess": True}, {"bounded": True, "preprocess": True}))
    name = rng.choice((SETTINGS, SETTINGS, "deploy.yaml"))
    return Mutant(
        "convert",
        "settings",
        {PROGRAM["pir"]: picture_model(), name: text},
        options=options,
        family=family,
        source=name,
    )


def picture_model() -> bytes:
    """A PIR program whose input is a picture of any size, which it hands to relu."""

    def value(number: int) -> dict[str, Any]:
        return {"%": number, "TT": {"#": "0.t_dtensor", "D": [{"#": "0.t_f32"}, [-1, 3, -1, -1], "NCHW", [], 0]}}

    def attributes(**given: tuple[str, Any]) -> list[dict[str, Any]]:
        return [{"N": name, "AT": {"#": kind, "D": data}} for name, (kind, data) in given.items()]

    fed = attributes(name=("0.a_str", "x"), shape=("1.a_intarray", [-1, 3, -1, -1]), dtype=("1.a_dtype", "float32"))
    fetched = attributes(name=("0.a_str", "fetch_name_0"), col=("0.a_i32", 0))
    ops = [
        {"#": "1.data", "A": fed, "I": [], "O": [value(1)]},
        {"#": "1.relu", "A": [], "I": [{"%": 1}], "O": [value(2)]},
        {"#": "1.fetch", "A": fetched, "I": [{"%": 2}], "O": [value(3)]},
    ]
    block = {"#": "block_0", "args": [], "ops": ops}
    program = {"regions": [{"#": "region_0", "blocks": [block]}]}
    return json.dumps({"base_code": {"magic": "pir", "trainable": False, "version": 1}, "program": program}).encode()


def _dump(document: Any) -> bytes:
    return yaml.safe_dump(document, allow_unicode=True).encode("utf-8", "surrogatepass")


def _change(rng: Random, document: Any, other: Any) -> None:
    holder, key = rng.choice(list(places(document)) or [({"": None}, "")])
    draw = rng.random()
    current = holder[key]
    if draw < 0.1:
        del holder[key]
    elif draw < 0.25:
        donor, place = rng.choice(list(places(other)))
        holder[key] = copy.deepcopy(donor[place])
    elif draw < 0.35 and isinstance(holder, dict):
        holder[extremes.text(rng)[:100]] = holder.pop(key)
    elif isinstance(current, list) and draw < 0.6:
        holder[key] = extremes.resized(rng, current, lambda: _value(rng))
        if len(holder[key]) > 1000:
            del holder[key][1000:]
    elif isinstance(current, int) and draw < 0.9:
        holder[key] = extremes.integer(rng)
    else:
        holder[key] = _value(rng)


def _value(rng: Random) -> Any:
    return rng.choice((
        None, True, False, [], {}, [[]], extremes.integer(rng), 10**30, extremes.number(rng), extremes.text(rng)[:1000],
        rng.choice(_WORDS), [extremes.integer(rng)] * 3, {"type": rng.choice(_WORDS)}, [extremes.number(rng)] * 3,
    ))  # fmt: skip


def _grown(rng: Random, text: bytes) -> bytes:
    """Aliases of aliases, nesting, tags, long scalars."""
    levels, width = rng.choice((3, 9, 30)), rng.choice((2, 10))
    bomb = "a0: &a0 [x, x]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * width)}]\n" for i in range(1, levels)
    )
    merge = "a0: &a0 {x: 1}\n" + "".join(
        f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * width)}]}}\n" for i in range(1, levels)
    )
    depth = rng.choice((10, 49, 51, 1000, 100_000))
    number = "9" * rng.choice((10, 4000, 5000, 100_000))
    odd = (
        *(
            bomb,
            merge,
            "b: " + "[" * depth + "]" * depth,
            "b: &b [*b]",
            "? " * depth + "x",
            "- " * depth,
            "b: " + number,
        ),
        *("b: " + ":".join(["59"] * rng.choice((2, 5, 1000))), "b: 1e" + number[:10], "b: 0b" + "1" * 5000),
        *("b: !!timestamp 2020-99-99", "b: !!binary x", "b: !!set {x, y}", "b: !!omap [x: 1]", "b: 2020-02-30"),
        *(
            "b: !!float 1" + "0" * 400,
            "!!python/object/apply:os.system [ls]",
            "%YAML 9.9\n---",
            "b: |" + "\n  x" * 1000,
        ),
        *("\0", "\ufeff"),
    )
    more = rng.choice(odd).encode() + b"\n"
    return more + text if rng.random() < 0.5 else text + more
