"""The comparison with an older Paddle 3: it fails where there is nothing to compare."""

import shutil
import sys

import pytest

from gen_models import all_ops
from tools.older_paddle import LIMITS, differing, is_limit


def test_cases_are_written_and_run_by_the_interpreter_that_is_named(capsys, tmp_path):
    assert differing(sys.executable, "relu_test_1", tmp_path) == []
    assert capsys.readouterr().out == "1 cases agree, 0 differ beyond the known limits; that Paddle refuses 0\n"
    assert sorted(path.name for path in (tmp_path / "relu_test_1").iterdir()) == ["arrays.npz", "inference.json"]


@pytest.mark.parametrize(
    ("pattern", "reason"), [("relu_test_1", "Paddle died"), ("none", "no case of PIR is named none")]
)
def test_nothing_to_compare_is_a_failure(pattern, reason):
    with pytest.raises(SystemExit, match=f"nothing was compared: {reason}"):
        differing(shutil.which("false"), pattern, None)


@pytest.mark.parametrize("op", LIMITS)
def test_each_limit_is_that_of_one_case(op):
    assert sum(is_limit(op, case) for case in all_ops()[op].cases) == 1
