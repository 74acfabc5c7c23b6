"""Graphs that do not compile, or end the process as they do."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from openvino import Model, Type, opset16 as ops

from tools.faults.prelude import Graph, loop_results, numbers, parameter
from tools.faults.register import fault


@fault()
def loop_over_constants() -> Graph:
    """A loop over constants whose state grows, in which nothing can be evaluated before the run, does not compile."""
    x = parameter(2)
    state = parameter(-1)
    count = ops.add(ops.bucketize(ops.constant(np.float32(0)), np.ones(1, np.float32), "i64"), np.int64(3))
    longer = ops.concat([state, np.ones(1, np.float32)], 0)
    (rows,) = loop_results(count, [(state, ops.constant(np.zeros(1, np.float32)), longer)])
    data = numbers(2)
    return Model([rows, ops.abs(x).output(0)], [x]), [[data]], [[np.array([0, 1, 1, 1], np.float32), np.abs(data)]]


@fault()
def post_op_of_unknown_width() -> Graph:
    """A constant of several elements that is added to x @ yᵀ, y of unknown width, fails to compile: its width is 0."""
    x, y = parameter(2, 6), parameter(-1, 6)
    shift, arrays = numbers(4), [numbers(2, 6), numbers(4, 6, seed=1)]
    return Model([ops.add(ops.matmul(x, y, False, True), shift)], [x, y]), [arrays], [[arrays[0] @ arrays[1].T + shift]]


@fault()
def gather_of_single_element() -> Graph:
    """A Gather of the only element of an axis, between Unsqueeze and Squeeze, loses another axis of size 1."""
    x, data = parameter(-1, -1, -1), numbers(2, 3, 4)
    first, zero = np.array([0]), np.int64(0)
    same = ops.squeeze(ops.gather(ops.unsqueeze(x, first), first, zero), first)
    return Model([ops.unsqueeze(same, np.array([3]))], [x]), [[data]], [[data[..., None]]]


@fault(threads=1)
def layers_of_one_weight() -> Graph:
    """A product with a matrix of one element, an activation and another product do not compile on one thread."""
    x, first, second, data = parameter(2, 1), numbers(1, 1), numbers(1, 4, seed=1), numbers(2, 1)
    out = ops.matmul(ops.relu(ops.matmul(x, first, False, False)), second, False, False)
    return Model([out], [x]), [[data]], [[(data @ first).clip(0) @ second]]


@fault()
def gather_by_index_that_is_always_empty() -> Graph:
    """A Gather by a Range that is known to be empty fails to compile."""
    x = parameter(-1, 1)
    rows, columns = (ops.gather(ops.shape_of(x), np.int64(i), np.int64(0)) for i in (0, 1))
    length = ops.minimum(rows, ops.subtract(columns, np.int64(1)))
    index = ops.range(np.int64(0), ops.maximum(length, np.int64(0)), np.int64(1), "i64")
    flat = ops.reshape(x, np.array([-1]), False)
    return Model([ops.gather(flat, index, np.int64(0))], [x]), [[numbers(4, 1)]], [[np.zeros(0, np.float32)]]


@fault()
def select_of_another_condition() -> Graph:
    """A Select of booleans, one of which is also its condition, does not compile: only some become bytes."""
    x, y = parameter(-1), parameter(-1)
    condition, other = ops.less(x, np.float32(0)), ops.less(y, np.float32(0))
    arrays = [numbers(8), numbers(8, seed=1)]
    out = ops.select(condition, other, condition)
    return Model([out], [x, y]), [arrays], [[(arrays[0] < 0) & (arrays[1] < 0)]]


@fault()
def slice_of_constants_not_folded() -> Graph:
    """A Slice of a constant does not compile if its end is constant, but not folded by OpenVINO.

    What GatherElements takes of constants is not. The end shows as constant where a Gather takes the one element of a
    constant by a computed index.
    """
    x = parameter(1, kind=Type.i64)
    zero = ops.gather(np.array([0]), x, np.int64(0))
    end = ops.gather_elements(np.array([2, 3]), zero, 0)
    data = numbers(4)
    return Model([ops.slice(data, np.array([0]), end, np.array([1]))], [x]), [[np.array([0])]], [[data[:2]]]


@fault()
def resize_of_constant_over_one_axis() -> Graph:
    """A linear resize of a constant does not compile unless it is over all axes after the first two.

    What computes it in constant folding takes no others; the plugin does.
    """
    x = parameter(1, 1, 1, 2)
    image = np.array([1, 2, 3, 4], np.float32).reshape(1, 1, 1, 4)
    half = ops.interpolate(image, np.array([2]), "linear_onnx", "sizes", axes=np.array([3]))
    data = numbers(1, 1, 1, 2)
    return Model([ops.add(half, x)], [x]), [[data]], [[np.array([1.5, 3.5], np.float32) + data]]


@fault()
def reshape_of_matmul_to_number() -> Graph:
    """A matrix product that is reshaped to rank 0 crashes."""
    x, y = parameter(1, 4), parameter(4, 1)
    arrays = [numbers(1, 4), numbers(4, 1, seed=1)]
    out = ops.reshape(ops.matmul(x, y, False, False), np.zeros(0, np.int64), False)
    return Model([out], [x, y]), [arrays], [[(arrays[0] @ arrays[1])[0, 0]]]


@fault(precision="default", tolerance=0.05, processor="amx")
def signed_integers_with_zero_points() -> Graph:
    """A convolution of signed integers, some with a zero point, before another in int8 does not compile in bfloat16.

    The transformations for low precision give the second range, of positive numbers, the signed type of the first.
    """
    x, y, low, high = parameter(1, 1, 2, 2), parameter(1, 1, 2, 2), np.float32(-128), np.float32(127)

    def integers(value: Any, low: np.float32, high: np.float32) -> Any:
        return ops.fake_quantize(value, low, high, low, high, 256)

    def convolution(value: Any) -> Any:
        kernel = ops.multiply(ops.convert(ops.constant(np.ones((2, 2, 1, 1), np.int8)), Type.f32), np.float32(1))
        return ops.convolution(value, kernel, [1, 1], [0, 0], [0, 0], [1, 1])

    both = ops.concat([integers(x, low, high), integers(y, np.float32(0), np.float32(255))], 1)
    out = convolution(integers(convolution(both), low, high))
    arrays = [np.full((1, 1, 2, 2), 4, np.float32), np.full((1, 1, 2, 2), 8, np.float32)]
    return Model([out], [x, y]), [arrays], [[np.full((1, 2, 2, 2), 24, np.float32)]]


@fault(processor="avx512_vnni")
def factors_behind_an_integer_convolution() -> Graph:
    """A convolution of integers with a zero point, bias, Relu and per-channel factors crashes in dynamic shapes.

    SmoothQuant puts such factors between convolutions.
    """
    x, low, high = parameter(-1, 240, 1, 1), np.float32(-40), np.float32(215)
    quantized = ops.fake_quantize(x, low, high, low, high, 256)
    kernel = ops.multiply(ops.convert(ops.constant(np.ones((60, 240, 1, 1), np.int8)), Type.f32), np.float32(1))
    layer = ops.convolution(quantized, kernel, [1, 1], [0, 0], [0, 0], [1, 1])
    factors = np.linspace(0.5, 1, 60).astype(np.float32).reshape(1, 60, 1, 1)
    out = ops.multiply(ops.relu(ops.add(layer, np.ones((1, 60, 1, 1), np.float32))), factors)
    return Model([out], [x]), [[np.ones((1, 240, 1, 1), np.float32)]], [[241 * factors]]


@fault(precision="default", tolerance=0.05, processor="amx")
def recurrent_layer_of_constants_in_bfloat16() -> Graph:
    """A recurrent layer over constants does not compile for bfloat16."""
    x = parameter(2, 1, 5, 2)
    weights = numbers(1, 2, 4), numbers(1, 2, 2), np.zeros((1, 2), np.float32)
    data, state, lengths = numbers(2, 5, 4), np.zeros((2, 1, 2), np.float32), np.array([5, 5])
    constants = [ops.constant(weight) for weight in (data, state, lengths, *weights)]
    layer = ops.rnn_sequence(*constants, 2, "forward", activations=["tanh"])
    hidden, steps = state[:, 0], []
    for i in range(5):
        hidden = np.tanh(data[:, i] @ weights[0][0].T + hidden @ weights[1][0].T)
        steps.append(hidden)
    added = numbers(2, 1, 5, 2, seed=1)
    return Model([ops.add(layer.output(0), x)], [x]), [[added]], [[np.stack(steps, 1)[:, None] + added]]


@fault(precision="default", tolerance=0.05, processor="amx")
def recurrent_layer_of_zeros_in_bfloat16() -> Graph:
    """A recurrent layer over zeros of an input's size does not compile for bfloat16."""
    x = parameter(-1, -1, 4)
    weights = numbers(1, 2, 4), numbers(1, 2, 2), np.zeros((1, 2), np.float32)
    rows = ops.gather_nd(x, np.zeros((2, 2), np.int64))
    zeros = ops.broadcast(np.float32(0), ops.concat([np.array([2, 5]), ops.gather(ops.shape_of(rows), [1], 0)], 0))
    state, lengths = np.ones((2, 1, 2), np.float32), np.array([5, 5])
    layer = ops.rnn_sequence(zeros, *map(ops.constant, (state, lengths, *weights)), 2, "forward", activations=["tanh"])
    hidden, steps = state[:, 0], []
    for _ in range(5):
        hidden = np.tanh(hidden @ weights[1][0].T)
        steps.append(hidden)
    out = ops.reshape(ops.transpose(layer.output(0), [0, 2, 1, 3]), [2, 5, 2], False)
    return Model([out], [x]), [[numbers(2, 5, 4)]], [[np.stack(steps, 1)]]


@fault()
def recurrent_layer_of_computed_shape() -> Graph:
    """A recurrent layer with states of known batch over what was repeated by a computed shape does not compile."""
    x, steps = parameter(1, 2, 4), ops.parameter([1], np.int64)
    weights = numbers(1, 3, 4), numbers(1, 3, 3), np.zeros((1, 3), np.float32)
    repeated = ops.broadcast(x, ops.concat([steps, np.array([2, 4])], 0))
    state, lengths = np.ones((2, 1, 3), np.float32), np.array([5, 5])
    constants = map(ops.constant, (state, lengths, *weights))
    layer = ops.rnn_sequence(ops.transpose(repeated, [1, 0, 2]), *constants, 3, "forward", activations=["tanh"])
    data, hidden = numbers(1, 2, 4), state[:, 0]
    for _ in range(5):
        hidden = np.tanh(data[0] @ weights[0][0].T + hidden @ weights[1][0].T)
    return Model([layer.output(1)], [x, steps]), [[data, np.array([5])]], [[hidden[:, None]]]


@fault()
def shape_of_accumulated_constants() -> Graph:
    """A Range to a size that comes from a CumSum of integers, which OpenVINO does not fold, does not compile."""
    x, data = parameter(1), numbers(1)
    count = ops.gather(ops.cum_sum(np.array([1, 0, 2]), np.int64(0)), np.int64(-1), np.int64(0))
    steps = ops.range(np.int64(0), count, np.int64(1), "f32")
    return Model([ops.add(steps, x)], [x]), [[data]], [[np.arange(3) + data]]


@fault()
def suppression_of_constants() -> Graph:
    """A MulticlassNms over constants does not compile."""
    x = parameter(1)
    boxes, scores = np.array([[[0, 0, 1, 1], [2, 2, 3, 3]]], np.float32), np.array([[[0.5, 0.9]]], np.float32)
    settings = {"sort_result_type": "classid", "iou_threshold": 0.5}
    selected = ops.multiclass_nms(ops.constant(boxes), ops.constant(scores), **settings).output(0)
    want = np.array([[1, 1.9, 3, 3, 4, 4], [1, 1.5, 1, 1, 2, 2]], np.float32)
    return Model([ops.add(selected, x)], [x]), [[np.ones(1, np.float32)]], [[want]]


@fault()
def average_pool_without_dilations() -> Graph:
    """Compiling an AvgPool of opset 16 without dilations crashes."""
    x = parameter(1, 2, 4, 4)
    data = numbers(1, 2, 4, 4)
    out = ops.avg_pool(x, [2, 2], [0, 0], [0, 0], [2, 2], True)
    return Model([out], [x]), [[data]], [[data.reshape(1, 2, 2, 2, 2, 2).mean((3, 5))]]


@fault()
def gather_by_empty_constant() -> Graph:
    """A Gather by an empty constant index crashes."""
    x = parameter(3, 4)
    out = ops.gather(x, ops.constant(np.zeros(0, np.int64)), np.int64(0))
    return Model([out], [x]), [[numbers(3, 4)]], [[np.zeros((0, 4), np.float32)]]


@fault()
def group_normalization_in_residual_block() -> Graph:
    """Compiling the sum of a GroupNormalization and its input crashes."""
    x = parameter(1, 4, 3, 3)
    kept = ops.relu(x)
    out = ops.add(ops.group_normalization(kept, np.ones(4, np.float32), np.zeros(4, np.float32), 2, 1e-5), kept)
    data = numbers(1, 4, 3, 3)
    grouped = np.maximum(data, 0).reshape(1, 2, -1)
    centred = grouped - grouped.mean(2, keepdims=True)
    normed = centred / np.sqrt(grouped.var(2, keepdims=True) + 1e-5)
    return Model([out], [x]), [[data]], [[normed.reshape(data.shape) + np.maximum(data, 0)]]


@fault()
def multinomial_with_two_readers() -> Graph:
    """A Multinomial whose result has two readers does not compile."""
    x = parameter(1, 3)
    drawn = ops.multinomial(x, np.array([4]), "i64", True, False, 1, 1)
    data = np.array([[0, 1, 0]], np.float32)
    want = np.ones((1, 4), np.int64)
    return Model([ops.add(drawn, np.int64(1)), ops.multiply(drawn, np.int64(3))], [x]), [[data]], [[want + 1, want * 3]]


@fault()
def irdft_of_unchanged_size() -> Graph:
    """IRDFT with a size of -1, which stands for the usual one, runs out of memory."""
    x = parameter(-1, 5, 2)
    data = numbers(2, 5, 2)
    want = np.fft.irfft(data[..., 0] + 1j * data[..., 1], axis=1)
    return Model([ops.irdft(x, np.array([1]), np.array([-1]))], [x]), [[data]], [[want.astype(np.float32)]]


@fault()
def convolution_by_filter_of_unknown_shape() -> Graph:
    """A convolution by a filter of unknown shape does not compile."""
    x, filters = parameter(1, 3, 4, 4), parameter(-1, 3, 1, 1)
    arrays = [numbers(1, 3, 4, 4), numbers(2, 3, 1, 1, seed=1)]
    out = ops.convolution(x, filters, [1, 1], [0, 0], [0, 0], [1, 1])
    return Model([out], [x, filters]), [arrays], [[np.einsum("nihw,oi->nohw", arrays[0], arrays[1][:, :, 0, 0])]]


@fault()
def matrix_nms_without_boxes() -> Graph:
    """MatrixNms raises where no box survives."""
    boxes, scores = parameter(1, -1, 4), parameter(1, 1, -1)
    selected = ops.matrix_nms(boxes, scores, score_threshold=0.5, nms_top_k=-1, keep_top_k=-1, background_class=-1)
    arrays = [np.array([[[0, 0, 1, 1]]], np.float32), np.zeros((1, 1, 1), np.float32)]
    return Model([selected.output(2)], [boxes, scores]), [arrays], [[np.zeros(1, np.int32)]]


@fault()
def negative_padding_of_convolution() -> Graph:
    """A convolution with a negative padding does not compile."""
    x = parameter(1, 1, 6, 6)
    data, filters = numbers(1, 1, 6, 6), numbers(1, 1, 1, 1)
    out = ops.convolution(x, filters, [1, 1], [-1, 0], [0, 0], [1, 1])
    return Model([out], [x]), [[data]], [[data[:, :, 1:] * filters]]


@fault()
def unique_of_no_elements() -> Graph:
    """Creating a Unique of a constant without elements crashes."""
    x = parameter(1)
    unique = ops.unique(ops.constant(np.zeros(0, np.float32)))
    data = numbers(1)
    return Model([ops.add(ops.reduce_sum(unique.output(0), np.array([0])), x)], [x]), [[data]], [[data]]


@fault()
def broadcast_to_number() -> Graph:
    """A Broadcast to rank 0 crashes."""
    x = parameter()
    data = np.array(3, np.float32)
    return Model([ops.broadcast(x, np.zeros(0, np.int64))], [x]), [[data]], [[data]]


@fault()
def slice_scatter_between_computed_bounds() -> Graph:
    """A SliceScatter over two axes between computed bounds crashes."""
    x, values = parameter(-1, -1, 3), parameter(-1, -1, 3)
    start, end = (parameter(2, kind=Type.i64) for _ in range(2))
    arrays = [numbers(6, 2, 3), numbers(2, 1, 3, seed=1), np.array([1, 0]), np.array([3, 1])]
    want = arrays[0].copy()
    want[1:3, :1] = arrays[1]
    out = ops.slice_scatter(x, values, start, end, np.array([1, 1]), np.array([0, 1]))
    return Model([out], [x, values, start, end]), [arrays], [[want]]


@fault(processor="avx2, not avx512f")
def repeated_values_of_a_snippet() -> Graph:
    """Eight numbers that are computed and repeated in one kernel do not compile with AVX2: registers run out."""
    x, y = parameter(4, 6), parameter()
    wanted, data = numbers(4, 6).clip(0), [numbers(4, 6), np.array(0.9, np.float32)]
    out, number = ops.relu(x), ops.multiply(y, np.float32(1))
    for i in range(9):
        out, number = ops.add(ops.multiply(out, number), number), ops.multiply(number, number)
        power = data[1] ** 2**i
        wanted = wanted * power + power
    return Model([out], [x, y]), [data], [[wanted]]


@fault()
def transpose_between_reshapes_of_unknown_batch() -> Graph:
    """A transpose of an axis more than four, of an unknown batch, between reshapes is taken for shuffled channels."""
    x = parameter(-1, 2, 2, 4)
    deeper = ops.reshape(x, np.array([1, -1, 2, 2, 4]), False)
    out = ops.reshape(ops.transpose(deeper, np.array([0, 1, 3, 2, 4])), np.array([-1, 2, 8]), False)
    data = numbers(3, 2, 2, 4)
    return Model([out], [x]), [[data]], [[data.swapaxes(1, 2).reshape(3, 2, 8)]]


@fault()
def gates_of_lstm_cell_in_another_order() -> Graph:
    """An LSTM cell over joint weights whose gates are i, f, c, o, with a bias of the forget gate, does not compile."""
    size = 2
    x, h, c = parameter(-1, 3), parameter(-1, size), parameter(-1, size)
    data = [numbers(2, 3), numbers(2, size, seed=1), numbers(2, size, seed=2)]
    weights, bias = numbers(3 + size, 4 * size, seed=3), numbers(4 * size, seed=4)
    gates = ops.split(ops.add(ops.matmul(ops.concat([x, h], 1), weights, False, False), bias), np.int64(1), 4).outputs()
    kept = ops.multiply(ops.sigmoid(ops.add(gates[1], np.float32(1))), c)
    state = ops.add(kept, ops.multiply(ops.sigmoid(gates[0]), ops.tanh(gates[2])))
    out = ops.multiply(ops.sigmoid(gates[3]), ops.tanh(state))

    def sigmoid(values: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(1 / (1 + np.exp(-values)), np.float32)

    i, f, g, o = np.split(np.concatenate(data[:2], 1) @ weights + bias, 4, 1)
    want = sigmoid(f + 1) * data[2] + sigmoid(i) * np.tanh(g)
    return Model([out, state], [x, h, c]), [data], [[sigmoid(o) * np.tanh(want), want]]
