"""Channels that OpenVINO's preprocessing reverses, on networks in which it would reverse them twice."""

import numpy as np
import openvino
import paddle
import pytest
from openvino import Layout, Type
from openvino.preprocess import ColorFormat, PrePostProcessor
from paddle import nn

from paddle2ov import convert
from tests.support.models import save_layer


class Network(nn.Layer):
    """Two convolutions of an image, and what OpenVINO takes for a reversal of channels beside them."""

    def __init__(self, beside):
        super().__init__()
        self._beside = beside
        self._first, self._second = nn.Conv2D(3, 6, 3, padding=1), nn.Conv2D(3, 6, 1)

    def forward(self, image):
        # Images of several networks are scaled first.
        value = image * 0.5 - 1 if self._beside == "sizes of a scaled image" else image
        out = nn.functional.relu(self._first(value)) + self._second(value)
        if self._beside == "nothing":
            return out
        if self._beside == "permuted channels":
            return nn.functional.relu(paddle.index_select(out, paddle.to_tensor([3, 1, 5, 0, 2, 4]), 1))
        if self._beside == "joined parts":
            return paddle.concat(paddle.split(out, 3, 1)[::-1], 1)
        if self._beside == "sizes of a transposed map":
            rows = paddle.transpose(out, [0, 2, 3, 1])
            return paddle.reshape(rows, [0, paddle.shape(rows)[1] * paddle.shape(rows)[2], 6])
        return nn.functional.interpolate(nn.functional.avg_pool2d(out, 2), size=paddle.shape(image)[2:])


BESIDE = (
    *("nothing", "sizes of the image", "sizes of a scaled image"),
    *("sizes of a transposed map", "permuted channels", "joined parts"),
)


@pytest.fixture(scope="module", params=BESIDE)
def network(request, tmp_path_factory):
    """A saved network, an image of BGR, and Paddle's results of the same in RGB."""
    paddle.seed(0)
    layer = Network(request.param)
    folder = save_layer(tmp_path_factory.mktemp("reversed"), layer, x=[-1, 3, -1, -1])
    image = np.random.default_rng(0).integers(0, 255, (1, 6, 8, 3)).astype(np.uint8)
    rgb = np.ascontiguousarray(image[..., ::-1].transpose(0, 3, 1, 2)).astype(np.float32)
    return folder, image, layer(paddle.to_tensor(rgb)).numpy()


def _reverse_channels(steps):
    steps.preprocess().reverse_channels()


def _convert_color(steps):
    steps.tensor().set_color_format(ColorFormat.BGR)
    steps.preprocess().convert_color(ColorFormat.RGB)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("reshaped", [False, True], ids=["as it is", "reshaped and saved"])
@pytest.mark.parametrize("is_image", [False, True], ids=["f32 NCHW", "u8 NHWC"])
@pytest.mark.parametrize("reverse", [_reverse_channels, _convert_color])
def test_reversed_once(network, reverse, is_image, reshaped, tmp_path):
    folder, image, expected = network
    model = convert(folder)
    if reshaped:
        model.reshape([1, 3, 6, 8])
        openvino.save_model(model, tmp_path / "model.xml", compress_to_fp16=False)
        model = openvino.Core().read_model(tmp_path / "model.xml")
    built = PrePostProcessor(model)
    steps = built.input(0)
    reverse(steps)
    if is_image:
        steps.tensor().set_element_type(Type.u8).set_layout(Layout("NHWC"))
    else:
        steps.tensor().set_layout(Layout("NCHW"))
        image = image.transpose(0, 3, 1, 2).astype(np.float32)
    steps.model().set_layout(Layout("NCHW"))
    compiled = openvino.compile_model(built.build(), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    assert "Identity" not in {node.get_type_name() for node in compiled.get_runtime_model().get_ops()}
    np.testing.assert_allclose(compiled(image)[0], expected, rtol=1e-4, atol=1e-3)
