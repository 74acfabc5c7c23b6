"""Values that no pass of OpenVINO can fold to constants."""

from __future__ import annotations

from collections.abc import Sequence

from openvino import Node, Output, Type
from openvino.op import Constant

from paddle2ov.graph.quick_nodes import plain
from paddle2ov.graph.shapes import are_few
from paddle2ov.graph.upstream import data_sources, depends_on_data, upstream
from paddle2ov.graph.workarounds import works_around

_UPSTREAM = 200


def runtime_zero(inputs: Sequence[Output] = ()) -> Node:
    """An int64 0 of rank 0 that is computed only at run time.

    It is computed from the first of `inputs` that depends on input data. If there is none, it comes from a random
    number, which OpenVINO's CPU plugin does not fold, through a Bucketize, which OpenVINO does not evaluate before.
    """
    one, axis = opaque_one(inputs), plain.constant([0], Type.i64)
    if one is not None:
        return plain.squeeze(plain.subtract(one, plain.constant([1], Type.i64)), axis)
    shape, least, most = plain.constant([1], Type.i64), plain.constant(0, Type.f32), plain.constant(1, Type.f32)
    below_one = plain.random_uniform(shape, least, most, "f32")  # of one dimension: a scalar is never written
    return plain.squeeze(plain.bucketize(below_one, plain.constant([1], Type.f32), "i64"), axis)


def hide(value: Output, zero: Node) -> Node:
    """A copy of a tensor that OpenVINO does not recognise as constant; `zero` is the result of `runtime_zero`."""
    axis = plain.constant(0, Type.i64)
    return plain.gather(plain.unsqueeze(value, axis), zero, axis)


def is_hidden(value: Output) -> bool:
    """Whether a tensor is such a copy."""
    kinds, node = [], value.get_node()
    for port in (1, 0, 0):
        kinds.append(node.get_type_name())
        node = node.input_value(port).get_node() if node.get_input_size() > port else node
    return kinds == ["Gather", "Squeeze", "Subtract"] or kinds == ["Gather", "Squeeze", "Bucketize"]


def hide_sizes(value: Output) -> Output:
    """A copy, without bounds for OpenVINO, of a small tensor that is computed from shapes alone; any other as it is."""
    if not are_few(value):
        return value
    sized: Output | None = None
    for visited, node in enumerate(upstream([value.get_node()], data_sources)):
        if isinstance(node, Constant):
            continue
        if node.get_type_name() == "ShapeOf":
            sized = node.input_value(0)
        elif visited > _UPSTREAM or not node.get_input_size():
            return value  # it depends on an input, or is likely to
    return value if sized is None else hide(value, runtime_zero([sized])).output(0)


def opaque_one(values: Sequence[Output]) -> Output | None:
    """[1] that no pass of OpenVINO can fold, computed from the first value that depends on input data, if any."""
    readable = (value for value in values if value.get_element_type() != Type.string)
    source = next((item for item in readable if depends_on_data(item.get_node())), None)
    if source is None:
        return None
    first = plain.convert(is_first_set(source, keep_dims=True), Type.i64)
    return plain.maximum(first, plain.constant(1, Type.i64)).output(0)


@works_around("boolean_of_second_result")
def is_first_set(value: Output, keep_dims: bool) -> Node:
    """Whether the first element is not 0, as a scalar or as [1]; false where there is none."""
    zero, step = plain.constant([0], Type.i64), plain.constant([1], Type.i64)
    is_flat = value.get_partial_shape().rank == 1
    flat = value if is_flat else plain.reshape(value, plain.constant([-1], Type.i64), False)
    first = plain.slice(flat, zero, step, step, zero)  # of a single element, OpenVINO eliminates it
    is_set = plain.not_equal(first, plain.constant(0, value.get_element_type()))
    return plain.reduce_logical_or(is_set, zero, keep_dims)
