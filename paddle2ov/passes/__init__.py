"""Graph rewrites: one per file, run in the order of `PASSES` after translation."""

from __future__ import annotations

from collections.abc import Callable

from openvino import Model

Pass = Callable[[Model], int]
"""Rewrites the model in place and returns how many times it did."""

PASSES: tuple[Pass, ...] = ()


def run_passes(model: Model) -> dict[str, int]:
    """Runs all passes; returns how often each of them applied."""
    return {rewrite.__name__: rewrite(model) for rewrite in PASSES}
