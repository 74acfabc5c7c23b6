"""OpenVINO's runtime, one for the process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import openvino

from paddle2ov.graph.workarounds import works_around


@cache
def shared_core() -> openvino.Core:
    """The Core that everything here compiles with. It is never destroyed, and neither are its plugins.

    Each Core loads a CPU plugin of its own, which sets a signal stack for the thread. When two of them are destroyed,
    OpenVINO 2026.4 restores the signal stack of one that is unmapped already: the next Ctrl-C is a segmentation fault.
    """
    return openvino.Core()


def with_error_reporting(config: Mapping[str, Any], device: str, any_hint: bool = False) -> dict[str, Any]:
    """The properties to compile with, changed so that a run that fails raises its error on one thread as well.

    In a stream of one thread, OpenVINO 2026.4 drops the error of a run that fails and returns the results of the
    previous run. It has such a stream if a single thread is requested, or the process may use a single processor.
    Without streams the calling thread computes. So it does for many runs at a time as well, with `any_hint`: without,
    whoever runs them waits for each (`wait` raises what `infer` drops).
    """
    given = dict(config)
    is_chosen = any_hint or str(given.get("PERFORMANCE_HINT", "LATENCY")).endswith("LATENCY")
    if _runs_as_cpu(device) and is_chosen and str(given.get("INFERENCE_NUM_THREADS") or processors()) == "1":
        given.setdefault("NUM_STREAMS", 0)
    return given


@works_around("saturated_integer_products")
def with_exact_integers(config: Mapping[str, Any], device: str) -> dict[str, Any]:
    """The properties to compile with, by which a quantized model is computed as its graph says.

    On x86 processors without VNNI, OpenVINO 2026.4 adds up pairs of 8-bit products in 16 bits, where they saturate. Its
    transformations for low precision are off there, and quantized values are computed in floating point.
    """
    given = dict(config)
    if device == "CPU" and not has_integer_kernels():
        given.setdefault("LP_TRANSFORMS_MODE", "NO")
    return given


@works_around("repeated_values_of_a_snippet")
def compile_on(device: str, model: openvino.Model, config: Mapping[str, Any]) -> openvino.CompiledModel:
    """Compiles a model, without fused elementwise kernels if one of them needs more registers than the processor has.

    OpenVINO's CPU plugin (2026.4) refuses such a model instead of splitting the kernel. With AVX2 it takes some thirty
    nodes of static shape.

    Raises:
        RuntimeError: OpenVINO cannot compile it.
    """
    try:
        return shared_core().compile_model(model, device, dict(config))
    except RuntimeError as error:
        if "Can't allocate registers for a snippet" not in str(error) or "SNIPPETS_MODE" in config:
            raise
        return shared_core().compile_model(model, device, {**config, "SNIPPETS_MODE": "DISABLE"})


@cache
def has_integer_kernels() -> bool:
    """Whether OpenVINO adds up products of 8-bit integers exactly here, and faster than floats; if unknown, true.

    The processor must have instructions for it, and ONEDNN_MAX_CPU_ISA must not keep OpenVINO from using them.
    """
    limit = os.environ.get("ONEDNN_MAX_CPU_ISA", os.environ.get("DNNL_MAX_CPU_ISA", ""))
    if limit.upper() in ("SSE41", "AVX", "AVX2", "AVX512_CORE"):
        return False
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    return any(flag in flags for flag in ("vnni", "amx_int8", "asimddp", "i8mm"))


def _runs_as_cpu(device: str) -> bool:
    """Whether this is the CPU, or a HETERO of nothing else, whose streams are those of the CPU."""
    return device in ("CPU", "HETERO:CPU")


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


__all__ = [
    "compile_on",
    "has_integer_kernels",
    "processors",
    "shared_core",
    "with_error_reporting",
    "with_exact_integers",
]
