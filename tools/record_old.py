"""Records what Paddle 1.8 exports and computes, for tests/ops/test_paddle_1_8.py.

Run it with a Python that has Paddle 1.8.5:

    python3.8 -m venv old && old/bin/pip install paddlepaddle==1.8.5 'numpy<1.20' 'protobuf<3.21'
    old/bin/python tools/record_old.py tests/data/paddle_1_8 [PROGRAM ...]

Each folder holds a program as `save_inference_model` writes it, but for the call stacks, which are most of its bytes,
and `arrays.npz`: `input:NAME` and `output:K`, what the saved program was given and what Paddle computed from it. This
file needs nothing but Paddle 1.8 and Python 3.7 or 3.8.
"""

from __future__ import annotations

import shutil
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import paddle.fluid as fluid
from paddle.fluid.proto import framework_pb2

layers = fluid.layers
feeds: dict[str, Any] = {}
random = np.random.RandomState(0)


def floats(*shape, low=-1.0, high=1.0):
    return random.uniform(low, high, shape).astype("float32")


def integers(*shape, low=0, high=10, dtype="int64"):
    return random.randint(low, high, shape).astype(dtype)


def data(name, array, dims=None, sequence=False):
    """An input, with an unknown first dimension unless `dims` says otherwise; as one sequence, if asked for."""
    array = np.asarray(array)
    feeds[name] = (array, [[len(array)]] if sequence else None)
    return fluid.data(name, dims or [-1, *array.shape[1:]], str(array.dtype), lod_level=int(sequence))


def fixed(name, array):
    return data(name, array, list(np.shape(array)))


def operator(op_type, inputs, outputs, attributes=None):
    """An operator that no function of Paddle makes; outputs: port -> type."""
    helper = fluid.layer_helper.LayerHelper(op_type)
    made = {port: [helper.create_variable_for_type_inference(dtype)] for port, dtype in outputs.items()}
    ports = {port: [input_] for port, input_ in inputs.items()}
    helper.append_op(type=op_type, inputs=ports, outputs=made, attrs=attributes or {})
    return [value[0] for value in made.values()]


def boxes(count, size=20.0):
    corner = random.uniform(0, size * 0.6, (count, 2))
    return np.concatenate([corner, corner + random.uniform(2, size * 0.4, (count, 2))], 1).astype("float32")


# --- what means something else today ---------------------------------------------------------------------------------


def quotients_of_integers():
    results = []
    for dtype in ("int32", "int64"):
        x = data("x_" + dtype, integers(4, 6, low=-20, high=20, dtype=dtype))
        y = integers(4, 6, low=1, high=7, dtype=dtype) * random.choice([-1, 1], (4, 6)).astype(dtype)
        y = data("y_" + dtype, y)
        results += [layers.elementwise_mod(x, y), layers.elementwise_floordiv(x, y), layers.elementwise_div(x, y)]
    x, y = data("x", floats(4, 6) * 20), data("y", floats(4, 6, low=1, high=5))
    return [*results, layers.elementwise_mod(x, y)]


def averages_that_count_padding():
    x, y = data("x", floats(2, 3, 7, 8)), data("y", floats(2, 2, 5, 6, 7))

    def avg(*args, **keywords):
        return layers.pool2d(x, *args, exclusive=False, **keywords)

    return [
        avg(3, "avg", 2, 1, ceil_mode=True),
        avg(3, "avg", 2, 0, ceil_mode=True),
        avg(3, "avg", 2, [0, 1, 2, 1], ceil_mode=True),
        avg([3, 2], "avg", [2, 1], "SAME"),
        avg(3, "avg", 1, 1),
        layers.pool3d(y, 3, "avg", 2, 1, ceil_mode=True, exclusive=False),
    ]


def yolo_boxes_of_an_oblong_image():
    x = data("x", floats(2, 2 * 7, 3, 4))
    size = data("size", np.array([[48, 64], [40, 60]], "int32"))
    results = list(layers.yolo_box(x, size, [10, 13, 16, 30], 2, 0.3, 16))
    return results + list(layers.yolo_box(x, size, [10, 13, 16, 30], 2, 0.3, 16, clip_bbox=False, scale_x_y=1.05))


def yolo_and_suppression():
    x = data("x", floats(1, 2 * 7, 3, 4))
    size = data("size", np.array([[48, 64]], "int32"))
    candidates, scores = layers.yolo_box(x, size, [10, 13, 16, 30], 2, 0.3, 16)
    scores = layers.transpose(scores, [0, 2, 1])
    return layers.multiclass_nms(candidates, scores, 0.1, 20, 10, 0.4, background_label=-1)


def shapes_without_0d():
    x, y, p, q = fixed("x", floats(3)), fixed("y", floats(3)), data("p", floats(3, 4)), data("q", floats(3, 4))
    positive = layers.greater_than(p, layers.zeros_like(p))
    truth = [layers.allclose(x, y), layers.is_empty(p), layers.reduce_all(positive), layers.reduce_any(positive)]
    numbers = [layers.size(p), layers.mean(p), layers.reduce_sum(p), layers.reduce_max(p), layers.logsumexp(p)]
    return [layers.cast(item, "int32") for item in truth] + numbers + [layers.dist(p, q), layers.dot(x, y)]


# --- attributes and ports by their older names, old operators --------------------------------------------------------


def older_spellings():
    x, y = data("x", floats(2, 1, 3, 4)), fixed("y", floats(4, 2, 3, 4))
    ids = data("ids", integers(3, 1, high=5))
    image = data("image", floats(2, 4, 4, 6))
    return [
        layers.squeeze(x, [1]),
        layers.unsqueeze(x, [0]),
        layers.flatten(x, 2),
        layers.expand(x, [1, 2, 1, 1]),
        layers.expand_as(x, y),
        layers.one_hot(ids, 5),
        layers.embedding(ids, [5, 4]),
        layers.space_to_depth(image, 2),
        layers.pad2d(image, [1, 2, 0, 1], "reflect"),
        layers.flip(x, [2, 3]),
        layers.roll(x, [1], [3]),
        layers.trace(image, 1, 2, 3),
        layers.reduce_mean(image, [2, -1], True),
        layers.elementwise_add(image, fixed("bias", floats(4)), axis=1),
        layers.crop(y, [2, 2, 3, 2], [1, 0, 0, 1]),
        *layers.topk(layers.reduce_mean(image, [2, 3]), 2),
    ]


def interpolations():
    x = data("x", floats(2, 3, 5, 6))
    results = []
    for corners in (True, False):
        results.append(layers.resize_nearest(x, [9, 13], align_corners=corners))
        for mode in (0, 1):
            results.append(layers.resize_bilinear(x, [9, 4], align_corners=corners, align_mode=mode))
            results.append(layers.resize_bilinear(x, scale=1.7, align_corners=corners, align_mode=mode))
    return results


def outer_product_and_unpooling():
    outer = layers.matmul(fixed("a", floats(3)), fixed("b", floats(4)), True, True, 2.0)
    windows = {"ksize": [2, 2], "strides": [2, 2], "paddings": [0, 0]}
    x = data("x", floats(2, 3, 6, 8))
    most, places = operator("max_pool2d_with_index", {"X": x}, {"Out": "float32", "Mask": "int32"}, windows)
    inputs = {"X": most, "Indices": places}
    return [outer, *operator("unpool", inputs, {"Out": "float32"}, dict(windows, unpooling_type="max"))]


def proposals_with_their_lod():
    anchors, variances = layers.anchor_generator(
        data("x", floats(2, 4, 3, 4)), [8.0, 16.0], [0.5, 1.0], [1.0, 1.0, 1.0, 1.0], [8.0, 8.0]
    )
    scores, deltas = data("scores", floats(2, 4, 3, 4)), data("deltas", floats(2, 16, 3, 4) * 0.3)
    size = data("size", np.array([[24, 32, 1.5], [20, 30, 1.0]], "float32"))
    return layers.generate_proposals(scores, deltas, size, anchors, variances, 20, 8, 0.4, 2.0, return_rois_num=True)


# --- operators that were removed -------------------------------------------------------------------------------------


def removed_operators():
    x, y = data("x", floats(4, 5)), data("y", floats(4, 5))
    infinite = fixed("infinite", np.array([1, np.inf, 2], "float32"))
    like = layers.gaussian_random_batch_size_like(x, [1, 5])
    return [
        layers.cast(layers.isfinite(x), "int32"),
        layers.cast(layers.isfinite(infinite), "int32"),
        layers.diag(fixed("diagonal", floats(4))),
        layers.diag(fixed("whole", integers(3))),
        layers.cos_sim(x, y),
        layers.cos_sim(x, fixed("row", floats(1, 5))),
        layers.pad_constant_like(fixed("large", floats(4, 3, 6)), fixed("small", floats(2, 3, 4)), 1.5),
        layers.shape(like),
    ]


def circular_convolutions():
    results = []
    for name, width in (("y", 3), ("z", 7)):
        inputs = {"X": data("x" + name, floats(3, 7)), "Y": data(name, floats(3, width))}
        results += operator("conv_shift", inputs, {"Out": "float32"})
    return results


def inplace_normalizations():
    x = data("x", floats(2, 3, 5, 6))
    results = []
    for activation, alpha in (("leaky_relu", 0.2), ("elu", 0.7), (None, 1.0)):
        normalized = layers.inplace_abn(layers.conv2d(x, 4, 1), is_test=True, act=activation, act_alpha=alpha)
        results.append(layers.scale(normalized, 1.5))
    return results


def precise_pooling():
    x = fixed("x", floats(2, 3, 8, 9))
    wide = np.array([[-5, -3, 50, 60], [3, 3, 3, 3]], "float32")
    first = data("boxes", np.concatenate([boxes(4, 40.0), wide]))
    counts = fixed("counts", np.array([1, 5], "int64"))
    parted = layers.lod_reset(first, target_lod=[0, 2, 6])
    return [
        layers.prroi_pool(x, first, 0.25, 3, 2, batch_roi_nums=counts),
        layers.prroi_pool(x, parted, 0.5, 2, 4),
    ]


# --- whole programs --------------------------------------------------------------------------------------------------


def convolutional_network():
    x = data("x", floats(2, 3, 8, 8))
    x = layers.batch_norm(layers.conv2d(x, 4, 3, padding=1, bias_attr=False), act="relu", is_test=True)
    x = layers.prelu(layers.conv2d_transpose(layers.pool2d(x, 2, "max", 2), 4, filter_size=2, stride=2), "channel")
    x = layers.dropout(layers.group_norm(x, 2), 0.3, is_test=True)
    x = layers.pool2d(layers.lrn(x), pool_type="avg", global_pooling=True)
    return layers.fc(x, 5, act="softmax")


def sequence_network():
    x = data("x", floats(6, 4), sequence=True)
    parted = layers.lod_reset(x, target_lod=[0, 1, 4, 6])
    layers.create_parameter([5, 3], "float32", name="transitions")
    forward = layers.dynamic_gru(layers.fc(x, 9), 3)
    scores = layers.fc([forward, layers.sequence_conv(x, 3)], 3)
    best = layers.crf_decoding(scores, fluid.ParamAttr(name="transitions"))
    hidden, cell = layers.dynamic_lstm(layers.fc(parted, 12), 12, is_reverse=True)
    return [best, layers.sequence_pool(hidden, "max"), layers.sequence_last_step(cell)]


def projected_lstms():
    x = data("x", floats(6, 4), sequence=True)
    parted = layers.lod_reset(x, target_lod=[0, 1, 4, 6])
    options = {"use_peepholes": False, "is_reverse": True, "cell_clip": 0.3, "proj_clip": 0.2}
    results = list(layers.dynamic_lstmp(layers.fc(parted, 12), 12, 2))
    return results + list(layers.dynamic_lstmp(layers.fc(x, 12), 12, 2, proj_activation="identity", **options))


def branches_and_loops():
    x = data("x", floats(2, 3))
    below = layers.less_than(layers.reduce_sum(x), layers.fill_constant([1], "float32", 0.0))
    chosen = layers.cond(below, lambda: x * 2, lambda: x - 1)
    switched = layers.switch_case(fixed("which", np.array([7], "int32")), {1: lambda: x * 2}, lambda: x * 4)
    i, count = layers.fill_constant([1], "int64", 0), fixed("count", np.array([4], "int64"))
    array = layers.create_array("float32")
    going = layers.less_than(i, count)
    loop = layers.While(going)
    with loop.block():
        layers.array_write(layers.elementwise_add(x, layers.cast(i, "float32")), i, array)
        layers.increment(i, 1, in_place=True)
        layers.less_than(i, count, cond=going)
    joined, _ = layers.tensor_array_to_tensor(array, 1)
    return [chosen, switched, joined]


def elements_of_different_shapes():
    array = layers.create_array("float32")
    for i, width in enumerate((3, 4)):
        x = data(f"x{i}", floats(2, width))
        layers.array_write(x, layers.fill_constant([1], "int64", i), array)
    return layers.tensor_array_to_tensor(array, 1)[0]


def loops_over_time():
    x, y = data("x", floats(5, 2, 4)), data("y", floats(2, 5, 4))
    lengths = fixed("lengths", np.array([3, 5], "int64"))
    zero, loop = layers.fill_constant([1], "float32", 0.0), layers.StaticRNN()
    with loop.step():
        part = loop.step_input(x)
        state = loop.memory(shape=[-1, 3], batch_ref=part, init_value=0.5)
        count = loop.memory(init=zero)
        hidden = layers.fc([part, state], 3, act="tanh")
        loop.update_memory(state, hidden)
        loop.update_memory(count, count + 1)
        loop.output(hidden, layers.elementwise_mul(hidden, count, axis=0))
    results = list(loop())
    outputs, last = layers.rnn(layers.GRUCell(3), y, sequence_length=lengths)
    results += [outputs, last]
    outputs, last = layers.rnn(layers.LSTMCell(3), x, time_major=True, is_reverse=True)
    return [*results, outputs, *last]


PROGRAMS = [
    quotients_of_integers,
    averages_that_count_padding,
    yolo_boxes_of_an_oblong_image,
    yolo_and_suppression,
    shapes_without_0d,
    older_spellings,
    interpolations,
    outer_product_and_unpooling,
    proposals_with_their_lod,
    removed_operators,
    circular_convolutions,
    inplace_normalizations,
    precise_pooling,
    convolutional_network,
    sequence_network,
    projected_lstms,
    branches_and_loops,
    elements_of_different_shapes,
    loops_over_time,
]


def shorten(path):
    """Takes the operators' call stacks out of a program."""
    program = framework_pb2.ProgramDesc()
    program.ParseFromString(path.read_bytes())
    for block in program.blocks:
        for op in block.ops:
            kept = [attribute for attribute in op.attrs if attribute.name != "op_callstack"]
            del op.attrs[:]
            op.attrs.extend(kept)
    path.write_bytes(program.SerializeToString())


def record(make, folder, together):
    """Saves one program, its parameters in one file or in a file each, and runs what was saved."""
    shutil.rmtree(folder, ignore_errors=True)
    feeds.clear()
    random.seed(zlib.crc32(make.__name__.encode()))
    program, startup = fluid.Program(), fluid.Program()
    startup.random_seed = 7
    executor = fluid.Executor(fluid.CPUPlace())
    scope = fluid.Scope()
    with fluid.scope_guard(scope), fluid.program_guard(program, startup), fluid.unique_name.guard():
        results = make()
        executor.run(startup)
        for parameter in program.all_parameters():  # those that all begin alike would hide mistakes
            tensor = scope.find_var(parameter.name).get_tensor()
            values = np.array(tensor)
            if (values == values.ravel()[0]).all():
                tensor.set((values + random.uniform(0, 0.5, values.shape)).astype("float32"), fluid.CPUPlace())
        names = {}
        if together and program.all_parameters():
            names = {"model_filename": "__model__", "params_filename": "__params__"}
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        fluid.io.save_inference_model(str(folder), list(feeds), results, executor, program, **names)
    shorten(folder / "__model__")
    arrays = {"input:" + name: array for name, (array, _) in feeds.items()}
    with fluid.scope_guard(fluid.Scope()):
        program, wanted, results = fluid.io.load_inference_model(str(folder), executor, **names)
        inputs = {}
        for name in wanted:
            array, lengths = feeds[name]
            inputs[name] = array if lengths is None else fluid.create_lod_tensor(array, lengths, fluid.CPUPlace())
        computed = executor.run(program, inputs, results, return_numpy=False)
    arrays.update((f"output:{k}", np.array(item)) for k, item in enumerate(computed))
    np.savez_compressed(str(folder / "arrays.npz"), **arrays)


def main():
    out, chosen = Path(sys.argv[1]), sys.argv[2:]
    for i, make in enumerate(PROGRAMS):
        if not chosen or make.__name__ in chosen:
            record(make, out / make.__name__, together=i % 2 == 0)


if __name__ == "__main__":
    main()
