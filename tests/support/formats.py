"""The formats that tests run in. Legacy models are written by Paddle 2, which `make test LEGACY=0` goes without."""

import pytest

from gen_models.harness.legacy import legacy_python

NEEDS_PADDLE_2 = pytest.mark.skipif(legacy_python() is None, reason="no Paddle 2 here; `make venv-legacy` sets it up")
LEGACY = pytest.param("legacy", marks=NEEDS_PADDLE_2)
FORMATS = ["pir", LEGACY]


def marks_of(format):
    """What a test in a format is marked with."""
    return [NEEDS_PADDLE_2] if format == "legacy" else []
