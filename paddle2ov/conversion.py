"""Read, translate, rewrite: from a Paddle model to an `openvino.Model`."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec.structs import replace
from openvino import Model

from paddle2ov.arguments import CONVERSION_NAMES, called_here, check_callables, check_flags
from paddle2ov.errors import ConversionInputError, some_of
from paddle2ov.graph.provenance import name_after_operators, operator_id, operators_by_name
from paddle2ov.passes import Counts, Graph, MatchFailures, Rewrite, rewrite_graph
from paddle2ov.passes.implied_dims import narrow_inputs
from paddle2ov.program.archives import taking_archives
from paddle2ov.program.budget import charging
from paddle2ov.program.model import Program
from paddle2ov.program.sources import forget_source, remember_source
from paddle2ov.translation.extension import Extension
from paddle2ov.translation.input_spec import ExampleArgument, InputArgument, OutputArgument
from paddle2ov.translation.model_argument import ModelArgument, ParamsArgument, prepare
from paddle2ov.translation.model_builder import TranslationRequest, budget_of, convert_program
from paddle2ov.translation.registry import Registry
from paddle2ov.translation.sequence_lengths import SequenceCount
from paddle2ov.translation.translator import Progress
from paddle2ov.workarounds import Target, apply, rewrites_for, stamp

if TYPE_CHECKING:
    from paddle2ov.program.settings import Settings
    from paddle2ov.report import ConversionReport

log = logging.getLogger("paddle2ov")


@called_here(**CONVERSION_NAMES)
@taking_archives(then=forget_source, share_weights=False)
def convert(
    model: ModelArgument,
    params: ParamsArgument = None,
    *,
    input: InputArgument = None,  # the name that openvino.convert_model has
    output: OutputArgument = None,
    example_input: ExampleArgument = None,
    extension: Extension = None,
    verbose: bool = False,
    share_weights: bool = True,
    progress: Progress | None = None,
    report: ConversionReport | None = None,
    device: str | None = None,
    rewrite: bool = True,
    without: Collection[str] = (),
    bounded: bool = False,
    preprocess: bool = False,
    sequence_lengths: bool | SequenceCount = False,
) -> Model:
    """Converts a Paddle inference model of either format.

    The weights stay in the parameter file, which is mapped into memory: as long as the model lives, the file must not
    be written to. Where it may be, as a service's that is exported again, convert with `share_weights=False`.

    Args:
        model: a model folder, a program file (`inference.json`, `inference.pdmodel`, `__model__`), Paddle's path
            prefix, a pair (program file, parameter file), an archive that holds one model (`.tar`, `.tar.gz`, `.zip`),
            the bytes of a program or a stream of them, what `read_program` returns, a `paddle.nn.Layer` or a
            `paddle.static.Program`. Paths may begin with `~` or `file://`, and be bytes.
        params: the parameter file, where it does not lie beside the program under the usual name; for a program in
            memory the bytes of the parameters, or a stream.
        input: names, shapes and types of inputs where they should differ from the program, in the forms of
            `openvino.convert_model`: `{"x": [1, 3, -1, 640]}`, `[("x", [(1, 8), 3, 224, 224])]`,
            `"x[1,3,224..640,?]"`. A name inside the program cuts it there. For a Layer it is its input spec, nested as
            `forward` takes it (`[{"image": InputSpec(...)}]`); an input without a name there is called as the argument
            of `forward`, as Paddle does.
        output: the names of the results to compute, if not all; a variable inside the program cuts it there. For a
            `paddle.static.Program`, which has no results of its own, the variables to fetch, or their names.
        example_input: for a Layer without an input spec: tensors or arrays, nested likewise, to take the shapes and
            types from.
        extension: converters of your own, see `ConversionExtension`.
        verbose: logs what was read, how long each step took, and why rewrites did not apply where they matched;
            the logger `paddle2ov.passes` says so for each node, at the level DEBUG.
        share_weights: constants share the memory-mapped parameter file. What is written to it shows in the model, and
            where it is cut off, the process ends; a file that is replaced (`os.replace`) does no harm. False reads
            the weights into memory of the model's own, and refuses files that change meanwhile. Parameters in a file
            each (Paddle 1) are always read.
        progress: called with (operators done, operators in all) as the conversion goes on.
        report: a new `ConversionReport`, which is filled with what the conversion did.
        device: the device that the graph is made for: "CPU", "GPU" or "NPU". What its part of OpenVINO computes wrongly
            is kept out of the graph; None keeps out what any of them does. The graph's runtime information says so.
        rewrite: False leaves out the rewrites that make the model faster, not what the results depend on.
        without: names of workarounds for faults of OpenVINO to leave out, or of such faults; `docs/rewrites.md` lists
            them.
        bounded: dynamic inputs take the least and largest shapes that the `inference.yml` beside the model gives them.
        preprocess: builds the preprocessing of that file into the model, see `paddle2ov.deployment.preprocessing`;
            what stays with the caller is logged and stands in the model's runtime information.
        sequence_lengths: each input that the program declares with LoD, whose rows are one sequence otherwise, may hold
            several, one after the other: an input `NAME.lengths`, int64 [count], after the program's own inputs, says
            how long each is. Results that hold sequences likewise have a result `NAME.lengths`, after the others.
            "few" computes the same, faster for up to some twenty sequences of recurrent layers, whose rows it takes one
            by one; "one" has these inputs and results, for a single sequence.

    Returns:
        The model. Inputs and results have Paddle's names, order and types.

    Raises:
        ModelReadError: the model cannot be found or read, or its files change while they are read.
        UnsupportedOpsError: it holds operators without a converter; all of them are named.
        OpConversionError: an operator is used in a way that cannot be converted.
        ConversionInputError: an argument does not fit the model.
    """
    check_flags(verbose=verbose, share_weights=share_weights, rewrite=rewrite, bounded=bounded, preprocess=preprocess)
    check_callables(progress=progress)
    if not isinstance(sequence_lengths, bool | str) or sequence_lengths not in (False, True, "one", "few", "many"):
        raise ConversionInputError(
            f"sequence_lengths: {sequence_lengths!r} is neither a bool nor 'one', 'few' or 'many'"
        )
    if report is not None:
        _check_report(report)
    target = Target.named(device)
    rewrites = rewrites_for(target, without, rewrite=rewrite)
    registry = Registry(extension)  # loaded once per process, not part of the time of this model
    clock = [time.perf_counter()]
    request = prepare(
        registry,
        model,
        params,
        input,
        output,
        example_input=example_input,
        share_weights=share_weights,
        sequence_lengths=sequence_lengths,
    )
    program = request.program
    _warn_of_arguments(request, is_read=program is not model)
    settings = None
    if bounded or preprocess:
        from paddle2ov.deployment.beside import folder_of, required_settings
        from paddle2ov.deployment.bounds import bounded as bounded_by

        settings = required_settings(folder_of(model))
        if bounded:
            request = replace(request, overrides=bounded_by(settings, program.inputs, request.overrides))
    clock.append(time.perf_counter())
    converted = convert_program(replace(request, provenance=report is not None), progress)
    if report is not None:
        report.nodes = len(converted.get_ops())
        name_after_operators(converted, program)
    clock.append(time.perf_counter())
    with charging(budget_of(program)):
        done, failures = _rewrite(converted, rewrites)
    stamp(converted, target)
    clock.append(time.perf_counter())
    if settings is not None and preprocess:
        _build_in(converted, settings, target, without, done)
        clock.append(time.perf_counter())
    took = (after - before for before, after in itertools.pairwise(clock))
    seconds = dict(zip(("read", "translate", "rewrite", "preprocess"), took, strict=False))
    if report is not None:
        from paddle2ov.deployment.beside import known_beside

        _note_program(report, program)
        _note_nodes(report, converted, program)
        report.rewrites, report.match_failures = done, failures
        report.settings = settings or known_beside(model)
        report.seconds = seconds
    if program.source is not None:
        remember_source(converted, program.source)
    if verbose:
        with _audible():
            _log_steps(program, converted, seconds, failures)
    return converted


def translated(model: ModelArgument, extension: Extension = None) -> Model:
    """The graph as the converters make it, without any rewrite, to compare with.

    Raises:
        Paddle2OVError: as `convert` does.
    """
    converted = convert_program(prepare(Registry(extension), model))
    narrow_inputs(Graph(converted))
    return converted


def _warn_of_arguments(request: TranslationRequest, is_read: bool) -> None:
    """Logs which arguments have no effect; of a program that was read, not given as such, also which are missing."""
    program, sequence_lengths = request.program, request.sequence_lengths
    for name, key in request.registry.unused(program):
        log.warning("extension: '%s' is not used: PIR's operator of that name goes by '%s' here", name, key)
    if not is_read:
        return
    sequences = [f"'{variable.name}'" for variable in program.inputs if variable.lod_level]
    if sequences and not sequence_lengths:
        log.warning(
            "inputs that take sequences (LoD): %s; the converted model takes one in each: for several, convert with "
            "sequence_lengths=True (--sequence-lengths)",
            some_of(sequences),
        )
    if sequence_lengths is True:
        warn_without_sequences(program)


def warn_without_sequences(program: Program) -> None:
    """Logs that lengths of sequences are asked for in vain, where they are."""
    results = [program.variables.get(item.variable) for item in program.outputs]
    if not any(variable.lod_level for variable in (*program.inputs, *results) if variable is not None):
        log.warning(
            "sequence_lengths (--sequence-lengths) has no effect: no input or result is declared with sequences (LoD)"
        )


def _rewrite(model: Model, rewrites: tuple[Rewrite, ...]) -> tuple[dict[str, Counts], MatchFailures]:
    """Narrows the inputs and runs the rewrites; returns what they did, and why they did not apply elsewhere.

    Nothing here outlives the call: a list of nodes keeps replaced ones alive.
    """
    failures: MatchFailures = {}
    graph = Graph(model, failures)
    narrow_inputs(graph)
    return rewrite_graph(graph, rewrites), failures


def _check_report(report: object) -> None:
    """Refuses what is no report, such as the path of one."""
    from paddle2ov.report import ConversionReport

    if not isinstance(report, ConversionReport):
        raise ConversionInputError(f"report: a ConversionReport to fill is expected, not {type(report).__name__}")


def _build_in(
    model: Model, settings: Settings, target: Target, without: Collection[str], done: dict[str, Counts]
) -> None:
    """Builds the preprocessing into the model, and keeps out of it what OpenVINO computes wrongly."""
    from paddle2ov.deployment.preprocessing import build_in

    build_in(model, settings)
    again = apply(model, target, without=without)  # a quantized model begins with a FakeQuantize, for example
    for name, counts in again.items():
        done[name] = {kind: count + done[name].get(kind, 0) for kind, count in counts.items()}


def _note_nodes(report: ConversionReport, model: Model, program: Program) -> None:
    """Counts the nodes of the model, and lists the operators that they come from."""
    name_after_operators(model, program)
    report.nodes_after = len(model.get_ops())
    ids: dict[str, int] = {}  # legacy programs own some blocks more than once
    for id, operator in enumerate(program.block.walk()):
        ids.setdefault(operator_id(operator), id)
    report.origins = {name: tuple(map(ids.__getitem__, places)) for name, places in operators_by_name(model).items()}


def _note_program(report: ConversionReport, program: Program) -> None:
    report.format, report.program = program.format, replace(program, parameters={})
    report.parameters = len(program.parameters)
    report.parameter_bytes = sum(weight.data.nbytes for weight in program.parameters.values())
    report.operators = len(program.block.walk())


@contextmanager
def _audible() -> Iterator[None]:
    """Lets the library's log be seen, where the program has not set up logging itself."""
    handler, level = logging.StreamHandler(), log.level
    is_set_up = bool(logging.getLogger().handlers or log.handlers)
    if not is_set_up:
        log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.setLevel(level)
        log.removeHandler(handler)


def _log_steps(program: Program, model: Model, seconds: Mapping[str, float], failures: MatchFailures) -> None:
    """Logs what a conversion did, and why rewrites did not apply where their patterns matched, for `verbose`."""
    from paddle2ov.report import ConversionReport, size_text

    read = ConversionReport()
    _note_program(read, program)
    took = {stage: 1e3 * time for stage, time in seconds.items()}
    log.info(
        "read a %s program of version %d: %d operators, %d parameters (%s) in %.1f ms",
        program.format,
        program.version,
        read.operators,
        read.parameters,
        size_text(read.parameter_bytes),
        took["read"],
    )
    log.info("translated in %.1f ms", took["translate"])
    log.info("rewrote the graph in %.1f ms", took["rewrite"])
    if "preprocess" in took:
        log.info("built the preprocessing in, in %.1f ms", took["preprocess"])
    log.info("the model has %d nodes", len(model.get_ops()))
    for name, reasons in failures.items():
        for reason, count in reasons.items():
            log.info("%s left alone %d: %s", name, count, reason)
