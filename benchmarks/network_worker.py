"""The process that runs a network for drop_in.py and latency.py: by Paddle, by `paddle2ov.inference`, or as graphs."""

from __future__ import annotations

import hashlib
import importlib
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.child import serve

Run = Callable[[], list[Any]]
SECONDS = 0.03
"""How long a turn lasts, unless a single run takes longer."""
_prepared: list[Run] = []


def load(by: str, files: list[str], arrays_file: str, lod: Any, threads: int, hint: str) -> dict[str, Any]:
    """Prepares the network.

    Args:
        by: "paddle.inference", with ", oneDNN" or not, "paddle2ov.inference", "convert", "convert, rewrite=False" or
            "read_model".
        files: the program, or what OpenVINO reads, and the parameters.
        arrays_file: `.npz` of the inputs.
        lod: of the inputs, in Paddle's form.
        threads: how many to use.
        hint: OpenVINO's precision.

    Returns:
        The sums of its results, and its layers where they are known.
    """
    arrays, layers = dict(np.load(arrays_file)), None
    if "inference" in by:
        run = _predictor(by, files, arrays, lod, threads)
    else:
        run, layers = _graph(by, files[0], arrays, threads, hint)
    for _ in range(3):
        results = run()
    _prepared.append(run)
    return {"sums": [float(np.abs(array).astype(np.float64).sum()) for array in results], "layers": layers}


def _predictor(by: str, files: list[str], arrays: dict[str, Any], lod: Any, threads: int) -> Run:
    """A run of a predictor, as a user writes it."""
    library: Any = importlib.import_module(by.partition(",")[0])
    config = library.Config(*files)
    config.disable_gpu()
    config.disable_glog_info()
    (config.enable_mkldnn if by.endswith("oneDNN") else config.disable_mkldnn)()
    config.set_cpu_math_library_num_threads(threads)
    predictor = library.create_predictor(config)
    inputs = [(predictor.get_input_handle(name), arrays[name]) for name in predictor.get_input_names()]
    results = [predictor.get_output_handle(name) for name in predictor.get_output_names()]

    def run() -> list[Any]:
        for handle, array in inputs:
            handle.copy_from_cpu(array)
            if lod:
                handle.set_lod(lod)
        predictor.run()
        return [result.copy_to_cpu() for result in results]

    return run


def _graph(by: str, file: str, arrays: dict[str, Any], threads: int, hint: str) -> tuple[Run, str]:
    """A run of a graph by OpenVINO, and which layers it has."""
    import openvino

    import paddle2ov

    core = openvino.Core()
    if by == "read_model":
        model = core.read_model(file)
    else:
        model = paddle2ov.convert(file, rewrite=not by.endswith("rewrite=False"))
    options = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": hint, "PERFORMANCE_HINT": "LATENCY"}
    compiled = core.compile_model(model, "CPU", options)
    request = compiled.create_infer_request()
    for key, array in arrays.items():
        request.set_tensor(key, openvino.Tensor(array))

    def run() -> list[Any]:
        request.infer(share_outputs=True)
        return [tensor.data.copy() for tensor in request.output_tensors]

    return run, _layers(model, compiled)


def _layers(model: Any, compiled: Any) -> str:
    """A digest of what is computed; of the operators where loops or branches are, whose layers do not show."""
    from paddle2ov.graph.bodies import walk

    infos = [node.get_rt_info() for node in compiled.get_runtime_model().get_ordered_ops()]
    layers = sorted([str(info[key].value) for key in ("layerType", "primitiveType", "outputLayouts")] for info in infos)
    if {"Loop", "TensorIterator", "If"} & {kind for kind, *_ in layers}:
        layers = sorted(
            [node.get_type_name(), *(output.get_partial_shape().to_string() for output in node.outputs())]
            for node in walk(model)
        )
    return hashlib.sha256(json.dumps(layers).encode()).hexdigest()


def turn() -> dict[str, float]:
    """The wall time and the CPU time of a run in milliseconds, of as many runs as `SECONDS` allow."""
    run, count = _prepared[0], 0
    run()  # what ran before has left other data in the caches
    start, used = time.perf_counter(), time.process_time()
    while not count or time.perf_counter() - start < SECONDS:
        run()
        count += 1
    return {
        "wall": 1e3 * (time.perf_counter() - start) / count,
        "cpu": 1e3 * (time.process_time() - used) / count,
    }


if __name__ == "__main__":
    serve({"load": load, "turn": turn})
