"""Attention, which OpenVINO fuses into one kernel, rows of its scores, and products of one number."""

from collections import Counter

import numpy as np
import pytest
from openvino import Model, Shape, Tensor, Type
from openvino import opset16 as ops

from paddle2ov.comparison.evaluator import node_by_node
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import apply, parameter, random, transpose

WIDTH, HEADS, TOKENS = 8, 2, 5
ONE, HALF = np.float32(1), np.float32(0.5)
SCALE, NONE = np.float32(0.3), np.zeros((1, 1), np.float32)


def weighed(q, scores):
    return ops.matmul(ops.softmax(scores, -1), q, False, False)


def product(q):
    return ops.matmul(q, q, False, True)


UNMASKED = {
    "product": lambda q: weighed(q, product(q)),
    "activation": lambda q: weighed(q, ops.relu(ops.divide(product(q), SCALE))),
    "no mask": lambda q: weighed(q, ops.add(ops.multiply(product(q), SCALE), NONE)),
    "one node": lambda q: ops.scaled_dot_product_attention(q, q, q),
    "one node, no mask": lambda q: ops.scaled_dot_product_attention(q, q, q, NONE, SCALE),
}
MASKED = {
    "mask": lambda q: weighed(q, ops.add(product(q), ops.reduce_max(q, np.array([-1]), True))),
    "causal": lambda q: ops.scaled_dot_product_attention(q, q, q, causal=True),
    "no weights": lambda q: ops.softmax(product(q), -1),
}


@pytest.mark.parametrize("attend", UNMASKED.values(), ids=UNMASKED)
def test_part_scores(attend):
    """Of one key and then of more, which OpenVINO 2026.4 computes wrongly where softmax reads a product."""

    def build():
        x = parameter(-1, HEADS, -1, WIDTH)
        return Model([attend(x)], [x])

    model, counts = apply(row("attention.single_key"), build, [1, HEADS, 1, WIDTH])
    assert counts == {"sites": 1}
    compiled, x = compile_on_cpu(model), random(1, HEADS, 20, WIDTH)
    compiled([x[:, :, :1]])
    np.testing.assert_allclose(compiled([x])[0], compile_on_cpu(build())([x])[0], atol=1e-5)


KNOWN = {f"known, {name}": (attend, TOKENS) for name, attend in UNMASKED.items()}
OTHER = {**KNOWN, **{name: (attend, -1) for name, attend in MASKED.items()}}


@pytest.mark.parametrize(("attend", "keys"), OTHER.values(), ids=OTHER)
def test_part_scores_fails_to_match(attend, keys):
    def build():
        x = parameter(-1, HEADS, keys, WIDTH)
        return Model([attend(x)], [x])

    assert apply(row("attention.single_key"), build, [1, HEADS, TOKENS, WIDTH])[1] == {"sites": 0}


def turned(x):
    return transpose(x, 0, 2, 1, 3)


def softmax_of(array):
    powers = np.exp(array)
    return powers / powers.sum(-1, keepdims=True)


def attended(q, k, v):
    return softmax_of(q @ k.swapaxes(-1, -2)) @ v


ADJACENT = {
    "result": (
        lambda q, k, v: turned(ops.matmul(ops.softmax(ops.matmul(q, k, False, True), -1), v, False, False)),
        lambda q, k, v: attended(q, k, v).swapaxes(1, 2),
    ),
    "one node": (
        lambda q, k, v: turned(ops.scaled_dot_product_attention(q, k, v, NONE, np.float32(1))),
        lambda q, k, v: attended(q, k, v).swapaxes(1, 2),
    ),
    "queries": (
        lambda q, k, v: ops.matmul(ops.softmax(ops.matmul(turned(q), k, False, True), -1), v, False, False),
        lambda q, k, v: attended(q.swapaxes(1, 2), k, v),
    ),
    "queries, scaled": (
        lambda q, k, v: ops.matmul(
            ops.softmax(ops.matmul(ops.multiply(turned(q), SCALE), k, False, True), -1), v, False, False
        ),
        lambda q, k, v: attended(q.swapaxes(1, 2) * SCALE, k, v),
    ),
}


@pytest.mark.parametrize(("attend", "same"), ADJACENT.values(), ids=ADJACENT)
def test_part_transposes(attend, same):
    """Of as many heads as tokens, with queries that another node computed; also of another batch later."""
    inputs = [parameter(2, 3, 3, WIDTH, name=name) for name in "qkv"]
    model = Model([attend(ops.relu(inputs[0]), *inputs[1:])], inputs)
    assert row("attention.equal_axes")(Graph(model)) == {"sites": 1}
    for batch in (2, 4):
        model.reshape({name: [batch, 3, 3, WIDTH] for name in "qkv"})
        q, k, v = arrays = [random(batch, 3, 3, WIDTH) for _ in inputs]
        want = same(np.maximum(q, 0), k, v)
        np.testing.assert_allclose(compile_on_cpu(model)(arrays)[0], want, atol=1e-5)


OTHER_TRANSPOSES = {
    "other lengths": (4, lambda x: turned(weighed(x, product(x)))),
    "no softmax": (3, lambda x: turned(ops.matmul(product(x), x, False, False))),
    "of the last axes": (3, lambda x: weighed(x, ops.matmul(x, transpose(x, 0, 1, 3, 2), False, False))),
}


@pytest.mark.parametrize(("tokens", "attend"), OTHER_TRANSPOSES.values(), ids=OTHER_TRANSPOSES)
def test_part_transposes_fails_to_match(tokens, attend):
    def build():
        x = parameter(2, 3, tokens, 3)
        return Model([attend(x)], [x])

    assert apply(row("attention.equal_axes"), build, [2, 3, tokens, 3])[1] == {"sites": 0}


@pytest.mark.parametrize("rows", [2, -1])
def test_layers_of_one_weight(rows):
    x, first, second, data = parameter(rows, 1), random(1, 1), random(1, 4), random(2, 1)
    model = Model([ops.matmul(ops.relu(ops.matmul(x, first, False, True)), second, False, False)], [x])
    assert row("attention.product_with_one_number")(Graph(model)) == {"sites": 1}
    want = (data * first).clip(0) @ second
    np.testing.assert_allclose(compile_on_cpu(model)([data])[0], want, rtol=1e-5)


def test_layers_of_one_weight_of_unknown_width():
    """An input that does not fit stays an error."""
    x = parameter(-1, -1)
    model = Model([ops.matmul(x, random(1, 1), False, False)], [x])
    assert row("attention.product_with_one_number")(Graph(model)) == {"sites": 1}
    assert model.output(0).get_partial_shape()[1] == 1
    compiled = compile_on_cpu(model)
    assert compiled([random(3, 1)])[0].shape == (3, 1)
    with pytest.raises(RuntimeError):
        compiled([random(3, 2)])


@pytest.mark.parametrize("dims", [(-1, 1), (-1, -1), (-1, -1, 1), (2, 5, 1), (-1, -1, -1, -1)])
@pytest.mark.parametrize("side", ["query", "keys", "values"])
def test_attention_of_one_query_and_feature(dims, side):
    """A constant of one element is the query, the key or the value of attention."""
    x, y, number = parameter(*dims), parameter(*dims[:-2], -1, 4), random(*([1] * len(dims)))
    data = random(*(2 if size == -1 else size for size in dims[:-2]), 5, 1)
    values = random(*data.shape[:-1], 4)
    if side == "values":
        values = values[..., :1, :]
        scores = ops.matmul(y, y, False, True)
        scores = ops.softmax(ops.slice(scores, [0], [1], [1], [-1]), -1)
        model = Model([ops.matmul(scores, number, False, False)], [y])
        arrays, want = [values], np.broadcast_to(number, [*values.shape[:-1], 1])
    else:
        left, right = (number, x) if side == "query" else (x, number)
        scores = ops.softmax(ops.matmul(left, right, False, True), -1)
        rows = y if side == "query" else ops.slice(y, [0], [1], [1], [-2])
        model = Model([ops.matmul(scores, rows, False, False)], [x, y])
        powers = np.exp(data.swapaxes(-1, -2) * number) if side == "query" else np.exp(data * number)
        arrays = [data, values]
        want = powers / powers.sum(-1, keepdims=True) @ (values if side == "query" else values[..., :1, :])
    assert row("attention.product_with_one_number")(Graph(model)) == {"sites": 1}
    np.testing.assert_allclose(compile_on_cpu(model)(arrays)[0], want, rtol=1e-5, atol=1e-6)  # sums may cancel


@pytest.mark.parametrize(("dims", "turned"), [((1, 3), True), ((2, 1, 3), True), ((2, 3, 1), False), ((-1, -1), True)])
@pytest.mark.parametrize("side", [0, 1])
def test_products_with_one_element(dims, turned, side):
    """Transposed as by the product, whichever operand it is."""
    turned = turned if side == 0 else not turned
    x, number = parameter(*dims), random(1, 1, 1)
    data = random(*(size if size > 0 else 3 if i else 1 for i, size in enumerate(dims)))
    sides, flags = ([x, number], [turned, False]) if side == 0 else ([number, x], [False, turned])
    model = Model([ops.matmul(*sides, *flags)], [x])
    moved = data.swapaxes(-1, -2) if turned else data
    assert row("attention.product_with_one_number")(Graph(model)) == {"sites": 1}
    want = moved @ number if side == 0 else number @ moved
    np.testing.assert_allclose(compile_on_cpu(model)([data])[0], want, rtol=1e-5)


@pytest.mark.parametrize(("dims", "weights"), [((1, 1), (1,)), ((1,), (1, 1)), ((2, 1), (1, 2))])
def test_layers_of_one_weight_refuses(dims, weights):
    x = parameter(*dims)
    assert row("attention.product_with_one_number")(
        Graph(Model([ops.matmul(x, random(*weights), False, False)], [x]))
    ) == {"sites": 0}


PER_CHANNEL = random(4)


def scaled(x, keep=False):
    return ops.multiply(x, PER_CHANNEL.reshape(4, 1) if keep else PER_CHANNEL)


def summed(x, keep=False):
    return ops.reduce_sum(x, np.array([-1]), keep)


def beside_sum(x):
    """OpenVINO merges both sums, so that the first has a single reader."""
    return ops.add(scaled(x, True), ops.reduce_sum(x, np.array([2]), True))


MET = {
    "channels": lambda x: scaled(summed(x)),
    "kept": lambda x: scaled(summed(x, True), True),
    "put back": lambda x: scaled(ops.unsqueeze(summed(x), np.array([2])), True),
    "after others": lambda x: scaled(ops.relu(ops.add(ops.reduce_mean(x, np.array([2])), np.float32(0.3)))),
    "over the batch": lambda x: ops.multiply(ops.reduce_max(x, np.array([0]), False), PER_CHANNEL.reshape(4, 1)),
    "slopes": lambda x: ops.prelu(summed(x), PER_CHANNEL),
    "beside another sum": lambda x: beside_sum(summed(x, True)),
}
"""What OpenVINO 2026.4 computes wrongly from the second of a batch on."""


@pytest.mark.parametrize("batch", [-1, 3])
@pytest.mark.parametrize("build", MET.values(), ids=MET)
def test_reductions(build, batch):
    check_reduction(build, batch, random(3, 4, 5))


@pytest.mark.parametrize("batch", [-1, 1])
def test_reductions_of_one_batch_item(batch):
    """Over the batch the numbers of other channels are taken there as well."""
    check_reduction(MET["over the batch"], batch, random(1, 4, 5))


def check_reduction(build, batch, x):
    def model():
        x = parameter(batch, 4, 5)
        return Model([build(x)], [x])

    widened, same = model(), model()
    assert row("post_ops.of_reduced_sequence")(Graph(widened)) == {"sites": 1}
    assert widened.output(0).get_partial_shape() == same.output(0).get_partial_shape()
    wanted = Tensor(Type.f32, widened.output(0).get_partial_shape().to_shape() if batch > 0 else Shape([0]))
    same.evaluate([wanted], [Tensor(x)])  # one node after another, as OpenVINO's CPU plugin does not
    np.testing.assert_allclose(compile_on_cpu(widened)([x])[0], wanted.data, atol=1e-5)


ROW, COLUMN = random(1, 1, 1, 5), random(6, 1)
BETWEEN = {
    "row": (lambda s, m: ops.add(s, ROW), 1),
    "row of a lower rank": (lambda s, m: ops.add(s, ROW[0, 0, 0]), 1),
    "difference": (lambda s, m: ops.subtract(s, ROW), 1),
    "factor": (lambda s, m: ops.multiply(ops.relu(s), ROW), 1),
    "quotient": (lambda s, m: ops.divide(ops.relu(s), np.abs(ROW) + 1), 1),
    "minimum": (lambda s, m: ops.minimum(s, ROW), 1),
    "maximum": (lambda s, m: ops.maximum(s, ROW), 1),
    "input": (lambda s, m: ops.add(s, m), 1),
    "scaled, input": (lambda s, m: ops.add(ops.multiply(s, np.float32(0.3)), m), 2),
    "two rows": (lambda s, m: ops.add(ops.add(s, ROW), ROW), 1),
    "row and column": (lambda s, m: ops.subtract(ops.add(COLUMN, s), ROW), 1),
    "sum, scaled": (lambda s, m: ops.add(ops.multiply(ops.add(s, ROW), HALF), ROW), 1),
    "turned around": (lambda s, m: ops.add(ops.divide(ops.subtract(ROW, s), np.abs(COLUMN) + 1), ROW), 1),
    "around an input": (lambda s, m: ops.add(ops.add(ops.add(s, ROW), m), ROW), 3),
    "rows of zero and one": (lambda s, m: ops.add(ops.multiply(s, 0 * ROW + 1), 0 * ROW), 1),
}


def attention(between, *, batch=2, queries=6, keys=5):
    """The model, its inputs, and its result in float64."""
    rows = -1 if batch is None else batch
    q, k, v = (parameter(rows, 2, count, 16) for count in (queries, keys, keys))
    mask = parameter(1, 1, 1, keys)
    scores = between(ops.matmul(q, k, False, True), mask)
    inputs = [random(2, 2, count, 16) for count in (queries, keys, keys)] + [random(1, 1, 1, keys)]
    model = Model([ops.matmul(ops.softmax(scores, 3), v, False, False)], [q, k, v, mask])
    return model, inputs, node_by_node(model, inputs)[0]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("batch", [2, None], ids=["known", "unknown"])
@pytest.mark.parametrize(("between", "count"), BETWEEN.values(), ids=BETWEEN)
def test_avoid_row_post_ops(between, count, batch):
    model, inputs, want = attention(between, batch=batch)
    shape = model.output(0).get_partial_shape()
    assert row("scores.row_of_scores")(Graph(model)) == {"sites": count}
    assert model.output(0).get_partial_shape() == shape
    np.testing.assert_allclose(compile_on_cpu(model)(inputs)[0], want, atol=1e-5)
    in_bfloat16 = compile_on_cpu(model, "bf16")(inputs)[0]
    assert np.square(in_bfloat16 - want).mean() < 0.001 * np.square(want).mean()


FIRST = {
    "none": lambda s, m: s,
    "first already": lambda s, m: ops.add(ROW, s),
    "no product": lambda s, m: ops.add(ops.softmax(s, 3), m),
    "input subtracted": lambda s, m: ops.subtract(s, m),
    "a choice": lambda s, m: ops.select(ops.greater(m, np.float32(0)), s, np.float32(-9)),
}


@pytest.mark.parametrize("between", FIRST.values(), ids=FIRST)
def test_operands_that_stay(between):
    model, *_ = attention(between)
    assert row("scores.row_of_scores")(Graph(model)) == {"sites": 0}


def test_infinite_masks_and_factors_of_scores():
    """-inf masks a key; what infinity multiplies is not merged."""
    masked = np.where(np.arange(5) < 3, 0, -np.inf).astype(np.float32)
    model, inputs, want = attention(lambda s, m: ops.add(ops.add(s, masked), ROW))
    assert row("scores.row_of_scores")(Graph(model)) == {"sites": 1}
    np.testing.assert_allclose(compile_on_cpu(model)(inputs)[0], want, atol=1e-5)
    model, *_ = attention(lambda s, m: ops.multiply(ops.add(s, ROW), np.float32(np.inf)))
    before = Counter(node.get_type_name() for node in model.get_ops())
    row("scores.row_of_scores")(Graph(model))
    assert Counter(node.get_type_name() for node in model.get_ops()) == before


@pytest.mark.parametrize("batch", [2, None], ids=["known", "unknown"])
@pytest.mark.parametrize("queries", [1, 2, 17])
def test_avoid_product_of_one(queries, batch):
    column = random(queries, 1)
    model, inputs, want = attention(lambda s, m: ops.add(column, s), batch=batch, queries=queries, keys=1)
    assert row("attention.product_of_one_key")(Graph(model)) == {"sites": 1}
    for precision, tolerance in (("f32", 1e-5), ("bf16", 0.02)):
        np.testing.assert_allclose(compile_on_cpu(model, precision)(inputs)[0], want, rtol=tolerance, atol=1e-6)
    inputs[0][:] = np.nan
    assert np.isnan(compile_on_cpu(model)(inputs)[0]).all()


def test_avoid_product_of_one_refuses():
    model, *_ = attention(lambda s, m: s, keys=2)
    assert row("attention.product_of_one_key")(Graph(model)) == {"sites": 0}
    for values, turned in (([2, 5, 1], True), ([2, -1, 5], False)):
        x, v = parameter(2, 3, 1), parameter(*values)
        model = Model([ops.matmul(ops.softmax(x, 2), v, False, turned)], [x, v])
        assert row("attention.product_of_one_key")(Graph(model)) == {"sites": 0}
