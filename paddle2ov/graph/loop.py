"""How a loop gets its body and what enters it, in a time that grows with the body and not with its square."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from openvino import Model, Node, Output
from openvino.op import Parameter, Result

from paddle2ov.graph.opset import ops


def build_loop(
    rounds: Output,
    begins: Output,
    body: Model,
    ports: Sequence[int],
    carried: Sequence[tuple[Parameter, Output, Result]],
    held: Sequence[tuple[Parameter, Output]],
    joined: Sequence[Result] = (),
    sliced: Sequence[tuple[Parameter, Output]] = (),
    axis: int = 0,
) -> Node:
    """A Loop; its outputs are the last value of each carried result, and then the joined ones.

    OpenVINO checks the whole body at each input and output that a loop is given. Here a stand-in is checked, with the
    same inputs and results and nothing between, until all are given.

    Args:
        rounds: how many at most, 0-D; -1 for any number.
        begins: whether the first round is run, 0-D.
        body: one round.
        ports: the body's input that counts the rounds, and its result that says whether to go on.
        carried: (the body's input, what enters the first round, the result that enters the next).
        held: (the body's input, what enters every round).
        joined: results of the body whose values in all rounds are joined along an axis.
        sliced: (the body's input, what is taken apart along that axis, a part for each round).
        axis: along which parts are taken and joined.
    """
    of_result = {result.get_name(): parameter for parameter, _, result in carried}
    rows = {result.get_name() for result in joined}
    results = []
    for result in body.get_results():
        parameter = of_result.get(result.get_name())
        other = ops.constant(np.ones([1] * (axis + 1), bool)) if result.get_name() in rows else ops.constant(True)
        results.append(ops.result(parameter if parameter is not None else other))
    stand_ins = {result.get_name(): stand_in for result, stand_in in zip(body.get_results(), results, strict=True)}
    loop = ops.loop(rounds, begins)
    loop.set_function(Model(results, body.get_parameters()))
    loop.set_special_body_ports(list(ports))
    for parameter, enters, result in carried:
        loop.set_merged_input(parameter, enters, stand_ins[result.get_name()].output(0))
    for parameter, whole in sliced:
        loop.set_sliced_input(parameter, whole, 0, 1, 1, -1, axis)
    for parameter, enters in held:
        loop.set_invariant_input(parameter, enters)
    for _, _, result in carried:
        loop.get_iter_value(stand_ins[result.get_name()].output(0), -1)
    for result in joined:
        loop.get_concatenated_slices(stand_ins[result.get_name()].output(0), 0, 1, 1, -1, axis)
    loop.set_function(body)
    loop.validate_and_infer_types()
    return loop
