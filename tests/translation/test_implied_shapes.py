"""Inputs whose unknown dimensions the program implies: what Paddle refuses is refused, what it accepts runs."""

import numpy as np
import paddle
import pytest
from openvino import Model, PartialShape, opset16 as ops
from paddle import nn

import paddle2ov
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.graph.expected_dims import expected_dims
from paddle2ov.graph.shapes import dims_of
from paddle2ov.passes import Graph
from paddle2ov.passes.implied_dims import narrow_inputs
from tests.support.models import save_layer
from tests.support.passes_checks import branched, random


@pytest.fixture(autouse=True)
def dynamic_mode():
    paddle.disable_static()
    paddle.seed(5)
    yield
    paddle.disable_static()


class Net(nn.Layer):
    """A function over one input or two, and learned tensors."""

    def __init__(self, function, *shapes):
        super().__init__()
        self.function = function
        self.learned = [self.create_parameter(shape) for shape in shapes]
        for i, item in enumerate(self.learned):
            self.add_parameter(f"learned_{i}", item)

    def forward(self, x, y=None):
        given = [x] if y is None else [x, y]
        return self.function(*given, *self.learned)


def linear(x, w):
    return paddle.matmul(x, w)


def several(x, w):
    for i in range(3):
        x = paddle.concat([x, x + i], 0)
    return paddle.matmul(x, w)


# Name -> (layer, shapes that fit, the shapes that its inputs have when only their ranks are given)
LAYERS: dict[str, tuple] = {
    "linear": (lambda: nn.Linear(8, 4), [(2, 3, 8)], ["?,?,8"]),
    "linear over linear": (lambda: nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 2)), [(2, 8)], ["?,8"]),
    "weight first": (lambda: Net(lambda x, w: paddle.matmul(w, x), (3, 4)), [(4, 2)], ["4,?"]),
    "transposed": (lambda: Net(lambda x, w: paddle.matmul(x, w, transpose_x=True), (4, 3)), [(4, 2)], ["4,?"]),
    "vector": (lambda: Net(linear, (4,)), [(2, 4)], ["?,4"]),
    "of a vector": (lambda: Net(linear, (4, 3)), [(4,)], ["4"]),
    "convolution": (lambda: nn.Conv2D(3, 4, 3), [(1, 3, 6, 5)], ["?,3,?,?"]),
    "groups": (lambda: nn.Conv2D(4, 4, 3, groups=2), [(1, 4, 6, 5)], ["?,4,?,?"]),
    "depthwise": (lambda: nn.Conv1D(3, 3, 3, groups=3), [(2, 3, 6)], ["?,3,?"]),
    "batch norm": (lambda: nn.BatchNorm2D(3), [(2, 3, 2, 4)], ["?,3,?,?"]),
    "batch norm, channels last": (lambda: nn.BatchNorm2D(3, data_format="NHWC"), [(2, 2, 4, 3)], ["?,?,?,3"]),
    "layer norm": (lambda: nn.LayerNorm(8), [(2, 3, 8)], ["?,?,8"]),
    "layer norm over two": (lambda: nn.LayerNorm([3, 8]), [(2, 3, 8)], ["?,?,?"]),
    "group norm": (lambda: nn.GroupNorm(1, 4), [(2, 4, 3, 2)], ["?,4,?,?"]),
    "recurrent": (lambda: nn.SimpleRNN(6, 8), [(2, 3, 6)], ["?,?,6"]),
    "LSTM": (lambda: nn.LSTM(6, 8), [(2, 3, 6)], ["?,?,6"]),
    "joined with rows": (lambda: Net(lambda x, w: paddle.concat([x, w]), (2, 4)), [(3, 4)], ["?,4"]),
    "split": (lambda: Net(lambda x: paddle.split(x, [3, 5], 1)[1]), [(2, 8)], ["?,8"]),
    "moved": (
        lambda: Net(lambda x, w: paddle.matmul(nn.functional.relu(x).unsqueeze(1).transpose([0, 1, 3, 2]), w), (8, 4)),
        [(2, 8, 3)],
        ["?,8,?"],
    ),
    "copies": (lambda: Net(several, (8, 4)), [(2, 8)], ["?,8"]),
    # The dimension may be 1: x and the number of features differ then.
    "sum with rows": (lambda: Net(lambda x, w, b: paddle.matmul(paddle.add(x, b), w), (8, 4), (8,)), [(2, 8)], ["?,?"]),
    "sum": (lambda: Net(lambda x, y, w: paddle.matmul(x + y, w), (8, 4)), [(2, 8), (2, 8)], ["?,?", "?,?"]),
    "choice": (lambda: Net(lambda x, y, w: linear(paddle.where(x > 0, x, y), w), (8, 4)), [(2, 8)] * 2, ["?,?"] * 2),
    "tiled": (lambda: Net(lambda x, w: paddle.matmul(x.expand([3, 8]), w), (8, 4)), [(3, 8)], ["?,?"]),
    "product": (lambda: Net(lambda x, y, w: linear(linear(x, y), w), (8, 4)), [(2, 3), (3, 8)], ["?,?", "?,8"]),
    # No dimension of an input, but one that is computed from them.
    "flattened": (lambda: nn.Sequential(nn.Flatten(), nn.Linear(8, 4)), [(3, 2, 4)], ["?,?,?"]),
    "pooled": (
        lambda: Net(lambda x, w: paddle.matmul(x.flatten(2).mean(1, keepdim=True), w), (8, 4)),
        [(2, 3, 2, 4)],
        ["?,?,?,?"],
    ),
    "without its first": (lambda: Net(lambda x, w: paddle.matmul(x[:, 1:], w), (8, 4)), [(2, 9)], ["?,?"]),
    "joined with itself": (lambda: Net(lambda x, w: linear(paddle.concat([x, x], 1), w), (8, 4)), [(2, 4)], ["?,?"]),
}


def variants(shapes):
    """The shapes, and those that differ from them in one dimension."""
    yield shapes
    for i, shape in enumerate(shapes):
        for axis, size in enumerate(shape):
            for other in sorted({1, size - 1, size + 1, 2 * size} - {0, size}):
                yield [*shapes[:i], (*shape[:axis], other, *shape[axis + 1 :]), *shapes[i + 1 :]]


@pytest.mark.parametrize("name", LAYERS)
def test_refused_as_by_paddle(name):
    """Every shape that differs in one dimension is refused if Paddle refuses it, and gives Paddle's results if not."""
    make, shapes, expected = LAYERS[name]
    layer = make()
    layer.eval()
    spec = [paddle.static.InputSpec([None] * len(shape), "float32") for shape in shapes]
    model = paddle2ov.convert(layer, input=spec)
    assert [input_.get_partial_shape() for input_ in model.inputs] == [PartialShape(shape) for shape in expected]
    for node in model.get_ops():  # nothing is checked that an input is known to have
        if (sizes := expected_dims(node)) is not None:
            dims = dims_of(node.input_value(0))
            assert any(size and dims[axis] is None for axis, size in enumerate(sizes))
    compiled, refused = compile_on_cpu(model), []
    for variant in variants(shapes):
        data = [random(*shape) for shape in variant]
        try:
            results = layer(*map(paddle.to_tensor, data))
        except (ValueError, RuntimeError):
            refused.append(data)
            continue
        result = results[0] if isinstance(results, tuple | list) else results
        np.testing.assert_allclose(compiled(data)[0], result.numpy(), rtol=1e-4, atol=1e-5, err_msg=str(variant))
    assert refused
    for data in refused:
        with pytest.raises(RuntimeError):
            compiled(data)


def test_only_what_every_run_needs():
    """Nothing is concluded from a branch, from rounds of a loop, or from two sizes that exclude each other."""
    x, y = ops.parameter([-1, -1]), ops.parameter([-1, -1])
    inner = [ops.parameter([-1, -1]) for _ in range(2)]
    flag = ops.parameter([], np.bool_)
    chosen = branched(flag, x.output(0), lambda y: ops.matmul(y, random(8, 4), False, False), lambda y: y)
    swap = Model([*inner[::-1], ops.constant(True)], inner)
    loop = ops.loop(ops.constant(2), ops.constant(True))
    loop.set_function(swap)
    loop.set_special_body_ports([-1, 2])
    for i, value in enumerate((x, y)):
        loop.set_merged_input(inner[i], value.output(0), swap.get_results()[i].output(0))
    last = loop.get_iter_value(swap.get_results()[0].output(0), -1)
    model = Model([chosen, ops.matmul(last, random(8, 4), False, False).output(0)], [x, y, flag])
    assert narrow_inputs(Graph(model)) == 0
    both = [ops.matmul(x, random(size, 4), False, False) for size in (8, 9)]
    model = Model(both, [x])
    assert narrow_inputs(Graph(model)) == 0
    assert x.get_partial_shape() == PartialShape("?,?")


def test_intervals():
    """A dimension between bounds that allow what is needed has it; others stay as they are."""
    for declared, expected in (("?,2..20", "?,8"), ("?,2..5", "?,2..5")):
        x = ops.parameter(PartialShape(declared))
        model = Model([ops.matmul(x, random(8, 4), False, False)], [x])
        narrow_inputs(Graph(model))
        assert x.get_partial_shape() == PartialShape(expected)


def padded_to_a_multiple(x):
    return paddle.concat([x, paddle.zeros([(4 - x.shape[0] % 4) % 4, 2])])


def row_of_a_cycle(x):
    return paddle.arange(0, 30, 10)[paddle.shape(x)[0] % 3]


def row_of_as_many_as_are_found(x):
    return x[paddle.nonzero(x[:, 0] > 0).shape[0] % 6]


def rounded_down(x):
    return x[: (x.shape[0] - 5) // 3 + 3]


@pytest.mark.parametrize(
    ("function", "rows"),
    [
        (padded_to_a_multiple, "4..8"),
        (row_of_a_cycle, "0..6"),
        (row_of_as_many_as_are_found, 6),
        (rounded_down, "2..8"),
    ],
)
def test_remainders_of_bounded_sizes(function, rows, tmp_path):
    """OpenVINO takes them for constants where they are the same for the least and for the largest size."""
    dims = [rows if isinstance(rows, int) else -1, 2]
    folder = save_layer(tmp_path, function, x=dims)
    compiled = compile_on_cpu(paddle2ov.convert(folder, input={"x": [rows, 2]}))
    for size in [6] if isinstance(rows, int) else [4, 5, 6]:
        for positive in (1, 3, 4):
            data = np.where(np.arange(size)[:, None] < positive, [1, 2], [-3, 4]).astype(np.float32)
            np.testing.assert_array_equal(compiled([data])[0], function(paddle.to_tensor(data)).numpy())


NUMBERS_OF_SIZES = {
    "abs": lambda n: paddle.abs(n),
    "bool": lambda n: n.astype("bool"),
    "cond": lambda n: paddle.static.nn.cond(n == -2, lambda: n * 2, lambda: n + 1),
    "equal": lambda n: n == -2,
    "floor_divide": lambda n: n // 2,
    "logical_not": lambda n: paddle.logical_not(n == -2),
    "not_equal": lambda n: n != -2,
    "pow": lambda n: n**4,
    "pow of floats": lambda n: n.astype("float32") ** paddle.full([], 2.0),
    "prod": lambda n: paddle.prod(paddle.stack([n, n * 0 - 2, n])),
    "quotient": lambda n: -7 // paddle.maximum(n, paddle.ones([], "int64")),
    "remainder": lambda n: n % 2,
    "uint8": lambda n: n.astype("uint8") // 16,
    "where": lambda n: paddle.where(n == -2, n, -n),
}


@pytest.fixture(scope="module")
def numbers_of_sizes(tmp_path_factory):
    """A program that counts with n - 3 for n rows, and makes tensors of as many rows as it finds."""

    def function(x):
        number = paddle.shape(x)[0].astype("int64") - 3
        counts = [count(number).astype("int64") for count in NUMBERS_OF_SIZES.values()]
        return [*counts, *(paddle.zeros([item + 20]) for item in counts)]

    return save_layer(tmp_path_factory.mktemp("numbers_of_sizes"), function, x=[-1, 2]), function


@pytest.mark.parametrize("rows", [-1, "1..5", "0..6"])
def test_numbers_of_sizes(rows, numbers_of_sizes):
    """OpenVINO computes most of them of the least and of the largest size alone."""
    path, function = numbers_of_sizes
    compiled = compile_on_cpu(paddle2ov.convert(path, input={"x": [rows, 2]}))
    for size in (5, 1, 3, 2, 4):
        results = compiled([random(size, 2)]).values()
        wanted = function(paddle.zeros([size, 2]))
        for name, actual, desired in zip([*NUMBERS_OF_SIZES] * 2, results, wanted, strict=True):
            np.testing.assert_array_equal(actual, desired.numpy(), name)


def parts_assigned(x, lengths):
    x[: lengths[0]] = 7.0
    x[lengths[1] :, 0] = 5.0
    return x


def parts_assigned_and_order(x, lengths):
    return parts_assigned(x, lengths), paddle.take_along_axis(x, paddle.argsort(x, 0), 0)


@pytest.mark.parametrize("function", [parts_assigned, parts_assigned_and_order])
def test_assignments_to_computed_slices_of_bounded_sizes(function, tmp_path):
    folder = save_layer(tmp_path, function, x=[-1, 2], lengths=([2], "int64"))
    request = compile_on_cpu(paddle2ov.convert(folder, input={"x": ["1..6", 2]})).create_infer_request()
    for size, lengths in ((6, [2, 4]), (1, [0, 1]), (3, [1, 0]), (6, [5, 6])):
        data = random(size, 2)
        expected = data.copy()
        expected[: lengths[0]] = 7
        expected[lengths[1] :, 0] = 5
        np.testing.assert_array_equal(request.infer([data, np.array(lengths)])[0], expected)


@pytest.mark.parametrize(
    "product",
    [
        lambda x, y: ops.multiply(ops.reverse_sequence(x, np.array([1, 1]), 0, 1), y),
        lambda x, y: ops.multiply(y, ops.slice(x, np.array([-1]), np.array([-99]), np.array([-1]), np.array([1]))),
        lambda x, y: ops.matmul(ops.reshape(x, np.array([0, 0, -1, 1]), True), y, False, False),
    ],
    ids=["multiplied", "from the left", "of matrices"],
)
def test_nothing_is_concluded_from_broadcasting(product):
    """The channels of a product are those of a convolution; each operand may have one channel only."""
    x, y = (ops.parameter(PartialShape([-1] * 4), np.float32) for _ in range(2))
    layer = ops.convolution(product(x, y), random(4, 3, 1, 1), [1, 1], [0, 0], [0, 0], [1, 1])
    model = Model([layer], [x, y])
    narrow_inputs(Graph(model))
    assert all(value.get_partial_shape()[1].is_dynamic for value in (x, y))
