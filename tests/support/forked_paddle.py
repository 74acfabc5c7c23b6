"""Paddle processes of `verify` forked from one that has imported Paddle: its import takes seconds, a fork milliseconds.

Each is a process of its own, which runs the same script and may be killed, as one that is started.
"""

import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
from functools import cache

if __name__ != "__main__":
    from gen_models.harness.legacy import legacy_python


def popen(command, *, env, stdin, stdout, stderr, text):
    """Starts a Python script as `subprocess.Popen` does; by a fork where an interpreter with Paddle is to run it."""
    if command[0] not in (sys.executable, legacy_python()) or not hasattr(os, "fork"):
        return subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=stderr, env=env, text=text)
    return ForkedProcess(command[0], command[1], env, stderr)


@cache
def _server(python, flags):
    """A socket to a process with Paddle imported, for which it read the flags; it ends with this one."""
    here, there = socket.socketpair()
    environment = {**os.environ, **dict(flags), "GLOG_minloglevel": "3"}
    command = [python, "-W", "ignore", __file__, str(there.fileno())]
    subprocess.Popen(command, pass_fds=[there.fileno()], stdin=subprocess.DEVNULL, env=environment)
    there.close()
    return here


class ForkedProcess:
    """What a `subprocess.Popen` with pipes for text has, of a fork of the server."""

    def __init__(self, python, script, environment, stderr):
        (child_in, stdin), (stdout, child_out), (self._ended, status) = (os.pipe() for _ in range(3))
        request = json.dumps([script, dict(environment)]).encode()
        flags = tuple(sorted(item for item in environment.items() if item[0].startswith("FLAGS_")))
        socket.send_fds(_server(python, flags), [request], [child_in, child_out, stderr.fileno(), status])
        for end in (child_in, child_out, status):
            os.close(end)
        self.stdin, self.stdout = os.fdopen(stdin, "w"), os.fdopen(stdout)
        self.pid = int(os.read(self._ended, 20))
        self._code = None

    def wait(self, timeout=None):
        if self._code is None:
            if not select.select([self._ended], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("Paddle", timeout)
            self._code = int(os.read(self._ended, 20))
            os.close(self._ended)
        return self._code

    def poll(self):
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def kill(self):
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def _serve(server):
    importlib.import_module("paddle")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        request, ends, *_ = socket.recv_fds(server, 1 << 20, 4)
        if not request:
            return
        if os.fork() == 0:
            server.close()
            _supervise(*json.loads(request), *ends)
        for end in ends:
            os.close(end)


def _supervise(script, environment, stdin, stdout, stderr, status):
    """Runs the script in a child, and tells its number and how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child == 0:
        os.close(status)
        for number, end in enumerate((stdin, stdout, stderr)):
            os.dup2(end, number)
            os.close(end)
        os.environ.update(environment)
        runpy.run_path(script, run_name="__main__")
        sys.stderr.flush()
        os._exit(0)
    for end in (0, 1, 2, stdin, stdout, stderr):
        os.close(end)
    os.write(status, b"%20d" % child)
    os.write(status, b"%20d" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    os._exit(0)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
