"""Read, translate, optimise: from a Paddle model to an `openvino.Model`."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from openvino import Model, Output, PartialShape
from openvino.op import Result

from paddle2ov.arguments import InputArgument, InputOverride, parse_input, parse_output
from paddle2ov.control_flow import CONTROL_FLOW
from paddle2ov.errors import ConversionInputError, UnsupportedOpsError
from paddle2ov.extension import Extension
from paddle2ov.joined_arrays import join_arrays
from paddle2ov.merging import count_chosen, merge_suppressions
from paddle2ov.opset import ops
from paddle2ov.passes import run_rewrites
from paddle2ov.program import Program, read_program
from paddle2ov.program.liveness import prune
from paddle2ov.program.model import Operator, Variable
from paddle2ov.program.model import Output as ProgramOutput
from paddle2ov.program.vocabulary import Vocabulary
from paddle2ov.registry import Registry
from paddle2ov.report import ConversionReport
from paddle2ov.sequence_lengths import lengths_inputs, lengths_results
from paddle2ov.translator import Scope, Translator, input_parameter
from paddle2ov.types import EmptyArray, Known

log = logging.getLogger("paddle2ov")

Progress = Callable[[int, int], None]


def convert(
    model: Any,
    params: str | os.PathLike[str] | None = None,
    *,
    input: InputArgument = None,  # the name that openvino.convert_model has
    output: str | Sequence[str] | None = None,
    example_input: Any = None,
    extension: Extension = None,
    verbose: bool = False,
    share_weights: bool = True,
    progress: Progress | None = None,
    report: ConversionReport | None = None,
    rewrite: bool = True,
    bounded: bool = False,
    preprocess: bool = False,
    sequence_lengths: bool = False,
) -> Model:
    """Converts a Paddle inference model of either format.

    Args:
        model: a model folder, a program file (`inference.json`, `inference.pdmodel`, `__model__`), Paddle's path
            prefix, a pair (program file, parameter file), a `paddle.nn.Layer` or a `paddle.static.Program`.
        params: the parameter file, where it does not lie beside the program under the usual name.
        input: names, shapes and types of inputs where they are to differ from the program, in the forms of
            `openvino.convert_model`: `{"x": [1, 3, -1, 640]}`, `[("x", [(1, 8), 3, 224, 224])]`,
            `"x[1,3,224..640,?]"`. A name inside the program cuts it there. For a Layer it is its input spec.
        output: the names of the results to compute, where not all; a variable inside the program cuts it there. For a
            `paddle.static.Program`, which has no results of its own, the variables to fetch, or their names.
        example_input: for a Layer without an input spec: tensors or arrays to take the shapes and types from.
        extension: converters of your own, see `ConversionExtension`.
        verbose: logs what was read and how long each step took.
        share_weights: constants share the memory-mapped file, which must then stay as it is for as long as the model
            lives; False copies them.
        progress: called with (operators done, operators in all) as the conversion goes on.
        report: a new `ConversionReport`, which is filled with what the conversion did.
        rewrite: False leaves the graph as the converters made it, to compare with.
        bounded: dynamic inputs take the least and largest shapes that the `inference.yml` beside the model gives them.
        preprocess: builds the preprocessing of that file into the model, see `paddle2ov.deployment.preprocessing`;
            what stays with the caller is logged and stands in the model's runtime information.
        sequence_lengths: each input that the program declares with LoD, whose rows are one sequence otherwise, may hold
            several, one after the other: an input `NAME.lengths`, int64 [count], behind the program's own says how long
            each is. Results that hold sequences have a result `NAME.lengths` likewise, behind the program's own.

    Returns:
        The model. Inputs and results have Paddle's names, order and types.

    Raises:
        ModelReadError: the model cannot be found or read.
        UnsupportedOpsError: it holds operators without a converter; all of them are named.
        OpConversionError: an operator is used in a way that cannot be converted.
        ConversionInputError: an argument does not fit the model.
    """
    started = time.perf_counter()
    registry = Registry(extension)
    signatures = [found for item in registry.extensions() if (found := item.parsed_signature()) is not None]
    if isinstance(model, tuple | list):
        if len(model) != 2 or params is not None:
            raise ConversionInputError("a model given as a pair is (program file, parameter file)")
        model, params = model
    if params is not None and not isinstance(model, str | os.PathLike):
        raise ConversionInputError(f"params is for a model in files, not for a {type(model).__name__}")
    if isinstance(model, str | os.PathLike | Program):
        if example_input is not None:
            raise ConversionInputError("example_input is for a paddle.nn.Layer; a saved model has its own input shapes")
        program = model if isinstance(model, Program) else read_program(model, params, signatures)
        overrides, outputs = parse_input(input), parse_output(output)
    else:
        from paddle2ov.live import read_live

        program, overrides, outputs = read_live(model, input, output, example_input, signatures)
    settings = None
    if bounded or preprocess:
        from paddle2ov.deployment import beside

        settings = beside(model)
        if bounded:
            from paddle2ov.deployment.bounds import bounded as bounded_by

            overrides = bounded_by(settings, program.inputs, overrides)
    read = time.perf_counter()
    merged: dict[str, int] = {}
    converted = convert_program(
        program,
        overrides,
        outputs,
        registry,
        Vocabulary(signatures),
        share_weights,
        progress,
        merge=rewrite,
        merged=merged,
        sequence_lengths=sequence_lengths,
    )
    translated = time.perf_counter()
    nodes = converted.get_ops() if report is not None else []
    if report is not None and rewrite:
        merged["chosen"] = count_chosen(nodes)
    rewrites = {"merge_suppressions": merged, **run_rewrites(converted)} if rewrite else {}
    if report is not None:
        report.format, report.program = program.format, replace(program, parameters={})
        report.parameters = len(program.parameters)
        report.parameter_bytes = sum(weight.data.nbytes for weight in program.parameters.values())
        report.operators = sum(1 for _ in program.block.walk())
        report.nodes, report.nodes_after = len(nodes), len(converted.get_ops())
        report.rewrites = rewrites
        optimised = time.perf_counter()
        report.seconds = {
            "read": read - started,
            "translate": translated - read,
            "optimise": optimised - translated,
        }
    if settings is not None and preprocess:
        from paddle2ov.deployment.preprocessing import build_in, describe

        built = build_in(converted, settings)
        (log.warning if built.remaining else log.info)("the model %s", describe(built))
    if verbose:
        log_steps(program, converted, read - started, translated - read, time.perf_counter() - translated)
    return converted


def convert_program(
    program: Program,
    overrides: Sequence[InputOverride],
    output_names: Sequence[str],
    registry: Registry,
    vocabulary: Vocabulary,
    share_weights: bool = True,
    progress: Progress | None = None,
    merge: bool = True,
    merged: dict[str, int] | None = None,
    sequence_lengths: bool = False,
) -> Model:
    """Translates a program that is read already; see `convert`.

    With `merge` some chains of operators are translated as one; `merged` is told how many.
    """
    wanted = _outputs(program, output_names)
    given = _inputs(program, overrides)
    cuts = [name for name, (variable, _) in given.items() if variable not in program.inputs]
    block, used = prune(program.block, (item.variable for item in wanted), cuts)
    missing = registry.missing(block)
    if missing:
        raise UnsupportedOpsError([operator.place for operator in missing])
    if merge:
        replaced = {item.op_type for item in registry.extensions()}
        counts = merge_suppressions(block, (item.variable for item in wanted), cuts, program.variables, replaced)
        if merged is not None:
            merged |= counts

    block = join_arrays(block, (item.variable for item in wanted))

    scope = Scope()
    parameters = []
    for name, (variable, override) in given.items():
        # All inputs of the program stay, used or not, unless a cut replaces them; so does one that the caller names.
        if override is None and cuts and name not in used:
            continue
        wish = override or InputOverride()
        parameter = input_parameter(variable, wish.shape, wish.kind)
        parameters.append(parameter)
        scope.values[name] = parameter.output(0)
    for name, weight in program.parameters.items():
        if name in used:
            scope.values[name] = Known(weight.data, weight.dtype, name, share_weights)
    if sequence_lengths:
        parameters += lengths_inputs(program.inputs, scope)
    total = len(block.operators)
    report = (lambda done: progress(done, total)) if progress is not None else None
    # An operator that a cut replaces is pruned only if nothing else needs it.
    if cuts:
        block.operators = [operator for operator in block.operators if not _replaced(operator, cuts)]
    Translator(program, registry, vocabulary, CONTROL_FLOW, used, report).translate(block, scope)
    results = _results(wanted, scope)
    if sequence_lengths:
        results += lengths_results(wanted, scope)
    try:
        return Model(results, parameters, "paddle_model")
    except RuntimeError as error:  # a Parameter that a converter made
        raise ConversionInputError(f"a converter gave nodes that are no part of this model: {error}") from error


def _outputs(program: Program, names: Sequence[str]) -> list[ProgramOutput]:
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
                f"output: the program has no '{name}'; its results are {', '.join(by_name) or 'none'}"
            )
    return chosen


def _inputs(program: Program, overrides: Sequence[InputOverride]) -> dict[str, tuple[Variable, InputOverride | None]]:
    given: dict[str, tuple[Variable, InputOverride | None]] = {one.name: (one, None) for one in program.inputs}
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
            raise ConversionInputError(f"input: the program has no '{name}'; its inputs are {', '.join(given)}")
        if override.shape is not None and variable.shape is not None:
            _check_shape(name, override.shape, variable)
        given[name] = (variable, override)
    return given


def _check_shape(name: str, shape: PartialShape, variable: Variable) -> None:
    assert variable.shape is not None
    rank = len(variable.shape) + (1 if (variable.dtype or "").startswith("complex") else 0)
    if shape.rank.is_static and len(shape) != rank:
        raise ConversionInputError(
            f"input: '{name}' has {rank} dimensions in the program ({list(variable.shape)}); "
            f"shape {shape} has {len(shape)}"
        )


def _replaced(operator: Operator, cuts: Sequence[str]) -> bool:
    outputs = [name for name in operator.output_names() if name]
    return bool(cuts) and all(name in cuts for name in outputs)


def _results(wanted: Sequence[ProgramOutput], scope: Scope) -> list[Result]:
    results = []
    taken: set[tuple[str, int]] = set()
    for item in wanted:
        value = scope.find(item.variable)
        if value is None:
            raise ConversionInputError(f"output: nothing computes '{item.variable}'")
        if isinstance(value, EmptyArray):
            raise ConversionInputError(f"output: '{item.name}' is a tensor array that nothing was written to")
        output: Output = value.constant().output(0) if isinstance(value, Known) else value
        source = (output.get_node().get_name(), output.get_index())
        if source in taken or output.get_node().get_type_name() == "Parameter":
            # Two results of one tensor, or an input that is a result, would lose one of the names on compilation.
            output = ops.convert(output, output.get_element_type()).output(0)
        taken.add(source)
        result = ops.result(output, name=item.name)
        result.output(0).set_names({item.name})
        results.append(result)
    return results


def log_steps(program: Program, model: Model, reading: float, translating: float, optimising: float) -> None:
    """Logs what a conversion did, for `verbose`."""
    if not logging.getLogger().handlers and not log.handlers:
        log.addHandler(logging.StreamHandler())
    log.setLevel(logging.INFO)
    operators = sum(1 for _ in program.block.walk())
    size = sum(weight.data.nbytes for weight in program.parameters.values())
    log.info(
        "read a %s program of version %d: %d operators, %d parameters (%.1f MB) in %.1f ms",
        program.format,
        program.version,
        operators,
        len(program.parameters),
        size / 1e6,
        1e3 * reading,
    )
    log.info("translated to %d nodes in %.1f ms", len(model.get_ops()), 1e3 * translating)
    log.info("ran the passes in %.1f ms", 1e3 * optimising)
