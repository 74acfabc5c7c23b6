"""Layers that OpenVINO may run on a view of their input, beside every other kind of node that reads the same input.

A recurrent layer over steps, and a convolution channels last: OpenVINO merges the transpose before each with a change
of layout into a view. What else reads the tensor must not write there before. The sizes are known to the rewrites, or
fixed after them, by `Model.reshape`.
"""

import numpy as np
import pytest
from openvino import Model, PartialShape, Type, opset16 as ops

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import run_rewrites
from paddle2ov.workarounds import rewrites_for
from tests.support.passes_checks import branched, check_close, convolved, node_by_node, random, repeated

ONE = np.float32(1)


def sizes(x):
    return list(x.output(0).get_partial_shape().to_shape())


def ints(*values):
    return ops.constant(np.array(values, np.int64))


def always():
    return ops.constant(np.array(True))


def in_a_loop(x):
    return repeated(2, lambda state: ops.add(state, ONE), x.output(0))


def sliced_by_a_loop(x):
    step = ops.parameter([1, *sizes(x)[1:]], Type.f32)
    loop, more, condition = ops.loop(ints(sizes(x)[0]), always()), ops.add(step, ONE), always()
    loop.set_function(Model([ops.result(condition), ops.result(more)], [step]))
    loop.set_special_body_ports([-1, 0])
    loop.set_sliced_input(step, x.output(0), 0, 1, 1, -1, 0)
    return loop.get_concatenated_slices(more.output(0), 0, 1, 1, -1, 0)


def in_a_branch(x):
    is_positive = ops.greater(ops.reduce_sum(x, ints(*range(len(sizes(x)))), False), np.float32(0))
    return branched(is_positive, x.output(0), lambda y: ops.add(y, ONE), lambda y: ops.add(y, -ONE))


def first_row(x):
    return np.ones([1, *sizes(x)[1:]], np.float32)


def transposed_as_computed(x):
    axes = range(len(sizes(x)))
    zero = ops.convert(ops.reduce_logical_or(ops.is_nan(x), ints(*axes), False), "i64")
    return ops.transpose(x, ops.add(ints(1, 0, *axes[2:]), zero))


UNARY = [
    *("abs", "ceiling", "erf", "exp", "floor", "hswish", "mish", "negative", "relu", "sigmoid", "sign", "softplus"),
    *("sqrt", "tanh"),
]
BINARY = ["add", "divide", "floor_mod", "maximum", "multiply", "power", "squared_difference", "subtract"]
REDUCTIONS = ["reduce_l2", "reduce_max", "reduce_mean", "reduce_sum"]
READERS = {
    "result": lambda x: x,
    "equal node": lambda x: ops.reshape(ops.relu(x.input_value(0)), ints(-1), False),
    "loop": in_a_loop,
    "slices in a loop": sliced_by_a_loop,
    "branch": in_a_branch,
    "scatter_update": lambda x: ops.scatter_update(x, ints(0), first_row(x), ints(0)),
    "scatter_elements_update": lambda x: ops.scatter_elements_update(
        x, np.zeros([1] * len(sizes(x)), np.int64), np.ones([1] * len(sizes(x)), np.float32), ints(0)
    ),
    "scatter_nd_update": lambda x: ops.scatter_nd_update(x, np.array([[0]]), first_row(x)),
    "as updates": lambda x: ops.scatter_update(np.ones(sizes(x), np.float32), ints(*range(sizes(x)[0])), x, ints(0)),
    **{name: lambda x, name=name: getattr(ops, name)(x) for name in UNARY},
    **{name: lambda x, name=name: getattr(ops, name)(x, np.float32(2)) for name in BINARY},
    **{f"{name} of itself": lambda x, name=name: getattr(ops, name)(x, x) for name in BINARY},
    **{
        f"{name} along {axis}": lambda x, name=name, axis=axis: getattr(ops, name)(x, ints(axis), axis == 0)
        for name in REDUCTIONS
        for axis in (0, 1, -1)
    },
    "softmax": lambda x: ops.softmax(x, 1),
    "mvn": lambda x: ops.mvn(x, ints(-1), True, 1e-5, "inside_sqrt"),
    "cum_sum": lambda x: ops.cum_sum(x, np.int64(0)),
    "roll": lambda x: ops.roll(x, ints(1), ints(0)),
    "gather": lambda x: ops.gather(x, ints(0), ints(0)),
    "gather of one": lambda x: ops.gather(x, np.int64(0), ints(0)),
    "gather_elements": lambda x: ops.gather_elements(x, np.zeros(sizes(x), np.int64), 0),
    "gather_nd": lambda x: ops.gather_nd(x, np.array([[0]])),
    "slice": lambda x: ops.slice(x, ints(0), ints(1), ints(1), ints(0)),
    "slice of a later axis": lambda x: ops.slice(x, ints(1), ints(3), ints(1), ints(1)),
    "slice backwards": lambda x: ops.slice(x, ints(-1), ints(-100), ints(-1), ints(0)),
    "strided_slice": lambda x: ops.strided_slice(x, ints(0), ints(1), ints(1), [0], [0]),
    "pad": lambda x: ops.pad(x, [1] * len(sizes(x)), [1] * len(sizes(x)), "constant", np.float32(0)),
    "tile": lambda x: ops.tile(x, ints(2, *[1] * (len(sizes(x)) - 1))),
    "broadcast": lambda x: ops.broadcast(x, ints(2, *sizes(x))),
    "topk": lambda x: ops.topk(x, np.int64(1), 1, "max", "value").output(0),
    "split": lambda x: ops.split(x, np.int64(0), sizes(x)[0]).output(0),
    "part of a split": lambda x: ops.relu(ops.split(x, np.int64(0), sizes(x)[0]).output(0)),
    "reshape": lambda x: ops.reshape(x, ints(-1), False),
    "reshape, written": lambda x: ops.relu(ops.reshape(x, ints(-1), False)),
    "unsqueeze": lambda x: ops.unsqueeze(x, ints(0)),
    "axes transposed as computed": transposed_as_computed,
    "all axes transposed": lambda x: ops.transpose(x, ints(*reversed(range(len(sizes(x)))))),
    "first axes transposed": lambda x: ops.transpose(x, ints(1, 0, *range(2, len(sizes(x))))),
    "last axes transposed": lambda x: ops.transpose(x, ints(*{3: [0, 2, 1], 4: [0, 1, 3, 2]}[len(sizes(x))])),
    "concat along 0": lambda x: ops.concat([x, x], 0),
    "concat along 1": lambda x: ops.concat([x, ops.abs(x)], 1),
    "fake_quantize": lambda x: ops.fake_quantize(x, -ONE, ONE, -ONE, ONE, 256),
    "prelu": lambda x: ops.prelu(x, np.full(sizes(x)[1], 0.5, np.float32)),
    "clamp": lambda x: ops.clamp(x, -0.5, 0.5),
    "convert": lambda x: ops.convert(x, "f16"),
    "select": lambda x: ops.select(ops.greater(x, np.float32(0)), x, ONE),
    "matmul": lambda x: ops.matmul(x, np.ones([sizes(x)[-1], 3], np.float32), False, False),
    "matmul of itself": lambda x: ops.matmul(x, x, False, True),
    "matmul from the left": lambda x: ops.matmul(np.ones([3, sizes(x)[-2]], np.float32), x, False, False),
    "scaled_dot_product_attention": lambda x: ops.scaled_dot_product_attention(x, x, x),
    "group_normalization": lambda x: ops.group_normalization(
        x, np.ones(sizes(x)[1], np.float32), np.ones(sizes(x)[1], np.float32), 1, 1e-5
    ),
    "einsum of products": lambda x: ops.einsum([x, x], {3: "abc,abc->ab", 4: "abcd,abcd->acb"}[len(sizes(x))]),
    "einsum of sums": lambda x: ops.einsum([x], {3: "abc->ab", 4: "abcd->ab"}[len(sizes(x))]),
    "einsum of axes": lambda x: ops.einsum([x], {3: "abc->acb", 4: "abcd->dabc"}[len(sizes(x))]),
}  # fmt: skip


def over_steps(x):
    count, batch, width = sizes(x)
    layer = ops.rnn_sequence(
        ops.transpose(x, ints(1, 0, 2)), np.zeros([batch, 1, 2], np.float32), np.full(batch, count),
        random(1, 2, width), random(1, 2, 2), np.zeros([1, 2], np.float32), 2, "forward", activations=["tanh"],
    )  # fmt: skip
    return layer.output(0)


def channels_last(x):
    return convolved(ops.transpose(x, ints(0, 3, 1, 2)), random(2, sizes(x)[3], 1, 1))


LAYERS = [
    (over_steps, [5, 3, 4]),
    (over_steps, [3, 4, 1]),
    (channels_last, [2, 3, 3, 4]),
    (channels_last, [1, 3, 4, 8]),
]


def built(reader):
    """Each layer beside the reader, as parts of one model."""
    inputs, results = [], []
    for layer, shape in LAYERS:
        inputs.append(ops.parameter(shape, Type.f32))
        read = ops.relu(inputs[-1])
        results += [ops.result(layer(read)), ops.result(READERS[reader](read))]
    return Model(results, inputs)


def reshape(model, *, first=None):
    """Gives the inputs the layers' shapes, with a first size of its own."""
    shapes = [PartialShape(shape if first is None else [first, *shape[1:]]) for _, shape in LAYERS]
    model.reshape(dict(zip(model.inputs, shapes, strict=True)))


@pytest.mark.one_in(6)
@pytest.mark.parametrize("fixed_later", [False, True], ids=["known", "fixed later"])
@pytest.mark.parametrize("reader", READERS)
def test_reader(reader, fixed_later):
    model, data = built(reader), [random(*shape) for _, shape in LAYERS]
    wanted = node_by_node(model, data)
    if fixed_later:
        reshape(model, first=-1)
    run_rewrites(model, rewrites_for())
    reshape(model)
    request = compile_on_cpu(model).create_infer_request()
    for _ in range(2):
        check_close(request.infer(data).values(), wanted, 1e-4)
