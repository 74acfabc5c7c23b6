"""Paddings of SAME for sizes that are unknown at conversion: `Model.reshape` makes the results' sizes known."""

from collections import Counter

import numpy as np
import pytest
from openvino import PartialShape

import paddle2ov
from gen_models.harness.spec import paddle
from paddle2ov.compilation.running import compile_on_cpu
from tests.support.models import save_layer

GEOMETRIES = [(1, 3), (2, 2), (2, 3), (3, 1), (2, 5), ([3, 2], [4, 5]), ([1, 4], [2, 3])]
"""Strides, kernel."""
SIZES = [(5, 6), (-1, 4), (8, 1)]


def layers(last):
    """Transposed convolutions, and windows that have gaps between them or count what is outside."""
    nn, layout = paddle.nn, {"data_format": "NHWC" if last else "NCHW"}
    transposed = [nn.Conv2DTranspose(3, 4, kernel, stride, "SAME", **layout) for stride, kernel in GEOMETRIES]
    transposed.append(nn.Conv2DTranspose(4, 4, 3, 2, "SAME", groups=2, **layout))
    dilated = nn.Conv2DTranspose(3, 4, 3, 2, "SAME", dilation=2, **layout)
    pools = [nn.MaxPool2D(1, 2, "SAME", **layout), nn.AvgPool2D([3, 2], [2, 3], "SAME", exclusive=False, **layout)]

    class Layers(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.all = nn.LayerList([*transposed[:-1], dilated, *pools])
            self.grouped = transposed[-1]

        def forward(self, x):
            return [*(layer(x) for layer in self.all), self.grouped(self.all[0](x))]

    return Layers()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("last", [False, True], ids=["first", "last"])
def test_sizes_after_reshape(last, tmp_path):
    network = layers(last)
    order = [0, 2, 3, 1] if last else [0, 1, 2, 3]
    folder = save_layer(tmp_path, network, x=[[-1, 3, -1, -1][axis] for axis in order])
    model, rng = paddle2ov.convert(folder), np.random.default_rng(0)
    for sizes in SIZES:
        model.reshape([[2, 3, *sizes][axis] for axis in order])
        x = rng.standard_normal([2, 3, *(7 if size < 0 else size for size in sizes)]).astype(np.float32)
        x = np.ascontiguousarray(x.transpose(order))
        wanted = [result.numpy() for result in network(paddle.to_tensor(x))]
        if -1 not in sizes:
            assert [str(output.partial_shape) for output in model.outputs] == [
                str(PartialShape(item.shape)) for item in wanted
            ]
        for actual, right in zip(compile_on_cpu(model)([x]).values(), wanted, strict=True):
            np.testing.assert_allclose(actual, right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "nodes"),
    [
        ({"padding": "SAME"}, {"AvgPool": 1}),  # before x there are none
        ({"padding": [1, 1]}, {"AvgPool": 1}),
        ({"padding": [1, 1], "ceil_mode": True}, {"Pad": 1, "AvgPool": 1}),
        ({"padding": [0, 1, 1, 2]}, {"Pad": 1, "AvgPool": 1}),
    ],
)
def test_averages_that_count_paddings_are_one_pooling(options, nodes):
    """No count is divided by, as it is where paddings are as wide as the windows."""
    layer = paddle.nn.AvgPool2D(3, 2, exclusive=False, **options)
    x = np.random.default_rng(0).random((1, 2, 6, 8), np.float32)
    model = paddle2ov.convert(layer, input={"x": [1, 2, 6, 8]})
    counts = Counter(node.get_type_name() for node in model.get_ops())
    assert {kind: count for kind, count in counts.items() if kind not in ("Parameter", "Constant", "Result")} == nodes
    (actual,) = compile_on_cpu(model)([x]).values()
    np.testing.assert_allclose(actual, layer(paddle.to_tensor(x)).numpy(), rtol=1e-4, atol=1e-5)
