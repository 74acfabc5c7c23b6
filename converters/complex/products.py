"""Products of complex numbers along an axis, and the root of a sum of squares.

Complex forms: `reduce_prod`, `cumprod`, `frobenius_norm`.
Semantics: `paddle/phi/kernels/cpu/{prod,cumprod,frobenius_norm}_kernel.cc`.
Not supported: axes known only at run time.
"""

from __future__ import annotations

from openvino import Output

from paddle2ov.converters.complex.elementary import complex_multiply, multiply_pairs
from paddle2ov.converters.complex.functions import sqrt_parts
from paddle2ov.converters.cumulative import State, prefix_scan, shift
from paddle2ov.converters.graph.common import const_like
from paddle2ov.converters.graph.dims import index_range, normalize_axis, shape_of
from paddle2ov.converters.reduction import axes_of
from paddle2ov.graph.complex_pairs import make_complex, real_imag
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.graph.terms import Term
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def cumprod(node: NodeContext) -> NamedOutputs:
    """out[i] = x[0] * ... * x[i] along `dim`; without x[i] if exclusive, from the end if reverse."""
    state: State = list(real_imag(node.get_input("x")))
    rank = len(state[0].get_partial_shape())
    if rank == 0:
        return {"out": node.get_input("x")}
    axis = normalize_axis(node, node.get_int("dim"), rank)
    reverse = node.get_bool("reverse", False)
    state = prefix_scan(state, axis, _multiply_states, reverse)
    if node.get_bool("exclusive", False):
        state = [shift(part, axis, start, reverse) for part, start in zip(state, (1, 0), strict=True)]
    return {"out": make_complex(*state)}


def reduce_prod(node: NodeContext) -> NamedOutputs:
    """out = the product of x over axis."""
    x = node.get_input("x")
    state: State = list(real_imag(x))
    axes = axes_of(node, x)
    for axis in axes:
        # A leading 1 makes the product over an empty axis 1.
        dims = shape_of(state[0])
        indices = index_range(ints(len(state[0].get_partial_shape())))
        single = ops.select(ops.equal(indices, ints(axis)), ints(1), dims)
        first = [ops.broadcast(const_like(start, x), single) for start in (1, 0)]
        longer = [ops.concat([item, part], axis).output(0) for item, part in zip(first, state, strict=True)]
        last, end = ints([-1]), ints([OPEN_END])
        scanned = prefix_scan(longer, axis, _multiply_states, False)
        state = [slice_along(part, last, end, axis).output(0) for part in scanned]
    if axes and not node.get_bool("keepdim", False):
        state = [ops.squeeze(part, ints(axes)).output(0) for part in state]
    return {"out": make_complex(*state)}


def frobenius_norm(node: NodeContext) -> NamedOutputs:
    """out = the root of the sum of x · x over axis, a complex number."""
    x = node.get_input("x")
    axes, keepdim = axes_of(node, x), node.get_bool("keep_dim", False)
    squares = real_imag(complex_multiply(x, x))
    real, imag = sqrt_parts(*(Term(ops.reduce_sum(part, ints(axes), keepdim) if axes else part) for part in squares))
    return {"out": make_complex(real.value, imag.value)}


def _multiply_states(before: list[Output], after: list[Output]) -> State:
    (a, b), (c, d) = before, after
    return [part.output(0) for part in multiply_pairs((a, b), (c, d))]
