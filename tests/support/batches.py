"""Cases of operators checked as parts of one compiled model: a tenth of the time of one by one."""

import json
from itertools import groupby
from typing import NamedTuple

import openvino

from gen_models import all_ops
from gen_models.harness.exploration import BatchError
from gen_models.harness.generate import GenerationError
from gen_models.harness.store import generated, generated_together
from paddle2ov.comparison.differences import Expected
from paddle2ov.compilation.running import name_of
from paddle2ov.conversion import convert
from paddle2ov.testing import Trial, _check, _check_together, _trials_of_case, check_case, load
from tests.support.formats import Form

LARGE = 200  # nodes: many selections of boxes, of 600 nodes each, take longer to compile together than one by one

_tried: dict[tuple, Exception | bool] = {}
"""Batch -> its error; True if it agrees, False if its cases are checked one by one."""


class Check(NamedTuple):
    """A case of an operator, by their names, in a form."""

    op: str
    case: str
    form: Form


def check_in_batch(check, batch):
    """Checks one case of an operator, with the others of its batch where that is possible.

    If they fail together each tells by itself whether it is the one. The first that is asked for tries the others too:
    that they fail only together is an error of its own.

    Args:
        check: the case.
        batch: the checks to make together, this one among them; empty for none.
    """
    is_first = batch not in _tried
    if is_first:
        _tried[batch] = _tried_together(batch)
    outcome = _tried[batch]
    if outcome is True:
        return
    _check_alone(check)
    if is_first and outcome and all(map(_agrees, batch)):
        names = ", ".join(item.case for item in batch)
        raise BatchError(f"{names} agree one by one, but not as parts of one model: {outcome}") from outcome


def _tried_together(batch):
    """Which of them it is that fails, and why, each tells by itself."""
    if len(batch) < 2:
        return False
    try:
        small, large = [], []
        for (op, format), checks in groupby(sorted(batch, key=_program), _program):
            for trial in _trials(all_ops()[op], list(checks), format):
                (small if len(trial.model.get_ops()) <= LARGE else large).append(trial)
        for trial in large:
            _check(trial)
        if small:
            _check_together(small)
    except Exception as error:
        return error
    return True


def _program(check):
    return check.op, check.form.format


def _trials(op, checks, format):
    """The checks of an operator in a format, of models that are cut out of one of all of them."""
    try:
        return list(_cut_trials(op, checks, format))
    except (GenerationError, RuntimeError):  # Paddle refuses one program of all, or a case reads the input of another
        return [trial for check in checks for trial in _trials_of_case(_folder(check), None, *check.form[1:])]


def _cut_trials(op, checks, format):
    cases = [_case(check) for check in checks]
    folder = generated_together(op, cases, format)
    numbers = range(len(cases))
    dynamic = {number for number in numbers if checks[number].form.dynamic and cases[number].dynamic}
    declared = {number for number in numbers if checks[number].form.declared or not cases[number].dynamic}
    yield from _cut(folder, cases, {*numbers}, dynamic - declared)
    if dynamic & declared:
        yield from _cut(folder, cases, dynamic & declared, dynamic)


def _cut(folder, cases, chosen, dynamic):
    """The models of the chosen cases, by their numbers, of one program of all; which have dynamic dimensions."""
    record = json.loads((folder / "case.json").read_text())
    inputs, arrays = load(folder / "inputs.npz"), load(folder / "outputs.npz")
    expected = [Expected(item["name"], item["dtype"], arrays[str(i)]) for i, item in enumerate(record["outputs"])]
    fed = [{name: array for name, array in inputs.items() if name.startswith(f"{i}_")} for i in range(len(cases))]
    shapes = {
        name: [-1] * (array.ndim + (array.dtype.kind == "c"))
        for number in dynamic
        for name, array in fed[number].items()
    }
    model = convert(folder, input=shapes or None)
    parameters = {name_of(node.output(0), inputs): node for node in model.get_parameters()}
    results, end = model.get_results(), 0
    for number, (case, count) in enumerate(zip(cases, record["results"], strict=True)):
        start, end = end, end + count
        if number in chosen:
            part = openvino.Model(results[start:end], [parameters[name] for name in fed[number]])
            where = (
                f"{case.name} ({record['format']}), {'dynamic' if number in dynamic else 'as declared'}, in {folder}"
            )
            yield Trial(where, part, fed[number], expected[start:end], case.atol, case.rtol)


def _case(check):
    return next(case for case in all_ops()[check.op].cases if case.name == check.case)


def _folder(check):
    return generated(all_ops()[check.op], _case(check), check.form.format)


def _check_alone(check):
    check_case(_folder(check), declared=check.form.declared, dynamic=check.form.dynamic)


def _agrees(check):
    try:
        _check_alone(check)
    except Exception:
        return False
    return True
