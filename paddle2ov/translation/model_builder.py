"""Builds an `openvino.Model` from a program in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace
from openvino import Model, Output, PartialShape, Type
from openvino.op import Parameter, Result

from paddle2ov.errors import ConversionInputError, FailingAs, OpConversionError, OpInputError, Paddle2OVError
from paddle2ov.graph.aliases import alias, may_be_input
from paddle2ov.graph.node_names import Names, make_unique
from paddle2ov.graph.opset import ops
from paddle2ov.graph.provenance import operator_id, set_operators
from paddle2ov.graph.types import COMPLEX_DTYPES, OV_TYPES
from paddle2ov.graph.values import ComplexValue, ConstantValue, EmptyTensorArray, mark_if_complex, unmarked
from paddle2ov.program.budget import Budget, charging
from paddle2ov.program.concatenated_arrays import concatenate_arrays
from paddle2ov.program.liveness import count_operators, prune
from paddle2ov.program.model import Block, Output as ProgramOutput, Program, Variable
from paddle2ov.program.small_probabilities import mark_softmaxes_tested_against_zero
from paddle2ov.translation.input_spec import InputOverride
from paddle2ov.translation.registry import Registry
from paddle2ov.translation.scope import Scope
from paddle2ov.translation.sequence_lengths import SequenceCount, lengths_inputs, lengths_results, with_input_lod
from paddle2ov.translation.translator import BlockConverter, Progress, Translator, input_parameter
from paddle2ov.typing import known


class TranslationRequest(Struct, frozen=True):
    """What is to be translated, and how.

    Attributes:
        program: the program.
        overrides: the argument `input` of `convert`, parsed.
        output_names: the names of the results to compute; if empty, all of them.
        registry: the converters.
        share_weights: as for `convert`.
        sequence_lengths: as for `convert`.
        translator: the class that translates.
        provenance: whether nodes record the operators that they are made for, see `graph/provenance.py`.
    """

    program: Program
    overrides: Sequence[InputOverride]
    output_names: Sequence[str]
    registry: Registry
    share_weights: bool = True
    sequence_lengths: bool | SequenceCount = False
    translator: type[Translator] = Translator
    provenance: bool = False


def convert_program(request: TranslationRequest, progress: Progress | None = None) -> Model:
    """Translates a program in memory; `progress` as for `convert`.

    Raises:
        UnsupportedOpsError: the program holds operators without a converter; all of them are named.
        OpConversionError: an operator is used in a way that cannot be converted.
        ConversionInputError: an input or a result is requested that the program does not have.
        OpInputError: an operator does not convert with the shapes and types given, but does with those declared.
    """
    try:
        return translate_program(request, progress)
    except OpConversionError as error:
        given = described_overrides(request)
        if not given:
            raise
        try:
            translate_program(as_declared(request))
        except Paddle2OVError:
            raise error from error.__cause__
        raise OpInputError(error.place, error.reason, given) from error


def as_declared(request: TranslationRequest) -> TranslationRequest:
    """The same without the shapes and types that are given for inputs; cuts stay."""
    return replace(request, overrides=[replace(override, shape=None, dtype=None) for override in request.overrides])


def described_overrides(request: TranslationRequest) -> list[str]:
    """Each shape and type that is given, beside what the program declares."""
    program, descriptions = request.program, []
    for position, override in enumerate(request.overrides):
        variable = program.variables[override.name] if override.name is not None else program.inputs[position]
        declared = "any shape" if variable.shape is None else str(list(variable.shape))
        asked = " ".join(
            str(part)
            for part in (override.shape, override.dtype and override.dtype.get_type_name())
            if part is not None
        )
        if asked:
            descriptions.append(f"'{variable.name}' as {asked} (the program declares {declared} {variable.dtype})")
    return descriptions


def translate_program(request: TranslationRequest, progress: Progress | None = None) -> Model:
    """As `convert_program`; whatever stops an operator is an OpConversionError."""
    program, registry = request.program, request.registry
    with FailingAs(_cannot_be_converted):
        wanted = chosen_outputs(program, request.output_names)
        inputs = _inputs(program, request.overrides)
        own = {variable.name for variable in program.inputs}
        cuts = [name for name in inputs if name not in own]
        block, used = prune(program.block, (item.variable for item in wanted), cuts)
        budget = budget_of(program)
    control_flow = _block_converters(block)
    translator = request.translator(program, registry, control_flow, used, progress, request.provenance, budget)
    translator.refuse_missing(registry.missing(block))

    scope = Scope()
    with FailingAs(_cannot_be_converted):
        block = concatenate_arrays(block, (item.variable for item in wanted))
        block = mark_softmaxes_tested_against_zero(block)
        # All inputs of the program stay, used or not, unless a cut replaces them.
        parameters = _enter_inputs(program, inputs, {name for name in inputs if not cuts or name in used}, scope)
        _enter_weights(program, used, request.share_weights, scope)
        if request.sequence_lengths:
            parameters += lengths_inputs(
                program.inputs, scope, "many" if request.sequence_lengths is True else request.sequence_lengths
            )
        translator.names.reserve(parameters)
    with charging(budget):
        translator.translate(block, scope)
    with FailingAs(_cannot_be_converted):
        writers = {}
        if request.provenance:
            writers = {name: operator_id(operator) for operator in block.operators for name in operator.output_names()}
        results = _results(wanted, scope, translator.names, writers)
        if request.sequence_lengths:
            for result in lengths_results(wanted, scope):
                translator.names.give(result, result.get_friendly_name())
                results.append(result)
    try:
        model = Model(results, parameters, "paddle_model")
    except RuntimeError as error:  # such as a Parameter that a converter made
        raise ConversionInputError(f"a converter gave nodes that are no part of this model: {error}") from error
    if translator.records:
        from paddle2ov.passes.invariant_dims import hide_dynamic_dims  # few models have branches or loops

        hide_dynamic_dims(model, translator.records)
    if registry.has_extensions():  # a user's converters may give nodes any names
        make_unique(model)
    return model


def _block_converters(block: Block) -> Mapping[str, BlockConverter]:
    """How operators that own blocks are translated."""
    if not any(map(attrgetter("blocks"), block.operators)):
        return {}
    from paddle2ov.translation.control_flow.block_operators import CONTROL_FLOW  # few models have branches or loops

    return CONTROL_FLOW


def _enter_inputs(
    program: Program, given: Mapping[str, tuple[Variable, InputOverride | None]], kept: Set[str], scope: Scope
) -> list[Parameter]:
    """Adds the inputs to the scope: those that `input` names, and those in `kept`."""
    levels = {input_.name: input_.lod_level for input_ in program.inputs}
    parameters = []
    for name, (variable, override) in given.items():
        if override is None and name not in kept:
            continue
        parameter = _parameter(variable, override or InputOverride())
        parameters.append(parameter)
        value = mark_if_complex(parameter.output(0), variable.dtype)
        scope.values[name] = with_input_lod(value, levels.get(name))
    return parameters


def _enter_weights(program: Program, used: Set[str], share: bool, scope: Scope) -> None:
    """Adds the weights that are used to the scope."""
    for name, weight in program.parameters.items():
        if name in used:
            value = ConstantValue(weight.data, weight.dtype, name, share)
            scope.values[name] = ComplexValue(value) if weight.dtype in COMPLEX_DTYPES else value


_INPUT_TYPES = (*OV_TYPES.values(), Type.u16, Type.u32, Type.dynamic)


def _cannot_be_converted(reason: str) -> Paddle2OVError:
    return Paddle2OVError(f"the program cannot be converted: {reason}")


def budget_of(program: Program) -> Budget:
    """What a program of its size may take."""
    parameters = sum([weight.data.nbytes for weight in program.parameters.values()])
    return Budget(program.size, parameters, count_operators(program.block))


def _parameter(variable: Variable, override: InputOverride) -> Parameter:
    def refused(reason: str) -> Paddle2OVError:
        return ConversionInputError(f"input: '{variable.name}' cannot be of that type and shape: {reason}")

    if override.dtype is not None and override.dtype not in _INPUT_TYPES:
        raise refused(f"Paddle has no {override.dtype.get_type_name()}")
    with FailingAs(refused):
        return input_parameter(variable, override.shape, override.dtype)


def chosen_outputs(program: Program, names: Sequence[str]) -> list[ProgramOutput]:
    """The requested results of a program, which may be any of its variables; all its results if no names are given.

    Raises:
        ConversionInputError: a name is unknown or given twice.
    """
    if not names:
        return program.outputs
    by_name = {item.name: item for item in program.outputs}
    chosen: list[ProgramOutput] = []
    for name in names:
        if any(name == item.name for item in chosen):
            raise ConversionInputError(f"output: '{name}' is given twice")
        if name in by_name:
            chosen.append(by_name[name])
        elif name in program.variables:
            chosen.append(ProgramOutput(name, name))
        else:
            raise ConversionInputError(
                f"output: the program has no '{name}'; its results are {', '.join(by_name) or 'none'}, and tensors "
                "inside it may be named too"
            )
    return chosen


def _inputs(program: Program, overrides: Sequence[InputOverride]) -> dict[str, tuple[Variable, InputOverride | None]]:
    feeds: dict[str, tuple[Variable, InputOverride | None]] = {input_.name: (input_, None) for input_ in program.inputs}
    if len(overrides) > len(program.inputs) and any(override.name is None for override in overrides):
        raise ConversionInputError(f"input: {len(overrides)} are given, the program has {len(program.inputs)}")
    named: set[str] = set()
    for position, override in enumerate(overrides):
        name = override.name if override.name is not None else program.inputs[position].name
        if name in named:
            raise ConversionInputError(f"input: '{name}' is given twice")
        named.add(name)
        variable = program.variables.get(name)
        if variable is None or name in program.parameters:
            raise ConversionInputError(f"input: the program has no '{name}'; its inputs are {', '.join(feeds)}")
        if override.shape is not None and variable.shape is not None:
            _check_shape(name, override.shape, variable)
        feeds[name] = (variable, override)
    return feeds


def _check_shape(name: str, shape: PartialShape, variable: Variable) -> None:
    dims = list(known(variable.real_shape))
    parts = ", the last one of real and imaginary parts" if variable.is_complex else ""
    if shape.rank.is_static and len(shape) != len(dims):
        raise ConversionInputError(
            f"input: '{name}' has {len(dims)} dimensions in the program ({dims}{parts}); shape {shape} has {len(shape)}"
        )


def _results(wanted: Sequence[ProgramOutput], scope: Scope, names: Names, writers: Mapping[str, str]) -> list[Result]:
    """The Results; `writers`: variable -> id of its operator, if nodes are attributed to operators, else empty."""
    results = []
    taken: set[tuple[str, int]] = set()
    for item in wanted:
        value = unmarked(scope.find(item.variable))
        if value is None:
            raise ConversionInputError(f"output: nothing computes '{item.variable}'")
        if isinstance(value, EmptyTensorArray):
            raise ConversionInputError(f"output: '{item.name}' is a tensor array that nothing was written to")
        output: Output = value.constant().output(0) if isinstance(value, ConstantValue) else value
        source = (output.get_node().get_name(), output.get_index())
        if source in taken or output.get_node().get_type_name() == "Parameter" or may_be_input(output):
            output = alias(output)
            if item.variable in writers:
                set_operators([output], writers[item.variable])
        taken.add(source)
        result = ops.result(output)
        names.give(result, item.name)
        result.output(0).set_names({item.name})
        results.append(result)
    return results
