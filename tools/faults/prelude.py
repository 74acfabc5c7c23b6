"""What the graphs of faults are written with; the head of each script."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from openvino import Core, Model, PartialShape, Type, opset16 as ops
from openvino.op import Parameter

Arrays = Sequence[NDArray[Any]]
Graph = tuple[Model, Sequence[Arrays], Sequence[Arrays | None]]
"""A model, its inputs for each run, and the results of each run that are right; None for inputs that do not fit."""


def parameter(*dims: int, kind: Type = Type.f32) -> Parameter:
    return ops.parameter(PartialShape(list(dims)), kind)


def numbers(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def check(graph: Graph, precision: str, tolerance: float, threads: int = 0) -> None:
    """Runs a model on one request, on memory of the caller, and compares; raises AssertionError for a wrong result."""
    model, runs, expected = graph
    settings: dict[str, Any] = {"INFERENCE_PRECISION_HINT": "f32"} if precision == "f32" else {}
    settings |= {"INFERENCE_NUM_THREADS": threads} if threads else {}
    request = Core().compile_model(model, "CPU", settings).create_infer_request()
    for inputs, wanted in zip(runs, expected, strict=True):
        try:
            results = request.infer(list(inputs), share_inputs=True, share_outputs=False)
        except RuntimeError:
            if wanted is None:
                continue
            raise
        assert wanted is not None, "inputs that do not fit are computed"
        for actual, desired in zip(results.values(), wanted, strict=True):
            np.testing.assert_allclose(actual, desired, rtol=tolerance, atol=0 if tolerance < 1e-5 else tolerance)
