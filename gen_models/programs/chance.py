"""Decisions of chance, the same for the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np


class Chance:
    """A source of them."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def below(self, count: int) -> int:
        return int(self.rng.integers(count))

    def among(self, *choices: Any) -> Any:
        return choices[self.below(len(choices))]
