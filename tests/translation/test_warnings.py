"""What only the run decides and OpenVINO cannot express is said, with its place; a known size makes it exact."""

import logging
import warnings

import pytest

import paddle2ov
from paddle2ov import ConversionWarning
from paddle2ov.program.model import Variable
from tests.support.programs import program


def squeezed(**options):
    """A squeeze of all dimensions of 1 from x [-1, 1, 3]."""
    x, y = Variable("x", "float32", (-1, 1, 3)), Variable("y", "float32", (-1, 3))
    rows = [("squeeze2", "x=x", "out=y", {"axis": []})]
    return paddle2ov.convert(program(rows, [x], "y", [y], format="legacy"), **options)


def test_squeeze_of_a_dimension_that_may_be_one():
    with pytest.warns(
        ConversionWarning, match=r"(?s)'squeeze2': Paddle drops dimension 0, of input 'x', where .* block 0, operator 0"
    ) as caught:
        assert str(squeezed().output(0).partial_shape) == "[?,3]"
    assert [warning.filename for warning in caught] == [__file__]  # the line that converts, not one of the converter


def test_a_warning_that_is_an_error_says_all_once():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConversionWarning)
        with pytest.raises(paddle2ov.OpConversionError, match="cannot convert 'squeeze2': Paddle drops") as error:
            squeezed()
    assert str(error.value).count("squeeze2'") == str(error.value).count("block 0, operator 0") == 1


@pytest.mark.parametrize(("size", "shape"), [(1, "[3]"), (4, "[4,3]"), ((2, 9), "[2..9,3]"), ((2, -1), "[2..,3]")])
def test_squeeze_of_a_dimension_that_is_known(size, shape, recwarn):
    assert str(squeezed(input={"x": [size, 1, 3]}).output(0).partial_shape) == shape
    assert not recwarn.list


@pytest.mark.parametrize("used", [["w"], ["w", "v"]])
def test_signs_of_vectors(used, recwarn):
    x, w, v = Variable("x", "float32", (3, 3)), Variable("w", "float32", (3,)), Variable("v", "float32", (3, 3))
    rows = [("eigh", "x=x", "out_w=w out_v=v", {"UPLO": "L"})]
    paddle2ov.convert(program(rows, [x], " ".join(used), [w, v]))
    said = [str(item.message) for item in recwarn.list if item.category is ConversionWarning]
    assert ["vectors of 'out_v' may be the negatives of Paddle's" in item for item in said] == [True] * (len(used) - 1)


def test_verbose_is_over_when_the_conversion_is():
    """The level of the library's log, and what listens to it, are as before."""
    log = logging.getLogger("paddle2ov")
    before = log.level, list(log.handlers)
    with pytest.warns(ConversionWarning):
        squeezed(verbose=True)
    assert (log.level, log.handlers) == before
