"""Hides the unknown dimensions that enter branches and loops, but not those that a loop does not change.

Such a dimension, once it is known (`Model.reshape`), is known in the body and of the result. It is found as a fixed
point: each unknown dimension of the model's inputs gets a symbol, and a state's dimensions are assumed to keep theirs;
those that the next state is not inferred to have are dropped, until all that are left have them.

Branches do not see them, as OpenVINO leaves the one that known sizes rule out as an earlier `Model.reshape` made it. A
result of an If has the dimensions that are the same one of the entering values in both branches from outside.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TypeAlias

from openvino import Dimension, Model, Node, Output, PartialShape, Symbol, Type
from openvino.op import Parameter

from paddle2ov.graph.block_records import BlockRecord, CarriedValue, IfRecord, LoopRecord
from paddle2ov.graph.bodies import bodies_of
from paddle2ov.graph.consumers import consumers
from paddle2ov.graph.loop_invariants import input_ports
from paddle2ov.graph.loop_shapes import erase_bounds, hide_dims, sizes_of
from paddle2ov.graph.opaque_values import opaque_one
from paddle2ov.graph.opset import ops
from paddle2ov.passes.implied_dims import copy_dim, forget_symbols, infer_with_symbols
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.value_symbols import set_length_symbol, set_value_symbols

_Place: TypeAlias = tuple[Output, int]
"""A dimension: a value, and the axis."""
_MAX_ROUNDS = 16
"""After this many rounds no state of a loop is taken to keep a dimension."""


def hide_dynamic_dims(model: Model, records: Sequence[BlockRecord]) -> None:
    """Hides the dynamic dimensions of what enters the branches and loops of a model."""
    entering = (value for record in records for value in record.node.input_values())
    if all(value.get_partial_shape().is_static for value in entering):
        return
    tracer = _Tracer(records)
    tracer.trace(model)
    for name, record in tracer.reached.items():
        if isinstance(record, LoopRecord):
            _hide_of_loop(record, tracer.kept[name], name not in tracer.guarded)
        else:
            _hide_of_branches(record)
            _declare_common(record.node, tracer.common[name])
    model.validate_nodes_and_infer_types()


class _Tracer:
    """Infers shapes with symbols, in bodies as well.

    Attributes:
        reached: the records of the model's branches and loops, inner ones first.
        kept: Loop -> for each state the axes whose unknown dimension it does not change.
        common: If -> for each result axis -> the dimension of an entering value that both branches give it.
        guarded: loops that may not run, with a body that some sizes do not fit: it must not know them.
    """

    def __init__(self, records: Iterable[BlockRecord]) -> None:
        self._records = {record.node.get_name(): record for record in records}
        self.reached: dict[str, BlockRecord] = {}
        self.kept: dict[str, list[set[int]]] = {}
        self.common: dict[str, list[dict[int, _Place]]] = {}
        self.guarded: set[str] = set()

    def trace(self, model: Model) -> None:
        """Infers the shapes of all nodes from those of the parameters."""
        for node in model.get_ordered_ops():
            record = self._records.get(node.get_name())
            if record is None:
                infer_with_symbols(node)
                set_length_symbol(node)
            elif isinstance(record, LoopRecord):
                self._trace_loop(record)
            else:
                self._trace_branches(record)
            _name_unknown(node)
            if record is None:
                set_value_symbols(node)
            else:
                self.reached[node.get_name()] = record

    def _trace_loop(self, record: LoopRecord) -> None:
        name = record.node.get_name()
        # A loop around this one traces it again when it takes fewer dimensions for kept: then no more are kept here.
        kept = self.kept.get(name) or [_dynamic_axes(state) for state in record.states]
        for i in range(_MAX_ROUNDS):
            inner = _InnerSymbols(_Classes())
            if i == _MAX_ROUNDS - 1:
                kept = [set() for _ in kept]
            for parameter, value in record.invariant:
                inner.enter(parameter, value)
            for state, axes in zip(record.states, kept, strict=True):
                inner.enter(state.parameter, state.initial, axes)
            self.trace(bodies_of(record.node)[0])
            unchanged = [
                {axis for axis in axes if _is_same(state.parameter.output(0), state.after, axis)}
                for state, axes in zip(record.states, kept, strict=True)
            ]
            if unchanged == kept:
                break
            kept = unchanged
        if not record.is_entered and not self._fits_any(inner, bodies_of(record.node)[0]):
            self.guarded.add(name)
        self.kept[name] = kept
        for index, output in enumerate(record.node.outputs()):
            shape = forget_symbols(output.get_partial_shape())
            if index < len(kept) and shape.rank.is_static:
                shape = _with_symbols(shape, record.states[index].initial.get_partial_shape(), kept[index])
            record.node.set_output_type(index, output.get_element_type(), shape)

    def _trace_branches(self, record: IfRecord) -> None:
        classes, places = _Classes(), dict[int, _Place]()
        for symbol, value, axis in (dim for _, entering in record.entering for dim in _unknown_dims(entering)):
            places.setdefault(classes.number(symbol), (value, axis))
        outer: list[list[list[frozenset[int]]]] = []  # branch, output, axis -> the outer symbols that it has, by number
        for branch, body in enumerate(bodies_of(record.node)):
            inner = _InnerSymbols(classes)
            for pair, value in record.entering:
                if (parameter := pair[branch]) is not None:
                    inner.enter(parameter, value)
            self.trace(body)
            outer.append(inner.outer([result.input_value(0).get_partial_shape() for result in body.get_results()]))

        @cache  # many dimensions have the same symbols
        def first_common(*numbers: frozenset[int]) -> int | None:
            return min(frozenset.intersection(*numbers) & places.keys(), default=None)

        common: list[dict[int, _Place]] = []
        for output, *branches in zip(record.node.outputs(), *outer, strict=True):
            shape, same = forget_symbols(output.get_partial_shape()), dict[int, _Place]()
            if shape.rank.is_static and all(len(branch) == len(shape) for branch in branches):
                dims = [copy_dim(dim) for dim in shape]
                for axis, dim in enumerate(dims):
                    number = first_common(*(numbers[axis] for numbers in branches))
                    if dim.is_dynamic and number is not None:
                        dim.set_symbol(classes.symbols[number])
                        same[axis] = places[number]
                shape = PartialShape(dims)
            record.node.set_output_type(output.get_index(), output.get_element_type(), shape)
            common.append(same)
        self.common[record.node.get_name()] = common

    def _fits_any(self, inner: _InnerSymbols, body: Model) -> bool:
        """Whether a body fits any sizes of the unknown dimensions outside: different primes fit."""
        before = [parameter.get_partial_shape() for parameter in body.get_parameters()]
        try:
            for parameter, shape in inner.with_primes:
                parameter.set_partial_shape(shape)
            for node in body.get_ordered_ops():
                if node.get_name() not in self._records:
                    node.validate_and_infer_types()
        except RuntimeError:
            return False
        finally:
            for parameter, shape in zip(body.get_parameters(), before, strict=True):
                parameter.set_partial_shape(shape)
        return True


class _Classes:
    """Numbers symbols; equal ones have one number.

    Attributes:
        symbols: the first symbol of each number.
    """

    def __init__(self) -> None:
        self.symbols: list[Symbol] = []
        self._numbers: dict[Symbol, int] = {}  # equal symbols have one hash
        self._primes: list[int] = []
        self._further_primes = _primes()

    def number(self, symbol: Symbol) -> int:
        """The number of a symbol."""
        number = self._numbers.setdefault(symbol, len(self.symbols))
        if number == len(self.symbols):
            self.symbols.append(symbol)
        return number

    def prime(self, number: int) -> int:
        """A prime for a number, another one for each."""
        missing = max(0, number + 1 - len(self._primes))
        self._primes += itertools.islice(self._further_primes, missing)
        return self._primes[number]


class _InnerSymbols:
    """The symbols of a body's parameters: others than outside, as a branch or a loop may not run.

    Args:
        classes: numbers those outside.

    Attributes:
        with_primes: the parameters, with shapes where each symbol of the outside is another prime.
    """

    def __init__(self, classes: _Classes) -> None:
        self._classes = classes
        self._inside: dict[int, Symbol] = {}  # the number outside -> inside
        self.with_primes: list[tuple[Parameter, PartialShape]] = []

    def enter(self, parameter: Parameter, value: Output, axes: Iterable[int] | None = None) -> None:
        """Gives the dynamic dimensions of a parameter symbols, on some axes (None: all) those of the value outside."""
        shape, outside = parameter.get_partial_shape(), value.get_partial_shape()
        if shape.rank.is_dynamic:
            return
        dims, sizes = [copy_dim(dim) for dim in shape], [copy_dim(dim) for dim in shape]
        for axis, dim in enumerate(dims):
            if not dim.is_dynamic:
                continue
            if outside.rank.is_static and (axes is None or axis in axes) and outside[axis].has_symbol():
                number = self._classes.number(outside[axis].get_symbol())
                dim.set_symbol(self._inside.setdefault(number, Symbol()))
                sizes[axis] = Dimension(self._classes.prime(number))
            else:
                dim.set_symbol(Symbol())
        self.with_primes.append((parameter, PartialShape(sizes)))
        parameter.set_partial_shape(PartialShape(dims))
        parameter.validate_and_infer_types()

    def outer(self, shapes: Iterable[PartialShape]) -> list[list[frozenset[int]]]:
        """For each dimension of shapes inside the symbols that it has outside, by number."""
        numbers: dict[Symbol, list[int]] = {}  # anew: by now, some that differ outside may be equal inside
        for number, symbol in self._inside.items():
            numbers.setdefault(symbol, []).append(number)
        sets, none = {symbol: frozenset(equal) for symbol, equal in numbers.items()}, frozenset[int]()
        return [
            [sets.get(dim.get_symbol(), none) if dim.has_symbol() else none for dim in shape]
            if shape.rank.is_static
            else []
            for shape in shapes
        ]


def _primes() -> Iterator[int]:
    """Primes that are hardly a size of a network, in order."""
    return (n for n in itertools.count(10007, 2) if all(n % k for k in range(3, math.isqrt(n) + 1, 2)))


def _name_unknown(node: Node) -> None:
    """Gives the unknown dimensions of a node's results symbols where they have none."""
    for output in node.outputs():
        shape = output.get_partial_shape()
        if shape.is_static or shape.rank.is_dynamic or all(dim.is_static or dim.has_symbol() for dim in shape):
            continue
        for dim in shape:
            if dim.is_dynamic and not dim.has_symbol():
                dim.set_symbol(Symbol())
        node.set_output_type(output.get_index(), output.get_element_type(), shape)


def _unknown_dims(value: Output) -> Iterator[tuple[Symbol, Output, int]]:
    """The unknown dimensions of a value, each as its symbol, the value and the axis."""
    shape = value.get_partial_shape()
    for axis, dim in enumerate(shape if shape.rank.is_static else ()):
        if dim.is_dynamic and dim.has_symbol():
            yield dim.get_symbol(), value, axis


def _dynamic_axes(state: CarriedValue) -> set[int]:
    """The axes of a state that are dynamic outside and inside."""
    outside, inside = state.initial.get_partial_shape(), state.parameter.get_partial_shape()
    if outside.rank.is_dynamic or inside.rank.is_dynamic or len(outside) != len(inside):
        return set()
    return {axis for axis, dim in enumerate(inside) if dim.is_dynamic and outside[axis].is_dynamic}


def _may_change(state: CarriedValue, kept: set[int]) -> bool:
    """Whether a state has a dynamic dimension on another axis."""
    shape = state.parameter.get_partial_shape()
    return shape.rank.is_dynamic or any(dim.is_dynamic and axis not in kept for axis, dim in enumerate(shape))


def _is_same(before: Output, after: Output, axis: int) -> bool:
    shape, other = before.get_partial_shape(), after.get_partial_shape()
    if other.rank.is_dynamic or len(shape) != len(other) or not other[axis].has_symbol():
        return False
    return bool(shape[axis].get_symbol() == other[axis].get_symbol())


def _with_symbols(shape: PartialShape, other: PartialShape, axes: Iterable[int]) -> PartialShape:
    dims = [copy_dim(dim) for dim in shape]
    for axis in axes:
        if dims[axis].is_dynamic and other[axis].has_symbol():
            dims[axis].set_symbol(other[axis].get_symbol())
    return PartialShape(dims)


def _hide_of_loop(record: LoopRecord, kept: Sequence[set[int]], reveals: bool) -> None:
    """Hides dimensions that enter a loop; those that it does not change only until they are known, if it `reveals`."""
    ports = input_ports(record.node)
    for parameter, value in record.invariant:
        _enter(record.node, ports[parameter.get_name()], value, value.get_partial_shape(), record.one, reveals)
    for state, unchanged in zip(record.states, kept, strict=True):
        axes, shape = unchanged if reveals else set(), state.parameter.get_partial_shape()
        _enter(record.node, ports[state.parameter.get_name()], state.initial, shape, record.one, axes)
        if state.erased is not None:
            insert(consumers(state.erased), erase_bounds(state.after, shape, record.current, axes), record.node)
        elif reveals and not record.is_entered and _may_change(state, axes):
            # The size of the next state, once known, would be taken for that of the initial one.
            port = state.result.input(0)
            insert([port], erase_bounds(port.get_source_output(), shape, record.current, axes), record.node)


def _hide_of_branches(record: IfRecord) -> None:
    """Hides all of them: OpenVINO leaves a branch that known sizes rule out as an earlier `Model.reshape` made it."""
    values = [value for _, value in record.entering]
    one = opaque_one([record.node.input_value(0), *values])
    for index, value in enumerate(values, 1):
        _enter(record.node, index, value, value.get_partial_shape(), one, False)


def _declare_common(node: Node, common: Sequence[dict[int, _Place]]) -> None:
    """Gives the copies of an If's results the dimensions that both branches have from outside of it."""
    for output, places in zip(node.outputs(), common, strict=True):
        shapes = [
            consumer.get_node() for consumer in consumers(output) if consumer.get_node().get_type_name() == "ShapeOf"
        ]
        copied = [consumer.get_node() for shape in shapes for consumer in consumers(shape.output(0))] if places else []
        for sizes in copied:
            if sizes.get_type_name() != "Maximum":
                continue  # of a copy
            readers, dims = consumers(sizes.output(0)), []
            for axis in range(len(output.get_partial_shape())):
                value, index = places.get(axis, (output, axis))
                dims.append(ops.gather(sizes_of(value), ops.constant([index], Type.i64), ops.constant(0, Type.i64)))
            insert(readers, ops.concat(dims, 0).output(0), node)


def _enter(
    node: Node, index: int, value: Output, shape: PartialShape, one: Output | None, kept: bool | set[int]
) -> None:
    """Hides dimensions of an input, on the axes in `kept` (True: all) only until they are known."""
    if one is not None and shape.rank.is_static:
        axes = set(range(len(shape)) if kept is True else kept or ())
        insert([node.input(index)], hide_dims(value, shape, one, axes), node)
