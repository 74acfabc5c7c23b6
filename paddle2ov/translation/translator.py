"""Walks a program's blocks and calls each operator's converter."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from openvino import Dimension, Node, Output, PartialShape, Type
from openvino.op import Parameter

from paddle2ov.errors import OpConversionError, Paddle2OVError, UnsupportedOpsError
from paddle2ov.graph.names import Names
from paddle2ov.graph.opset import ops
from paddle2ov.graph.provenance import mark, place_of
from paddle2ov.graph.types import OV_TYPES, EmptyArray, Known, Lengths, Packed, SequenceCount, Value
from paddle2ov.program.liveness import prune
from paddle2ov.program.model import Block, Operator, Program, Variable
from paddle2ov.program.signatures import Signature, snake_case
from paddle2ov.program.vocabulary import Vocabulary
from paddle2ov.translation.empty import declared_empty, emptied, is_empty, results_without_elements
from paddle2ov.translation.folding import are_small, fold
from paddle2ov.translation.node_context import NodeContext
from paddle2ov.translation.registry import Converter, Registry
from paddle2ov.translation.scope import Scope

Inputs = dict[str, list[Value | None]]
BlockConverter = Callable[["Translator", Operator, Scope], Sequence[Value | None]]


_COMPLEX = ("complex64", "complex128")
_UNNAMED = re.compile(r"input_\d+")


class Translator:
    """Turns the operators of a program into OpenVINO nodes.

    Args:
        program: what to translate.
        registry: where converters are looked up.
        vocabulary: the operators' signatures.
        control_flow: how operators that own blocks are translated.
        used: the variables that anything reads; translating inner blocks adds to it.
        progress: called with the number of operators done after each operator of the main block.
        marks: whether nodes are marked with the operator that they are made for.
    """

    def __init__(
        self,
        program: Program,
        registry: Registry,
        vocabulary: Vocabulary,
        control_flow: Mapping[str, BlockConverter],
        used: set[str],
        progress: Callable[[int], None] | None = None,
        marks: bool = False,
    ) -> None:
        self.program = program
        self.names = Names(program.parameters)
        self.variables: Mapping[str, Variable] = program.variables
        self._registry = registry
        self._vocabulary = vocabulary
        self._control_flow = control_flow
        self._used = used
        self._progress = progress
        self._marks = marks
        self._empty = declared_empty(program.variables)  # most are what old reshapes note of their input
        self._complex = {name for name, one in program.variables.items() if one.dtype in _COMPLEX}
        # A tensor without LoD is one sequence, unless the scope knows of an input with its lengths.
        self._fed: dict[str, SequenceCount] = {
            one.name: 1 if one.lod_level == 1 else None for one in program.inputs if one.lod_level
        }
        self._any_sequences = bool(self._fed)  # most programs have none, and need not look for them

    def translate(self, block: Block, scope: Scope) -> None:
        """Translates the operators of `block` in order; their results are added to `scope`."""
        for done, operator in enumerate(block.operators, 1):
            self.translate_one(operator, scope)
            if self._progress is not None and scope._parent is None:
                self._progress(done)

    def translate_one(self, operator: Operator, scope: Scope) -> None:
        """Translates an operator; its results are added to `scope`."""
        try:
            if operator.blocks and operator.type in self._control_flow:
                self._bind_blocks(operator, self._control_flow[operator.type](self, operator, scope), scope)
            else:
                self._translate_operator(operator, scope)
        except Paddle2OVError:
            raise
        except Exception as error:
            raise OpConversionError(operator.place, _described(error)) from error

    def check(self, missing: Sequence[Operator]) -> None:
        """Refuses a program with operators that have no converter, all at once.

        Raises:
            UnsupportedOpsError: there are such.
        """
        if missing:
            raise UnsupportedOpsError([operator.place for operator in missing])

    def translate_inner(self, block: Block, wanted: Sequence[str], scope: Scope) -> None:
        """Translates what `wanted` needs of a block that a control-flow operator owns."""
        pruned, used = prune(block, wanted)
        self._used |= used
        self.translate(pruned, scope)

    def is_used(self, name: str) -> bool:
        """Whether anything in the program reads a variable."""
        return name in self._used

    def placeholder(self, name: str) -> Value:
        """A value for a variable that nothing has written yet: zeros of its declared type, unknown dimensions empty."""
        variable = self.variables.get(name)
        if variable is not None and variable.is_array:
            return EmptyArray()
        kind = OV_TYPES.get((variable.dtype if variable else None) or "float32", Type.f32)
        shape = [max(dim, 0) for dim in (variable.shape if variable and variable.shape else ())]
        if self._is_complex(name):
            shape.append(2)
        return ops.constant(0, kind).output(0) if not shape else _zeros(shape, kind)

    def _is_complex(self, name: str) -> bool:
        return name in self._complex

    def _translate_operator(self, operator: Operator, scope: Scope) -> None:
        converter = self._converter_of(operator)
        inputs = _inputs_of(operator, scope)
        signature = self._vocabulary.of_legacy(operator.type)
        if signature is not None:
            _refuse_unnamed(operator, signature)
        sequences = self._sequences_of(operator, signature, scope) if self._any_sequences else {}
        context = NodeContext(operator, inputs, self.variables, signature, self._used, sequences, bool(self._complex))
        if self._empty and any(is_empty(value) for values in inputs.values() for value in values):
            results = self._without_elements(converter, context, operator, inputs, signature)
        else:
            results = _named(_called(converter, context, operator), operator, signature)
        if not self._registry.is_extension(operator.type):
            context.refuse_what_passes_left()
        if self._marks:
            given = {one.get_node().get_name() for values in inputs.values() for one in values if _is_output(one)}
            mark(_outputs_of(results.values()), place_of(operator), given)
        if self._any_sequences or any(isinstance(one, Packed) for values in results.values() for one in values):
            self._any_sequences = True
            self._share_sequences(operator, results, sequences, scope)
            results = {port: [_unpacked(value) for value in values] for port, values in results.items()}
        if are_small(inputs):
            results = {port: [fold(value) for value in values] for port, values in results.items()}
        self._bind(operator, results, scope)

    def _converter_of(self, operator: Operator) -> Converter:
        converter = self._registry.get(operator.type)
        if converter is None:
            raise OpConversionError(operator.place, "there is no converter for this operator")
        if self._complex and not self._complex.isdisjoint((*operator.input_names(), *operator.output_names())):
            converter = self._registry.get_for_complex(operator.type)
            if converter is None:
                raise OpConversionError(operator.place, "complex numbers are not supported by this operator")
        return converter

    def _without_elements(
        self,
        converter: Converter,
        context: NodeContext,
        operator: Operator,
        inputs: Inputs,
        signature: Signature | None,
    ) -> dict[str, list[Any]]:
        """The results where an input has no elements: what is declared to have none either need not be computed."""
        declared = results_without_elements(operator, inputs, self.variables, self._used, self._empty) or {}
        try:
            given = _called(converter, context, operator)
        except Paddle2OVError:
            if not declared:
                raise
            given = declared
        results = _named(given, operator, signature)
        for port, values in results.items():
            instead = declared.get(port, [None] * len(values))
            results[port] = [emptied(value, instead[i]) for i, value in enumerate(values)]
        return results

    def _sequences_of(self, operator: Operator, signature: Signature | None, scope: Scope) -> dict[str, SequenceCount]:
        """The operator's inputs that hold sequences one after the other, in the order of its operands, and how many."""
        operands = signature.operands if signature is not None else ()
        ports = sorted(operator.inputs, key=lambda port: operands.index(port) if port in operands else len(operands))
        names = [name for port in ports for name in operator.inputs[port]]
        found = self._fed | scope.find_sequences(names)
        return {name: found[name] for name in names if name in found}

    def _share_sequences(
        self,
        operator: Operator,
        results: Mapping[str, Sequence[Any]],
        sequences: Mapping[str, SequenceCount],
        scope: Scope,
    ) -> None:
        for port, names in operator.outputs.items():
            for name, value in zip(names, results.get(port, ()), strict=False):
                if isinstance(value, Packed):
                    if value.count != 0:
                        scope.sequences[name] = value.count
                elif sequences and self._may_have_sequences(name):
                    scope.sequences[name] = next(iter(sequences.values()))

    def _may_have_sequences(self, name: str) -> bool:
        variable = self.variables.get(name)
        return variable is not None and bool(variable.lod_level)

    def _bind(self, operator: Operator, results: Mapping[str, Sequence[Any]], scope: Scope) -> None:
        for port, names in operator.outputs.items():
            values = results.get(port)
            if values is None:
                if any(name in self._used for name in names):
                    gave = ", ".join(map(str, results)) or "nothing"
                    raise OpConversionError(
                        operator.place,
                        f"its converter left out output '{port}', which the program uses; it gave {gave}",
                    )
                continue
            if len(values) != len(names):
                raise OpConversionError(
                    operator.place,
                    f"its converter gave {len(values)} values for output '{port}', which has {len(names)}",
                )
            for name, value in zip(names, values, strict=True):
                if name and name not in scope.values:  # it is there already where a cut provides it
                    scope.values[name] = _value(value, name, self.names)

    def _bind_blocks(self, operator: Operator, values: Sequence[Value | None], scope: Scope) -> None:
        if self._marks:
            mark(_outputs_of([values]), place_of(operator))
        for name, value in zip(operator.outputs["out"], values, strict=True):
            if name and value is not None:
                scope.values[name] = _value(value, name, self.names)


def input_parameter(variable: Variable, shape: PartialShape | None = None, kind: Type | None = None) -> Parameter:
    """The Parameter node for a fed variable, under Paddle's name."""
    if shape is None:
        shape = PartialShape([Dimension(dim) for dim in variable.shape]) if variable.shape is not None else None
        if shape is None:
            shape = PartialShape.dynamic()
        if (variable.dtype or "").startswith("complex"):
            shape = PartialShape([*shape, Dimension(2)])
    parameter = ops.parameter(shape, kind or OV_TYPES.get(variable.dtype or "float32", Type.f32), name=variable.name)
    parameter.output(0).set_names({variable.name})
    return parameter


def _inputs_of(operator: Operator, scope: Scope) -> Inputs:
    """The values that an operator reads, by port; None for one that the program leaves out."""
    inputs: Inputs = {}
    for port, names in operator.inputs.items():
        inputs[port] = values = []
        for name in names:
            value = scope.find(name) if name else None
            if value is None and name:
                raise OpConversionError(operator.place, f"input '{port}' reads '{name}', which nothing has written")
            values.append(value)
    return inputs


def _refuse_unnamed(operator: Operator, signature: Signature) -> None:
    """PIR passes inputs by position: one that the signature does not name is one that no converter asks for."""
    unknown = [port for port in operator.inputs if port not in signature.operands]
    if unknown and (unknown := [one for one in unknown if _UNNAMED.fullmatch(one) and any(operator.inputs[one])]):
        raise OpConversionError(
            operator.place,
            f"the program passes {len(unknown)} input(s) more than its signature names "
            f"({', '.join(signature.operands) or 'none'})",
        )


def _called(converter: Converter, context: NodeContext, operator: Operator) -> Any:
    try:
        return converter(context)
    except Paddle2OVError:
        raise
    except Exception as error:  # a converter is foreign code here: whatever it raises gets the operator's place
        asked = f" (attributes: {asked})" if (asked := context.attributes_asked()) else ""
        raise OpConversionError(operator.place, _described(error) + asked) from error


def _zeros(shape: Sequence[int], kind: Type) -> Output:
    return ops.broadcast(ops.constant(0, kind), ops.constant(list(shape), Type.i64)).output(0)


def _unpacked(value: Any) -> Any:
    return value.value if isinstance(value, Packed) else value


# Tuples, and a dict before any Mapping: what every result of every operator is asked must be cheap to ask.
_KNOWN = (Known, EmptyArray)
_MAPPINGS = (dict, Mapping)
_SINGLE = (Output, Node, Known, EmptyArray, Packed)


def _is_output(value: Any) -> TypeGuard[Output]:
    return isinstance(value, Output)


def _outputs_of(results: Iterable[Iterable[Any]]) -> Iterator[Output]:
    """What an operator's results are computed by, their lengths included."""
    for values in results:
        for value in values:
            parts = [value.value, value.count] if isinstance(value, Packed) else [value]
            for part in parts:
                one = part.output if isinstance(part, Lengths) else part
                if isinstance(one, Node):
                    yield from one.outputs()
                elif isinstance(one, Output):
                    yield one


def _value(value: Any, name: str, names: Names) -> Value:
    if isinstance(value, _KNOWN):
        return value
    output = value.output(0) if isinstance(value, Node) else value
    if not isinstance(output, Output):
        raise TypeError(f"its converter gave {output!r} for '{name}', which is no OpenVINO node or output")
    node = output.get_node()
    # A converter may hand an input on as its result (`assign`, `dropout`): that node has its name already.
    if node.get_friendly_name() == node.get_name() and node.get_type_name() not in ("Parameter", "Constant"):
        # No tensor name: on compilation those of fused nodes end up on the model's results, beside their own.
        names.give(node, name)
    return output


def _named(results: Any, operator: Operator, signature: Signature | None) -> dict[str, list[Any]]:
    if not isinstance(results, _MAPPINGS):
        if not isinstance(results, (*_SINGLE, list, tuple)):
            raise TypeError(f"its converter gave {results!r}; a mapping of output names to nodes is expected")
        values = [results] if isinstance(results, _SINGLE) else list(results)  # results in order
        results = dict(zip(operator.outputs, values, strict=False))
    named = {}
    for port, value in results.items():
        canonical = port
        if port not in operator.outputs:
            canonical = signature.canonical(port) if signature is not None else snake_case(port)
        many = not isinstance(value, _SINGLE) and isinstance(value, Iterable)
        named[canonical] = list(value) if many else [value]
    return named


def _described(error: Exception) -> str:
    """What went wrong where nobody foresaw it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    useful = [line for line in lines if not line.startswith(("Exception from", "Check '"))]
    return f"{type(error).__name__}: {' '.join((useful or lines)[:3]) or 'no message'}"


__all__ = ["Converter", "Translator", "input_parameter"]
