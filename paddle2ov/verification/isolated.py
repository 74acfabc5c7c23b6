"""An operator alone, on what it read in Paddle."""

from __future__ import annotations

from dataclasses import dataclass

import openvino

from paddle2ov.comparison.differences import Expected
from paddle2ov.compilation.running import Result


@dataclass(slots=True)
class Isolated:
    """An operator alone: Paddle's inputs, both sides' results, and the OpenVINO model that computes it."""

    inputs: dict[str, Expected]
    expected: dict[str, Expected]
    results: dict[str, Result]
    model: openvino.Model
