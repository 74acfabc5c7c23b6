"""What all tests share."""

import subprocess
from types import SimpleNamespace

import pytest

from paddle2ov.comparison import paddle_process
from tests.support import forked_paddle


@pytest.fixture(scope="session", autouse=True)
def _paddle_is_forked():
    with pytest.MonkeyPatch.context() as patch:
        forking = SimpleNamespace(**{**vars(subprocess), "Popen": forked_paddle.popen})
        patch.setattr(paddle_process, "subprocess", forking)
        yield
