"""When Paddle considers two floats equal: `EqualFunctor` of `paddle/phi/kernels/funcs/compare_functors.h`."""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type
from openvino.op import Constant

from paddle2ov.converters.graph.common import const_like
from paddle2ov.converters.graph.exact import exact_equal
from paddle2ov.graph.constants import MAX_BYTES_OF_READERS
from paddle2ov.graph.opset import ops
from paddle2ov.graph.types import value_of
from paddle2ov.translation.node_context import NodeContext


def tolerance_of(node: NodeContext) -> float:
    """By how much less two floats must differ to be equal."""
    return 1e-8 if node.semantics.coarse_equality else 1e-15


def equal_within(x: Output, y: Output, tolerance: float) -> Node:
    """Whether x and y are the same or, as float32 or float64, differ by less than the tolerance."""
    same = exact_equal(x, y)
    if x.get_element_type() not in (Type.f32, Type.f64) or any(_is_coarse(value, tolerance) for value in (x, y)):
        return same
    return ops.logical_or(same, ops.less(ops.abs(ops.subtract(x, y)), const_like(tolerance, x)))  # infinities are same


def _is_coarse(x: Output, tolerance: float) -> bool:
    """Whether x is constant, and each number next to one of its elements further away than the tolerance."""
    node = x.get_node()
    if not isinstance(node, Constant) or node.get_byte_size() > MAX_BYTES_OF_READERS:
        return False
    return bool((np.spacing(np.abs(value_of(node).astype(np.float32)) / 2) >= tolerance).all())
