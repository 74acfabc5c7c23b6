"""Loops that a converter builds: one step, taken again and again, or once for each part of a tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from openvino import Model, Node, Output, Type
from openvino.op import Parameter

from paddle2ov.converters.graph.common import Tensor, ints, output_of, size_of
from paddle2ov.graph.loop import build_loop
from paddle2ov.graph.opset import ops

Outputs: TypeAlias = Sequence[Output]
Step: TypeAlias = Callable[[Tensor, Outputs, Outputs], tuple[Sequence[Tensor], Tensor | None]]
"""(round, state, fixed) -> the next state, and whether to go on (None: until all rounds are done)."""
PartStep: TypeAlias = Callable[[Tensor, Outputs, Outputs, Outputs], tuple[Sequence[Tensor], Sequence[Tensor]]]
"""(round, parts, state, fixed) -> the next state, and this round's parts of the results."""


def repeat(rounds: Tensor, state: Sequence[Tensor], fixed: Sequence[Tensor], step: Step) -> list[Output]:
    """`state` after at most `rounds` (0-D) rounds of state, go_on = step(round, state, fixed).

    Shapes and types of the state stay as they are; `fixed` is what every round reads and none changes.
    """
    outer, constant = [output_of(value) for value in state], [output_of(value) for value in fixed]
    inner, held = _parameters(outer), _parameters(constant)
    k = ops.parameter([], Type.i64)
    after, go_on = step(k.output(0), _outputs(inner), _outputs(held))
    results = [ops.result(value) for value in after]
    further = ops.result(ops.constant(np.array(True)) if go_on is None else go_on)
    loop = build_loop(
        output_of(rounds),
        ops.constant(np.array(True)).output(0),
        Model([further, *results], [k, *inner, *held]),
        [0, 0],
        list(zip(inner, outer, results, strict=True)),
        list(zip(held, constant, strict=True)),
    )
    return list(loop.outputs())


def along(
    axis: int, sliced: Sequence[Tensor], state: Sequence[Tensor], fixed: Sequence[Tensor], step: PartStep
) -> tuple[list[Output], list[Output]]:
    """The last `state`, and the results joined along `axis`, of step(round, parts, state, fixed) for each part.

    Parts are those of `sliced` along `axis`, which keep it as a dimension of 1; results have it too. Shapes and types
    of the state stay as they are.
    """
    whole, outer, constant = ([output_of(value) for value in values] for values in (sliced, state, fixed))
    parts, inner, held = _parameters(whole, axis), _parameters(outer), _parameters(constant)
    k = ops.parameter([], Type.i64)
    after, joined = step(k.output(0), _outputs(parts), _outputs(inner), _outputs(held))
    results, slices = [ops.result(value) for value in after], [ops.result(value) for value in joined]
    rounds = size_of(whole[0], axis).output(0)
    loop = build_loop(
        rounds,
        ops.constant(np.array(True)).output(0),
        Model([ops.result(ops.constant(np.array(True))), *results, *slices], [k, *parts, *inner, *held]),
        [0, 0],
        list(zip(inner, outer, results, strict=True)),
        list(zip(held, constant, strict=True)),
        slices,
        list(zip(parts, whole, strict=True)),
        axis,
    )
    outputs = list(loop.outputs())
    last, found = outputs[: len(results)], outputs[len(results) :]
    if whole[0].get_partial_shape()[axis].is_dynamic:
        # After no rounds OpenVINO 2026.4 gives what the memory holds, as one part.
        end = ops.unsqueeze(rounds, ints(0))
        found = [ops.slice(one, ints([0]), end, ints([1]), ints([axis])).output(0) for one in found]
    return last, found


def _parameters(values: Sequence[Output], axis: int | None = None) -> list[Parameter]:
    """An input of a body for each value; given an axis, for a part of it."""
    found = []
    for value in values:
        shape = value.get_partial_shape()
        if axis is not None:
            shape[axis] = 1
        found.append(ops.parameter(shape, value.get_element_type()))
    return found


def _outputs(nodes: Sequence[Node]) -> list[Output]:
    return [node.output(0) for node in nodes]
