"""What errors say; they survive the way between processes, as multiprocessing and pytest-xdist send them."""

import copy
import pickle

import numpy as np
import pytest

from paddle2ov import (
    ConversionInputError,
    ModelReadError,
    OpConversionError,
    OpInputError,
    Place,
    UnsupportedOpsError,
    convert,
)
from paddle2ov.errors import RewriteError, described, some_of, system_message
from tests.support.growth import grows_less
from tests.support.one_operator import program

PLACE = Place(0, 3, "gru", "h", ('File "net.py", line 7, in forward', "h = self.gru(x)"))


@pytest.mark.parametrize(
    "error",
    [
        ModelReadError("no such file"),
        ConversionInputError("no such input"),
        OpConversionError(PLACE, "mode 3"),
        OpInputError(PLACE, "mode 3", ["'x' as [1] (the program declares [2] float32)"]),
        UnsupportedOpsError([PLACE, Place(1, 0, "lstm"), Place(1, 4, "gru"), Place(2, 0, "lstm"), Place(2, 1, "lstm")]),
        RewriteError("fuse_transposes", "no order"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("way", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))], ids=["copy", "pickle"])
def test_copy(error, way):
    same = way(error)
    assert type(same) is type(error)
    assert str(same) == str(error)
    assert vars(same) == vars(error)
    assert same.refusals == error.refusals


@pytest.mark.parametrize("shapes", [{"y_0": [2, -1]}, [[2, 5], [2, -1]]], ids=["by name", "by position"])
def test_the_shape_that_stops_an_operator_is_named(shapes):
    whole, _ = program("conv_shift", {"x": np.ones([2, 5], np.float32), "y": np.ones([2, 3], np.float32)}, {})
    with pytest.raises(OpInputError, match=r"'y_0' as \[2,\?\] \(the program declares \[2, 3\]"):
        convert(whole, input=shapes)


@pytest.mark.parametrize("part", ["f32[1,2,3], ", "Check '", "' failed at "])
def test_long_lines_are_described_in_linear_time(part):
    assert grows_less(lambda count: lambda: described(RuntimeError(part * count)), 2000, 16000, 24)


def test_only_errors_of_openvino_go_without_their_type():
    assert (
        described(RuntimeError("Exception from src/a.cpp:3:\nCheck 'x' failed at src/b.cpp:4:\nno shape")) == "no shape"
    )
    assert described(RecursionError("too deep")) == "RecursionError: too deep"


def test_what_the_system_says_of_a_file_that_is_there():
    assert system_message(FileExistsError(17, "File exists", "net.xml")) == "net.xml: File exists"


@pytest.mark.parametrize(("count", "told"), [(1, "0"), (10, "0, 1, 2, 3, 4, 5, 6, 7, 8, 9")])
def test_few_names_are_all_listed(count, told):
    assert some_of(list(map(str, range(count)))) == told


def test_many_names_are_counted():
    assert some_of(list(map(str, range(408)))) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 398 more"
