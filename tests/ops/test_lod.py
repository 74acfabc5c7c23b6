"""Sequences in one tensor (LoD): what is known of them, and what is refused because it is not."""

import numpy as np
import openvino
import pytest

import paddle2ov
from paddle2ov.errors import OpConversionError
from paddle2ov.program.model import Variable
from tests.support.programs import program


def convert(*rows, lod_level=1, declared=1):
    """A model of operators on the input x [-1, 2]; the last one gives its result."""
    x = Variable("x", "float32", (-1, 2), lod_level=lod_level)
    variables = [Variable(name, "float32", None, lod_level=declared) for name in "abc"]
    return paddle2ov.convert(program(rows, [x], rows[-1][2].removeprefix("out="), variables, format="legacy"))


def pool(source, result="b"):
    return ("sequence_pool", f"x={source}", f"out={result}", {"pooltype": "SUM"})


def reset(*offsets):
    return ("lod_reset", "x=x", "out=a", {"target_lod": list(offsets)})


X = np.arange(12, dtype=np.float32).reshape(6, 2)


def run(model):
    return openvino.compile_model(model, "CPU")([X])[0]


def test_what_is_fed_is_one_sequence():
    np.testing.assert_array_equal(run(convert(pool("x"))), X.sum(0, keepdims=True))


def test_other_operators_hand_sequences_on():
    model = convert(reset(0, 3, 6), ("relu", "x=a", "out=b"), pool("b", "c"))
    np.testing.assert_array_equal(run(model), X.reshape(2, 3, 2).sum(1))


def test_a_tensor_without_lod_is_no_sequence():
    with pytest.raises(OpConversionError, match="'x' has no LoD"):
        convert(pool("x"), lod_level=0)


def test_a_result_that_is_declared_without_lod_is_no_sequence():
    with pytest.raises(OpConversionError, match=r"'a' has no LoD|'x' has no LoD"):
        convert(("relu", "x=x", "out=a"), pool("a"), declared=0)


def test_sequences_of_sequences_are_refused():
    with pytest.raises(OpConversionError, match="are not known"):
        convert(pool("x"), lod_level=2)


@pytest.mark.parametrize("declared", [0, 1])
def test_sequences_of_all_that_is_concatenated(declared):
    both = ("concat", "x=x,a", "out=b", {"axis": 0})
    model = convert(reset(0, 1, 6), both, pool("b", "c"), declared=declared)
    np.testing.assert_allclose(run(model), [X.sum(0), X[0], X[1:].sum(0)])


def test_sequences_may_differ_in_length():
    np.testing.assert_allclose(run(convert(reset(0, 1, 6), pool("a"))), [X[0], X[1:].sum(0)])


def test_a_pooled_sequence_is_none():
    with pytest.raises(OpConversionError, match="has no LoD"):
        convert(pool("x", "a"), pool("a"))


@pytest.mark.parametrize("declared", [(-1,), (-1, 1)])
@pytest.mark.parametrize("of", ["lengths", "steps"])
def test_lengths_that_an_old_program_declares_as_a_column(declared, of):
    """Before Paddle 1.6, `sequence_pad` gives lengths of [count, 1], as a program of it declares."""
    rows = [
        ("lod_reset", "x=x", "out=a", {"target_lod": [0, 2, 6]}),
        ("fill_constant", "", "out=zero", {"shape": [1], "value": 0.0, "dtype": 5}),
        ("sequence_pad", "x=a pad_value=zero", "out=b length=lengths", {"padded_length": -1}),
        ("sequence_unpad", "x=b length=lengths", "out=steps"),
    ]
    x = Variable("x", "float32", (-1, 2), lod_level=1)
    variables = [Variable("a", "float32", (-1, 2), lod_level=1), Variable("lengths", "int64", declared)]
    model = paddle2ov.convert(program(rows, [x], of, variables, format="legacy"))
    lengths = np.array([2, 4]).reshape(declared)
    np.testing.assert_array_equal(run(model), lengths if of == "lengths" else X, strict=of == "lengths")


@pytest.mark.parametrize("shape", [(2,), (2, 1)])
def test_lengths_of_unknown_rank(shape):
    x, lengths = Variable("x", "float32", (2, 3, 2)), Variable("lengths", "int64", None)
    rows = [("sequence_unpad", "x=x length=lengths", "out=out")]
    model = paddle2ov.convert(program(rows, [x, lengths], "out", format="legacy"))
    model.reshape({"x": [2, 3, 2], "lengths": shape})  # which the CPU plugin needs
    found = openvino.compile_model(model, "CPU")([X.reshape(2, 3, 2), np.array([1, 2]).reshape(shape)])[0]
    np.testing.assert_array_equal(found, X[[0, 3, 4]])
