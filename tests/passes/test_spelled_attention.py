"""Attention in the spellings of programs computes what attention is, on one request with one key, many, and few."""

import itertools

import numpy as np
import pytest
from openvino import Model, opset16 as ops

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import run_rewrites
from paddle2ov.workarounds import rewrites_for
from tests.support.passes_checks import parameter, random, reshape, transpose

AXIS = np.array([-1])


def attention(q, k, v, between=lambda scores: scores):
    powers = np.exp(between(q.astype(np.float64) @ k.swapaxes(2, 3)))
    return powers / powers.sum(-1, keepdims=True) @ v


# --- softmaxes ---


def total(x):
    return ops.reduce_sum(x, AXIS, True)


def quotient(x):
    powers = ops.exp(x)
    return ops.divide(powers, total(powers))


def product(x):
    powers = ops.exp(ops.add(x, ops.negative(ops.reduce_max(x, AXIS, True))))
    return ops.multiply(ops.power(total(powers), np.float32(-1)), powers)


SOFTMAXES = (
    lambda x: ops.softmax(x, -1),
    quotient,
    lambda x: quotient(ops.subtract(x, ops.reduce_max(x, AXIS, True))),
    lambda x: ops.divide(ops.exp(x), ops.unsqueeze(ops.reduce_sum(ops.exp(x), AXIS, False), AXIS)),
    product,
)


# --- products ---


def flat(x):
    """[b, h, n, d] as [b · h, n, d], of any sizes."""
    sizes = ops.gather(ops.shape_of(x), np.array([2, 3]), np.array(0))
    return ops.reshape(x, ops.concat([np.array([-1]), sizes], 0), False)


def split(x, first, second, last):
    """What `flat` joined, with the batch and heads of one tensor, the rows of another, and as many columns."""
    sizes = [
        ops.gather(ops.shape_of(item), np.array(axes), np.array(0))
        for item, axes in ((first, [0, 1, 2]), (second, [last]))
    ]
    return ops.reshape(x, ops.concat(sizes, 0), False)


def inferred_scores(q, k):
    heads = [np.array([-1, HEADS]), *(ops.gather(ops.shape_of(x), np.array([2]), np.array(0)) for x in (q, k))]
    return ops.reshape(ops.matmul(flat(q), flat(k), False, True), ops.concat(heads, 0), False)


HEADS = 2
SCORES = {
    "matmul": lambda q, k: ops.matmul(q, k, False, True),
    "batched": lambda q, k: split(ops.matmul(flat(q), transpose(flat(k), 0, 2, 1), False, False), q, k, 2),
    "inferred": inferred_scores,
}
VALUES = {
    "matmul": lambda p, v: ops.matmul(p, v, False, False),
    "batched": lambda p, v: split(ops.matmul(flat(p), flat(v), False, False), p, v, 3),
}
BETWEEN = (lambda x: x, lambda x: ops.multiply(x, np.float32(0.5)), ops.tanh)
IN_NUMBERS = (lambda x: x, lambda x: 0.5 * x, np.tanh)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("number", range(len(SOFTMAXES) * len(SCORES)))
def test_one_key_first(number):
    """Each softmax after each product, with one thing in between."""
    normalize, scores = list(itertools.product(SOFTMAXES, SCORES.values()))[number]
    x = [parameter(1, HEADS if scores is inferred_scores else -1, -1, 8, name=name) for name in "qkv"]
    out = [*VALUES.values()][number % 2](normalize(BETWEEN[number % 3](scores(*x[:2]))), x[2])
    model = Model([out], x)
    run_rewrites(model, rewrites_for())
    request = compile_on_cpu(model).create_infer_request()
    for tokens in (1, 20, 3):
        data = [random(1, HEADS, tokens, 8) for _ in range(3)]
        q, k, v = data
        want = attention(q, k, v, IN_NUMBERS[number % 3])
        np.testing.assert_allclose(request.infer(data)[0], want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("scores", ["matmul", "batched"])
@pytest.mark.parametrize("weigh", VALUES)
def test_as_many_heads_as_tokens(scores, weigh):
    """Of an attention, all transposes or none are raised."""
    for normalize, width in itertools.product(SOFTMAXES[:2], (3, 4)):
        x = [parameter(2, 3, 3 * width, name=name) for name in "qkv"]
        weights = [0.3 * random(3 * width, 3 * width) for _ in x]
        q, k, v = (
            transpose(reshape(ops.matmul(item, weight, False, False), 0, 0, 3, width), 0, 2, 1, 3)
            for item, weight in zip(x, weights, strict=True)
        )
        out = transpose(VALUES[weigh](normalize(SCORES[scores](q, k)), v), 0, 2, 1, 3)
        model = Model([reshape(out, 0, 0, 3 * width)], x)
        run_rewrites(model, rewrites_for())
        request = compile_on_cpu(model).create_infer_request()
        for _ in range(2):
            data = [random(2, 3, 3 * width) for _ in x]
            heads = [(item @ w).reshape(2, 3, 3, width).swapaxes(1, 2) for item, w in zip(data, weights, strict=True)]
            want = attention(*heads).swapaxes(1, 2).reshape(2, 3, 3 * width)
            for _ in range(2):
                np.testing.assert_allclose(request.infer(data)[0], want, rtol=1e-3, atol=1e-3)
