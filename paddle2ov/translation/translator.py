"""Walks a program's blocks and calls each operator's converter."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from openvino import Node, Output, PartialShape, Type
from openvino.op import Constant, Parameter

from paddle2ov.errors import OpConversionError, Paddle2OVError, UnsupportedOpsError, described
from paddle2ov.graph.block_records import BlockRecord
from paddle2ov.graph.guards import empty_constants
from paddle2ov.graph.node_names import Names
from paddle2ov.graph.opset import ops
from paddle2ov.graph.provenance import operator_id, set_operators
from paddle2ov.graph.types import COMPLEX_DTYPES, OV_TYPES
from paddle2ov.graph.values import (
    MARKS,
    NO_LOD,
    ComplexValue,
    ConstantValue,
    EmptyTensorArray,
    LoD,
    LoDTensor,
    PlainValue,
    SequenceLengths,
    Value,
    is_complex,
    mark_if_complex,
    unmarked,
)
from paddle2ov.program.budget import Budget, BudgetError
from paddle2ov.program.model import Block, Operator, Program, Variable
from paddle2ov.program.shown_values import ShownValues
from paddle2ov.program.signatures import Signature, snake_case
from paddle2ov.translation.complex_aware import ComplexAware
from paddle2ov.translation.empty import constant_if_empty, declared_empty, is_empty, results_without_elements
from paddle2ov.translation.folding import are_foldable, fold
from paddle2ov.translation.node_context import Converter, NodeContext
from paddle2ov.translation.onednn_attributes import ONEDNN
from paddle2ov.translation.registry import Registry
from paddle2ov.translation.scope import Scope
from paddle2ov.translation.undeclared_lod import undeclared_sequences
from paddle2ov.translation.unsupported import reason
from paddle2ov.typing import known

InputValues = dict[str, list[Value | None]]
"""The values that an operator reads, by port; None for one that the program leaves out."""
BlockConverter = Callable[["Translator", Operator, Scope], Mapping[str, Value]]
"""Translates an operator that owns blocks; returns its results by name, but for those that are not computed."""

Progress = Callable[[int, int], None]
"""Called with (operators done, operators in all)."""

_NO_COMPLEX = "complex numbers are not supported by this operator"
_UNNAMED = re.compile(r"input_\d+")
"""What the PIR reader calls operands beyond those that the signature names."""


class _Rule(Struct, frozen=True):
    """How operators of one type are translated.

    `of_real` is the converter if no value of the program is complex; `takes_complex`: whether it may be any other.
    """

    convert: Converter
    of_real: Converter
    takes_complex: bool
    is_extension: bool
    signature: Signature | None
    operands: frozenset[str]


class Translator:
    """Turns the operators of a program into OpenVINO nodes.

    Args:
        program: what to translate.
        registry: where converters are looked up.
        control_flow: how operators that own blocks are translated.
        used: the variables that anything reads, in all blocks.
        progress: called after each operator of the main block.
        provenance: whether nodes record the operator that they are made for.
        budget: what the program may take.
    """

    def __init__(
        self,
        program: Program,
        registry: Registry,
        control_flow: Mapping[str, BlockConverter],
        used: Set[str],
        progress: Progress | None,
        provenance: bool,
        budget: Budget,
    ) -> None:
        self.program = program
        self.names = Names(program.parameters)
        self.variables: Mapping[str, Variable] = program.variables
        self._registry = registry
        self._control_flow = control_flow
        self._used = used
        self._progress = progress
        self._provenance = provenance
        self._budget = budget
        self.records: list[BlockRecord] = []  # of the branches and loops that were built
        self._rules: dict[str, _Rule] = {}
        self._empty = declared_empty(program.variables)  # most of them are the `XShape` of old reshapes
        self._sequences = {name for name, variable in program.variables.items() if variable.lod_level}
        self._sequences |= undeclared_sequences(program)
        complex_names = {name for name, variable in program.variables.items() if variable.dtype in COMPLEX_DTYPES}
        self._marked = self._sequences | complex_names
        self._may_be_complex = bool(complex_names)

    def translate(self, block: Block, scope: Scope) -> None:
        """Translates the operators of `block` in order; their results are added to `scope`."""
        self._budget.charge("translations of operators", len(block.operators))
        for done, operator in enumerate(block.operators, 1):
            self.translate_one(operator, scope)
            if self._progress is not None and scope.parent is None:
                self._progress(done, len(block.operators))

    def translate_one(self, operator: Operator, scope: Scope) -> None:
        """Translates an operator; its results are added to `scope`."""
        try:
            if operator.blocks and operator.type in self._control_flow:
                self._bind_blocks(operator, self._control_flow[operator.type](self, operator, scope), scope)
            else:
                self._translate_operator(operator, scope)
        except BudgetError as error:
            raise OpConversionError(operator.place, str(error)) from error
        except Paddle2OVError:
            raise
        except Exception as error:
            raise OpConversionError(operator.place, described(error)) from error

    def refuse_missing(self, missing: Sequence[Operator]) -> None:
        """Refuses a program with operators that have no converter, naming all of them.

        Raises:
            UnsupportedOpsError: `missing` is not empty.
        """
        if missing:
            raise UnsupportedOpsError(
                [item.place for item in missing], {item.type: reason(item.type) for item in missing}
            )

    @cached_property
    def writers(self) -> dict[str, Operator]:
        """The operators of all blocks by the variables that they write."""
        return {name: operator for operator in self.program.block.walk() for name in operator.output_names()}

    @cached_property
    def shown(self) -> ShownValues:
        """Which variables show their type or rank."""
        return ShownValues(self.program, self._used)

    def is_used(self, name: str) -> bool:
        """Whether anything in the program reads a variable."""
        return name in self._used

    def placeholder(self, name: str) -> PlainValue:
        """A value for a variable that nothing has written yet: zeros of its declared type, unknown dimensions as 0."""
        variable = self.variables.get(name)
        if variable is not None and variable.is_array:
            return EmptyTensorArray()
        ov_type = OV_TYPES.get((variable.dtype if variable else None) or "float32", Type.f32)
        declared = None if variable is None else replace(variable, shape=variable.shape or ()).real_shape
        shape = [max(dim, 0) for dim in declared or ()]
        zero = ops.constant(0, ov_type)
        return (ops.broadcast(zero, ops.constant(shape, Type.i64)) if shape else zero).output(0)

    def marked(self, name: str, value: PlainValue) -> PlainValue | ComplexValue:
        """A value with the mark that the declared type of its variable requires."""
        variable = self.variables.get(name)
        return value if variable is None else mark_if_complex(value, variable.dtype)

    def _translate_operator(self, operator: Operator, scope: Scope) -> None:
        rule = self._rules.get(operator.type) or self._rule(operator)
        inputs, are_constant = _inputs_of(operator, scope)
        context = NodeContext(operator, inputs, self.variables, rule.signature, self._used)
        if rule.signature is not None and not rule.operands.issuperset(operator.inputs):
            _refuse_unnamed(context, operator, rule.signature)
        converter = rule.of_real
        if self._may_be_complex:
            converter = rule.convert
            context.require(rule.takes_complex or not context.has_complex(), _NO_COMPLEX)
        empty_constants.seen = False
        if self._empty and any(is_empty(value) for values in inputs.values() for value in values):
            results = self._without_elements(converter, context, operator, inputs)
        else:
            results = _by_port(_call(converter, context, operator), operator, rule.signature)
            if empty_constants.seen:
                results = {port: [constant_if_empty(value) for value in values] for port, values in results.items()}
        if not rule.is_extension and not ONEDNN.isdisjoint(operator.attributes):
            context.refuse_unread_attributes()
        if self._provenance:
            read = (unmarked(value) for values in inputs.values() for value in values)
            sources = {item.get_node().get_name() for item in read if isinstance(item, Output)}
            set_operators(_outputs_of(results.values()), operator_id(operator), sources)
        if are_constant and inputs and are_foldable(inputs):
            results = {port: [_folded(value) for value in values] for port, values in results.items()}
        self._bind(context, operator, results, inputs, rule.signature, scope)

    def _rule(self, operator: Operator) -> _Rule:
        """The rule for an operator's type, looked up once."""
        key = operator.type
        converter, signature = self._registry.get(key), self._registry.signature(key)
        if converter is None:
            raise OpConversionError(operator.place, "there is no converter for this operator")
        is_aware, is_extension = isinstance(converter, ComplexAware), self._registry.is_extension(key)
        rule = self._rules[key] = _Rule(
            convert=converter,
            of_real=converter.convert if isinstance(converter, ComplexAware) else converter,
            takes_complex=is_aware or is_extension,  # a user's converter gets pairs of real numbers
            is_extension=is_extension,
            signature=signature,
            operands=frozenset(signature.operands if signature is not None else ()),
        )
        return rule

    def _without_elements(
        self, converter: Converter, context: NodeContext, operator: Operator, inputs: InputValues
    ) -> dict[str, list[Any]]:
        """The results if an input has no elements; results that are declared to have none need not be computed."""
        declared = results_without_elements(operator, inputs, self.variables, self._used, self._empty)
        try:
            converted = _call(converter, context, operator)
        except Paddle2OVError:
            if not declared:
                raise
            converted = declared
        results = _by_port(converted, operator, self._rules[operator.type].signature)
        for port, values in results.items():
            instead = declared.get(port, [None] * len(values))
            results[port] = [constant_if_empty(value, instead[i]) for i, value in enumerate(values)]
        return results

    def _bind(
        self,
        context: NodeContext,
        operator: Operator,
        results: Mapping[str, Sequence[Any]],
        inputs: InputValues,
        signature: Signature | None,
        scope: Scope,
    ) -> None:
        for port, names in operator.outputs.items():
            values = results.get(port)
            if values is None:
                if not self._used.isdisjoint(names):
                    gave = ", ".join(map(str, results)) or "nothing"
                    context.refuse(f"its converter left out output '{port}', which the program uses; it gave {gave}")
                continue
            if len(values) != len(names):
                context.refuse(f"its converter gave {len(values)} values for output '{port}', which has {len(names)}")
            for name, value in zip(names, values, strict=True):
                if not name or name in scope.values:  # a cut provides it already
                    continue
                if name in self._marked or type(value) in MARKS:
                    scope.values[name] = self._marked_result(name, value, inputs, signature)
                else:
                    scope.values[name] = _as_plain_value(value, name, self.names)

    def _bind_blocks(self, operator: Operator, values: Mapping[str, Value], scope: Scope) -> None:
        if self._provenance:
            set_operators(_outputs_of([values.values()]), operator_id(operator))
        for name, value in values.items():
            if name:
                scope.values[name] = self._marked_result(name, value, {}, None)

    def _marked_result(self, name: str, given: Any, inputs: InputValues, signature: Signature | None) -> Value:
        """A converter's result with its marks: those that it has, and those that its declaration requires."""
        variable = self.variables.get(name)
        bare = _as_plain_value(unmarked(given), name, self.names)
        marked = is_complex(given) or (variable is not None and variable.is_complex)
        self._may_be_complex |= marked
        value = ComplexValue(bare) if marked else bare
        lod: LoD = NO_LOD
        if isinstance(given, LoDTensor):
            lod = given.lod
        elif name in self._sequences:
            lod = _first_lod(inputs, signature)
        return value if isinstance(lod, int) and lod == NO_LOD else LoDTensor(value, lod)


def input_parameter(variable: Variable, shape: PartialShape | None = None, ov_type: Type | None = None) -> Parameter:
    """The Parameter node for a fed variable, under Paddle's name."""
    if shape is None:
        shape = PartialShape.dynamic() if variable.shape is None else PartialShape(known(variable.real_shape))
    parameter = ops.parameter(shape, ov_type or OV_TYPES.get(variable.dtype or "float32", Type.f32), name=variable.name)
    parameter.output(0).set_names({variable.name})
    return parameter


def _inputs_of(operator: Operator, scope: Scope) -> tuple[InputValues, bool]:
    """The values that an operator reads, by port, None for one left out; and whether none is computed by the graph."""
    inputs: InputValues = {}
    are_constant, known = True, scope.values
    for port, names in operator.inputs.items():
        inputs[port] = values = []
        for name in names:
            value = None
            if name:
                value = known[name] if name in known else scope.find(name)
                if value is None:
                    raise OpConversionError(operator.place, f"input '{port}' reads '{name}', which nothing has written")
                if isinstance(value, Output):
                    are_constant = False
            values.append(value)
    return inputs, are_constant


def _refuse_unnamed(context: NodeContext, operator: Operator, signature: Signature) -> None:
    """Refuses inputs beyond the signature: PIR passes them by position, and no converter reads unnamed ones."""
    beyond = [input_ for input_ in operator.inputs if input_ not in signature.operands and any(operator.inputs[input_])]
    if unknown := [item for item in beyond if _UNNAMED.fullmatch(item)]:
        if operator.source_type.startswith("onednn_op."):
            context.refuse(
                f"'{operator.source_type}' is an operator of Paddle's passes for oneDNN, as `enable_save_optim_model` "
                "saves it; Paddle cannot load such a program either. Save it with `Config.disable_mkldnn()`, or "
                "convert the model that it was made from"
            )
        context.refuse(
            f"the program passes {len(unknown)} input(s) more than its signature names "
            f"({', '.join(signature.operands) or 'none'})"
        )


def _call(converter: Converter, context: NodeContext, operator: Operator) -> Any:
    try:
        return converter(context)
    except Paddle2OVError:
        raise
    except ZeroDivisionError as error:
        zeros = context.zeros_asked()
        raise OpConversionError(operator.place, f"{zeros}: division by zero" if zeros else str(error)) from error
    except Exception as error:  # whatever a converter raises is reported with the operator's place
        read = f" (attributes: {read})" if (read := context.attributes_asked()) else ""
        raise OpConversionError(operator.place, described(error) + read) from error


def _first_lod(inputs: InputValues, signature: Signature | None) -> LoD:
    """The LoD of the operator's first operand that has one."""
    operands = signature.operands if signature is not None else ()
    ports = sorted(inputs, key=lambda port: operands.index(port) if port in operands else len(operands))
    return next((item.lod for port in ports for item in inputs[port] if isinstance(item, LoDTensor)), NO_LOD)


def _folded(value: Any) -> Any:
    if type(value) in MARKS:
        return replace(value, value=_folded(value.value))
    return fold(value)


# Tuples, and dict before Mapping: these checks run for every result of every operator.
_KNOWN = (ConstantValue, EmptyTensorArray)
_NOT_COMPUTED = (Parameter, Constant)
_MAPPINGS = (dict, Mapping)
_SINGLE = (Output, Node, ConstantValue, EmptyTensorArray, LoDTensor, ComplexValue)


def _outputs_of(results: Iterable[Iterable[Any]]) -> Iterator[Output]:
    """The outputs that are an operator's results, including lengths of sequences."""
    for values in results:
        for value in values:
            components = [unmarked(value), *([value.lod] if isinstance(value, LoDTensor) else [])]
            for item in components:
                output = item.output if isinstance(item, SequenceLengths) else item
                if isinstance(output, Node):
                    yield from output.outputs()
                elif isinstance(output, Output):
                    yield output


def _as_plain_value(value: Any, name: str, names: Names) -> PlainValue:
    """A converter's result, which may be any object, as a value; its node gets the variable's name."""
    if isinstance(value, _KNOWN):
        return value
    if isinstance(value, Node):
        node, output = value, value.output(0)
    elif isinstance(value, Output):
        node, output = value.get_node(), value
    else:
        raise TypeError(f"its converter gave {value!r} for '{name}', which is not an OpenVINO node or output")
    # A converter may return an input as its result (`assign`, `dropout`): that node has its name already.
    if not isinstance(node, _NOT_COMPUTED) and node.get_friendly_name() == node.get_name():
        # No tensor name: on compilation the tensor names of fused nodes end up on the model's results.
        names.give(node, name)
    return output


def _by_port(results: Any, operator: Operator, signature: Signature | None) -> dict[str, list[Any]]:
    """A converter's results, in any of the forms that it may return, by the names of the operator's outputs."""
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
