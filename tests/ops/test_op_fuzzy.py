"""Every case of every operator, in both formats: what OpenVINO computes is what Paddle computes."""

import pytest

from gen_models import all_ops
from tests.support.batches import check_in_batch
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
    check_in_batch(op, case.name, together, format, dynamic)
