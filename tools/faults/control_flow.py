"""Loops and branches."""

import numpy as np
from openvino import Model, PartialShape, Type, opset16 as ops

from tools.faults.prelude import Graph, loop_results, numbers, parameter
from tools.faults.register import fault


@fault()
def branches_of_other_ranks() -> Graph:
    """An If whose branches have results of different ranks does not compile."""
    choice, x = parameter(kind=Type.boolean), parameter(-1, -1)
    first, second = parameter(-1, -1), parameter(-1, -1)
    flat = ops.reshape(second, np.array([-1]), False)
    branch = ops.if_op(choice)
    branch.set_then_body(Model([first], [first]))
    branch.set_else_body(Model([flat], [second]))
    branch.set_input(x.output(0), first, second)
    out = branch.set_output(branch.get_function(0).get_results()[0], branch.get_function(1).get_results()[0])
    data = numbers(2, 3)
    runs = [[np.array(number), data] for number in (True, False)]
    return Model([out], [choice, x]), runs, [[data], [data.reshape(-1)]]


@fault()
def loop_states_that_change_places() -> Graph:
    """If a loop swaps two states, one is overwritten before the other one is read."""
    count, x, y = parameter(kind=Type.i64), parameter(2), parameter(2)
    left, right = parameter(2), parameter(2)
    outputs = loop_results(count, [(left, x, right), (right, y, left)])
    arrays = [np.array(3), numbers(2), numbers(2, seed=1)]
    return Model(outputs, [count, x, y]), [arrays], [[arrays[2], arrays[1]]]


@fault()
def loop_states_written_in_place() -> Graph:
    """If a loop swaps states that are written in place, one is overwritten before the other one is read."""
    x, y = parameter(3, 4), parameter(3, 4)
    left, right = parameter(3, 4), parameter(3, 4)
    row = np.full((1, 4), 7, np.float32)
    written = [ops.scatter_update(state, np.array([1]), row, np.int64(0)) for state in (right, left)]
    outputs = loop_results(ops.constant(np.int64(3)), [(left, x, written[0]), (right, y, written[1])])
    first, second = numbers(3, 4), numbers(3, 4, seed=1)
    want = [second.copy(), first.copy()]
    for array in want:
        array[1] = 7
    return Model(outputs, [x, y]), [[first, second]] * 2, [want] * 2


@fault()
def loop_without_iterations() -> Graph:
    """The result of a loop that does not run, and whose body does not read the state, is not initialized."""
    count, x = parameter(kind=Type.i64), parameter(1000)
    state = parameter(1000)
    current = parameter(kind=Type.i64)
    loop = ops.loop(count, ops.constant(np.array(True)))
    after = ops.broadcast(ops.convert(current, "f32"), np.array([1000]))
    results = [ops.result(ops.constant(np.array(True))), ops.result(after)]
    loop.set_function(Model(results, [current, state]))
    loop.set_special_body_ports([0, 0])
    loop.set_merged_input(state, x.output(0), results[1].output(0))
    data = numbers(1000)
    runs = [[np.array(0), data]] * 2
    return Model([loop.get_iter_value(results[1].output(0), -1)], [count, x]), runs, [[data]] * 2


@fault()
def loop_known_not_to_run() -> Graph:
    """The result of a loop whose condition is known to be false is inferred to be empty; a number is refused."""
    x, state = parameter(2, 3), parameter(2, 3)
    (out,) = loop_results(ops.constant(np.int64(-1)), [(state, x, ops.relu(state))], runs=False)
    data = numbers(2, 3)
    return Model([ops.relu(out)], [x]), [[data]], [[np.maximum(data, 0)]]


@fault()
def loop_over_slices_and_states() -> Graph:
    """A loop that adds a slice of its input to its state computes the sum in the memory of the slice."""
    x, start = parameter(4, 3), parameter(1, 3)
    part, state = parameter(1, 3), parameter(1, 3)
    loop = ops.loop(ops.constant(np.int64(4)), ops.constant(np.array(True)))
    results = [ops.result(ops.constant(np.array(True))), ops.result(part), ops.result(ops.add(part, state))]
    loop.set_function(Model(results, [part, state]))
    loop.set_special_body_ports([-1, 0])
    loop.set_sliced_input(part, x.output(0), 0, 1, 1, -1, 0)
    loop.set_merged_input(state, start.output(0), results[1].output(0))
    out = loop.get_concatenated_slices(results[2].output(0), 0, 1, 1, -1, 0)
    data, first = numbers(4, 3), numbers(1, 3, seed=1)
    want = data + np.concatenate([first, data[:-1]])
    return Model([out], [x, start]), [[data, first]] * 2, [[want]] * 2


@fault()
def loop_overwrites_what_softmax_reads() -> Graph:
    """A Softmax in a loop overwrites the tensor that every iteration reads: the next one reads its result."""
    x, start = parameter(2, 3), parameter(2, 3)
    kept, state = parameter(2, 3), parameter(2, 3)
    out = loop_results(ops.constant(np.int64(3)), [(state, start, ops.add(state, ops.softmax(kept, 1)))], [(kept, x)])
    data, first = numbers(2, 3), numbers(2, 3, seed=1)
    powers = np.exp(data)
    want = first + 3 * powers / powers.sum(1, keepdims=True)
    return Model(out, [x, start]), [[data, first]] * 2, [[want]] * 2


@fault()
def loop_overwrites_what_views_show() -> Graph:
    """A Swish of a view in a loop overwrites the tensor that every iteration reads."""
    x, start = parameter(2, 3), parameter(2, 3)
    kept, state = parameter(2, 3), parameter(2, 3)
    swish = ops.reduce_sum(ops.swish(ops.unsqueeze(kept, np.array([0]))), np.array([0]), False)
    out = loop_results(ops.constant(np.int64(3)), [(state, start, ops.add(state, swish))], [(kept, x)])
    data, first = numbers(2, 3), numbers(2, 3, seed=1)
    want = first + 3 * data / (1 + np.exp(-data))
    return Model(out, [x, start]), [[data, first]] * 2, [[want]] * 2


@fault()
def loop_of_growing_state() -> Graph:
    """A loop whose state grows does not return the initial state if it does not run."""
    count, x, state = parameter(kind=Type.i64), parameter(-1), parameter(-1)
    out = loop_results(count, [(state, x, ops.concat([state, np.zeros(2, np.float32)], 0))])
    data = numbers(1)
    return Model(out, [count, x]), [[np.array(0), data]], [[data]]


@fault()
def loop_over_no_slices() -> Graph:
    """The concatenated results of a loop over the slices of an empty tensor have the shape of the previous run."""
    x, part = parameter(-1, 3), parameter(1, 3)
    count = ops.gather(ops.shape_of(x), np.int64(0), np.int64(0))
    loop = ops.loop(count, ops.constant(np.array(True)))
    results = [ops.result(ops.constant(np.array(True))), ops.result(ops.relu(part))]
    loop.set_function(Model(results, [part]))
    loop.set_special_body_ports([-1, 0])
    loop.set_sliced_input(part, x.output(0), 0, 1, 1, -1, 0)
    shape = ops.shape_of(loop.get_concatenated_slices(results[1].output(0), 0, 1, 1, -1, 0))
    none = np.zeros((0, 3), np.float32)
    return Model([shape], [x]), [[numbers(2, 3)], [none]], [[np.array([2, 3])], [np.array([0, 3])]]


@fault()
def loop_state_of_another_rank() -> Graph:
    """A loop whose state turns from a scalar into a tensor does not compile."""
    count, x = parameter(kind=Type.i64), parameter()
    state = ops.parameter(PartialShape.dynamic())
    out = loop_results(count, [(state, x, ops.reshape(state, np.array([1]), False))])
    return Model(out, [count, x]), [[np.array(2), np.array(3, np.float32)]], [[np.array([3], np.float32)]]
