"""Random cases of every operator with a strategy; a failure is shrunk to a small model, which is kept for a rerun."""

import shutil
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from gen_models import all_ops
from gen_models.generate import GenerationError
from gen_models.legacy import legacy_python
from gen_models.spec import FORMATS
from gen_models.store import FOLDER, write
from paddle2ov.testing import check_case

DEFAULT_SEEDS = 3


def cases():
    for op in all_ops().values():
        if op.random is None:
            continue
        for format in FORMATS:
            if op.cases and not any(format in case.formats for case in op.cases):
                continue  # an operator that this format does not have
            marks = []
            if format == "legacy" and legacy_python() is None:
                marks.append(pytest.mark.skip(reason="no Paddle 2 here; `make venv-legacy` sets it up"))
            yield pytest.param(op, format, marks=marks, id=f"testOpRandom/{op.name}/{format}")


@pytest.mark.parametrize(("op", "format"), list(cases()))
def test_op_random(op, format, request, tmp_path):
    seeds = request.config.getoption("--seeds") or DEFAULT_SEEDS
    failed: list[Path] = []

    @hypothesis.settings(
        max_examples=seeds,
        derandomize=True,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        print_blob=False,
    )
    @hypothesis.given(st.composite(op.random)())
    def check(case):
        if format not in case.formats:
            hypothesis.reject()
        folder = tmp_path / "case"
        try:
            write(op, case, format, folder)
        except GenerationError as error:
            if isinstance(error.__cause__, NameError | AttributeError | LookupError):
                raise  # the builder's own mistake
            hypothesis.reject()  # Paddle itself refuses it; a strategy that draws nothing else fails
        try:
            check_case(folder)
        except BaseException:
            kept = FOLDER.parent / "failures" / f"{op.name}-{format}"
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(folder, kept)
            failed[:] = [kept]
            raise

    try:
        check()
    except BaseException:
        if failed:
            rerun = f"python -m gen_models --rerun {failed[0]}"
            request.node.add_report_section("call", "smallest case", f"The smallest case found is kept: {rerun}")
        raise
