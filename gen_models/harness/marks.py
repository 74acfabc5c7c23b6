"""What cases are marked with, each with its reason: `case(x=..., **OLD)`, `case(x=..., **pir("new in 3.3"))`."""

from __future__ import annotations

from typing import Any


def pir(why: str, **more: Any) -> dict[str, Any]:
    """Of a case that only PIR programs have: why, and what else it sets for a reason."""
    return {"formats": ("pir",), "why": why, **more}


def legacy(why: str, **more: Any) -> dict[str, Any]:
    """Of a case that only legacy programs have."""
    return {"formats": ("legacy",), "why": why, **more}


LEGACY = legacy("only legacy programs have it")
OLD = legacy("Paddle 3 has no such operator")
NO_FUNCTION = legacy("Paddle 3 has no function for it")
LOD = legacy("Paddle 3 has no LoD")
NOT_PUBLIC = legacy("no public function of Paddle 2 or 3")
NEW = pir("new in Paddle 3")
NEW_KERNEL = pir("Paddle 2.6 has no kernel for it")
COMPUTED = pir("Paddle 2.6 takes no axis from a tensor")
"""For a case whose axis the program computes."""
NOT_FED = pir("Paddle 2.6 forgets to feed a tensor that only an attribute names")
NOT_EMPTY = pir("Paddle 2 takes nothing empty")
COMPLEX_HERE = pir("complex numbers are new here in Paddle 3")
"""For a case of complex numbers that Paddle 2 refuses."""
DIGITS: dict[str, Any] = {"atol": 0.0, "rtol": 2e-6, "why": "every digit counts, those of small values too"}
"""For a case where Paddle is exact to a few units in the last place of float32, however small the result is."""
F64: dict[str, Any] = {"why": "OpenVINO's CPU plugin computes f64 as f32"}
"""For a case in float64, whose results have the digits of float32."""
TAIL: dict[str, Any] = {"atol": 1.2e-7, "rtol": 2e-6, "why": "no more is lost than what Paddle loses, which adds 1"}
"""For a case of ln(1 + e^x) far from 0."""
WIDE: dict[str, Any] = {"dynamic": False, "why": "the window is wider than x: OpenVINO has no result for that"}
FIXED_FILTER: dict[str, Any] = {
    "dynamic": False,
    "why": "OpenVINO's CPU plugin has no transposed convolution by a filter of unknown shape",
}
"""For a case whose filter is an input."""
