"""Constants after a node that OpenVINO fuses into it, and reads along another axis than they lie."""

from __future__ import annotations

import math

import numpy as np
from openvino import Input, Node, Output

from paddle2ov.graph.constants import constant_of, ints_of
from paddle2ov.graph.consumers import consumers, nearest, readers, revalidate, rewire
from paddle2ov.graph.node_kinds import BINARY, ELEMENTWISE, REDUCTIONS, UNARY
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of, least_dims
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.index import Index
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, at, require
from paddle2ov.typing import known
from paddle2ov.workarounds.remedies import hide

_LINEAR = ("Add", "Divide", "Multiply", "Subtract")
_FUSED = (*_LINEAR, "PRelu")
_PER_CHANNEL = BINARY | {"FakeQuantize", "PRelu"}
_PASSED = UNARY | {"Reshape", "Squeeze", "Unsqueeze"}
_SMALL = 2


def _following(node: Node) -> list[Node]:
    """The nearest nodes after one, through elementwise nodes, that OpenVINO fuses with their constants."""
    return nearest(readers(node), _FUSED, ELEMENTWISE, readers)


def _rows_after(product: Node) -> list[Input]:
    """The constants along the last axis alone in what follows a MatMul."""
    rows = []
    for port in (port for node in _following(product) for port in node.inputs()):
        array = constant_of(port.get_source_output())
        if array is not None and array.ndim and 1 < array.shape[-1] == array.size:
            rows.append(port)
    return rows


def _last_dim(index: Index, place: int) -> int | None:
    """The last dimension of the first output, if it is known; 0 where there is none, or no rank."""
    return (index.dims(place) or [0])[-1]


@at("MatMul", when=lambda index, place: _last_dim(index, place) in (None, _SMALL))
def of_small_product(graph: Graph, product: Node) -> list[Input] | None:
    """OpenVINO multiplies matrices of up to 2 x 2 numbers by a kernel of its own, chosen at run time.

    The kernel reads a fused constant of two columns along the third axis from the end: both columns get its first
    number. A product of rotations [N, 2, 2] with a scale for each coordinate scaled both alike.

    Given:
        MatMul of matrices [m, k] and [k, n], m and k of up to 2 or not known, n of 2 or not known → elementwise nodes →
        Add, Divide, Multiply, Subtract or PRelu with a constant [..., 1, 2].
    """
    first = dims_of(product.input_value(0))
    if first is not None and not all(dim is None or dim <= _SMALL for dim in first[-2:]):
        raise MatchFailureError("the matrices are larger")
    rows = [row for row in _rows_after(product) if row.get_partial_shape()[-1] == _SMALL]
    require(rows, "no constant of the columns follows")
    return rows


@at("MatMul", when=lambda index, place: _last_dim(index, place) is None)
def of_unknown_width(graph: Graph, product: Node) -> list[Input] | None:
    """OpenVINO assumes a width of 0 for a product of unknown width with a fused constant, and does not compile it.

    Given:
        MatMul of unknown width → elementwise nodes → Add, Divide, Multiply, Subtract or PRelu with a constant
        [..., 1, n], n above 1.
    """
    return _rows_after(product)


@at("MatMul", when=lambda index, place: len(index.dims(place) or ()) > 3)
def along_axis_1(graph: Graph, product: Node) -> list[tuple[Input, list[int]]] | None:
    """OpenVINO takes a constant along axis 1 of a product of rank 4 for one along the last axis.

    The result is wrong where both axes have the same size, and the model does not compile where they have not.

    Given:
        MatMul of rank 4 or more → elementwise nodes → Add, Divide, Multiply, Subtract or PRelu with a constant of shape
        [1, n, 1, ..., 1], or [n] for PRelu, with n above 1. One of the axes from axis 2 on is not known to be 1, or the
        size of another one is not known.
    """
    columns = [column for node in _following(product) for column in _columns(node)]
    if not columns:
        return None
    dims = known(dims_of(product))
    columns = [(port, shape) for port, shape in columns if shape or None in dims]
    require(columns, "all axes from the third on are 1")
    return columns


def _columns(node: Node) -> list[tuple[Input, list[int]]]:
    """The constants along axis 1, with the shapes to repeat them to, along another axis; [] where none is known."""
    dims = dims_of(node.output(0))
    if dims is None:
        return []
    axis = next((i for i in reversed(range(2, len(dims))) if (dims[i] or 1) > 1), 0)
    columns = []
    for i, port in enumerate(node.inputs()):
        is_slope = node.get_type_name() == "PRelu" and i == 1
        count = _length_along_axis_1(port.get_source_output(), len(dims), is_slope)
        if not count:
            continue
        shape = [1] * len(dims) if axis else []
        if axis:
            shape[1], shape[axis] = count, dims[axis] or 1
        columns.append((port, shape))
    return columns


def _length_along_axis_1(value: Output, rank: int, is_slope: bool) -> int:
    """The size of a constant along axis 1; 0 if another axis is above 1, or if it is not constant."""
    shape = dims_of(value)
    if not shape or None in shape or constant_of(value) is None:
        return 0
    count = math.prod(dim or 0 for dim in shape)
    aligned = shape if is_slope and len(shape) == 1 else shape[1 - rank :][:1] if len(shape) >= rank - 1 else [1]
    return count if count > 1 and aligned == [count] else 0


def repeat(graph: Graph, column: tuple[Input, list[int]]) -> None:
    """The constant is repeated along another axis, or hidden; OpenVINO reads it element by element."""
    port, shape = column
    if not shape:
        return hide(graph, port)
    upright = ops.reshape(port.get_source_output(), ints([shape[1], *[1] * (len(shape) - 2)]), False)
    insert([port], ops.broadcast(upright, ints(shape)).output(0), port.get_node())


def _may_be_pixel(index: Index, place: int) -> bool:
    dims = index.dims(place)
    return dims is not None and None in dims and not any(size and size > 1 for size in (dims[0], *dims[2:]))


@at("Convolution", "GroupConvolution", when=_may_be_pixel)
def of_one_pixel(graph: Graph, convolution: Node) -> list[Input] | None:
    """In bfloat16, without AMX, OpenVINO is wrong by a constant for each channel of a single image of one pixel.

    It is fused after the activation of a convolution with a bias, in a model of unknown sizes; a depthwise convolution
    fails when it runs, with a bias or without. A batch norm after relu(conv(x) + bias) was wrong.

    Given:
        Convolution → Add with a constant, or GroupConvolution → elementwise nodes → Add, Divide, Multiply, Subtract or
        PRelu with a constant [1, n, 1, ...], n above 1. The output may be a single pixel, and other sizes as well.
        Linear nodes directly after the convolution stay as they are: OpenVINO merges their constants.
    """
    if any(least > 1 for axis, least in enumerate(least_dims(convolution)) if axis != 1):
        return None
    index, place = graph.index, known(graph.index.place_of(convolution))
    ports: list[Input] = []
    is_biased = index.kinds[place] == "GroupConvolution"  # some of these are wrong without a bias as well
    is_linear = True
    while len(index.readers[place]) == 1:
        (place,) = index.readers[place]
        kind = index.kinds[place]
        if kind not in ELEMENTWISE:
            break
        constants = [port for port in index.nodes[place].inputs() if _is_along_one_axis(port)] if kind in _FUSED else []
        if constants and (not is_linear or kind == "PRelu"):
            ports += constants if is_biased else []
        elif constants:
            is_biased |= kind in ("Add", "Subtract")
        is_linear &= bool(constants) and kind in _LINEAR
    return ports


def _is_along_one_axis(port: Input) -> bool:
    array = constant_of(port.get_source_output())
    return array is not None and 1 < max(array.shape, default=0) == array.size


@at("Convolution", "GroupConvolution", read_by=("Add",), when=lambda index, place: (index.dims(place) or [0])[0] == 1)
def of_single_image(graph: Graph, convolution: Node) -> list[Node]:
    """OpenVINO adds to a convolution in its own memory, and fails where the sum has more images than the one it has.

    A convolution of constants, or of an input of batch 1, that was added to a batch of unknown size did not run.

    Given:
        Convolution or GroupConvolution of batch 1 → Add with a tensor of unknown batch.
    """
    sums = [dims_of(node.output(0)) for node in readers(convolution) if node.get_type_name() == "Add"]
    is_larger = any(dims is None or dims[0] is None for dims in sums)
    require(is_larger, "the sum has a known batch")
    return [convolution]


def forget_batch(graph: Graph, convolution: Node) -> None:
    """What reads the convolution reads it through a Reshape to a batch of 1 that each run computes."""
    read, batch = consumers(convolution.output(0)), ops.add(ints([1]), graph.runtime_zero(convolution))
    others = ints([0] * (len(known(dims_of(convolution))) - 1))
    insert(read, ops.reshape(convolution, ops.concat([batch, others], 0), True).output(0), convolution)


def _may_have_channels(index: Index, place: int) -> bool:
    dims = index.dims(place)
    return dims is None or None in dims


@at("Interpolate", "MVN", *sorted(REDUCTIONS), when=_may_have_channels)
def of_unknown_channels(graph: Graph, node: Node) -> list[Input] | None:
    """OpenVINO takes the unknown number of channels for that of a constant that it fuses.

    A run with one channel, to which the numbers of three would be broadcast, raises.

    Given:
        Interpolate, MVN or a reduction → elementwise nodes → Add, Divide, Multiply or Subtract with a constant of shape
        [1, ..., n, ..., 1], n above 1, where the dimension of the other operand is not known.
    """
    after = nearest(readers(node), _LINEAR, ELEMENTWISE, readers)
    ports = [port for item in after for port in item.inputs() if _is_along_unknown(port)]
    require(ports, "no constant along an axis of unknown size follows")
    return ports


def _is_along_unknown(port: Input) -> bool:
    if not _is_along_one_axis(port):
        return False
    shape = port.get_shape()
    axis = int(np.argmax(list(shape))) - len(shape)
    dims = dims_of(port.get_node().input_value(1 - port.get_index()))
    return dims is None or (len(dims) >= -axis and dims[axis] is None)


@at(*sorted(REDUCTIONS), when=lambda index, place: len(index.read_dims(place) or ()) == 3)
def of_reduced_sequence(graph: Graph, node: Node) -> list[tuple[Node, int]] | None:
    """OpenVINO indexes a constant for each channel wrongly that it fuses into a reduction of rank 3.

    After a mean over the last axis, batch norm is wrong from the second batch item on; after one over the first axis,
    for any batch size.

    Given:
        x [N, C, L] → Reduce over N, or over L where N is not 1 → elementwise nodes, one with a constant of several
        elements, possibly after a product with a constant from the left.
    """
    dims = dims_of(node.input_value(0))
    if dims is None or len(dims) != 3 or not _meets_channels(node):
        return None
    axes = ints_of(node.input_value(1))
    if axes is None or len(axes) != 1:
        raise MatchFailureError("it is not over one constant axis")
    axis = axes[0] % 3
    require(axis != 1, "it is over the channels")
    if dims[0] == 1 and axis == 2:
        raise MatchFailureError("there is one sequence only")
    return [(node, axis)]


def _meets_channels(reduction: Node) -> bool:
    """Whether an elementwise node with a constant of several elements follows.

    Among several readers as well: OpenVINO may merge the others with what they read.
    """
    pending = readers(reduction)
    while pending:
        node = pending.pop()
        kind = node.get_type_name()
        if kind in _PER_CHANNEL:
            constants = [array for side in node.input_values() if (array := constant_of(side)) is not None]
            if any(array.size > 1 for array in constants):
                return True
            pending += readers(node) if constants else []
        elif kind in _PASSED or (kind == "MatMul" and constant_of(node.input_value(0)) is not None):
            pending += readers(node)  # OpenVINO moves factors of columns before a product with constants from the left
    return False


def reduce_image(graph: Graph, site: tuple[Node, int]) -> None:
    """The reduction is of an image of height 1; over N, where C and L are known, of rows [N, C·L]."""
    node, axis = site
    reading, dims = consumers(node.output(0)), known(dims_of(node.input_value(0)))
    keeps, sizes = node.get_attributes()["keep_dims"], [size or 0 for size in dims[1:]]
    is_of_rows = axis == 0 and None not in dims[1:] and 0 not in dims
    if is_of_rows:
        wide = ops.reshape(node.input_value(0), ints([0, math.prod(sizes)]), True)
        axes = [0]
        node.set_attribute("keep_dims", True)
    else:
        wide = ops.unsqueeze(node.input_value(0), ints([2]))
        axes = [0, 2] if axis == 0 else [2, 3]
    insert([node.input(0)], wide.output(0), node)
    rewire(node, 1, ints(axes).output(0))
    revalidate(node)
    if is_of_rows:
        insert(reading, ops.reshape(node, ints([*[1] * keeps, *sizes]), False).output(0), node)
    elif keeps:
        insert(reading, ops.squeeze(node, ints([2])).output(0), node)
