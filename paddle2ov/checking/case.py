"""Writes the smallest wrong part as files: IR, inputs, expected results, and a script that needs OpenVINO only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import openvino
from openvino import Model, Tensor, Type

from paddle2ov.checking.device import Device
from paddle2ov.checking.shrink import Wrong
from paddle2ov.comparison.evaluator import NUMBER, Evaluator
from paddle2ov.deployment.saving import write_text

_SCRIPT = '''"""OpenVINO computes this graph wrongly: {summary}

Found with OpenVINO {version} on {device} in {precision}; needs OpenVINO and NumPy only. {expected}
"""

from pathlib import Path

import numpy as np
import openvino

HERE = Path(__file__).parent
RUNS = {runs}  # of one request, one after the other: inputs_0.npz, ...


def load(file):
    with np.load(HERE / file) as arrays:
        return [arrays[name] for name in arrays.files]


def tensor(array, port):
    if port.get_element_type() != openvino.Type.bf16:
        return openvino.Tensor(array)
    return openvino.Tensor(array, openvino.Shape(array.shape), openvino.Type.bf16)  # comes as its bits


core = openvino.Core()
model = core.read_model(HERE / "model.xml")
compiled = core.compile_model(model, "{device}", {{"INFERENCE_PRECISION_HINT": "{precision}"}})
request = compiled.create_infer_request()
print("OpenVINO", openvino.__version__, "on", core.get_property("{device}", "FULL_DEVICE_NAME"))
for run in RUNS:
    inputs = load(f"inputs_{{run}}.npz")
    for port, array in zip(compiled.inputs, inputs):
        request.set_tensor(port, tensor(array, port))
    request.infer()
    for port, want in zip(compiled.outputs, load(f"expected_{{run}}.npz")):
        got = request.get_tensor(port).data
        if got.shape != want.shape:
            print(f"run {{run}}: shape {{got.shape}} instead of {{want.shape}}")
        elif got.size and port.get_element_type() != openvino.Type.bf16:
            off = np.abs(got.astype(np.float64) - want.astype(np.float64))
            print(f"run {{run}}, {{[a.shape for a in inputs]}}: {{(got != want).sum()}} of {{got.size}} elements")
            print(f"  differ, by up to {{np.nanmax(off):.3g}}; values are up to {{np.nanmax(np.abs(want)):.3g}}")
'''


def write_case(folder: Path, wrong: Wrong, device: Device, facts: dict[str, Any]) -> None:
    """Writes the part, its inputs and expected results run by run, what is known of it, and the script.

    Raises:
        OSError: the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    openvino.save_model(_without_numbers(wrong.model), folder / "model.xml", compress_to_fp16=False)
    reference = Evaluator(wrong.model, device.name)
    used = list(dict.fromkeys(wrong.sequence))
    for k, inputs in enumerate(wrong.sets):
        np.savez(folder / f"inputs_{k}.npz", **{f"input_{i}": _stored(item) for i, item in enumerate(inputs)})
        try:
            expected = [result[0] for result in reference.run(inputs).results]
        except RuntimeError:
            expected = []
        np.savez(folder / f"expected_{k}.npz", **{f"result_{i}": _stored(item) for i, item in enumerate(expected)})
    methods = sorted({f"{kind} ({method})" for kind, method in reference.count_methods()})
    text = _SCRIPT.format(
        summary=facts["reason"].replace("\\", "/").replace('"""', ""),
        version=openvino.__version__,
        device=device.name,
        precision=device.precision,
        runs=[used.index(k) for k in wrong.sequence],
        expected=f"What is expected was computed node by node: {', '.join(methods)}.",
    )
    write_text(folder / "reproduce.py", text)
    write_text(folder / "case.json", json.dumps(facts, indent=1) + "\n")


def _without_numbers(model: Model) -> Model:
    model = model.clone()
    for node in model.get_ops():
        info = node.get_rt_info()
        if NUMBER in info:
            del info[NUMBER]
    return model


def _stored(tensor: Tensor) -> Any:
    if tensor.get_element_type() == Type.bf16:
        return np.frombuffer(tensor.data.tobytes(), np.uint16).reshape(tuple(tensor.shape))
    return np.array(tensor.data)
