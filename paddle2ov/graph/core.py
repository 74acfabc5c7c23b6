"""OpenVINO's runtime, one for the process."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakSet

import openvino

from paddle2ov.errors import ConversionInputError, described
from paddle2ov.graph import forks
from paddle2ov.graph.workarounds import works_around


@cache
def shared_core() -> openvino.Core:
    """The Core that everything here compiles with. It is never destroyed, and neither are its plugins.

    Each Core loads a CPU plugin of its own, which sets a signal stack for the thread. When two of them are destroyed,
    OpenVINO 2026.4 restores the signal stack of one that is unmapped already: the next Ctrl-C is a segmentation fault.
    """
    core = openvino.Core()
    if forks.has_lost_threads():
        # While a compiled model is there, OpenVINO does not end its threads as the process ends: it would abort, as
        # those of the process before the fork are not there.
        nothing = openvino.op.Parameter(openvino.Type.f32, openvino.Shape([1]))
        forks.keep_forever(core.compile_model(openvino.Model([nothing], [nothing]), "CPU", {"NUM_STREAMS": 0}))
    return core


def _release_idle() -> bool:
    """Has OpenVINO end the threads that it keeps for the next compiled model; returns whether there may be some.

    The CPU plugin does so when a Core that loaded it is destroyed. In a forked process the threads would not be there,
    and the next model that is compiled would wait for them.
    """
    if not shared_core.cache_info().currsize:
        return False
    with suppress(RuntimeError):  # a build of OpenVINO without the plugin
        openvino.Core().get_property("CPU", "NUM_STREAMS")
    return True


def _begin_anew() -> None:
    forks.keep_forever(shared_core())
    for compiled in _compiled:
        forks.keep_forever(compiled)
    _compiled.clear()
    shared_core.cache_clear()


_compiled: WeakSet[openvino.CompiledModel] = WeakSet()
"""What was compiled in this process, or imported."""

forks.register(_release_idle, _begin_anew)


def check_device(name: object) -> None:
    """Refuses what cannot be the name of a device, before OpenVINO is asked for one.

    Raises:
        ConversionInputError: it is no such name.
    """
    if not isinstance(name, str) or not name or not name.isascii():
        raise ConversionInputError(f"device: {name!r:.80} is not the name of a device")


def with_error_reporting(config: Mapping[str, Any], device: str, any_hint: bool = False) -> dict[str, Any]:
    """The properties to compile with, changed so that a run that fails raises its error on one thread as well.

    In a stream of one thread, OpenVINO 2026.4 drops the error of a run that fails and returns the results of the
    previous run. It has such a stream if a single thread is requested, or the process may use a single processor.
    Without streams the calling thread computes. So it does for many runs at a time as well, with `any_hint`: without,
    whoever runs them waits for each (`wait` raises what `infer` drops).
    """
    properties = dict(config)
    is_chosen = any_hint or str(properties.get("PERFORMANCE_HINT", "LATENCY")).endswith("LATENCY")
    if _runs_as_cpu(device) and is_chosen and str(properties.get("INFERENCE_NUM_THREADS") or processors()) == "1":
        properties.setdefault("NUM_STREAMS", 0)
    return properties


@works_around("saturated_integer_products")
def with_exact_integers(config: Mapping[str, Any], device: str) -> dict[str, Any]:
    """The properties to compile with, by which a quantized model is computed as its graph says.

    On x86 processors without VNNI, OpenVINO 2026.4 adds up pairs of 8-bit products in 16 bits, where they saturate. Its
    transformations for low precision are off there, and quantized values are computed in floating point.
    """
    properties = dict(config)
    if device == "CPU" and not has_integer_kernels():
        properties.setdefault("LP_TRANSFORMS_MODE", "NO")
    return properties


@works_around("repeated_values_of_a_snippet")
def compile_on(device: str, model: openvino.Model, config: Mapping[str, Any]) -> openvino.CompiledModel:
    """Compiles a model, without fused elementwise kernels if one of them needs more registers than the processor has.

    OpenVINO's CPU plugin (2026.4) refuses such a model instead of splitting the kernel. With AVX2 it takes some thirty
    nodes of static shape.

    Raises:
        RuntimeError: OpenVINO cannot compile it.
    """
    try:
        return compile_as_it_is(device, model, config)
    except RuntimeError as error:
        if "Can't allocate registers for a snippet" not in str(error) or "SNIPPETS_MODE" in config:
            raise
        return compile_as_it_is(device, model, {**config, "SNIPPETS_MODE": "DISABLE"})


def compile_as_it_is(device: str, model: openvino.Model, config: Mapping[str, Any]) -> openvino.CompiledModel:
    """Compiles a model without the second attempt of `compile_on`, as OpenVINO does for any program.

    Raises:
        RuntimeError: OpenVINO cannot compile it.
    """
    return _compiled_by("compile_model", model, device, config)


def import_on(device: str, blob: io.BytesIO | openvino.Tensor, config: Mapping[str, Any]) -> openvino.CompiledModel:
    """Imports a model that was exported.

    Raises:
        RuntimeError: OpenVINO does not take it any more.
    """
    return _compiled_by("import_model", blob, device, config)


def _compiled_by(method: str, source: object, device: str, config: Mapping[str, Any]) -> openvino.CompiledModel:
    try:
        with forks.computing:
            made: openvino.CompiledModel = getattr(shared_core(), method)(source, device, _as_forked(config, device))
    except RuntimeError as error:
        if (missing := missing_device(device, error)) is None:
            raise
        raise RuntimeError(missing) from error
    _compiled.add(made)
    return made


def missing_device(device: str, error: Exception) -> str | None:
    """What to say of OpenVINO's error where a device, or one of those that it names ("AUTO:GPU,CPU"), is not there."""
    virtual, _, listed = device.rpartition(":")
    names = [name.partition("(")[0].strip() for name in listed.split(",")] if virtual else [device]
    if names == ["CPU"]:
        return None  # without asking for the devices, which takes long
    available = shared_core().available_devices
    known = {*available, *(name.partition(".")[0] for name in available), "AUTO", "MULTI", "HETERO", "BATCH"}
    missing = next((name for name in names if name not in known and not name.startswith("-")), None)
    if missing is None:
        return None
    driver = ": is its driver installed?" if missing.partition(".")[0] in ("GPU", "NPU") else ""
    return f"OpenVINO finds no {missing} here, only {', '.join(available)}{driver} ({described(error)})"


def _as_forked(config: Mapping[str, Any], device: str) -> dict[str, Any]:
    """The properties to compile with: in a forked process, each run is computed by the thread that runs it, or by one.

    The threads that OpenVINO shares between models are not in the new process. It asks them for help all the same, and
    waits for a lock that one of them may have held.
    """
    properties = dict(config)
    if not forks.has_lost_threads() or not _runs_as_cpu(device):
        return properties
    hint, wanted = str(properties.get("PERFORMANCE_HINT", "LATENCY")), str(properties.get("NUM_STREAMS", ""))
    streams = int(wanted) if wanted.isdigit() else 0 if hint.endswith("LATENCY") and not wanted else processors()
    streams = 0 if streams < 2 else streams
    return {**properties, "NUM_STREAMS": streams, "INFERENCE_NUM_THREADS": max(streams, 1)}


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
