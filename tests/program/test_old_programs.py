"""Programs of older Paddles and of Paddle's own passes: attributes left out, renamed, or set by oneDNN's passes."""

import numpy as np
import pytest

from gen_models.harness.spec import paddle
from tests.support.by_hand import by_hand
from tests.support.one_operator import close, refused, run_in_paddle, run_legacy

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("op_type", "attributes", "results"),
    [
        ("reduce_sum", {}, ["Out"]),
        ("reduce_max", {"keep_dim": True}, ["Out"]),
        ("frobenius_norm", {}, ["Out"]),
        ("flip", {"axis": [1]}, ["Out"]),
        ("roll", {"shifts": [1], "axis": [2]}, ["Out"]),
        ("roll", {"shifts": [5]}, ["Out"]),
        ("top_k", {}, ["Out", "Indices"]),
    ],
)
def test_an_attribute_that_is_left_out_has_paddles_default(op_type, attributes, results):
    wanted = run_in_paddle(op_type, {"X": X}, attributes, results, "Out")
    close(run_legacy(op_type, {"x": X}, attributes), wanted)


@pytest.mark.parametrize(
    ("op_type", "older", "attributes", "port"),
    [
        ("flip", {"dims": [1]}, {"axis": [1]}, "X"),
        ("roll", {"shifts": [1], "dims": [2]}, {"shifts": [1], "axis": [2]}, "X"),
        ("trace", {"dim1": 1, "dim2": 2}, {"axis1": 1, "axis2": 2}, "Input"),
    ],
)
def test_attributes_by_their_older_names(op_type, older, attributes, port):
    close(run_legacy(op_type, {"x": X}, older), run_in_paddle(op_type, {port: X}, attributes, ["Out"], "Out"))


def test_axes_of_flatten_that_are_left_out_are_one_and_one():
    # Paddle 3 has no default for them any more; that of Paddle 2 stands in `ops.yaml`.
    close(run_legacy("flatten_contiguous_range", {"x": X}, {}), paddle.flatten(paddle.to_tensor(X), 1, 1))


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


def one_hot(x, depth):
    return paddle.nn.functional.one_hot(x[..., 0], depth)


def strided(x, dims, stride, offset):
    attributes = {"dims": dims, "stride": stride, "offset": offset}
    return "as_strided", {"input": x}, attributes, lambda input: paddle.as_strided(input, dims, stride, offset)


def unfolded(x, axis, size, step):
    attributes = {"axis": axis, "size": size, "step": step}
    return "tensor_unfold", {"input": x}, attributes, lambda input: paddle.unfold(input, axis, size, step)


IMAGE = np.arange(2 * 8 * 4 * 6, dtype=np.float32).reshape(2, 8, 4, 6)
IDS = np.array([[[2], [0]], [[3], [7]]])


@pytest.mark.parametrize(
    ("op_type", "inputs", "attributes", "wanted"),
    [
        ("view_shape", {"input": X}, {"dims": [-1, 6]}, lambda input: input.view([-1, 6])),
        strided(X, [3, 2], [6, 1], 8),
        strided(X.astype(np.int64), [2, 2, 3], [-6, 0, 2], 80),
        strided(X, [], [], 92),
        strided(X, [2, 0], [2, 1], 0),
        *(unfolded(X, *given) for given in ((1, 2, 1), (-1, 2, 2), (-1, 3, 2), (0, 2, 5))),
        unfolded(X[0, 0, 0], 0, 1, 1),
        ("zeros_like", {"x": X}, {}, lambda x: paddle.zeros_like(x)),
        ("ones_like", {"x": X}, {}, lambda x: paddle.ones_like(x)),
        ("zeros_like", {"x": X}, {"dtype": 3}, lambda x: paddle.zeros_like(x, "int64")),
        ("ones_like", {"x": X}, {"dtype": 0}, lambda x: paddle.ones_like(x, "bool")),
        ("c_identity", {"x": X}, {}, lambda x: x),
        ("shadow_feed", {"x": X}, {}, lambda x: x),
        ("rnn_memory_helper", {"x": X}, {}, lambda x: x),
        ("squeeze", {"x": X[:, :1]}, {"axes": [1]}, lambda x: paddle.squeeze(x, [1])),
        ("squeeze", {"x": X[:, :1, None]}, {"axes": []}, lambda x: paddle.squeeze(x)),
        ("squeeze", {"x": X[:, :1]}, {"axes": [-2]}, lambda x: paddle.squeeze(x, [-2])),
        ("unsqueeze", {"x": X}, {"axes": [0, 2]}, lambda x: paddle.unsqueeze(x, [0, 2])),
        ("unsqueeze", {"x": X}, {"axes": [-1]}, lambda x: paddle.unsqueeze(x, [-1])),
        ("flatten", {"x": X}, {}, lambda x: paddle.flatten(x, 1)),
        ("flatten", {"x": X}, {"axis": 0}, lambda x: paddle.flatten(x).unsqueeze(0)),
        ("flatten", {"x": X}, {"axis": 2}, lambda x: paddle.flatten(x, 0, 1)),
        ("flatten", {"x": X}, {"axis": 3}, lambda x: paddle.flatten(x).unsqueeze(1)),
        ("one_hot", {"x": IDS}, {"depth": 8}, lambda x: one_hot(x, 8)),
        ("one_hot", {"x": IDS}, {"depth": 4, "allow_out_of_range": True}, lambda x: one_hot(x, 8)[..., :4]),
        ("one_hot", {"x": IDS.astype(np.int32)}, {"depth": 9, "dtype": 3}, lambda x: one_hot(x, 9).astype("int64")),
        ("expand_as", {"x": X, "y": np.zeros([4, 3, 8], np.float32)}, {}, lambda x, y: paddle.tile(x, [2, 1, 2])),
        ("space_to_depth", {"x": IMAGE}, {"blocksize": 2}, lambda x: reorg(x.numpy(), 2)),
    ],
)
@by_hand(argument="op_type")
def test_operators_that_paddle_2_writes_no_more_or_runs_on_no_cpu(op_type, inputs, attributes, wanted):
    close(run_legacy(op_type, inputs, attributes), wanted(**{name: paddle.to_tensor(x) for name, x in inputs.items()}))


CONV = {"input": np.ones([1, 2, 3, 3], np.float32), "filter": np.ones([2, 2, 1, 1], np.float32)}
FC = {"input": np.ones([2, 3], np.float32), "w": np.ones([3, 2], np.float32)}


@pytest.mark.parametrize(
    ("op_type", "inputs", "name", "value"),
    [
        ("conv2d", CONV, "fuse_relu_before_depthwise_conv", True),
        ("conv2d", CONV, "Scale_weights", [0.5, 0.25]),
        ("fc", FC, "Scale_in", 0.5),
        ("elementwise_add", {"x": X, "y": X}, "Scale_out", 2.0),
        ("mul", {"x": FC["input"], "y": FC["w"]}, "scale_y", [0.5]),
        ("matmul", {"x": FC["input"], "y": FC["w"]}, "fused_transpose_Y", [1, 0]),
        ("transpose2", {"x": X}, "fused_reshape2_shape", [-1]),
    ],
)
def test_what_onednns_passes_fused_is_refused(op_type, inputs, name, value):
    result = "output" if op_type == "conv2d" else "out"
    attributes = {name: value} | ({"axis": [1, 0, 2]} if op_type == "transpose2" else {})
    assert repr(value) in str(refused("oneDNN", op_type, inputs, attributes, [result], format="legacy"))


def test_force_fp32_output_changes_nothing_for_float32():
    wanted = paddle.matmul(paddle.to_tensor(X), paddle.to_tensor(X), transpose_y=True)
    close(run_legacy("matmul_v2", {"x": X, "y": X}, {"trans_y": True, "force_fp32_output": True}), wanted)


MAPS = np.zeros((1, 3, 4, 4), np.float32)
HALF, PLACES = X.astype(np.float16), np.zeros((1, 3, 4, 4), np.int32)
REGIONS = {"x": MAPS, "boxes": np.zeros((2, 4), np.float32), "trans": np.zeros((2, 4, 2, 2), np.float32)}
CELLS = {
    "no_trans": 0,
    "spatial_scale": 1.0,
    "output_dim": 2,
    "group_size": [1, 1],
    "part_size": [2, 2],
    "pooled_height": 2,
    "pooled_width": 2,
    "sample_per_part": 1,
    "trans_std": 0.1,
}


@pytest.mark.parametrize(
    ("op_type", "inputs", "attributes", "message"),
    [
        ("as_strided", {"input": X}, {"dims": [2], "stride": [1], "offset": 6}, "inside of an element"),
        ("as_strided", {"input": X}, {"dims": [2, 3], "stride": [22, 1], "offset": 0}, "reaches beyond"),
        ("as_strided", {"input": X}, {"dims": [2], "stride": [-1], "offset": 0}, "reaches beyond"),
        ("as_strided", {"input": X}, {"dims": [2], "stride": [], "offset": 0}, "as many strides"),
        ("tensor_unfold", {"input": X}, {"axis": 1, "size": 4, "step": 1}, "axis 1 has 3 elements"),
        ("tensor_unfold", {"input": X}, {"axis": 1, "size": 2, "step": 0}, "step from 1 on"),
        ("tile", {"x": X}, {"repeat_times": [-1, 1]}, r"repeat_times=\[-1, 1\]"),
        ("unpool", {"x": MAPS, "indices": PLACES}, {"output_size": [-2, -2]}, r"output_size=\[-2, -2\]"),
        ("similarity_focus", {"x": MAPS}, {"axis": 0, "indexes": [0]}, "axis=0"),
        ("similarity_focus", {"x": MAPS}, {"axis": 1, "indexes": []}, r"indexes=\[\]"),
        ("similarity_focus", {"x": MAPS}, {"axis": 1, "indexes": [0, -1]}, r"indexes=\[0, -1\]"),
        ("similarity_focus", {"x": MAPS}, {"axis": 1, "indexes": [3]}, "out of range"),
        ("roi_align", {"x": PLACES, "boxes": np.zeros((2, 4), np.int32)}, {}, "x='i32': of integers"),
        ("linear_interp_v2", {"x": X.astype(np.uint8)}, {"out_w": 3}, "of integers"),
        ("deformable_psroi_pooling", REGIONS, {**CELLS, "output_dim": 3}, "output_dim=3"),
        ("deformable_psroi_pooling", REGIONS, {**CELLS, "group_size": [2, 2]}, r"group_size=\[2, 2\]"),
        ("deformable_psroi_pooling", REGIONS, {**CELLS, "part_size": [2]}, r"part_size=\[2\]"),
        ("deformable_psroi_pooling", {**REGIONS, "x": np.zeros((2, 3, 4, 4), np.float32)}, CELLS, "LoD"),
        ("bipartite_match", {"dist_mat": X[0]}, {"match_type": "hungarian"}, "match_type='hungarian'"),
        ("matmul_v2", {"x": HALF, "y": HALF}, {"trans_y": True, "force_fp32_output": True}, "force_fp32_output"),
    ],
)
def test_what_paddles_kernel_refuses_or_computes_nonsense_for_is_refused(op_type, inputs, attributes, message):
    refused(message, op_type, inputs, attributes, format="legacy")
