"""Computes convolutions of sequences, and the nodes around them, at rank 3, so that these can be fused.

Given:
    x → Unsqueeze → convolutions, poolings, reductions, pads, transposes and elementwise nodes with constants, each the
    only reader of the one before, and none along the new axes → Squeeze of these.
Result:
    The nodes compute on x.
"""

from __future__ import annotations

from typing import TypeAlias

from openvino import Node, Output

from paddle2ov.graph.constants import constant_of, ints_of
from paddle2ov.graph.consumers import consumers, only_consumer, revalidate, rewire
from paddle2ov.graph.node_kinds import BINARY, REDUCTIONS, UNARY
from paddle2ov.graph.opset import create, ints, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.passes.computed_constants import reshaped_constant
from paddle2ov.passes.constant_operands import perm_of
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.layout.permutable import MAX_CONSTANT_ELEMENTS
from paddle2ov.passes.replacement import inherit_name, name_after, replace
from paddle2ov.passes.rule import MatchFailureError, at, require, rule
from paddle2ov.typing import AnyArray, known

Axes: TypeAlias = frozenset[int]

_CONVOLUTIONS = {"Convolution": 0, "GroupConvolution": 1}
"""Node type -> offset of the axes of its filter from those of its data."""
_PASSED = {*_CONVOLUTIONS, *UNARY, *BINARY, *REDUCTIONS, "AvgPool", "MaxPool", "Pad", "PRelu", "Transpose"}


@rule("convolutions", "others")
@at("Squeeze", reads=(*_PASSED, "Unsqueeze"))
def squeeze_unit_axes(graph: Graph, squeeze: Node) -> Counts | None:
    """Computes what is between an Unsqueeze and a Squeeze without the axes that they add and remove."""
    nodes = _path(squeeze)
    if nodes is None:
        return None
    unsqueeze, *path, _ = nodes
    axes = axes_of(squeeze)
    for node in reversed(path):
        dims = dims_of(node.output(0))
        if axes is None or dims is None:
            raise MatchFailureError(_UNKNOWN_AXES)
        require(_ignores_axes(node, axes, len(dims)), "a node computes along the axes of size 1")
        if node.get_type_name() == "Transpose":
            perm = known(perm_of(node))
            axes = frozenset(perm[axis] for axis in axes)
    if axes is None:
        raise MatchFailureError(_UNKNOWN_AXES)
    require(axes_of(unsqueeze) == axes, "other axes are added than removed")
    value = unsqueeze.input_value(0)
    for node in path:
        value, axes = _without_unit_axes(node, value, axes)
    replace(squeeze.output(0), value)
    return {"convolutions" if any(node.get_type_name() in _CONVOLUTIONS for node in path) else "others": 1}


def _path(squeeze: Node) -> list[Node] | None:
    """The nodes from an Unsqueeze to a Squeeze, each the only reader of the one before."""
    path, output = [squeeze], squeeze.input_value(0)
    while True:
        source = output.get_node()
        path.append(source)
        if source.get_type_name() == "Unsqueeze":
            return None if len(path) == 2 and _is_result(squeeze) else path[::-1]
        before = _source(source) if source.get_type_name() in _PASSED else None
        if before is None or only_consumer(output) is None:
            return None
        output = before


_UNKNOWN_AXES = "the axes are computed, or the rank is not known"


def _is_result(node: Node) -> bool:
    """Whether only Results read a node: `alias` makes an Unsqueeze and a Squeeze before a Result, which must stay.

    Looking for another Result of the tensor, the reason for an alias, would take time in proportion to its readers.
    """
    return all(reader.get_node().get_type_name() == "Result" for reader in consumers(node.output(0)))


def axes_of(node: Node) -> Axes | None:
    """The axes that a Squeeze removes or an Unsqueeze adds; None where they are computed."""
    axes = ints_of(node.input_value(1)) if node.get_input_size() > 1 else None
    dims = dims_of(node.input_value(0))
    if not axes or dims is None:
        return None
    rank = len(dims) + (len(axes) if node.get_type_name() == "Unsqueeze" else 0)
    if not rank:
        return None
    return frozenset(axis % rank for axis in axes)


def _source(node: Node) -> Output | None:
    """The data input of a node; None for a node that cannot be part of a path."""
    if node.get_type_name() not in BINARY:
        return node.input_value(0) if node.get_input_size() else None
    first, second = node.input_values()
    return second if constant_of(first) is not None else first if constant_of(second) is not None else None


def _ignores_axes(node: Node, axes: Axes, rank: int) -> bool:
    """Whether a node computes the same on data without some axes of size 1."""
    kind, attributes = node.get_type_name(), node.get_attributes()
    if kind in BINARY:
        return attributes.get("auto_broadcast", "numpy") == "numpy" and all(
            array is None or _is_flat(array, axes, rank) for array in map(constant_of, node.input_values())
        )
    if kind == "Transpose":
        return perm_of(node) is not None
    if kind == "Pad":
        sides = ints_of(node.input_value(1)), ints_of(node.input_value(2))
        return all(side is not None and not any(side[axis] for axis in axes) for side in sides)
    if kind in REDUCTIONS:
        reduced = ints_of(node.input_value(1)) if attributes["keep_dims"] else None
        return reduced is not None and any(axis % rank not in axes for axis in reduced)
    if kind in _CONVOLUTIONS:
        dims, offset = dims_of(node.input_value(1)), _CONVOLUTIONS[kind]
        kernel = None if dims is None else [dims[axis + offset] for axis in range(2, rank)]
    elif kind in ("AvgPool", "MaxPool"):
        kernel = attributes["kernel"]
        if any(places.get_target_inputs() for places in node.outputs()[1:]):
            return False
    else:
        return kind in UNARY or is_slope(node, axes)
    pads = attributes["pads_begin"], attributes["pads_end"]
    spatial = [axis - 2 for axis in axes]
    return (
        kernel is not None
        and min(spatial) >= 0
        and len(spatial) < len(kernel)
        and all(kernel[axis] == 1 and not any(side[axis] for side in pads) for axis in spatial)
    )


def is_slope(node: Node, axes: Axes) -> bool:
    """Whether a node is a PRelu with one slope or one per channel, which axes after the channels do not affect."""
    dims = dims_of(node.input_value(1)) if node.get_type_name() == "PRelu" else None
    return dims is not None and (dims == [1] or (len(dims) == 1 and min(axes) >= 2))


def _is_flat(array: AnyArray, axes: Axes, rank: int) -> bool:
    missing = rank - array.ndim
    return array.size <= MAX_CONSTANT_ELEMENTS and all(
        axis < missing or array.shape[axis - missing] == 1 for axis in axes
    )


def _without_unit_axes(node: Node, value: Output, axes: Axes) -> tuple[Output, Axes]:
    """The node, or a copy of it, on data without these axes; and the axes that its output lacks."""
    kind = node.get_type_name()
    if kind in _CONVOLUTIONS or kind in ("AvgPool", "MaxPool"):
        return _flat_layer(node, value, axes), axes
    perm = perm_of(node) if kind == "Transpose" else None
    _drop_axes(node, value, axes)
    after = axes if perm is None else frozenset(i for i, axis in enumerate(perm) if axis in axes)
    return node.output(0), after


def _flat_layer(node: Node, value: Output, axes: Axes) -> Output:
    """A copy of a convolution or a pooling, on data without these axes."""
    kind, attributes, inputs = node.get_type_name(), node.get_attributes(), [value]
    if kind in _CONVOLUTIONS:
        inputs.append(_filter(node.input_value(1), frozenset(axis + _CONVOLUTIONS[kind] for axis in axes)))
    for key in attributes.keys() & {"strides", "pads_begin", "pads_end", "dilations", "kernel"}:
        attributes[key] = [step for axis, step in enumerate(attributes[key], 2) if axis not in axes]
    made = create(kind, inputs, attributes)
    inherit_name(made, node)
    return made.output(0)


def _drop_axes(node: Node, value: Output, axes: Axes) -> None:
    """Changes a node that has no windows, so that it computes on data without these axes."""
    kind, rank = node.get_type_name(), len(known(dims_of(node.output(0))))
    if kind in BINARY:
        _drop_axes_of_operands(node, value, axes, rank)
    else:
        rewire(node, 0, value)
    left = {axis: i for i, axis in enumerate(axis for axis in range(rank) if axis not in axes)}  # -> its new position
    if kind == "Pad":
        for i in (1, 2):
            pads = known(ints_of(node.input_value(i)))
            kept = [pad for axis, pad in enumerate(pads) if axis not in axes]
            rewire(node, i, ints(kept).output(0))
    elif kind in REDUCTIONS:
        reduced = [axis % rank for axis in known(ints_of(node.input_value(1)))]
        rewire(node, 1, ints([left[axis] for axis in reduced if axis in left]).output(0))
    elif kind == "Transpose":
        perm = known(perm_of(node))
        rewire(node, 1, ints([left[axis] for axis in perm if axis in left]).output(0))
    revalidate(node)


def _drop_axes_of_operands(node: Node, value: Output, axes: Axes, rank: int) -> None:
    for i, reader in enumerate(node.inputs()):
        array = constant_of(reader.get_source_output())
        if array is None:
            rewire(node, i, value)
        elif array.ndim:
            full = (1,) * (rank - array.ndim) + array.shape
            kept = [size for axis, size in enumerate(full) if axis not in axes]
            rewire(node, i, reshaped_constant(reader.get_source_output(), kept))


def _filter(filters: Output, axes: Axes) -> Output:
    node = filters.get_node()
    if node.get_type_name() == "Unsqueeze" and axes_of(node) == axes:
        return node.input_value(0)
    squeezed = ops.squeeze(filters, ints(sorted(axes)))
    name_after(squeezed, node, "flat")
    return squeezed.output(0)
