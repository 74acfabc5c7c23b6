"""Windows that are put together by moves or sums, where OpenVINO's own Col2Im takes several times as long."""

import numpy as np
import pytest

from gen_models.harness.spec import paddle
from paddle2ov import convert
from tests.support.one_operator import program, run
from tests.support.passes_checks import kinds


def attributes(size, kernel, stride, padding, dilation=1):
    pairs = {"output_sizes": size, "kernel_sizes": kernel, "strides": stride, "dilations": dilation}
    return {name: [value] * 2 if isinstance(value, int) else value for name, value in pairs.items()} | {
        "paddings": [padding] * 4
    }


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "padding", "dilation", "nodes"),
    [
        ([6, 8], [3, 2], [3, 2], 0, 1, {"Transpose": 1}),
        ([5, 7], [3, 3], 1, 1, 1, {"Pad": 6, "Add": 4}),
        ([5, 7], [1, 2], 1, 0, 1, {"Pad": 2, "Add": 1}),
        ([6, 8], [3, 3], 2, 1, 1, {"Col2Im": 1}),
        ([7, 8], [3, 2], [3, 2], 0, 1, {"Col2Im": 1}),  # a row is left over
        ([6, 8], [2, 2], 2, 1, 1, {"Col2Im": 1}),
        ([6, 8], [2, 2], 1, 0, 2, {"Col2Im": 1}),
        ([34, 2], [33, 1], 1, 0, 1, {"Col2Im": 1}),  # many shifts
    ],
)
def test_fold(size, kernel, stride, padding, dilation, nodes):
    paddle.disable_static()
    image = paddle.rand([2, 3, *size])
    windows = paddle.nn.functional.unfold(image, kernel, stride, padding, dilation)
    wanted = paddle.nn.functional.fold(windows, size, kernel, stride, padding, dilation).numpy()
    given = attributes(size, kernel, stride, padding, dilation)
    np.testing.assert_allclose(run("fold", {"x": windows.numpy()}, given)[0], wanted, rtol=1e-6)
    left = kinds(convert(program("fold", {"x": windows.numpy()}, given)[0], rewrite=False))
    assert {name: left[name] for name in ("Transpose", "Pad", "Add", "Col2Im") if left[name]} == nodes


@pytest.mark.parametrize(("count", "stride"), [(6, 2), (15, 1)])
def test_no_images(count, stride):
    (out,) = run("fold", {"x": np.zeros([0, 12, count], np.float32)}, attributes([4, 6], [2, 2], stride, 0))
    assert out.shape == (0, 3, 4, 6)
