"""`verify --image`: pictures become inputs as the settings beside the model say; else it is said what is missing."""

import sys

import cv2
import numpy as np
import pytest

from paddle2ov import ConversionInputError, read_program
from paddle2ov.inputs.pictures import image_inputs
from tests.support.command_line import call
from tests.support.models import network

DETECTION = """
Preprocess:
- {interp: 1, keep_ratio: %s, target_size: [64, 96], type: Resize}
- {is_scale: true, mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5], type: NormalizeImage}
- {type: Permute}
"""


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    path = tmp_path_factory.mktemp("pictures") / "pïcture.png"
    pixels = cv2.GaussianBlur(np.random.default_rng(3).integers(0, 256, (50, 70, 3), np.uint8), (7, 7), 3)
    path.write_bytes(cv2.imencode(".png", pixels)[1].tobytes())
    return path


def model(name, folder, text):
    """A model with these settings beside it."""
    for file in network(name).iterdir():
        (folder / file.name).symlink_to(file)
    if text:
        (folder / "inference.yml").write_text(text)
    return folder


def test_a_detector(picture, tmp_path):
    folder = model("ppyolo", tmp_path, DETECTION % "false")
    (inputs,) = image_inputs(read_program(folder), folder, [picture])
    pixels = cv2.imdecode(np.fromfile(picture, np.uint8), cv2.IMREAD_COLOR)
    want = (cv2.resize(pixels, (96, 64))[..., ::-1].astype(np.float32) / 255 - 0.5) / 0.5
    np.testing.assert_allclose(inputs["image"], want.transpose(2, 0, 1)[None], atol=2 / 255 + 1e-6)
    np.testing.assert_array_equal(inputs["im_shape"], np.array([[64, 96]], np.float32))
    np.testing.assert_array_equal(inputs["scale_factor"], np.array([[64 / 50, 96 / 70]], np.float32))
    result = call("verify", folder, "--image", picture)
    assert result.exit_code == 0, result.output
    assert "image [1, 3, 64, 96], im_shape [1, 2], scale_factor [1, 2]" in result.stdout


LETTER_BOX = DETECTION.replace("type: Resize", "type: LetterBoxResize")


@pytest.mark.parametrize(
    ("text", "file", "scales"),
    [
        (DETECTION + "- {type: PadStride, stride: 32}", "inference.yml", [64 / 50, 90 / 70]),
        (DETECTION + "- {type: PadStride, stride: 32}", "infer_cfg.yml", [64 / 50, 64 / 50]),
        (LETTER_BOX, "inference.yml", [64 / 50, 64 / 50]),
    ],
)
def test_a_resize_in_proportion(picture, tmp_path, text, file, scales):
    folder = model("ppyolo", tmp_path, text % "true")
    (folder / "inference.yml").rename(folder / file)
    (inputs,) = image_inputs(read_program(folder), folder, [picture])
    assert inputs["image"].shape == (1, 3, 64, 96)
    np.testing.assert_array_equal(inputs["im_shape"], np.array([[64, 90]], np.float32))
    np.testing.assert_array_equal(inputs["scale_factor"], np.array([scales], np.float32))


def test_a_size_that_the_model_does_not_take(picture, tmp_path):
    folder = model("picodet_fixed", tmp_path, DETECTION.replace("96", "64") % "false")
    with pytest.raises(ConversionInputError, match=r"pictures: prepared as .*inference\.yml says: .* \[1, 3, 64, 64\]"):
        image_inputs(read_program(folder), folder, [picture])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("ppyolo", "", r"holds no settings \(inference.yml, .*--inputs"),
        (
            "ppyolo",
            DETECTION.replace("type: Resize", "type: TableResize") % "true",
            r"cannot be done here \(TableResize: its size .*--inputs",
        ),
        ("ppyolo", "Global: {model_name: PP-YOLO}", "describes no preprocessing of pictures"),
        (
            "bert",
            DETECTION % "false",
            r"pictures: they are for a model with one .* this one has .* int64 \[.*: prepare the inputs yourself",
        ),
    ],
)
def test_what_is_missing(picture, tmp_path, name, text, message):
    folder = model(name, tmp_path, text)
    with pytest.raises(ConversionInputError, match=message):
        image_inputs(read_program(folder), folder, [picture])


def test_no_picture(picture, tmp_path, monkeypatch):
    folder = model("ppyolo", tmp_path, DETECTION % "false")
    program = read_program(folder)
    (tmp_path / "text.png").write_text("no picture")
    with pytest.raises(ConversionInputError, match=r"text.png is not a picture that OpenCV reads"):
        image_inputs(program, folder, [tmp_path / "text.png"])
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(ConversionInputError, match=r"pip install '.\[image\]'"):
        image_inputs(program, folder, [picture])
