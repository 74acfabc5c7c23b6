"""What is a picture with its channels last: what a layout or a reader says is one, and no other three numbers."""

import numpy as np
import paddle
import pytest
from openvino import Layout, Model, opset16 as ops

import paddle2ov
from paddle2ov.inputs.channels import channels_last
from paddle2ov.inputs.random_inputs import RandomInputs
from paddle2ov.program.reading import read_program
from tests.support.models import save_layer, save_program

POINTS = [(1, 16, 16, 3), (2, 7, 7, 3), (3, 33, 33, 3)]
PICTURES = [(1, 224, 224, 3), (2, 160, 320, 3), (3, 320, 128, 3), (1, 640, 640, 3), (1, 768, 1024, 3)]
KERNEL = np.ones((4, 3, 3, 3), np.float32)


def convolved(value, kernel=KERNEL):
    return ops.convolution(value, kernel, [1, 1], [0, 0], [0, 0], [1, 1])


def resized(value, axes):
    options = {"mode": "nearest", "shape_calculation_mode": "sizes"}
    return ops.interpolate(value, np.array([8, 8]), **options, axes=np.array(axes))


def first(value):
    """Channels first."""
    return ops.transpose(value, [0, 3, 1, 2])


READERS = {
    "a convolution": (lambda x: convolved(first(x)), True),
    "over elementwise nodes": (lambda x: convolved(ops.relu(first(ops.subtract(x, np.float32([1, 2, 3]))))), True),
    "over two transposes": (lambda x: convolved(ops.transpose(ops.transpose(x, [0, 2, 1, 3]), [0, 3, 2, 1])), True),
    "with channels in reverse": (lambda x: convolved(first(ops.gather(x, np.array([2, 1, 0]), np.array(3)))), True),
    "a resize": (lambda x: resized(x, [1, 2]), True),
    "a resize of others": (lambda x: resized(x, [2, 3]), False),
    "nothing": (lambda x: ops.relu(x), False),
    "a sum over points": (lambda x: ops.reduce_sum(x, np.array([3]), False), False),
    "a transpose alone": (lambda x: first(x), False),
    "a convolution of other axes": (lambda x: convolved(x, np.ones((4, 5, 3, 3), np.float32)), False),
    "a convolution as its filter": (lambda x: ops.convolution(KERNEL, x, [1, 1], [0, 0], [0, 0], [1, 1]), False),
}


@pytest.mark.parametrize("reader", READERS)
def test_readers(reader):
    read, is_picture = READERS[reader]
    x = ops.parameter([-1, -1, -1, 3], np.float32, name="x")
    model = Model([read(x)], [x])
    assert channels_last(model) == ({"x"} if is_picture else frozenset())


def test_layouts():
    for layout, is_picture in (("NHWC", True), ("N...C", True), ("NCHW", False), ("...", False)):
        x = ops.parameter([-1, -1, -1, 3], np.float32, name="x")
        x.set_layout(Layout(layout))
        assert bool(channels_last(Model([ops.relu(x)], [x]))) is is_picture


@pytest.mark.parametrize(("read", "shapes"), [(ops.relu, POINTS), (lambda x: convolved(first(x)), PICTURES)])
def test_check_draws_no_points_as_pictures(read, shapes):
    x = ops.parameter([-1, -1, -1, 3], np.float32, name="x")
    runs = paddle2ov.check(Model([read(x)], [x])).runs
    assert {run.inputs["x"] for run in runs} == set(shapes[:3])
    (run,) = {run.inputs["x"] for run in paddle2ov.check(Model([read(x)], [x]), shapes="x[1,9,5,3]").runs}
    assert run == (1, 9, 5, 3)  # whoever knows better says so


def test_paddle_models(tmp_path):
    """Points, and a network whose layers take channels last."""
    points = save_program(tmp_path / "points", lambda x: paddle.max(x * 2, axis=2), x=[-1, -1, -1, 3])
    assert [item["x"].shape for item in RandomInputs(read_program(points), paddle2ov.convert(points)).sets] == POINTS
    network = paddle.nn.Sequential(paddle.nn.Conv2D(3, 4, 3, data_format="NHWC"), paddle.nn.ReLU())
    folder = save_layer(tmp_path / "network", network, x=[-1, -1, -1, 3])
    drawn = RandomInputs(read_program(folder), paddle2ov.convert(folder))
    assert [item["x"].shape for item in drawn.sets] == PICTURES
