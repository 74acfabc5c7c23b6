"""Convolutions by filters whose shape only the run knows, beside Paddle."""

import numpy as np
import pytest

import paddle2ov
from gen_models.harness.spec import paddle
from paddle2ov import OpConversionError
from tests.support.models import check_beside_paddle, save_layer

SPACES = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}
GEOMETRIES = [
    {},
    {"padding": 1},
    {"stride": 2, "padding": 1},
    {"dilation": 2},
    {"stride": 2, "dilation": 2, "padding": 2},
    {"padding": "SAME"},
    {"padding": "SAME", "stride": 2},
    {"padding": "VALID", "stride": 3},
]
RUNS = [
    (2, 7, 3, 4),
    (1, 9, 2, 8),
    (3, 6, 1, 4),
    (0, 6, 2, 4),
    (2, 8, 3, 8),
]  # images, their size, that of filters, filters


@pytest.mark.one_in(3)
@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("rank", SPACES)
def test_convolution(rank, last, groups, tmp_path):
    """Each geometry is a result of one model."""
    convolve = getattr(paddle.nn.functional, f"conv{rank}d")

    def function(x, filters):
        x, filters, options = x * 1.5, paddle.tanh(filters), {"groups": groups, "data_format": SPACES[rank][last]}
        return [convolve(x, filters, **options, **geometry) for geometry in GEOMETRIES]

    def image(count, sizes):
        return [count, *sizes, 4] if last else [count, 4, *sizes]

    rng, runs, unknown = np.random.default_rng(0), [], [-1] * rank
    for count, size, width, number in RUNS:
        shapes = image(count, [size + axis for axis in range(rank)]), [number, 4 // groups, *[width] * rank]
        runs.append([rng.standard_normal(shape).astype(np.float32) for shape in shapes])
    inputs = {"x": image(-1, unknown), "filters": [-1, 4 // groups, *unknown]}
    check_beside_paddle(tmp_path, function, *runs, tolerance=1e-4, **inputs)


def test_a_transposed_convolution_is_refused(tmp_path):
    def function(x, filters):
        return paddle.nn.functional.conv2d_transpose(x, paddle.tanh(filters))

    folder = save_layer(tmp_path, function, x=[-1, 4, -1, -1], filters=[4, -1, 3, 3])
    with pytest.raises(OpConversionError, match="'conv2d_transpose': a filter of unknown shape is not supported"):
        paddle2ov.convert(folder)
