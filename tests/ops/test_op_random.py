"""Random cases of every operator; a failure is shrunk to a small model, which is kept for a rerun."""

import pytest

from gen_models import all_ops
from gen_models.harness.exploration import BatchError, explore, formats
from gen_models.harness.legacy import legacy_python
from gen_models.harness.store import FOLDER
from tests.support.formats import marks_of

DEFAULT_SEEDS = 1


def cases(every_form):
    """Every operator in one of its formats, which alternate, or in each; both go through the same converters."""
    for number, op in enumerate(all_ops().values()):
        available = formats(op)
        if available and not every_form:
            available = [available[number % len(available)]]
        for format in available:
            yield pytest.param(op, format, marks=marks_of(format), id=f"testOpRandom/{op.name}/{format}")


def pytest_generate_tests(metafunc):
    config = metafunc.config
    every_form = config.getoption("--every-form") or config.getoption("--seeds") or legacy_python() is None
    metafunc.parametrize(("op", "format"), list(cases(every_form)))


@pytest.mark.one_in(15)
def test_op_random(op, format, request):
    kept = FOLDER.parent / "failures" / f"{op.name}-{format}"
    exploration = explore(op, format, request.config.getoption("--seeds") or DEFAULT_SEEDS, kept)
    if exploration.error is not None:
        if exploration.case is not None:
            text = f"{exploration.case}\nIt is kept: python -m gen_models --rerun {kept / 'case'}"
            request.node.add_report_section("call", "smallest case", text)
        elif isinstance(exploration.error, BatchError):
            text = f"They are kept: python -m gen_models --rerun {kept / 'together'}"
            request.node.add_report_section("call", "cases", text)
        raise exploration.error
