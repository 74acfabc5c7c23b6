"""Preprocessing where OpenVINO computes in bfloat16, as it does by default on processors that have it.

What it computes in float32 the other tests compare with OpenCV and Pillow. Here a convolution stands behind it: only
before one are results rounded to bfloat16.
"""

import json

import numpy as np
import pytest

from gen_models.harness.spec import paddle
from paddle2ov import convert
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.deployment.planning import _MAKERS
from tests.support.models import save_program
from tests.support.processor import NEEDS_BFLOAT16
from tests.support.settings import beside

LEVEL = 1 / 255 / 0.25  # of what comes out, (x / 255 - 0.5) / 0.25
SIZES = ((333, 517), (121, 120))

DETECTION = [
    {"type": "EvalAffine", "size": 77},
    {"type": "LetterBoxResize", "target_size": [97, 131]},
    {"type": "Resize", "keep_ratio": True, "target_size": [215, 363], "interp": 1},
    {"type": "Resize", "keep_ratio": True, "target_size": [215, 363], "interp": 2},
    {"type": "Resize", "keep_ratio": False, "target_size": [97, 131], "interp": 0},
    {"type": "Resize", "keep_ratio": False, "target_size": [97, 131], "interp": 2},
    {"type": "Resize", "keep_ratio": False, "target_size": [19, 31], "interp": 3},
    {"type": "TopDownEvalAffine", "trainsize": [96, 128]},
    {"type": "TopDownEvalAffine", "trainsize": [96, 128], "use_udp": True},
    {"type": "WarpAffine", "keep_res": False, "input_h": 97, "input_w": 131},
    {"type": "WarpAffine", "keep_res": True},
    [{"type": "Resize", "keep_ratio": False, "target_size": [97, 131]}, {"type": "Pad", "size": [128, 160]}],
    [{"type": "Permute"}, {"type": "PadStride", "stride": 32}],
]
COMMON = [
    {"DetResizeForTest": {"limit_side_len": 299, "limit_type": "min"}},
    {"DetResizeForTest": {"limit_side_len": 299, "limit_type": "max"}},
    {"DetResizeForTest": {"resize_long": 299}},
    {"DetResizeForTest": {"image_shape": [97, 131]}},
    {"DetResizeForTest": {"image_shape": [97, 131], "keep_ratio": True}},
    {"LimitLong": {"max_long": 299}},
    {"Resize": {"target_size": [131, 97], "keep_ratio": True}},
    {"ResizeByLong": {"target_long_edge": 299}},
    {"ResizeByShort": {"target_short_edge": 299}},
    [{"ResizeImage": {"resize_short": 121}}, {"CropImage": {"size": 99}}],
    *({"ResizeImage": {"size": [131, 97], "backend": "pil", "interpolation": name}} for name in ("bicubic", "lanczos")),
    {"RecResizeImg": {"image_shape": [3, 48, 320]}},
]


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """A convolution of any picture that changes nothing."""

    def convolution(x):
        return paddle.nn.functional.conv2d(x, paddle.assign(np.eye(3, dtype=np.float32).reshape(3, 3, 1, 1)))

    return save_program(tmp_path_factory.mktemp("convolution"), convolution, x=[-1, 3, -1, -1])


def in_both(network, file, settings):
    """The pictures of 0 to 255 in float32 and in bfloat16, each with the normalisation taken back."""
    with beside(network, json.dumps(settings), file):
        model = convert(network, preprocess=True)
    assert "yours" not in str(model.get_rt_info(["paddle2ov", "preprocessing"]))
    both = [compile_on_cpu(model, precision) for precision in ("f32", "bf16")]
    # Lines, a ramp and noise: a place that is off shows.
    for height, width in SIZES:
        picture = np.random.default_rng(3).integers(0, 256, (1, height, width, 3), np.uint8)
        picture[..., 0] = np.linspace(0, 255, width)
        picture[..., 1] = np.add.outer(np.arange(height) // 4, np.arange(width) // 4) % 2 * 255
        yield [compiled(picture)[0] for compiled in both]


def check(network, file, settings):
    for wanted, actual in in_both(network, file, settings):
        assert actual.shape == wanted.shape
        # One level by interpolation, one by the 8 bits of what the network takes.
        np.testing.assert_allclose(actual, wanted, rtol=0, atol=2 * LEVEL)
        assert np.abs(actual - wanted).mean() < 0.4 * LEVEL


@NEEDS_BFLOAT16
@pytest.mark.parametrize("step", DETECTION, ids=json.dumps)
def test_detection(network, step):
    normalize = {"type": "NormalizeImage", "mean": [0.5, 0.5, 0.5], "std": [0.25, 0.25, 0.25]}
    steps = step if isinstance(step, list) else [step]
    is_last = steps[0]["type"] == "Permute"
    whole = [normalize, *steps] if is_last else [*steps, normalize, {"type": "Permute"}]
    check(network, "infer_cfg.yml", {"Preprocess": whole})


@NEEDS_BFLOAT16
@pytest.mark.parametrize("step", COMMON, ids=json.dumps)
def test_common(network, step):
    steps = step if isinstance(step, list) else [step]
    if "RecResizeImg" not in steps[0]:
        normalize = {"mean": [0.5, 0.5, 0.5], "std": [0.25, 0.25, 0.25]}
        steps = [*steps, {"NormalizeImage": normalize}, {"ToCHWImage": None}]
    check(network, "inference.yml", {"PreProcess": {"transform_ops": steps}})


@NEEDS_BFLOAT16
def test_segmentation(network):
    """Pictures are floats before they are resized: so they are rounded."""
    steps = [{"type": "Resize", "target_size": [40, 24], "interp": "AREA"}, {"type": "Normalize"}]
    check(network, "deploy.yaml", {"Deploy": {"transforms": steps}})


def test_every_step_is_here():
    told = {item["type"] for step in DETECTION for item in (step if isinstance(step, list) else [step])}
    told |= {name for step in COMMON for item in (step if isinstance(step, list) else [step]) for name in item}
    assert told - {"Permute"} == set(_MAKERS)
