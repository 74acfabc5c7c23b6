"""Shapes: sizes that are inferred wrongly, empty tensors, indices, ranges."""

import numpy as np
from openvino import Model, PartialShape, Type, opset16 as ops

from tools.faults.prelude import Graph, numbers, parameter
from tools.faults.register import fault


@fault()
def range_against_its_step() -> Graph:
    """A Range whose step leads away from its end is not empty."""
    start, end, step = (parameter(kind=Type.i64) for _ in range(3))
    arrays = [np.array(number) for number in (5, 2, 1)]
    return Model([ops.range(start, end, step, "i64")], [start, end, step]), [arrays], [[np.zeros(0, np.int64)]]


@fault()
def gather_elements_after_slice() -> Graph:
    """A Slice before a GatherElements is eliminated, and then the shapes differ."""
    x, index = parameter(-1, 5), parameter(-1, 3, kind=Type.i64)
    data, rows = numbers(4, 5), np.array([[1, 0, 3]])
    cut = ops.slice(x, np.array([0]), np.array([3]), np.array([1]), np.array([1]))
    want = np.take_along_axis(data[:, :3], rows, 0)
    return Model([ops.gather_elements(cut, index, 0)], [x, index]), [[data, rows]], [[want]]


@fault()
def strided_slice_of_bounded_size() -> Graph:
    """Every second element of at least one is at least one, and taken for as many as there are."""
    x = ops.parameter(PartialShape("[1..]"), Type.f32)
    half = ops.strided_slice(x, np.array([0]), np.array([2**62]), np.array([2]), [0], [1])
    sizes = [ops.reshape(ops.shape_of(value), np.array([], np.int64), False) for value in (half, x)]
    numbers_to = [ops.range(np.int64(0), size, np.int64(1), "i64") for size in sizes]
    wanted = [np.arange(3) * 2, np.arange(5) * 2, np.ones(3, np.float32)]
    out = [*(ops.multiply(item, np.int64(2)) for item in numbers_to), ops.relu(half)]
    return Model(out, [x]), [[np.ones(5, np.float32)]], [wanted]


@fault()
def slice_backwards_before_first() -> Graph:
    """A Slice backwards from before the first element is not empty."""
    x, start = parameter(-1), parameter(1, kind=Type.i64)
    data = numbers(4)
    out = ops.slice(x, start, np.array([-100]), np.array([-1]), np.array([0]))
    return Model([out], [x, start]), [[data, np.array([-9])]], [[data[-9:-100:-1]]]


@fault()
def size_of_open_slice_in_32_bits() -> Graph:
    """A Slice by 2 to 2^31 - 1 of an unknown size has at most 2^30 elements; four times as many, in 32 bits, are 0."""
    x = parameter(-1)
    cut = ops.slice(x, np.array([0]), np.array([2**31 - 1]), np.array([2]), np.array([0]))
    size = ops.convert(ops.multiply(ops.shape_of(cut, "i32"), np.array([4], np.int32)), Type.i64)
    out = ops.broadcast(np.float32(1), size)
    return Model([out], [x]), [[numbers(6)]], [[np.ones(12, np.float32)]]


@fault()
def length_lost_by_model_reshape() -> Graph:
    """`Model.reshape` makes [-1] of the shape of a Reshape to a vector: a rank that follows from its length is lost."""
    x, mask = parameter(-1, -1), parameter(3, kind=Type.boolean)
    kept = ops.reshape(ops.non_zero(mask, Type.i64), np.array([2]), False)  # two, whichever they are
    dims = ops.gather(np.array([2, 1, 3]), kept, np.array(0))
    model = Model([ops.reshape(x, dims, False)], [x, mask])
    model.reshape({x.output(0): [3, 2]})
    data = numbers(3, 2)
    return model, [[data, np.array([True, False, True])]], [[data.reshape(2, 3)]]


@fault()
def resize_of_kept_size() -> Graph:
    """Interpolate leaves a dimension that keeps its size as it is, whatever the scale."""
    x = parameter(1, 1, 3, 8)
    data = numbers(1, 1, 3, 8)
    out = ops.interpolate(
        x, np.array([1.3, 2], np.float32), "linear_onnx", "scales", axes=np.array([2, 3]),
        coordinate_transformation_mode="asymmetric",
    )  # fmt: skip
    rows = np.minimum(np.arange(3) / np.float32(1.3), 2)
    low = np.floor(rows).astype(int)
    part = (rows - low)[:, None]
    tall = data[0, 0][low] * (1 - part) + data[0, 0][np.minimum(low + 1, 2)] * part
    columns = np.minimum(np.arange(16) / 2, 7)
    left = np.floor(columns).astype(int)
    part = columns - left
    wide = tall[:, left] * (1 - part) + tall[:, np.minimum(left + 1, 7)] * part
    return Model([out], [x]), [[data]], [[wide[None, None].astype(np.float32)]]


@fault()
def matmul_of_constant_matrices() -> Graph:
    """A dynamic x is not broadcast over several constant matrices."""
    x = parameter(-1, 4)
    weights, data = numbers(3, 4, 5), numbers(2, 4)
    return Model([ops.matmul(x, weights, False, False)], [x]), [[data]], [[data @ weights]]


@fault()
def matmul_of_scaled_vector() -> Graph:
    """A scalar factor after a product with a constant vector turns the vector into a row: it does not compile."""
    x = parameter(2, 3, 4)
    vector, data = numbers(4), numbers(2, 3, 4)
    out = ops.multiply(ops.matmul(x, vector, False, False), np.float32(0.5))
    return Model([out], [x]), [[data]], [[data @ vector * np.float32(0.5)]]


@fault()
def lengths_of_dynamic_sequences() -> Graph:
    """A recurrent layer of dynamic shape ignores the lengths of its sequences."""
    x, lengths = parameter(-1, -1, 4), parameter(-1, kind=Type.i32)
    weights = numbers(1, 2, 4), numbers(1, 2, 2), np.zeros((1, 2), np.float32)
    batch = ops.gather(ops.shape_of(x), np.array([0]), np.int64(0))
    state = ops.broadcast(np.float32(0), ops.concat([batch, np.array([1, 2])], 0))
    layer = ops.rnn_sequence(x, state, lengths, *weights, 2, "forward", activations=["tanh"])
    data, counts = numbers(2, 5, 4), np.array([5, 2], np.int32)
    want = np.zeros((2, 1, 2), np.float32)
    for i, count in enumerate(counts):
        for step in data[i, :count]:
            want[i, 0] = np.tanh(step @ weights[0][0].T + want[i, 0] @ weights[1][0].T)
    return Model([layer.output(1)], [x, lengths]), [[data, counts]], [[want]]


@fault()
def matmul_of_another_width() -> Graph:
    """A MatMul with constant weights accepts rows of any width, and reads as many numbers as its weights need."""
    x = parameter(-1, -1)
    return Model([ops.matmul(x, numbers(8, 4), False, False)], [x]), [[numbers(2, 6)]], [None]


@fault()
def matmul_of_constant_matrices_with_batch() -> Graph:
    """A MatMul of one batch of rows by several constant matrices fails in the run if the number of rows is unknown."""
    x, weights, data = parameter(1, -1, 4), numbers(3, 4, 5), numbers(1, 2, 4)
    return Model([ops.matmul(x, weights, False, False)], [x]), [[data]], [[data @ weights]]


@fault()
def reduction_after_transpose() -> Graph:
    """A reduction after a transpose that drops its axis leaves the others in the wrong order if one has size 1."""
    x, data = parameter(2, 1, 4, 4), numbers(2, 1, 4, 4)
    moved = ops.transpose(x, np.array([0, 2, 3, 1]))
    return Model([ops.reduce_sum(moved, np.array([1]), False)], [x]), [[data]], [[data.transpose(0, 2, 3, 1).sum(1)]]


@fault()
def broadcast_to_ones() -> Graph:
    """A bidirectional Broadcast of reshaped data to a higher rank, all dimensions 1, is eliminated: the rank stays."""
    x = parameter(-1)
    tall = ops.unsqueeze(x, np.array([1]))
    out = ops.broadcast(tall, np.array([1, 1, 1]), broadcast_spec="BIDIRECTIONAL")
    data = numbers(5)
    return Model([ops.shape_of(out)], [x]), [[data]], [[np.array([1, 5, 1])]]


@fault()
def select_of_its_condition() -> Graph:
    """A Select of a boolean by itself is empty."""
    x = parameter(-1)
    condition, data = ops.less(x, np.float32(0)), numbers(8)
    return Model([ops.select(condition, condition, condition)], [x]), [[data]], [[data < 0]]


@fault()
def gather_of_unsqueezed_axis() -> Graph:
    """A Gather by any constant along an axis that an Unsqueeze added is eliminated, as if the constant were a scalar.

    `EliminateUnsqueezeGather` does not look at the indices.
    """
    x = parameter(-1, -1)
    out = ops.gather(ops.unsqueeze(x, np.array([1])), np.array([0, 0]), np.int64(1))
    data = numbers(2, 3)
    return Model([out], [x]), [[data]], [[np.stack([data, data], 1)]]


@fault()
def elementwise_with_single_element_of_higher_rank() -> Graph:
    """The sum of reshaped data and a constant of one element and higher rank has the rank of the data.

    `MoveEltwiseUpThroughDataMov` moves the sum before the reshape, with a number in place of the constant.
    """
    x = parameter(-1, 3)
    out = ops.add(ops.unsqueeze(x, np.array([1])), np.ones((1, 1, 1, 1), np.float32))
    return Model([ops.shape_of(out)], [x]), [[numbers(5, 3)]], [[np.array([1, 5, 1, 3])]]


@fault()
def tile_along_axis_of_1() -> Graph:
    """A Tile mixes up the elements if the second of four axes is known to be 1 and others are unknown."""
    x = parameter(-1, 1, -1, -1)
    data = numbers(2, 1, 3, 2)
    return Model([ops.tile(x, np.array([1, 2, 3, 1]))], [x]), [[data]], [[np.tile(data, [1, 2, 3, 1])]]


@fault()
def tile_of_four_axes() -> Graph:
    """A Tile along four axes by computed counts leaves its result unwritten."""
    x, times = parameter(-1, -1, -1, -1), parameter(4, kind=Type.i64)
    data, counts = numbers(2, 3, 2, 3), [2, 3, 2, 3]
    return Model([ops.tile(x, times)], [x, times]), [[data, np.array(counts)]], [[np.tile(data, counts)]]


@fault()
def tile_of_no_rows() -> Graph:
    """A Tile of no rows has the shape of the run before if its counts are those of the last run that had rows."""
    x, times = parameter(-1, 3), parameter(2, kind=Type.i64)
    runs = [[numbers(rows, 3), np.array([1, count])] for rows, count in ((2, 2), (0, 5), (0, 2))]
    wanted = [[np.array(shape)] for shape in ([2, 6], [0, 15], [0, 6])]
    return Model([ops.shape_of(ops.tile(x, times))], [x, times]), runs, wanted


@fault()
def topk_of_no_rows() -> Graph:
    """A TopK of no rows has the shape of the run before if it takes as many as the last run that had rows."""
    x, count = parameter(-1, 9), parameter(kind=Type.i64)
    runs = [[numbers(rows, 9), np.array(taken)] for rows, taken in ((2, 3), (0, 7), (0, 3))]
    wanted = [[np.array(shape)] for shape in ([2, 3], [0, 7], [0, 3])]
    return Model([ops.shape_of(ops.topk(x, count, 1, "max", "value").output(0))], [x, count]), runs, wanted


@fault()
def resize_of_three_axes_folded() -> Graph:
    """A linear resize of a constant over three axes, the first of which keeps its size, is folded to other values."""
    x, volume = parameter(1), numbers(1, 1, 2, 1, 4)
    sizes, axes = np.array([2, 1, 2]), np.array([2, 3, 4])
    out = ops.interpolate(volume, sizes, "linear_onnx", "sizes", axes=axes, coordinate_transformation_mode="asymmetric")
    return Model([ops.add(out, x)], [x]), [[np.zeros(1, np.float32)]], [[volume[..., ::2]]]


@fault()
def run_after_one_that_failed() -> Graph:
    """A run fails if its inputs have the shapes of the run before the one that failed."""
    x = parameter(-1)
    data = numbers(6)
    out = ops.relu(ops.reshape(x, np.array([-1, 3]), False))
    wanted = [np.maximum(data, 0).reshape(2, 3)]
    return Model([out], [x]), [[data], [numbers(5)], [data]], [wanted, None, wanted]


@fault()
def slice_of_bounded_size() -> Graph:
    """A slice to a computed end, of up to 6 elements, is taken for as long as the whole: sizes are exchanged."""
    x, stop = parameter(6), parameter(1, kind=Type.i64)
    first, one = np.array([0]), np.array([1])
    nonzero = ops.squeeze(ops.non_zero(x), first)
    part = ops.slice(nonzero, first, stop, one, first)
    parts = ops.multiply(ops.broadcast(one, ops.shape_of(part)), part)
    out = ops.concat([parts, ops.broadcast(np.array([7]), ops.shape_of(nonzero))], 0)
    data = [np.array([1, 0, 2, 0, 3, 4], np.float32), np.array([2])]
    return Model([out], [x, stop]), [data], [[np.array([0, 2, 7, 7, 7, 7])]]


@fault()
def search_in_nothing() -> Graph:
    """A SearchSorted in no elements does not run: its result is that of the run before."""
    x, value = parameter(-1), parameter(2)
    values = np.array([1.5, 3], np.float32)
    data = [[np.array([1, 2], np.float32), values], [np.zeros(0, np.float32), values]]
    return Model([ops.search_sorted(x, value)], [x, value]), data, [[np.array([1, 2])], [np.zeros(2, np.int64)]]


@fault()
def unique_of_nothing() -> Graph:
    """The results of a Unique of no elements are those of the run before."""
    x = parameter(-1)
    some, nothing = np.array([2, 1, 2], np.float32), np.zeros(0, np.float32)
    return Model([ops.unique(x).output(0)], [x]), [[some], [nothing]], [[np.unique(some)], [nothing]]


@fault()
def irdft_to_nothing() -> Graph:
    """An IRDFT of one complex number, whose result has no elements, ends the process."""
    x = parameter(-1, -1, 2)
    wanted = [np.full((2, 4), [1, 0, 0, 0], np.float32), np.zeros((2, 0), np.float32)]
    ones = np.ones((2, 3, 2), np.float32) * np.array([1, 0], np.float32)
    return Model([ops.irdft(x, np.array([1]))], [x]), [[ones], [ones[:, :1]]], [[item] for item in wanted]


@fault()
def split_beyond_the_tensor() -> Graph:
    """Where the other parts of a VariadicSplit take more than there is, it reads the memory next to its input."""
    x, data = parameter(-1, 4), numbers(2, 4)
    parts = ops.variadic_split(ops.relu(x), np.int64(0), np.array([2, -1]))
    shape = ops.shape_of(parts.output(0))
    return Model([shape], [x]), [[data], [data[:1]]], [[np.array([2, 4])], [np.array([1, 4])]]


@fault()
def gather_in_one_batch() -> Graph:
    """A Gather with `batch_dims` of a single row reads memory elsewhere, or ends the process."""
    x, index, data = parameter(1, 3), parameter(1, 1, kind=Type.i64), numbers(1, 3)
    gathered = ops.gather(x, index, np.int64(1), 1)
    return Model([gathered], [x, index]), [[data, np.array([[2]])]], [[data[:, 2:]]]


@fault(tolerance=0)
def gather_out_of_vector() -> Graph:
    """A Gather by indices beyond a short vector of integers takes the memory next to it, not zeros."""
    x, index = parameter(-1, kind=Type.i32), parameter(-1, kind=Type.i64)
    gathered = ops.gather(x, index, np.int64(0))
    data, far = np.array([7], np.int32), np.arange(1, 61)
    return Model([gathered], [x, index]), [[data, far]], [[np.zeros(60, np.int32)]]


@fault()
def gather_nd_out_of_range() -> Graph:
    """GatherND reads beyond its data, or ends the process."""
    x, index = parameter(-1, 4), parameter(-1, 2, kind=Type.i64)
    data = [numbers(3, 4), np.array([[10**6, 0]])]
    return Model([ops.gather_nd(x, index, 0)], [x, index]), [data], [[np.zeros(1, np.float32)]]


@fault()
def broadcast_to_nothing_moved() -> Graph:
    """A Broadcast to size 0 before arithmetic with one element becomes one to size 1."""
    x, shape = parameter(1), parameter(2, kind=Type.i64)
    out = ops.add(ops.broadcast(ops.constant(np.float32(3)), shape), x)
    wanted = [[np.full((2, 3), 4, np.float32)], [np.zeros((0, 2), np.float32)]]
    data = np.ones(1, np.float32)
    return Model([out], [x, shape]), [[data, np.array([2, 3])], [data, np.array([0, 2])]], wanted
