"""Convolutions: what Paddle refuses is refused with the operator, the attribute, its value and the place."""

import numpy as np
import pytest

import paddle2ov
from gen_models.harness.spec import import_paddle, paddle
from paddle2ov.compilation.running import run as run_model
from tests.support import one_operator
from tests.support.one_operator import program, run

RNG = np.random.default_rng(2)
X = RNG.random((1, 4, 8, 9), np.float32)
FILTER = RNG.random((4, 4, 3, 3), np.float32)
VOLUMES = {"conv3d": "input", "conv3d_transpose": "x"}
CONVS = ("conv2d", "depthwise_conv2d", "conv2d_transpose", "depthwise_conv2d_transpose", "deformable_conv", *VOLUMES)


def inputs_of(op_type, filters=FILTER):
    name = "input" if op_type in ("conv2d", "depthwise_conv2d", "conv3d") else "x"
    x = X[..., None] if op_type in VOLUMES else X
    inputs = {name: x, "filter": filters[..., None] if op_type in VOLUMES else filters}
    if op_type == "deformable_conv":
        inputs["offset"] = np.zeros((1, 18, 6, 7), np.float32)
    return inputs


def refused(op_type, message, filters=FILTER, dynamic=False, **attributes):
    message = f"cannot convert '{op_type}': {message}"
    error = one_operator.refused(message, op_type, inputs_of(op_type, filters), attributes, dynamic=dynamic)
    assert "block 0, operator 0" in str(error)


@pytest.mark.parametrize("op_type", CONVS)
@pytest.mark.parametrize("groups", [0, -1, -(2**62), 3, 5, 8, 2**62])
def test_groups(op_type, groups):
    refused(op_type, f"groups={groups}: ", groups=groups)
    if groups < 1:
        refused(op_type, f"groups={groups}: 1 or more is expected", groups=groups, dynamic=True)


@pytest.mark.parametrize("op_type", CONVS)
def test_groups_that_the_channels_are_not_made_of(op_type):
    refused(op_type, r"(groups=\d: )?", FILTER[:3, :3], groups=1)
    if "transpose" not in op_type:
        refused(op_type, r"groups=2: an input .* has 4 channels, a filter .* takes 4 of each group", groups=2)


@pytest.mark.parametrize("op_type", CONVS)
@pytest.mark.parametrize("name", ["strides", "dilations"])
def test_strides_and_dilations(op_type, name):
    count = 3 if op_type in VOLUMES else 2
    for value in (0, -1, 2**31):
        values = [value] + [1] * (count - 1)
        refused(op_type, rf"{name}=\[{value}, .*: 1 or more is expected", **{name: values})
    refused(op_type, rf"{name}=\[1\]: {count} numbers are expected", **{name: [1]})


@pytest.mark.parametrize(("filters", "wanted"), [((1, 1), [1, 1]), ((3, 1), [2, 1]), ((3, 3), [2, 2])])
@pytest.mark.parametrize("groups", [1, 2])
def test_dilations_of_an_axis_of_one_element(groups, filters, wanted):
    """They mean nothing, and OpenVINO reads beyond the image with them."""
    weights = RNG.random((4, 4 // groups, *filters), np.float32)
    whole, _ = program("conv2d", {"input": X, "filter": weights}, {"dilations": [2, 2], "groups": groups})
    (made,) = [node for node in paddle2ov.convert(whole).get_ops() if node.get_type_name().endswith("Convolution")]
    assert list(made.get_attributes()["dilations"]) == wanted


def test_a_filter_of_another_rank():
    refused("conv2d", r"a filter \[4, 4, 3\] does not fit an input \[1, 4, 8, 9\]", FILTER[..., 0])
    refused("conv2d_transpose", r"a filter \[4, 4, 3\] does not fit an input \[1, 4, 8, 9\]", FILTER[..., 0])


@pytest.mark.parametrize("extra", [[2, 0], [-1, 0], [1], [0, 0, 0]])
def test_output_padding(extra):
    values = ", ".join(map(str, extra))
    message = rf"output_padding=\[{values}\], .*: 2 numbers from 0 to below the strides or dilations are expected"
    refused("conv2d_transpose", message, strides=[2, 2], output_padding=extra)


@pytest.mark.parametrize("size", [[3, 19], [20, 19], [17, 21]])
def test_output_size(size):
    """17 x 19 at least."""
    message = rf"output_size=\[{size[0]}, {size[1]}\], strides=\[2, 2\]: it is .* more than the least"
    refused("conv2d_transpose", message, strides=[2, 2], output_size=size)
    refused("conv2d_transpose", r"output_size=\[17\]: 2 sizes are expected", strides=[2, 2], output_size=[17])


@pytest.mark.parametrize("paddings", [[-1, -1], [-1, 0, 0, 2], [0, 0, -1, 2], [-2, -1, 1, -3]])
def test_negative_paddings(paddings):
    """Paddle cuts the input of a convolution; a transposed one gets zeros around its result."""
    import_paddle()
    kernels = paddle._C_ops
    x, filters = paddle.to_tensor(X), paddle.to_tensor(FILTER)
    attributes = {"strides": [2, 1], "paddings": paddings, "dilations": [1, 1], "groups": 1}
    want = kernels.conv2d(x, filters, [2, 1], paddings, "EXPLICIT", [1, 1], 1, "NCHW").numpy()
    (got,) = run("conv2d", inputs_of("conv2d"), attributes)
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)
    last = {"input": X.transpose(0, 2, 3, 1), "filter": FILTER}
    (got,) = run("conv2d", last, {**attributes, "data_format": "NHWC"})
    np.testing.assert_allclose(got, want.transpose(0, 2, 3, 1), rtol=2e-5, atol=2e-5)
    want = kernels.conv2d_transpose(x, filters, [2, 1], paddings, [], [], "EXPLICIT", 1, [1, 1], "NCHW").numpy()
    (got,) = run("conv2d_transpose", inputs_of("conv2d_transpose"), attributes, dynamic=False)
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)
    refused("deformable_conv", r"paddings=.*: negative paddings are not supported", paddings=paddings)


@pytest.mark.parametrize(
    ("kernel", "options", "shape"),
    [
        ([3, 3], {}, (8, 1)),
        ([11, 11], {"padding": 5}, (8, 1)),
        ([3, 3], {"stride": 2}, (1, 1)),
        ([1, 3], {}, (1, 1)),  # of a sequence
        ([1, 1], {}, (1, 1)),
        ([65, 65], {"padding": 32}, (1, 1)),
        ([3, 11], {}, (5, 11)),
        ([1, 11], {"stride": [2, 3]}, (5, 11)),
        ([3, 11], {"padding": [1, 0], "dilation": [2, 1]}, (5, 11)),
        ([3, 11], {"padding": [0, 1]}, (5, 1)),
        ([3, 10], {}, (5, 1)),
        ([3, 11], {"padding": "SAME"}, (5, 1)),
    ],
)
def test_filters_of_a_single_channel(kernel, options, shape):
    """A single filter has others of zeros beside it: OpenVINO's kernel for one of one channel takes ten times as long.

    Those that cover rows have their elements as channels.
    """
    paddle.disable_static()
    layer = paddle.nn.Conv2D(1, 5 if shape[0] == 5 else 1, kernel, **options)
    x = RNG.random((2, 1, 12, 11), np.float32)
    wanted = layer(paddle.to_tensor(x)).numpy()
    model = paddle2ov.convert(layer, input={"x": [-1, 1, -1 if shape[0] == 5 else 12, 11]})
    (node,) = (node for node in model.get_ops() if node.get_type_name() == "Convolution")
    assert tuple(node.input_value(1).get_shape()[:2]) == shape
    (result,) = run_model(model, {"x": x})
    np.testing.assert_allclose(result.array, wanted, rtol=1e-4, atol=1e-5)
