"""A limit on this process's memory: a model that runs on random inputs may allocate any amount."""

from __future__ import annotations

import re
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

    facts = _read_text("/proc/meminfo") + _read_text("/proc/self/status")
    sizes = {name: int(size) << 10 for name, size in re.findall(r"^(\w+):\s+(\d+) kB$", facts, re.MULTILINE)}
    if not {"MemAvailable", "VmSize"} <= sizes.keys():
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = sizes["VmSize"] + int(_MAX_SHARE * _free(sizes["MemAvailable"]))
    known = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min((wanted, *known)), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _free(on_machine: int) -> int:
    """The bytes that are free on the machine or left to the container, whichever is less."""
    limit, current = (_read_text(f"/sys/fs/cgroup/memory.{name}").strip() for name in ("max", "current"))
    if limit.isdigit() and current.isdigit():
        return min(on_machine, max(0, int(limit) - int(current)))
    return on_machine


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""
