"""Cumulative sums, products, maxima and minima.

Paddle: `cumsum`, `cumprod`, `cummax`, `cummin`, `logcumsumexp`.
Semantics: `paddle/phi/kernels/cpu/cum_kernel.cc`, `cumprod_kernel.cc`, `cum_maxmin_kernel.cc`,
`paddle/phi/infermeta/unary.cc` (CumInferMeta, CumWithIndicesInferMeta).
Not supported: an axis that the program computes, except in `cumsum`.

OpenVINO has CumSum only. The others are prefix scans by doubling: after step s, element i holds the combination
of the elements i-2s+1 ... i, so that n elements take log2(n) steps; a loop where n is not known at conversion.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const_like, reshape
from paddle2ov.converters.graph.computed_axis import computed_axis, front_permutations
from paddle2ov.converters.graph.dims import dim_of, dim_vector, normalize_axis, rank_of, shape_of
from paddle2ov.converters.graph.exact import exact_greater_equal, exact_less_equal
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.converters.graph.selection import exact_select
from paddle2ov.graph.elementary import log1p_exp
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import static_dims
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

_MAX_STEPS = 31
"""Dimensions are below 2 to this power."""

State: TypeAlias = list[Output]
Combine: TypeAlias = Callable[[State, State], State]


def cumsum(node: NodeContext) -> NamedOutputs:
    """out[i] = x[0] + ... + x[i] along axis; without x[i] if exclusive, from the end if reverse."""
    is_computed = not node.is_known("axis")
    x, axis = _input_and_axis(node, 0 if is_computed else node.get_int("axis", -1))
    exclusive, reverse = node.get_bool("exclusive", False), node.get_bool("reverse", False)
    rank = rank_of(node, x)
    if rank == 0:
        return {"out": x}
    if is_computed and rank > 1:
        front, back = front_permutations(computed_axis(node, rank), rank)
        out = ops.transpose(ops.cum_sum(ops.transpose(x, front), ints(0), exclusive, reverse), back)
    else:
        out = ops.cum_sum(x, ops.constant(np.int64(axis)), exclusive, reverse)
    return {"out": _keep_single_element(x, out) if exclusive else out}


def logcumsumexp(node: NodeContext) -> NamedOutputs:
    """out[i] = log(exp(x[0]) + ... + exp(x[i])) along axis."""
    x, axis = _input_and_axis(node, node.get_int("axis", -1))
    exclusive, reverse = node.get_bool("exclusive", False), node.get_bool("reverse", False)
    if rank_of(node, x) == 0:
        return {"out": x}
    # Paddle starts from the lowest float, not from -inf: so its result is that where all elements so far are -inf.
    lowest = float(np.finfo(np.float32).min)
    raised = ops.select(ops.less(x, const_like(lowest, x)), const_like(lowest, x), x)

    def combine(before: State, after: State) -> State:
        gap = ops.negative(ops.abs(ops.subtract(before[0], after[0])))
        top = ops.maximum(before[0], after[0])
        return [ops.add(top, log1p_exp(gap)).output(0)]

    out = prefix_scan([raised.output(0)], axis, combine, reverse)[0]
    out = shift(out, axis, lowest, reverse) if exclusive else out
    return {"out": _keep_single_element(x, out)}


def cumprod(node: NodeContext) -> NamedOutputs:
    """out[i] = x[0] * ... * x[i] along `dim`; without x[i] if exclusive, from the end if reverse."""
    x, axis = _input_and_axis(node, node.get_int("dim"))
    if rank_of(node, x) == 0:
        return {"out": x}
    exclusive, reverse = node.get_bool("exclusive", False), node.get_bool("reverse", False)
    out = prefix_scan([x], axis, lambda before, after: [ops.multiply(before[0], after[0]).output(0)], reverse)[0]
    return {"out": shift(out, axis, 1, reverse) if exclusive else out}


def running_extreme(node: NodeContext) -> NamedOutputs:
    """out[i] = max(x[0], ..., x[i]), or min, along axis, and the last index that holds it; NaN is the extreme."""
    at_least = exact_greater_equal if node.op_type == "cummax" else exact_less_equal
    x, axis = _input_and_axis(node, node.get_int("axis", -1))
    dtype = node.get_dtype("dtype", Type.i64)
    rank = rank_of(node, x)
    if rank == 0:
        return {"out": x, "indices": cast_to(ops.constant(np.int64(0)), dtype)}
    is_real = x.get_element_type().is_real()

    def combine(before: State, after: State) -> State:
        takes = at_least(after[0], before[0])
        if is_real:
            # Neither comparison holds for a NaN: a new one is taken, an old one stays.
            takes = ops.logical_or(takes, ops.is_nan(after[0]))
        chosen = exact_select(takes, after[0], before[0]), ops.select(takes, after[1], before[1])
        return [item.output(0) for item in chosen]

    positions = ops.range(ints(0), dim_of(x, axis), ints(1), "i32")
    positions_along_axis = reshape(positions, [-1 if i == axis else 1 for i in range(rank)])
    out, indices = prefix_scan([x, ops.broadcast(positions_along_axis, shape_of(x)).output(0)], axis, combine, False)
    return {"out": out, "indices": cast_to(indices, dtype)}


def _input_and_axis(node: NodeContext, axis: int) -> tuple[Output, int]:
    x = node.get_input("x")
    if node.get_bool("flatten", False):
        x = reshape(x, [-1]).output(0)
    return x, normalize_axis(node, axis, rank_of(node, x))


def _keep_single_element(x: Output, out: Tensor) -> Tensor:
    # Paddle copies a tensor of one element, also where `exclusive` would put the start value there.
    dims = static_dims(x)
    if dims is not None:
        return x if math.prod(dims) == 1 else out
    single = ops.equal(ops.reduce_prod(shape_of(x), ints([0]), False), ints(1))
    return ops.select(single, x, out)


def prefix_scan(state: State, axis: int, combine: Combine, reverse: bool) -> State:
    """The prefix scan of `state` (one or more tensors of one shape) along axis, by an associative `combine`."""
    size = state[0].get_partial_shape()[axis]
    if size.is_static:
        step = 1
        while step < size.get_length():
            state = _doubling_step(state, axis, combine, reverse, ints([step]))
            step *= 2
        return state

    def double(_: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Output], Node]:
        *tensors, step = state
        doubled = ops.multiply(step, ints([2])).output(0)
        again = reshape(ops.less(doubled, invariants[0]), [])
        return [*_doubling_step(tensors, axis, combine, reverse, step), doubled], again

    length = dim_vector(state[0], [axis])
    is_long = ops.convert(ops.greater(length, ints([1])), Type.i64)
    most = reshape(ops.multiply(is_long, ints([_MAX_STEPS])), [])
    return loop(most, [*state, ints([1])], [length], double)[: len(state)]


def _doubling_step(state: State, axis: int, combine: Combine, reverse: bool, step: Tensor) -> State:
    back = ops.negative(step)
    start, end = ints([0]), ints([OPEN_END])
    head = [slice_along(tensor, start, back, axis).output(0) for tensor in state]
    tail = [slice_along(tensor, step, end, axis).output(0) for tensor in state]
    if reverse:
        kept = [slice_along(tensor, back, end, axis).output(0) for tensor in state]
        return [ops.concat([a, b], axis).output(0) for a, b in zip(combine(tail, head), kept, strict=True)]
    kept = [slice_along(tensor, start, step, axis).output(0) for tensor in state]
    return [ops.concat([a, b], axis).output(0) for a, b in zip(kept, combine(head, tail), strict=True)]


def shift(x: Output, axis: int, start: float, reverse: bool) -> Output:
    """x shifted by one along axis (to the front if reverse), with `start` as the new element."""
    first, last, end = ints([0]), ints([-1]), ints([OPEN_END])
    edge = slice_along(x, first, ints([1]), axis)
    # A slice, so that an empty x stays empty.
    fill = ops.broadcast(const_like(start, x), shape_of(edge))
    if reverse:
        return ops.concat([slice_along(x, ints([1]), end, axis), fill], axis).output(0)
    return ops.concat([fill, slice_along(x, first, last, axis)], axis).output(0)
