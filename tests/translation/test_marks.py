"""Marks on values: what is complex, or holds sequences, tells so itself, also inside of branches and loops."""

import numpy as np
import openvino
import pytest
from openvino import Type

import paddle2ov
from paddle2ov.errors import OpConversionError
from paddle2ov.graph.opset import ops
from paddle2ov.graph.values import (
    NO_LOD,
    UNKNOWN_LOD,
    ComplexValue,
    ConstantValue,
    EmptyTensorArray,
    LoDTensor,
    SequenceLengths,
    is_complex,
    mark_if_complex,
    unmarked,
)
from paddle2ov.program.model import Operator, Parameter, Variable
from paddle2ov.translation.folding import are_foldable
from paddle2ov.translation.node_context import NodeContext
from paddle2ov.translation.scope import Scope
from tests.support.programs import block, program


def output(*dims):
    return ops.parameter(list(dims), Type.f32).output(0)


def test_a_value_without_its_marks():
    x = output(2, 2)
    for marked in (x, ComplexValue(x), LoDTensor(x, 1), LoDTensor(ComplexValue(x), 1)):
        assert unmarked(marked) is x
    assert isinstance(unmarked(LoDTensor(ops.relu(x), 1)), openvino.Output), "what a converter gives may be a node"
    assert unmarked(None) is None
    assert [
        is_complex(value) for value in (x, ComplexValue(x), LoDTensor(x, 1), LoDTensor(ComplexValue(x), 1), None)
    ] == [*(False, True, False, True, False)]


def test_marks_of_data_types():
    x = output(2)
    assert mark_if_complex(x, "float32") is x
    assert mark_if_complex(x, None) is x
    assert mark_if_complex(x, "complex64") == ComplexValue(x)
    with pytest.raises(AttributeError):
        mark_if_complex(x, "complex64").value = None


def test_marks_enter_inner_blocks():
    """Lengths that an outer block computes are none that an inner one sees; a number is."""
    outer, inner = Scope(), None
    lengths = SequenceLengths(output(2))
    outer.values = {
        "complex": ComplexValue(output(3, 2)),
        "equal": LoDTensor(output(4), 2),
        "lengths": LoDTensor(ComplexValue(output(4, 2)), lengths),
        "computed": LoDTensor(output(4), output()),
        "constant": ComplexValue(ConstantValue(np.array([1j]))),
        "array": ComplexValue(EmptyTensorArray()),
    }
    inner = Scope(Scope(outer))
    values = {name: inner.find(name) for name in outer.values}
    assert list(inner.captures) == ["complex", "equal", "lengths", "computed"]
    assert [is_complex(value) for value in values.values()] == [True, False, True, False, True, True]
    lods = {name: value.lod for name, value in values.items() if isinstance(value, LoDTensor)}
    assert lods == {"equal": 2, "lengths": UNKNOWN_LOD, "computed": UNKNOWN_LOD}
    assert unmarked(values["constant"]) is not unmarked(outer.values["constant"]), "one node cannot stand in two models"
    assert inner.find("complex") is values["complex"]
    assert inner.find("nothing") is None


def node(inputs, results=None, on_complex=False):
    """A node of the operator `mine` with these values as its inputs, one at each port."""
    variables = {"out": Variable("out", "complex64" if on_complex else "float32", (2,))}
    names = {port: [port] for port in inputs}
    operator = Operator("mine", names, results or {"out": ["out"]}, {}, "mine", 0, 0)
    return NodeContext(operator, {port: [value] for port, value in inputs.items()}, variables, None)


def test_a_converter_gets_what_is_within():
    x, y = output(2, 2), ConstantValue(np.array([1 + 2j], np.complex64))
    asked = node({"x": LoDTensor(ComplexValue(x), 3), "y": ComplexValue(y), "array": ComplexValue(EmptyTensorArray())})
    assert asked.get_input("x") is x
    assert asked.get_input("y").get_shape() == [1, 2]
    assert asked.get_known("y").tolist() == [1 + 2j]
    assert asked.is_known("y")
    assert asked.is_empty_array("array")
    assert asked.complex_inputs() == [("x", 0), ("y", 0), ("array", 0)]
    assert (asked.has_sequences("x"), asked.has_sequences("y")) == (True, False)
    assert asked.sequence_layout("x") == 3
    with pytest.raises(OpConversionError, match="'y' has no LoD"):
        asked.sequence_layout("y")
    with pytest.raises(OpConversionError, match=r"the lengths \(LoD\) of the sequences of 'x' are not known"):
        node({"x": LoDTensor(x, UNKNOWN_LOD)}).sequence_lengths("x")


def test_inputs_go_by_their_marks_and_results_by_their_declaration():
    x = output(2, 2)
    assert node({"x": ComplexValue(x)}).is_complex("x")
    assert not node({"x": x}, on_complex=True).is_complex("x")
    assert node({"x": x}, on_complex=True).is_complex("out")
    assert not node({"x": ComplexValue(x)}).is_complex("out")
    assert [
        node({"x": value}, on_complex=declared).has_complex() for value in (x, ComplexValue(x)) for declared in (0, 1)
    ] == [*(False, True, True, True)]


def test_parts_of_complex_numbers_are_real():
    """Sequences stay sequences."""
    asked = node({"x": LoDTensor(ComplexValue(output(4, 2)), 2), "y": ComplexValue(output(2))}, on_complex=True)
    real = asked.of_parts({("x", 0): 0})
    assert real.get_input("x").get_shape() == [4]
    assert [real.is_complex(name) for name in ("x", "y", "out")] == [False, True, False]
    assert real.sequence_layout("x") == 2
    assert not asked.of_parts({("x", 0): 0, ("y", 0): 1}).has_complex()


def test_small_constants_are_small_whatever_their_marks():
    constant = ConstantValue(np.zeros(3, np.float32))
    assert are_foldable({"x": [LoDTensor(constant, 1)], "y": [ComplexValue(constant)]})
    assert not are_foldable({"x": [LoDTensor(output(3), 1)]})


def test_weights_are_complex_by_their_data():
    """Nothing declares the variable: the weight itself is complex."""
    weight = Parameter("w", "complex64", np.array([1 + 2j, 3 - 1j], np.complex64))
    x = Variable("x", "complex64", (2,))
    rows = [("elementwise_mul", "x=x y=w", "out=out", {"axis": -1})]
    whole = program(rows, [x], "out", [Variable("out", "complex64", (2,)), Variable("w")], [weight], "legacy")
    model = paddle2ov.convert(whole)
    (product,) = openvino.compile_model(model, "CPU")([np.array([[0, 1], [2, 0]], np.float32)]).values()
    np.testing.assert_allclose(product, [[-2, 1], [6, -2]])


def test_a_branch_that_is_known_to_be_taken_hands_sequences_on():
    variables = [Variable(name, "float32", None, lod_level=1) for name in ("a", "b", "out", "pooled")]
    branches = block(1, ("relu", "x=a", "out=b"), outputs="b"), block(2, outputs="a")
    rows = [
        ("lod_reset", "x=x", "out=a", {"target_lod": [0, 3, 6]}),
        ("fill_constant", "", "out=condition", {"shape": [1], "value": 1.0, "dtype": "bool"}),
        ("if", "cond=condition", "out=out", {}, branches),
        ("sequence_pool", "x=out", "out=pooled", {"pooltype": "SUM"}),
    ]
    fed = [Variable("x", "float32", (-1, 2), lod_level=1)]
    variables.append(Variable("condition", "bool", (1,)))
    model = paddle2ov.convert(program(rows, fed, "pooled", variables, format="legacy"))
    x = np.arange(12, dtype=np.float32).reshape(6, 2)
    np.testing.assert_array_equal(openvino.compile_model(model, "CPU")([x])[0], x.reshape(2, 3, 2).sum(1))


def test_converters_mark_what_they_give():
    """A result may be complex or hold sequences whatever its declaration; NO_LOD is no mark."""

    def mine(node):
        x = node.get_input("x")
        return {"complex": ComplexValue(ops.concat([x, x], 1)), "rows": LoDTensor(x, 1), "none": LoDTensor(x, NO_LOD)}

    seen = {}

    def asks(node):
        seen.update({name: (node.is_complex(name), node.has_sequences(name)) for name in ("a", "b", "c")})
        return {"out": node.get_input("b")}

    fed = [Variable("x", "float32", (-1, 1), lod_level=1)]
    variables = [Variable(name, "float32", None, lod_level=1) for name in ("a", "b", "c", "out")]
    rows = [("mine", "x=x", "complex=a rows=b none=c"), ("asks", "a=a b=b c=c", "out=out")]
    whole = program(rows, fed, "out", variables, format="legacy")
    paddle2ov.convert(whole, extension={"mine": mine, "asks": asks})
    assert seen == {"a": (True, True), "b": (False, True), "c": (False, False)}
