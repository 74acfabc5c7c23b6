"""Checks that a device computes a graph correctly in a given precision: `check(model)`. Needs no Paddle."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import openvino
from openvino import Model, Tensor

from paddle2ov.arguments import MODEL_NAMES, called_here, check_callables, check_timeout
from paddle2ov.checking.case import write_case
from paddle2ov.checking.choices import NodeTie
from paddle2ov.checking.device import Device, chosen_device, default_precision, primitive_lines
from paddle2ov.checking.input_sets import chosen_inputs, run_orders, tensors_of
from paddle2ov.checking.judge import Judge
from paddle2ov.checking.results import Check, CheckedRun, Fault
from paddle2ov.checking.rewrites import RewriteCheck
from paddle2ov.checking.shrink import Shrinker, Wrong
from paddle2ov.comparison.evaluator import numbered
from paddle2ov.compilation.graphs import graph_of
from paddle2ov.compilation.precision import HINT, check_compilable, checked_precision
from paddle2ov.compilation.precision_names import PrecisionName
from paddle2ov.conversion import translated
from paddle2ov.deployment.saving import case_folder
from paddle2ov.errors import ConversionInputError, ConversionWarning, OpenVINORunError, warn
from paddle2ov.inputs.given_arrays import InputsArgument
from paddle2ov.inputs.usual_sizes import shape_sets
from paddle2ov.passes import run_rewrites
from paddle2ov.program.archives import origin, taking_archives
from paddle2ov.program.files import is_read_by_openvino, model_path, parameter_file
from paddle2ov.program.model import Program
from paddle2ov.program.reading import read_program
from paddle2ov.progress import StageProgress
from paddle2ov.translation.extension import Extension
from paddle2ov.translation.input_spec import InputArgument
from paddle2ov.translation.model_argument import ModelArgument, ParamsArgument
from paddle2ov.translation.registry import Registry
from paddle2ov.translation.saved_models import saving_models
from paddle2ov.workarounds import Target, mismatch, rewrites_for

_SHRINKING = 300.0


@called_here(**MODEL_NAMES, input="shapes", input_shape="shapes", shape="shapes", extensions="extension")
@saving_models
@taking_archives()
def check(
    model: Model | ModelArgument,
    params: ParamsArgument = None,
    *,
    inputs: InputsArgument = None,
    shapes: InputArgument | Sequence[InputArgument] = None,
    seed: int = 0,
    device: str = "CPU",
    precision: PrecisionName = "f32",
    case: str | os.PathLike[str] | None = None,
    timeout: float | None = _SHRINKING,
    extension: Extension = None,
    progress: StageProgress | None = None,
) -> Check:
    """Checks that a device computes what a graph says.

    The compiled model runs on one request, first large inputs, then small ones, then large ones again. Its results are
    compared with those of the graph computed node by node. What rounding may do to them is found by computing the
    graph again with random errors of the precision.

    Of a Paddle model it is the graph without the rewrites of the conversion that is computed node by node; where the
    results differ, either the device is at fault or a rewrite. What a converter gets wrong does not show: see `verify`.

    Args:
        model: an `openvino.Model`, an IR (`.xml`) or another file that OpenVINO reads, or a Paddle model as for
            `verify`. A `paddle.static.Program`, whose results are not known here, is to be converted first.
        params: the parameter file of a Paddle model, where it does not lie beside the program under the usual name; or
            its content.
        inputs: arrays by the names of the inputs, an `.npz` file of such, or several of these; default: random ones.
        shapes: shapes of the random inputs, as for `verify`, or the input spec of a Layer. By default several, if they
            are dynamic.
        seed: of the random inputs.
        device: OpenVINO's name of the device.
        precision: what the device computes in: "f32", "bf16", "f16", or "default" for what it takes unless told
            otherwise.
        case: where to write the smallest part that is wrong: as IR (`model.xml`), with its inputs (`inputs_0.npz`,
            ...), what it should compute (`expected_0.npz`, ...), what it is (`case.json`) and a script in plain
            OpenVINO that shows it (`reproduce.py`).
        timeout: seconds to look for the smallest part, after which the smallest found so far is taken. None: no limit.
        extension: converters of your own, as for `convert`.
        progress: called with (what is done, steps done, steps in all).

    Raises:
        ModelReadError: the model cannot be found or read.
        UnsupportedOpsError, OpConversionError: it cannot be converted.
        ConversionInputError: the inputs or shapes do not fit the model, or the device does not compute in that
            precision, or would never end compiling the model in it.
        OpenVINORunError: the model cannot be computed for any of the inputs.
    """
    check_callables(progress=progress)
    check_timeout(timeout)
    folder = case_folder(case)
    short = checked_precision(precision)
    say = progress or (lambda what, done, total: None)
    subject = _subject(model, params, extension, Target.of_device(device))
    target = chosen_device(device, short)
    check_compilable(subject.model, target.name, {HINT: target.precision})
    if unfit := mismatch(subject.model, device):
        warn(unfit, ConversionWarning)
    arrays = chosen_inputs(subject.model, subject.program, inputs, shape_sets(shapes), seed)
    sequences = run_orders(arrays)
    sets = [tensors_of(subject.model, array) for array in arrays]
    report = Check(subject.name, target.name, target.precision, default_precision(device), openvino.__version__)
    report.is_converted = subject.program is not None
    checking = _Checking(subject, target, sets, sequences, say, report, folder, timeout or math.inf)
    report.runs = [run for runs in checking.run() for run in runs]
    if report.runs and all(run.refused for run in report.runs):
        raise OpenVINORunError(
            f"the model cannot be computed for any of the inputs; the first: {report.runs[0].refused}"
        )
    return report


@dataclass(frozen=True, slots=True)
class _Subject:
    """What is checked: the model and its name; of Paddle models the program, and its conversion without rewrites."""

    name: str
    model: Model
    program: Program | None = None
    make_plain: Callable[[], Model] | None = None


def _subject(model: Model | ModelArgument, params: ParamsArgument, extension: Extension, target: Target) -> _Subject:
    is_graph = isinstance(model, Model) or is_read_by_openvino(model)
    if is_graph and params is not None:
        raise ConversionInputError(
            "params: they are those of a Paddle model; an IR has its weights in the .bin beside it"
        )
    if isinstance(model, Model):
        return _Subject(model.get_friendly_name(), model)
    path = model_path(model)
    if is_graph:
        return _Subject(str(path), graph_of(path))
    program = read_program(path, parameter_file(params), Registry(extension).signatures(), mapped=False)
    plain = partial(translated, program, extension)
    rewritten = plain()
    run_rewrites(rewritten, rewrites_for(target))
    return _Subject(str(origin(path)), rewritten, program, plain)


@dataclass(slots=True)
class _Checking:
    """One check: the comparison, and what is at fault."""

    subject: _Subject
    device: Device
    sets: list[list[Tensor]]
    sequences: list[list[int]]
    say: StageProgress
    found: Check
    case: Path | None
    timeout: float

    def run(self) -> list[list[CheckedRun]]:
        """Judges the runs of each request, and adds to the check what is at fault."""
        model = numbered(self.subject.model)
        plain = self.subject.make_plain
        judge = Judge(model, self.device, numbered(plain()) if plain is not None else None, self.say)
        judged = judge.run(self.sets, self.sequences)
        for (kind, method), count in sorted(judge.reference.count_methods().items()):
            self.found.references.setdefault(method, {})[kind] = count
        if _are_ok(judged):
            return judged
        if plain is None:
            self._blame_device(model, judged)
            return judged
        own = Judge(model, self.device, say=self.say).run(self.sets, self.sequences)
        if not _are_ok(own):
            self._blame_device(model, own)
        name, reason, ties = RewriteCheck(plain, self.device, self.say).run(self.sets)
        if name:
            self.found.faults.append(Fault("rewrite", name, reason))
        return [
            [self._of_both(before, item, bool(name), ties) for before, item in zip(*runs, strict=True)]
            for runs in zip(judged, own, strict=True)
        ]

    def _of_both(self, plain: CheckedRun, own: CheckedRun, by_rewrite: bool, ties: Sequence[NodeTie]) -> CheckedRun:
        """A run compared with the graph without rewrites and with the one that was compiled."""
        if not own.ok or plain.ok:
            return own
        return plain if by_rewrite else replace(own, ties=own.ties or tuple(ties))

    def _blame_device(self, model: Model, requests: Sequence[Sequence[CheckedRun]]) -> None:
        sequence, judged = next(
            pair for pair in zip(self.sequences, requests, strict=True) if not all(item.ok for item in pair[1])
        )
        shrinker = Shrinker(model, self.sets, self.device, self.timeout, self.say)
        wrong = shrinker.run(sequence, error=not any(item.wrong for item in judged))
        if wrong is None:
            reason = next(item.reason for item in judged if not item.ok)
            self.found.faults.append(Fault("device", "", f"{reason}; right when it was run once more"))
            return
        self._add(wrong)
        if shrinker.is_late:
            self.found.note = f"The smallest part was looked for in {self.timeout:g} seconds only"

    def _add(self, wrong: Wrong) -> None:
        nodes = wrong.nodes()
        fault = Fault(
            "device",
            name=nodes[0] if nodes else "a result that is an input",
            reason=wrong.reason(),
            references=wrong.references,
            nodes=nodes,
            primitives=primitive_lines(wrong.model, self.device),
            shapes=tuple(tuple(tuple(input_.shape) for input_ in inputs) for inputs in wrong.runs()),
            case=self.case,
        )
        if self.case is not None:
            about = {"openvino": openvino.__version__, "device": self.device.name, "precision": self.device.precision}
            facts = {name: value for name, value in asdict(fault).items() if name not in ("kind", "case")}
            write_case(self.case, wrong, self.device, {**about, **facts})
        self.found.faults.append(fault)


def _are_ok(requests: Sequence[Sequence[CheckedRun]]) -> bool:
    return all(item.ok for judged in requests for item in judged)
