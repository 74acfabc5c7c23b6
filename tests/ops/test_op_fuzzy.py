"""Every case of every operator: what OpenVINO computes is what Paddle computes. The formats: `forms`."""

import pytest

from gen_models import all_ops
from gen_models.harness.legacy import formats_here
from tests.support.batches import Check, check_in_batch
from tests.support.formats import forms, marks_of

TOGETHER = 20


def cases(every_form):
    for op in all_ops().values():
        for case, form in forms(op, every_form):
            marks = [pytest.mark.xfail(reason=case.xfail, strict=True)] if case.xfail else []
            name = f"testOpFuzzy/{case.name}/{form.format}"
            yield pytest.param(op, case, form, marks=[*marks, *marks_of(form.format)], id=name)


def pytest_generate_tests(metafunc):
    metafunc.parametrize(("op", "case", "form"), list(cases(metafunc.config.getoption("--every-form"))))


@pytest.fixture(scope="session")
def selected(request):
    """The cases that this run checks, but those that must fail or are skipped: for each, those of its batch."""
    batches, last = {}, []
    for item in request.session.items:
        if getattr(item, "function", None) is not test_op_fuzzy or item.callspec.params["case"].xfail:
            continue
        check = check_of(**item.callspec.params)
        if check.form.format in formats_here():
            if len(last) >= TOGETHER and last[-1].op != check.op:
                last = []
            last.append(check)
            batches[check] = last
    return batches


def check_of(op, case, form):
    return Check(op.name, case.name, form)


def test_op_fuzzy(op, case, form, selected):
    check = check_of(op, case, form)
    check_in_batch(check, tuple(selected.get(check, ())))
