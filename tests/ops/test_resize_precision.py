"""Sizes and elements of resizes whose dimensions are not known, where OpenVINO computes in bfloat16."""

import numpy as np
import pytest

from gen_models.harness.spec import paddle
from tests.support.models import saved_request
from tests.support.processor import NEEDS_BFLOAT16


@NEEDS_BFLOAT16
@pytest.mark.parametrize(
    "told",
    [
        {"scale_factor": 1.5, "mode": "nearest"},
        {"scale_factor": 0.37, "mode": "nearest"},
        {"size": [299, 401], "mode": "nearest"},
        {"scale_factor": 2, "mode": "bilinear", "align_corners": True},
        {"scale_factor": 1.3, "mode": "bilinear"},
    ],
    ids=str,
)
def test_sizes_and_elements(told, tmp_path):
    """Between two convolutions, whose inputs and results are rounded; bytes have no more than 8 bits."""

    def network(x):
        same = paddle.eye(3).reshape([3, 3, 1, 1])
        resized = paddle.nn.functional.interpolate(paddle.nn.functional.conv2d(x, same), **told)
        return paddle.nn.functional.conv2d(resized, same)

    request = saved_request(tmp_path, network, "bf16", x=[-1, 3, -1, -1])
    for height, width in ((333, 517), (300, 259)):
        picture = np.random.default_rng(1).integers(0, 256, (1, 3, height, width)).astype(np.float32)
        wanted = network(paddle.to_tensor(picture)).numpy()
        (actual,) = request.infer([picture]).values()
        assert actual.shape == wanted.shape
        np.testing.assert_allclose(actual, wanted, rtol=0, atol=0.6 if told["mode"] == "bilinear" else 0)


@NEEDS_BFLOAT16
@pytest.mark.parametrize("length", [4, -1])
def test_what_follows_a_resize_of_one_axis(length, tmp_path):
    class Upsampling(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = paddle.nn.Linear(8, 5)

        def forward(self, x):
            larger = paddle.nn.functional.interpolate(x, size=[8], mode="linear", data_format="NCW")
            return self.linear(paddle.nn.functional.relu(larger) * 0.5)

    paddle.seed(0)
    network = Upsampling()
    data = np.random.default_rng(1).standard_normal((2, 3, 4)).astype(np.float32)
    wanted = network(paddle.to_tensor(data)).numpy()
    (actual,) = saved_request(tmp_path, network, "bf16", x=[-1, 3, length]).infer([data]).values()
    np.testing.assert_allclose(actual, wanted, rtol=0, atol=0.03)
