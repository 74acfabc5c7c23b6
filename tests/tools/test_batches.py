"""Operator cases in batches: a failure is the case's own, unless no case has it alone."""

import pytest

from gen_models import all_ops
from gen_models.harness.exploration import BatchError
from tests.support import batches
from tests.support.formats import Form

OP = all_ops()["softshrink"]
NAMES = tuple(case.name for case in OP.cases if "pir" in case.formats)[:3]
DECLARED = Form("pir", dynamic=False)
BATCH = tuple(batches.Check(OP.name, name, DECLARED) for name in NAMES)


@pytest.fixture(autouse=True)
def nothing_is_tried(monkeypatch):
    monkeypatch.setattr(batches, "_tried", {})


def check(name):
    batches.check_in_batch(batches.Check(OP.name, name, DECLARED), BATCH)


def failing(*names):
    def check_case(folder, declared, dynamic):
        if any(folder.name.startswith(f"{name}-") for name in names):
            raise ValueError(f"as if {folder.name} differed")

    return check_case


def fail_together(trials):
    raise ValueError("as if parts of one model differed")


def test_what_agrees_together_is_not_checked_one_by_one(monkeypatch):
    monkeypatch.setattr(batches, "check_case", failing(*NAMES))
    for name in NAMES:
        check(name)


def test_one_that_fails_is_the_one_that_tells(monkeypatch):
    monkeypatch.setattr(batches, "_check_together", fail_together)
    monkeypatch.setattr(batches, "check_case", failing(NAMES[1]))
    check(NAMES[0])
    check(NAMES[2])
    with pytest.raises(ValueError, match=f"as if {NAMES[1]}-"):
        check(NAMES[1])


def test_what_fails_only_together_fails_once(monkeypatch):
    monkeypatch.setattr(batches, "_check_together", fail_together)
    monkeypatch.setattr(batches, "check_case", failing())
    with pytest.raises(BatchError, match=f"{', '.join(NAMES)} agree one by one, but not as parts of one model: as if"):
        check(NAMES[0])
    check(NAMES[1])
    check(NAMES[2])


def test_one_case_and_large_models_go_alone(monkeypatch):
    monkeypatch.setattr(batches, "_check_together", fail_together)
    batches.check_in_batch(BATCH[0], ())
    monkeypatch.setattr(batches, "LARGE", 0)
    check(NAMES[0])
