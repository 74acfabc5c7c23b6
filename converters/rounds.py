"""Loops that a converter builds: one step, taken again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from openvino import Model, Node, Output, Type

from paddle2ov.opset import ops

Value: TypeAlias = Output | Node
Step: TypeAlias = Callable[[Value, Sequence[Output], Sequence[Output]], tuple[Sequence[Value], Value | None]]
"""(round, state, fixed) -> the next state, and whether to go on (None: until all rounds are done)."""


def repeat(rounds: Value, state: Sequence[Value], fixed: Sequence[Value], step: Step) -> list[Output]:
    """`state` after at most `rounds` (0-D) rounds of state, go_on = step(round, state, fixed).

    Shapes and types of the state stay as they are; `fixed` is what every round reads and none changes.
    """
    outer, constant = [output_of(value) for value in state], [output_of(value) for value in fixed]
    inner = [ops.parameter(value.get_partial_shape(), value.get_element_type()) for value in outer]
    held = [ops.parameter(value.get_partial_shape(), value.get_element_type()) for value in constant]
    k = ops.parameter([], Type.i64)
    after, go_on = step(k.output(0), [p.output(0) for p in inner], [p.output(0) for p in held])
    results = [ops.result(value) for value in after]
    further = ops.result(ops.constant(np.array(True)) if go_on is None else go_on)
    loop = ops.loop(rounds, ops.constant(np.array(True)))
    loop.set_function(Model([further, *results], [k, *inner, *held]))
    loop.set_special_body_ports([0, 0])
    for parameter, before, result in zip(inner, outer, results, strict=True):
        loop.set_merged_input(parameter, before, result.output(0))
    for parameter, value in zip(held, constant, strict=True):
        loop.set_invariant_input(parameter, value)
    out = [loop.get_iter_value(result.output(0), -1) for result in results]
    loop.validate_and_infer_types()
    return out


def output_of(value: Value) -> Output:
    """The output of a node that has one."""
    return value.output(0) if isinstance(value, Node) else value
