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
from paddle2ov.inference import Config, DataType, PlaceType, PrecisionType, create_predictor
from paddle2ov.inference.request import Request, input_ports
from paddle2ov.inference.tensor import Tensor


class Reshaped(paddle.nn.Layer):
    def forward(self, x):
        return x.reshape([1, -1])


def saved(tmp_path, layer, dtype, shape):
    """A model of one input `x`."""
    paddle.disable_static()
    spec = [paddle.static.InputSpec(shape, dtype, "x")]
    paddle.jit.save(paddle.jit.to_static(layer, input_spec=spec), str(tmp_path / "inference"))
    return tmp_path


@pytest.mark.parametrize(
    "name", ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int8", "uint8", "bool"]
)
def test_handles_tell_the_type_as_paddle_does(name, tmp_path):
    folder = saved(tmp_path, Reshaped(), name, [-1])
    theirs = paddle.inference.create_predictor(paddle.inference.Config(str(folder / "inference.json"), ""))
    if name == "bfloat16":
        theirs.get_input_handle("x").share_external_data(paddle.zeros([2]).astype(name))
    else:
        theirs.get_input_handle("x").copy_from_cpu(np.zeros(2, name))
    theirs.run()
    ours = create_predictor(Config(folder))
    ours.run([paddle.zeros([2]).astype(name)])
    for found, expected in (
        (ours.get_input_handle("x"), theirs.get_input_handle("x")),
        *((ours.get_output_handle(out), theirs.get_output_handle(out)) for out in ours.get_output_names()),
    ):
        assert found.type() is DataType[name.upper()]
        assert int(found.type()) == int(expected.type())
        assert found.type().name == expected.type().name
        if name != "bfloat16":
            assert found.type() == np.dtype(name)
            assert np.zeros(1).astype(found.type()).dtype == name


def test_data_types_are_those_of_paddle():
    theirs = paddle.inference.DataType
    assert {name: int(one) for name, one in DataType.__members__.items()} == {
        name: int(one) for name, one in theirs.__members__.items()
    }
    for name, one in DataType.__members__.items():
        assert theirs.__members__[name] == int(one)
        assert one == int(one)
        assert hash(one) == hash(int(one))
        assert DataType(int(one)) is one
        size = paddle.inference.get_num_bytes_of_data_type(theirs.__members__[name])
        assert size in (-1, inference.get_num_bytes_of_data_type(one))  # -1: Paddle does not know
    for single in (np.float32, np.dtype(np.float32)):
        assert DataType.FLOAT32.__eq__(single)
        assert not DataType.FLOAT64.__eq__(single)
        assert single != DataType.FLOAT64
    assert np.dtype(np.float32) == DataType.FLOAT32
    assert DataType.FLOAT32 != "FLOAT32"
    assert DataType.FLOAT32 != DataType.INT64
    assert str(DataType.INT64) == "DataType.INT64"
    with pytest.raises(ConversionInputError, match="get_num_bytes_of_data_type: 1 is not a DataType"):
        inference.get_num_bytes_of_data_type(1)


@pytest.mark.parametrize("kind", [PrecisionType, PlaceType])
def test_other_enumerations_have_numbers(kind):
    theirs = getattr(paddle.inference, kind.__name__)
    for name, one in kind.__members__.items():
        assert int(one) == operator.index(one) == int(theirs.__members__[name])
        assert (one == int(one)) is (theirs.__members__[name] == int(one)) is False


def test_a_type_without_a_name_is_refused():
    x = ops.parameter([2], np.int16, name="x")
    x.output(0).set_names({"x"})
    compiled = openvino.compile_model(openvino.Model([ops.convert(x, "f32")], [x]), "CPU")
    handle = Tensor(Request(compiled, threading.RLock(), drops_errors=False), input_ports(compiled)[0])
    with pytest.raises(ConversionInputError, match="'x' is int16, for which DataType has no name"):
        handle.type()
