"""`im_shape` and `scale_factor` of PaddleDetection's models, computed where the preprocessing is built in."""

import numpy as np
import pytest

from gen_models.harness.spec import paddle
from paddle2ov import convert
from paddle2ov.compilation.running import compile_on_cpu
from tests.support.models import save_program
from tests.support.settings import beside

SETTINGS = """
mode: paddle
Preprocess:
- %s
- {is_scale: true, mean: [0, 0, 0], std: [1, 1, 1], type: NormalizeImage}
- {type: Permute}
- {type: PadStride, stride: 32}
label_list: [face]
"""
RESIZE = "{interp: 1, keep_ratio: %s, target_size: [24, 40], type: Resize}"
SIZES = ((37, 53), (53, 37), (20, 90), (24, 40), (61, 64))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of an image, whose results are the sizes that it is given."""

    def sizes(*inputs):
        return [paddle.abs(inputs[i]) for i in (1, 0, 2)]

    inputs = {"im_shape": [-1, 2], "image": [-1, 3, -1, -1], "scale_factor": [-1, 2]}
    return save_program(tmp_path_factory.mktemp("detector"), sizes, **inputs)


def in_paddlex(height, width, keeps_ratio):
    """`Resize` of `paddlex/inference/models`: the scales are those of the sizes, which are rounded."""
    size = 24, 40
    if keeps_ratio:
        scale = min(40 / max(height, width), 24 / min(height, width))
        size = round(height * scale), round(width * scale)
    return size, (size[0] / height, size[1] / width)


def in_paddle_detection(height, width, keeps_ratio):
    """`Resize` of `deploy/python/preprocess.py`: the scale is that of the side that decides."""
    if not keeps_ratio:
        return (24, 40), (24 / height, 40 / width)
    scale = 24 / min(height, width)
    if np.round(scale * max(height, width)) > 40:
        scale = 40 / max(height, width)
    return (np.round(height * scale), np.round(width * scale)), (scale, scale)


def in_letter_box(height, width, _):
    ratio = min(24 / height, 40 / width)
    return (round(height * ratio), round(width * ratio)), (ratio, ratio)


@pytest.mark.parametrize(
    ("file", "step", "reference", "keeps_ratio"),
    [
        ("inference.yml", RESIZE % "false", in_paddlex, False),
        ("inference.yml", RESIZE % "true", in_paddlex, True),
        ("infer_cfg.yml", RESIZE % "false", in_paddle_detection, False),
        ("infer_cfg.yml", RESIZE % "true", in_paddle_detection, True),
        ("infer_cfg.yml", "{type: LetterBoxResize, target_size: [24, 40]}", in_letter_box, True),
    ],
    ids=["PaddleX", "PaddleX-ratio", "PaddleDetection", "PaddleDetection-ratio", "letter-box"],
)
def test_sizes_are_those_of_the_preprocessing(folder, file, step, reference, keeps_ratio):
    with beside(folder, SETTINGS % step, file):
        model = convert(folder, preprocess=True)
    assert [port.get_any_name() for port in model.inputs] == ["image"]
    told = model.get_rt_info(["paddle2ov", "preprocessing"]).astype(str)
    assert told.endswith("im_shape, scale_factor")
    compiled = compile_on_cpu(model)
    for height, width in SIZES:
        image, shape, scale = compiled(np.zeros([2, height, width, 3], np.uint8)).values()
        want_shape, want_scale = reference(height, width, keeps_ratio)
        np.testing.assert_array_equal(shape, np.array([want_shape] * 2, np.float32))
        np.testing.assert_allclose(scale, np.array([want_scale] * 2), rtol=1e-7)
        assert image.shape[2] % 32 == image.shape[3] % 32 == 0


def test_sizes_stay_inputs_where_a_part_is_the_callers(folder):
    with beside(folder, SETTINGS % (RESIZE % "false").replace("interp: 1", "interp: 4")):
        model = convert(folder, preprocess=True)
    assert [port.get_any_name() for port in model.inputs] == ["im_shape", "image", "scale_factor"]
