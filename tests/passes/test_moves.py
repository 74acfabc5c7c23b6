"""Transposes move to where fewer elements are transposed, also past nodes with several readers."""

import itertools

import numpy as np
import pytest
from openvino import Model, Type, opset16 as ops

from paddle2ov import convert
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.layout.fuse_transposes import fuse_transposes
from paddle2ov.passes.layout.minimum_cut import END, MinimumCut
from paddle2ov.passes.layout.move_transposes import move_transposes
from tests.support.models import network
from tests.support.passes_checks import apply, kinds, model_of, parameter, random, reshape, stays, transpose

IMAGE = [-1, 3, 4, 5]
LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
CHANNELS = random(3)


def check(build, *dims, shapes=None, left=0):
    """Moves the transposes of a model, whose values must stay the same, and counts those that are left."""
    model, counts = apply(move_transposes, build, *dims, shapes=shapes)
    assert kinds(model)["Transpose"] == left
    return model, counts


def fixed(x, axis=-1):
    """A node that has to have its axes as they are."""
    return ops.cum_sum(x, np.array(axis))


MIDDLES = {
    "unary": lambda x: ops.clamp(ops.relu(x), 0.0, 1.0),
    "constants": lambda x: ops.multiply(np.float32(2), ops.add(x, CHANNELS)),
    "slice": lambda x: ops.slice(x, np.array([1, 0]), np.array([4, 2]), np.array([1, 1]), np.array([2, -1])),
    "concat": lambda x: ops.concat([x, np.ones((2, 4, 5, 2), np.float32), ops.abs(x)], -1),
    "split": lambda x: ops.subtract(*ops.split(ops.concat([x, x], 3), np.array(-1), 2).outputs()),
    "residual": lambda x: ops.add(ops.relu(x), ops.add(x, ops.sigmoid(x))),
    "excite": lambda x: ops.multiply(x, ops.sigmoid(ops.reduce_mean(x, np.array([1, 2]), True))),
    "no elements": lambda x: ops.concat([x, np.zeros((2, 4, 0, 3), np.float32)], 2),
    # One node reads a tensor as it is and through two transposes, which undo each other.
    "there and back": lambda x: ops.concat([transpose(transpose(ops.relu(x), *FIRST), *LAST), ops.relu(x)], 0),
    "float16": lambda x: ops.convert(ops.multiply(ops.convert(x, "f16"), ops.constant(CHANNELS, Type.f16)), "f32"),
    "bfloat16": lambda x: ops.convert(ops.multiply(ops.convert(x, "bf16"), ops.constant(CHANNELS, Type.bf16)), "f32"),
}
"""What is computed with channels last; `test_permutable` has each kind of node alone."""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("dims", [[2, 3, 4, 5], [-1, 3, -1, -1]], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", MIDDLES)
def test_between_two(name, dims):
    check(lambda x: fixed(transpose(MIDDLES[name](transpose(x, *LAST)), *FIRST)), dims)


@pytest.mark.parametrize(("batch", "left"), [(2, 0), (-1, 2)], ids=["static", "dynamic"])
def test_ranges_do_not_come_to_lie_along_the_third_axis(batch, left):
    """OpenVINO 2026.4 takes the wrong ones there, or refuses the model, if not all dimensions are known."""
    x = parameter(batch, 3, 4, 5)
    ranges = [sign * np.linspace(0.5, 2, 4, dtype=np.float32).reshape(1, 4, 1, 1) for sign in (-1, 1)]
    quantized = ops.fake_quantize(transpose(x, *LAST), *ranges, *ranges, 256)
    model = Model([fixed(transpose(quantized, *FIRST))], [x])
    move_transposes(Graph(model))
    assert kinds(model)["Transpose"] == left


@pytest.mark.parametrize("dims", [[2, 3, 4, 5], [-1] * 4], ids=["static", "dynamic"])
@pytest.mark.parametrize("axes", [[1, -2], [1]])
def test_reductions_that_drop_axes(dims, axes):
    """Channels are last but one then, or in order; another order would be left of a mean over them."""

    def build(x):
        return fixed(ops.reduce_mean(ops.relu(transpose(x, *LAST)), np.array(axes), False))

    check(build, dims, left=len(axes) == 1)


@pytest.mark.parametrize("join", [ops.add, lambda x, y: ops.concat([x, y], 3)], ids=["add", "concat"])
def test_two_into_one(join):
    check(lambda x, y: fixed(transpose(join(transpose(x, *LAST), transpose(y, *LAST)), *FIRST)), IMAGE, IMAGE)


def test_of_several_only_what_pays():
    """Transposed are the sums of two, not what is added, and not the sum that is wanted as it is in the other order."""

    def build(x, y):
        first_sum = ops.add(transpose(ops.exp(x), *LAST), transpose(ops.exp(y), *LAST))
        second_sum = ops.add(first_sum, ops.relu(first_sum))
        return [fixed(second_sum), fixed(transpose(ops.relu(second_sum), *FIRST))]

    assert check(build, IMAGE, IMAGE, left=1)[1]["transposes after"] == 1


def test_a_transpose_of_another_order_comes_next():
    def both(graph):
        return {**move_transposes(graph), **fuse_transposes(graph)}

    model, _ = apply(both, lambda x: fixed(transpose(ops.relu(transpose(x, *LAST)), 0, 2, 1, 3)), IMAGE)
    assert kinds(model)["Transpose"] == 1


def test_a_transpose_is_shared():
    """Three branches that are transposed back read one transpose; one that is there is not made again."""

    def build(x):
        branches = [transpose(step(x), *FIRST) for step in (ops.relu, ops.sigmoid, ops.tanh)]
        return [fixed(branch) for branch in (*branches, transpose(x, *FIRST))]

    check(build, [-1, 4, 5, 3], left=1)


def test_shapes():
    def build(x):
        value = transpose(x, *LAST)
        return [transpose(ops.relu(value), *FIRST), ops.shape_of(value), ops.shape_of(ops.relu(value))]

    check(build, [-1, 3, -1, -1])


def test_results_keep_their_names():
    def build(x):
        value = ops.relu(transpose(ops.exp(x), *LAST))
        results = [ops.result(item) for item in (transpose(value, *FIRST), value, transpose(ops.abs(value), *FIRST))]
        for i, result in enumerate(results):
            result.output(0).set_names({f"out{i}"})
        return results

    model, _ = check(build, IMAGE, left=1)
    assert [port.names for port in compile_on_cpu(model).outputs] == [{"out0"}, {"out1"}, {"out2"}]


def test_after_what_a_convolution_takes_in():
    filters, steps = random(3, 3, 1, 1), ([1, 1], [0, 0], [0, 0], [1, 1])

    def build(x):
        value = transpose(ops.convolution(x, filters, *steps), *LAST)
        return fixed(ops.relu(ops.multiply(value, CHANNELS)))

    model, _ = check(build, IMAGE, left=1)
    (last,) = (node for node in model.get_ops() if node.get_type_name() == "Transpose")
    assert last.input_value(0).get_node().get_type_name() == "Relu"


@pytest.mark.parametrize("many", [2, 3, 4, 5])
def test_a_transpose_that_undoes_itself(many):
    """Nodes between transposes in a row, each of which would be rid of those beside it."""

    def build(x):
        for _ in range(many):
            x = ops.relu(transpose(x, 0, 2, 1))
        return fixed(x)

    check(build, [2, 3, 3], left=many % 2)


def test_a_matrix_and_its_transpose():
    def build(x):
        value = ops.relu(transpose(x, 0, 2, 1))
        return fixed(transpose(ops.add(value, transpose(value, 0, 2, 1)), 0, 2, 1))

    model, _ = apply(move_transposes, build, [-1, 3, 3])
    assert kinds(model)["Transpose"] <= 3


def test_a_transpose_within():
    """A node reads a tensor as it is, and with its rows as columns."""

    def build(x):
        value = ops.relu(transpose(x, *LAST))
        return fixed(transpose(ops.add(value, transpose(value, 0, 2, 1, 3)), *FIRST))

    check(build, [-1, 3, 4, 4], left=1)


@pytest.mark.parametrize(
    "tail",
    [
        lambda value, y: fixed(ops.relu(value)),  # nothing to meet
        lambda value, y: transpose(fixed(value), *FIRST),
        lambda value, y: transpose(reshape(value, 0, 0, 5, 3), *FIRST),
        lambda value, y: transpose(ops.add(value, y), *FIRST),  # of another rank, and no constant
        lambda value, y: ops.concat([value, transpose(ops.exp(value), 0, 1, 2, 3)], 1),
    ],
    ids=["alone", "fixed", "reshape", "rank", "concat"],
)
def test_stays(tail):
    assert stays(move_transposes, lambda x, y: [fixed(tail(transpose(x, *LAST), y)), ops.relu(y)], IMAGE, [3])


def test_each_transpose_is_refused_once():
    """One that is its own inverse is looked at from both sides; one that moved elsewhere is not refused at all."""

    def refusals(build, *dims):
        refused = {}
        move_transposes(Graph(model_of(build, dims), refused))
        return [count for reasons in refused.values() for count in reasons.values()]

    def narrowest(x, *perm):
        part, _ = ops.split(fixed(x), np.array(0), 2).outputs()
        return fixed(ops.concat([transpose(part, *perm)] * 2, 0))

    assert refusals(lambda x: narrowest(x, 1, 0), 6, 4) == [1]
    assert refusals(lambda x: narrowest(x, *LAST), 2, 3, 4, 5) == [1]
    assert refusals(lambda x: transpose(ops.relu(transpose(x, *LAST)), *FIRST), 2, 3, 4, 5) == []


def test_elements_are_not_interleaved():
    """Four rows that are joined and transposed are not four columns that are joined element by element."""

    def build(x):
        rows = ops.concat([step(x) for step in (ops.relu, ops.sigmoid, ops.tanh, ops.exp)], 1)
        return fixed(transpose(rows, 0, 2, 1))

    check(build, [-1, 1, 6], left=1)


def test_a_concat_of_transposes_stays():
    """They write where it wants their results: one transpose after it would cost as much."""
    assert stays(move_transposes, lambda *xs: ops.concat([transpose(x, 0, 2, 1) for x in xs], 1), [1, 3, 4], [1, 3, 7])


@pytest.mark.parametrize("seed", range(20))
def test_minimum_cut(seed):
    """No other set of vertices with the starts in it is left by less."""
    rng = np.random.default_rng(seed)
    edges = {i: {} for i in range(6)}
    for source, target in itertools.permutations(range(7), 2):
        if source < 6 and rng.random() < 0.4:
            edges[source][END if target == 6 else target] = int(rng.integers(1, 9))
    cut = MinimumCut()
    for start in (0, 1):
        cut.start(start, lambda vertex: edges[vertex])

    def leaving(chosen):
        return sum(left for source in chosen for target, left in edges[source].items() if target not in chosen)

    assert {0, 1} <= cut.before
    sets = ({0, 1, *more} for count in range(5) for more in itertools.combinations(range(2, 6), count))
    assert leaving(cut.before) == min(map(leaving, sets))


@pytest.mark.parametrize("name", ["csp", "inception", "mobilenet", "resnet"])
def test_networks_with_channels_last(name):
    """The image alone is transposed."""
    model = convert(network(f"{name}_channels_last"))
    assert kinds(model)["Transpose"] == 1
