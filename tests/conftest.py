"""What all tests share."""

import ctypes
import subprocess
import sys
from types import SimpleNamespace

import pytest

from paddle2ov.comparison import paddle_process
from tests.support import forked_paddle

MALLOPT = {-1: 1 << 30, -2: 64 << 20, -3: 32 << 20}
"""M_TRIM_THRESHOLD, M_TOP_PAD and M_MMAP_THRESHOLD of glibc, in bytes."""


@pytest.fixture(scope="session", autouse=True)
def _freed_memory_is_kept():
    """To give it back to the system, and ask for it again, takes a tenth of the time of the tests."""
    if sys.platform == "linux" and hasattr(ctypes.CDLL(None), "mallopt"):
        for option, value in MALLOPT.items():
            ctypes.CDLL(None).mallopt(option, value)


@pytest.fixture(scope="session", autouse=True)
def _paddle_is_forked():
    with pytest.MonkeyPatch.context() as patch:
        forking = SimpleNamespace(**{**vars(subprocess), "Popen": forked_paddle.popen})
        patch.setattr(paddle_process, "subprocess", forking)
        yield
