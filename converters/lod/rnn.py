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

from openvino import Node

from paddle2ov.converters.graph.common import Tensor, const_like, dim_vector, reshape
from paddle2ov.converters.graph.loops import Outputs, scan
from paddle2ov.converters.lod.sequences import dense_input, from_dense, reverse_sequences
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.values import SequenceLayout
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

Activation: TypeAlias = Callable[[Tensor], Tensor]
CellFunction: TypeAlias = Callable[[Node, Outputs, Outputs], Sequence[Tensor]]

_ACTIVATIONS: dict[str, Activation] = {
    "sigmoid": ops.sigmoid,
    "tanh": ops.tanh,
    "relu": ops.relu,
    "identity": lambda x: x,
}


def gru(node: NodeContext) -> NamedOutputs:
    """hidden[t] = (1 - u) · hidden[t - 1] + u · c; in `origin_mode` with u and 1 - u swapped."""
    return _gru(node, "input", "weight")


def fusion_gru(node: NodeContext) -> NamedOutputs:
    """hidden = gru(x @ weight_x + bias)."""
    origin = node.get_bool("origin_mode", False)
    node.require(not origin, "Paddle's kernel for CPUs computes it as False, oneDNN's as True", origin_mode=origin)
    return _gru(node, "x", "weight_h")


def _gru(node: NodeContext, name: str, recurrent: str) -> NamedOutputs:
    x, layout = dense_input(node, name)
    if node.has_input("weight_x"):
        x = ops.matmul(x, node.get_input("weight_x"), False, False)
    if node.has_input("bias"):
        x = ops.add(x, reshape(node.get_input("bias"), [-1]))
    width = _width(node, recurrent)
    # The weight's buffer holds [width, 2 * width] for u and r, then [width, width] for c.
    flat = reshape(node.get_input(recurrent), [-1])
    for_gates, for_candidate = ops.variadic_split(flat, ints(0), ints([2 * width * width, width * width])).outputs()
    weights = [reshape(for_gates, [width, 2 * width]), reshape(for_candidate, [width, width])]
    gate, candidate = _activation(node, "gate_activation", "sigmoid"), _activation(node, "activation", "tanh")
    origin = node.get_bool("origin_mode", False)

    def step(now: Node, states: Outputs, weights: Outputs) -> Sequence[Tensor]:
        (state,) = states
        own_gates, own_candidate = ops.variadic_split(now, ints(1), ints([2 * width, width])).outputs()
        u, r = ops.split(gate(ops.add(own_gates, ops.matmul(state, weights[0], False, False))), ints(1), 2).outputs()
        reset = ops.multiply(r, state)
        c = candidate(ops.add(own_candidate, ops.matmul(reset, weights[1], False, False)))
        start, end = (c, state) if origin else (state, c)
        return [ops.add(start, ops.multiply(u, ops.subtract(end, start)))]

    (hidden,) = _recur(node, x, layout, [_state(node, "h0", x, width)], weights, step)
    return {"hidden": from_dense(hidden, layout)}


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
    x, layout = dense_input(node, name)
    projected = node.has_input("proj_weight")
    width = _width(node, "proj_weight" if projected else recurrent)
    looked_up = node.has_input("embeddings")
    if looked_up:
        x = ops.gather(node.get_input("embeddings"), ops.squeeze(x, ints([2])), ints(0))
    if node.has_input("weight_x"):
        x = ops.matmul(x, node.get_input("weight_x"), False, False)
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
    proj_activation = _activation(node, "proj_activation", "tanh") if projected else _ACTIVATIONS["identity"]
    most, most_projected = node.get_float("cell_clip", 0.0), node.get_float("proj_clip", 0.0)
    if projected:
        weights.append(node.get_input("proj_weight"))

    def step(now: Node, states: Outputs, weights: Outputs) -> Sequence[Tensor]:
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

    states = [_state(node, "h0", x, _width(node, recurrent)), _state(node, "c0", x, width)]
    hidden, cell = _recur(node, x, layout, states, weights, step)
    return {result: from_dense(hidden, layout), "cell": from_dense(cell, layout)}


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
    node.require(chosen in _ACTIVATIONS, "is not supported", **{name: chosen})
    return _ACTIVATIONS[chosen]


def _state(node: NodeContext, name: str, x: Tensor, width: int) -> Tensor:
    if node.has_input(name):
        return node.get_input(name)
    batch = dim_vector(x, [0])
    return ops.broadcast(const_like(0, x), ops.concat([batch, ints([width])], 0))


def _recur(
    node: NodeContext,
    x: Tensor,
    layout: SequenceLayout,
    states: Sequence[Tensor],
    weights: Sequence[Tensor],
    step: CellFunction,
) -> Sequence[Tensor]:
    """The states after each step of x [count, steps, ...], each as [count, steps, width]."""
    backwards = node.get_bool("is_reverse", False)

    def next_states(
        _: Tensor, slices: Outputs, state: Outputs, invariants: Outputs
    ) -> tuple[Sequence[Tensor], list[Node]]:
        after = step(ops.squeeze(slices[0], ints([1])), state, invariants)
        return after, [ops.unsqueeze(one, ints([1])) for one in after]

    _, found = scan(1, [reverse_sequences(x, layout) if backwards else x], states, weights, next_states)
    return [reverse_sequences(one, layout) for one in found] if backwards else found
