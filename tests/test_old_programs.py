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


def reorg(x, block):
    """What the kernel of Paddle 1 does, element by element."""
    batch, channels, height, width = x.shape
    out_channels = channels // block**2
    out = np.empty(x.size, x.dtype)
    for b, k, j, i in np.ndindex(x.shape):
        offset, c = divmod(k, out_channels)
        row, column = j * block + offset // block, i * block + offset % block
        out[column + width * block * (row + height * block * (c + out_channels * b))] = x[b, k, j, i]
    return out.reshape(batch, channels * block**2, height // block, width // block)


def padded(top, bottom, left, right, how=0.0):
    """IMAGE with rows and columns added."""
    sizes = [(0, 0), (0, 0), (top, bottom), (left, right)]
    return np.pad(IMAGE, sizes, how) if isinstance(how, str) else np.pad(IMAGE, sizes, constant_values=how)


def lstm_unit(x, c_prev, forget_bias):
    i, f, o, g = np.split(x, 4, 1)
    c = sigmoid(f + forget_bias) * c_prev + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


IMAGE = np.arange(2 * 8 * 4 * 6, dtype=np.float32).reshape(2, 8, 4, 6)
IDS = np.array([[[2], [0]], [[3], [7]]])
GATES, CELL = np.linspace(-2, 2, 24, dtype=np.float32).reshape(2, 12), np.array([[0.5, -1, 2], [1, 0, -2]], np.float32)


@pytest.mark.parametrize(
    ("op_type", "inputs", "attributes", "result", "wanted"),
    [
        ("view_shape", {"input": X}, {"dims": [-1, 6]}, "out", X.reshape(4, 6)),
        ("zeros_like", {"x": X}, {}, "out", np.zeros_like(X)),
        ("ones_like", {"x": X}, {}, "out", np.ones_like(X)),
        ("c_identity", {"x": X}, {"ring_id": 0, "use_calc_stream": True}, "out", X),
        ("squeeze", {"x": X[:, :1]}, {"axes": [1]}, "out", X[:, 0]),
        ("squeeze", {"x": X[:, :1, None]}, {"axes": []}, "out", X[:, 0]),
        ("squeeze", {"x": X[:, :1]}, {"axes": [-2]}, "out", X[:, 0]),
        ("unsqueeze", {"x": X}, {"axes": [0, 2]}, "out", X[None, :, None]),
        ("unsqueeze", {"x": X}, {"axes": [-1]}, "out", X[..., None]),
        ("flatten", {"x": X}, {}, "out", X.reshape(2, 12)),
        ("flatten", {"x": X}, {"axis": 0}, "out", X.reshape(1, 24)),
        ("flatten", {"x": X}, {"axis": 3}, "out", X.reshape(24, 1)),
        ("one_hot", {"x": IDS}, {"depth": 8}, "out", np.eye(8, dtype=np.float32)[IDS[..., 0]]),
        ("one_hot", {"x": IDS}, {"depth": 4, "allow_out_of_range": True}, "out", np.eye(8, 4)[IDS[..., 0]]),
        ("one_hot", {"x": IDS.astype(np.int32)}, {"depth": 9, "dtype": 3}, "out", np.eye(9)[IDS[..., 0]]),
        ("expand_as", {"x": X, "y": np.zeros([4, 3, 8], np.float32)}, {}, "out", np.tile(X, [2, 1, 2])),
        ("pad2d", {"x": IMAGE}, {"paddings": [1, 0, 2, 3]}, "out", padded(1, 0, 2, 3)),
        ("pad2d", {"x": IMAGE}, {"paddings": [0, 1, 2, 0], "pad_value": 2.5}, "out", padded(0, 1, 2, 0, 2.5)),
        ("pad2d", {"x": IMAGE}, {"paddings": [3, 2, 4, 1], "mode": "reflect"}, "out", padded(3, 2, 4, 1, "reflect")),
        ("pad2d", {"x": IMAGE}, {"paddings": [5, 0, 1, 7], "mode": "edge"}, "out", padded(5, 0, 1, 7, "edge")),
        (
            "pad2d",
            {"x": IMAGE},
            {"paddings": [1, 2, 3, 0], "data_format": "NHWC"},
            "out",
            np.pad(IMAGE, [(0, 0), (1, 2), (3, 0), (0, 0)]),
        ),
        (
            "pad2d",
            {"x": IMAGE, "paddings": np.array([1, 2, 3, 0], np.int32)},
            {"mode": "edge"},
            "out",
            padded(1, 2, 3, 0, "edge"),
        ),
        ("space_to_depth", {"x": IMAGE}, {"blocksize": 2}, "out", reorg(IMAGE, 2)),
        ("lstm_unit", {"x": GATES, "c_prev": CELL}, {}, "h", lstm_unit(GATES, CELL, 0.0)),
        ("lstm_unit", {"x": GATES, "c_prev": CELL}, {"forget_bias": 0.75}, "h", lstm_unit(GATES, CELL, 0.75)),
    ],
)
def test_operators_that_no_paddle_2_runs_on_a_cpu(op_type, inputs, attributes, result, wanted):
    out = run(op_type, inputs, attributes, result)
    assert out.shape == wanted.shape
    np.testing.assert_allclose(out, wanted, rtol=1e-5)


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
