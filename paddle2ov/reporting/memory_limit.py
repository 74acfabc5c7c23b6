"""A limit on this process's memory: a model that runs on random inputs may allocate any amount."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MAX_SHARE = 0.8
"""The share of the free memory that may be allocated."""


@contextmanager
def bounded_memory() -> Iterator[None]:
    """Lets an allocation that would exhaust the machine fail in this process, which OpenVINO reports as an error.

    Without a bound the system would kill the process, or another one. The free memory is known on Linux only; elsewhere
    there is no bound.
    """
    if sys.platform != "linux":
        yield
        return
    import resource

    free, used = _free(), _used()
    if free is None or used is None:
        yield
        return

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = used + int(_MAX_SHARE * free)
    for limit in (soft, hard):
        if limit != resource.RLIM_INFINITY:
            wanted = min(wanted, limit)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _free() -> int | None:
    """The bytes that are free on the machine or left to the container, whichever is less."""
    lines = _read_text("/proc/meminfo").splitlines()
    free = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)
    limit, current = (_read_text(f"/sys/fs/cgroup/memory.{name}").strip() for name in ("max", "current"))
    if free is not None and limit.isdigit() and current.isdigit():
        free = min(free, max(0, int(limit) - int(current)))
    return free


def _used() -> int | None:
    """The size of this process's address space, in bytes."""
    lines = _read_text("/proc/self/status").splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmSize:")), None)


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""
