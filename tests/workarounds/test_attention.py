"""Attention, which OpenVINO fuses into one kernel, rows of its scores, and products of one number."""

import numpy as np
import pytest
from openvino import Model, opset16 as ops

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import apply, compare, kinds, model_of, parameter, random, stays_test, transpose

WIDTH, HEADS, TOKENS = 8, 2, 5
SCALE, NONE = np.float32(0.3), np.zeros((1, 1), np.float32)


def product(q, k=None):
    return ops.matmul(q, q if k is None else k, False, True)


def weighed(scores, v):
    return ops.matmul(ops.softmax(scores, -1), v, False, False)


def turned(x):
    return transpose(x, 0, 2, 1, 3)


UNMASKED = {
    "product": lambda q: weighed(product(q), q),
    "activation": lambda q: weighed(ops.relu(ops.divide(product(q), SCALE)), q),
    "no mask": lambda q: weighed(ops.add(ops.multiply(product(q), SCALE), NONE), q),
    "one node": lambda q: ops.scaled_dot_product_attention(q, q, q),
    "one node, no mask": lambda q: ops.scaled_dot_product_attention(q, q, q, NONE, SCALE),
}
ANY_KEYS = (-1, HEADS, -1, WIDTH)


@pytest.mark.parametrize("attend", UNMASKED.values(), ids=UNMASKED)
def test_single_key(attend):
    """Of one key and then of more, which OpenVINO 2026.4 computes wrongly where softmax reads a product."""
    shapes = [[(1, HEADS, count, WIDTH)] for count in (1, 20)]
    compare(row("attention.single_key"), attend, ANY_KEYS, shapes=shapes)


ADJACENT = {
    "result": lambda q, k, v: turned(weighed(product(ops.relu(q), k), v)),
    "one node": lambda q, k, v: turned(ops.scaled_dot_product_attention(ops.relu(q), k, v, NONE, np.float32(1))),
    "queries": lambda q, k, v: weighed(product(turned(ops.relu(q)), k), v),
    "queries, scaled": lambda q, k, v: weighed(product(ops.multiply(turned(ops.relu(q)), SCALE), k), v),
}


@pytest.mark.parametrize("batch", [2, -1])
@pytest.mark.parametrize("attend", ADJACENT.values(), ids=ADJACENT)
def test_equal_axes(attend, batch):
    """Of as many heads as tokens, with queries that another node computed."""
    compare(row("attention.equal_axes"), attend, *[(batch, 3, 3, WIDTH)] * 3)


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


@pytest.mark.one_in(2)
@pytest.mark.parametrize("dims", [(-1, 1), (-1, -1), (-1, -1, 1), (2, 5, 1), (-1, -1, -1, -1)], ids=str)
@pytest.mark.parametrize("side", ["query", "keys", "values"])
def test_attention_of_one_query_and_feature(dims, side):
    """A constant of one element is the query, the key or the value of attention."""
    number, first = random(*[1] * len(dims)), ([0], [1], [1])

    def build(x, y):
        if side == "values":
            shares = ops.softmax(ops.slice(product(y), *first, [-1]), -1)
            return [ops.matmul(shares, number, False, False), ops.relu(x)]
        scores = ops.softmax(product(number, x) if side == "query" else product(x, number), -1)
        return ops.matmul(scores, y if side == "query" else ops.slice(y, *first, [-2]), False, False)

    shape = [2 if size == -1 else size for size in dims[:-2]]
    shapes = [[(*shape, 5, 1), (*shape, 1 if side == "values" else 5, 4)]]
    compare(row("attention.product_with_one_number"), build, dims, (*dims[:-2], -1, 4), shapes=shapes)


@pytest.mark.parametrize(("dims", "flag"), [((1, 3), True), ((2, 1, 3), True), ((2, 3, 1), False), ((-1, -1), True)])
@pytest.mark.parametrize("side", [0, 1])
def test_products_with_one_element(dims, flag, side):
    """Transposed as by the product, whichever operand it is."""
    number = random(1, 1, 1)

    def build(x):
        sides = (x, number, flag, False) if side == 0 else (number, x, False, not flag)
        return ops.matmul(*sides)

    apply(row("attention.product_with_one_number"), build, dims, shapes=[[1, 3] if dims[0] == -1 else dims])


ROW, COLUMN = random(1, 1, 1, 5), random(6, 1)
BETWEEN = {
    "row": (lambda s, m: ops.add(s, ROW), 1),
    "row of a lower rank": (lambda s, m: ops.add(s, ROW[0, 0, 0]), 1),
    "difference": (lambda s, m: ops.subtract(s, ROW), 1),
    "factor": (lambda s, m: ops.multiply(ops.relu(s), ROW), 1),
    "quotient": (lambda s, m: ops.divide(ops.relu(s), np.abs(ROW) + 1), 1),
    "maximum": (lambda s, m: ops.maximum(s, ROW), 1),
    "scaled, input": (lambda s, m: ops.add(ops.multiply(s, SCALE), m), 2),
    "two rows": (lambda s, m: ops.add(ops.add(s, ROW), ROW), 1),
    "row and column": (lambda s, m: ops.subtract(ops.add(COLUMN, s), ROW), 1),
    "sum, scaled": (lambda s, m: ops.add(ops.multiply(ops.add(s, ROW), np.float32(0.5)), ROW), 1),
    "turned around": (lambda s, m: ops.add(ops.divide(ops.subtract(ROW, s), np.abs(COLUMN) + 1), ROW), 1),
    "around an input": (lambda s, m: ops.add(ops.add(ops.add(s, ROW), m), ROW), 3),
    "rows of zero and one": (lambda s, m: ops.add(ops.multiply(s, 0 * ROW + 1), 0 * ROW), 1),
    "infinite": (lambda s, m: ops.add(ops.add(s, np.float32([0, 0, 0, -np.inf, -np.inf])), ROW), 1),
}


def attention(between):
    return lambda q, k, v, mask: weighed(between(product(q, k), mask), v)


def attention_dims(batch=2, queries=6, keys=5):
    return *((batch, 2, count, 16) for count in (queries, keys, keys)), (1, 1, 1, keys)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("batch", [2, -1], ids=["known", "unknown"])
@pytest.mark.parametrize(("between", "count"), BETWEEN.values(), ids=BETWEEN)
def test_rows_of_scores(between, count, batch):
    compare(row("scores.row_of_scores"), attention(between), *attention_dims(batch), sites=count, rounded=0.1)


def test_infinite_factors_of_scores():
    """What infinity multiplies is not merged."""
    model = model_of(attention(lambda s, m: ops.multiply(ops.add(s, ROW), np.float32(np.inf))), *attention_dims())
    before = kinds(model)
    row("scores.row_of_scores")(Graph(model))
    assert kinds(model) == before


@pytest.mark.one_in(2)
@pytest.mark.parametrize("batch", [2, -1], ids=["known", "unknown"])
@pytest.mark.parametrize("queries", [1, 2, 17])
def test_product_of_one_key(queries, batch):
    column, dims = random(queries, 1), attention_dims(2, queries, 1)
    runs = [[random(*shape) for shape in dims] for _ in range(2)]
    runs[1][0][:] = np.nan
    build = attention(lambda s, m: ops.add(column, s))
    compare(row("attention.product_of_one_key"), build, *attention_dims(batch, queries, 1), runs=runs, rounded=0.02)


KNOWN_KEYS = (-1, HEADS, TOKENS, WIDTH)
STAYS = {
    "attention.single_key": {
        **{f"known, {name}": (attend, KNOWN_KEYS) for name, attend in UNMASKED.items()},
        "mask": (lambda q: weighed(ops.add(product(q), ops.reduce_max(q, [-1], True)), q), ANY_KEYS),
        "causal": (lambda q: ops.scaled_dot_product_attention(q, q, q, causal=True), ANY_KEYS),
        "no weights": (lambda q: ops.softmax(product(q), -1), ANY_KEYS),
    },
    "attention.equal_axes": {
        "other lengths": (lambda x: turned(weighed(product(x), x)), (2, 3, 4, 3)),
        "no softmax": (lambda x: turned(ops.matmul(product(x), x, False, False)), (2, 3, 3, 3)),
        "of the last axes": (
            lambda x: weighed(ops.matmul(x, transpose(x, 0, 1, 3, 2), False, False), x),
            (2, 3, 3, 3),
        ),
    },
    "attention.product_with_one_number": {
        f"{dims} by {shape}": (lambda x, shape=shape: ops.matmul(x, random(*shape), False, False), dims)
        for dims, shape in (((1, 1), (1,)), ((1,), (1, 1)), ((2, 1), (1, 2)))
    },
    "attention.product_of_one_key": {
        "two keys": (attention(lambda s, m: s), *attention_dims(keys=2)),
        "other keys": (lambda x, v: ops.matmul(ops.softmax(x, 2), v, False, True), (2, 3, 1), (2, 5, 1)),
        "unknown keys": (lambda x, v: ops.matmul(ops.softmax(x, 2), v, False, False), (2, 3, 1), (2, -1, 5)),
    },
    "scores.row_of_scores": {
        name: (attention(between), *attention_dims())
        for name, between in {
            "none": lambda s, m: s,
            "first already": lambda s, m: ops.add(ROW, s),
            "no product": lambda s, m: ops.add(ops.softmax(s, 3), m),
            "input subtracted": lambda s, m: ops.subtract(s, m),
            "a choice": lambda s, m: ops.select(ops.greater(m, np.float32(0)), s, np.float32(-9)),
        }.items()
    },
}

test_stays = stays_test(STAYS)
