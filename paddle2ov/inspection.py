"""What a model consists of, and whether it can be converted: `inspect(model)`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from paddle2ov.arguments import CONVERSION_NAMES, called_here
from paddle2ov.errors import OpConversionError, Paddle2OVError, Place, Refusal, UnsupportedOpsError
from paddle2ov.graph.values import EmptyTensorArray
from paddle2ov.program.archives import taking_archives
from paddle2ov.program.liveness import prune
from paddle2ov.program.model import Block, Operator, Variable
from paddle2ov.program.op_versions import written_by
from paddle2ov.report import plain_data
from paddle2ov.translation.extension import Extension
from paddle2ov.translation.input_spec import ExampleArgument, InputArgument, OutputArgument
from paddle2ov.translation.model_argument import ModelArgument, ParamsArgument, prepare
from paddle2ov.translation.model_builder import TranslationRequest, as_declared, described_overrides, translate_program
from paddle2ov.translation.registry import STRUCTURE, Registry
from paddle2ov.translation.scope import Scope
from paddle2ov.translation.translator import Translator, input_parameter


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """An input or result of the model.

    Attributes:
        name: its name.
        dtype: Paddle's name of its type.
        shape: -1 stands for a dynamic dimension; None for an unknown rank.
        has_sequences: whether it is declared to hold sequences (LoD).
    """

    name: str
    dtype: str | None
    shape: tuple[int, ...] | None
    has_sequences: bool = False


@dataclass(frozen=True, slots=True)
class OpCount:
    """An operator type: how often the results need it, and whether it has a converter."""

    name: str
    count: int
    supported: bool


@dataclass(frozen=True, slots=True)
class Inspection:
    """What `inspect` found.

    Attributes:
        format: "pir" or "legacy".
        version: the file's version.
        paddle: the Paddle that writes this version, "3.0"; "" where the file does not tell.
        inputs: the model's inputs in order.
        outputs: the model's results in order.
        operators: every operator type that the results need, the most used first.
        dead_operators: how many operators no result needs.
        parameters: the number of weights.
        parameter_bytes: their size.
        nesting: how deep branches and loops stand in each other (0: there are none).
        refusals: what stops the conversion; empty if the model converts.
    """

    format: str
    version: int
    paddle: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    operators: tuple[OpCount, ...]
    dead_operators: int
    parameters: int
    parameter_bytes: int
    nesting: int
    refusals: tuple[Refusal, ...]

    @property
    def convertible(self) -> bool:
        """Whether the model converts as it is."""
        return not self.refusals

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        return plain_data(self, "convertible")


@called_here(**CONVERSION_NAMES)
@taking_archives()
def inspect(
    model: ModelArgument,
    params: ParamsArgument = None,
    *,
    input: InputArgument = None,
    output: OutputArgument = None,
    example_input: ExampleArgument = None,
    extension: Extension = None,
) -> Inspection:
    """Reads a model and reports what it consists of and whether it converts.

    What is refused often depends on values and shapes, which only the converters check: each operator is converted
    once, as `convert` does, without the rewrites of the graph that follow there. The result is discarded.

    Args:
        model: what `convert` takes.
        params: the parameter file, where it does not lie beside the program under the usual name; or its content.
        input: what it is converted with, as for `convert`; the rest that is reported is about the whole program.
        output: the same of results.
        example_input: for a Layer without an input spec, as for `convert`.
        extension: converters of your own, as for `convert`.

    Raises:
        ModelReadError: the model cannot be found or read.
        ConversionInputError: an input or a result is none of the program's.
    """
    registry = Registry(extension)
    request = prepare(registry, model, params, input, output, example_input=example_input)
    program = request.program
    block, _ = prune(program.block, (item.variable for item in program.outputs))
    used = Counter(operator.type for operator in block.walk())
    variables = program.variables
    return Inspection(
        program.format,
        program.version,
        written_by(program)[1],
        tuple(TensorInfo(input_.name, input_.dtype, input_.shape, bool(input_.lod_level)) for input_ in program.inputs),
        tuple(
            TensorInfo(output.name, variables[output.variable].dtype, variables[output.variable].shape)
            for output in program.outputs
        ),
        tuple(
            OpCount(name, count, name in STRUCTURE or registry.get(name) is not None)
            for name, count in sorted(used.items(), key=lambda item: (-item[1], item[0]))
        ),
        len(program.block.operators) - len(block.operators),
        len(program.parameters),
        sum(weight.data.nbytes for weight in program.parameters.values()),
        _nesting(block),
        find_refusals(request),
    )


def _nesting(block: Block) -> int:
    inner = [_nesting(item) for operator in block.operators for item in operator.blocks]
    return 1 + max(inner) if inner else 0


def find_refusals(request: TranslationRequest) -> tuple[Refusal, ...]:
    """What stops a conversion: operators without a converter first, then what converters refuse.

    Raises:
        ConversionInputError: an input or a result is requested that the program does not have.
    """
    refusals = _collected(request)
    given = tuple(described_overrides(request)) if refusals else ()
    if given:  # what is refused in any case is no matter of it
        declared = {place for refusal in _collected(as_declared(request)) for place in refusal.places}
        refusals = [
            refusal if declared.issuperset(refusal.places) else replace(refusal, given=given) for refusal in refusals
        ]
    return _merged(refusals)


def _collected(request: TranslationRequest) -> list[Refusal]:
    """What is refused in a translation, as the collector finds it."""
    try:
        translate_program(structs.replace(request, translator=_Collector))
    except _CollectedError as collected:
        return [refusal for error in collected.errors for refusal in error.refusals]
    except OpConversionError as error:  # before the first operator, or after the last
        return [*error.refusals]
    return []


def _merged(refusals: Iterable[Refusal]) -> tuple[Refusal, ...]:
    """One for each operator and reason."""
    merged: dict[tuple[str, str, tuple[str, ...]], list[Refusal]] = {}
    for refusal in refusals:
        merged.setdefault((refusal.operator, refusal.reason, refusal.given), []).append(refusal)
    return tuple(
        replace(same[0], places=tuple(place for refusal in same for place in refusal.places))
        for same in merged.values()
    )


class _CollectedError(Exception):
    def __init__(self, errors: list[Paddle2OVError]) -> None:
        self.errors = errors


class _Collector(Translator):
    """Continues after a refused operator, with inputs in place of its results, to find all that are refused.

    An operator that fails because it reads such a result may convert with the actual one, whose shape or value would be
    known: it is not reported.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._missing: list[Paddle2OVError] = []
        self._refused: dict[Place, OpConversionError] = {}
        self._doubtful: set[str] = set()
        self._depth = 0

    def refuse_missing(self, missing: Sequence[Operator]) -> None:
        """Records them; they are reported at the end, with the refused ones."""
        try:
            super().refuse_missing(missing)
        except UnsupportedOpsError as error:
            self._missing = [error]

    def translate(self, block: Block, scope: Scope) -> None:
        """As the translator's; at the end raises all refusals, if there are any."""
        self._depth += 1
        super().translate(block, scope)
        self._depth -= 1
        if not self._depth and (self._missing or self._refused):
            raise _CollectedError([*self._missing, *self._refused.values()])

    def translate_one(self, operator: Operator, scope: Scope) -> None:
        """As the translator's, but records what is refused."""
        depth, doubtful = self._depth, len(self._doubtful)
        reads = set(operator.input_names())
        for block in operator.blocks:
            reads.update(block.outputs, *(inner.input_names() for inner in block.walk()))
        reads_doubtful = not self._doubtful.isdisjoint(reads)
        try:
            super().translate_one(operator, scope)
        except Paddle2OVError as error:
            self._depth = depth
            inside = len(self._doubtful) > doubtful  # something in its own blocks was refused
            if not isinstance(error, OpConversionError):
                error = OpConversionError(operator.place, str(error))
            missing = operator.type not in STRUCTURE and self._registry.get(operator.type) is None
            if not (reads_doubtful or inside or missing):
                self._refused.setdefault(error.place, error)
            self._replace(operator, scope)
            reads_doubtful = True
        if reads_doubtful:
            self._doubtful.update(name for name in operator.output_names() if name)

    def _replace(self, operator: Operator, scope: Scope) -> None:
        for name in operator.output_names():
            variable = self.variables.get(name)
            if not name or name in scope.values:
                continue
            if variable is not None and variable.is_array:
                scope.values[name] = EmptyTensorArray()
            else:
                value = input_parameter(variable or Variable(name, "float32")).output(0)
                scope.values[name] = self.marked(name, value)
