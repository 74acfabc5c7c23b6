"""Arithmetic on small known values is done while converting; anything else is left as it is."""

import numpy as np
from openvino import Type

import paddle2ov
from paddle2ov.graph.opset import ops
from paddle2ov.graph.values import ConstantValue
from paddle2ov.program.model import Block, Operator, Output, Parameter, Program, Variable
from paddle2ov.translation.folding import are_foldable, fold


def test_shape_arithmetic_is_folded():
    shape = ops.constant(np.array([2, 3, 4], np.int64))
    last = ops.gather(shape, ops.constant(np.int64(-1)), ops.constant(np.int64(0)))
    half = ops.convert(ops.divide(ops.convert(last, Type.f32), ops.constant(np.float32(2))), Type.i64)
    folded = fold(ops.unsqueeze(half, ops.constant(np.int64(0))))
    assert isinstance(folded, ConstantValue)
    assert folded.array.dtype == np.int64
    assert folded.array.tolist() == [2]


def test_one_of_several_outputs():
    parts = ops.split(ops.constant(np.arange(6)), ops.constant(np.int64(0)), 3)
    folded = fold(parts.output(1))
    assert isinstance(folded, ConstantValue)
    assert folded.array.tolist() == [2, 3]


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
    operators = [
        Operator("elementwise_sub", {"x": ["rows"], "y": ["columns"]}, {"out": ["distance"]}, {"axis": -1}, "", 0, 0),
        Operator("p_norm", {"x": ["distance"]}, {"out": ["norm"]}, {"porder": 2.0, "axis": 2}, "", 0, 1),
        Operator("elementwise_add", {"x": ["norm"], "y": ["eye"]}, {"out": ["double"]}, {"axis": -1}, "", 0, 2),
        Operator("inverse", {"x": ["double"]}, {"out": ["inverse"]}, {}, "", 0, 3),
    ]
    weights = {"rows": points[:, None], "columns": points[None], "eye": np.eye(12)}
    parameters = {name: Parameter(name, "float64", value) for name, value in weights.items()}
    variables = {name: Variable(name, "float64", value.shape) for name, value in weights.items()}
    shapes = {"distance": (12, 12, 2), "norm": (12, 12), "double": (12, 12), "inverse": (12, 12)}
    variables |= {name: Variable(name, "float64", shape) for name, shape in shapes.items()}
    program = Program(
        "legacy",
        2_006_002,
        Block(0, operators=operators, outputs=["inverse"]),
        [],
        [Output("inverse", "inverse")],
        variables,
        parameters,
    )
    (result,) = paddle2ov.convert(program).get_results()
    node = result.input_value(0).get_node()
    distance = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))
    assert node.get_type_name() == "Constant"
    np.testing.assert_allclose(node.data, np.linalg.inv(distance + np.eye(12)), rtol=1e-12, atol=1e-13)
