"""OpenVINO's runtime, one for the process."""

from __future__ import annotations

from functools import cache

import openvino


@cache
def shared_core() -> openvino.Core:
    """The Core that everything here compiles with. It stays, and its plugins with it.

    Each Core loads a CPU plugin of its own, which gives the thread a stack for its signals. Where two of them are gone,
    OpenVINO 2026.4 has put back the stack of one that is unmapped already: the next Ctrl-C ends the process with a
    segmentation fault.
    """
    return openvino.Core()


__all__ = ["shared_core"]
