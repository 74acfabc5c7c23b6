"""Loops that a converter builds: a step that is repeated, or one for each slice of a tensor (ONNX's Loop and Scan)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import TypeAlias

import numpy as np
from openvino import Model, Node, Output, Type
from openvino.op import Constant, Parameter

from paddle2ov.converters.graph.common import Tensor, const_like
from paddle2ov.converters.graph.dims import dim_vector
from paddle2ov.graph.bodies import bodies_of, mark_template
from paddle2ov.graph.constants import view_of
from paddle2ov.graph.consumers import consumers
from paddle2ov.graph.evaluation import evaluate
from paddle2ov.graph.guards import empty_constants
from paddle2ov.graph.loop_node import build_iterator, build_loop
from paddle2ov.graph.node_names import forget_names
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.graph.types import constant
from paddle2ov.graph.workarounds import works_around

Outputs: TypeAlias = Sequence[Output]
LoopStep: TypeAlias = Callable[[Tensor, Outputs, Outputs], tuple[Sequence[Tensor], Tensor | None]]
"""(iteration, state, invariants) -> the next state, and whether to go on (None: for all iterations)."""
SliceStep: TypeAlias = Callable[[Outputs, Outputs, Outputs], tuple[Sequence[Tensor], Sequence[Tensor]]]
"""(slices, state, invariants) -> the next state, and this step's slices of the results."""


def loop(
    trip_count: Tensor,
    state: Sequence[Tensor],
    invariants: Sequence[Tensor],
    step: LoopStep,
    template: Hashable = None,
) -> list[Output]:
    """`state` after at most `trip_count` (0-D) iterations of state, go_on = step(iteration, state, invariants).

    Shapes and types of the state stay as they are; `invariants` are read by every iteration and changed by none.

    Args:
        trip_count: the largest number of iterations.
        state: the values that iterations change.
        invariants: the values that they only read.
        step: builds an iteration.
        template: for a step of many nodes, what it depends on besides the shapes and types of its values. The body is
            then kept, and cloned if the same is needed again, in less than half of the time.
    """
    initial, constant = [output_of(value) for value in state], [output_of(value) for value in invariants]
    if template is None:
        body = _body(initial, constant, step)
    else:
        types = [(item.get_partial_shape().to_string(), str(item.get_element_type())) for item in initial + constant]
        body = _templates.body((template, len(initial), *types), lambda: _body(initial, constant, step))
    parameters, results = body.get_parameters()[1:], body.get_results()[1:]
    node = build_loop(
        output_of(trip_count),
        ops.constant(np.array(True)).output(0),
        body,
        [0, 0],
        list(zip(parameters[: len(initial)], initial, results, strict=True)),
        list(zip(parameters[len(initial) :], constant, strict=True)),
    )
    return list(node.outputs())


def _body(initial: Outputs, constant: Outputs, step: LoopStep) -> Model:
    """The body of a loop: (iteration, state, invariants) -> (whether to go on, state)."""
    carried, invariant = _parameters(initial), _parameters(constant)
    iteration = ops.parameter([], Type.i64)
    after, go_on = step(iteration.output(0), _outputs(carried), _outputs(invariant))
    results = [ops.result(value) for value in after]
    condition = ops.result(ops.constant(np.array(True)) if go_on is None else go_on)
    return Model([condition, *results], [iteration, *carried, *invariant])


class _Templates:
    """Bodies that were built before; the least recently used ones are dropped."""

    _MAX_KEPT = 16

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, Model] = OrderedDict()

    def body(self, key: Hashable, build: Callable[[], Model]) -> Model:
        """A clone of what `build` returns, with names that OpenVINO generates."""
        kept = self._kept.pop(key, None)
        if kept is None:
            kept = build()
            if empty_constants.seen:  # then nodes that are built next are checked in another way
                return kept
            share_integers(kept)
            mark_template(kept)
        self._kept[key] = kept
        while len(self._kept) > self._MAX_KEPT:
            self._kept.popitem(last=False)
        body = kept.clone()  # the first time too: a clone has names of tensors that the body does not have
        forget_names(body)
        return body


def share_integers(model: Model) -> None:
    """Merges equal small integer constants: axes, indices and limits, two fifths of the nodes of a loop.

    OpenVINO does not fuse a constant with several readers into them, but it does not fuse integer nodes anyway.
    """
    first: dict[Hashable, Output] = {}
    for node in model.get_ops():
        for body in bodies_of(node):
            share_integers(body)
        if not isinstance(node, Constant) or node.get_byte_size() > _MAX_SHARED_BYTES:
            continue
        kind = node.get_element_type()
        if kind.is_integral_number():
            key = str(kind), node.get_output_partial_shape(0).to_string(), node.get_data().tobytes()
            shared = first.setdefault(key, node.output(0))
            if shared.get_node().get_name() != node.get_name():
                for reader in consumers(node.output(0)):
                    reader.replace_source_output(shared)


_MAX_SHARED_BYTES = 64

_templates = _Templates()


@works_around("loop_over_no_slices")
def scan(
    axis: int,
    sliced: Sequence[Tensor],
    state: Sequence[Tensor],
    invariants: Sequence[Tensor],
    step: SliceStep,
    reverse: bool = False,
    steps: int = 5,
) -> list[Output]:
    """The results of step(slices, state, invariants), concatenated along `axis`.

    There is a step for each slice of `sliced` along `axis`, which keeps the axis with size 1; so do the slices of the
    results. Shapes and types of the state stay as they are. `reverse` begins at the last slice.

    Each iteration has as many `steps`, at most: it takes as long as a dozen small nodes. The last one goes on with
    slices of zeros: what it computes there is cut off.
    """
    inputs, initial, constant = ([output_of(value) for value in values] for values in (sliced, state, invariants))
    size, count = inputs[0].get_partial_shape()[axis], dim_vector(inputs[0], [axis])
    if size.is_static:  # in as few iterations, of as few steps
        iterations = max(-(-size.get_length() // steps), 1)
        steps = max(-(-size.get_length() // iterations), 1)
        missing: Node = ints([iterations * steps - size.get_length()])
    else:  # at least one iteration, which a TensorIterator has to have
        others = ops.divide(ops.maximum(ops.subtract(count, ints(1)), ints(0)), ints(steps))
        missing = ops.subtract(ops.multiply(ops.add(others, ints(1)), ints(steps)), count)
    inputs = [_filled(input_, axis, missing, reverse) for input_ in inputs]
    chunks, carried = _parameters(inputs, axis, steps), _parameters(initial)
    inside, entering = _enter(constant)
    slices = [ops.split(chunk, ints(axis), steps).outputs() for chunk in chunks]
    after: Outputs = _outputs(carried)
    step_results = []
    for now in list(zip(*slices, strict=True))[:: -1 if reverse else 1]:
        states, results = step(now, after, inside)
        after = [output_of(state) for state in states]
        step_results.append(results)
    joined = [ops.concat(list(ones)[:: -1 if reverse else 1], axis) for ones in zip(*step_results, strict=True)]
    outputs = build_iterator(
        list(zip(chunks, inputs, strict=True)),
        list(zip(carried, initial, after, strict=True)),
        entering,
        _outputs(joined),
        axis,
        -steps if reverse else steps,
    )
    if size.is_static and iterations * steps == size.get_length():
        return outputs
    begin, end = (missing, ints([OPEN_END])) if reverse else (ints([0]), count)
    return [slice_along(output, begin, end, axis).output(0) for output in outputs]


_MAX_COMPUTED = 2**24
"""How many elements a constant has at most that is computed for a body."""


def _enter(values: Sequence[Tensor]) -> tuple[list[Output], list[tuple[Parameter, Output]]]:
    """The values inside of a body, and its parameters, each with the value outside; those that are known are constants.

    OpenVINO's CPU plugin packs the weights of a product once where they are constants, else in every iteration.
    """
    inside: list[Output] = []
    entering: list[tuple[Parameter, Output]] = []
    for value in map(output_of, values):
        known = view_of(value)
        if known is None:
            known = evaluate(value, _MAX_COMPUTED, 0)
        if known is not None:
            inside.append(constant(known).output(0))
        else:
            (parameter,) = _parameters([value])
            entering.append((parameter, value))
            inside.append(parameter.output(0))
    return inside, entering


def _filled(x: Output, axis: int, missing: Node, in_front: bool) -> Output:
    """`x` with that many zeros more along `axis`, in front of the others or behind them."""
    rank = len(x.get_partial_shape())
    none, more = ints([0] * rank), ops.concat([ints([0] * axis), missing, ints([0] * (rank - axis - 1))], 0)
    begin, end = (more, none) if in_front else (none, more)
    return ops.pad(x, begin, end, "constant", const_like(0, x)).output(0)


def _parameters(values: Sequence[Output], axis: int | None = None, size: int = 1) -> list[Parameter]:
    """A parameter of a loop's body for each value; given an axis, for a part along it."""
    parameters = []
    for value in values:
        shape = value.get_partial_shape()
        if axis is not None:
            shape[axis] = size
        parameters.append(ops.parameter(shape, value.get_element_type()))
    return parameters


def _outputs(nodes: Sequence[Node]) -> list[Output]:
    return [node.output(0) for node in nodes]
