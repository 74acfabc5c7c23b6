"""`inference.yml`: bounds of dynamic inputs, preprocessing against cv2 and NumPy, malformed files."""

import json
import math
import shutil
from contextlib import ExitStack

import cv2
import numpy as np
import openvino
import pytest

from gen_models.harness.spec import paddle
from paddle2ov import ConversionInputError, ModelReadError, convert, read_program, workarounds
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.deployment import sizes
from paddle2ov.deployment.planning import plan
from paddle2ov.deployment.preprocessing import build_in
from paddle2ov.graph.core import shared_core
from paddle2ov.graph.opset import ops
from paddle2ov.graph.terms import Term
from paddle2ov.program.files import find_model
from paddle2ov.program.settings import read_settings
from tests.support.models import save_program
from tests.support.settings import beside

DETECTION = """
mode: paddle
draw_threshold: 0.5
Preprocess:
- {interp: %d, keep_ratio: false, target_size: [24, 40], type: Resize}
- {is_scale: true, mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225], type: NormalizeImage}
- {type: Permute}
label_list: [face]
"""
TEXT_DETECTION = """
Global: {model_name: PP-OCRv5_mobile_det}
Hpi:
  backend_configs:
    paddle_infer:
      trt_dynamic_shapes: &id001
        x:
        - [1, 3, 32, 32]
        - [1, 3, 736, 736]
        - [1, 3, 4000, 4000]
    tensorrt:
      dynamic_shapes: *id001
PreProcess:
  transform_ops:
  - DecodeImage: {channel_first: false, img_mode: BGR}
  - DetLabelEncode: null
  - DetResizeForTest: {resize_long: 960}
  - NormalizeImage:
      mean: [0.485, 0.456, 0.406]
      order: hwc
      scale: 1./255.
      std: [0.229, 0.224, 0.225]
  - ToCHWImage: null
  - KeepKeys: {keep_keys: [image, shape]}
"""
CLASSIFICATION = """
PreProcess:
  transform_ops:
  - ResizeImage: {size: [40, 24]%s}
  - NormalizeImage:
      channel_num: 3
      mean: [0.485, 0.456, 0.406]
      order: ''
      scale: 0.00392156862745098
      std: [0.229, 0.224, 0.225]
  - ToCHWImage: null
"""
MEAN = np.array([0.485, 0.456, 0.406])
STD = np.array([0.229, 0.224, 0.225])
ROUNDING = (
    1e-6  # the largest value is 2.64, whose last place is 2.4e-7; OpenVINO may fuse or reorder up to three roundings
)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A model x -> x + 0 with any picture, one with pictures of 24 x 40; written once."""

    def same(x):
        return paddle.nn.functional.relu(x) - paddle.nn.functional.relu(-x)

    shapes = {"any": [-1, 3, -1, -1], "fixed": [-1, 3, 24, 40], "flat": [-1, 8]}
    return {name: save_program(tmp_path_factory.mktemp(name), same, x=shape) for name, shape in shapes.items()}


@pytest.fixture
def with_settings(models):
    """`with_settings(model, text)`: the model's folder, with that inference.yml; taken away afterwards."""
    with ExitStack() as settings:
        yield lambda name, text: settings.enter_context(beside(models[name], text))


def picture(height=37, width=53, count=2):
    """Bytes, and the extremes among them."""
    return np.random.default_rng(5).integers(0, 256, (count, height, width, 3), np.uint8)


def computed(folder, pictures):
    model = convert(folder, preprocess=True)
    assert model.inputs[0].get_names() == {"x"}
    assert model.inputs[0].get_element_type() == openvino.Type.u8
    return compile_on_cpu(model)(pictures)[0]


def bounds(folder, **options):
    """What the settings leave open of the input's shape."""
    (port,) = convert(folder, bounded=True, **options).inputs
    return port.get_partial_shape()


def normalized(rgb):
    """PaddleX's and PaddleOCR's NormalizeImage: alpha and beta in double, the picture in float32."""
    out = rgb.astype(np.float32)
    for channel in range(3):
        out[..., channel] *= (1 / 255) / STD[channel]
        out[..., channel] += -MEAN[channel] / STD[channel]
    return out.transpose(0, 3, 1, 2)


def test_a_resize_that_stays_outside(with_settings, caplog):
    """Bytes stay in cv2's order; floats within their roundings."""
    folder = with_settings("any", TEXT_DETECTION.replace("DetResizeForTest", "TableResize"))
    pictures = picture(32, 64)
    with pytest.raises(ConversionInputError, match="TableResize: its size depends on the image"):
        convert(folder, preprocess=True)
    folder = with_settings(
        "any",
        TEXT_DETECTION.replace(
            "DetResizeForTest: {resize_long: 960}", "ResizeByShort: {target_short_edge: 40, interp: LANCZOS4}"
        ),
    )
    np.testing.assert_allclose(computed(folder, pictures), normalized(pictures), rtol=0, atol=ROUNDING)
    assert "yours: ResizeByShort (interpolation LANCZOS4 is not built in)" in caplog.text


def text_size(height, width, **told):
    """The size that PaddleOCR's DetResizeForTest gives a picture, after its padding of tiny ones."""
    if "image_shape" in told:
        new_height, new_width = told["image_shape"]
        if told.get("keep_ratio"):
            new_width = math.ceil(width * new_height / height / 32) * 32
        return new_height, new_width
    if "limit_side_len" not in told and "resize_long" in told:
        ratio = float(told["resize_long"]) / max(height, width)
        return tuple((int(value * ratio) + 127) // 128 * 128 for value in (height, width))
    limit, kind = told.get("limit_side_len", 736), told.get("limit_type", "min")
    if kind == "resize_long":
        ratio = limit / max(height, width)
    elif kind == "max":
        ratio = limit / max(height, width) if max(height, width) > limit else 1.0
    else:
        ratio = limit / min(height, width) if min(height, width) < limit else 1.0
    sides = [int(value * ratio) for value in (height, width)]
    most = told.get("max_side_limit", 4000)
    if max(sides) > most:
        ratio = float(most) / max(sides)
        sides = [int(side * ratio) for side in sides]
    return tuple(max(int(round(side / 32) * 32), 32) for side in sides)


def in_levels(got, want, std=0.224):
    """Whether floats that stand for bytes over 255 are at most one level apart, and mostly none: resizes round so."""
    np.testing.assert_allclose(got, want, rtol=0, atol=1 / 255 / std + ROUNDING)
    assert (np.abs(got - want) > 1e-5).mean() < 0.2


@pytest.mark.parametrize(
    ("told", "sizes"),
    [
        ({"resize_long": 192}, [(40, 70), (192, 192), (300, 200)]),
        ({"limit_side_len": 96, "limit_type": "max"}, [(40, 70), (96, 97), (300, 200), (20, 30)]),
        ({"limit_side_len": 96, "limit_type": "min"}, [(40, 70), (96, 97), (130, 150)]),
        ({"limit_side_len": 96, "limit_type": "resize_long"}, [(40, 70), (140, 100)]),
        ({"limit_side_len": 96, "max_side_limit": 160}, [(30, 300), (80, 100)]),
        ({"image_shape": [64, 96]}, [(40, 70), (64, 96), (10, 20)]),
        ({"image_shape": [64, 96], "keep_ratio": True}, [(40, 70), (64, 96), (33, 100)]),
    ],
)
def test_text_detection(with_settings, told, sizes):
    """DetResizeForTest, whose size depends on the picture."""
    folder = with_settings("any", TEXT_DETECTION.replace("{resize_long: 960}", json.dumps(told)))
    model = convert(folder, preprocess=True)
    compiled = compile_on_cpu(model)
    assert "yours" not in str(model.get_rt_info(["paddle2ov", "preprocessing"]).value)
    for height, width in sizes:
        (image,) = picture(height, width, 1)
        image = cv2.GaussianBlur(image, (7, 7), 3)
        small = np.zeros((max(32, height), max(32, width), 3), np.uint8) if height + width < 64 else image
        small[:height, :width] = image
        new_height, new_width = text_size(*small.shape[:2], **told)
        in_levels(compiled(image[None])[0], normalized(cv2.resize(small, (new_width, new_height))[None]))


def test_default_of_text_detection(tmp_path):
    path = tmp_path / "inference.yml"
    path.write_text(TEXT_DETECTION.replace("{resize_long: 960}", "null"))
    assert "the short side at least 736, multiples of 32" in plan(read_settings(path)).describe()


def recognised(one, shape=(3, 48, 96), most=3200):
    """PaddleX's OCRReisizeNormImg."""
    _, height, width = shape
    ratio = max(width / height, one.shape[1] / one.shape[0])
    full = int(height * ratio)
    if full > most:
        resized = full = most
    else:
        resized = min(math.ceil(height * (one.shape[1] / one.shape[0])), full)
    line = cv2.resize(one, (resized, height)).astype(np.float32).transpose(2, 0, 1) / 255
    line -= 0.5
    line /= 0.5
    padded = np.zeros((3, height, full), np.float32)
    padded[:, :, :resized] = line
    return padded


def test_text_recognition(with_settings):
    text = (
        "PreProcess: {transform_ops: [DecodeImage: {channel_first: false, img_mode: BGR}, "
        "MultiLabelEncode: {gtc_encode: NRTRLabelEncode}, RecResizeImg: {image_shape: [3, 48, 96]}, "
        "KeepKeys: {keep_keys: [image]}]}"
    )
    compiled = compile_on_cpu(convert(with_settings("any", text), preprocess=True))
    for height, width in ((20, 30), (48, 96), (31, 62), (32, 500), (49, 98), (10, 1000)):
        image = cv2.GaussianBlur(picture(height, width, 1)[0], (5, 5), 2)
        in_levels(compiled(image[None])[0], recognised(image)[None])
    assert bounds(with_settings("any", text)) == openvino.PartialShape("[1..,3,48,1..]")


def test_a_model_that_begins_with_a_quantization(with_settings):
    """The means and scales of the channels stay those of the channels, whatever OpenVINO makes of a FakeQuantize."""
    folder = with_settings("any", CLASSIFICATION.replace("  - ResizeImage: {size: [40, 24]%s}\n", ""))
    model = convert(folder)
    (x,) = model.get_parameters()
    readers = x.output(0).get_target_inputs()
    low, high = np.float32(-2), np.float32(1.984375)
    quantized = ops.fake_quantize(x, low, high, low, high, 256)
    for reader in readers:
        reader.replace_source_output(quantized.output(0))
    build_in(model, read_settings(folder / "inference.yml"))
    workarounds.apply(model)
    pictures = picture()
    settings = {"INFERENCE_PRECISION_HINT": "f32", "LP_TRANSFORMS_MODE": "NO"}
    (got,) = shared_core().compile_model(model, "CPU", settings)(pictures).values()
    np.testing.assert_allclose(got, np.clip(computed(folder, pictures), low, high), atol=0.02)  # a step is 1/64


def test_short_side_and_crop(with_settings):
    """PaddleClas: the short side to 40, the middle 24 x 32 of it."""
    text = CLASSIFICATION.replace(
        "ResizeImage: {size: [40, 24]%s}", "ResizeImage: {resize_short: 40}\n  - CropImage: {size: [32, 24]}"
    )
    compiled = compile_on_cpu(convert(with_settings("any", text), preprocess=True))
    for height, width in ((37, 53), (41, 40), (80, 120), (100, 63)):
        image = cv2.GaussianBlur(picture(height, width, 1)[0], (5, 5), 2)
        scale = 40 / min(height, width)
        resized = cv2.resize(image, (round(width * scale), round(height * scale)))
        top, left = (resized.shape[0] - 24) // 2, (resized.shape[1] - 32) // 2
        in_levels(compiled(image[None])[0], normalized(resized[None, top : top + 24, left : left + 32, ::-1]))
    assert bounds(with_settings("any", text)) == openvino.PartialShape("[1..,3,24,32]")
    text = text.replace("resize_short: 40", "resize_short: 28")
    preprocessing = plan(read_settings(with_settings("any", text) / "inference.yml"))
    assert preprocessing.remaining[-1] == ("CropImage", "an image may be smaller")
    assert len(preprocessing.steps) == 2


def test_pad(with_settings):
    """YOLOX: in proportion into a square, the rest gray, no normalisation."""
    text = (
        "Preprocess:\n- {type: Resize, keep_ratio: true, target_size: [40, 40], interp: 1}\n"
        "- {type: Pad, size: [40, 48], fill_value: [114.0, 100, 90]}\n- {type: Permute}"
    )
    compiled = compile_on_cpu(convert(with_settings("any", text), preprocess=True))
    for height, width in ((37, 53), (80, 30), (40, 40)):
        image = cv2.GaussianBlur(picture(height, width, 1)[0], (5, 5), 2)
        scale = 40 / max(height, width)
        resized = cv2.resize(image, (round(width * scale), round(height * scale)))
        want = np.full((40, 48, 3), [114, 100, 90], np.float32)
        want[: resized.shape[0], : resized.shape[1]] = resized[..., ::-1]
        np.testing.assert_allclose(compiled(image[None])[0], want.transpose(2, 0, 1)[None], rtol=0, atol=1 + 1e-4)
    assert bounds(with_settings("any", text)) == openvino.PartialShape("[1..,3,40,48]")
    preprocessing = plan(
        read_settings(with_settings("any", text.replace("size: [40, 48]", "size: [32, 48]")) / "inference.yml")
    )
    assert preprocessing.remaining[-2:] == [
        ("Pad", "an image may be larger"),
        ("Permute", "comes after Pad"),
    ]


def test_pad_stride(with_settings):
    """The resize is the caller's, the padding to multiples of 32 is the model's."""
    text = DETECTION % 4
    text = text.replace("- {type: Permute}", "- {type: Permute}\n- {type: PadStride, stride: 32}")
    compiled = compile_on_cpu(convert(with_settings("any", text), preprocess=True))
    for height, width in ((37, 53), (64, 32)):
        pictures = picture(height, width)
        want = pictures[..., ::-1].astype(np.float32) * np.float32(1 / 255)
        want = ((want - MEAN) / STD).transpose(0, 3, 1, 2)
        want = np.pad(want, ((0, 0), (0, 0), (0, -height % 32), (0, -width % 32)))
        np.testing.assert_allclose(compiled(pictures)[0], want, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("interpolation", [cv2.INTER_LINEAR, cv2.INTER_CUBIC])
@pytest.mark.parametrize("file", ["infer_cfg.yml", "inference.yml"])
def test_resize_in_proportion(models, file, interpolation):
    """PaddleDetection hands OpenCV the factor, PaddleX the rounded size: the pixels are of another width."""
    with beside(models["any"], (DETECTION % interpolation).replace("keep_ratio: false", "keep_ratio: true"), file):
        compiled = compile_on_cpu(convert(models["any"], preprocess=True))
    for height, width in ((37, 53), (53, 37), (20, 90), (24, 40), (61, 64)):
        image = cv2.GaussianBlur(picture(height, width, 1)[0], (5, 5), 2)
        least, most = min(height, width), max(height, width)
        if file == "infer_cfg.yml":
            scale = 24 / least
            scale = 40 / most if np.round(scale * most) > 40 else scale
            resized = cv2.resize(image, None, None, fx=scale, fy=scale, interpolation=interpolation)
        else:
            scale = min(40 / most, 24 / least)
            resized = cv2.resize(image, (round(width * scale), round(height * scale)), interpolation=interpolation)
        want = ((resized[..., ::-1].astype(np.float32) / 255 - MEAN) / STD).transpose(2, 0, 1)
        in_levels(compiled(image[None])[0], want[None])


SEGMENTATION = """
Deploy:
  input_shape: [null, 3, null, null]
  model: model.pdmodel
  params: model.pdiparams
  output_op: argmax
  transforms:
  - {type: %s}
  - {type: Normalize, mean: [0.4], std: [0.2, 0.3, 0.4]}
"""


def segmented(one, size):
    """PaddleSeg: floats from the beginning, so that a resize gives floats."""
    resized = cv2.resize(one[..., ::-1].astype(np.float32), size[::-1]) / np.float32(255)
    resized -= 0.4
    resized /= np.array([0.2, 0.3, 0.4])
    return resized.transpose(2, 0, 1)[None]


@pytest.mark.parametrize(
    ("step", "size_of"),
    [
        ("Resize, target_size: [64, 48]", lambda h, w: (48, 64)),
        ("Resize, target_size: [60, 40], size_divisor: 32", lambda h, w: (64, 64)),
        (
            "Resize, target_size: [60, 40], keep_ratio: true",
            lambda h, w: [round(value * min(60 / max(h, w), 40 / min(h, w))) for value in (h, w)],
        ),
        ("ResizeByShort, short_size: 50", lambda h, w: [round(value * (50.0 / min(h, w))) for value in (h, w)]),
        ("ResizeByLong, long_size: 50", lambda h, w: [round(value * (50.0 / max(h, w))) for value in (h, w)]),
        ("LimitLong, max_long: 60", lambda h, w: [round(value * min(1.0, 60 / max(h, w))) for value in (h, w)]),
    ],
)
def test_segmentation(models, step, size_of):
    with beside(models["any"], SEGMENTATION % step, "deploy.yaml"):
        compiled = compile_on_cpu(convert(models["any"], preprocess=True))
    for height, width in ((37, 53), (60, 50), (100, 63), (25, 75)):
        (image,) = picture(height, width, 1)
        want = segmented(image, tuple(size_of(height, width)))
        # Both interpolate in float32; the weights are rounded once more by OpenCV: 1e-5 of 255 levels over 0.2.
        np.testing.assert_allclose(compiled(image[None])[0], want, rtol=0, atol=1e-4)


def test_deploy_yaml_names_the_model(models, tmp_path):
    program = next(models["any"].glob("*.json"))
    for name in ("model.json", "other.json"):
        shutil.copy(program, tmp_path / name)
    with pytest.raises(ModelReadError, match="holds 2 models"):
        convert(tmp_path)
    settings = SEGMENTATION.replace("model.pdmodel", "other.json") % "Resize, target_size: [64, 48]"
    (tmp_path / "deploy.yaml").write_text(settings)
    assert find_model(tmp_path).program == tmp_path / "other.json"
    (tmp_path / "model.pdiparams").write_bytes(b"")
    assert find_model(tmp_path).params == tmp_path / "model.pdiparams"


def test_segmentation_in_paddlex(with_settings):
    """An inference.yml is read by PaddleX: bytes, whose resize is rounded; keep_ratio unless told otherwise."""
    step = "Resize, target_size: [60, 40], keep_ratio: false"
    (image,) = picture(90, 70, 1)
    image = cv2.GaussianBlur(image, (7, 7), 3)
    got = computed(with_settings("any", SEGMENTATION % step), image[None])
    resized = cv2.resize(image, (64, 64))[..., ::-1].astype(np.float32)
    want = resized * np.float32(1 / 255) / [0.2, 0.3, 0.4] - 0.4 / np.array([0.2, 0.3, 0.4])
    in_levels(got, want.transpose(2, 0, 1)[None], std=0.2)
    compiled = compile_on_cpu(
        convert(with_settings("any", SEGMENTATION % "Resize, target_size: [60, 40]"), preprocess=True)
    )
    assert compiled(image[None])[0].shape == (1, 3, 64, 64)  # 51 x 40, rounded up to multiples of 32
    preprocessing = plan(read_settings(with_settings("any", SEGMENTATION % "Resize") / "inference.yml"))
    assert preprocessing.remaining == [("Resize", "no target_size")]


def test_sizes_are_those_of_double_precision():
    """Products that are whole numbers, where Python's double is below, on and above them; compared bit by bit."""
    a, n, h = (ops.parameter([-1], np.int32) for _ in range(3))
    terms = [Term(parameter) for parameter in (a, n, h)]
    scaled = sizes.scale_exactly(*terms)
    results = [
        scaled.floor(),
        scaled.ceil(),
        sizes.round_scaled(*terms),
        sizes.to_multiple(terms[0], 32),
        sizes.up_to_multiple(terms[0], 48),
    ]
    compiled = compile_on_cpu(openvino.Model([ops.result(result.value) for result in results], [a, n, h]))
    rng = np.random.default_rng(0)
    count = 60_000
    side, limit, other = (rng.integers(1, most, count) for most in (4000, 1000, 4000))
    side[::3] = (other // np.gcd(limit, other) * rng.integers(1, 30, count))[::3]  # a whole quotient
    side[1::3], limit[1::3], other[1::3] = 48, rng.integers(1, 3000, count)[1::3], rng.integers(1, 100, count)[1::3]
    fits = side * limit / other < 32_000
    values = [array[fits & (side < 32_000)].astype(np.int32) for array in (side, limit, other)]
    product = values[0].astype(np.float64) * (values[1].astype(np.float64) / values[2])
    quotient = values[0].astype(np.int64) * values[1] // values[2]
    whole = values[0].astype(np.int64) * values[1] % values[2] == 0
    assert min((whole & (product < quotient)).sum(), (whole & (product > quotient)).sum()) > 500
    want = [
        np.floor(product),
        np.ceil(product),
        np.round(product),
        np.maximum(np.round(values[0] / 32) * 32, 32),
        np.ceil(values[0] / 48) * 48,
    ]
    for got, array in zip(compiled(values).values(), want, strict=True):
        np.testing.assert_array_equal(got, array)


@pytest.mark.parametrize(
    ("word", "method"),
    [("", cv2.INTER_LINEAR), ("NEAREST", cv2.INTER_NEAREST), ("BICUBIC", cv2.INTER_CUBIC)],
)
def test_classification(with_settings, word, method):
    """RGB; a resize of bytes is within one level of OpenCV's fixed point, which is 1/255 over the least deviation."""
    folder = with_settings("any", CLASSIFICATION % (f", interpolation: {word}" if word else ""))
    pictures = picture()
    resized = np.stack([cv2.resize(picture, (40, 24), interpolation=method) for picture in pictures])
    want = normalized(resized[..., ::-1])
    level = 0 if word == "NEAREST" else 1
    np.testing.assert_allclose(computed(folder, pictures), want, rtol=0, atol=level / 255 / 0.224 + ROUNDING)


@pytest.mark.parametrize(("number", "method"), [(0, cv2.INTER_NEAREST), (1, cv2.INTER_LINEAR), (2, cv2.INTER_CUBIC)])
def test_detection(with_settings, number, method):
    folder = with_settings("fixed", DETECTION % number)
    pictures = picture(48, 50)
    resized = np.stack([cv2.resize(picture, (40, 24), interpolation=method) for picture in pictures])[..., ::-1]
    want = resized.astype(np.float32)
    want *= 1.0 / 255.0
    want -= MEAN
    want /= STD
    level = 0 if number == 0 else 1
    np.testing.assert_allclose(
        computed(folder, pictures), want.transpose(0, 3, 1, 2), rtol=0, atol=level / 255 / 0.224 + ROUNDING
    )


def test_bounds(with_settings, models):
    folder = with_settings("any", TEXT_DETECTION)
    assert bounds(folder) == openvino.PartialShape("[1,3,32..4000,32..4000]")
    assert bounds(folder, input={"x": [1, 3, 64, 64]}) == openvino.PartialShape([1, 3, 64, 64])  # the caller knows
    open_here = {"x": [2, 3, -1, (32, 64)]}
    assert bounds(folder, input=open_here) == openvino.PartialShape("[2,3,32..4000,32..64]")
    (port,) = convert(folder, bounded=True, input={"x": np.float16}).inputs
    assert port.get_element_type() == openvino.Type.f16
    assert port.get_partial_shape() == openvino.PartialShape("[1,3,32..4000,32..4000]")
    folder = with_settings("any", DETECTION % 2)
    assert bounds(folder) == openvino.PartialShape("[1..,3,24,40]")


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("image_shape: [3, 320, 480]", "[1..,3,320,480]"),
        ("image_shape: [2, 3, 320, -1]", "[2,3,320,1..]"),
        ("Deploy: {input_shape: [null, 3, 512, 512], transforms: []}", "[1..,3,512,512]"),
        ("image_shape: [3, 320, 480]\nmin_subgraph_size: 3\nPreprocess: [{type: Permute}]", "[1..,3,320,480]"),
        (
            "Hpi: {backend_config: {tensorrt: {dynamic_shapes: {x: [[1, 3, 8, 8], [1, 3, 9, 9], [2, 3, 9, 9]]}}}}",
            "[1..2,3,8..9,8..9]",
        ),
    ],
)
def test_bounds_of_a_declared_shape(with_settings, text, shape):
    assert bounds(with_settings("any", text)) == openvino.PartialShape(shape)


def test_backends_that_differ_are_joined(tmp_path):
    path = tmp_path / "inference.yml"
    path.write_text(
        "Hpi: {backend_configs: {a: {dynamic_shapes: {x: [[1, 8], [2, 8], [4, 8]]}}, "
        "b: {trt_dynamic_shapes: {x: [[2, 4], [2, 8], [3, 9]]}}, c: null}}"
    )
    assert read_settings(path).shapes == {"x": ([1, 4], [4, 9])}


def test_what_cannot_be_built_in(with_settings, models):
    folder = with_settings("any", "PreProcess: {transform_ops: [RecResizeImg: {image_shape: [1, 48, 320]}]}")
    with pytest.raises(ConversionInputError, match=r"RecResizeImg: image_shape has not three channels"):
        convert(folder, preprocess=True)
    with pytest.raises(ConversionInputError, match="no shapes of the inputs"):
        convert(folder, bounded=True)
    boxed = (DETECTION % 1).replace("- {type: Permute}", "- {type: Permute}\n- {type: MultiscaleTestResize}")
    with pytest.raises(ConversionInputError, match="Resize: comes before MultiscaleTestResize"):
        convert(with_settings("any", boxed), preprocess=True)
    with pytest.raises(ConversionInputError, match=r"of any size, the input 'x' takes 24: leave it open in `input`"):
        convert(with_settings("fixed", TEXT_DETECTION), preprocess=True)
    with pytest.raises(ConversionInputError, match=r"0 inputs of shape \[N, 3, H, W\]"):
        convert(with_settings("flat", DETECTION % 1), preprocess=True)
    (models["flat"] / "inference.yml").unlink()
    with pytest.raises(ConversionInputError, match=r"holds no settings of the model .* or leave these out"):
        convert(models["flat"], preprocess=True)
    with pytest.raises(ConversionInputError, match="a model in files"):
        convert(read_program(models["flat"]), bounded=True)


def test_steps_after_a_float_picture_are_the_callers(tmp_path):
    """What follows a normalisation that stays outside would take its floats for bytes."""
    path = tmp_path / "inference.yml"
    path.write_text(CLASSIFICATION.replace("channel_num: 3", "channel_num: 6") % "")
    preprocessing = plan(read_settings(path))
    assert preprocessing.steps == []
    assert [name for name, _ in preprocessing.remaining] == ["ResizeImage", "NormalizeImage", "ToCHWImage"]
    assert "channel_num" in preprocessing.describe()


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)
)
SHAPES = "Hpi: {{backend_configs: {{paddle_infer: {{trt_dynamic_shapes: {}}}}}}}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "aliases amount to more than"),
        ("Preprocess: [&a {type: Permute}" + ", *a" * 100 + "]", "has more than 100 transforms"),
        ("a: &a [*a]", "contains itself"),
        ("[" * 200 + "]" * 200, "nested more than 50 deep"),
        ("a: [1, 2", "expected"),
        ("a: !!python/object/apply:os.system [ls]", "could not determine a constructor"),
        ("a: !!timestamp x", "a value is not what its tag says"),
        ("!!timestamp x: 1", "a value is not what its tag says"),
        ("a: !!int x", "invalid literal"),
        ("\x00", "unacceptable|not allowed"),
        ("[1, 2]", "Expected `object`"),
        ("Hpi: 3", r"Expected `object.*Hpi"),
        (SHAPES.format("{x: 3}"), "Expected `array"),
        (SHAPES.format("{x: [[1, 3]]}"), r"are not \[min, opt, max\]"),
        (SHAPES.format("{x: [[1, 3], [1, 3], [1]]}"), "different ranks"),
        (SHAPES.format("{x: [[1, 9], [1, 3], [1, 3]]}"), "do not grow from min to opt to max"),
        (SHAPES.format("{x: [[0, 3], [1, 3], [1, 3]]}"), ">= 1"),
        (SHAPES.format("{x: [[1, 3], [1, 3], [1, 99999999999]]}"), "<= 2147483647"),
        (SHAPES.format("{x: [[1, 3], [1, 3], [1, 1.5]]}"), "Expected `int`"),
        (SHAPES.format("{y: [[1, 3], [1, 3], [1, 3]]}"), "the program has no input 'y'"),
        (SHAPES.format("{x: [[1, 3], [1, 3], [1, 3]]}"), "2 dimensions there, 4 in the program"),
        (SHAPES.format("{x: [[1, 4, 8, 8], [1, 4, 8, 8], [1, 4, 8, 8]]}"), "dimension 1 of 'x' is 4 to 4 there, 3"),
    ],
)
def test_hostile_shapes(with_settings, text, message):
    with pytest.raises(ModelReadError, match=message):
        convert(with_settings("any", text), bounded=True)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("{type: Resize, target_size: [0, 8]}", "target_size is not a size"),
        ("{type: Resize, target_size: [99999999, 8]}", "target_size is not a size"),
        ("{type: Resize}", "target_size is not a size"),
        ("{type: [1]}", "has no type"),
        ("{type: NormalizeImage, mean: [1, 2]}", "mean is not three numbers"),
        ("{type: NormalizeImage, mean: [.nan, 1, 2]}", "mean is not three numbers"),
        ("{type: NormalizeImage, std: [0, 1, 2]}", "std holds 0"),
        ("{type: NormalizeImage, norm_type: strange}", "norm_type 'strange' is not known"),
        ("{type: DecodeImage, img_mode: GRAY}", "not one of RGB, BGR"),
        ("{type: NormalizeImage}", "does not end in channels first"),
        ("{type: Permute}, {type: PadStride, stride: x}", "PadStride: stride is not a number of pixels"),
        ("{type: DetResizeForTest, limit_side_len: 0}", "limit_side_len is not a number of pixels"),
        ("{type: DetResizeForTest, limit_type: widest}", "not one of min, max, resize_long"),
        ("{type: RecResizeImg, image_shape: [3, 48]}", r"image_shape is not \[3, H, W\]"),
        ("{type: ResizeByShort, short_size: -4}", "short_size is not a number of pixels"),
        ("{type: NormalizeImage, is_scale: 'no'}", "is_scale is neither true nor false"),
        ("{type: LimitLong, min_long: 9, max_long: 4}", "min_long is larger than max_long"),
    ],
)
def test_hostile_transforms(with_settings, step, message):
    with pytest.raises(ModelReadError, match=message):
        convert(with_settings("any", f"Preprocess: [{step}]"), preprocess=True)


def test_a_name_of_any_length(with_settings):
    with pytest.raises(ConversionInputError) as caught:
        convert(with_settings("any", f"Preprocess: [{{type: {'a' * 100_000}}}]"), preprocess=True)
    assert len(str(caught.value)) < 1000


def test_a_scale_is_no_program(with_settings):
    text = TEXT_DETECTION.replace("1./255.", "__import__('os').abort()")
    with pytest.raises(ModelReadError, match="the scale is not a number"):
        convert(with_settings("any", text), preprocess=True)
