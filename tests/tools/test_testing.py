"""The harness itself: it must fail on anything that differs. Models are made by hand; no Paddle, no converter."""

import json
import sys
import traceback

import numpy as np
import openvino
import pytest

from paddle2ov import testing
from paddle2ov.errors import Paddle2OVError
from paddle2ov.graph.opset import ops
from paddle2ov.testing import MismatchError, check_case

X = np.array([[1.0, -2.0, 3.0]], np.float32)


def write_case(folder, outputs, inputs=None, names=("out",), dtypes=None, **case):
    """A case folder as gen_models writes it, without a model."""
    np.savez(folder / "inputs.npz", **({"x": X} if inputs is None else inputs))
    np.savez(folder / "outputs.npz", **{str(i): np.asarray(output) for i, output in enumerate(outputs)})
    dtypes = dtypes or [str(np.asarray(output).dtype) for output in outputs]
    described = [{"name": name, "dtype": dtype} for name, dtype in zip(names, dtypes, strict=True)]
    record = {"op": "op", "format": "pir", "case": {"name": "op_test_1", **case}, "outputs": described}
    (folder / "case.json").write_text(json.dumps(record))
    return folder


def returning(monkeypatch, *results, names=None, shape=(1, 3), dtype=np.float32):
    """Puts a converter in place whose model has input x and these functions of x as results."""
    asked = []

    def convert(folder, input=None, extension=None):
        asked.append(input)
        x = ops.parameter([-1] * len(shape) if input else list(shape), dtype, name="x")
        x.output(0).set_names({"x"})
        outputs = []
        for i, result in enumerate(results):
            node = ops.result(result(x) if callable(result) else ops.constant(result))
            node.input_value(0).add_names({names[i] if names else ("out" if i == 0 else f"out{i}")})
            outputs.append(node)
        return openvino.Model(outputs, [x], "model")

    monkeypatch.setattr(testing, "convert", convert)
    return asked


def double(x):
    return ops.multiply(x, ops.constant(np.float32(2)))


def test_equal_results_pass_in_both_variants(monkeypatch, tmp_path):
    asked = returning(monkeypatch, double)
    check_case(write_case(tmp_path, [2 * X]))
    assert asked == [None, {"x": [-1, -1]}]


def test_case_without_dynamic_is_converted_once(monkeypatch, tmp_path):
    asked = returning(monkeypatch, double)
    check_case(write_case(tmp_path, [2 * X], dynamic=False))
    assert asked == [None]


def test_program_without_fixed_dimensions_is_converted_once(monkeypatch, tmp_path):
    asked = returning(monkeypatch, double, shape=(-1, -1))
    check_case(write_case(tmp_path, [2 * X]))
    assert asked == [None]


def test_wrong_value_is_described(monkeypatch, tmp_path):
    returning(monkeypatch, double)
    wrong = 2 * X
    wrong[0, 1] += 0.5
    wrong[0, 2] += 0.1
    with pytest.raises(MismatchError) as error:
        check_case(write_case(tmp_path, [wrong]))
    message = str(error.value)
    for part in ("op_test_1", "pir", "as declared", str(tmp_path), "'out'", "2 of 3", "[0, 1]", "-4.0", "-3.5", "atol"):
        assert part in message


@pytest.mark.parametrize(
    ("ours", "paddle", "message"),
    [
        (np.array([1], np.float32), np.array([1], np.float64), "type f32 in OpenVINO, float64 in Paddle"),
        (np.array([1], np.int32), np.array([1], np.int64), "type i32 in OpenVINO, int64 in Paddle"),
        (np.array([1], np.float32), np.float32(1), r"shape \[1\] in OpenVINO, \[\] in Paddle"),
        (np.float32(1), np.array([1], np.float32), r"shape \[\] in OpenVINO, \[1\] in Paddle"),
        (np.zeros([0, 3], np.float32), np.zeros([0, 2], np.float32), r"shape \[0, 3\] in OpenVINO, \[0, 2\] in Paddle"),
        (np.array([1, 1], np.float32), np.array([1, 1.0001], np.float32), "1 of 2 elements differ"),
        (np.array([np.nan], np.float32), np.array([1], np.float32), "1 of 1 elements differ"),
        (np.array([1], np.float32), np.array([np.nan], np.float32), "1 of 1 elements differ"),
        (np.array([np.inf], np.float32), np.array([-np.inf], np.float32), "1 of 1 elements differ"),
        (np.array([3e38], np.float32), np.array([np.inf], np.float32), "1 of 1 elements differ"),
        (np.array([np.inf], np.float32), np.array([np.nan], np.float32), "1 of 1 elements differ"),
        (np.array([100001], np.int64), np.array([100000], np.int64), "1 of 1 elements differ"),
        (np.array([255], np.uint8), np.array([0], np.uint8), "OpenVINO .*255.*, Paddle .*0"),
        (np.array([True]), np.array([False]), "1 of 1 elements differ"),
        (np.array([1], np.float16), np.array([1.01], np.float16), "1 of 1 elements differ"),
    ],
)
def test_difference_fails(monkeypatch, tmp_path, ours, paddle, message):
    returning(monkeypatch, ours)
    with pytest.raises(MismatchError, match=message):
        check_case(write_case(tmp_path, [paddle]))


@pytest.mark.parametrize(
    ("ours", "paddle"),
    [
        (np.array([1, 1e6], np.float32), np.array([1.00002, 1e6 + 10], np.float32)),
        (np.array([np.nan, np.inf, -np.inf], np.float32), np.array([np.nan, np.inf, -np.inf], np.float32)),
        (np.float32(1), np.float32(1)),
        (np.zeros([0, 3], np.float32), np.zeros([0, 3], np.float32)),
        (np.array([-5], np.int64), np.array([-5], np.int64)),
        (np.array([1], np.float16), np.array([1.001], np.float16)),
    ],
)
def test_equal_enough_passes(monkeypatch, tmp_path, ours, paddle):
    returning(monkeypatch, ours)
    check_case(write_case(tmp_path, [paddle]))


def test_tolerance_is_the_case_s(monkeypatch, tmp_path):
    returning(monkeypatch, np.array([1], np.float32))
    folder = write_case(tmp_path, [np.array([1.05], np.float32)], atol=0.1)
    check_case(folder)


@pytest.mark.parametrize("results", [[], [double, double]])
def test_number_of_results(monkeypatch, tmp_path, results):
    returning(monkeypatch, *results)
    with pytest.raises(MismatchError, match=f"{len(results)} results, Paddle has 1"):
        check_case(write_case(tmp_path, [2 * X]))


def test_swapped_results(monkeypatch, tmp_path):
    returning(monkeypatch, double, double, names=("b", "a"))
    with pytest.raises(MismatchError, match=r"result 0 \('a'\): is called 'b'"):
        check_case(write_case(tmp_path, [2 * X, 2 * X], names=("a", "b")))


def test_any_name_of_a_result_counts(monkeypatch, tmp_path):
    def twice(x):
        node = double(x)
        node.output(0).set_names({"a"})  # beside the one that it is given
        return node

    returning(monkeypatch, twice)
    check_case(write_case(tmp_path, [2 * X]))


def test_dynamic_variant_alone_wrong(monkeypatch, tmp_path):
    returning(monkeypatch, lambda x: double(x) if x.get_partial_shape().is_static else ops.negative(x))
    with pytest.raises(MismatchError, match=r"op_test_1 \(pir\), all dimensions dynamic, .* elements differ"):
        check_case(write_case(tmp_path, [2 * X]))


def test_bfloat16_is_compared_by_value(monkeypatch, tmp_path):
    bits = np.array([0x3F80, 0x4000], np.uint16)  # 1, 2
    returning(monkeypatch, lambda x: ops.convert(x, "bf16"), shape=(2,))
    folder = write_case(tmp_path, [bits], {"x": np.array([1, 2], np.float32)}, dtypes=["bfloat16"])
    check_case(folder)
    write_case(tmp_path, [bits], {"x": np.array([1, 2.2], np.float32)}, dtypes=["bfloat16"])
    with pytest.raises(MismatchError, match="1 of 2 elements differ"):
        check_case(folder)


def test_complex_numbers_are_pairs(monkeypatch, tmp_path):
    returning(monkeypatch, lambda x: x, shape=(2, 2))
    folder = write_case(
        tmp_path, [np.array([1 + 2j, 3 - 1j], np.complex64)], {"x": np.array([1 + 2j, 3 - 1j], np.complex64)}
    )
    check_case(folder)
    write_case(tmp_path, [np.array([1 + 2j, 3 + 1j], np.complex64)], {"x": np.array([1 + 2j, 3 - 1j], np.complex64)})
    with pytest.raises(MismatchError, match=r"worst at \[1, 1\]"):
        check_case(folder)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have notes since Python 3.11")
def test_error_of_conversion_says_where(monkeypatch, tmp_path):
    def convert(folder, input=None, extension=None):
        raise Paddle2OVError("cannot")

    monkeypatch.setattr(testing, "convert", convert)
    with pytest.raises(Paddle2OVError) as error:
        check_case(write_case(tmp_path, [X]))
    assert "op_test_1 (pir), as declared" in "".join(traceback.format_exception(error.value))


def test_input_that_paddle_does_not_have(monkeypatch, tmp_path):
    returning(monkeypatch, double)
    with pytest.raises(MismatchError, match=r"an input \['x'\]"):
        check_case(write_case(tmp_path, [2 * X], {"y": X}))
