"""Assignments to one index of a tensor, and what a loop's counter makes needless in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from openvino import Node, Output, Type

from paddle2ov.graph.constants import number_of
from paddle2ov.graph.loop_counters import source
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.upstream import upstream
from paddle2ov.graph.workarounds import works_around


@works_around("integer_select_in_float32")
def write_at(x: Output, values: Output, axis: int, index: Output | Node, size: int) -> Node:
    """x, with values written at one index [1] of an axis of known size; as in Paddle, nothing if it is out of range."""
    before_first = ops.convert(ops.less(index, ints(0)), Type.i64)
    counted = ops.add(index, ops.multiply(before_first, ints(size)))
    place = ops.maximum(ops.minimum(counted, ints(size - 1)), ints(0))
    # No Select, which rounds large integers.
    either = ops.concat([ops.gather(x, place, ints(axis)), values], axis)
    written = ops.gather(either, ops.convert(ops.equal(place, counted), Type.i64), ints(axis))
    return ops.scatter_update(x, place, written, ints(axis))


def drop_range_checks(nodes: Iterable[Node], ranges: Mapping[str, tuple[int, int]]) -> None:
    """Writes of `write_at` go straight to an index that is known to be in range.

    Args:
        nodes: the results of a body.
        ranges: the names of its integer parameters -> their least and greatest values.
    """
    if not ranges:
        return
    for node in upstream(nodes):
        if node.get_type_name() != "ScatterUpdate" or (parts := _parts(node)) is None:
            continue
        index, values, size = parts
        least, greatest = ranges.get(source(index).get_name(), (-1, -1))
        if least >= 0 and greatest < size:
            node.input(1).replace_source_output(index)
            node.input(2).replace_source_output(values)


def _parts(node: Node) -> tuple[Output, Output, int] | None:
    """The index, the values and the size of the axis of a `write_at`; None for any other ScatterUpdate."""
    place, written = node.input_value(1).get_node(), node.input_value(2).get_node()
    if place.get_type_name() != "Maximum" or written.get_type_name() != "Gather":
        return None
    least, either = place.input_value(0).get_node(), written.input_value(0).get_node()
    if least.get_type_name() != "Minimum" or either.get_type_name() != "Concat":
        return None
    counted, last = least.input_value(0).get_node(), number_of(least.input_value(1))
    old = either.input_value(0).get_node()
    if counted.get_type_name() != "Add" or last is None or old.get_type_name() != "Gather":
        return None
    return counted.input_value(0), either.input_value(1), int(last) + 1
