"""Replaces short Fourier transforms of which few frequencies are used by products with constant matrices.

Fourier neural operators multiply the lowest frequencies by weights, and fill up the others with zeros. OpenVINO's
kernels compute all of them, and take longer than a product of up to some 128. Where all frequencies are used, as those
of speech, the transform stays: in bfloat16, a product would round the small ones away.

Given:
    RDFT, IRDFT, DFT or IDFT of float32, along one axis or several in a row, whose sizes and those of all axes behind
    them are known. Not all elements of its spectrum are read, or some are known to be 0. A spectrum may be multiplied
    by a number, rolled and sliced, and cut into its two parts, before something else reads it; one that is transformed
    back may be joined of two parts, each of which is rolled, joined with zeros, or scattered into zeros. There is a
    matrix of 2 MB at most for each axis, and, as OpenVINO's kernels are good at powers of two, at most 129 frequencies
    along an axis of such a size.
Result:
    A MatMul for each axis. The two parts are an axis before the one that is transformed next, so that nothing is
    transposed but what reads a spectrum as pairs, or gives it as pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from openvino import Node, Output, Type

from paddle2ov.graph.arrays import affords_copy
from paddle2ov.graph.constants import ints_of, number_of
from paddle2ov.graph.consumers import only_consumer
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.permutation import permute
from paddle2ov.graph.shapes import dims_of
from paddle2ov.passes.computed_constants import large_constant
from paddle2ov.passes.fourier.frequencies import Kept, Parts, Reading, chosen, parts_without_zeros, readings
from paddle2ov.passes.fourier.matrices import complex_to_complex, complex_to_real, real_to_complex
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import at, require, rule
from paddle2ov.typing import AnyArray

_MOST_FREQUENCIES = 129
_LARGEST_MATRIX = 1 << 19


class _Transform(Struct, frozen=True):
    """A transform, what reads its result, and what it is made of."""

    node: Node
    sizes: dict[int, int]
    """Axis -> how many numbers are transformed, in the order of the axes."""
    factor: float
    readings: list[Reading]
    source: Parts | None
    """Where the input is a spectrum, its parts, if it is joined of them."""
    inputs: Kept
    results: Kept
    """What elements there are along each axis."""


@rule("transforms")
@at("RDFT", "IRDFT", "DFT", "IDFT")
def transforms_to_products(graph: Graph, node: Node) -> Counts:
    """Multiplies by the matrix of a transform, for the frequencies that are used."""
    _multiply(_transform(node))
    return {"transforms": 1}


def _transform(node: Node) -> _Transform:
    kind = node.get_type_name()
    x, out = node.input_value(0), node.output(0)
    before, after, axes = dims_of(x), dims_of(out), ints_of(node.input_value(1))
    require(before and after and axes and out.get_element_type() == Type.f32, "the axes or the type do not fit")
    before, after, axes = before or [], after or [], axes or []
    rank = len(before) - (kind != "RDFT")
    axes = [axis % rank for axis in axes]
    first = min(axes)
    require(sorted(axes) == [*range(first, first + len(axes))], "the axes are not in a row")
    require(kind in ("DFT", "IDFT") or axes[-1] == max(axes), "the axis of real numbers is not the last one")
    require(all(before[first:]) and all(after[first:]), "a size is 0, or not known")
    sizes = {axis: (before if kind == "RDFT" else after)[axis] or 0 for axis in sorted(axes)}
    require(4 * max(sizes.values()) <= _LARGEST_MATRIX, "the matrix would be large")
    halved = {axis: size // 2 + 1 if axis == axes[-1] and "R" in kind else size for axis, size in sizes.items()}
    whole = {axis: [*range(size)] for axis, size in sizes.items()}
    spectrum = {axis: [*range(size)] for axis, size in halved.items()}
    inputs, results = (whole, spectrum) if kind == "RDFT" else (spectrum, whole)
    is_whole = all(before[axis] == len(inputs[axis]) > 0 for axis in axes)
    if kind == "RDFT" and node.get_input_size() > 2:
        is_whole = is_whole and ints_of(node.input_value(2)) == [sizes[axis] for axis in axes]
    require(is_whole, "the signal is cut or padded")
    factor, out = _factor(out)
    read = [Reading(out, None, results)] if kind == "IRDFT" else readings(out, results)
    source = None if kind == "RDFT" else parts_without_zeros(x, inputs)
    inputs = source.kept if source is not None else inputs
    results = {axis: [*dict.fromkeys(element for reading in read for element in reading.kept[axis])] for axis in sizes}
    used = [len(inputs[axis]) + len(results[axis]) for axis in sizes]
    require(used != [sizes[axis] + halved[axis] for axis in sizes], "all frequencies are used")
    for axis, size in sizes.items():
        frequencies = min(len(inputs[axis]), len(results[axis]))
        require(frequencies <= _MOST_FREQUENCIES or size & (size - 1), "there are many frequencies, of a power of two")
        require(4 * len(inputs[axis]) * len(results[axis]) <= _LARGEST_MATRIX, "the matrix would be large")
    elements = sum(4 * len(inputs[axis]) * len(results[axis]) for axis in sizes)
    require(affords_copy(4 * elements), "the matrices of all transforms would take too much memory")
    return _Transform(node, sizes, factor, read, source, inputs, results)


def _factor(out: Output) -> tuple[float, Output]:
    """The number that a tensor is multiplied by, and the product; 1 and the tensor where there is none."""
    reader = only_consumer(out)
    if reader is None or reader.get_type_name() != "Multiply":
        return 1.0, out
    numbers = [number_of(value) for value in reader.input_values()]
    factor = next((number for number in numbers if number is not None and math.isfinite(number)), None)
    same = dims_of(reader.output(0)) == dims_of(out)
    return (factor, reader.output(0)) if factor is not None and same else (1.0, out)


def _multiply(transform: _Transform) -> None:
    node, inputs, results = transform.node, transform.inputs, transform.results
    kind, axes = node.get_type_name(), list(transform.sizes)
    value = _input_of(transform, axes[0])
    for axis in axes[::-1] if kind == "RDFT" else axes:
        n, is_last = transform.sizes[axis], axis == axes[-1]
        if kind == "RDFT" and is_last:
            matrix, count = real_to_complex(n, results[axis]), 2
        elif kind == "IRDFT" and is_last:
            matrix, count = complex_to_real(n, inputs[axis]), 1
        else:
            matrix, count = complex_to_complex(n, results[axis], inputs[axis], kind[0] == "I"), 2
            if kind == "RDFT":
                matrix = matrix.transpose(0, 1, 3, 2)  # the axis is before the parts, and gets behind them
            elif not is_last:
                matrix = matrix.transpose(1, 0, 2, 3)
        value = _product(matrix * transform.factor if is_last else matrix, count, value, axis, axes[0])
    where = {"RDFT": axes[0], "IRDFT": None}.get(kind, axes[-1])
    for reading in transform.readings:
        replace(reading.output, _read(value, reading, results, where), node)


def _input_of(transform: _Transform, first: int) -> Output:
    """What is transformed; the parts of a spectrum are an axis before the first one that is transformed."""
    x, parts = transform.node.input_value(0), transform.source
    if transform.node.get_type_name() == "RDFT":
        return x
    if parts is not None:
        halves = [ops.unsqueeze(part, ints([first])) for part in (parts.real, parts.imaginary)]
        return ops.concat(halves, first).output(0)
    rank = len(dims_of(x) or [])
    return permute(x, [*range(first), rank - 1, *range(first, rank - 1)])


def _product(matrix: AnyArray, count: int, value: Output, axis: int, first: int) -> Output:
    """The tensor, of whose axes from `axis` on the last axes of the matrix become its first `count` axes."""
    dims = dims_of(value) or []
    made, summed = matrix.shape[:count], matrix.shape[count:]
    before, behind = [0 if i < first else dim or 0 for i, dim in enumerate(dims[:axis])], dims[axis + len(summed) :]
    rows = matrix.reshape(math.prod(made), math.prod(summed)).astype(np.float32)
    factor = large_constant(rows, Type.f32)
    if behind:
        value = _reshaped(value, [*before, rows.shape[1], math.prod(dim or 0 for dim in behind)])
        value = ops.matmul(factor, value, False, False).output(0)
    else:
        value = _reshaped(value, [*before, rows.shape[1]])
        value = ops.matmul(value, factor, False, True).output(0)
    return _reshaped(value, [*before, *made, *(dim or 0 for dim in behind)])


def _reshaped(value: Output, target: Sequence[int]) -> Output:
    """The tensor with other axes behind those whose target is 0, which stay."""
    dims = dims_of(value) or []
    same = len(dims) == len(target) and all(new in (0, dim) for new, dim in zip(target, dims, strict=True))
    return value if same else ops.reshape(value, ints(target), True).output(0)


def _read(value: Output, reading: Reading, there: Kept, where: int | None) -> Output:
    """What is read of the result, in which the parts are axis `where`; None where numbers are real."""
    is_spectrum = where is not None and reading.part is None
    if where is not None and reading.part is not None:
        value = ops.gather(value, ints(reading.part), ints(where)).output(0)
    for axis, wanted in reading.kept.items():
        value = chosen(value, there[axis], wanted, axis + (is_spectrum and axis >= (where or 0)))
    rank = len(dims_of(value) or [])
    return permute(value, [*(i for i in range(rank) if i != where), where or 0]) if is_spectrum else value
