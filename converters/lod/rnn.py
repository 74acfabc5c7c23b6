"""Recurrent layers over packed sequences (LoD).

Paddle: `gru`, `lstm` (dynamic_gru and dynamic_lstm of Paddle 1), `lstmp` of Paddle 1, and `fusion_gru`, `fusion_lstm`,
`fused_embedding_fc_lstm`, in which Paddle's passes merge the layer with the projection before it.
Semantics: `paddle/fluid/operators/lstm_op.h`, in Paddle 1.8 `lstmp_op.h`, `paddle/phi/kernels/cpu/gru_kernel.cc`,
`paddle/phi/kernels/funcs/detail/{lstm,gru}_kernel.h`, `paddle/phi/kernels/fusion/cpu/fusion_{gru,lstm}_kernel.cc`.
Refused: outputs that only training needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from paddle2ov.converters.graph.common import Tensor, const_like, reshape
from paddle2ov.converters.graph.dims import dim_vector
from paddle2ov.converters.graph.loops import Outputs, scan
from paddle2ov.converters.lod.sequences import (
    continuations,
    from_dense,
    goes_on,
    is_by_row,
    reverse_sequences,
    to_dense,
)
from paddle2ov.converters.rnn import ACTIVATIONS, Activation, gru_cell, gru_weights
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.values import LoDTensor, SequenceLengths
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

CellFunction: TypeAlias = Callable[[Tensor, Outputs, Outputs], Sequence[Tensor]]


def gru(node: NodeContext) -> NamedOutputs:
    """hidden[t] = (1 - u) · hidden[t - 1] + u · c; in `origin_mode` with u and 1 - u swapped."""
    return _gru(node, "input", "weight")


def fusion_gru(node: NodeContext) -> NamedOutputs:
    """hidden = gru(x @ weight_x + bias)."""
    origin = node.get_bool("origin_mode", False)
    node.require(not origin, "Paddle's kernel for CPUs computes it as False, oneDNN's as True", origin_mode=origin)
    return _gru(node, "x", "weight_h")


def _gru(node: NodeContext, name: str, recurrent: str) -> NamedOutputs:
    x = _projected(node, name)
    width = _width(node, recurrent)
    if node.has_input("bias"):
        x = ops.add(x, reshape(node.get_input("bias"), [-1]))
    weights = gru_weights(node.get_input(recurrent), width)
    functions = _activation(node, "gate_activation", "sigmoid"), _activation(node, "activation", "tanh")
    origin = node.get_bool("origin_mode", False)

    def step(now: Tensor, states: Outputs, weights: Outputs) -> Sequence[Tensor]:
        return [gru_cell(now, states[0], weights, functions, origin)[-1]]

    return _recur(node, name, x, {"hidden": ("h0", width)}, weights, step)


def lstm(node: NodeContext) -> NamedOutputs:
    """cell[t] = i · c + f · cell[t - 1], hidden[t] = o · act(cell[t]), with peepholes: i, f and o see the cell."""
    return _lstm(node, "input", "weight")


def fusion_lstm(node: NodeContext) -> NamedOutputs:
    """hidden, cell = lstm(x @ weight_x + bias)."""
    return _lstm(node, "x", "weight_h")


def fused_embedding_fc_lstm(node: NodeContext) -> NamedOutputs:
    """hidden, cell = lstm(embeddings[ids]), whose rows hold the projection and the gates' bias already."""
    return _lstm(node, "ids", "weight_h")


def lstmp(node: NodeContext) -> NamedOutputs:
    """projection, cell = lstm(input), whose hidden state is projected: projection[t] = act(hidden[t] @ proj_weight)."""
    return _lstm(node, "input", "weight", "projection")


def _lstm(node: NodeContext, name: str, recurrent: str, result: str = "hidden") -> NamedOutputs:
    projected = node.has_input("proj_weight")
    width = _width(node, "proj_weight" if projected else recurrent)
    looked_up = node.has_input("embeddings")
    x = _projected(node, name)
    if looked_up:
        x = ops.gather(node.get_input("embeddings"), ops.squeeze(x, ints([1])), ints(0))
    weights: list[Tensor] = [node.get_input(recurrent)]
    if node.has_input("bias"):
        bias = reshape(node.get_input("bias"), [-1])
        if not looked_up:
            x = ops.add(x, ops.slice(bias, ints([0]), ints([4 * width]), ints([1])))
        if node.get_bool("use_peepholes", True):
            checks = ops.slice(bias, ints([4 * width]), ints([7 * width]), ints([1]))
            weights += ops.split(checks, ints(0), 3).outputs()
    gate, cell_activation, candidate = (
        _activation(node, f"{which}_activation", default)
        for which, default in (("gate", "sigmoid"), ("cell", "tanh"), ("candidate", "tanh"))
    )
    proj_activation = _activation(node, "proj_activation", "tanh") if projected else ACTIVATIONS["identity"]
    most, most_projected = node.get_float("cell_clip", 0.0), node.get_float("proj_clip", 0.0)
    if projected:
        weights.append(node.get_input("proj_weight"))

    def step(now: Tensor, states: Outputs, weights: Outputs) -> Sequence[Tensor]:
        hidden: Tensor
        cell: Tensor
        hidden, cell = states
        total = ops.add(now, ops.matmul(hidden, weights[0], False, False))
        c, i, f, o = ops.split(total, ints(1), 4).outputs()
        for_i, for_f, for_o = weights[1:4] if len(weights) > 3 else (None, None, None)
        entering = ops.multiply(candidate(c), gate(_add_peephole(i, cell, for_i)))
        cell = _clip(ops.add(entering, ops.multiply(cell, gate(_add_peephole(f, cell, for_f)))), most)
        hidden = ops.multiply(gate(_add_peephole(o, cell, for_o)), cell_activation(cell))
        if projected:
            hidden = _clip(proj_activation(ops.matmul(hidden, weights[-1], False, False)), most_projected)
        return [hidden, cell]

    states = {result: ("h0", _width(node, recurrent)), "cell": ("c0", width)}
    return _recur(node, name, x, states, weights, step)


def _projected(node: NodeContext, name: str) -> Tensor:
    """The rows that are read, projected if the layer holds the projection."""
    x = node.get_input(name)
    return ops.matmul(x, node.get_input("weight_x"), False, False) if node.has_input("weight_x") else x


def _clip(x: Tensor, most: float) -> Tensor:
    return ops.clamp(x, -most, most) if most > 0 else x


def _add_peephole(value: Tensor, cell: Tensor, weight: Tensor | None) -> Tensor:
    return value if weight is None else ops.add(value, ops.multiply(cell, weight))


def _width(node: NodeContext, name: str) -> int:
    shape = node.declared_input_shape(name)
    if shape is None or shape[0] < 0:
        node.refuse("a weight of unknown size is not supported")
    return shape[0]


def _activation(node: NodeContext, name: str, default: str) -> Activation:
    chosen = node.get_str(name, default)
    node.require(chosen in ACTIVATIONS, "is not supported", **{name: chosen})
    return ACTIVATIONS[chosen]


def _recur(
    node: NodeContext,
    name: str,
    x: Tensor,
    states: dict[str, tuple[str, int]],
    weights: Sequence[Tensor],
    step: CellFunction,
) -> NamedOutputs:
    """The states after each step of x [rows, ...]; for each result that is a state, its initial value and width."""
    layout, backwards = node.sequence_layout(name), node.get_bool("is_reverse", False)
    of_lengths = isinstance(layout, SequenceLengths)
    has_states = any(node.has_input(port) for port, _ in states.values())
    # The rows of a single sequence, and rows one by one, are batches of one.
    axis = 0 if is_by_row(layout) and not (of_lengths and has_states) else 1
    sliced = [x]
    if axis:
        sliced = [to_dense(x, layout, None)]
        if backwards and of_lengths:
            sliced = [reverse_sequences(sliced[0], layout)]
    elif isinstance(layout, SequenceLengths):
        sliced.append(continuations(x, layout)[backwards])
    used = [i for i, result in enumerate(states) if node.is_output_used(result)]

    def next_states(slices: Outputs, state: Outputs, invariants: Outputs) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        now, *continuation = slices
        for item in continuation:
            state = [ops.select(goes_on(item), before, const_like(0, before)).output(0) for before in state]
        after = step(ops.squeeze(now, ints([1])) if axis else now, state, invariants)
        return after, [ops.unsqueeze(after[i], ints([1])) if axis else after[i] for i in used]

    batch = dim_vector(sliced[0], [0]) if axis else ints([1])
    initial = [_state(node, operand, x, ops.concat([batch, ints([width])], 0)) for operand, width in states.values()]
    is_reversed = backwards and not (axis and of_lengths)
    scanned = scan(axis, sliced, initial, weights, next_states, is_reversed)
    if backwards and not is_reversed:
        scanned = [reverse_sequences(item, layout).output(0) for item in scanned]
    names = list(states)
    return {
        names[i]: from_dense(item, layout) if axis else LoDTensor(item, layout)
        for i, item in zip(used, scanned, strict=True)
    }


def _state(node: NodeContext, name: str, x: Tensor, shape: Tensor) -> Tensor:
    if node.has_input(name):
        return ops.reshape(node.get_input(name), shape, False)
    return ops.broadcast(const_like(0, x), shape)
