"""Constants of extreme values and shapes in every operator: it converts, or is refused; the process never ends."""

import subprocess
import sys

import pytest

from gen_models import all_ops
from gen_models.harness.legacy import ROOT
from tests.support.models import cases_together

BATCHES = 2


@pytest.fixture
def step(request):
    """Every so many of the 17,000 variants of the first cases are converted; all of them take a minute."""
    return 1 if request.config.getoption("--every-form") else 48


@pytest.mark.parametrize("batch", range(BATCHES))
def test_every_operator_over_hostile_constants(batch, step):
    ops = [op for op in all_ops().values() for case in op.cases[:1] if "pir" in case.formats and not case.xfail]
    folders = [str(cases_together(op)) for op in ops[batch::BATCHES]]
    command = [sys.executable, "-m", "tests.support.hostile_constants", str(step), *folders]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
