"""Cases of one operator checked as parts of one compiled model: a tenth of the time of one by one."""

from gen_models.harness.exploration import BatchError
from gen_models.harness.store import generated
from paddle2ov.testing import _check_together, _trials_of_case, check_case

LARGE = 200  # nodes: many selections of boxes, of 600 nodes each, take longer to compile together than one by one

_tried: dict[tuple, Exception | bool] = {}
"""Batch -> its error; True if it agrees, False if its cases are checked one by one."""


def check_in_batch(op, check, batch):
    """Checks one case of an operator, with the others of its batch where that is possible.

    If they fail together each tells by itself whether it is the one. The first that is asked for tries the others too:
    that they fail only together is an error of its own.

    Args:
        op: the operator.
        check: the name of the case, and the `Form` that it is checked in.
        batch: the checks to make together, this one among them; empty for none.
    """
    is_first = batch not in _tried
    if is_first:
        _tried[batch] = _tried_together(op, batch)
    found = _tried[batch]
    if found is True:
        return
    _check_alone(op, check)
    if is_first and found and all(_agrees(op, item) for item in batch):
        names = ", ".join(name for name, _ in batch)
        raise BatchError(f"{names} agree one by one, but not as parts of one model: {found}") from found


def _tried_together(op, batch):
    """Which of them it is that fails, and why, each tells by itself."""
    try:
        folders = [(_folder(op, check), check[1]) for check in batch]
        if len(batch) < 2:
            return False
        trials = _trials(folders)
        first = next(trials)
        if len(first.model.get_ops()) > LARGE:
            return False
        _check_together([first, *trials])
    except Exception as error:
        return error
    return True


def _trials(folders):
    for folder, form in folders:
        yield from _trials_of_case(folder, None, form.declared, form.dynamic)


def _folder(op, check):
    name, form = check
    return generated(op, next(case for case in op.cases if case.name == name), form.format)


def _check_alone(op, check):
    check_case(_folder(op, check), declared=check[1].declared, dynamic=check[1].dynamic)


def _agrees(op, check):
    try:
        _check_alone(op, check)
    except Exception:
        return False
    return True
