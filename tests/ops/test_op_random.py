"""Random cases of every operator with a strategy; a failure is shrunk to a small model, which is kept for a rerun."""

import pytest

from gen_models import all_ops
from gen_models.harness.exploration import BatchError, explore, formats
from gen_models.harness.store import FOLDER
from tests.support.formats import marks_of

DEFAULT_SEEDS = 1


def cases():
    for op in all_ops().values():
        for format in formats(op):
            yield pytest.param(op, format, marks=marks_of(format), id=f"testOpRandom/{op.name}/{format}")


@pytest.mark.parametrize(("op", "format"), list(cases()))
def test_op_random(op, format, request):
    kept = FOLDER.parent / "failures" / f"{op.name}-{format}"
    found = explore(op, format, request.config.getoption("--seeds") or DEFAULT_SEEDS, kept)
    if found.error is not None:
        if found.case is not None:
            text = f"{found.case}\nIt is kept: python -m gen_models --rerun {kept / 'case'}"
            request.node.add_report_section("call", "smallest case", text)
        elif isinstance(found.error, BatchError):
            text = f"They are kept: python -m gen_models --rerun {kept / 'together'}"
            request.node.add_report_section("call", "cases", text)
        raise found.error
