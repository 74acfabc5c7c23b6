"""Graph rewrites: one per file, run in the order of `REWRITES` after translation.

A rewrite is a function of a `Graph` that changes the model in place and returns what it did, as counts by kind. Its
docstring says `Given` which structure it makes which `Result`. It is linear in the size of the model, knows nothing of
Paddle, never takes an unknown dimension for 1, and leaves alone what OpenVINO does itself as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from openvino import Model

from paddle2ov.passes.attention.gather_windows import gather_windows
from paddle2ov.passes.attention.merge_patches import merge_patches
from paddle2ov.passes.attention.split_qkv import cut_projections
from paddle2ov.passes.attention.spread_masks import spread_masks
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.layout.absorb_transposes import absorb_transposes
from paddle2ov.passes.layout.fuse_transposes import fuse_transposes
from paddle2ov.passes.layout.move_transposes import move_transposes
from paddle2ov.passes.layout.reduce_transposes import reduce_transposes
from paddle2ov.passes.layout.sink_squeezes import sink_squeezes
from paddle2ov.passes.layout.squeeze_unit_axes import drop_ones
from paddle2ov.passes.layout.transpose_grids import transpose_grids
from paddle2ov.passes.workarounds.choose_directly import choose_directly
from paddle2ov.passes.workarounds.compute_constants import compute_constants
from paddle2ov.passes.workarounds.keep_reduced import keep_reduced
from paddle2ov.passes.workarounds.part_scores import part_scores
from paddle2ov.passes.workarounds.part_transposes import part_transposes
from paddle2ov.passes.workarounds.refine_functions import refine_functions
from paddle2ov.passes.workarounds.spread_constants import spread_constants
from paddle2ov.passes.workarounds.widen_reductions import widen_reductions

Rewrite: TypeAlias = Callable[[Graph], Counts]
"""Changes the model in place; returns what it did: kind -> how often."""

REWRITES: tuple[Rewrite, ...] = (
    reduce_transposes,  # first: its counts are those of the program's own transposes
    compute_constants,  # before those that look for constants
    choose_directly,
    drop_ones,
    sink_squeezes,
    cut_projections,
    gather_windows,
    spread_masks,
    merge_patches,
    absorb_transposes,
    move_transposes,
    fuse_transposes,
    transpose_grids,  # after those: what it parts cannot meet
    part_scores,
    part_transposes,
    spread_constants,
    widen_reductions,
    keep_reduced,
    refine_functions,  # last: the others know the functions by one node
)


def run_rewrites(model: Model, rewrites: tuple[Rewrite, ...] = REWRITES) -> dict[str, Counts]:
    """Runs the rewrites in order, also in the bodies of branches and loops; returns what each of them did."""
    graph = Graph(model)
    inner = [run_rewrites(body, rewrites) for body in graph.bodies()]
    done = {rewrite.__name__: rewrite(graph) for rewrite in rewrites}
    for result in model.get_results():
        # A copy of the model, which compiling begins with, gives what is returned the shape that the result has.
        result.validate_and_infer_types()
    for counts in inner:
        for name, kinds in counts.items():
            for kind, count in kinds.items():
                done[name][kind] = done[name].get(kind, 0) + count
    return done


__all__ = ["REWRITES", "Counts", "Graph", "Rewrite", "run_rewrites"]
