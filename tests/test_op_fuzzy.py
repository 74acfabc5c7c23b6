"""Every case of every operator, in both formats: what OpenVINO computes is what Paddle computes."""

import pytest

from gen_models import all_ops
from gen_models.store import generated
from paddle2ov.testing import check_case
from tests.formats import marks_of


def cases():
    for op in all_ops().values():
        for case in op.cases:
            for format in case.formats:
                marks = [pytest.mark.xfail(reason=case.xfail, strict=True)] if case.xfail else []
                yield pytest.param(
                    op, case, format, marks=[*marks, *marks_of(format)], id=f"testOpFuzzy/{case.name}/{format}"
                )


@pytest.mark.parametrize(("op", "case", "format"), list(cases()))
def test_op_fuzzy(op, case, format):
    # Both formats go through the same converters: with every dimension dynamic, one of them is enough.
    check_case(generated(op, case, format), dynamic=format == case.formats[0])
