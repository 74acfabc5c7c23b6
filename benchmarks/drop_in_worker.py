"""The process that runs networks for drop_in.py: by Paddle 2 or 3, by `paddle2ov.inference`, or as graphs of OpenVINO.

Each line that it reads is a JSON list of what to do and its arguments; it answers each with a line.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

_runs: dict[str, Any] = {}


def _predictor(library: Any, files: list[str], arrays: dict[str, Any], lod: Any, threads: int, onednn: bool) -> Any:
    """A run of a predictor, as a user writes it."""
    config = library.Config(*files)
    config.disable_gpu()
    config.disable_glog_info()
    (config.enable_mkldnn if onednn else config.disable_mkldnn)()
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


def _graph(name: str, files: list[str], arrays: dict[str, Any], threads: int) -> tuple[Any, str]:
    """A run of a graph by OpenVINO, and which layers it has."""
    import openvino

    import paddle2ov

    if name.endswith("frontend"):
        model = openvino.Core().read_model(files[0])
    else:
        model = paddle2ov.convert(Path(files[0]).parent, rewrite=not name.endswith("rewrite=False"))
    options = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
    compiled = openvino.Core().compile_model(model, "CPU", options)
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


def load(name: str, folder: str, format: str, file: str, lod: Any, threads: int) -> dict[str, Any]:
    """Prepares a network; the sums of its results, its layers where they are known, and no times yet."""
    arrays = dict(np.load(file))
    files = [f"{folder}/inference.{'json' if format == 'pir' else 'pdmodel'}", f"{folder}/inference.pdiparams"]
    layers = None
    if name.startswith(("PIR", "legacy")):
        run, layers = _graph(name, files, arrays, threads)
    else:
        library = importlib.import_module("paddle.inference" if name.startswith("Paddle") else "paddle2ov.inference")
        run = _predictor(library, files, arrays, lod, threads, "oneDNN" in name)
    for _ in range(3):
        results = run()
    _runs[name] = run
    return {"sums": [float(np.abs(one).astype(np.float64).sum()) for one in results], "layers": layers, "ms": []}


def turn(name: str, seconds: float) -> dict[str, Any]:
    """The CPU time of a run, of as many as so many seconds allow."""
    run, count = _runs[name], 0
    run()  # what ran before has left other data in the caches
    start, used = time.perf_counter(), time.process_time()
    while not count or time.perf_counter() - start < seconds:
        run()
        count += 1
    return {"ms": 1e3 * (time.process_time() - used) / count}


DO: dict[str, Any] = {"load": load, "turn": turn, "forget": _runs.clear}


def main() -> None:
    """Answers the lines."""
    print("READY", flush=True)
    for line in sys.stdin:
        do, *arguments = json.loads(line)
        answer: Any
        try:
            answer = DO[do](*arguments)
        except Exception as error:  # whatever a library makes of a network
            answer = {"failed": str(error)}
        print("\nANSWER", json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
