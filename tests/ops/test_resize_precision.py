"""Sizes and elements of resizes whose dimensions are not known, where OpenVINO computes in bfloat16."""

import numpy as np
import pytest

import paddle2ov
from gen_models.harness.spec import paddle
from paddle2ov.testing import compile_model
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
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", [-1, 3, -1, -1], "float32")
            same = paddle.assign(np.eye(3, dtype=np.float32).reshape(3, 3, 1, 1))
            before = paddle.nn.functional.conv2d(x, same)
            y = paddle.nn.functional.conv2d(paddle.nn.functional.interpolate(before, **told), same)
            executor = paddle.static.Executor(paddle.CPUPlace())
            paddle.static.save_inference_model(str(tmp_path / "inference"), [x], [y], executor, program=main)
        compiled = compile_model(paddle2ov.convert(tmp_path), "bf16")
        for height, width in ((333, 517), (300, 259)):
            picture = np.random.default_rng(1).integers(0, 256, (1, 3, height, width)).astype(np.float32)
            (wanted,) = executor.run(main, feed={"x": picture}, fetch_list=[y])
            found = compiled(picture)[0]
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, rtol=0, atol=0.6 if told["mode"] == "bilinear" else 0)
    finally:
        paddle.disable_static()
