"""Arithmetic on small known values is done while converting; anything else is left as it is."""

import numpy as np
import openvino
import pytest
from openvino import Type, opset16

import paddle2ov
from gen_models.harness.building import legacy_op
from gen_models.harness.spec import paddle
from paddle2ov import ModelReadError
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.graph.evaluation import is_safe
from paddle2ov.graph.opset import ops
from paddle2ov.graph.values import ConstantValue
from paddle2ov.program.model import Variable
from paddle2ov.translation.folding import are_foldable, fold
from tests.support.models import check_beside_paddle, save_program
from tests.support.programs import program


def test_shape_arithmetic_is_folded():
    shape = ops.constant(np.array([2, 3, 4], np.int64))
    last = ops.gather(shape, ops.constant(np.int64(-1)), ops.constant(np.int64(0)))
    half = ops.convert(ops.divide(ops.convert(last, Type.f32), ops.constant(np.float32(2))), Type.i64)
    folded = fold(ops.unsqueeze(half, ops.constant(np.int64(0))))
    assert isinstance(folded, ConstantValue)
    assert folded.array.dtype == np.int64
    assert folded.array.tolist() == [2]


CONSTANTS = (24, (2, 3, 4)), (3, (3,))


def test_constants_that_broadcast_along_an_axis(tmp_path):
    """Programs of Paddle 2 say at which axis the second operand begins; NumPy would not broadcast these."""

    def build(x):
        left, right = (paddle.assign(np.arange(size, dtype=np.float32).reshape(shape)) for size, shape in CONSTANTS)
        return x + legacy_op("elementwise_add", {"X": left, "Y": right}, {"Out": "float32"}, {"axis": 1})

    assert paddle2ov.verify(save_program(tmp_path, build, legacy=True, x=[2, 3, 4])).verdict == "agree"


def number(value, dtype="int64"):
    return paddle.full([1], value, dtype)


NUMBERS = {
    "bitwise_and": lambda: paddle.bitwise_and(number(7), number(3)),
    "bitwise_or": lambda: paddle.bitwise_or(number(1), number(2)),
    "bitwise_xor": lambda: paddle.bitwise_xor(number(7), number(4)),
    "bitwise_not": lambda: paddle.bitwise_not(number(-4)),
    "cumsum": lambda: paddle.cumsum(number(1).tile([3]))[-1:],
    "fmax": lambda: paddle.fmax(number(3, "float32"), number(2, "float32")),
    "fmin": lambda: paddle.fmin(number(3, "float32"), number(4, "float32")),
    "floor of float64": lambda: paddle.floor(number(3.9, "float64")),
    "ceil of float64": lambda: paddle.ceil(number(2.1, "float64")),
    "round of float64": lambda: paddle.round(number(12.3, "float64") / number(4, "float64")),
    "mod of float64": lambda: paddle.mod(number(15, "float64"), number(4, "float64")),
    "sign of float64": lambda: 3 * paddle.sign(number(5, "float64")),
    "less_than of float64": lambda: 3 * paddle.less_than(number(1, "float64"), number(2, "float64")).astype("int64"),
}


@pytest.mark.parametrize("build", NUMBERS.values(), ids=NUMBERS)
def test_what_openvino_does_not_evaluate_is_known_as_well(tmp_path, build):
    """Shapes, axes and counts come from such numbers."""
    path = save_program(tmp_path, lambda x: paddle.reshape(x, [-1, build().astype("int64")]), x=[2, 6])
    assert paddle2ov.convert(path).output(0).get_partial_shape() == [4, 3]
    assert paddle2ov.verify(path).verdict == "agree"


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize(("axis", "kind"), [(0, np.int64), (-1, np.int32), (1, np.float32)])
def test_cumulative_sums_of_constants(axis, kind, exclusive, reverse):
    values = np.array([[1, 2, 3], [5, 7, 11]], kind)
    x = opset16.parameter(values.shape, kind)
    in_openvino = compile_on_cpu(openvino.Model([opset16.cum_sum(x, np.int64(axis), exclusive, reverse)], [x]))
    folded = fold(ops.cum_sum(ops.constant(values), ops.constant(np.int64(axis)), exclusive, reverse))
    assert isinstance(folded, ConstantValue)
    assert folded.array.dtype == kind
    np.testing.assert_array_equal(folded.array, in_openvino([values])[0])


def test_a_grid_of_known_size_is_a_constant(tmp_path):
    def build(theta):
        return paddle.nn.functional.affine_grid(theta, [2, 3, 4, 5])

    kinds = [
        node.get_type_name() for node in paddle2ov.convert(save_program(tmp_path, build, theta=[2, 2, 3])).get_ops()
    ]
    assert sorted(kinds) == ["Constant", "Constant", "MatMul", "Parameter", "Reshape", "Result"]


def test_one_of_several_outputs():
    parts = ops.split(ops.constant(np.arange(6)), ops.constant(np.int64(0)), 3)
    folded = fold(parts.output(1))
    assert isinstance(folded, ConstantValue)
    assert folded.array.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("start", "stop", "step", "axes"),
    [
        ([1], [3], [1], [1]),
        ([-3, 0], [-1, 100], [1, 2], [0, 1]),
        ([-100, 1], [2, -1], [1, 1], [-1, -2]),
        ([0, 1], [4, 6], [3, 2], None),
    ],
)
def test_slices_that_are_set(start, stop, step, axes):
    """OpenVINO evaluates no SliceScatter by itself; expected is what its CPU plugin computes in a run."""
    bounds = [np.array(item) for item in (start, stop, step) + (() if axes is None else (axes,))]
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    data = ops.parameter([4, 6], np.float32)
    sliced = opset16.slice(data, *map(opset16.constant, bounds))
    updates = -1 - np.arange(np.prod(sliced.get_output_shape(0)), dtype=np.float32).reshape(sliced.get_output_shape(0))
    folded = fold(ops.slice_scatter(ops.constant(x), ops.constant(updates), *map(ops.constant, bounds)))
    assert isinstance(folded, ConstantValue)
    model = openvino.Model([ops.slice_scatter(data, ops.constant(updates), *map(ops.constant, bounds))], [data])
    np.testing.assert_array_equal(folded.array, compile_on_cpu(model)([x])[0])


def test_slices_that_are_set_backwards_stay():
    backwards = [np.array([value]) for value in (3, 0, -1, 0)]
    x, updates = ops.constant(np.zeros((4, 6), np.float32)), ops.constant(np.ones((3, 6), np.float32))
    node = ops.slice_scatter(x, updates, *map(ops.constant, backwards))
    assert fold(node) is node


def test_inputs_large_and_random_values_stay():
    parameter = ops.parameter([2], np.float32)
    for node in (
        ops.add(parameter, ops.constant(np.float32(1))),
        ops.add(ops.constant(np.zeros(65, np.float32)), ops.constant(np.float32(1))),
        ops.random_uniform(
            ops.constant(np.array([2])), ops.constant(np.float32(0)), ops.constant(np.float32(1)), "f32"
        ),
    ):
        assert fold(node) is node


def test_what_counts_as_small():
    assert are_foldable({"x": [None]})
    assert are_foldable({"x": [ConstantValue(np.zeros(64, np.float32))]})
    assert are_foldable({"x": [ConstantValue(np.zeros(65))]}), "float64 is worth more"
    assert not are_foldable({"x": [ConstantValue(np.zeros(65, np.float32))]})
    assert not are_foldable({"x": [ConstantValue(np.zeros((1 << 16) + 1))]})
    assert not are_foldable({"x": [ConstantValue(np.zeros(2, np.uint16), "bfloat16")]})
    assert not are_foldable({"x": [ops.parameter([2], np.float32).output(0)]})


def test_float64_is_computed_in_float64():
    """The CPU plugin would lose half of the digits of a matrix like that of a thin-plate spline, and then invert it."""
    points = np.linspace(-1, 1, 12)[:, None] + np.array([0.0, 1.0])
    rows = [
        ("elementwise_sub", "x=rows y=columns", "out=distance", {"axis": -1}),
        ("p_norm", "x=distance", "out=norm", {"porder": 2.0, "axis": 2}),
        ("elementwise_add", "x=norm y=eye", "out=double", {"axis": -1}),
        ("inverse", "x=double", "out=inverse"),
    ]
    weights = {"rows": points[:, None], "columns": points[None], "eye": np.eye(12)}
    shapes = {"distance": (12, 12, 2), "norm": (12, 12), "double": (12, 12), "inverse": (12, 12)}
    variables = [Variable(name, "float64", shape) for name, shape in shapes.items()]
    whole = program(rows, [], "inverse", variables, weights, "legacy")
    (result,) = paddle2ov.convert(whole).get_results()
    node = result.input_value(0).get_node()
    distance = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))
    assert node.get_type_name() == "Constant"
    np.testing.assert_allclose(node.data, np.linalg.inv(distance + np.eye(12)), rtol=1e-12, atol=1e-13)


def int64(*values):
    return opset16.constant(np.array(values, np.int64))


def floats(*shape):
    return opset16.constant(-np.ones(shape, np.float32))


LEAST = np.iinfo(np.int64).min
IMPOSSIBLE = {
    "more than there are": lambda: opset16.topk(int64(1, 2, 3), 5, 0, "max", "value"),
    "a remainder by zero": lambda: opset16.mod(int64(1, 2), int64(0, 1)),
    "a quotient that overflows": lambda: opset16.divide(int64(LEAST), int64(-1)),
    "an axis that is not there": lambda: opset16.cum_sum(int64(1, 2), opset16.constant(np.int64(5))),
    "an index out of range": lambda: opset16.gather(int64(1, 2), int64(1 << 40), opset16.constant(np.int64(0))),
    "elements that are not there": lambda: opset16.reshape(opset16.constant(np.zeros((2, 3, 4))), int64(0, 3), True),
    "slopes of another shape": lambda: opset16.prelu(floats(2, 3, 3), floats(2, 3)),
    "slopes of other channels": lambda: opset16.prelu(floats(2, 3), floats(2)),
    "less than nothing at an end": lambda: opset16.pad(floats(3), int64(-5), int64(4), "constant", floats()),
    "no elements": lambda: opset16.broadcast(
        opset16.constant(np.zeros((2, 0))), int64(0), broadcast_spec="BIDIRECTIONAL"
    ),
}
"""Nodes whose evaluation ends the process, or reads what lies behind the tensor."""


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_openvino_cannot_evaluate_is_left(name):
    node = IMPOSSIBLE[name]()
    assert fold(node) is node


def test_sizes_that_openvino_inferred_otherwise_are_not_made():
    """It takes sizes beyond 32 bits for unknown, and makes results of those that are asked for."""
    node = opset16.broadcast(opset16.constant(np.float32(1)), int64(10))
    one = np.array(1, np.float32)
    assert is_safe(node, [one, np.array([10])])
    assert not is_safe(node, [one, np.array([2**31])])


REFUSED = {
    "the first 5 of 3 elements": lambda: ops.topk(ops.parameter([2, 3], np.float32), 5, 1, "max", "value"),
    "divided by zero": lambda: ops.mod(int64(1, 2), int64(0, 1)),
    "the least integer": lambda: ops.divide(int64(LEAST), int64(-1)),
    "is reshaped to": lambda: ops.reshape(ops.parameter([2, 3, 4], np.float32), int64(0, 3), True),
    "over no elements": lambda: ops.max_pool(
        np.zeros((1, 1, 0, 2), np.float32), [1, 1], [1, 1], [1, 1], [1, 1], [1, 1]
    ),
    "a Convolution over no elements": lambda: ops.convolution(
        ops.parameter([2, 1, -1, 5], np.float32), np.zeros((3, 1, 1, 0), np.float32), [1, 1], [0, 0], [0, 0], [1, 1]
    ),
    "impossible strides": lambda: ops.convolution_backprop_data(
        ops.parameter([1, 1, 1, 1], np.float32),
        np.ones((1, 1, 3, 3), np.float32),
        [5000, 5000],
        dilations=[1, 1],
        pads_begin=[0, 0],
        pads_end=[0, 0],
    ),
    "a tensor of 6442450941 elements or more": lambda: ops.broadcast(
        ops.parameter([1, -1, 3], np.float32), int64(2**31 - 1, 1, 3), "BIDIRECTIONAL"
    ),
    "are computed from constants": lambda: ops.broadcast(opset16.constant(np.int64(1)), int64(1 << 40)),
}


@pytest.mark.parametrize("message", REFUSED)
def test_impossible_nodes_are_refused(message):
    """OpenVINO takes them, and evaluates them as soon as a shape depends on them."""
    with pytest.raises((ValueError, ZeroDivisionError, ModelReadError), match=message):
        REFUSED[message]()


EMPTY = {
    "meshgrid": lambda x: paddle.meshgrid(paddle.arange(0, 0, 1), paddle.arange(0, 3, 1))[0] + x,
    "expand": lambda x: paddle.arange(0, 0, 1).reshape([1, 0]).expand([4, 0]) * x,
    "tile": lambda x: paddle.concat([paddle.arange(0, 0, 1).reshape([0, 1]).tile([2, 1]), x.reshape([1, 1])]),
    "sum": lambda x: paddle.zeros([3, 0]).cast("float64").sum(-1) + x.cast("float64"),
}


@pytest.mark.parametrize("function", EMPTY.values(), ids=EMPTY)
def test_constants_without_elements_convert_and_compile(function, tmp_path):
    """OpenVINO ends the process where it evaluates them."""
    check_beside_paddle(tmp_path, function, [np.array([2], np.int64)], x=([1], "int64"))
