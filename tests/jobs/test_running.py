"""Executors: jobs that raise, hang or kill their process fail alone; states are kept whole."""

import os
import socket
import sqlite3
import threading
import time
from contextlib import closing
from types import SimpleNamespace

import pytest

from paddle2ov.jobs.cluster import ClusterError, RayExecutor
from paddle2ov.jobs.executor import Outcome
from paddle2ov.jobs.local import LocalExecutor
from paddle2ov.jobs.state import State, StateError, UnknownStateError


def job(what):
    if what == "raise":
        raise ValueError("a reason")
    if what == "die":
        os._exit(3)
    if what == "hang":
        time.sleep(600)
    return what, os.getpid()


JOBS = ["raise", "die", "one", "hang", "two", "three"]


def check(executor):
    """Every job has its outcome, and only those fail that do."""
    outcomes = {outcome.job: outcome for outcome in executor.run(job, iter(JOBS))}
    assert sorted(outcomes) == sorted(JOBS)
    for name in ("one", "two", "three"):
        assert outcomes[name].failure == ""
        assert outcomes[name].returned[0] == name
        assert outcomes[name].returned[1] != os.getpid()
    assert outcomes["raise"].failure == "ValueError: a reason"
    assert outcomes["hang"].failure == "took longer than 3 s"
    assert outcomes["die"].failure == "its process died (exit code 3)"


def test_local_executor():
    check(LocalExecutor(2, timeout=3))


@pytest.mark.every_form  # Ray itself takes half a minute to start where others compute, and gives up then
def test_ray_executor():
    pytest.importorskip("ray", reason="Ray is not installed: pip install '.[ray]'")
    check(RayExecutor("local", timeout=3, workers=2))


def test_tasks_of_a_cluster(monkeypatch):
    """At most as many at once as there are workers; one whose node went away fails alone."""
    lost, pending = RuntimeError("gone"), []

    class Cluster:
        exceptions = SimpleNamespace(RayError=RuntimeError)
        shutdown = staticmethod(pending.clear)

        @staticmethod
        def remote(function):
            return SimpleNamespace(remote=lambda _, job, timeout: pending.append(job) or job)

        @staticmethod
        def wait(jobs):
            assert len(jobs) <= 2
            return jobs[:1], jobs[1:]

        @staticmethod
        def get(job):
            if job == "die":
                raise lost
            return Outcome(job, job)

    monkeypatch.setattr(RayExecutor, "_connected", lambda self: Cluster)
    outcomes = {item.job: item for item in RayExecutor("local", timeout=3, workers=2).run(job, iter(JOBS))}
    assert sorted(outcomes) == sorted(JOBS)
    assert {name: value.failure for name, value in outcomes.items() if value.failure} == {"die": "RuntimeError: gone"}
    assert not pending


def test_no_cluster(monkeypatch):
    pytest.importorskip("ray", reason="Ray is not installed: pip install '.[ray]'")
    with pytest.raises(ClusterError, match="Ray at 'nowhere"):
        list(RayExecutor("nowhere:", timeout=3).run(job, ["one"]))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    for address in (f"127.0.0.1:{port}", f"ray://127.0.0.1:{port}", "127.0.0.1:99999"):
        with pytest.raises(ClusterError, match=f"Ray at '{address}': "):
            list(RayExecutor(address, timeout=3).run(job, ["one"]))


def test_jobs_are_taken_as_workers_are_free():
    taken = []

    def jobs():
        for number in range(4):
            taken.append(number)
            yield str(number)

    outcomes = LocalExecutor(1, timeout=60).run(job, jobs())
    next(outcomes)
    assert taken == [0]
    outcomes.close()  # ends the workers
    assert taken == [0]


def test_state(tmp_path):
    path = tmp_path / "new" / "state"
    with State(path) as state:
        assert state.get("a") is None
        state.put("b", [1, None, "é"])
        state.put("a", {"x": 1})
        state.put("a", {"x": 2})
        with pytest.raises(StateError, match="another run uses it"):
            State(path)
    with State(path) as state:
        assert list(state.records().items()) == [("a", {"x": 2}), ("b", [1, None, "é"])]


def test_a_run_that_waits_for_another_keeps_no_lock(tmp_path):
    """Two that begin at once would both give up."""
    path, read = tmp_path / "state", []
    State(path).__exit__()
    first = sqlite3.connect(path, timeout=0, isolation_level=None)
    first.execute("BEGIN IMMEDIATE")
    first.execute("INSERT INTO records VALUES ('a', '1')")

    def wait():
        with State(path) as second:
            read.append(second.get("a"))

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.3)
    first.execute("COMMIT")
    first.close()
    waiting.join()
    assert read == [1]


def test_what_is_no_state(tmp_path):
    (tmp_path / "text").write_text("something else\n" * 100)
    with pytest.raises(StateError, match="not a database"):
        State(tmp_path / "text")
    with sqlite3.connect(tmp_path / "other") as other:
        other.execute("CREATE TABLE mine (x)")
    other.close()
    with pytest.raises(StateError, match="another program"):
        State(tmp_path / "other")
    with pytest.raises(StateError, match="state file"):
        State(tmp_path)


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE records; CREATE VIEW records AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
        "SELECT 'a' AS key, n AS record FROM r",  # which never ends
        "CREATE TRIGGER gone AFTER INSERT ON records BEGIN DELETE FROM records; END",
        "DROP TABLE records; CREATE TABLE records (key TEXT)",
        "PRAGMA user_version = 7",
    ],
)
def test_another_schema_than_a_states(tmp_path, statement):
    State(tmp_path / "state").__exit__(None, None, None)
    with closing(sqlite3.connect(tmp_path / "state")) as database:
        database.executescript(statement)
    with pytest.raises(UnknownStateError, match="another program or version"):
        State(tmp_path / "state")


def test_damaged_state(tmp_path):
    with State(tmp_path / "state") as state:
        for number in range(200):
            state.put(str(number), "x" * 100)
    content = (tmp_path / "state").read_bytes()
    (tmp_path / "state").write_bytes(content[:8200] + b"\xff" * 2000 + content[10200:])
    with pytest.raises(UnknownStateError, match=r"damaged|malformed"):
        State(tmp_path / "state")


@pytest.mark.parametrize(
    "record", ["'x'", "''", "x'ff'", "CAST(x'ff' AS TEXT)", f"'{'[' * 100_000}'", f"'{'9' * 10_000}'"]
)
def test_a_record_that_is_none(tmp_path, record):
    with State(tmp_path / "state") as state:
        state.put("a", 1)
        state.put("b", 2)
    with closing(sqlite3.connect(tmp_path / "state")) as database:
        database.execute(f"UPDATE records SET record = {record} WHERE key = 'a'")
        database.commit()
    with State(tmp_path / "state") as state:
        assert state.get("a") is None
        assert state.records() == {"b": 2}
