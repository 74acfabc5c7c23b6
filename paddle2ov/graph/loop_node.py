"""Builds OpenVINO's Loop around a body in time linear in the size of the body and in what it carries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openvino import Model, Node, Output
from openvino.op import Parameter, Result, loop, tensor_iterator
from openvino.op.util import (
    BodyOutputDescription,
    ConcatOutputDescription,
    InvariantInputDescription,
    MergedInputDescription,
    SliceInputDescription,
)

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
    final: Sequence[Result] = (),
) -> Node:
    """A Loop; its outputs are the last value of each carried and each final result, and then the concatenated ones.

    The body is validated only if that may change the outputs; creating the model does it again in any case.

    Args:
        trip_count: the largest number of iterations, 0-D; -1 for no limit.
        execution_condition: whether the first iteration is run, 0-D.
        body: one iteration.
        special_body_ports: the index of the body's parameter that is the current iteration, and of its result that is
            the condition for the next one.
        carried: (the body's parameter, its initial value, the result that is its value in the next iteration).
        invariant: (the body's parameter, its value in every iteration).
        concatenated: results of the body whose values in all iterations are concatenated along the first axis.
        final: results of the body that the next iteration does not read; only of a Loop that is known to run.
    """
    copy_states((parameter, result) for parameter, _, result in carried)
    node = ops.loop(trip_count, execution_condition)
    node.set_function(body)
    node.set_special_body_ports(list(special_body_ports))
    ports = _Ports(body, [trip_count, execution_condition])
    inputs = [
        *(ports.merged(parameter, initial, result) for parameter, initial, result in carried),
        *(ports.invariant(parameter, value) for parameter, value in invariant),
    ]
    outputs = [
        *(ports.last(result) for _, _, result in carried),
        *(ports.last(result) for result in final),
        *(ports.concatenated(result, 0, 1, 1, -1, 0) for result in concatenated),
    ]
    ports.connect(node, inputs, outputs)
    if concatenated or final or not all(_is_settled(*item) for item in carried):
        node.validate_and_infer_types()
        return node
    for index, (parameter, _, _) in enumerate(carried):
        node.set_output_type(index, parameter.get_element_type(), parameter.get_partial_shape())
    return node


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
    ports = _Ports(node.get_function(), [])
    inputs = [
        *(ports.sliced(parameter, tensor, start, stride, part, end, axis) for parameter, tensor in sliced),
        *(
            ports.merged(parameter, initial, result)
            for (parameter, initial, _), result in zip(carried, after, strict=True)
        ),
        *(ports.invariant(parameter, value) for parameter, value in invariant),
    ]
    ports.connect(node, inputs, [ports.concatenated(result, start, stride, part, end, axis) for result in parts])
    node.validate_and_infer_types()
    return list(node.outputs())


class _Ports:
    """Describes the inputs and outputs of a Loop or a TensorIterator, which are then set together.

    OpenVINO's functions that set a single one validate the whole body each time, which takes quadratic time.

    Args:
        body: one iteration.
        arguments: the inputs that come before those that enter the body.
    """

    def __init__(self, body: Model, arguments: Sequence[Output]) -> None:
        self._parameters = {item.get_name(): i for i, item in enumerate(body.get_parameters())}
        self._results = {item.get_name(): i for i, item in enumerate(body.get_results())}
        self._arguments = list(arguments)
        self._outputs = 0

    def merged(self, parameter: Parameter, initial: Output, result: Result) -> MergedInputDescription:
        """An input that is the parameter in the first iteration; later, that is the result of the one before."""
        index = self._entering(initial)
        return MergedInputDescription(index, self._parameters[parameter.get_name()], self._results[result.get_name()])

    def sliced(self, parameter: Parameter, tensor: Output, *slices: int) -> SliceInputDescription:
        """An input of which each iteration gets a part; `slices`: start, stride, part size, end, axis."""
        return SliceInputDescription(self._entering(tensor), self._parameters[parameter.get_name()], *slices)

    def invariant(self, parameter: Parameter, value: Output) -> InvariantInputDescription:
        """An input that is the same in every iteration."""
        return InvariantInputDescription(self._entering(value), self._parameters[parameter.get_name()])

    def last(self, result: Result) -> BodyOutputDescription:
        """An output that is a result of the last iteration."""
        return BodyOutputDescription(self._results[result.get_name()], self._leaving(), -1)

    def concatenated(self, result: Result, *slices: int) -> ConcatOutputDescription:
        """An output that is the results of all iterations; `slices`: start, stride, part size, end, axis."""
        return ConcatOutputDescription(self._results[result.get_name()], self._leaving(), *slices)

    def connect(self, node: loop | tensor_iterator, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Sets the inputs and outputs that were described."""
        node.set_arguments(self._arguments)
        node.set_input_descriptions(list(inputs))
        node.set_output_descriptions(list(outputs))
        node.set_output_size(self._outputs)

    def _entering(self, value: Output) -> int:
        self._arguments.append(value)
        return len(self._arguments) - 1

    def _leaving(self) -> int:
        self._outputs += 1
        return self._outputs - 1


def _is_settled(parameter: Parameter, initial: Output, result: Result) -> bool:
    """Whether a carried value keeps its type and shape, so that those of the Loop's output are known already."""
    after = result.input_value(0)
    return (
        parameter.get_partial_shape() == initial.get_partial_shape() == after.get_partial_shape()
        and parameter.get_element_type() == initial.get_element_type() == after.get_element_type()
    )
