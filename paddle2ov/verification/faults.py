"""Names what is at fault where results differ, an operator or something around it, and what to do about it."""

from __future__ import annotations

import dataclasses
import json
import shlex
import warnings
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from openvino import Model, PartialShape

from paddle2ov.comparison.differences import TensorComparison, compare_results
from paddle2ov.comparison.paddle_process import save_arrays
from paddle2ov.conversion import convert, translated
from paddle2ov.deployment.saving import save_model, write_text
from paddle2ov.errors import ConversionWarning, Place
from paddle2ov.graph.node_names import LENGTHS_SUFFIX
from paddle2ov.program.op_versions import older_meaning
from paddle2ov.report import jsonable
from paddle2ov.translation.translator import Progress
from paddle2ov.verification.body_search import find_in_body
from paddle2ov.verification.both_sides import Sides, Subject, run_openvino
from paddle2ov.verification.cutting import extract
from paddle2ov.verification.judgement import is_paddle_rounding
from paddle2ov.verification.localisation import Localisation, Localiser, OperatorComparison
from paddle2ov.verification.results import ComparedOperator, Culprit, Rounded, Run, Verification
from paddle2ov.verification.runs import own_shapes, shapes_option

INT64 = (
    "The integers there are beyond 32 bits, and OpenVINO's CPU plugin computes int64 as int32 (docs/limits.md): take "
    "remainders before the model"
)


def compare_operators(found: Verification, subject: Subject, one: Sides, progress: Progress) -> None:
    """Notes how each operator compares in the whole model."""
    compared = Localiser(one.values, subject.tolerance).compare_all(progress)
    found.operators = [_as_compared_operator(operator) for operator in compared]


def locate_fault(found: Verification, subject: Subject, one: Sides, case: Path | None, progress: Progress) -> None:
    """Looks for the operator at fault on one set of inputs, whose results differ; decides what the run comes to.

    The operator is noted in `found`, and written to the folder `case`.
    """
    location = Localiser(
        one.values,
        subject.tolerance,
        subject.judge,
        lambda operator: find_in_body(subject, one.values, operator, operator),
    ).run(progress)
    if not found.operators:
        found.operators = [_as_compared_operator(operator) for operator in location.operators]
    found.rounded += [_as_rounded(operator) for operator in location.rounded]
    one.run = replace(one.run, rounding=_is_rounding(one.run, location))
    if location.culprit is not None:
        if not one.run.rounding:
            _explain(found, location.inside or location, case, subject, one.run)
    elif not location.rounded:
        found.add_note(_fault_outside_operators(subject, one, found.model))


def _is_rounding(run: Run, location: Localisation) -> bool:
    """Whether all that differs is Paddle's rounding.

    Float64 has to show it of the results; where OpenVINO is the nearer one, but beyond the tolerance itself, no
    operator may be wrong alone besides. Where the whole program is not computed in float64, that has to show it of the
    operators that differ, and nothing may differ once OpenVINO takes Paddle's results of these.
    """
    if run.error or not _has_distances(run.outputs):
        return False
    culprit, float64 = location.culprit, run.float64
    if location.inside is not None and location.inside.culprit is not None:
        culprit = location.inside.culprit
    if culprit is not None and isinstance(culprit.float64, tuple):
        return False  # which it showed to be wrong
    no_fault = location.unknown == 0 and (culprit is None or location.amplifies)
    if isinstance(float64, tuple):
        return is_paddle_rounding(float64) or (no_fault and all(item.is_nearer for item in float64))
    return no_fault and location.is_explained


def _has_distances(compared: Iterable[TensorComparison]) -> bool:
    return all(result.comparable for result in compared)


def _explain(found: Verification, location: Localisation, case: Path | None, subject: Subject, run: Run) -> None:
    culprit = location.culprit
    assert culprit is not None
    place = location.place = location.place or culprit.operator.place
    if case is not None and location.isolated is not None:
        _save_case(case, found, location)
    else:
        case = None
    found.culprit = Culprit(
        place.op_type,
        place.index,
        place.block,
        str(place),
        culprit.outputs,
        culprit.isolated,
        location.amplifies,
        case,
        tuple(location.within),
        culprit.float64 or "",
    )
    if older := older_meaning(culprit.operator.type, subject.program, found.paddle):
        found.add_note(f"'{place.op_type}' is converted as the Paddle computed it that wrote the program: {older}")
    wide = [item for item in culprit.outputs if item.dtype == "int64" and item.relative > 0]
    if any(item.absolute >= 2**31 * item.relative for item in wide):  # Paddle's largest integer
        found.add_note(INT64)
    if location.amplifies and not _has_distances(culprit.outputs):
        found.add_note(_differs_in_shape(subject, run, place, found.model))
    elif location.amplifies:
        found.add_note(
            "No operator is wrong by itself: each agrees with Paddle when it gets Paddle's inputs. The difference is "
            "rounding that adds up and that the network magnifies, or an optimisation of OpenVINO's"
        )
    elif culprit.operator.blocks:
        rounding = ", or rounding that adds up from iteration to iteration" if _has_distances(culprit.outputs) else ""
        found.add_note(
            "No operator inside of it is at fault, as far as they can be run alone: its own conversion is, or an "
            f"operator over tensor arrays{rounding}"
        )


def _differs_in_shape(subject: Subject, run: Run, place: Place, model: Path) -> str:
    """What to say of an operator whose result has another shape or type, but not where it is alone."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConversionWarning)
        translated(subject.program, subject.extension)
    texts = [str(warning.message) for warning in caught]
    warned = next(
        (f"The conversion warned of it: {text.splitlines()[0]}. " for text in texts if str(place) in text), ""
    )
    how = _for_these_shapes(subject, run, model)
    return (
        "It agrees alone, where the shapes of its inputs are known; where they are open, as in the whole model, its "
        f"result has another shape or type. {warned}Convert for the shapes that you use, {how}"
    )


def _for_these_shapes(subject: Subject, run: Run, model: Path) -> str:
    """How to convert for the shapes of a run."""
    options = [shlex.quote(str(model)), shapes_option(run.inputs)]
    if any(name.endswith(LENGTHS_SUFFIX) for name in run.inputs):
        options.append("--sequence-lengths")
    if subject.program is not subject.whole:
        options.append(f"--output {shlex.quote(','.join(result.name for result in subject.program.outputs))}")
    if subject.where.target is not None:
        options.append(f"--device {subject.where.target}")
    if not model.is_file():  # but live, or in memory
        return f"with input={own_shapes(run.inputs)}"
    return f"as `paddle2ov convert {' '.join(options)} --verify` does (--params and --extension as they are given here)"


def _fault_outside_operators(subject: Subject, one: Sides, model: Path) -> str:
    """What is at fault where all operators agree: the rewrites, OpenVINO's, or a place that cannot be looked into."""
    again = partial(convert, subject.program, extension=subject.extension, device=subject.where.target)
    if subject.retyped and _agrees(again(), subject, one):
        types = ", ".join(f"'{name}' as {kind.get_type_name()}" for name, kind in subject.retyped.items())
        return f"All operators agree, and so do the results with the program's own types of inputs: not with {types}"
    if _agrees(translated(subject.program, subject.extension), subject, one):
        return (
            "All operators agree; without paddle2ov's rewrites (paddle2ov/passes) the results agree too: one is wrong"
        )
    if one.run.error:
        others = [
            f"'{item.name}' as {list(item.shape)}"
            for item in subject.program.inputs
            if item.shape is not None  # Paddle does not compare the two
            if not PartialShape(list(item.shape)).compatible(PartialShape(list(one.run.inputs[item.name])))
        ]
        if others:
            return (
                f"The program declares {', '.join(others)}, and its model takes no other sizes: give such "
                f"(--input, in Python shapes=), or convert for these, {_for_these_shapes(subject, one.run, model)}"
            )
        return "No operator that can be run alone differs"
    tie = "rounding that tips a near tie (boxes sorted by score), " if _has_distances(one.run.outputs) else ""
    return (
        f"All operators that can be compared agree, yet the whole model differs: {tie}an optimisation of OpenVINO, or "
        "an operator whose results cannot be fetched (tensor arrays)"
    )


def _agrees(model: Model, subject: Subject, one: Sides) -> bool:
    """Whether the program, converted with its own types of inputs, has Paddle's results."""
    try:
        results, _ = run_openvino(subject.where.compile(model), one.values.inputs)
    except RuntimeError:  # without workarounds, OpenVINO need not even compile it
        return False
    return all(result.ok for result in compare_results(results, one.expected, subject.tolerance))


def _save_case(folder: Path, found: Verification, location: Localisation) -> None:
    culprit, isolated = location.culprit, location.isolated
    assert culprit is not None
    assert isolated is not None
    operator = culprit.operator
    folder.mkdir(parents=True, exist_ok=True)
    save_arrays(folder / "inputs.npz", {name: input_.array for name, input_ in isolated.inputs.items()})
    save_arrays(folder / "outputs.npz", {name: value.array for name, value in isolated.expected.items()})
    save_arrays(folder / "openvino.npz", {name: result.array for name, result in isolated.results.items()})
    save_model(isolated.model, folder / "model.xml", fp16=False)
    record = {
        "operator": operator.type,
        "place": str(location.place),
        "within": location.within,
        "inputs": operator.inputs,
        "outputs": operator.outputs,
        "attributes": operator.attributes,
        "dtypes": {name: input_.dtype for name, input_ in (isolated.inputs | isolated.expected).items()},
        "model": str(found.model),
        "format": found.format,
        "paddle": found.paddle,
        "openvino": found.openvino,
        "differences": [dataclasses.asdict(item) for item in culprit.isolated or ()],
    }
    write_text(folder / "case.json", json.dumps(jsonable(record), indent=1, default=str) + "\n")
    extract(folder, location.values, operator, isolated.inputs.keys(), list(isolated.expected))


def _as_compared_operator(one: OperatorComparison) -> ComparedOperator:
    place = one.operator.place
    outputs = one.isolated if one.isolated is not None else one.outputs
    return ComparedOperator(place.op_type, place.index, str(place).splitlines()[0], outputs, one.inputs_agree)


def _as_rounded(one: OperatorComparison) -> Rounded:
    place = one.operator.place
    assert isinstance(one.float64, tuple)
    return Rounded(place.op_type, place.index, place.block, str(place).splitlines()[0], one.float64)
