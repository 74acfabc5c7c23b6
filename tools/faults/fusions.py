"""Fusions that take several nodes for one that computes something else."""

import numpy as np
from openvino import Model, Type, opset16 as ops

from tools.faults.prelude import Graph, numbers, parameter
from tools.faults.register import fault


@fault()
def activation_before_pooling() -> Graph:
    """Convolution → MaxPool → Abs (or GELU, Swish, Mish, HSwish): the function is computed before the pooling."""
    x, weights, data = parameter(-1, 2, 2, 2), numbers(2, 2, 1, 1), numbers(1, 2, 2, 2, seed=1)
    convolved = ops.convolution(x, weights, [1, 1], [0, 0], [0, 0], [1, 1])
    pooled = ops.max_pool(convolved, [1, 1], [1, 1], [0, 0], [0, 0], [2, 2]).output(0)
    want = np.einsum("oi,nihw->nohw", weights[:, :, 0, 0], data).max((2, 3), keepdims=True)
    return Model([ops.abs(pooled)], [x]), [[data]], [[np.abs(want)]]


@fault()
def boolean_of_second_result() -> Graph:
    """A conversion to boolean reads the first result of a node, whichever it is to read."""
    x, data = parameter(2), np.array([1, 0], np.float32)
    second = ops.split(x, np.int64(0), 2).output(1)
    return Model([ops.convert(second, Type.boolean)], [x]), [[data]], [[np.array([False])]]


@fault()
def convolutions_of_parts_as_groups() -> Graph:
    """Convolutions of the parts of a Split become one of groups, in whatever order they are joined."""
    x, first, second = parameter(-1, 4, 1, 1), numbers(2, 2, 1, 1, seed=1), numbers(2, 2, 1, 1, seed=2)
    parts, data = ops.split(x, np.int64(1), 2).outputs(), numbers(1, 4, 1, 1)

    geometry = [1, 1], [0, 0], [0, 0], [1, 1]
    sides = [ops.convolution(parts[1], first, *geometry), ops.convolution(parts[0], second, *geometry)]
    want = [first[:, :, 0, 0] @ data[0, 2:, 0], second[:, :, 0, 0] @ data[0, :2, 0]]
    return Model([ops.concat(sides, 1)], [x]), [[data]], [[np.concatenate(want).reshape(1, 4, 1, 1)]]


@fault()
def gru_cell_of_another_form() -> Graph:
    """A cell (1 - z) * n + z * x over joint weights, Concat(x, h), is taken for one with z * h."""
    x, h, data = parameter(1, 2), parameter(1, 2), [numbers(1, 2), numbers(1, 2, seed=1)]
    gates, new = numbers(4, 4, seed=2), numbers(2, 4, seed=3)
    none = [np.zeros((1, size), np.float32) for size in (4, 2)]
    both = ops.sigmoid(ops.add(ops.matmul(ops.concat([x, h], 1), gates, False, True), none[0]))
    z, r = ops.split(both, np.int64(1), 2).outputs()
    n = ops.tanh(ops.add(ops.matmul(ops.concat([x, ops.multiply(r, h)], 1), new, False, True), none[1]))
    out = ops.add(ops.multiply(ops.subtract(np.float32(1), z), n), ops.multiply(z, x))
    update, reset = np.split(1 / (1 + np.exp(-np.concatenate(data, 1) @ gates.T)), 2, 1)
    state = np.tanh(np.concatenate([data[0], reset * data[1]], 1) @ new.T)
    return Model([out], [x, h]), [data], [[(1 - update) * state + update * data[0]]]


@fault()
def nonzero_of_truncated_numbers() -> Graph:
    """NonZero of floats converted to integers finds 0.5, which is 0 as an integer."""
    x, data = parameter(-1), np.array([0.5, 0, 1.5], np.float32)
    return Model([ops.non_zero(ops.convert(x, Type.i32))], [x]), [[data]], [[np.array([[2]])]]


@fault()
def statistics_without_their_axis() -> Graph:
    """exp(x) / sum(exp(x)) is taken for a softmax, also where the sums, without their axis, are those of other rows."""
    x, data = parameter(2, 2), numbers(2, 2)
    high = ops.exp(x)
    want = np.exp(data) / np.exp(data).sum(1)
    return Model([ops.divide(high, ops.reduce_sum(high, np.array([1]), False))], [x]), [[data]], [[want]]


@fault()
def factor_of_shared_group_filters() -> Graph:
    """A factor of one grouped convolution is that of another one, too, which reads the same computed filters."""
    x, y, filters = parameter(2, 4, 3, 3), parameter(2, 4, 3, 3), parameter(4, 1, 3, 3)
    data = [numbers(2, 4, 3, 3), numbers(2, 4, 3, 3, seed=1), numbers(4, 1, 3, 3, seed=2)]
    factor, shape = numbers(1, 4, 1, 1, seed=3), np.array([4, 1, 1, 3, 3])
    layers = [
        ops.group_convolution(value, ops.reshape(filters, shape, False), [1, 1], [0, 0], [0, 0], [1, 1])
        for value in (x, y)
    ]
    out = [ops.multiply(layers[0], factor), ops.relu(ops.add(layers[1], np.float32(9)))]
    sums = [(item * data[2][:, 0]).sum((2, 3), keepdims=True) for item in data[:2]]
    return Model(out, [x, y, filters]), [data], [[sums[0] * factor, np.maximum(sums[1] + 9, 0)]]


@fault()
def sum_of_more_images() -> Graph:
    """A sum is computed in the memory of a convolution of batch 1, where its batch, which is unknown, is another."""
    x, y, weights = parameter(-1, 2, 3, 3), parameter(1, 2, 3, 3), numbers(2, 2, 1, 1)
    data = [numbers(2, 2, 3, 3, seed=1), numbers(1, 2, 3, 3, seed=2)]
    convolved = ops.convolution(y, weights, [1, 1], [0, 0], [0, 0], [1, 1])
    want = data[0] + np.einsum("oi,nihw->nohw", weights[:, :, 0, 0], data[1])
    return Model([ops.add(x, convolved)], [x, y]), [data], [[want]]


@fault()
def bias_of_higher_rank() -> Graph:
    """A linear layer over rows of unknown number has two axes, also where its bias has three."""
    x, weights, bias, data = parameter(-1, 3), numbers(3, 4), numbers(1, 1, 4, seed=1), numbers(2, 3, seed=2)
    out = ops.add(ops.matmul(x, weights, False, False), bias)
    return Model([out], [x]), [[data]], [[data @ weights + bias]]


@fault()
def weight_of_norm_of_higher_rank() -> Graph:
    """An RMS norm of a matrix has two axes, also where its weight has three."""
    x, weight, data = parameter(2, 4), numbers(1, 1, 4), numbers(2, 4, seed=1)
    mean = ops.reduce_mean(ops.power(x, np.float32(2)), np.array([-1]), True)
    out = ops.multiply(ops.multiply(x, ops.power(ops.sqrt(ops.add(mean, np.float32(1e-3))), np.float32(-1))), weight)
    want = data / np.sqrt((data**2).mean(-1, keepdims=True) + 1e-3) * weight
    return Model([ops.shape_of(out), out], [x]), [[data]], [[np.array([1, 2, 4]), want]]


@fault()
def swish_of_beta_with_dimensions() -> Graph:
    """x * sigmoid(x * b) is taken for a Swish of the shape of x, where b, of equal elements, is wider."""
    x, beta, data = parameter(2, 1), np.full(3, 1.5, np.float32), numbers(2, 1)
    want = data / (1 + np.exp(-data * beta))
    return Model([ops.multiply(x, ops.sigmoid(ops.multiply(x, beta)))], [x]), [[data]], [[want]]
