"""Every case of every operator, in both formats: what OpenVINO computes is what Paddle computes."""

import pytest

from gen_models import all_ops
from gen_models.harness.legacy import legacy_python
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


def forms(case, format, every_form):
    """How a case is checked in a format: with the shapes that it declares, with dynamic dimensions, or both.

    Both formats go through the same converters: each form in one of them is enough. Which in which alternates.
    """
    if every_form or len(case.formats) == 1 or legacy_python() is None:
        return {"declared": True, "dynamic": True}
    number = int(case.name.rpartition("_")[2])
    is_declared = (number + case.formats.index(format)) % 2 == 0
    return {"declared": is_declared, "dynamic": not is_declared}


TOGETHER = 10


@pytest.fixture(scope="session")
def every_form(request):
    """Whether each case is checked in both forms in each format."""
    return request.config.getoption("--every-form")


@pytest.fixture(scope="session")
def selected(request, every_form):
    """The cases that this run checks, without those that must fail: those to check with each."""
    found = {}
    for item in request.session.items:
        if getattr(item, "function", None) is test_op_fuzzy:
            op, case, format = (item.callspec.params[name] for name in ("op", "case", "format"))
            if not case.xfail:
                how = tuple(forms(case, format, every_form).values())
                found.setdefault((op.name, format, how), []).append(case.name)
    return {
        (*key, name): tuple(names[i : i + TOGETHER])
        for key, names in found.items()
        for i in range(0, len(names), TOGETHER)
        for name in names[i : i + TOGETHER]
    }


@pytest.mark.parametrize(("op", "case", "format"), list(cases()))
def test_op_fuzzy(op, case, format, selected, every_form):
    how = forms(case, format, every_form)
    together = selected.get((op.name, format, tuple(how.values()), case.name), ())
    check_in_batch(op, case.name, together, format, **how)
