"""`DataType` and its neighbours beside those of Paddle."""

import operator
import threading

import numpy as np
import openvino
import paddle
import paddle.inference
import pytest
from openvino import opset16 as ops

from paddle2ov import ConversionInputError, inference
from paddle2ov.inference import DataType, PlaceType, PrecisionType
from paddle2ov.inference.array_types import as_type
from paddle2ov.inference.request import Request, ports_of
from paddle2ov.inference.tensor import Tensor
from tests.inference.small_models import handles, ours, saved, theirs


@pytest.mark.parametrize(
    "name", ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int8", "uint8", "bool"]
)
def test_handles_tell_the_type_as_paddle_does(name, tmp_path):
    folder = saved(tmp_path, lambda x: x.reshape([1, -1]), name, [-1])
    known, predictor = theirs(folder), ours(folder)
    zeros = paddle.zeros([2]).astype(name)
    if name == "bfloat16":
        known.get_input_handle("x").share_external_data(zeros)
    else:
        known.get_input_handle("x").copy_from_cpu(zeros.numpy())
    known.run()
    predictor.run([zeros])
    for handle, expected in zip(handles(predictor), handles(known), strict=True):
        assert handle.type() is DataType[name.upper()]
        assert int(handle.type()) == int(expected.type())
        assert handle.type().name == expected.type().name
        if name != "bfloat16":
            assert handle.type() == np.dtype(name)
            assert np.zeros(1).astype(handle.type()).dtype == name


def test_data_types_are_those_of_paddle():
    known = paddle.inference.DataType
    assert {name: int(member) for name, member in DataType.__members__.items()} == {
        name: int(member) for name, member in known.__members__.items()
    }
    for name, member in DataType.__members__.items():
        assert known.__members__[name] == int(member)
        assert member == int(member)
        assert hash(member) == hash(int(member))
        assert DataType(int(member)) is member
        size = paddle.inference.get_num_bytes_of_data_type(known.__members__[name])
        assert size in (-1, inference.get_num_bytes_of_data_type(member))  # -1: Paddle does not know
    for single in (np.float32, np.dtype(np.float32)):
        assert DataType.FLOAT32.__eq__(single)
        assert not DataType.FLOAT64.__eq__(single)
        assert single != DataType.FLOAT64
    assert np.dtype(np.float32) == DataType.FLOAT32
    assert DataType.FLOAT32 != "FLOAT32"
    assert DataType.FLOAT32 != DataType.INT64
    assert str(DataType.INT64) == str(known.INT64) == "PaddleDType.INT64"
    with pytest.raises(ConversionInputError, match="get_num_bytes_of_data_type: 1 is not a DataType"):
        inference.get_num_bytes_of_data_type(1)


@pytest.mark.parametrize("kind", [PrecisionType, PlaceType])
def test_other_enumerations_have_numbers(kind):
    known = getattr(paddle.inference, kind.__name__)
    for name, member in kind.__members__.items():
        assert int(member) == operator.index(member) == int(known.__members__[name])
        assert (member == int(member)) is (known.__members__[name] == int(member)) is False


def test_a_type_without_a_name_is_refused():
    x = ops.parameter([2], np.int16, name="x")
    x.output(0).set_names({"x"})
    compiled = openvino.compile_model(openvino.Model([ops.convert(x, "f32")], [x]), "CPU")
    handle = Tensor(
        Request(compiled, threading.RLock(), drops_errors=False), ports_of(compiled.inputs, is_input=True)[0]
    )
    with pytest.raises(ConversionInputError, match="'x' is int16, for which DataType has no name"):
        handle.type()


@pytest.mark.parametrize(
    ("declared", "array", "number"),
    [
        ("int64", np.float32(0.5), "0.5"),
        ("int64", np.float64("nan"), "nan"),
        ("int64", np.float64(2.0**63), "9.22"),
        ("int64", np.uint64(2**63), "9223372036854775808"),
        ("int32", np.int64(2**31), "2147483648"),
        ("uint8", np.int8(-1), "-1"),
        ("int8", np.uint8(200), "200"),
        ("bool", np.int64(2), "2"),
        ("float32", np.int64(2**24 + 1), "16777217"),
        ("float32", np.float64(0.1), "0.1"),
        ("float16", np.float32(1e6), "1000000.0"),
    ],
)
def test_numbers_that_a_type_does_not_have_are_refused(declared, array, number):
    with pytest.raises(ValueError, match=number):
        as_type(np.array([1, array], array.dtype), declared)


@pytest.mark.parametrize(
    ("declared", "array"),
    [
        ("int64", np.array([-(2.0**63), 2.0**62])),
        ("int64", np.array([0, 2**63 - 1], np.uint64)),
        ("int32", np.array([-(2**31), 2**31 - 1])),
        ("uint8", np.array([0, 255], np.float16)),
        ("float32", np.array([-(2**24), 2**24])),
        ("float32", np.array([0.5, np.nan, np.inf])),
        ("float64", np.array([0.1], np.float32)),
        ("float16", np.array([np.inf, 65504], np.float32)),
        ("float32", np.array([1, 2], ">f4")),
        ("int64", np.zeros((0, 2), np.float32)),
        ("bool", np.array(1)),
    ],
)
def test_numbers_that_a_type_has_are_kept(declared, array):
    converted = as_type(array, declared)
    assert converted.dtype == declared
    assert converted.shape == array.shape
    np.testing.assert_array_equal(converted, array)
