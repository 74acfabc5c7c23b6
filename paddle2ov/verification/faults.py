"""Names what is at fault where results differ: the operator, with a case that shows it, or something around it."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path

from paddle2ov.conversion import convert
from paddle2ov.deployment.saving import save_model, write_text
from paddle2ov.program import ModelFiles
from paddle2ov.report import jsonable
from paddle2ov.testing import compile_model
from paddle2ov.verification.body_search import BodyFault, BodySearch
from paddle2ov.verification.both_sides import Sides, Subject, results_of
from paddle2ov.verification.comparison import compare_results
from paddle2ov.verification.extract import extract
from paddle2ov.verification.localisation import Localisation, Localiser, OperatorComparison
from paddle2ov.verification.paddle_process import save_arrays
from paddle2ov.verification.results import ComparedOperator, Culprit, Verification
from paddle2ov.verification.values import Values


def locate_fault(
    found: Verification,
    subject: Subject,
    one: Sides,
    case: str | os.PathLike[str] | None,
    progress: Callable[[int, int], None],
) -> None:
    """Compares the values inside the program; notes each operator and, where the results differ, what is at fault.

    Args:
        found: where it is noted.
        subject: what is compared.
        one: the set of inputs to look at.
        case: where to write the operator at fault.
        progress: called with (operators done, operators in all).
    """
    location = Localiser(one.values, subject.tolerance).run(progress)
    found.operators = [_as_compared_operator(operator) for operator in location.operators]
    if found.verdict != "differ":
        return
    with BodySearch(subject.tolerance, subject.extension, subject.paddle_python, subject.precision) as search:
        _explain(found, _inside(one.values, subject.files, location, search), case)
    if location.culprit is None:
        found.add_note(_fault_outside_operators(subject, one))


def _inside(values: Values, files: ModelFiles, location: Localisation, search: BodySearch) -> BodyFault | None:
    """The operator at fault, inside of a body if it can be found there."""
    if location.culprit is None:
        return None
    operator = location.culprit.operator
    found = None
    if operator.blocks and not location.amplifies:
        found = search.run(values, files, operator, operator)
    return found or BodyFault(location, operator, files, values.program)


def _explain(found: Verification, inside: BodyFault | None, case: str | os.PathLike[str] | None) -> None:
    if inside is None or (one := inside.location.culprit) is None:
        return
    location, place = inside.location, inside.operator.place
    folder = None
    if case is not None and location.isolated is not None:
        folder = _save_case(Path(case), found, inside)
        inputs, results = location.isolated.inputs.keys(), list(location.isolated.expected)
        extract(folder, inside.files, inside.program, one.operator, inputs, results)
    found.culprit = Culprit(
        place.op_type,
        place.index,
        place.block,
        str(place),
        one.outputs,
        one.isolated,
        location.amplifies,
        folder,
        tuple(inside.within),
    )
    if location.amplifies:
        found.add_note(
            "Every operator agrees with Paddle when it gets Paddle's inputs: the difference is rounding that the "
            "network magnifies"
        )
    elif one.operator.blocks:
        found.add_note(
            "No operator inside of it is at fault, as far as they can be run alone: its own conversion is, or an "
            "operator over tensor arrays"
        )


def _fault_outside_operators(subject: Subject, one: Sides) -> str:
    """What is at fault where all operators agree: the rewrites, OpenVINO's, or a place that cannot be looked into."""
    plain_model = convert(subject.program, extension=subject.extension, rewrite=False)
    results = results_of(compile_model(plain_model, subject.precision), dict(one.values.inputs))
    if all(result.ok for result in compare_results(results, one.expected, subject.tolerance)):
        return (
            "All operators agree; without paddle2ov's rewrites (paddle2ov/passes) the results agree too: one is wrong"
        )
    return (
        "All operators that can be compared agree, yet the whole model differs: rounding that tips a near tie (boxes "
        "sorted by score), an optimisation of OpenVINO, or an operator whose results cannot be fetched (tensor arrays)"
    )


def _save_case(folder: Path, found: Verification, inside: BodyFault) -> Path:
    location = inside.location
    assert location.culprit is not None
    assert location.isolated is not None
    operator, isolated = location.culprit.operator, location.isolated
    folder.mkdir(parents=True, exist_ok=True)
    save_arrays(folder / "inputs.npz", {name: one.array for name, one in isolated.inputs.items()})
    save_arrays(folder / "outputs.npz", {name: one.array for name, one in isolated.expected.items()})
    save_arrays(folder / "openvino.npz", {name: one.array for name, one in isolated.results.items()})
    save_model(isolated.model, folder / "model.xml", fp16=False)
    record = {
        "operator": operator.type,
        "place": str(inside.operator.place),
        "within": inside.within,
        "inputs": operator.inputs,
        "outputs": operator.outputs,
        "attributes": operator.attributes,
        "dtypes": {name: one.dtype for name, one in (isolated.inputs | isolated.expected).items()},
        "model": str(found.model),
        "format": found.format,
        "paddle": found.paddle,
        "openvino": found.openvino,
        "differences": [dataclasses.asdict(one) for one in location.culprit.isolated or ()],
    }
    write_text(folder / "case.json", json.dumps(jsonable(record), indent=1, default=str) + "\n")
    return folder


def _as_compared_operator(one: OperatorComparison) -> ComparedOperator:
    place = one.operator.place
    return ComparedOperator(place.op_type, place.index, str(place).splitlines()[0], one.outputs, one.inputs_agree)
