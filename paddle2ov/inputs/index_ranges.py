"""What the integers of an input may be: those that a model reads as indices are below the size that they index."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from openvino import Model, Node, Output, Type

from paddle2ov.compilation.running import compile_on_cpu, infer
from paddle2ov.graph.constants import constant_of, ints_of
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.upstream import data_sources, source_behind, upstream
from paddle2ov.program.union_find import UnionFind
from paddle2ov.typing import AnyArray

Range = tuple[int, int]
"""The smallest value, and what all are below."""
UNLIMITED = 2**31 - 1
"""Integers below it, and so all of 32 bits, become indices that fit, such as remainders."""

_ON_AXIS = {"Gather": 1, "GatherElements": 1, "ScatterUpdate": 1, "ScatterElementsUpdate": 1}
_BY_COORDINATES = {"GatherND": 1, "ScatterNDUpdate": 1}
_BY_ROW = {"EmbeddingBagOffsets": 1, "EmbeddingBagPacked": 1, "EmbeddingSegmentsSum": 1, "OneHot": 0}
_LENGTHS = {"RNNSequence": 2, "GRUSequence": 2, "LSTMSequence": 3, "ReverseSequence": 1}
_CLAMPS = frozenset(("Clamp", "Convert", "Maximum", "Minimum"))
_RESHAPING = ("Convert", "Reshape", "Squeeze", "Unsqueeze")
_MOST_NODES = 500


@dataclass(frozen=True, slots=True)
class _Watched:
    """Integers that must be in a range: where they are computed, from which inputs, and what they are below."""

    value: Output
    least: int
    below: AnyArray
    inputs: frozenset[str]


def index_ranges(
    model: Model, names: Sequence[str], shapes: Mapping[str, Sequence[int]], known: Mapping[str, AnyArray]
) -> dict[str, Range]:
    """The ranges of inputs of integers that the model reads as indices, or as lengths of sequences.

    Each is the widest that keeps all indices in their bounds, as the model computes them, while those of the inputs
    before it have theirs. The shapes of all inputs are static in the model; some inputs have their values already
    (`known`).
    """
    watched = [item for node in model.get_ordered_ops() for item in _watched(node, frozenset(names))]
    if not watched:
        return {}
    concerned = [name for name in names if any(name in item.inputs for item in watched)]
    results = [ops.result(ops.convert(item.value, Type.i64)) for item in watched]
    read = {node.get_name() for node in upstream([item.value.get_node() for item in watched])}
    part = Model(
        results, [parameter for parameter in model.get_parameters() if parameter.get_name() in read], "indices"
    )
    try:
        compiled = compile_on_cpu(part)
    except RuntimeError:
        return {}
    kinds = {name: port.get_element_type().to_dtype() for port in compiled.inputs for name in port.get_names()}
    rest = {name: np.zeros(tuple(shapes[name]), kind) for name, kind in kinds.items() if name in shapes}
    rest |= known

    def misfits(ranges: Mapping[str, Range]) -> set[str] | None:
        """The inputs from which integers out of their range are computed; None if the model does not run."""
        wrong = set[str]()
        for is_last in (False, True):
            numbers = {name: ranges[name][1] - 1 if is_last else ranges[name][0] for name in concerned}
            arrays = {name: np.full(tuple(shapes[name]), number, kinds[name]) for name, number in numbers.items()}
            try:
                outputs = infer(compiled, {**rest, **arrays})
            except RuntimeError:
                return None
            for item, result in zip(watched, outputs, strict=True):
                if (result.array < item.least).any() or (result.array >= item.below).any():
                    wrong |= item.inputs
        return wrong

    for low in (0, 1):
        ranges = dict.fromkeys(concerned, (low, low + 1))
        if misfits(ranges) == set():
            break
    else:
        return {}
    sizes = sorted({int(size) for item in watched for size in item.below.flat}, reverse=True)
    largest = {name: min(UNLIMITED, int(np.iinfo(kind).max)) for name, kind in kinds.items() if name in concerned}
    for names_together in _unrelated(concerned, watched):
        guesses = {name: [largest[name], *(size for size in sizes if size < largest[name])] for name in names_together}
        ranges |= _widest(guesses, ranges, misfits)
    return ranges


def _unrelated(names: Sequence[str], watched: Sequence[_Watched]) -> list[list[str]]:
    """The inputs in groups whose ranges do not depend on each other: no integers that are watched link two of one."""
    related = UnionFind[str]()
    for item in watched:
        first, *others = item.inputs
        for other in others:
            related.join(other, first)
    groups: list[list[str]] = []
    counts: Counter[str] = Counter()
    for name in names:
        place = counts[related.find(name)]
        counts[related.find(name)] += 1
        if place == len(groups):
            groups.append([])
        groups[place].append(name)
    return groups


def _widest(
    guesses: Mapping[str, Sequence[int]],
    ranges: Mapping[str, Range],
    misfits: Callable[[Mapping[str, Range]], set[str] | None],
) -> dict[str, Range]:
    """The widest ranges of inputs, searched for side by side: what is asked of one does not depend on another one.

    `guesses` are the likely ends of each, the largest first; between these the search halves what is left.
    """
    bounds = {name: (ranges[name][0] + 1, sizes[0] + 1) for name, sizes in guesses.items()}  # an end that fits, one not
    while True:
        asked: dict[str, int] = {}
        for name, (fits, beyond) in bounds.items():
            if fits + 1 < beyond:
                likely = (size for size in guesses[name] if fits < size < beyond)
                asked[name] = next(likely, (fits + beyond) // 2)
        if not asked:
            return {name: (ranges[name][0], fits) for name, (fits, _) in bounds.items()}
        tried = {name: (ranges[name][0], end) for name, end in asked.items()}
        wrong = misfits({**ranges, **tried})
        if wrong is None and len(asked) > 1:  # one of them keeps the model from running
            alone = {name: misfits({**ranges, name: range_}) for name, range_ in tried.items()}
            wrong = {name for name, others in alone.items() if others is None or name in others}
        for name, end in asked.items():
            fits, beyond = bounds[name]
            bounds[name] = (fits, end) if wrong is None or name in wrong else (end, beyond)


def _watched(node: Node, integers: frozenset[str]) -> Iterator[_Watched]:
    kind = node.get_type_name()
    if kind == "Less":
        yield from _watched_lengths(node, integers)
        return
    port = next((table[kind] for table in (_ON_AXIS, _BY_COORDINATES, _BY_ROW, _LENGTHS) if kind in table), None)
    if port is None or node.get_input_size() <= port:
        return
    value = node.input_value(port)
    below = _below(node, kind, value)
    while value.get_node().get_type_name() in _CLAMPS:  # the program's indices, of which converters make safe ones
        value = value.get_node().input_value(0)
    inputs = _sources(value, integers) if below is not None else None
    if below is not None and inputs:
        yield _Watched(value, 0 if kind not in _LENGTHS else 1, below, inputs)


def _watched_lengths(less: Node, integers: frozenset[str]) -> Iterator[_Watched]:
    """What positions 0, 1, 2, ... are compared with, to mask those after the end of a sequence."""
    positions, lengths = less.input_values()
    node, count = source_behind(positions, _RESHAPING), math.prod(dim or 0 for dim in dims_of(positions) or [0])
    constant = constant_of(node.output(0))
    is_counting = node.get_type_name() == "Range" or (
        constant is not None and np.array_equal(constant.reshape(-1), np.arange(count))
    )
    inputs = _sources(lengths, integers) if is_counting and count else None
    if inputs:
        yield _Watched(lengths, 1, np.array([count + 1]), inputs)


def _below(node: Node, kind: str, indices: Output) -> AnyArray | None:
    """What indices are below, for each or for each of the coordinates along the last axis."""
    dims = dims_of(node.input_value(0)) or []
    if kind in _LENGTHS:
        steps = dims[1:2] if kind != "ReverseSequence" else [dims[node.get_attributes()["seq_axis"]]]
        limits = [None if step is None else step + 1 for step in steps]
    elif kind in _BY_COORDINATES:
        batched = node.get_attributes().get("batch_dims", 0)
        width = (dims_of(indices) or [None])[-1]
        limits = dims[batched : batched + width] if width is not None else [None]
    elif kind == "OneHot":
        limits = [(dims_of(node) or [None])[node.get_attributes()["axis"]]]
    elif kind in _BY_ROW:
        limits = dims[:1]
    else:
        axis = _axis(node)
        limits = [dims[axis]] if axis is not None and -len(dims) <= axis < len(dims) else [None]
    return None if None in limits or not limits else np.array(limits)


def _axis(node: Node) -> int | None:
    if node.get_type_name() == "GatherElements":
        return int(node.get_attributes()["axis"])
    axis = ints_of(node.input_value(node.get_input_size() - 1))
    return axis[0] if axis else None


def _sources(value: Output, integers: frozenset[str]) -> frozenset[str] | None:
    """The inputs that integers are computed from; None if these are not inputs of integers alone, or too many nodes."""
    inputs = set()
    for count, node in enumerate(upstream([value.get_node()], data_sources)):
        kind = node.get_type_name()
        names = {node.get_friendly_name(), *node.output(0).get_names()} & integers if kind == "Parameter" else set()
        if count >= _MOST_NODES or kind in ("Loop", "If", "TensorIterator") or (kind == "Parameter" and not names):
            return None
        inputs |= names
    return frozenset(inputs)
