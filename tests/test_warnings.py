"""What only the run decides and OpenVINO cannot express is said, with its place; a known size makes it exact."""

import pytest

import paddle2ov
from paddle2ov import ConversionWarning
from paddle2ov.program.model import Block, Operator, Output, Program, Variable


def squeezed(**options):
    """A squeeze of all dimensions of 1 from x [-1, 1, 3]."""
    x = Variable("x", "float32", (-1, 1, 3))
    operator = Operator("squeeze2", {"x": ["x"]}, {"out": ["y"]}, {"axis": []}, "squeeze2", 0, 0)
    block = Block(0, inputs=["x"], operators=[operator], outputs=["y"])
    variables = {"x": x, "y": Variable("y", "float32", (-1, 3))}
    return paddle2ov.convert(Program("legacy", 2_006_002, block, [x], [Output("y", "y")], variables, {}), **options)


def test_squeeze_of_a_dimension_that_may_be_one():
    with pytest.warns(ConversionWarning, match=r"(?s)'squeeze2': Paddle drops dimension 0 .* block 0, operator 0"):
        assert str(squeezed().output(0).partial_shape) == "[?,3]"


@pytest.mark.parametrize(("size", "shape"), [(1, "[3]"), (4, "[4,3]"), ((2, 9), "[2..9,3]"), ((2, -1), "[2..,3]")])
def test_squeeze_of_a_dimension_that_is_known(size, shape, recwarn):
    assert str(squeezed(input={"x": [size, 1, 3]}).output(0).partial_shape) == shape
    assert not recwarn.list
