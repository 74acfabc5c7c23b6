"""Recurrent layers.

Paddle: `rnn` (LSTM, GRU, RNN_TANH, RNN_RELU); the cells of Paddle 1, `gru_unit` and `lstm_unit`.
Semantics: `paddle/phi/kernels/cpu/rnn_kernel.cc`, `rnn_functor.h` (ResetParameterVector, CreateMaskMatrix),
`paddle/phi/kernels/funcs/detail/{lstm_cpu,gru}_kernel.h`, `impl/gru_unit_kernel_impl.h`.
Not supported: dropout at inference.

Paddle has the batch second ([length, batch, features]), OpenVINO first. Paddle's gates are in the order i f c o
(LSTM) and r z c (GRU), OpenVINO's in f i c o and z r h; of the two biases OpenVINO takes the sum, but for GRU's
candidate, whose recurrent bias is added before the reset gate multiplies (`linear_before_reset`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const, const_like, folded, reshape
from paddle2ov.converters.graph.dims import dim_of, index_range
from paddle2ov.converters.graph.selection import one_of_each
from paddle2ov.graph import arrays
from paddle2ov.graph.constants import constant_of
from paddle2ov.graph.expected_dims import expect_dims
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import Dims, dims_of, output_of
from paddle2ov.graph.slices import slice_along
from paddle2ov.graph.workarounds import works_around
from paddle2ov.program.budget import check_repeats
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

GATES = {"LSTM": [1, 0, 2, 3], "GRU": [1, 0, 2], "RNN_TANH": [0], "RNN_RELU": [0]}
"""For each of OpenVINO's gates, its index in Paddle's order."""

Activation: TypeAlias = Callable[[Tensor], Tensor]

ACTIVATIONS: dict[str, Activation] = {
    "identity": lambda x: x,
    "sigmoid": ops.sigmoid,
    "tanh": ops.tanh,
    "relu": ops.relu,
}
"""Those of the layers of Paddle 1, in the order of their numbers."""

_CLOSED = 200
"""Where a sigmoid is 0 or 1 for float32."""


def rnn(node: NodeContext) -> NamedOutputs:
    """out, state = the hidden states of the last layer, and the last states of all layers and directions."""
    mode = node.get_str("mode", "RNN_TANH")
    node.require(mode in GATES, "not a mode of rnn", mode=mode)
    is_random = node.get_float("dropout_prob", 0.0) != 0 and not node.get_bool("is_test", False)
    node.require(not is_random, "dropout at inference is not supported", is_test=False)
    layers, directions = node.get_int("num_layers", 1), 1 + node.get_bool("is_bidirec", False)
    hidden = node.get_int("hidden_size", 100)

    states = node.get_inputs("pre_state")
    by_batch = ops.transpose(node.get_input("x"), ints([1, 0, 2]))
    x: Tensor = _with_static_dims(by_batch, states, node.input_dims("weight_list"))
    size = ops.shape_of(x, Type.i32)
    # OpenVINO's CPU plugin recognises this pattern as "every step counts" and then needs no masks.
    batch, steps = (ops.gather(size, ints([axis]), ints(0)) for axis in (0, 1))
    every = ops.broadcast(steps, batch)
    last: list[list[Tensor]] = [[] for _ in states]
    for layer in range(check_repeats(layers)):
        numbers = range(layer * directions, (layer + 1) * directions)
        own = [slice_along(state, ints([numbers.start]), ints([numbers.stop]), 0) for state in states]
        first: list[Tensor] = [ops.transpose(state, ints([1, 0, 2])) for state in own]
        if node.has_input("sequence_length"):
            x, after = _layer_of_lengths(node, mode, x, first, every, numbers, hidden)
        else:
            direction = "bidirectional" if directions == 2 else "forward"
            weights = _weights(node, mode, numbers, hidden)
            sequence = _sequence(mode, x, first, every, weights, hidden, direction)
            x, after = _merge_directions(sequence.output(0), directions, hidden), sequence.outputs()[1:]
        for kept, output in zip(last, after, strict=True):
            kept.append(output)
    state = [ops.transpose(ops.concat(kept, 1) if layers > 1 else kept[0], ints([1, 0, 2])) for kept in last]
    return {"out": ops.transpose(x, ints([1, 0, 2])), "state": state}


def _with_static_dims(x: Node, states: list[Output], weight: Dims | None) -> Output:
    """x with the batch of the states and the features of the weight where its own are dynamic, for the CPU plugin."""
    batch, _, features = x.get_output_partial_shape(0)
    wanted = states[0].get_partial_shape()[1]
    sizes = {}
    if batch.is_dynamic and wanted.is_static:
        sizes[0] = wanted.get_length()
    if features.is_dynamic and weight and weight[1] is not None:
        sizes[2] = weight[1]
    return expect_dims(x.output(0), sizes)


def _sequence(
    mode: str, x: Tensor, first: Sequence[Tensor], lengths: Node, weights: Sequence[Tensor], hidden: int, direction: str
) -> Node:
    w, r, b = weights
    if mode == "LSTM":
        h, c = first
        return ops.lstm_sequence(x, h, c, lengths, w, r, b, hidden, direction)
    (h,) = first
    if mode == "GRU":
        return ops.gru_sequence(x, h, lengths, w, r, b, hidden, direction, linear_before_reset=True)
    activations = [mode.removeprefix("RNN_").lower()]
    return ops.rnn_sequence(x, h, lengths, w, r, b, hidden, direction, activations=activations)


@works_around("lengths_of_dynamic_sequences")
def _layer_of_lengths(
    node: NodeContext, mode: str, x: Tensor, first: Sequence[Tensor], every: Node, numbers: Sequence[int], hidden: int
) -> tuple[Node, Sequence[Tensor]]:
    """The outputs [batch, length, directions * hidden] and last states [batch, directions, hidden].

    OpenVINO's CPU plugin ignores lengths where the shape is dynamic, and is slow elsewhere. So the layer runs over all
    steps: those after the end of a sequence come last in either direction, and do not change what is before.
    """
    lengths: Tensor = cast_to(node.get_input("sequence_length"), Type.i64)
    (batch, *_) = dims_of(x) or [None]
    if batch is not None:  # OpenVINO compiles no layer over one sequence whose steps have another, unknown batch
        lengths = expect_dims(output_of(lengths), {0: batch})
    inside = ops.unsqueeze(ops.less(index_range(dim_of(x, 1)), ops.unsqueeze(lengths, ints([1]))), ints([2]))
    runs = ops.unsqueeze(ops.greater(lengths, ints(0)), ints([1, 2]))
    end = ops.unsqueeze(ops.maximum(ops.subtract(lengths, ints(1)), ints(0)), ints([1]))
    if mode == "LSTM":  # the last cell has to be kept until the end of the longest sequence
        zero, one = (const_like(value, x) for value in (0, 1))
        x = ops.concat([ops.select(inside, x, zero), ops.select(inside, zero, one)], 2)
    outputs: list[Node] = []
    last: list[list[Node]] = []
    for i, number in enumerate(numbers):
        steps = ops.reverse_sequence(x, lengths, 0, 1) if i else x
        initial = [ops.gather(state, ints([i]), ints(1)) for state in first]
        w, r, b = _weights(node, mode, [number], hidden)
        if mode == "LSTM":
            w = _closing_gates(w, r, b, hidden)
        sequence = _sequence(mode, steps, initial, every, [w, r, b], hidden, "forward")
        out: Node = ops.squeeze(sequence.output(0), ints([1]))
        after: list[Tensor] = [one_of_each(out, end), *sequence.outputs()[2:]]
        last.append([ops.select(runs, state, start) for state, start in zip(after, initial, strict=True)])
        outputs.append(ops.reverse_sequence(out, lengths, 0, 1) if i else out)
    joined = ops.select(inside, ops.concat(outputs, 2), const_like(0, outputs[0]))
    return joined, [ops.concat(list(states), 1) for states in zip(*last, strict=True)]


def _closing_gates(w: Node, r: Node, b: Node, hidden: int) -> Node:
    """W of an LSTM with another feature: 1 of it closes the input gate and opens the forget gate."""
    # Where that feature is 1, the others are 0, and a hidden state is at most 1.
    signs = arrays.repeat(np.array([1, -1, 0, 0]), hidden)[None, :, None]
    kind = w.get_element_type()
    weights, recurrent, bias = (constant_of(x.output(0)) if kind == Type.f32 else None for x in (w, r, b))
    if weights is not None and recurrent is not None and bias is not None:  # of any size
        most = _CLOSED + np.abs(recurrent).sum(-1).max() + np.abs(bias).max()
        return ops.constant(np.concatenate([weights, most * signs.astype(np.float32)], 2))
    sums = ops.concat([ops.reduce_sum(ops.abs(r), ints([2])), ops.abs(b)], 1)
    most_of_both = ops.multiply(ops.reduce_max(sums, ints([0, 1])), const_like(2, w))
    column = ops.multiply(ops.add(most_of_both, const_like(_CLOSED, w)), const(signs, kind))
    return folded(ops.concat([w, column], 2))


def _merge_directions(out: Tensor, directions: int, hidden: int) -> Node:
    """[batch, directions, length, hidden] -> [batch, length, directions * hidden]."""
    if directions == 1:
        return ops.squeeze(out, ints([1]))
    return ops.reshape(ops.transpose(out, ints([0, 2, 1, 3])), ints([0, 0, directions * hidden]), True)


def _weights(node: NodeContext, mode: str, numbers: Sequence[int], hidden: int) -> list[Node]:
    """W, R, B of some of the layers and directions, each with an axis of these in front."""
    # The list holds (input, recurrent) weights of each layer and direction, then the biases in the same order.
    biases = node.get_input_size("weight_list") // 2
    places = [2 * number + i for i in (0, 1, biases, biases + 1) for number in numbers]
    parts = [slice(start, start + len(numbers)) for start in range(0, len(places), len(numbers))]
    known = [array for place in places if (array := node.get_known("weight_list", place)) is not None]
    if len(known) < len(places):
        weights = [node.get_input("weight_list", place) for place in places]
        return _computed_weights(mode, [weights[part] for part in parts], hidden)
    stacked = (np.stack(known[part]) for part in parts)
    by_gate = (weight.reshape(len(numbers), len(GATES[mode]), hidden, -1) for weight in stacked)
    w, r, own, recurrent = (np.take(weight, GATES[mode], 1) for weight in by_gate)
    b = own + recurrent
    if mode == "GRU":
        b = np.concatenate([b[:, :2], own[:, 2:], recurrent[:, 2:]], 1)
    matrices = [weight.reshape(len(numbers), -1, weight.shape[-1]) for weight in (w, r)]
    return [ops.constant(weight) for weight in (*matrices, b.reshape(len(numbers), -1))]


def _computed_weights(mode: str, parts: Sequence[Sequence[Tensor]], hidden: int) -> list[Node]:
    """The same of weights that nodes compute."""
    gates = GATES[mode]
    by_gate = ([reshape(weight, [1, len(gates), hidden, -1]) for weight in part] for part in parts)
    w, r, own, recurrent = (ops.gather(ops.concat(part, 0), ints(gates), ints(1)) for part in by_gate)
    b = ops.add(own, recurrent)
    if mode == "GRU":
        ranges = [(b, 0, 2), (own, 2, 3), (recurrent, 2, 3)]
        b = ops.concat([slice_along(x, ints([start]), ints([end]), 1) for x, start, end in ranges], 1)
    matrices = [ops.reshape(weight, ints([0, len(gates) * hidden, -1]), True) for weight in (w, r)]
    return [*matrices, ops.reshape(b, ints([0, -1]), True)]


def gru_unit(node: NodeContext) -> NamedOutputs:
    """hidden = (1 - u) * hidden_prev + u * c, or with u and 1 - u exchanged in `origin_mode`; gate = [u, r, c]."""
    state, weight = node.get_input("hidden_prev"), node.get_input("weight")
    size = weight.get_partial_shape()[0]
    node.require(size.is_static, "a weight of unknown size is not supported")
    total: Tensor = node.get_input("input")
    if node.has_input("bias"):
        total = ops.add(total, node.get_input("bias"))
    functions = _activation(node, "gate_activation", 1), _activation(node, "activation", 2)
    weights = gru_weights(weight, size.get_length())
    gates, reset, c, hidden = gru_cell(total, state, weights, functions, node.get_bool("origin_mode", False))
    return {"gate": ops.concat([gates, c], 1), "reset_hidden_prev": reset, "hidden": hidden}


def gru_weights(weight: Tensor, width: int) -> list[Node]:
    """The weights [width, 2 * width] of u and r, and [width, width] of c, which are one after the other in memory."""
    sizes = ints([2 * width * width, width * width])
    for_gates, for_candidate = ops.variadic_split(reshape(weight, [-1]), ints(0), sizes).outputs()
    return [reshape(for_gates, [width, 2 * width]), reshape(for_candidate, [width, width])]


def gru_cell(
    total: Tensor, state: Tensor, weights: Sequence[Tensor], functions: Sequence[Activation], origin_mode: bool
) -> tuple[Tensor, Node, Tensor, Node]:
    """The gates [u, r], r · state, the candidate c, and the next state, of the projected input [u, r, c]."""
    gate, activation = functions
    u, r, c = ops.split(total, ints(1), 3).outputs()
    for_u, for_r = ops.split(ops.matmul(state, weights[0], False, False), ints(1), 2).outputs()
    update, again = gate(ops.add(u, for_u)), gate(ops.add(r, for_r))
    reset = ops.multiply(again, state)
    candidate = activation(ops.add(c, ops.matmul(reset, weights[1], False, False)))
    start, end = (candidate, state) if origin_mode else (state, candidate)
    hidden = ops.add(start, ops.multiply(update, ops.subtract(end, start)))
    return ops.concat([update, again], 1), reset, candidate, hidden


def lstm_unit(node: NodeContext) -> NamedOutputs:
    """c = sigmoid(f + forget_bias) * c_prev + sigmoid(i) * tanh(g), h = sigmoid(o) * tanh(c); x = [i, f, o, g]."""
    x = node.get_input("x")
    i, f, o, g = ops.split(x, ints(1), 4).outputs()
    forget = ops.sigmoid(ops.add(f, const_like(node.get_float("forget_bias", 0.0), x)))
    c = ops.add(ops.multiply(forget, node.get_input("c_prev")), ops.multiply(ops.sigmoid(i), ops.tanh(g)))
    return {"c": c, "h": ops.multiply(ops.sigmoid(o), ops.tanh(c))}


def _activation(node: NodeContext, name: str, default: int) -> Activation:
    number = node.get_int(name, default)
    node.require(0 <= number <= 3, "not an activation of gru_unit", **{name: number})
    return list(ACTIVATIONS.values())[number]
