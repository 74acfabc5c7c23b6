"""Memory and layouts: views, what is joined in place, post-ops, constants."""

import numpy as np
from openvino import Model, opset16 as ops

from tools.faults.prelude import Graph, numbers, parameter
from tools.faults.register import fault


@fault()
def transpose_view_of_joined_memory() -> Graph:
    """A convolution reads other data if its channels-last input is also an input of a Concat.

    The transpose to channels first is merged with the change of layout of the convolution into a view of x
    (`MergeTransposeAndReorder`), while the Concat takes x to be a part of its own result in place.
    """
    x = parameter(1, 3, 4, 8)
    last = ops.relu(x)
    filters = numbers(2, 8, 1, 1)
    ones, none = [1, 1], [0, 0]
    convolved = ops.convolution(ops.transpose(last, np.array([0, 3, 1, 2])), filters, ones, none, none, ones)
    joined = ops.tanh(ops.concat([last, ops.abs(last)], 1))
    data = numbers(1, 3, 4, 8)
    kept = np.maximum(data, 0)
    want = [np.einsum("nhwc,oc->nohw", kept, filters[:, :, 0, 0]), np.tanh(np.concatenate([kept, kept], 1))]
    return Model([convolved, joined], [x]), [[data]] * 2, [want] * 2


@fault()
def transpose_view_of_result() -> Graph:
    """A convolution reads other data if a reshape of its channels-last input is a result of the model."""
    x = parameter(2, 3, 3, 4)
    last = ops.relu(x)
    filters = numbers(2, 4, 1, 1)
    ones, none = [1, 1], [0, 0]
    convolved = ops.convolution(ops.transpose(last, np.array([0, 3, 1, 2])), filters, ones, none, none, ones)
    data = numbers(2, 3, 3, 4)
    kept = np.maximum(data, 0)
    want = [np.einsum("nhwc,oc->nohw", kept, filters[:, :, 0, 0]), kept.reshape(-1, 4)]
    return Model([convolved, ops.reshape(last, np.array([-1, 4]), False)], [x]), [[data]] * 2, [want] * 2


@fault()
def transpose_view_of_scattered_memory() -> Graph:
    """A recurrent layer over a sequence with its steps first reads what a ScatterUpdate of the sequence wrote there."""
    x = parameter(5, 3, 4)
    steps = ops.relu(x)
    weights = numbers(1, 2, 4), numbers(1, 2, 2), np.zeros((1, 2), np.float32)
    state, lengths = np.zeros((3, 1, 2), np.float32), np.full(3, 5)
    layer = ops.rnn_sequence(
        ops.transpose(steps, np.array([1, 0, 2])), state, lengths, *weights, 2, "forward", activations=["tanh"]
    )
    row = numbers(1, 3, 4)
    written = ops.scatter_update(steps, np.array([2]), row, np.array([0]))
    data = numbers(5, 3, 4)
    kept = np.maximum(data, 0)
    hidden = state[:, 0]
    for step in kept:
        hidden = np.tanh(step @ weights[0][0].T + hidden @ weights[1][0].T)
    model = Model([ops.result(layer.output(1)), ops.result(written)], [x])
    return model, [[data]] * 2, [[hidden[:, None], np.concatenate([kept[:2], row, kept[3:]])]] * 2


@fault(processor="avx512f")
def resize_view_of_shared_memory() -> Graph:
    """A resize along the second and third of four axes reads other data where a reshape of its input is a result.

    It runs on a view of the same memory as channels last, while the reshape shares that memory with the result.
    """
    x = parameter(2, 2, 3, 4)
    last = ops.relu(x)
    resized = ops.interpolate(last, np.array([4, 3]), "nearest", "sizes", axes=np.array([1, 2]))
    data = numbers(2, 2, 3, 4)
    kept = np.maximum(data, 0)
    want = [kept.repeat(2, 1), kept.reshape(-1, 4)]
    return Model([resized, ops.reshape(last, np.array([-1, 4]), False)], [x]), [[data]] * 2, [want] * 2


@fault()
def transpose_view_in_recurrent_layer() -> Graph:
    """A recurrent layer over a sequence with its steps first reads other data if a reshape of it is also a result.

    The transpose to batch first is merged with the layer's change of layout into a view.
    """
    x = parameter(5, 3, 4)
    steps = ops.relu(x)
    weights = numbers(1, 2, 4), numbers(1, 2, 2), np.zeros((1, 2), np.float32)
    state, lengths = np.zeros((3, 1, 2), np.float32), np.full(3, 5)
    layer = ops.rnn_sequence(
        ops.transpose(steps, np.array([1, 0, 2])), state, lengths, *weights, 2, "forward", activations=["tanh"]
    )
    data = numbers(5, 3, 4)
    kept = np.maximum(data, 0)
    hidden = state[:, 0]
    for step in kept:
        hidden = np.tanh(step @ weights[0][0].T + hidden @ weights[1][0].T)
    model = Model([ops.result(layer.output(1)), ops.result(ops.reshape(steps, np.array([-1]), False))], [x])
    return model, [[data]] * 2, [[hidden[:, None], kept.reshape(-1)]] * 2


@fault()
def transpose_of_split_channels() -> Graph:
    """A 3-D convolution over channels that are transposed to channels first, and split, reads them untransposed."""
    x = parameter(1, 4, 4, 6)
    bands = ops.unsqueeze(ops.transpose(x, np.array([0, 3, 1, 2])), np.array([1]))
    filters, data = numbers(8, 1, 1, 1, 1), numbers(1, 4, 4, 6, seed=1)
    out = ops.convolution(bands, filters, [1] * 3, [0] * 3, [0] * 3, [1] * 3)
    return Model([out], [x]), [[data]], [[filters[:, 0] * data.transpose(0, 3, 1, 2)]]


@fault()
def constant_convolution_overwritten() -> Graph:
    """A convolution of a constant is computed only in the first run, and the sum after it overwrites the result."""
    x = parameter(2, 3, 6, 6)
    image, filters, ones, none = numbers(2, 3, 6, 6), numbers(3, 3, 1, 1), [1, 1], [0, 0]
    total = ops.add(ops.convolution(ops.constant(image), filters, ones, none, none, ones), x)
    data = numbers(2, 3, 6, 6, seed=1)
    want = np.einsum("nihw,oi->nohw", image, filters[:, :, 0, 0]) + data
    return Model([total], [x]), [[data]] * 2, [[want]] * 2


@fault()
def constant_gather_overwritten() -> Graph:
    """A GatherND of a constant is computed only in the first run, and the product after it overwrites the result."""
    x = parameter(1)
    table, indices = numbers(8, 4), np.array([[0, 1], [1, 1]])
    product = ops.multiply(ops.gather_nd(ops.constant(table), indices, 0), x)
    data = np.array([0.5], np.float32)
    return Model([product], [x]), [[data]] * 2, [[table[:2, 1] * data]] * 2


@fault()
def constant_transposed_into_product() -> Graph:
    """A product reads a transposed value without the transpose if it is computed from constants and not folded."""
    x = parameter(1)
    data, weights = numbers(2, 4, 8), numbers(8, 6, seed=1)
    transposed = ops.transpose(ops.elu(ops.constant(data), 1.0), np.array([1, 0, 2]))
    product = ops.matmul(transposed, weights, False, False)
    want = np.where(data > 0, data, np.expm1(data)).transpose(1, 0, 2) @ weights
    added = np.array([0.5], np.float32)
    return Model([ops.add(product, x)], [x]), [[added]], [[want + added]]


@fault()
def square_weights_in_both_orientations() -> Graph:
    """Square weights that one product reads as they are and another one transposed are laid out for the first only."""
    x, weights, data = parameter(3, 16), numbers(16, 16), numbers(3, 16, seed=1)
    shared = ops.constant(weights)
    products = [ops.matmul(x, shared, False, False), ops.matmul(ops.tanh(x), shared, False, True)]
    return Model(products, [x]), [[data]], [[data @ weights, np.tanh(data) @ weights.T]]


@fault()
def scale_of_pixels_into_filters() -> Graph:
    """A per-pixel factor of a convolution's input is folded into the filters if it has as many elements."""
    x = parameter(2, 1, 1, 3)
    factor, filters, data = numbers(1, 1, 1, 3), numbers(4, 1, 1, 3, seed=1), numbers(2, 1, 1, 3, seed=2)
    out = ops.convolution(ops.multiply(x, factor), filters, [1, 1], [0, 1], [0, 1], [1, 1])
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(data * factor, [(0, 0)] * 3 + [(1, 1)]), 3, 3)
    return Model([out], [x]), [[data]], [[np.einsum("nchwk,ochk->nohw", windows, filters)]]


@fault()
def scatter_update_of_constants() -> Graph:
    """A ScatterUpdate of constants is folded with the wrong updates if a dimension after its axis is 1."""
    x = parameter(1)
    data, updates = numbers(4, 4, 1), numbers(2, 4, 1, seed=1)
    written = ops.scatter_update(ops.constant(data), np.array([0, 3]), ops.constant(updates), np.int64(0))
    want = data.copy()
    want[[0, 3]] = updates
    added = np.array([0.5], np.float32)
    return Model([ops.add(written, x)], [x]), [[added]], [[want + added]]


@fault()
def post_op_along_axis_1() -> Graph:
    """A constant along axis 1 after a MatMul of rank 4 is taken for one along the last axis."""
    x = parameter(-1, 5, 3, 8)
    weights, shift = numbers(8, 5), numbers(1, 5, 1, 1)
    data = numbers(2, 5, 3, 8)
    return Model([ops.add(ops.matmul(x, weights, False, False), shift)], [x]), [[data]], [[data @ weights + shift]]


@fault()
def post_op_of_small_product() -> Graph:
    """Factors of two columns, after an activation of a product of 2 x 2 matrices, are both the first one."""
    x, y = parameter(-1, 2, 2), parameter(-1, 2, 2)
    out = ops.multiply(ops.relu(ops.matmul(x, y, False, False)), np.array([1, 2], np.float32))
    arrays = [np.abs(numbers(3, 2, 2, seed=seed)) for seed in range(2)]
    return Model([out], [x, y]), [arrays], [[arrays[0] @ arrays[1] * np.array([1, 2])]]


@fault()
def post_op_of_unknown_channels() -> Graph:
    """A resized image of unknown channels less three means is not computed where it has one channel."""
    x, means = parameter(-1, -1, 2, 2), numbers(1, 3, 1, 1)
    resized = ops.interpolate(x, np.array([4, 4]), "nearest", "sizes", axes=np.array([2, 3]))
    data = numbers(1, 1, 2, 2, seed=1)
    want = data.repeat(2, 2).repeat(2, 3) - means
    return Model([ops.subtract(resized, means)], [x]), [[data]], [[want]]


@fault()
def broadcast_along_axis_1() -> Graph:
    """A Broadcast along axis 1 after a MatMul becomes a product with ones, and does not compile."""
    x = parameter(-1, -1, 4, 6)
    data, weights = numbers(3, 1, 4, 6), numbers(6, 8, seed=1)
    out = ops.broadcast(ops.matmul(x, weights, False, False), np.array([1, 2, 1, 1]), broadcast_spec="BIDIRECTIONAL")
    return Model([out], [x]), [[data]], [[np.repeat(data @ weights, 2, 1)]]


@fault()
def post_op_of_reduced_sequence() -> Graph:
    """Per-channel factors of a mean over the last of three axes are taken from other channels."""
    x = parameter(2, 24, 5)
    scale, shift = numbers(24), numbers(24)
    data = numbers(2, 24, 5)
    out = ops.add(ops.multiply(ops.reduce_mean(x, np.array([2]), False), scale), shift)
    return Model([out], [x]), [[data]], [[data.mean(2) * scale + shift]]


@fault()
def reshape_after_reduction() -> Graph:
    """A Reshape after a reduction is eliminated, as if the reduction kept the reduced axis."""
    x = parameter(-1, 3, 4)
    out = ops.reshape(ops.reduce_mean(x, np.array([1]), False), np.array([-1, 1]), False)
    data = numbers(2, 3, 4)
    return Model([out], [x]), [[data]], [[data.mean(1).reshape(-1, 1)]]


@fault()
def reduction_after_unsqueeze() -> Graph:
    """A reduction with keep_dims has another shape if an axis after the reduced one was added before."""
    x = parameter(3, 4)
    out = ops.reduce_sum(ops.unsqueeze(x, np.array([2])), np.array([0]), True)
    data = numbers(3, 4)
    return Model([out], [x]), [[data]], [[data.sum(0).reshape(1, 4, 1)]]


@fault()
def mean_of_each_channel() -> Graph:
    """The mean over all axes but the channels, after a transposed convolution, is wrong in the second run."""
    x, filters = parameter(2, 4, 3, 3), numbers(4, 1, 1, 1, 1)
    convolved = ops.group_convolution_backprop_data(x, filters, strides=[1, 1])
    data = numbers(2, 4, 3, 3)
    want = (data * filters.reshape(4, 1, 1)).mean((0, 2, 3))
    return Model([ops.reduce_mean(convolved, np.array([0, 2, 3]), False)], [x]), [[data], [data]], [[want], [want]]


@fault()
def quantization_ranges_along_axis_2() -> Graph:
    """FakeQuantize with ranges along axis 2 of a dynamic shape does not compile, or reads the wrong ones."""
    x = parameter(-1, 3, 4, 5)
    high = np.abs(numbers(1, 1, 4, 1)) + 0.5
    out = ops.fake_quantize(x, -high, high, -high, high, 256)
    model, data = Model([out], [x]), numbers(2, 3, 4, 5)
    scale = 2 * high / 255
    want = np.round((np.clip(data, -high, high) + high) / scale) * scale - high
    return model, [[data]], [[want.astype(np.float32)]]


@fault()
def pad_before_transposed_convolution() -> Graph:
    """A Pad before a transposed convolution of stride 2 adds as many elements to the result, not twice as many."""
    x = parameter(1, 2, 3)
    filters, data = numbers(2, 3, 2), numbers(1, 2, 3)
    padded = ops.pad(x, np.array([0, 0, 1]), np.array([0, 0, 1]), "constant", np.float32(0))
    out = ops.convolution_backprop_data(padded, filters, strides=[2], pads_begin=[1], pads_end=[1])
    wide = np.pad(data, [(0, 0), (0, 0), (1, 1)])
    want = np.einsum("ncw,cok->nowk", wide, filters).reshape(1, 3, 10)[:, :, 1:-1]
    return Model([out], [x]), [[data]], [[want]]


@fault()
def pad_before_same_padding() -> Graph:
    """A convolution that pads to the same size, after a Pad of unknown size, pads nothing."""
    x = parameter(1, 2, -1)
    filters, data = numbers(3, 2, 2), numbers(1, 2, 4)
    padded = ops.pad(x, np.array([0, 0, 1]), np.array([0, 0, 0]), "constant", np.float32(0))
    out = ops.convolution(padded, filters, [1], [0], [0], [1], "same_upper")
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(data, [(0, 0), (0, 0), (1, 1)]), 2, 2)
    return Model([out], [x]), [[data]], [[np.einsum("ncwk,ock->now", windows, filters)]]


@fault()
def stride_of_padded_convolution() -> Graph:
    """A padded pointwise convolution of stride 2 after an activation has an output of another shape."""
    x = parameter(1, 2, 5, 5)
    filters, data = numbers(3, 2, 1, 1), numbers(1, 2, 5, 5)
    out = ops.convolution(ops.relu(x), filters, [2, 2], [1, 1], [1, 1], [1, 1])
    padded = np.pad(np.maximum(data, 0), [(0, 0), (0, 0), (1, 1), (1, 1)])
    return Model([out], [x]), [[data]], [[np.einsum("nchw,oc->nohw", padded[:, :, ::2, ::2], filters[:, :, 0, 0])]]


@fault()
def stride_of_split_image() -> Graph:
    """A pointwise convolution of stride 2 over one of several outputs of a node does not compile."""
    x = parameter(1, 4, 5, 5)
    filters, data = numbers(3, 2, 1, 1), numbers(1, 4, 5, 5)
    image = ops.split(x, np.array(1), 2).output(1)
    out = ops.convolution(ops.add(ops.relu(image), ops.tanh(image)), filters, [2, 2], [0, 0], [0, 0], [1, 1])
    image = np.maximum(data[:, 2:], 0) + np.tanh(data[:, 2:])
    return Model([out], [x]), [[data]], [[np.einsum("nchw,oc->nohw", image[:, :, ::2, ::2], filters[:, :, 0, 0])]]


@fault(precision="default", tolerance=0.05, processor="amx")
def strided_convolution_of_width_1() -> Graph:
    """In bfloat16, a convolution of stride 2 gives garbage if its output has width 1 and a greater height."""
    x = parameter(1, 8, 8, 1)
    filters, data = numbers(24, 8, 3, 2), numbers(1, 8, 8, 1)
    out = ops.convolution(x, filters, [1, 2], [0, 1], [0, 1], [1, 1])
    met = filters[:, :, :, 1]  # the other column of the filter meets padding
    want = sum(np.einsum("nih,oi->noh", data[:, :, i : i + 6, 0], met[:, :, i]) for i in range(3))[..., None]
    return Model([out], [x]), [[data]] * 2, [[want]] * 2


@fault(precision="default", tolerance=0.05, processor="amx")
def small_group_filters() -> Graph:
    """In bfloat16, a convolution of few pixels with several small filters for each channel, and a bias, is wrong."""
    x = parameter(-1, 2, -1, -1)
    filters, added = numbers(2, 3, 1, 1, 4), numbers(1, 6, 1, 1, seed=1)
    out = ops.add(ops.group_convolution(x, filters, [1, 1], [0, 0], [0, 0], [1, 1]), added)
    runs = [[numbers(1, 2, 1, width, seed=width)] for width in range(5, 12)]
    wanted = []
    for (data,) in runs:
        windows = np.lib.stride_tricks.sliding_window_view(data, 4, 3)
        wanted.append([np.einsum("nchwk,cok->ncohw", windows, filters[:, :, 0, 0]).reshape(1, 6, 1, -1) + added])
    return Model([out], [x]), runs, wanted


@fault(precision="default", tolerance=0.05, processor="amx")
def resize_of_one_axis_in_bfloat16() -> Graph:
    """In bfloat16, what follows a resize of three dimensions does not compile ("bad combination")."""
    x = parameter(2, 3, 4)
    size, data, weights = np.array([8]), numbers(2, 3, 4), numbers(8, 5, seed=1)
    modes = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    resized = ops.interpolate(x, size, "nearest", "sizes", **modes, axes=np.array([2]))
    want = np.maximum(data, 0).repeat(2, axis=2) @ weights
    return Model([ops.matmul(ops.relu(resized), weights, False, False)], [x]), [[data]], [[want]]


@fault()
def result_converted_to_its_own_type() -> Graph:
    """The Convert of an input to its own type is wrong for a smaller second input in the caller's memory.

    The Convert is dropped when the model is compiled, and the result stays in the memory of the first input.
    """
    x = parameter(-1, -1)
    runs = [[numbers(64, 64)], [numbers(2, 2, seed=1)]]
    return Model([ops.convert(x, "f32")], [x]), runs, runs


@fault()
def result_converted_there_and_back() -> Graph:
    """An input that is converted to float64 and back is wrong for a smaller second input in the caller's memory."""
    x = parameter(-1, -1)
    runs = [[numbers(64, 64)], [numbers(2, 2, seed=1)]]
    return Model([ops.convert(ops.convert(x, "f64"), "f32")], [x]), runs, runs


@fault(processor="avx512f")
def tile_of_one_pixel() -> Graph:
    """A Tile of one pixel for each channel, or of one channel, repeats the wrong axes if the batch is dynamic."""
    x = parameter(-1, 4, 3, 3)
    pooled = ops.max_pool(x, [1, 1], [1, 1], [0, 0], [0, 0], [3, 3])
    data = numbers(2, 4, 3, 3)
    expected = np.tile(data.max((2, 3), keepdims=True), (1, 1, 2, 2))
    return Model([ops.tile(pooled.output(0), np.array([1, 1, 2, 2]))], [x]), [[data]], [[expected]]


@fault()
def gather_before_transpose() -> Graph:
    """What reads a Transpose beside an Unsqueeze gets the axis of which a Gather took the only element before."""
    x, data = parameter(1, -1, 8), numbers(1, 6, 8)
    turned = ops.transpose(ops.gather(x, np.int64(0), np.int64(0)), np.array([1, 0]))
    out = [ops.relu(ops.unsqueeze(turned, np.array([0]))), ops.reduce_max(turned, np.array([1]), False)]
    want = data[0].T
    return Model(out, [x]), [[data]], [[np.maximum(want, 0)[None], want.max(1)]]


@fault()
def channels_reversed_twice() -> Graph:
    """Channels that preprocessing reverses are not reversed if the network permutes elements of any axis.

    The reversal is fused into the convolution's filters as preprocessing is built in, and once more as it is compiled.
    """
    from openvino import Layout
    from openvino.preprocess import PrePostProcessor

    x, filters, ones = parameter(1, 3, 4, 4), numbers(3, 3, 1, 1), [1, 1]
    convolved = ops.convolution(x, filters, ones, [0, 0], [0, 0], ones)
    permuted = ops.relu(ops.gather(convolved, np.array([1, 2, 0]), np.array(1)))
    steps = PrePostProcessor(Model([permuted], [x]))
    steps.input(0).model().set_layout(Layout("NCHW"))
    steps.input(0).preprocess().reverse_channels()
    data = numbers(1, 3, 4, 4, seed=1)
    want = np.maximum(np.einsum("nihw,oi->nohw", data[:, ::-1], filters[:, :, 0, 0]), 0)[:, [1, 2, 0]]
    return steps.build(), [[data]], [[want]]


@fault()
def transpose_before_constant_of_higher_rank() -> Graph:
    """A transposed tensor times a constant [1, 1, 1, 1] has the rank of the tensor."""
    x, data = parameter(2, 3, 4), numbers(2, 3, 4)
    out = ops.multiply(ops.transpose(x, np.array([0, 2, 1])), np.full((1, 1, 1, 1), 2, np.float32))
    return Model([out], [x]), [[data]], [[2 * data.transpose(0, 2, 1)[None]]]
