"""Evaluates If, Loop and TensorIterator for the reference, one iteration after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from openvino import Node, Shape, Tensor
from openvino.op.util import (
    BodyOutputDescription,
    ConcatOutputDescription,
    MergedInputDescription,
    SliceInputDescription,
)

from paddle2ov.comparison.rounding import Lanes
from paddle2ov.comparison.tensors import blank, to_array, to_tensor
from paddle2ov.typing import AnyArray

Body: TypeAlias = Callable[[Sequence[Lanes]], list[Lanes]]
"""Computes the results of a body from its inputs."""


def run_if(node: Any, bodies: Sequence[Body], read: Sequence[Lanes]) -> list[Lanes]:
    """The results of the branch that the condition takes; the first of the bodies is `then`."""
    branch = 0 if bool(to_array(read[0][0]).reshape(-1)[0]) else 1
    inputs: dict[int, Lanes] = {
        description.body_parameter_index: read[description.input_index]
        for description in node.get_input_descriptions(branch)
    }
    results = bodies[branch]([inputs[i] for i in range(len(inputs))])
    outputs = {
        description.output_index: results[description.body_value_index]
        for description in node.get_output_descriptions(branch)
    }
    return [outputs[i] for i in range(node.get_output_size())]


def run_iterations(node: Any, bodies: Sequence[Body], read: Sequence[Lanes]) -> list[Lanes]:
    """The results of a Loop or TensorIterator."""
    (body,) = bodies
    is_loop = node.get_type_name() == "Loop"
    counter, condition = node.get_special_body_ports() if is_loop else (-1, -1)
    inputs = node.get_input_descriptions()
    outputs = node.get_output_descriptions()
    carried: dict[int, Lanes] = {input_.body_parameter_index: read[input_.input_index] for input_ in inputs}
    sliced = [input_ for input_ in inputs if isinstance(input_, SliceInputDescription)]
    limit = int(to_array(read[0][0]).reshape(-1)[0]) if is_loop else -1
    slices = {item.body_parameter_index: _slices(item, read[item.input_index]) for item in sliced}
    if slices:
        count = min(len(slice_) for slice_ in slices.values())
        limit = count if limit < 0 else min(limit, count)
    going = not is_loop or bool(to_array(read[1][0]).reshape(-1)[0])
    concatenated: dict[int, list[Lanes]] = {
        output.output_index: [] for output in outputs if isinstance(output, ConcatOutputDescription)
    }
    last: list[Lanes] = []
    done = 0
    while going and (limit < 0 or done < limit):
        body_inputs = dict(carried) | {i: pieces[done] for i, pieces in slices.items()}
        if counter >= 0:
            parameter = node.get_function().get_parameters()[counter]
            rank = parameter.get_partial_shape().rank
            shape = [1] * (rank.get_length() if rank.is_static else 0)
            body_inputs[counter] = (to_tensor(np.full(shape, done), parameter.get_element_type()),)
        last = body([body_inputs[i] for i in range(len(body_inputs))])
        for description in inputs:
            if isinstance(description, MergedInputDescription):
                carried[description.body_parameter_index] = last[description.body_value_index]
        for description in outputs:
            if isinstance(description, ConcatOutputDescription):
                concatenated[description.output_index].append(last[description.body_value_index])
        done += 1
        going = condition < 0 or bool(to_array(last[condition][0]).reshape(-1)[0])
    ordered = sorted(outputs, key=lambda output: output.output_index)
    return [_result(node, item, last, carried, inputs, concatenated) for item in ordered]


def _result(
    node: Node,
    output: Any,
    last: Sequence[Lanes],
    carried: dict[int, Lanes],
    inputs: Sequence[Any],
    concatenated: dict[int, list[Lanes]],
) -> Lanes:
    if isinstance(output, ConcatOutputDescription):
        pieces = concatenated[output.output_index]
        if output.stride < 0:
            pieces = pieces[::-1]
        if pieces:
            return _concatenated(pieces, output.axis)
    elif isinstance(output, BodyOutputDescription) and last:
        return last[output.body_value_index]
    for input_ in inputs:  # no iteration: what is carried stays as it was
        if isinstance(input_, MergedInputDescription) and input_.body_value_index == output.body_value_index:
            return carried[input_.body_parameter_index]
    shape = node.get_output_partial_shape(output.output_index)
    if isinstance(output, ConcatOutputDescription) and shape.rank.is_static and len(shape):
        shape[output.axis % len(shape)] = 0
    return (blank(node.get_output_element_type(output.output_index), shape),)


def _slices(description: Any, value: Lanes) -> list[Lanes]:
    axis, size = description.axis, max(int(description.part_size), 1)
    length = tuple(value[0].shape)[axis]
    starts = range(0, length - size + 1, size)
    ordered = reversed(starts) if description.stride < 0 else starts
    return [
        tuple(_of_storage(np.take(item.data, range(start, start + size), axis), item) for item in value)
        for start in ordered
    ]


def _concatenated(pieces: Sequence[Lanes], axis: int) -> Lanes:
    lanes = max(len(piece) for piece in pieces)
    joined = []
    for k in range(lanes):
        tensors = [piece[k] if len(piece) > 1 else piece[0] for piece in pieces]
        joined.append(_of_storage(np.concatenate([tensor.data for tensor in tensors], axis), tensors[0]))
    return tuple(joined)


def _of_storage(array: AnyArray, like: Tensor) -> Tensor:
    """A tensor of an array that has the storage of another one's type."""
    tensor = Tensor(like.get_element_type(), Shape(array.shape))
    if array.size:
        tensor.data[...] = array
    return tensor
