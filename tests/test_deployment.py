"""`inference.yml`: bounds of dynamic inputs, preprocessing against cv2 and NumPy, malformed files."""

import cv2
import numpy as np
import openvino
import pytest

from gen_models.spec import paddle
from paddle2ov import ConversionInputError, ModelReadError, convert, read_program
from paddle2ov.deployment.preprocessing import describe, plan
from paddle2ov.deployment.settings import read_settings
from paddle2ov.testing import compile_model

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
    found = {}
    paddle.enable_static()
    try:
        for name, shape in (("any", [-1, 3, -1, -1]), ("fixed", [-1, 3, 24, 40]), ("flat", [-1, 8])):
            main, startup = paddle.static.Program(), paddle.static.Program()
            with paddle.static.program_guard(main, startup):
                x = paddle.static.data("x", shape, "float32")
                y = paddle.nn.functional.relu(x) - paddle.nn.functional.relu(-x)
                executor = paddle.static.Executor(paddle.CPUPlace())
                folder = tmp_path_factory.mktemp(name)
                paddle.static.save_inference_model(str(folder / "inference"), [x], [y], executor, program=main)
            found[name] = folder
    finally:
        paddle.disable_static()
    return found


@pytest.fixture
def with_settings(models):
    """`with_settings(model, text)`: the model's folder, with that inference.yml; taken away afterwards."""
    written = []

    def write(name, text):
        path = models[name] / "inference.yml"
        path.write_text(text)
        written.append(path)
        return models[name]

    yield write
    for path in written:
        path.unlink(missing_ok=True)


def picture(height=37, width=53, count=2):
    """Bytes, and the extremes among them."""
    return np.random.default_rng(5).integers(0, 256, (count, height, width, 3), np.uint8)


def computed(folder, pictures):
    model = convert(folder, preprocess=True)
    assert model.inputs[0].get_names() == {"x"}
    assert model.inputs[0].get_element_type() == openvino.Type.u8
    return compile_model(model)(pictures)[0]


def normalized(rgb):
    """PaddleX's and PaddleOCR's NormalizeImage: alpha and beta in double, the picture in float32."""
    out = rgb.astype(np.float32)
    for channel in range(3):
        out[..., channel] *= (1 / 255) / STD[channel]
        out[..., channel] += -MEAN[channel] / STD[channel]
    return out.transpose(0, 3, 1, 2)


def test_text_detection(with_settings, caplog):
    """The resize is the caller's, bytes stay in cv2's order; floats within their roundings."""
    folder = with_settings("any", TEXT_DETECTION)
    pictures = picture(32, 64)
    np.testing.assert_allclose(computed(folder, pictures), normalized(pictures), rtol=0, atol=ROUNDING)
    assert "yours: DetResizeForTest (its size depends on the picture)" in caplog.text


@pytest.mark.parametrize(
    ("word", "method"),
    [("", cv2.INTER_LINEAR), ("NEAREST", cv2.INTER_NEAREST), ("BICUBIC", cv2.INTER_CUBIC)],
)
def test_classification(with_settings, word, method):
    """RGB; a resize of bytes is within one level of OpenCV's fixed point, which is 1/255 over the least deviation."""
    folder = with_settings("any", CLASSIFICATION % (f", interpolation: {word}" if word else ""))
    pictures = picture()
    resized = np.stack([cv2.resize(one, (40, 24), interpolation=method) for one in pictures])
    want = normalized(resized[..., ::-1])
    level = 0 if word == "NEAREST" else 1
    np.testing.assert_allclose(computed(folder, pictures), want, rtol=0, atol=level / 255 / 0.224 + ROUNDING)


@pytest.mark.parametrize(("number", "method"), [(0, cv2.INTER_NEAREST), (1, cv2.INTER_LINEAR), (2, cv2.INTER_CUBIC)])
def test_detection(with_settings, number, method):
    folder = with_settings("fixed", DETECTION % number)
    pictures = picture(48, 50)
    resized = np.stack([cv2.resize(one, (40, 24), interpolation=method) for one in pictures])[..., ::-1]
    want = resized.astype(np.float32)
    want *= 1.0 / 255.0
    want -= MEAN
    want /= STD
    level = 0 if number == 0 else 1
    np.testing.assert_allclose(
        computed(folder, pictures), want.transpose(0, 3, 1, 2), rtol=0, atol=level / 255 / 0.224 + ROUNDING
    )


def test_resizes_are_mostly_the_same_byte(with_settings):
    """The share of bytes that differ by their one level is small: a wrong grid would differ nearly everywhere."""
    folder = with_settings("any", CLASSIFICATION % "")
    smooth = cv2.GaussianBlur(picture(90, 70, 1)[0], (9, 9), 4)
    want = normalized(cv2.resize(smooth, (40, 24))[None, ..., ::-1])
    differs = np.abs(computed(folder, smooth[None]) - want) > 1e-5
    assert differs.mean() < 0.2


def test_bounds(with_settings, models):
    folder = with_settings("any", TEXT_DETECTION)
    (port,) = convert(folder, bounded=True).inputs
    assert port.get_partial_shape() == openvino.PartialShape("[1,3,32..4000,32..4000]")
    (port,) = convert(folder, bounded=True, input={"x": [1, 3, 64, 64]}).inputs  # the caller knows better
    assert port.get_partial_shape() == openvino.PartialShape([1, 3, 64, 64])
    folder = with_settings("any", DETECTION % 2)
    (port,) = convert(folder, bounded=True).inputs
    assert port.get_partial_shape() == openvino.PartialShape("[1..,3,24,40]")


def test_backends_that_differ_are_joined(tmp_path):
    path = tmp_path / "inference.yml"
    path.write_text(
        "Hpi: {backend_configs: {a: {dynamic_shapes: {x: [[1, 8], [2, 8], [4, 8]]}}, "
        "b: {trt_dynamic_shapes: {x: [[2, 4], [2, 8], [3, 9]]}}, c: null}}"
    )
    assert read_settings(path).shapes == {"x": ([1, 4], [4, 9])}


def test_what_cannot_be_built_in(with_settings, models):
    folder = with_settings("any", "PreProcess: {transform_ops: [RecResizeImg: {image_shape: [3, 48, 320]}]}")
    with pytest.raises(ConversionInputError, match=r"RecResizeImg: its size depends on the picture"):
        convert(folder, preprocess=True)
    with pytest.raises(ConversionInputError, match="no shapes of the inputs"):
        convert(folder, bounded=True)
    padded = DETECTION % 1 + ""
    padded = padded.replace("- {type: Permute}", "- {type: Permute}\n- {type: PadStride, stride: 32}")
    with pytest.raises(ConversionInputError, match=r"Resize|resize: comes before PadStride"):
        convert(with_settings("any", padded), preprocess=True)
    with pytest.raises(ConversionInputError, match=r"0 inputs of shape \[N, 3, H, W\]"):
        convert(with_settings("flat", DETECTION % 1), preprocess=True)
    (models["flat"] / "inference.yml").unlink()
    with pytest.raises(ConversionInputError, match="holds no settings of the model"):
        convert(models["flat"], preprocess=True)
    with pytest.raises(ConversionInputError, match="a model in files"):
        convert(read_program(models["flat"]), bounded=True)


def test_steps_after_a_float_picture_are_the_callers(tmp_path):
    """What follows a normalisation that stays outside would take its floats for bytes."""
    path = tmp_path / "inference.yml"
    path.write_text(CLASSIFICATION.replace("channel_num: 3", "channel_num: 6") % "")
    found = plan(read_settings(path))
    assert found.steps == []
    assert [name for name, _ in found.remaining] == ["resize", "NormalizeImage", "ToCHWImage"]
    assert "channel_num" in describe(found)


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)
)
SHAPES = "Hpi: {{backend_configs: {{paddle_infer: {{trt_dynamic_shapes: {}}}}}}}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "aliases amount to more than"),
        ("a: &a [*a]", "contains itself"),
        ("[" * 200 + "]" * 200, "nested more than 50 deep"),
        ("a: [1, 2", "expected"),
        ("a: !!python/object/apply:os.system [ls]", "could not determine a constructor"),
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
        ("{type: DecodeImage, img_mode: GRAY}", "none of RGB, BGR"),
        ("{type: NormalizeImage}", "does not end in channels first"),
    ],
)
def test_hostile_transforms(with_settings, step, message):
    with pytest.raises(ModelReadError, match=message):
        convert(with_settings("any", f"Preprocess: [{step}]"), preprocess=True)


def test_a_scale_is_no_program(with_settings):
    text = TEXT_DETECTION.replace("1./255.", "__import__('os').abort()")
    with pytest.raises(ModelReadError, match="the scale is not a number"):
        convert(with_settings("any", text), preprocess=True)
