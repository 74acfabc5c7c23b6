"""Builds OpenVINO's Loop around a body in time linear in the size of the body, not quadratic."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from openvino import Model, Node, Output
from openvino.op import Parameter, Result

from paddle2ov.graph.loop_invariants import copy_states
from paddle2ov.graph.opset import ops


def build_loop(
    trip_count: Output,
    execution_condition: Output,
    body: Model,
    special_body_ports: Sequence[int],
    carried: Sequence[tuple[Parameter, Output, Result]],
    invariant: Sequence[tuple[Parameter, Output]],
    concatenated: Sequence[Result] = (),
    sliced: Sequence[tuple[Parameter, Output]] = (),
    axis: int = 0,
    final: Sequence[Result] = (),
) -> Node:
    """A Loop; its outputs are the last value of each carried and each final result, and then the concatenated ones.

    OpenVINO validates the whole body again for each input and output that is set on a Loop. Until all of them are set,
    a stand-in body is validated instead, with the same parameters and results and nothing in between. The body itself
    is validated only if that may change the outputs; creating the model does it again in any case.

    Args:
        trip_count: the largest number of iterations, 0-D; -1 for no limit.
        execution_condition: whether the first iteration is run, 0-D.
        body: one iteration.
        special_body_ports: the index of the body's parameter that is the current iteration, and of its result that is
            the condition for the next one.
        carried: (the body's parameter, its initial value, the result that is its value in the next iteration).
        invariant: (the body's parameter, its value in every iteration).
        concatenated: results of the body whose values in all iterations are concatenated along `axis`.
        sliced: (the body's parameter, the tensor of which each iteration gets one slice along `axis`).
        axis: along which slices are taken and results concatenated.
        final: results of the body that the next iteration does not read; only of a Loop that is known to run.
    """
    copy_states((parameter, result) for parameter, _, result in carried)
    of_result = {result.get_name(): parameter for parameter, _, result in carried}
    stacked = {result.get_name() for result in concatenated}
    results = []
    for result in body.get_results():
        parameter = of_result.get(result.get_name())
        other = ops.constant(np.ones([1] * (axis + 1), bool)) if result.get_name() in stacked else ops.constant(True)
        results.append(ops.result(parameter if parameter is not None else other))
    stand_ins = {result.get_name(): stand_in for result, stand_in in zip(body.get_results(), results, strict=True)}
    loop = ops.loop(trip_count, execution_condition)
    loop.set_function(Model(results, body.get_parameters()))
    loop.set_special_body_ports(list(special_body_ports))
    for parameter, initial, result in carried:
        loop.set_merged_input(parameter, initial, stand_ins[result.get_name()].output(0))
    for parameter, tensor in sliced:
        loop.set_sliced_input(parameter, tensor, 0, 1, 1, -1, axis)
    for parameter, value in invariant:
        loop.set_invariant_input(parameter, value)
    for _, _, result in carried:
        loop.get_iter_value(stand_ins[result.get_name()].output(0), -1)
    for result in final:
        loop.get_iter_value(stand_ins[result.get_name()].output(0), -1)
    for result in concatenated:
        loop.get_concatenated_slices(stand_ins[result.get_name()].output(0), 0, 1, 1, -1, axis)
    loop.set_function(body)
    if concatenated or sliced or final or not all(_is_settled(*item) for item in carried):
        loop.validate_and_infer_types()
    return loop


def build_iterator(
    sliced: Sequence[tuple[Parameter, Output]],
    carried: Sequence[tuple[Parameter, Output, Output]],
    invariant: Sequence[tuple[Parameter, Output]],
    concatenated: Sequence[Output],
    axis: int,
    stride: int,
) -> list[Output]:
    """The concatenated outputs of a TensorIterator, a Loop over parts of several slices.

    Args:
        sliced: (the body's parameter, the tensor of which each iteration gets one part along `axis`).
        carried: (the body's parameter, its initial value, its value in the next iteration).
        invariant: (the body's parameter, its value in every iteration).
        concatenated: what is computed in the body, and concatenated along `axis`.
        axis: along which parts are taken and results concatenated.
        stride: how many slices make a part; below 0 if the first iteration gets the last one.
    """
    after, parts = ([ops.result(value) for value in values] for values in ([item[2] for item in carried], concatenated))
    states = [(parameter, result) for (parameter, _, _), result in zip(carried, after, strict=True)]
    copy_states(states)
    node = ops.tensor_iterator()
    parameters = [parameter for ones in (sliced, carried, invariant) for parameter, *_ in ones]
    node.set_body(Model([*after, *parts], parameters))
    part, start, end = abs(stride), *((0, -1) if stride > 0 else (-1, 0))
    for parameter, tensor in sliced:
        node.set_sliced_input(parameter, tensor, start, stride, part, end, axis)
    for (parameter, initial, _), result in zip(carried, after, strict=True):
        node.set_merged_input(parameter, initial, result.output(0))
    for parameter, value in invariant:
        node.set_invariant_input(parameter, value)
    for result in parts:
        node.get_concatenated_slices(result.output(0), start, stride, part, end, axis)
    node.validate_and_infer_types()
    return list(node.outputs())


def _is_settled(parameter: Parameter, initial: Output, result: Result) -> bool:
    """Whether a carried value keeps its type and shape, so that those of the Loop's output are known already."""
    after = result.input_value(0)
    return (
        parameter.get_partial_shape() == initial.get_partial_shape() == after.get_partial_shape()
        and parameter.get_element_type() == initial.get_element_type() == after.get_element_type()
    )
