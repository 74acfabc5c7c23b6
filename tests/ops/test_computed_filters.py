"""Convolutions by filters whose shape only the run knows, beside Paddle."""

import numpy as np
import pytest

import paddle2ov
from gen_models.harness.spec import paddle
from paddle2ov import OpConversionError
from paddle2ov.compilation.running import compile_on_cpu

SPACES = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}
GEOMETRIES = {
    "plain": {},
    "padded": {"padding": 1},
    "strided": {"stride": 2, "padding": 1},
    "dilated": {"dilation": 2},
    "dilated-strided": {"stride": 2, "dilation": 2, "padding": 2},
    "same": {"padding": "SAME"},
    "same-strided": {"padding": "SAME", "stride": 2},
    "valid": {"padding": "VALID", "stride": 3},
}
RUNS = [
    (2, 7, 3, 4),
    (1, 9, 2, 8),
    (3, 6, 1, 4),
    (0, 6, 2, 4),
    (2, 8, 3, 8),
]  # images, their size, that of filters, filters


def _saved(function, specs, folder):
    program = paddle.jit.to_static(function, input_spec=specs, full_graph=True)
    paddle.jit.save(program, str(folder / "inference"))
    return folder


@pytest.mark.one_in(6)
@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("rank", SPACES)
def test_convolution(rank, last, groups, geometry, tmp_path):
    convolve = getattr(paddle.nn.functional, f"conv{rank}d")

    def function(x, filters):
        return convolve(
            x * 1.5, paddle.tanh(filters), groups=groups, data_format=SPACES[rank][last], **GEOMETRIES[geometry]
        )

    open_sizes = [-1] * rank
    shape = [-1, *open_sizes, 4] if last else [-1, 4, *open_sizes]
    specs = [paddle.static.InputSpec(shape, "float32", "x")]
    specs.append(paddle.static.InputSpec([-1, 4 // groups, *open_sizes], "float32", "filters"))
    model = paddle2ov.convert(_saved(function, specs, tmp_path))
    request = compile_on_cpu(model).create_infer_request()
    rng = np.random.default_rng(0)
    for count, size, width, number in RUNS:
        sizes = [size + axis for axis in range(rank)]
        x = rng.standard_normal([count, *sizes, 4] if last else [count, 4, *sizes]).astype(np.float32)
        filters = rng.standard_normal([number, 4 // groups, *[width] * rank]).astype(np.float32)
        wanted = function(paddle.to_tensor(x), paddle.to_tensor(filters)).numpy()
        (actual,) = request.infer([x, filters], share_outputs=False).values()
        np.testing.assert_allclose(actual, wanted, rtol=1e-4, atol=1e-4)


def test_a_transposed_convolution_is_refused(tmp_path):
    specs = [paddle.static.InputSpec([-1, 4, -1, -1], "float32"), paddle.static.InputSpec([4, -1, 3, 3], "float32")]

    def function(x, filters):
        return paddle.nn.functional.conv2d_transpose(x, paddle.tanh(filters))

    folder = _saved(function, specs, tmp_path)
    with pytest.raises(OpConversionError, match="'conv2d_transpose': a filter of unknown shape is not supported"):
        paddle2ov.convert(folder)
