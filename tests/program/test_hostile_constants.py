"""Constants of extreme values and shapes for inputs: a program converts, or is refused; the process never ends."""

import pytest

from gen_models import all_networks, all_ops
from tests.support.command_line import python
from tests.support.models import cases_together, network
from tools.mutation.corpus import MAX_BYTES

BATCHES = 2
SOME = ("array", "branch_shapes", "greedy_decoder", "nested")
"""Networks of loops and branches, which OpenVINO runs to infer shapes."""


@pytest.fixture
def step(request):
    """Every so many of the 17,000 variants of the first cases are converted; all of them take a minute."""
    return 1 if request.config.getoption("--every-form") else 48


@pytest.mark.parametrize("batch", range(BATCHES))
def test_every_operator_over_hostile_constants(batch, step):
    ops = [op for op in all_ops().values() for case in op.cases[:1] if "pir" in case.formats and not case.xfail]
    check([cases_together(op) for op in ops[batch::BATCHES]], step)


def test_small_networks_over_hostile_constants(step):
    """Whole programs are computed at conversion."""
    names = [item.name for item in all_networks().values() if "pir" in item.formats] if step == 1 else SOME
    check([folder for folder in map(network, names) if size_of(folder) <= MAX_BYTES], min(step, 8))


def size_of(folder):
    return sum(path.stat().st_size for path in folder.glob("inference.*"))


def check(folders, step):
    assert python("-m", "tests.support.hostile_constants", step, *folders).stdout == ""
