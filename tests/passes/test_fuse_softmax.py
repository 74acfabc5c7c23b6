"""An exponential that is divided by its sum is a softmax, along the axis of the sum, in the spellings of programs."""

import numpy as np
import pytest
from openvino import opset16 as ops

from paddle2ov.passes.fuse_softmax import fuse_softmax
from tests.support.passes_checks import apply, kinds, reshape, stays


def total(x, axis, keep=True):
    return ops.reduce_sum(x, np.array(axis), keep)


def most(x, axis):
    return ops.reduce_max(x, np.array(axis), True)


def quotient(x, axis=-1):
    return ops.divide(ops.exp(x), total(ops.exp(x), axis))


def by_power(x, exponent=-1):
    return ops.multiply(ops.exp(x), ops.power(total(ops.exp(x), -1), np.float32(exponent)))


def unsqueezed(x, axis=1, added=1):
    return ops.divide(ops.exp(x), ops.unsqueeze(total(ops.exp(x), axis, False), np.array(added)))


def reshaped(x, *shape):
    return ops.divide(ops.exp(x), reshape(total(ops.exp(x), 1, False), *shape))


ALONE = ("Constant", "Parameter", "Result", "Softmax")
KNOWN, OPEN = (3, 3, 4), (-1, -1, -1)


SPELLINGS = {
    "quotient": (quotient, 2),
    "along another axis": (lambda x: quotient(x, 0), 0),
    "by power": (by_power, 2),
    "by power first": (lambda x: ops.multiply(ops.power(total(ops.exp(x), -1), np.float32(-1)), ops.exp(x)), 2),
    "of difference": (lambda x: quotient(ops.subtract(x, most(x, -1))), 2),
    "of negative": (lambda x: quotient(ops.add(ops.negative(most(x, -1)), x)), 2),
    "of product": (lambda x: quotient(ops.add(x, ops.multiply(most(x, -1), np.float32(-1)))), 2),
    "unsqueezed": (unsqueezed, 1),
    "unsqueezed from the end": (lambda x: unsqueezed(x, -1, -1), 2),
}


@pytest.mark.parametrize("dims", [KNOWN, OPEN], ids=["known", "open"])
@pytest.mark.parametrize(("build", "axis"), SPELLINGS.values(), ids=SPELLINGS)
def test_nothing_but_the_softmax_is_left(build, axis, dims):
    model, counts = apply(fuse_softmax, build, dims)
    assert counts == {"softmaxes": 1}
    assert kinds(model).keys() <= {*ALONE}
    (softmax,) = [node for node in model.get_ops() if node.get_type_name() == "Softmax"]
    assert softmax.get_attributes()["axis"] == axis


def test_a_reshape_adds_the_axis():
    model, counts = apply(fuse_softmax, lambda x: reshaped(x, 3, 1, 4), KNOWN)
    assert counts == {"softmaxes": 1}
    assert kinds(model).keys() <= {*ALONE}


@pytest.mark.parametrize(
    "logits",
    [
        lambda x: ops.subtract(x, most(x, 0)),
        lambda x: ops.subtract(x, most(ops.abs(x), -1)),
        lambda x: ops.add(x, ops.multiply(most(x, -1), np.float32(-2))),
    ],
    ids=["largest along another axis", "largest of another tensor", "twice the largest"],
)
def test_what_else_is_taken_off_before_the_exponential_stays(logits):
    model, counts = apply(fuse_softmax, lambda x: quotient(logits(x)), KNOWN)
    assert counts == {"softmaxes": 1}
    assert kinds(model)["ReduceMax"] == 1


@pytest.mark.parametrize(
    "build",
    [
        lambda x: quotient(x, [1, 2]),
        lambda x: by_power(x, -2),
        lambda x: by_power(x, 1),
        lambda x: ops.divide(total(ops.exp(x), -1), ops.exp(x)),
        lambda x: ops.divide(ops.exp(x), total(ops.exp(ops.negative(x)), -1)),
        lambda x: ops.divide(ops.exp(ops.add(x, np.float32(1))), total(ops.exp(ops.add(x, np.float32(2))), -1)),
        lambda x: ops.divide(ops.exp(ops.add(x, x)), total(ops.exp(ops.subtract(x, x)), -1)),
        lambda x: ops.divide(ops.exp(x), total(x, -1)),
        lambda x: ops.divide(ops.relu(x), total(ops.relu(x), -1)),
        lambda x: [ops.divide(ops.exp(x), most(ops.exp(x), -1)), total(x, -1)],
        lambda x: ops.divide(ops.exp(x), total(ops.exp(x), 0, False)),
        lambda x: unsqueezed(x, 1, 0),
        lambda x: ops.divide(ops.exp(x), ops.unsqueeze(total(ops.exp(x), 1), np.array(0))),
    ],
    ids=[
        "two axes",
        "divided by the square",
        "times the sum",
        "upside down",
        "sum of another exponential",
        "of other constants",
        "of another function",
        "sum of no exponential",
        "quotient of no exponential",
        "divided by the largest",
        "summed axis is not there",
        "added axis is another one",
        "an axis more",
    ],
)
def test_what_is_none_stays(build):
    assert stays(fuse_softmax, build, (3, 3, 3))


def test_a_reshape_to_other_axes_stays():
    assert stays(fuse_softmax, lambda x: reshaped(x, 1, 3, 3), (3, 3, 3))
    assert stays(fuse_softmax, lambda x: reshaped(x, 0, 1, -1), OPEN)
