"""OpenVINO's runtime, one for the process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import Any

import openvino


@cache
def shared_core() -> openvino.Core:
    """The Core that everything here compiles with. It is never destroyed, and neither are its plugins.

    Each Core loads a CPU plugin of its own, which sets a signal stack for the thread. When two of them are destroyed,
    OpenVINO 2026.4 restores the signal stack of one that is unmapped already: the next Ctrl-C is a segmentation fault.
    """
    return openvino.Core()


def with_error_reporting(config: Mapping[str, Any], device: str) -> dict[str, Any]:
    """The properties to compile with, changed so that a run that fails raises its error on one thread as well.

    In a stream of one thread, OpenVINO 2026.4 drops the error of a run that fails and returns the results of the
    previous run. It has such a stream if a single thread is requested, or the process may use a single processor.
    Without streams the calling thread computes.
    """
    given = dict(config)
    is_latency = str(given.get("PERFORMANCE_HINT", "LATENCY")).endswith("LATENCY")
    if device == "CPU" and is_latency and str(given.get("INFERENCE_NUM_THREADS") or processors()) == "1":
        given.setdefault("NUM_STREAMS", 0)
    return given


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


__all__ = ["processors", "shared_core", "with_error_reporting"]
