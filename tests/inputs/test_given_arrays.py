"""Files of arrays: what is none, or says that it holds more than it does, is refused before it is read."""

import io
import re
import warnings
import zipfile

import numpy as np
import openvino
import pytest
from openvino import opset16 as ops

import paddle2ov
from paddle2ov.inputs.given_arrays import given_inputs, load, model_inputs
from paddle2ov.program.model import Block, Program, Variable


def zipped(text, method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("x.npy", text)
    return file.getvalue()


def headed(shape, descr="<f4", data=b"\0" * 24):
    header = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    return b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header + data


SAVED = io.BytesIO()
np.savez(SAVED, x=np.zeros(100))
NO_ARRAYS = [
    (b"", ""),
    (b"hello", ""),
    (b"PK\x03\x04nonsense", ""),
    (b"\x93NUMPY", ""),
    (SAVED.getvalue()[:-30], ""),
    (SAVED.getvalue()[:80] + bytes(40) + SAVED.getvalue()[120:], ""),
    (zipped(headed((2**40,))), "the header does not fit the data"),  # 4 TB, before any data is read
    (zipped(headed((2, 3), "|O", b"\x80\x04.")), "arrays of Python objects"),
    (zipped(headed((2, 3), "<f3")), "not a valid dtype|f3"),
    (zipped(b"\x93NUMPY\1\0\x05\0{1: ("), "EOF|header"),
    (zipped(bytes(2**20 + 1)), "more than 1048576 bytes"),
    (zipped(b"x").replace(b"\x08\0", b"\x63\0"), "compression"),
]


X, IDS = Variable("x", "float32", (-1, 3)), Variable("ids", "int64", (-1,))
PROGRAM = Program("pir", 0, Block(0), [X, IDS], [], {"x": X, "ids": IDS}, {})
GIVEN = {"x": np.array([[0.1, 1e-50, np.inf]]), "ids": np.array([1])}


def model():
    x, ids = ops.parameter([-1, 3], np.float32), ops.parameter([-1], np.int64)
    x.output(0).set_names({"x"})
    ids.output(0).set_names({"ids"})
    return openvino.Model([x, ids], [x, ids])


TAKERS = [lambda arrays: given_inputs(PROGRAM, arrays)[0], lambda arrays: model_inputs(model(), PROGRAM, arrays)]


@pytest.mark.parametrize("take", TAKERS, ids=["program", "model"])
def test_numbers_of_another_width_become_those_of_the_model(take):
    taken = take(GIVEN)
    assert take({**GIVEN, "ids": np.array([1], np.int32)})["ids"].dtype == np.int64
    assert taken["x"].dtype == np.float32
    np.testing.assert_array_equal(taken["x"], GIVEN["x"].astype(np.float32))
    assert take({**GIVEN, "x": GIVEN["x"].astype(np.float16)})["x"].dtype == np.float32


@pytest.mark.parametrize("take", TAKERS, ids=["program", "model"])
@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("x", np.array([[1e300, 0, 0]]), "which does not hold all of its numbers: convert it with array.astype"),
        ("x", np.array([[1, 2, 3]]), "'x' is int64, the .* takes f.*: convert it with array.astype"),
        ("ids", np.array([1], np.uint8), "'ids' is uint8, the .* takes i.*64: convert it with array.astype"),
        ("ids", np.array([1.0]), "'ids' is float64, the .* takes i.*64: convert it"),
    ],
)
def test_other_types_are_refused(take, name, array, message):
    with pytest.raises(paddle2ov.ConversionInputError, match=message):
        take({**GIVEN, name: array})


@pytest.mark.parametrize(("dtype", "array"), [("float8_e4m3fn", [0.5]), ("bfloat16", [1])])
def test_types_that_numpy_does_not_have_are_given_as_bits(dtype, array):
    variable = Variable("x", dtype, (-1,))
    program = Program("pir", 0, Block(0), [variable], [], {"x": variable}, {})
    with pytest.raises(paddle2ov.ConversionInputError, match=f"takes {dtype}: give its bits, as uint"):
        given_inputs(program, {"x": np.array(array)})


def test_floats_become_bfloat16():
    variable = Variable("x", "bfloat16", (-1,))
    program = Program("pir", 0, Block(0), [variable], [], {"x": variable}, {})
    (taken,) = given_inputs(program, {"x": np.array([0.5, -1])})
    assert taken["x"].tolist() == [0x3F00, 0xBF80]


@pytest.mark.parametrize("take", TAKERS, ids=["program", "model"])
def test_arrays_that_are_no_inputs_are_told(take):
    with pytest.warns(
        paddle2ov.ConversionWarning, match="inputs: 'y', 'z' are no inputs and are not used; the inputs are x"
    ):
        take({**GIVEN, "y": np.zeros(1), "z": np.zeros(1)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        take({**GIVEN, "x.lengths": np.zeros(1)})


@pytest.mark.parametrize(("content", "message"), NO_ARRAYS)
def test_files_that_hold_no_arrays(tmp_path, monkeypatch, content, message):
    monkeypatch.setattr("paddle2ov.inputs.given_arrays._MAX_BYTES", 2**20)
    path = tmp_path / "inputs.npz"
    path.write_bytes(content)
    wanted = rf"{re.escape(str(path))} is not an \.npz file of arrays: .*({message})"
    with pytest.raises(paddle2ov.ConversionInputError, match=wanted):
        load(path)
