"""One model: exported, converted, run on both sides, compared. A process of its own, as a model may take it down.

    python -m tools.paddlex_campaign.trial REPOSITORY FOLDER CONFIG CHANGES MEMORY

with what CHANGES, as JSON, say to be another in CONFIG, and at most so many bytes of memory

prints what came out as one line of JSON, the last one.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools.paddlex_campaign.sources import Source

Array = NDArray[Any]


def main(arguments: list[str]) -> int:
    repository, folder, config, changes, memory = arguments
    limit_memory(int(memory))
    print(json.dumps(trial(Source(repository, Path(config), json.loads(changes)), Path(folder))))
    return 0


MAX_ROUNDING = 1e-3


def limit_memory(limit: int) -> None:
    """Where the system can: a larger model fails in its own process."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def trial(source: Source, folder: Path) -> dict[str, Any]:
    """What became of the model; `stage` is how far it came."""
    row: dict[str, Any] = {"stage": "export"}
    with tempfile.TemporaryDirectory() as scratch:
        try:
            inputs, expected, is_eager = export(source, folder, Path(scratch))
            row["stage"] = "conversion"
            row["operators"], results = run_converted(Path(scratch), inputs)
            row["stage"] = "comparison"
            row["inputs"] = {name: list(input_.shape) for name, input_ in inputs.items()}
            row["results"] = [list(item.shape) for item in expected]
            largest = difference(results, expected)
            if largest > MAX_ROUNDING and any(map(_has_ties, expected)):
                raise ValueError("with random weights scores saturate and tie: boxes are no measure")
            row["difference"] = largest
            row["constant"] = any(item.size > 1 and item.min() == item.max() for item in expected)
            if is_eager:
                row["eager"] = True
            row["stage"] = "done"
        except Exception as error:  # whatever a foreign repository raises is a row of the table
            row["reason"] = first_line(error)
    return row


def export(source: Source, folder: Path, into: Path) -> tuple[dict[str, Array], list[Array], bool]:
    """Saves the model; its inputs, what Paddle computes of what was saved, and whether only the layer computes it."""
    import paddle

    from tools.paddlex_campaign.exporters import EXPORTERS

    paddle.seed(0)
    layer, spec, shapes = EXPORTERS[source.repository](folder, source.path, source.changes)
    static = paddle.jit.to_static(layer, input_spec=spec, full_graph=True)
    for read_spec in without_unread(spec):
        try:
            paddle.jit.save(static, str(into / "inference"), input_spec=read_spec)
            break
        except ValueError as error:  # the program does not read all of the inputs
            if "is not involved" not in str(error):
                raise
    predictor = paddle.inference.create_predictor(plain_config(into))
    inputs = {name: random_input(name, shapes) for name in predictor.get_input_names()}
    for name, input_ in inputs.items():
        predictor.get_input_handle(name).copy_from_cpu(input_)
    try:
        predictor.run()
    except Exception:  # Paddle saves programs that it does not run
        return inputs, eager_results(layer, read_spec, inputs), True
    return inputs, [predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()], False


def eager_results(layer: Any, spec: Any, inputs: dict[str, Array]) -> list[Array]:
    import paddle

    paddle.jit.enable_to_static(False)
    tensors = {name: paddle.to_tensor(input_) for name, input_ in inputs.items()}
    arguments = [tensors] if isinstance(spec[0], dict) else [tensors[item.name] for item in spec]
    with paddle.no_grad():
        return [util.numpy() for util in paddle.utils.flatten(layer(*arguments))]


def without_unread(spec: Any) -> Any:
    """The declared inputs, and then without those that not every detector, or model of time series, reads."""
    yield spec
    if isinstance(spec[0], dict):
        for left_out in (("im_shape",), ("scale_factor",), ("im_shape", "scale_factor"), ("known_cov_numeric",)):
            yield [{name: value for name, value in spec[0].items() if name not in left_out}]


def plain_config(folder: Path) -> Any:
    """Paddle's kernels as they are: no fusion, no oneDNN."""
    import paddle

    config = paddle.inference.Config(str(folder / "inference.json"), str(folder / "inference.pdiparams"))
    config.disable_mkldnn()
    config.switch_ir_optim(False)
    config.disable_glog_info()
    return config


def random_input(name: str, shapes: Mapping[str, Any]) -> Array:
    """The values of an input that an exporter gave, or random ones of the size that it gave."""
    if isinstance(shapes[name], np.ndarray):
        return np.asarray(shapes[name])
    drawn: Array = np.random.default_rng(0).standard_normal(shapes[name], np.float32)
    return drawn


def run_converted(folder: Path, inputs: dict[str, Array]) -> tuple[int, list[Array]]:
    """The number of operators of the program, and what OpenVINO computes."""
    import openvino

    import paddle2ov

    model = paddle2ov.convert(folder)
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = compiled(inputs)
    operators = sum(operator.count for operator in paddle2ov.inspect(folder).operators)
    return operators, [results[output] for output in compiled.outputs]


def difference(results: list[Array], expected: list[Array]) -> float:
    """The largest difference in any result, relative to the largest value of that result; of masks, how many pixels."""
    if len(results) != len(expected):
        raise ValueError(f"{len(results)} results, {len(expected)} in Paddle")
    return max((_difference(ours, theirs) for ours, theirs in zip(results, expected, strict=True)), default=0.0)


SCORE_ROUNDING = 1e-5


def in_the_order_of(theirs: Array, ours: Array) -> Array:
    """Rows of a label, a score and a box: those whose scores differ by rounding may stand in any order."""
    left = list(range(len(ours)))
    order = []
    for row in theirs:
        near = [item for item in left if abs(ours[item, 1] - row[1]) <= SCORE_ROUNDING * max(1.0, abs(row[1]))]
        order.append(min(near or left[:1], key=lambda one: float(np.abs(ours[one] - row).max())))
        left.remove(order[-1])
    return ours[order]


def _is_of_boxes(result: Array) -> bool:
    """Whether rows are of a label, a score and a box, and at most its place in the order of reading."""
    is_table = result.ndim == 2 and 6 <= result.shape[1] <= 10 and result.dtype.kind == "f"
    return is_table and np.array_equal(result[:, 0], np.round(result[:, 0]))


def _has_ties(result: Array) -> bool:
    """Whether a result has rows of a label, a score and a box, two of the same score."""
    return result.ndim == 2 and result.shape[1] == 6 and len(np.unique(result[:, 1])) < len(result)


def _difference(ours: Array, theirs: Array) -> float:
    if ours.shape != theirs.shape:
        raise ValueError(f"a result has the shape {list(ours.shape)}, {list(theirs.shape)} in Paddle")
    if not theirs.size:
        return 0.0
    if theirs.dtype.kind == "i" and theirs.ndim == 3:  # masks: a threshold makes 0 or 1 of what differs by rounding
        return float((ours != theirs).mean())
    if _is_of_boxes(theirs):
        scores = _largest(ours[:, 1], theirs[:, 1])  # as they stand: only what ties may stand in another order
        ours = in_the_order_of(theirs, ours)
        return max(scores, *(_largest(ours[:, column], theirs[:, column]) for column in range(theirs.shape[1])))
    return _largest(ours, theirs)


def _largest(ours: Array, theirs: Array) -> float:
    left, right = ours.astype(np.float64), theirs.astype(np.float64)
    if not np.array_equal(np.isfinite(left), np.isfinite(right)):
        raise ValueError("other values are finite than in Paddle")
    finite = np.isfinite(right)
    if not finite.any():
        raise ValueError("Paddle's own result has no finite value")
    return float(np.abs(left - right)[finite].max() / max(np.abs(right[finite]).max(), 1e-30))


def first_line(error: Exception) -> str:
    """What an error says, without the stack that Paddle writes into it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "Error:" in line or "error:" in line]
    said = (telling or lines or [""])[-1 if telling else 0]
    return f"{type(error).__name__}: {said}"[:300]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
