"""What all tests share."""

import subprocess
from types import SimpleNamespace

import pytest

from paddle2ov.comparison import paddle_process
from tests.support import forked_paddle
from tests.support.command_line import Inline


@pytest.fixture(scope="session", autouse=True)
def _paddle_is_forked():
    with pytest.MonkeyPatch.context() as patch:
        forking = SimpleNamespace(**{**vars(subprocess), "Popen": forked_paddle.popen})
        patch.setattr(paddle_process, "subprocess", forking)
        yield


@pytest.fixture
def inline(monkeypatch):
    """The executor of `batch` in this process, instead of processes."""
    executor = Inline()
    monkeypatch.setattr("paddle2ov.commands.batch._executor", lambda *_: executor)
    return executor


@pytest.fixture
def own_converters(monkeypatch):
    """Converters that an extension file registers are forgotten after the test."""
    monkeypatch.setattr("paddle2ov.translation.extension._script", {})
