"""The quick functions of paddle2ov.graph.quick_nodes make the nodes that OpenVINO's own make."""

from __future__ import annotations

import inspect

import numpy as np
import openvino
import pytest
from openvino import PartialShape, Type, opset16

from paddle2ov.graph import node_factory, quick_nodes
from paddle2ov.graph.opset import ops

X = ops.parameter(PartialShape([-1, 3, 8, 8]), Type.f32)
ONES = opset16.constant(np.ones((3, 3, 1, 1), np.float32))
GROUPS = opset16.constant(np.ones((3, 1, 1, 1, 1), np.float32))
AXES = opset16.constant(np.array([0], np.int64))
FOUR = opset16.constant(np.array([1, 2, 3, 0], np.int64))
SIZES = opset16.constant(np.array([1, 2, 3, 4], np.int64))
ONE = opset16.constant(np.array([1], np.int64))
X_BOOL = opset16.parameter(PartialShape([-1, 3, 8, 8]), Type.boolean)
BOOL = opset16.constant(True)
NUMBER = opset16.parameter([], np.int64)

CALLS: dict[str, list[tuple]] = {
    "broadcast": [(1.0, SIZES), (X, ONE, None, "BIDIRECTIONAL"), (AXES, SIZES, AXES, "EXPLICIT")],
    "clamp": [(X, 0.0, 6.0), (X, -1, 1)],
    "concat": [([X, X], 1), ([X.output(0), X], -1)],
    "convert": [(X, Type.i64), (X, "f16"), (X, np.int32)],
    "convolution": [
        (X, ONES, [1, 2], [0, 1], [1, 0], [1, 1]),
        (X, ONES, [1, 1], [0, 0], [0, 0], [1, 1], "same_upper"),
    ],
    "group_convolution": [
        (X, GROUPS, [1, 2], [0, 1], [1, 0], [1, 1], "valid"),
        (X, GROUPS, [1, 1], [0, 0], [0, 0], [1, 1]),
    ],
    "gather": [(X, AXES, AXES), (X, np.int64(1), 0), (X, opset16.constant([[0]]), 1, 0)],
    "gather_nd": [(X, opset16.constant([[0, 1]])), (X, opset16.parameter([2, 1], np.int64), 0)],
    "non_zero": [(X,), (X, "i32")],
    "prelu": [(X, np.float32(0.5)), (X, opset16.constant(np.ones((3, 1, 1), np.float32)))],
    "range": [(NUMBER, NUMBER, NUMBER, "i64"), (NUMBER, 7, 2, "i32")],
    "split": [(X, 1, 3), (X.output(0), opset16.constant(2), 2)],
    "variadic_split": [(X, 1, [1, 2]), (X, opset16.constant(2), opset16.constant([3, -1]))],
    "gelu": [(X, "erf"), (X, "tanh")],
    "mvn": [(X, AXES, True, 1e-5, "inside_sqrt"), (X, AXES, False, 1e-9, "outside_sqrt")],
    "shape_of": [(X,), (X, Type.i32), (X, "i32")],
    "swish": [(X,), (X, np.float32(2))],
    "matmul": [(X, X, False, True), (X.output(0), X, True, False)],
    "reshape": [(X, FOUR, True), (X, [-1], False)],
    "select": [(BOOL, X, np.float32(0)), (X_BOOL, X, X, "none")],
    "slice": [(X, AXES, ONE, ONE), (X, AXES, ONE, ONE, AXES)],
    "softmax": [(X, 1), (X, -1)],
    "squeeze": [(X,), (X, AXES), (X, AXES, True)],
    "transpose": [(X, FOUR)],
    "unsqueeze": [(X, AXES), (X, 1)],
    "result": [(X.output(0),), (X,)],
}
CALLS |= {name: [(X,), (X.output(0),)] for name in quick_nodes.UNARY if name != "logical_not"}
CALLS |= {"logical_not": [(BOOL,)]}
CALLS |= {
    name: [(X, X), (X, np.float32(2)), (X.output(0), X, "none")]
    for name in quick_nodes.BINARY
    if not name.startswith("logical")
}
CALLS |= {name: [(BOOL, BOOL)] for name in ("logical_and", "logical_or")}
CALLS |= {name: [(X, AXES), (X, AXES, True), (X, 1)] for name in quick_nodes.REDUCTIONS if name != "reduce_logical_or"}
CALLS |= {"reduce_logical_or": [(X_BOOL, AXES), (X_BOOL, AXES, True), (X_BOOL, 1)]}
FAST = sorted(quick_nodes.QUICK)


def test_the_quick_functions_are_in_use():
    assert FAST
    assert sorted([*CALLS, "constant"]) == FAST
    assert all(getattr(ops, name) is not getattr(opset16, name) for name in FAST)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_same_defaults(name):
    """The stub of the opset has OpenVINO's."""
    theirs = [
        parameter
        for parameter in inspect.signature(getattr(opset16, name)).parameters.values()
        if parameter.name != "name"
    ]
    ours = list(inspect.signature(getattr(ops, name)).parameters.values())[: len(theirs)]
    assert [item.default for item in ours] == [item.default for item in theirs]


@pytest.mark.parametrize("name", sorted(CALLS))
def test_same_node(name):
    for arguments in CALLS[name]:
        made, expected = getattr(ops, name)(*arguments), getattr(opset16, name)(*arguments)
        assert made.get_type_info() == expected.get_type_info()
        assert made.get_attributes() == expected.get_attributes()
        assert made.get_output_partial_shape(0) == expected.get_output_partial_shape(0)
        assert made.get_output_element_type(0) == expected.get_output_element_type(0)
        assert made.get_input_size() == expected.get_input_size()
        for value, other in zip(made.input_values(), expected.input_values(), strict=True):
            assert value.get_node().get_type_info() == other.get_node().get_type_info()
            if value.get_node().get_type_name() == "Constant":
                same_constant(value.get_node(), other.get_node())
            else:
                assert value.get_node().get_name() == other.get_node().get_name()


def test_reshape_to_no_dimensions():
    """OpenVINO's CPU plugin dies when it compiles a product of matrices that a Reshape makes a scalar."""
    x, y = ops.parameter([1, 3], Type.f32), ops.parameter([3, 1], Type.f32)
    out = ops.reshape(ops.add(ops.matmul(x, y, False, False), np.float32(1)), np.array([], np.int64), False)
    assert out.get_output_shape(0) == openvino.Shape([])
    compiled = openvino.compile_model(openvino.Model([out], [x, y]), "CPU")
    assert compiled([np.ones((1, 3), np.float32), np.ones((3, 1), np.float32)])[0] == 4
    unknown = ops.reshape(ops.parameter(PartialShape.dynamic(), Type.f32), np.array([], np.int64), False)
    assert unknown.get_output_partial_shape(0) == PartialShape([])


@pytest.mark.parametrize("places", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_select_of_booleans(places):
    """By what they are read besides; OpenVINO's CPU plugin loses a Select of its own condition."""
    x, y = (ops.parameter([-1], Type.f32) for _ in range(2))
    flags = [ops.less(value, np.float32(0)) for value in (x, y)]
    out = ops.select(flags[0], flags[places[0]], flags[places[1]])
    arrays = [np.array(value, np.float32) for value in ([-1, -1, 1, 1], [-1, 1, -1, 1])]
    wanted = [array < 0 for array in arrays]
    compiled = openvino.compile_model(openvino.Model([out], [x, y]), "CPU")
    np.testing.assert_array_equal(compiled(arrays)[0], np.where(wanted[0], wanted[places[0]], wanted[places[1]]))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("indices", [0, [0], [0, 0], [[0, 0]], [-1]])
def test_gather_of_unsqueezed_axis(indices, axis):
    """OpenVINO takes out a Gather from an axis that an Unsqueeze made, whatever the indices."""
    x = ops.parameter([-1, -1], Type.f32)
    out = ops.gather(ops.unsqueeze(x, np.array([axis])), np.array(indices), np.int64(axis))
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    compiled = openvino.compile_model(openvino.Model([out], [x]), "CPU")
    np.testing.assert_array_equal(compiled([data])[0], np.take(np.expand_dims(data, axis), indices, axis))


END, BEFORE = 2**31 - 1, -(2**31)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("factor", [2, 3, 4, 5, 8])
@pytest.mark.parametrize(
    "bounds",
    [(0, END, 2), (1, END, 1), (-1, BEFORE, -1), (-1, BEFORE, -2), (-2, BEFORE, -3), (-1, 1, -4), (6, BEFORE, -4)],
)
def test_sizes_of_open_slices(bounds, factor):
    """OpenVINO takes 2^31 - 1 for the largest size, and its multiples in 32 bits for zero, or for less."""
    x = ops.parameter([-1, -1], Type.f32)
    start, stop, step = (np.array([bound]) for bound in bounds)
    cut = ops.slice(x, start, stop, step, np.array([1]))
    wide = ops.concat([np.array([1], np.int32), np.array([factor], np.int32)], 0)
    out = ops.broadcast(np.float32(1), ops.convert(ops.multiply(ops.shape_of(cut, "i32"), wide), Type.i64))
    compiled = openvino.compile_model(openvino.Model([cut, out], [x]), "CPU")
    data = np.arange(18, dtype=np.float32).reshape(2, 9)
    sliced, ones = compiled([data]).values()
    np.testing.assert_array_equal(sliced, data[:, slice(*bounds)])
    assert ones.shape == (2, sliced.shape[1] * factor)


def test_sizes_whose_lower_bound_is_negative():
    """n - 1, where n is at most 8, as the size of what is filled: OpenVINO may not compile it."""
    x = ops.parameter(PartialShape("0..8"), Type.f32)
    less = ops.add(ops.shape_of(x), ops.constant([-1], Type.i64))
    model = openvino.Model([ops.broadcast(ops.constant(1.0, Type.f32), less)], [x])
    assert openvino.compile_model(model, "CPU")([np.ones(4, np.float32)])[0].shape == (3,)


@pytest.mark.parametrize("bounds", [(0, END, 2), (-1, BEFORE, -2)])
def test_slices_of_known_sizes(bounds):
    x = ops.parameter([-1, 9], Type.f32)
    start, stop, step = (np.array([bound]) for bound in bounds)
    made = ops.slice(x, start, stop, step, np.array([1]))
    assert made.get_output_partial_shape(0).to_string() == "[?,5]"
    assert made.input_value(0).get_node() is x


def same_constant(one, other):
    assert one.get_element_type() == other.get_element_type()
    assert one.get_output_shape(0) == other.get_output_shape(0)
    np.testing.assert_array_equal(one.get_data(), other.get_data())


@pytest.mark.parametrize(
    "arguments",
    [
        (1,),
        (1.5,),
        (True,),
        ([1, 2],),
        (np.float32(2),),
        (np.zeros((2, 0), np.int8),),
        (np.arange(6).reshape(2, 3).T,),
        (1, Type.f32),
        ([], Type.i64),
        ([1.7, -2.5], Type.i32),
        (np.array([0, 2]), Type.boolean),
        (np.array([1.5, 2.5]), Type.bf16),
        (np.array([1.5, 2.5]), Type.f8e4m3),
        (np.array([1, 2]), np.float32),
        (3, Type.u8),
    ],
)
def test_same_constant(arguments):
    same_constant(ops.constant(*arguments), opset16.constant(*arguments))


def test_options_of_constant():
    array = np.ones(3, np.float32)
    assert ops.constant(array, name="a").get_friendly_name() == "a"
    shared = ops.constant(array, shared_memory=True)
    array[0] = 5
    assert shared.get_data()[0] == 5
    same_constant(ops.constant(openvino.Tensor(array)), opset16.constant(openvino.Tensor(array)))


def test_openvino_without_the_inner_factory(monkeypatch):
    """OpenVINO's public factory makes the nodes then."""
    monkeypatch.delattr("openvino._pyopenvino.NodeFactory")
    create = node_factory._fastest()
    assert create is not node_factory.create
    assert create("Concat", [X.output(0), X.output(0)], {"axis": 1}).get_output_partial_shape(0)[1] == 6
