"""Recurrent layers and cells that OpenVINO takes for others, or does not compile."""

import itertools

import numpy as np
import pytest
from openvino import opset16 as ops

from paddle2ov.workarounds.table import row
from tests.support.passes_checks import compare, random


@pytest.mark.one_in(5)
@pytest.mark.parametrize("order", ["".join(permutation) for permutation in itertools.permutations("ifco")])
@pytest.mark.parametrize("biased", [None, "i", "f", "c", "o"])
def test_gates_in_any_order(order, biased):
    size = 3
    weights, bias = random(4 + size, 4 * size), random(4 * size)

    def build(x, h, c):
        both = ops.add(ops.matmul(ops.concat([x, h], 1), weights, False, False), bias)
        parts = ops.split(both, np.int64(1), 4).outputs()
        gates = {name: parts[order.index(name)] for name in "ifco"}
        if biased:
            gates[biased] = ops.add(gates[biased], np.float32(1))
        kept = ops.multiply(ops.sigmoid(gates["f"]), c)
        state = ops.add(ops.multiply(ops.sigmoid(gates["i"]), ops.tanh(gates["c"])), kept)
        return [ops.multiply(ops.tanh(state), ops.sigmoid(gates["o"])), state]

    sites = 1 if biased and (order[2] != biased or set(order[:2]) != set("ic")) else 0
    compare(row("recurrent.gates_in_another_order"), build, (-1, 4), (-1, size), (-1, size), sites=sites)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("bias", [(1,), ()], ids=["a row", "a vector"])
@pytest.mark.parametrize("kept", ["h", "x", "twice", "other"])
@pytest.mark.parametrize("batch", [2, -1])
def test_cells_that_look_like_a_gru(kept, bias, batch):
    gates, new = random(6, 6), random(3, 6)
    biases = random(*bias, 6), random(*bias, 3)

    def build(x, h):
        both = ops.add(ops.matmul(ops.concat([x, h], 1), gates, False, True), biases[0])
        z, r = ops.split(ops.sigmoid(both), np.int64(1), 2).outputs()
        state = ops.matmul(ops.concat([x, ops.multiply(r, x if kept == "other" else h)], 1), new, False, True)
        last = {"h": h, "x": x, "twice": ops.add(h, h), "other": h}[kept]
        left = ops.multiply(ops.subtract(np.float32(1), z), ops.tanh(ops.add(state, biases[1])))
        return ops.add(left, ops.multiply(z, last))

    compare(row("recurrent.gru_of_another_form"), build, (batch, 3), (batch, 3))
