"""Compares what OpenVINO computes from a converted model with what Paddle recorded. For this repository's tests and yours.

A case folder is what `gen_models.generate` writes: a Paddle model, `inputs.npz`, `outputs.npz` and `case.json`.
`check_case(folder)` converts it twice, as declared and with every input dimension dynamic, and compares both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import openvino
from numpy.typing import NDArray

from paddle2ov.convert import convert
from paddle2ov.types import OV_TYPES

Array = NDArray[Any]

_WIDTH = {"float16": 2e-3, "bfloat16": 2e-2}
"""Least tolerance of a type: a few units in its last place (10 and 7 bits of fraction)."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What Paddle recorded of one result. bfloat16 values are its bits, as unsigned integers."""

    name: str
    dtype: str
    array: Array


class Mismatch(AssertionError):
    """OpenVINO computes something else than Paddle."""


def check_case(folder: Path, extension: Any = None) -> None:
    """Checks one case folder.

    Raises:
        Mismatch: a result differs in number, type, shape or value; the message names the worst element.
        Paddle2OVError: the model cannot be converted.
    """
    record = json.loads((folder / "case.json").read_text())
    case = record["case"]
    inputs = load(folder / "inputs.npz")
    arrays = load(folder / "outputs.npz")
    expected = [Expected(item["name"], item["dtype"], arrays[str(i)]) for i, item in enumerate(record["outputs"])]
    variants: dict[str, Any] = {"as declared": None}
    if case.get("dynamic", True) and inputs:
        variants["all dimensions dynamic"] = {
            name: [-1] * (array.ndim + (array.dtype.kind == "c")) for name, array in inputs.items()
        }
    for variant, shapes in variants.items():
        where = f"{case.get('name') or record['op']} ({record['format']}, {variant}), model in {folder}"
        model = convert(folder, input=shapes, extension=extension)
        results = run(model, inputs)
        compare(results, expected, case.get("atol", 2e-5), case.get("rtol", 2e-5), where)


def run(model: openvino.Model, inputs: Mapping[str, Array]) -> list[tuple[str, str, Array]]:
    """Compiles the model on the CPU in full precision and runs it; returns (name, element type, array) per result."""
    compiled = _core().compile_model(
        model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
    )
    request = compiled.create_infer_request()
    for port in compiled.inputs:
        request.set_tensor(port, as_tensor(inputs[_name(port, inputs)], port.get_element_type()))
    request.infer()
    return [
        (
            port.get_any_name() if port.get_names() else "",
            port.get_element_type().get_type_name(),
            _array(request.get_tensor(port)),
        )
        for port in compiled.outputs
    ]


def compare(
    results: Sequence[tuple[str, str, Array]],
    expected: Sequence[Expected],
    atol: float,
    rtol: float,
    where: str,
    to_largest: bool = False,
) -> None:
    """Compares results with what Paddle recorded: count, types and shapes exactly, integers and bools exactly, floats
    within atol + rtol * |expected|; NaN equals NaN and infinities are exact. With `to_largest` atol is relative to the
    largest value of the result.

    Raises:
        Mismatch: something differs.
    """
    if len(results) != len(expected):
        raise Mismatch(f"{where}: {len(results)} results, Paddle has {len(expected)}")
    for i, ((name, kind, array), want) in enumerate(zip(results, expected, strict=True)):
        label = f"{where}: result {i} ('{want.name or name}')"
        if want.name and name != want.name:
            raise Mismatch(f"{label}: is called '{name}'")
        if kind != OV_TYPES[want.dtype].get_type_name():
            raise Mismatch(f"{label}: has type {kind}, Paddle's is {want.dtype}")
        paddle_array = want.array
        if want.dtype == "bfloat16" and paddle_array.dtype == np.uint16:
            paddle_array = (paddle_array.astype(np.uint32) << 16).view(np.float32)
        if paddle_array.dtype.kind == "c":
            paddle_array = np.stack([paddle_array.real, paddle_array.imag], -1)
        if array.shape != paddle_array.shape:
            raise Mismatch(f"{label}: has shape {list(array.shape)}, Paddle's is {list(paddle_array.shape)}")
        finite = (
            np.abs(paddle_array[np.isfinite(paddle_array)]) if to_largest and paddle_array.dtype.kind == "f" else ()
        )
        scale = float(np.max(finite)) if len(finite) else 1.0
        _compare_values(array, paddle_array, *_tolerance(want.dtype, atol * scale, rtol), label)


def _tolerance(dtype: str, atol: float, rtol: float) -> tuple[float, float]:
    least = _WIDTH.get(dtype, 0.0)
    return max(atol, least), max(rtol, least)


def _compare_values(array: Array, want: Array, atol: float, rtol: float, label: str) -> None:
    if want.dtype.kind in "biu":
        wrong = array.astype(want.dtype) != want
        distance = np.abs(array.astype(np.float64) - want.astype(np.float64))
    else:
        a, b = array.astype(np.float64), want.astype(np.float64)
        with np.errstate(invalid="ignore"):
            distance = np.abs(a - b)
            wrong = ~(distance <= atol + rtol * np.abs(b))
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        wrong &= ~same
        wrong |= ~same & ~(np.isfinite(a) & np.isfinite(b))
        distance = np.where(same, 0.0, np.where(np.isfinite(distance), distance, np.inf))
    if wrong.any():
        worst = np.unravel_index(int(np.argmax(np.where(wrong, distance, -1.0))), want.shape)
        raise Mismatch(
            f"{label}: {int(wrong.sum())} of {want.size} elements differ; the worst at {[int(k) for k in worst]}: "
            f"OpenVINO {array[worst]!r}, Paddle {want[worst]!r} (atol={atol}, rtol={rtol})"
        )


def load(path: Path) -> dict[str, Array]:
    """The arrays of an .npz file by name."""
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def as_tensor(array: Array, kind: openvino.Type) -> openvino.Tensor:
    """The array as a tensor of an input's type: bfloat16 comes as its bits, complex numbers as pairs."""
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], -1)
    array = np.ascontiguousarray(array).reshape(array.shape)
    if kind == openvino.Type.bf16:
        if array.size == 0:
            return openvino.Tensor(kind, openvino.Shape(array.shape))
        return openvino.Tensor(array, openvino.Shape(array.shape), kind)
    return openvino.Tensor(array)


def _array(tensor: openvino.Tensor) -> Array:
    if tensor.get_element_type() == openvino.Type.bf16:
        bits = np.frombuffer(
            bytes(tensor.data.view(np.uint8) if tensor.data.ndim else tensor.data.tobytes()), np.uint16
        )
        return (bits.astype(np.uint32) << 16).view(np.float32).reshape(tuple(tensor.shape))
    return tensor.data.copy()


def _name(port: Any, inputs: Mapping[str, Array]) -> str:
    for name in port.get_names():
        if name in inputs:
            return str(name)
    raise Mismatch(f"the model has an input {sorted(port.get_names())} that Paddle's model does not have")


@cache
def _core() -> openvino.Core:
    return openvino.Core()


def check_network(folder: Path, extension: Any = None) -> None:
    """Checks a network's folder, with each of its sets of inputs: results within its tolerance of the largest value.

    Raises:
        Mismatch: a result differs in number, name, type, shape or value.
        Paddle2OVError: the model cannot be converted.
    """
    record = json.loads((folder / "case.json").read_text())
    model = convert(folder, extension=extension)
    for i in range(record["sets"]):
        arrays = load(folder / f"outputs_{i}.npz")
        expected = [Expected(item["name"], item["dtype"], arrays[str(k)]) for k, item in enumerate(record["outputs"])]
        results = run(model, load(folder / f"inputs_{i}.npz"))
        where = f"{record['network']} ({record['format']}, inputs {i}), model in {folder}"
        compare(results, expected, record["tolerance"], record["tolerance"], where, to_largest=True)
