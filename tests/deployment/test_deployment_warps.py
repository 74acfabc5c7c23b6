"""Preprocessing that places a picture on a canvas, resizes by area and Pillow's resizes, against OpenCV and Pillow."""

import json
import math

import cv2
import numpy as np
import openvino
import pytest
from PIL import Image

from gen_models.harness.spec import paddle
from paddle2ov import ModelReadError, convert
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.deployment.planning import plan
from paddle2ov.program.settings import read_settings
from tests.support.models import save_program
from tests.support.settings import beside

SIZES = ((37, 53), (61, 40), (90, 70), (96, 160), (24, 40), (7, 200))


@pytest.fixture(scope="module")
def identity(tmp_path_factory):
    """A model x -> x of any picture."""

    def same(x):
        return paddle.nn.functional.relu(x) - paddle.nn.functional.relu(-x)

    return save_program(tmp_path_factory.mktemp("identity"), same, x=[-1, 3, -1, -1])


@pytest.fixture
def model(identity):
    """`model(transforms)`: the model with PaddleDetection's settings, or others; it gives pictures, not normalised."""

    def build(transforms, file="infer_cfg.yml", **options):
        text = transforms
        if isinstance(transforms, dict):
            text = json.dumps({"Preprocess": [transforms, {"type": "Permute"}]})
        with beside(identity, text, file):
            return convert(identity, **(options or {"preprocess": True}))

    return build


def pictures(smooth=True):
    rng = np.random.default_rng(11)
    for height, width in SIZES:
        image = rng.integers(0, 256, (height, width, 3), np.uint8)
        yield cv2.GaussianBlur(image, (5, 5), 2) if smooth else image


def in_levels(got, want, share=0.2):
    """Whether levels are at most one apart, and few at all."""
    want = want.transpose(2, 0, 1)[None].astype(np.float32)
    np.testing.assert_allclose(got, want, rtol=0, atol=1)
    assert (got != want).mean() <= share


def letter_box(one, height, width):
    """PaddleDetection's LetterBoxResize."""
    ratio = min(float(height) / one.shape[0], float(width) / one.shape[1])
    new = (round(one.shape[1] * ratio), round(one.shape[0] * ratio))
    across, down = (width - new[0]) / 2, (height - new[1]) / 2
    ends = round(down - 0.1), round(down + 0.1), round(across - 0.1), round(across + 0.1)
    resized = cv2.resize(one, new, interpolation=cv2.INTER_AREA)
    return cv2.copyMakeBorder(resized, *ends, cv2.BORDER_CONSTANT, value=(127.5, 127.5, 127.5))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("size", [(48, 64), (33, 33), (20, 111)])
def test_letter_box(model, size):
    told = {"type": "LetterBoxResize", "target_size": list(size)}
    compiled = compile_on_cpu(model(told))
    for picture in pictures():
        in_levels(compiled(picture[None])[0], letter_box(picture[..., ::-1], *size), 0.1)
    (port,) = model(told, bounded=True).inputs
    assert port.get_partial_shape() == openvino.PartialShape([openvino.Dimension(1, -1), 3, *size])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("size", [(24, 40), (12, 20), (48, 35), (8, 8), (70, 130), (80, 30)])
def test_area(model, size):
    """Reduced in both directions the levels are OpenCV's own, ties included."""
    compiled = compile_on_cpu(model({"type": "Resize", "keep_ratio": False, "interp": 3, "target_size": list(size)}))
    for picture in pictures(smooth=False):
        got = compiled(picture[None])[0]
        want = cv2.resize(picture, size[::-1], interpolation=cv2.INTER_AREA)[..., ::-1]
        reduced = picture.shape[0] >= size[0] and picture.shape[1] >= size[1]
        if reduced or not _misplaced(picture.shape, size):
            in_levels(got, want, 0.01 if reduced else 0.2)


def _misplaced(old, new):
    """Whether OpenCV, which enlarges, takes a neighbour for a whole place: 1 / (new / old) is rounded twice."""
    for length, count in zip(old, new, strict=False):
        pixels = np.arange(count)
        if (np.floor(pixels * (1 / (count / length))) != pixels * length // count).any():
            return True
    return False


def test_area_of_floats(model):
    """PaddleSeg's own deployment resizes floats."""
    steps = "{type: Resize, target_size: [40, 24], interp: AREA}, {type: Normalize, mean: 0, std: 1}"
    text = f"Deploy: {{transforms: [{steps}]}}"
    compiled = compile_on_cpu(model(text, "deploy.yaml"))
    for picture in pictures(smooth=False):
        if picture.shape[0] >= 24 and picture.shape[1] >= 40:
            want = cv2.resize(picture[..., ::-1].astype(np.float32), (40, 24), interpolation=cv2.INTER_AREA) / 255
            np.testing.assert_allclose(compiled(picture[None])[0], want.transpose(2, 0, 1)[None], rtol=0, atol=1e-6)


def affine(center, side, size):
    """PaddleDetection's get_affine_transform without a rotation; `size`: width, height."""
    source, target = np.zeros((2, 3, 2), np.float32)
    for points, middle, width in ((source, center, side), (target, np.array(size) * 0.5, size[0])):
        points[0] = middle
        points[1] = middle + np.array([0.0, width * -0.5])
        direction = points[0] - points[1]
        points[2] = points[1] + np.array([-direction[1], direction[0]], np.float32)
    return cv2.getAffineTransform(source, target)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("size", [(48, 64), (33, 27), (100, 90)])
def test_warp_affine(model, size):
    """The picture in the middle, its long side as the width; channels are reversed: blue is first again."""
    told = {"type": "WarpAffine", "keep_res": False, "input_h": size[0], "input_w": size[1]}
    compiled = compile_on_cpu(model(told))
    for picture in pictures():
        height, width = picture.shape[:2]
        trans = affine(np.array([width / 2.0, height / 2.0], np.float32), max(height, width) * 1.0, size[::-1])
        in_levels(compiled(picture[None])[0], cv2.warpAffine(picture, trans, size[::-1], flags=cv2.INTER_LINEAR))


@pytest.mark.parametrize(("pad", "file"), [(31, "infer_cfg.yml"), (1, "infer_cfg.yml"), (None, "inference.yml")])
def test_warp_affine_keeps_the_resolution(model, pad, file):
    told = {"type": "WarpAffine"} | ({"keep_res": True, "pad": pad} if pad else {})
    compiled = compile_on_cpu(model(told, file))
    for picture in pictures(smooth=False):
        height, width = picture.shape[:2]
        size = ((width | (pad or 31)) + 1, (height | (pad or 31)) + 1)
        trans = affine(np.array([width // 2, height // 2], np.float32), size[0], size)
        in_levels(compiled(picture[None])[0], cv2.warpAffine(picture, trans, size, flags=cv2.INTER_LINEAR), 0)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("size", [(48, 36), (33, 64)])
@pytest.mark.parametrize("unbiased", [False, True])
def test_top_down(model, size, unbiased):
    """Key points of one person: `trainsize` is width, height."""
    compiled = compile_on_cpu(model({"type": "TopDownEvalAffine", "trainsize": list(size[::-1]), "use_udp": unbiased}))
    for picture in pictures():
        height, width = picture.shape[:2]
        trans = affine(np.array([width, height], np.float32) / 2.0, np.float32(width), size[::-1])
        if unbiased:
            trans = np.array([[(size[1] - 1.0) / width, 0, 0], [0, (size[0] - 1.0) / height, 0]], np.float32)
        in_levels(
            compiled(picture[None])[0], cv2.warpAffine(picture[..., ::-1], trans, size[::-1], flags=cv2.INTER_LINEAR)
        )


@pytest.mark.one_in(2)
@pytest.mark.parametrize("short", [48, 77])
def test_eval_affine(model, short):
    compiled = compile_on_cpu(model({"type": "EvalAffine", "size": short, "stride": 64}))
    for picture in pictures():
        height, width = picture.shape[:2]
        if width < height:
            size = short, int(np.ceil((short / width * height) / 64.0) * 64)
            side = width
        else:
            size = int(np.ceil((short / height * width) / 64.0) * 64), short
            side = size[0] / size[1] * height
        trans = affine(np.array([np.round(width / 2.0), np.round(height / 2.0)]), side, size)
        in_levels(compiled(picture[None])[0], cv2.warpAffine(picture[..., ::-1], trans, size))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("name", "method"),
    [
        (None, Image.Resampling.BILINEAR),
        ("bilinear", Image.Resampling.BILINEAR),
        ("BICUBIC", Image.Resampling.BICUBIC),
        ("hamming", Image.Resampling.HAMMING),
        ("lanczos", Image.Resampling.LANCZOS),
        ("LANCZOS4", Image.Resampling.LANCZOS),
    ],
)
@pytest.mark.parametrize("told", [{"size": [40, 24]}, {"size": [120, 35]}, {"resize_short": 29}])
def test_pillow(model, name, method, told):
    transform = {**told, "backend": "pil"} | ({"interpolation": name} if name else {})
    steps = [{"DecodeImage": {"backend": "pil"}}, {"ResizeImage": transform}, {"ToCHWImage": None}]
    compiled = compile_on_cpu(model(json.dumps({"PreProcess": {"transform_ops": steps}}), "inference.yml"))
    for picture in pictures(smooth=False):
        height, width = picture.shape[:2]
        percent = 29 / min(height, width)
        size = told.get("size") or (round(width * percent), round(height * percent))
        # One direction, then the other: since 13 Pillow begins with the columns for some sizes.
        want = np.asarray(Image.fromarray(picture[..., ::-1]).resize((size[0], height), method).resize(size, method))
        # Filters are rounded to 22 bits there and to 24 here: halves may fall either way.
        in_levels(compiled(picture[None])[0], want, 0.05)


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ({"type": "WarpAffine", "keep_res": True, "pad": 30}, "pad 30 is not one less than a power of two"),
        ({"type": "WarpAffine", "keep_res": False, "input_h": 9000}, "a side is larger than 8191"),
        ({"type": "TopDownEvalAffine", "trainsize": [1, 8], "use_udp": True}, "use_udp where a side is 1"),
        ({"type": "Resize", "interp": 3, "target_size": [8, 8]}, "area interpolation by a factor is not built in"),
        ({"type": "Resize", "interp": 4, "keep_ratio": False, "target_size": 8}, "interpolation 4 is not built in"),
        ({"type": "ResizeImage", "size": 8, "backend": "pil", "interpolation": "box"}, "box of backend pil is not"),
        ({"type": "ResizeImage", "size": 8, "backend": "pil", "interpolation": "nearest"}, "nearest of backend pil"),
        ({"type": "ResizeImage", "size": 8, "backend": "pil", "interpolation": "random"}, "interpolation random is"),
        ({"type": "ResizeImage", "size": 8, "backend": "skia"}, "backend skia interpolates in its own way"),
    ],
)
def test_what_stays_with_the_caller(tmp_path, step, reason):
    path = tmp_path / "infer_cfg.yml"
    path.write_text(json.dumps({"Preprocess": [step, {"type": "NormalizeImage"}, {"type": "Permute"}]}))
    ((name, why),) = plan(read_settings(path)).remaining
    assert name == step["type"]
    assert reason in why


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"type": "LetterBoxResize"}, "LetterBoxResize: target_size is not a size: None"),
        ({"type": "WarpAffine", "keep_res": "no"}, "WarpAffine: keep_res is neither true nor false: no"),
        ({"type": "WarpAffine", "keep_res": False, "input_w": 0}, "WarpAffine: input_w is not a number of pixels: 0"),
        ({"type": "TopDownEvalAffine", "trainsize": [8]}, "TopDownEvalAffine: trainsize is not a size"),
        ({"type": "EvalAffine", "size": math.inf}, "EvalAffine: size is not a number of pixels"),
    ],
)
def test_hostile_transforms(model, step, message):
    with pytest.raises(ModelReadError, match=message):
        model(step)


def test_only_in_detection(tmp_path):
    path = tmp_path / "inference.yml"
    path.write_text("PreProcess: {transform_ops: [LetterBoxResize: {target_size: 8}, ToCHWImage: null]}")
    assert plan(read_settings(path)).remaining[0] == ("LetterBoxResize", "is not built in")
