"""Processes that are forked after a model was compiled; none may wait for threads that are not there."""

import shutil
import subprocess
import sys
import urllib.request

import numpy as np
import pytest

from paddle2ov.graph import forks
from tests.support.command_line import python
from tests.support.models import chain, operator

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")

LIMIT = 600
"""How long (s) anything may take; it takes seconds, and a process that waits for lost threads forever."""

FORKING = """
import os, sys

def status_of_fork(function):
    child = os.fork()
    if not child:
        function()
        sys.exit(5)  # ends the interpreter, and all that it holds
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""
PRELOADED = (
    FORKING
    + """
import multiprocessing, threading, time
import numpy as np
from paddle2ov import compile_model
from paddle2ov.inference import Config, create_predictor
from paddle2ov.inference.paddlex import Runner

config = Config(sys.argv[1] + "/inference.json", sys.argv[1] + "/inference.pdiparams")
if "throughput" in sys.argv:
    config.set_openvino_hint("throughput")
(image,) = np.load(sys.argv[1] + "/inputs.npz").values()
predictor = create_predictor(config)
expected = predictor.run([image])[0]
compile_model(sys.argv[1])(image)  # whose threads are idle then


def check(found):
    np.testing.assert_allclose(found[0], expected, rtol=1e-4, atol=1e-5)


check([expected])  # a thread that imports as the process is forked keeps the module's lock in the child

def use():
    check(predictor.run([image]))
    check(predictor.clone().run([image, image][:1]))
    for found in predictor.run([[image]] * 3):
        check(found)
    for _ in range(2):
        check(create_predictor(config).run([image]))
    compile_model(sys.argv[1])(image)
"""
)
IN_TURN = """
def nested():
    use()
    assert status_of_fork(use) == 5

def serve():
    while not stop.is_set():
        check(predictor.run([image]))
        time.sleep(0.002)

def use_runner():
    check(runner([image]))
    runner.close()
    check(Runner(sys.argv[1])(image))

assert status_of_fork(use) == 5
assert status_of_fork(nested) == 5
process = multiprocessing.get_context("fork").Process(target=use)
process.start()
process.join()
assert process.exitcode == 0

stop = threading.Event()
threads = [threading.Thread(target=serve) for _ in range(3)]
for thread in threads:
    thread.start()
try:
    assert [status_of_fork(use) for _ in range(2)] == [5] * 2
finally:
    stop.set()

runner = Runner(sys.argv[1])
check(runner(image))
assert status_of_fork(use_runner) == 5
del predictor
assert status_of_fork(lambda: check(create_predictor(config).run([image]))) == 5
"""
"""A fork, a fork of a fork, `multiprocessing`, threads that run meanwhile, PaddleX's engine, no predictor any more."""


@pytest.fixture(scope="module")
def folder():
    return chain("convolution-relu")


@pytest.mark.parametrize("hint", ["throughput", pytest.param("latency", marks=pytest.mark.every_form)])
def test_forked(folder, hint):
    python("-c", PRELOADED + IN_TURN, folder, hint, timeout=LIMIT)


def test_commands(tmp_path):
    """`check` and `batch` in a process that was forked."""
    model = shutil.copytree(operator("relu"), tmp_path / "models" / "relu")
    script = f"""
from click.testing import CliRunner
from paddle2ov import compile_model
from paddle2ov.commands.group import cli
model, folder = {str(model)!r}, {str(model.parent)!r}
def use():
    target = f"{{folder}}-{{os.getpid()}}"
    for words in (["check", model], ["batch", folder, "-o", target, "--check"]):
        done = CliRunner().invoke(cli, words)
        assert done.exit_code == 0, done.output
compile_model(model)
assert status_of_fork(use) == 5
"""
    python("-c", FORKING + script, timeout=LIMIT)
    assert len(list(tmp_path.glob("models-*/**/*.xml"))) == 1


IMPORTED_MEANWHILE = (
    FORKING
    + """
import logging, threading

begun, imported = threading.Event(), threading.Event()

def wait():
    begun.set()
    imported.wait()

os.register_at_fork(before=wait)
statuses = []
thread = threading.Thread(target=lambda: statuses.append(status_of_fork(lambda: os._exit(5))))
thread.start()
begun.wait()
from paddle2ov.graph import core, forks
imported.set()
thread.join()

def use():
    with forks.computing:
        core.shared_core().available_devices

use()
sys.exit(statuses != [5] or status_of_fork(use) != 5)
"""
)


def test_another_thread_forks_as_paddle2ov_is_imported():
    python("-c", IMPORTED_MEANWHILE, timeout=LIMIT)


def test_a_fork_waits_for_threads_that_go_to_sleep(monkeypatch):
    seen = iter([{7}, {7, 8}, set(), {8}, set(), set()])
    monkeypatch.setattr(forks, "_awake", lambda: next(seen))
    forks._settle()
    assert next(seen, None) is None


def test_a_fork_waits_once_for_threads_of_others(monkeypatch):
    asked = []
    monkeypatch.setattr(forks, "_awake", lambda: asked.append(0) or {7})
    monkeypatch.setattr(forks, "_others", set())
    monkeypatch.setattr(forks, "_SETTLING", 0.01)
    forks._settle()
    assert forks._others == {7}
    asked.clear()
    forks._settle()
    assert len(asked) == 2


@pytest.mark.every_form
def test_forkserver(folder, tmp_path):
    """Whose server process has the model already."""
    (tmp_path / "service.py").write_text(PRELOADED.replace("sys.argv", repr(["", str(folder)])))
    main = """
import multiprocessing, service
if __name__ == "__main__":
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["service"])
    process = context.Process(target=service.use)
    process.start()
    process.join()
    assert process.exitcode == 0
"""
    (tmp_path / "main.py").write_text(main)
    python("main.py", cwd=tmp_path, timeout=LIMIT)


def test_gunicorn(folder, tmp_path):
    """With its own preload; a worker answers, and ends when it is told to."""
    pytest.importorskip("gunicorn", reason="pip install gunicorn")
    app = """
def app(environ, start_response):
    use()
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [expected.tobytes()]
"""
    (tmp_path / "service.py").write_text(PRELOADED.replace("sys.argv", repr(["", str(folder)])) + app)
    options = ["--preload", "--bind=127.0.0.1:0", f"--timeout={LIMIT}", "--workers=2", "service:app"]
    command = [sys.executable, "-m", "gunicorn", *options]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as server:
        try:
            address = next(line.split()[-2] for line in server.stderr if "Listening at" in line)
            with urllib.request.urlopen(address, timeout=LIMIT) as answer:
                assert np.isfinite(np.frombuffer(answer.read(), np.float32)).all()
        finally:
            server.terminate()
            assert server.wait(LIMIT) == 0
