"""Equations that Paddle's `einsum` writes into no program, as only a file made otherwise has them."""

import numpy as np
import pytest

from paddle2ov import OpConversionError
from tests.support.one_operator import run

X = np.ones((2, 2), np.float32)


@pytest.mark.parametrize(
    ("equation", "reason"),
    [
        ("01,12->02", "labels are letters"),
        ("ij,jk->iz", "the result has a label that no operand has"),
        ("ij,jk->ii", "a label twice in the result is not supported"),
        ("ij->ij", "it names 1 operands of 2"),
        ("ijk,jk->i", "'ijk' does not fit rank 2"),
        ("ij," * 400 + "jk", "an equation of 1202 characters is not supported"),
    ],
)
def test_refused(equation, reason):
    with pytest.raises(OpConversionError, match=reason):
        run("einsum", {"x": [X, X]}, {"equation": equation})
