"""Parameters whose type in the file is not the one that the program declares: Paddle takes that of the file."""

import struct

import numpy as np
import openvino
import paddle
import pytest

import paddle2ov
from paddle2ov import ModelReadError, Paddle2OVError
from paddle2ov.program.dtypes import LEGACY as NUMBERS
from paddle2ov.program.framework_proto import TensorDesc
from tests.inference.small_models import handles, theirs
from tests.support.models import save_program

IDS = np.array([[1, 0, 3]])
VALUES = np.arange(12).reshape(4, 3) / 4
STORED = ["int8", "int32", "int64", "float16", "float32", "float64"]


def rewritten(path, dtype, values):
    """Writes the only parameter of a file again, as another type."""
    number = next(number for number, name in NUMBERS.items() if name == dtype)
    desc = TensorDesc(data_type=number, dims=values.shape).SerializeToString()
    header = struct.pack("<IQIi", 0, 0, 0, len(desc))
    path.write_bytes(header + desc + values.astype(dtype).tobytes())


def looked_up(x, declared):
    return paddle.nn.functional.embedding(x, parameter(declared))


def cast(x, declared):
    return x.astype("float32") + parameter(declared).astype("float32")[0]


def added(x, declared):
    return x.astype(declared) + parameter(declared)[0]


def parameter(declared):
    return paddle.static.create_parameter([4, 3], declared, default_initializer=paddle.nn.initializer.Constant(0))


@pytest.fixture
def save(tmp_path):
    """Saves a program with a parameter of one type, and its file with another one."""

    def save(build, declared, stored, is_pir, values):
        save_program(tmp_path, lambda x: build(x, declared), legacy=not is_pir, x=([-1, 3], "int64"))
        rewritten(tmp_path / "inference.pdiparams", stored, values)
        return tmp_path

    return save


def of_paddle(folder):
    predictor = theirs(folder)
    x, result = handles(predictor)
    x.copy_from_cpu(IDS)
    predictor.run()
    return result.copy_to_cpu()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("is_pir", [True, False], ids=["pir", "legacy"])
@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize(
    ("build", "declared"),
    [(looked_up, "float16"), (cast, "int64"), (added, "float32")],
)
def test_what_paddle_computes_is_computed(build, declared, stored, is_pir, save):
    """`cast_model_to_fp16` of Paddle 2.6 leaves such a program: a table of float16, in the file float32."""
    folder = save(build, declared, stored, is_pir, VALUES if declared != "int64" else np.rint(VALUES))
    try:
        expected = of_paddle(folder)
    except (ValueError, RuntimeError):
        expected = None
    try:
        model = paddle2ov.convert(folder)
        actual = openvino.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})([IDS])[0]
    except Paddle2OVError:
        actual = None
    if expected is not None:
        assert actual.dtype == expected.dtype
        np.testing.assert_allclose(actual, expected, rtol=1e-6)


@pytest.mark.parametrize(("declared", "stored"), [("int64", "float32"), ("float32", "complex64")])
def test_what_would_lose_numbers_is_refused(declared, stored, save):
    folder = save(cast, declared, stored, True, VALUES)
    with pytest.raises(ModelReadError, match=f"the program declares {declared}, the file holds {stored}"):
        paddle2ov.convert(folder)
