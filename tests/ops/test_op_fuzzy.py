"""Every case of every operator, in both formats: what OpenVINO computes is what Paddle computes."""

from functools import cache

import pytest

from gen_models import all_ops
from gen_models.harness.store import generated
from paddle2ov import convert
from paddle2ov.testing import check_case, check_cases
from tests.support.formats import marks_of


def cases():
    for op in all_ops().values():
        for case in op.cases:
            for format in case.formats:
                marks = [pytest.mark.xfail(reason=case.xfail, strict=True)] if case.xfail else []
                yield pytest.param(
                    op, case, format, marks=[*marks, *marks_of(format)], id=f"testOpFuzzy/{case.name}/{format}"
                )


def is_dynamic(case, format):
    # Both formats go through the same converters: with every dimension dynamic, one of them is enough.
    return format == case.formats[0]


TOGETHER = 10
LARGE = 200  # nodes: many selections of boxes, of 600 nodes each, take longer to compile together than one by one


@cache
def agree(op, format, dynamic, names):
    """Whether these cases of an operator agree, as parts of one compiled model: a tenth of the time of one by one."""
    asked = [case for case in all_ops()[op].cases if case.name in names]
    try:
        if len(convert(generated(all_ops()[op], asked[0], format)).get_ops()) > LARGE:
            return False
        check_cases((generated(all_ops()[op], case, format) for case in asked), dynamic=dynamic)
    except Exception:  # which of them it is, and why, each tells by itself
        return False
    return True


@pytest.fixture(scope="session")
def selected(request):
    """The cases that this run checks, without those that must fail: those to check with each."""
    found = {}
    for item in request.session.items:
        if getattr(item, "function", None) is test_op_fuzzy:
            op, case, format = (item.callspec.params[name] for name in ("op", "case", "format"))
            if not case.xfail:
                found.setdefault((op.name, format, is_dynamic(case, format)), []).append(case.name)
    return {
        (*key, name): tuple(names[i : i + TOGETHER])
        for key, names in found.items()
        for i in range(0, len(names), TOGETHER)
        for name in names[i : i + TOGETHER]
    }


@pytest.mark.parametrize(("op", "case", "format"), list(cases()))
def test_op_fuzzy(op, case, format, selected):
    dynamic = is_dynamic(case, format)
    together = selected.get((op.name, format, dynamic, case.name), ())
    if len(together) < 2 or not agree(op.name, format, dynamic, together):
        check_case(generated(op, case, format), dynamic=dynamic)
