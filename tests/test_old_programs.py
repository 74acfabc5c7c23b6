"""Programs of older Paddles and of Paddle's own passes: attributes left out, renamed, or set by oneDNN's passes."""

import numpy as np
import openvino
import pytest

import paddle2ov
from paddle2ov.errors import OpConversionError
from paddle2ov.program.model import Block, Operator, Output, Program, Variable
from paddle2ov.program.signatures import ROWS, parse_signature


def run(op_type, inputs, attributes, result="out"):
    """What a program of one operator computes from the inputs (port -> array)."""
    signature = parse_signature(op_type, ROWS[op_type])
    variables = [Variable(port, str(array.dtype), array.shape) for port, array in inputs.items()]
    operator = Operator(
        op_type,
        {port: [port] for port in inputs},
        {result: [result]},
        {signature.canonical(name): value for name, value in attributes.items()},
        op_type,
        0,
        0,
    )
    declared = {one.name: one for one in variables} | {result: Variable(result, "float32")}
    block = Block(0, [operator], list(inputs), [result])
    program = Program("legacy", 1_008_000, block, variables, [Output(result, result)], declared, {})
    compiled = openvino.compile_model(paddle2ov.convert(program), "CPU")
    return compiled(inputs)[0]


X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("op_type", "attributes", "wanted"),
    [
        ("reduce_sum", {}, X.sum(0)),
        ("reduce_max", {"keep_dim": True}, X.max(0, keepdims=True)),
        ("frobenius_norm", {}, np.sqrt((X**2).sum(0))),
        ("flatten_contiguous_range", {}, X),
        ("flip", {"dims": [1]}, X[:, ::-1]),
        ("roll", {"shifts": [1], "dims": [2]}, np.roll(X, 1, 2)),
        ("top_k", {}, X[:, :, -1:]),
    ],
)
def test_an_attribute_that_is_left_out_has_paddles_default(op_type, attributes, wanted):
    np.testing.assert_allclose(run(op_type, {"x": X}, attributes), wanted, rtol=1e-6)


def test_trace_by_its_old_names():
    np.testing.assert_allclose(run("trace", {"x": X}, {"dim1": 1, "dim2": 2}), np.trace(X, axis1=1, axis2=2))


CONV = {"input": np.ones([1, 2, 3, 3], np.float32), "filter": np.ones([2, 2, 1, 1], np.float32)}
FC = {"input": np.ones([2, 3], np.float32), "w": np.ones([3, 2], np.float32)}


@pytest.mark.parametrize(
    ("op_type", "inputs", "name", "value"),
    [
        ("conv2d", CONV, "fuse_relu", True),
        ("conv2d", CONV, "fuse_activation", "swish"),
        ("conv2d", CONV, "Scale_weights", [0.5, 0.25]),
        ("fc", FC, "Scale_in", 0.5),
        ("elementwise_add", {"x": X, "y": X}, "Scale_out", 2.0),
        ("mul", {"x": FC["input"], "y": FC["w"]}, "scale_y", [0.5]),
    ],
)
def test_what_onednns_passes_fused_is_refused(op_type, inputs, name, value):
    result = "output" if op_type == "conv2d" else "out"
    with pytest.raises(OpConversionError, match="oneDNN") as raised:
        run(op_type, inputs, {name: value}, result)
    assert repr(value) in str(raised.value)


def test_force_fp32_output_changes_nothing_for_float32():
    out = run("matmul_v2", {"x": X, "y": X}, {"trans_y": True, "force_fp32_output": True})
    np.testing.assert_allclose(out, X @ X.swapaxes(1, 2))


def test_force_fp32_output_of_other_types_is_refused():
    x = X.astype(np.float16)
    with pytest.raises(OpConversionError, match="force_fp32_output"):
        run("matmul_v2", {"x": x, "y": x}, {"trans_y": True, "force_fp32_output": True})
