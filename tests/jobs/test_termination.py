"""SIGTERM and Ctrl-C end commands in order: nothing half-written, no temporary folder, no process of Paddle stays."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from paddle2ov.jobs.termination import interruption, merged_interrupts
from tests.support.command_line import python
from tests.support.models import network

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM that can be handled")

SLOW_WRITER = """
import pathlib, time
import openvino

def write(model, path, **_):
    pathlib.Path(path).write_text("half")
    print("begun", flush=True)
    time.sleep(600)

openvino.save_model = write
CONVERTERS = [{"none_of_this_model": write}]
"""
SLOW_PADDLE = "#!/bin/sh\nread request\necho $$ > {}.new\nmv {}.new {}\nexec sleep 600\n"


@pytest.fixture
def start(tmp_path):
    """`start(arguments)`: the command, with a temporary folder of its own: `tmp_path / "tmp"`."""
    begun = []
    (tmp_path / "tmp").mkdir()

    def run(*arguments):
        command = [sys.executable, "-m", "paddle2ov", *map(str, arguments)]
        environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
        begun.append(
            subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=environment,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # as a shell's "&" ignores it
            )
        )
        return begun[-1]

    yield run
    for process in begun:
        process.kill()
        process.communicate()


@pytest.fixture
def model():
    return network("squeezenet1_1")


@pytest.fixture
def slow_paddle(tmp_path):
    """An interpreter that never answers what it is asked, and the file that then gets its process's number."""
    marker = tmp_path / "started"
    script = tmp_path / "python"
    script.write_text(SLOW_PADDLE.format(*[marker] * 3))
    script.chmod(0o755)
    return script, marker


def terminate(process):
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=300)
    return process.returncode, said


def wait_for(path):
    deadline = time.monotonic() + 300
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return int(path.read_text())


def is_gone(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize("layout", [False, True])
def test_convert(start, model, tmp_path, layout):
    extension = tmp_path / "slow.py"
    extension.write_text(SLOW_WRITER)
    out = tmp_path / "out"
    place = ["--serve-layout", out] if layout else ["-o", out / "net.xml"]
    process = start(model, *place, "--extension", extension)
    assert process.stdout.readline() == "begun\n"
    assert [path.name[:9] for path in out.rglob("*") if path.is_dir() and path.name[0] == "."] == [".writing-"]
    assert terminate(process) == (143, "Interrupted.\n")
    assert [path for path in out.rglob("*") if path.is_file() or path.name.startswith(".")] == []


@pytest.mark.parametrize(("sent", "status"), [([signal.SIGTERM], 143), ([signal.SIGINT] * 2, 130)])
def test_verify(start, model, tmp_path, slow_paddle, sent, status):
    """A second SIGINT, as of `timeout`, which signals the process and its group, changes nothing."""
    python, marker = slow_paddle
    process = start("verify", model, "--paddle-python", python)
    number = wait_for(marker)
    assert list((tmp_path / "tmp").iterdir()) != []
    for item in sent:
        process.send_signal(item)
    printed, said = process.communicate(timeout=300)
    assert (process.returncode, printed, said) == (status, "Nothing was compared with Paddle.\n", "Interrupted.\n")
    assert list((tmp_path / "tmp").iterdir()) == []
    assert is_gone(number)


def circle():
    """As `raise last from first` and `raise first from last` leave it."""
    first, last = ImportError(), ImportError()
    first.__cause__, last.__cause__ = last, first
    return first


def cleaning_up():
    error = RuntimeError("what was kept is gone")
    error.__context__ = KeyboardInterrupt()
    return error


@pytest.mark.parametrize("make", [circle, cleaning_up])
def test_errors_with_reasons_of_their_own_are_no_interruptions(make):
    assert interruption(make()) is None


def test_interruptions_are_merged():
    """The second would interrupt cleaning up; one at the end of the interpreter ends it without a traceback."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with merged_interrupts():
            handler = signal.getsignal(signal.SIGINT)
            with pytest.raises(KeyboardInterrupt):
                handler(signal.SIGINT, None)
            handler(signal.SIGINT, None)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGINT, before)


def test_batch(start, model, tmp_path, slow_paddle):
    """The processes that convert are ended in order too."""
    python, marker = slow_paddle
    shutil.copytree(model, tmp_path / "models" / "one")
    out = tmp_path / "out"
    process = start("batch", tmp_path / "models", "-o", out, "--verify", "--paddle-python", python, "-j", 1)
    number = wait_for(marker)
    code, said = terminate(process)
    assert (code, said.splitlines()[-1]) == (143, "Interrupted; the same command goes on from here.")
    assert [path.name for path in (tmp_path / "tmp").iterdir() if path.name.startswith("paddle2ov-")] == []
    assert not list(out.rglob(".writing-*"))
    assert is_gone(number)


def worker_of(process):
    """Waits for the first process that converts; it is still importing then."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        with suppress(OSError):  # of threads and processes that end meanwhile
            for children in Path(f"/proc/{process.pid}/task").glob("*/children"):
                for number in children.read_text().split():
                    if b"spawn_main" in Path(f"/proc/{number}/cmdline").read_bytes():
                        return int(number)
    raise AssertionError("no process was started")


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are found by Linux's /proc")
@pytest.mark.one_in(3)
@pytest.mark.parametrize("delay", [0.1, 0.0, 0.3])
def test_an_interruption_while_processes_start(model, tmp_path, delay):
    """A terminal sends Ctrl-C to all processes: only the first says so."""
    shutil.copytree(model, tmp_path / "models" / "one")
    command = [sys.executable, "-m", "paddle2ov", "batch", tmp_path / "models", "-o", tmp_path / "out"]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # as a shell's "&" ignores it
    )
    worker = worker_of(process)
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert (process.returncode, said) == (130, "Interrupted; the same command goes on from here.\n")
    deadline = time.monotonic() + 30
    while not is_gone(worker):  # it is told to end, and not awaited
        assert time.monotonic() < deadline
        time.sleep(0.1)


HANDLERS = """
import multiprocessing, signal, sys, threading, time
from paddle2ov.inference import Config, create_predictor
from paddle2ov.jobs.termination import Terminated, terminable

DEFAULT = signal.SIG_DFL


def handler():
    return signal.getsignal(signal.SIGTERM)


def ends(raises):
    try:
        with terminable():
            assert handler() is not own
            try:
                signal.raise_signal(signal.SIGTERM)
            except Terminated:
                if not raises:
                    assert handler() is DEFAULT  # a second one ends the process
                    return
                raise
            raise AssertionError("nothing came")
    except Terminated:
        assert raises


seen = []
own = lambda number, frame: seen.append(number)


def work():
    with terminable():
        seen.append(handler())


context = multiprocessing.get_context("fork")
sleeping = context.Event()


def sleep():
    sleeping.set()
    time.sleep(60)


assert handler() is DEFAULT
ends(raises=False)
assert handler() is DEFAULT

thread = threading.Thread(target=work)
thread.start()
thread.join()
assert seen == [DEFAULT]

with terminable():
    forked = context.Process(target=sleep)
    forked.start()
    sleeping.wait()
    forked.terminate()
    forked.join()
assert forked.exitcode == -signal.SIGTERM
assert handler() is DEFAULT

predictors = [create_predictor(Config(sys.argv[1])) for _ in range(2)]
while predictors:
    del predictors[0]
ends(raises=False)

seen.clear()
signal.signal(signal.SIGTERM, own)  # as pools of processes have one
ends(raises=True)
assert handler() is own and seen == [signal.SIGTERM]
"""
"""It is put back, a thread and a fork have none, it works after predictors, and those of others are called."""


def test_handlers(model):
    """In a process of its own: signals, and the stacks that they run on, are the process's and its libraries'."""
    assert python("-c", HANDLERS, model).stderr == ""
