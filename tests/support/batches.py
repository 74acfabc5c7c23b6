"""Cases of operators checked as parts of one compiled model: a tenth of the time of one by one."""

from typing import NamedTuple

from gen_models import all_ops
from gen_models.harness.exploration import BatchError
from gen_models.harness.store import generated
from paddle2ov.testing import _check, _check_together, _trials_of_case, check_case
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
        folders = [(_folder(check), check.form) for check in batch]
        small, large = [], []
        for folder, form in folders:
            for trial in _trials_of_case(folder, None, form.declared, form.dynamic):
                (small if len(trial.model.get_ops()) <= LARGE else large).append(trial)
        for trial in large:
            _check(trial)
        if small:
            _check_together(small)
    except Exception as error:
        return error
    return True


def _folder(check):
    op = all_ops()[check.op]
    return generated(op, next(case for case in op.cases if case.name == check.case), check.form.format)


def _check_alone(check):
    check_case(_folder(check), declared=check.form.declared, dynamic=check.form.dynamic)


def _agrees(check):
    try:
        _check_alone(check)
    except Exception:
        return False
    return True
