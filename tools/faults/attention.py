"""Attention: what OpenVINO fuses into one kernel."""

import numpy as np
from openvino import Model, opset16 as ops

from tools.faults.prelude import Graph, numbers, parameter
from tools.faults.register import fault


@fault()
def attention_compiled_for_one_key() -> Graph:
    """Attention that has run with one key is wrong for 16 keys or more in every later run."""
    x = parameter(-1, 2, -1, 8)
    scores = ops.softmax(ops.matmul(x, x, False, True), -1)
    runs = [[numbers(1, 2, keys, 8)] for keys in (1, 20)]
    expected = []
    for (data,) in runs:
        powers = np.exp(data @ data.swapaxes(2, 3))
        expected.append([powers / powers.sum(-1, keepdims=True) @ data])
    return Model([ops.matmul(scores, x, False, False)], [x]), runs, expected


@fault()
def attention_of_one_query_and_feature() -> Graph:
    """Attention whose query is a constant of one element does not compile."""
    x, query, data = parameter(-1, 1), numbers(1, 1), numbers(5, 1)
    out = ops.matmul(ops.softmax(ops.matmul(query, x, False, True), -1), x, False, False)
    powers = np.exp(query @ data.T)
    return Model([out], [x]), [[data]], [[powers / powers.sum() @ data]]


@fault()
def attention_with_as_many_heads_as_tokens() -> Graph:
    """A transpose of axes of equal size at attention is lost if another node computes the queries."""
    q, k, v = (parameter(2, 3, 3, 3) for _ in range(3))
    turned = ops.transpose(ops.relu(q), np.array([0, 2, 1, 3]))
    out = ops.matmul(ops.softmax(ops.matmul(turned, k, False, True), -1), v, False, False)
    arrays = [numbers(2, 3, 3, 3, seed=seed) for seed in range(3)]
    powers = np.exp(np.maximum(arrays[0], 0).swapaxes(1, 2) @ arrays[1].swapaxes(2, 3))
    return Model([out], [q, k, v]), [arrays], [[powers / powers.sum(-1, keepdims=True) @ arrays[2]]]
