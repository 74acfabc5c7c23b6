"""Cases of one operator checked as parts of one compiled model: a tenth of the time of one by one."""

from gen_models.harness.exploration import BatchError
from gen_models.harness.store import generated
from paddle2ov import convert
from paddle2ov.testing import check_case, check_cases

LARGE = 200  # nodes: many selections of boxes, of 600 nodes each, take longer to compile together than one by one

_tried: dict[tuple[str, str, bool, bool, tuple[str, ...]], Exception | bool] = {}
"""Batch -> its error; True if it agrees, False if its cases are checked one by one."""


def check_in_batch(op, name, batch, format, *, declared, dynamic):
    """Checks one case of an operator, with the others of its batch where that is possible.

    If they fail together each tells by itself whether it is the one. The first that is asked for tries the others too:
    that they fail only together is an error of its own.

    Args:
        op: the operator.
        name: the name of the case.
        batch: the names of the cases to check together, this one among them; empty for none.
        format: "pir" or "legacy".
        declared: whether to check with the shapes that the program declares.
        dynamic: whether to check with dynamic dimensions.
    """
    cases = {one.name: one for one in op.cases}
    how = {"declared": declared, "dynamic": dynamic}
    key = op.name, format, declared, dynamic, batch
    is_first = key not in _tried
    if is_first:
        _tried[key] = _check_together(op, [cases[one] for one in batch], format, how)
    found = _tried[key]
    if found is True:
        return
    check_case(generated(op, cases[name], format), **how)
    if is_first and found and all(_agrees(op, cases[one], format, how) for one in batch):
        raise BatchError(f"{', '.join(batch)} agree one by one, but not as parts of one model: {found}") from found


def _check_together(op, cases, format, how):
    try:
        if len(cases) < 2 or len(convert(generated(op, cases[0], format)).get_ops()) > LARGE:
            return False
        check_cases([generated(op, case, format) for case in cases], **how)
    except Exception as error:  # which of them it is, and why, each tells by itself
        return error
    return True


def _agrees(op, case, format, how):
    try:
        check_case(generated(op, case, format), **how)
    except Exception:
        return False
    return True
