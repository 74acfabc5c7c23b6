"""What the graphs of faults are written with; the head of each script."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from openvino import Core, Model, Output, PartialShape, Type, opset16 as ops
from openvino.op import Parameter

Arrays = Sequence[NDArray[Any]]
Graph = tuple[Model, Sequence[Arrays], Sequence[Arrays | None]]
"""A model, its inputs for each run, and the results of each run that are right; None for inputs that do not fit."""


def parameter(*dims: int, kind: Type = Type.f32) -> Parameter:
    return ops.parameter(PartialShape(list(dims)), kind)


def numbers(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def loop_results(
    count: Any,
    states: Sequence[tuple[Parameter, Any, Any]],
    kept: Sequence[tuple[Parameter, Any]] = (),
    runs: bool = True,
) -> list[Output]:
    """The states that a loop ends with; of each: its parameter in the body, the first one, and the next one there.

    What it keeps is a parameter of the body and the value of all iterations; `runs` is its condition at first.
    """
    loop, after = ops.loop(count, ops.constant(np.array(runs))), [ops.result(state) for _, _, state in states]
    parameters = [parameter for parameter, *_ in (*kept, *states)]
    loop.set_function(Model([ops.result(ops.constant(np.array(True))), *after], parameters))
    loop.set_special_body_ports([-1, 0])
    for parameter, value in kept:
        loop.set_invariant_input(parameter, value.output(0))
    for (parameter, first, _), result in zip(states, after, strict=True):
        loop.set_merged_input(parameter, first.output(0), result.output(0))
    return [loop.get_iter_value(result.output(0), -1) for result in after]


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
