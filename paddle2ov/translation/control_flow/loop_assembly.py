"""OpenVINO's Loop around a translated body: what it carries, what enters and leaves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from openvino import Model, Node, Output, PartialShape
from openvino.op import Constant, Parameter, Result

from paddle2ov.graph.block_records import CarriedValue, LoopRecord
from paddle2ov.graph.constants import number_of
from paddle2ov.graph.consumers import key_of
from paddle2ov.graph.indexed_writes import drop_range_checks
from paddle2ov.graph.loop_counters import counter_ranges
from paddle2ov.graph.loop_hoisting import hoist
from paddle2ov.graph.loop_node import build_loop
from paddle2ov.graph.loop_shapes import erase_bounds, hide_dims, loses_dims, unlimited
from paddle2ov.graph.opaque_values import hide, is_first_set, opaque_one, runtime_zero
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.upstream import depends_on_data, upstream
from paddle2ov.graph.values import PlainValue
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.control_flow.block_values import as_condition, as_output, as_type, outer_value
from paddle2ov.translation.scope import Scope
from paddle2ov.translation.translator import Translator


class LoopBody(Struct):
    """A translated body whose parameters have shapes that hold in every iteration of the loop.

    Attributes:
        scope: the values inside.
        given: what the loop carries: name inside -> the initial value in the program.
        initial: the initial values as they are here, in types and ranks that hold in every iteration.
        shapes: the partial shapes of the carried values in any iteration; None for an array without elements, which is
            not carried.
        parameters: the body's parameters for the carried values.
        current: the parameter that is the number of the iteration, from 0 on.
        yielded: the values of the next iteration, and whatever else was requested.
    """

    scope: Scope
    given: Mapping[str, PlainValue]
    initial: list[PlainValue]
    shapes: list[PartialShape | None]
    parameters: list[Parameter]
    current: Parameter
    yielded: list[PlainValue]


class Loop:
    """A Loop to be built of a body; without a `trip_count`, only its condition ends it.

    Args:
        body: the body.
        scope: the scope around the loop.
        trip_count: the number of iterations.
        execution_condition: whether there is a first iteration.
        next_condition: whether there is a next one, a value of the body.
        concatenated: the body's results besides the carried ones, stacked over all iterations.

    Attributes:
        unread: the positions of the states that no iteration reads, of a loop that is known to run: their initial
            values do not matter.
    """

    def __init__(
        self,
        body: LoopBody,
        scope: Scope,
        trip_count: Output | None,
        execution_condition: Output,
        next_condition: PlainValue,
        concatenated: Sequence[Result] = (),
    ) -> None:
        self._body, self._scope, self._concatenated = body, scope, concatenated
        self._trip_count, self._execution_condition = trip_count, execution_condition
        self._next_condition = next_condition
        live = [k for k, shape in enumerate(body.shapes) if shape is not None]
        self._parameters = dict(zip(live, body.parameters, strict=True))
        self._after = {k: as_output(body.yielded[k]) for k in live}
        self._is_entered = runs_at_least_once(trip_count, execution_condition)
        self.unread: set[int] = set()
        if self._is_entered:
            ends = [value.get_node() for value in (*self._after.values(), as_output(next_condition))]
            read = {item.get_name() for item in upstream([*ends, *concatenated])}
            self.unread = {k for k, parameter in self._parameters.items() if parameter.get_name() not in read}

    def build(self, translator: Translator) -> tuple[list[PlainValue], list[Output]]:
        """Builds the Loop; returns the final values of what it carries, and the stacked results."""
        carried = [k for k in self._parameters if k not in self.unread]
        erased = {k: self._erased(k) for k in carried}
        results = {k: ops.result(self._after[k] if value is None else value) for k, value in erased.items()}
        final, places = self._final_results(carried)
        condition = as_condition(self._next_condition)
        if not self._is_entered:
            unread = _unread_parameters(self._body.parameters, [condition, *results.values(), *self._concatenated])
            condition = _with_reads_of(unread, condition, self._body.current)
        body_results = [ops.result(condition), *results.values(), *final, *self._concatenated]
        drop_range_checks(body_results, self._counters())
        invariant = self._invariants(body_results, translator)
        initial = {k: as_output(self._body.initial[k]) for k in carried}
        one = opaque_one([self._execution_condition, *initial.values(), *(value for _, value in invariant)])
        starts = [self._start(k, initial[k], one) for k in carried]
        parameters = [self._parameters[k] for k in carried]
        # The current iteration comes first: OpenVINO does not adjust its index when it removes a parameter before it.
        inputs = [self._body.current, *parameters, *(parameter for parameter, _ in invariant)]
        node = build_loop(
            unlimited(one) if self._trip_count is None else self._trip_count,
            _hidden(self._execution_condition, one) if not self._is_entered else self._execution_condition,
            Model(body_results, inputs),
            [0, 0],
            list(zip(parameters, starts, results.values(), strict=True)),
            invariant,
            self._concatenated,
            final=final,
        )
        states = [CarriedValue(self._parameters[k], initial[k], self._after[k], erased[k], results[k]) for k in carried]
        translator.records.append(LoopRecord(node, self._body.current, states, invariant, one, self._is_entered))
        outputs = node.outputs()
        ends = {k: outputs[place] for k, place in places.items()}
        return self._final_values(ends), outputs[len(outputs) - len(self._concatenated) :]

    def _erased(self, k: int) -> Output | None:
        """The next value of a state, if some of its dimensions must be hidden; None for any other."""
        parameter = self._parameters[k]
        value = self._after[k] = as_type(self._after[k], parameter.get_element_type())
        if value.get_partial_shape() == parameter.get_output_partial_shape(0):
            return None
        return erase_bounds(value, parameter.get_partial_shape(), self._body.current)

    def _final_results(self, carried: Sequence[int]) -> tuple[list[Result], dict[int, int]]:
        """Results for the states that no iteration reads, and the Loop's outputs for all states."""
        places = {k: place for place, k in enumerate(carried)}
        of_value = {key_of(self._after[k]): place for k, place in places.items()}
        final: list[Result] = []
        for k in sorted(self.unread):
            place = of_value.setdefault(key_of(self._after[k]), len(carried) + len(final))
            if place == len(carried) + len(final):
                final.append(ops.result(self._after[k]))
            places[k] = place
        return final, places

    def _counters(self) -> dict[str, tuple[int, int]]:
        """The ranges of the states that count iterations, by the names of their parameters."""
        states = [
            (parameter, number_of(as_output(self._body.initial[k])), self._after[k])
            for k, parameter in self._parameters.items()
        ]
        return counter_ranges(states, as_output(self._next_condition))

    def _invariants(self, body_results: Sequence[Node], translator: Translator) -> list[tuple[Parameter, Output]]:
        """What enters the body and is the same in every iteration; what can be computed before the loop is."""
        captured = self._body.scope.captures.items()
        entering = [(parameter, outer_value(self._scope, name)) for name, parameter in captured]
        moved = hoist(body_results, {item.get_name(): value for item, value in entering}, self._is_entered)
        if moved:
            entered = {key_of(value): parameter.output(0) for parameter, value in moved.items()}
            self._after = {k: entered.get(key_of(value), value) for k, value in self._after.items()}
            for record in translator.records:
                record.replace(entered)
        entering += moved.items()
        return [(parameter, value) for parameter, value in entering if parameter.output(0).get_target_inputs()]

    def _start(self, k: int, value: Output, one: Output | None) -> Output:
        """The initial value of a state; dimensions that are known only of that one are hidden."""
        shape = self._body.shapes[k]
        assert shape is not None  # None only for an array without elements
        if not loses_dims(value.get_partial_shape(), shape):
            return value  # `hide_dynamic_dims` looks at it once the model is whole
        return hide_dims(value, shape, one if one is not None else _one())

    def _final_values(self, ends: dict[int, Output]) -> list[PlainValue]:
        """The final values of what the loop carries.

        Of what no iteration changes that is the initial value: OpenVINO finds this, too, and renames what makes it.
        """
        body, values = self._body, list(self._body.initial)
        for k, output in ends.items():
            if body.yielded[k] != self._parameters[k].output(0):
                values[k] = output
        return values


@works_around("loop_known_not_to_run")
def _hidden(execution_condition: Output, one: Output | None) -> Output:
    """The condition, where sizes alone decide it, as a value that only the run knows.

    OpenVINO infers empty results of a loop that it knows not to run, as it may after `Model.reshape`; where one is a
    number, that fails.
    """
    if depends_on_data(execution_condition.get_node()):
        return execution_condition
    return hide(execution_condition, runtime_zero([] if one is None else [one])).output(0)


def _one() -> Output:
    """[1] that only the run knows, for a loop over constants."""
    return ops.reshape(ops.add(runtime_zero(), ints(1)), ints([1]), False).output(0)


def runs_at_least_once(trip_count: Output | None, execution_condition: Output) -> bool:
    """Whether it is known that a loop runs at least once."""
    known = [value.get_node() for value in (trip_count, execution_condition) if value is not None]
    return all(isinstance(item, Constant) and bool(item.data.reshape(-1)[0]) for item in known)


def _unread_parameters(parameters: Sequence[Parameter], results: Sequence[Output | Result]) -> list[Parameter]:
    """The parameters on whose elements no result depends, as far as is known without analysing inner bodies."""
    nodes = [result if isinstance(result, Node) else result.get_node() for result in results]
    read = {item.get_name() for item in upstream(nodes, _read_by)}
    return [parameter for parameter in parameters if parameter.get_name() not in read]


def _read_by(node: Node) -> list[Node]:
    """The nodes on whose elements a node depends."""
    # An inner If or Loop certainly reads its condition; whether it reads its other inputs is not analysed.
    count = {"If": 1, "Loop": 2, "ShapeOf": 0}.get(node.get_type_name())
    return [value.get_node() for value in node.input_values()[:count]]


@works_around("loop_without_iterations")
def _with_reads_of(parameters: Sequence[Parameter], condition: Output, current: Node) -> Output:
    """The same condition, computed so that it depends on these parameters.

    OpenVINO removes a parameter that the body does not read, and with it the initial value: if there is no iteration,
    the CPU plugin then leaves the loop's result uninitialised.
    """
    for parameter in parameters:
        entered = ops.greater_equal(current, ints(0))  # always true, but no pass can fold it
        always = ops.logical_or(entered, is_first_set(parameter.output(0), keep_dims=False))
        condition = ops.logical_and(condition, always).output(0)
    return condition
