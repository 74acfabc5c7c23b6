"""Complex numbers never reach a converter that is written for real ones."""

import numpy as np
import pytest

import paddle2ov
from paddle2ov.compilation.running import run
from paddle2ov.converters import joining
from paddle2ov.converters.complex import rules
from paddle2ov.graph.complex_pairs import make_complex, real_imag
from paddle2ov.graph.opset import ops
from paddle2ov.op_table import OP_TABLE
from paddle2ov.program.model import Variable
from paddle2ov.translation.complex_aware import ComplexAware
from tests.support import programs


def program(op, attributes=None, dtype="complex64", result="complex64"):
    """A program of one operator on a complex tensor."""
    rows = [(op, "x=x", "out=out", attributes or {})]
    return programs.program(rows, [Variable("x", dtype, (2, 3))], "out", [Variable("out", result)])


def test_an_operator_without_a_rule_refuses_complex_numbers():
    with pytest.raises(paddle2ov.OpConversionError, match=r"softmax.*complex"):
        paddle2ov.convert(program("softmax", {"axis": -1}))


def test_an_operator_without_a_rule_refuses_to_make_complex_numbers():
    with pytest.raises(paddle2ov.OpConversionError, match="complex"):
        paddle2ov.convert(program("softmax", {"axis": -1}, dtype="float32"))


def test_a_shape_without_the_parts_is_refused():
    expected = r"'x' has 3 dimensions in the program \(\[2, 3, 2\], the last one of real and imaginary parts\); shape"
    with pytest.raises(paddle2ov.ConversionInputError, match=expected):
        paddle2ov.convert(program("flip", {"axis": [-1]}), input={"x": [2, 3]})


def test_axes_are_those_of_the_complex_tensor():
    x = np.arange(6).reshape(2, 3) + 1j
    model = paddle2ov.convert(program("flip", {"axis": [-1]}))
    (result,) = run(model, {"x": x.astype("complex64")})
    np.testing.assert_array_equal(result.array[..., 0] + 1j * result.array[..., 1], x[:, ::-1])


def test_a_converter_of_the_users_own_gets_pairs():
    model = paddle2ov.convert(program("mine"), extension={"mine": lambda node: {"out": node.get_input("x")}})
    assert model.output(0).get_partial_shape() == [2, 3, 2]


def test_infinite_numbers_have_no_imaginary_part():
    """Paddle casts infinity to inf + 0j; the logarithm of the determinant of a singular matrix is -inf + 0j."""
    infinite = np.array([[np.inf, -np.inf, 1], [2, 3, 4]], np.float32)
    (result,) = run(paddle2ov.convert(program("cast", dtype="float32")), {"x": infinite})
    np.testing.assert_array_equal(result.array, np.stack([infinite, np.zeros_like(infinite)], -1))
    outputs = [Variable("sign", "complex64"), Variable("logdet", "complex64")]
    rows = [("slogdet_v2", "x=x", "out=sign logdet=logdet", {})]
    singular = programs.program(rows, [Variable("x", "complex64", (2, 2))], "logdet", outputs)
    (result,) = run(paddle2ov.convert(singular), {"x": np.zeros((2, 2), np.complex64)})
    np.testing.assert_array_equal(result.array, [-np.inf, 0])


def test_a_rule_leaves_a_converter_its_name():
    """Coverage, messages and tests go by the converter's module, name and documentation."""
    with_rules = [value for value in OP_TABLE.values() if isinstance(value, ComplexAware)]
    assert with_rules
    for rule in with_rules:
        wrapped = rule.convert
        names = ("__module__", "__qualname__", "__doc__")
        assert [getattr(rule, name) for name in names] == [getattr(wrapped, name) for name in names]
    assert rules.linear(joining.concat).__name__ == "concat"


def test_joined_parts_are_not_taken_apart_again():
    real, imag = (ops.parameter([2, 3], np.float32) for _ in range(2))
    both = real_imag(make_complex(real, imag))
    assert [part.get_node().get_name() for part in both] == [real.get_name(), imag.get_name()]
