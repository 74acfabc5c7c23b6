"""Rewrites of the graph: one per file, run in the order of `REWRITES` after translation.

A rewrite is called with a `Graph`, changes the model in place and returns what it did, as counts by kind. Most are a
`Rule` (`rule.py`): a pattern, a check that gives a reason if it must not fire, the rewrite; one that looks at a model
as a whole is a function. The docstring gives the matched structure (`Given`) and what replaces it (`Result`). A rewrite
takes time linear in the size of the model, knows nothing of Paddle, never assumes that a dynamic dimension is 1, and
does not repeat what OpenVINO does itself. CONTRIBUTING.md ("Add a rewrite") goes through the steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from openvino import Model

from paddle2ov.errors import FailingAs, RewriteError
from paddle2ov.graph.bodies import is_template
from paddle2ov.passes.attention.add_masks_to_scores import add_masks_to_scores
from paddle2ov.passes.attention.gather_windows import gather_windows
from paddle2ov.passes.attention.merge_patches import merge_patches
from paddle2ov.passes.attention.split_qkv import split_qkv
from paddle2ov.passes.broadcast_select import broadcast_select
from paddle2ov.passes.detection.gather_pushdown import gather_pushdown
from paddle2ov.passes.drop_neutral import drop_neutral
from paddle2ov.passes.fourier.transforms_to_products import transforms_to_products
from paddle2ov.passes.fuse_softmax import fuse_softmax
from paddle2ov.passes.graph import Counts, Graph, MatchFailures
from paddle2ov.passes.integer_weights import integer_weights
from paddle2ov.passes.layout.absorb_transposes import absorb_transposes
from paddle2ov.passes.layout.fuse_transposes import fuse_transposes
from paddle2ov.passes.layout.move_transposes import move_transposes
from paddle2ov.passes.layout.sink_squeezes import sink_squeezes
from paddle2ov.passes.layout.squeeze_unit_axes import squeeze_unit_axes
from paddle2ov.passes.layout.transpose_feature_maps import transpose_feature_maps
from paddle2ov.passes.layout.transposes_to_reshapes import transposes_to_reshapes
from paddle2ov.passes.rule import Rule

Rewrite: TypeAlias = Callable[[Graph], Counts]
"""Changes the model in place; returns what it did: kind -> how often."""

NORMAL_FORM: tuple[Rewrite, ...] = (drop_neutral, fuse_softmax)
"""What can be spelled in several ways gets the form that OpenVINO gives it when it compiles the model.

Other rewrites and workarounds look for that form. These rewrites match what OpenVINO's own fusions match, so that
results stay as they are.
"""

REWRITES: tuple[Rewrite, ...] = (
    gather_pushdown,  # first: nodes that it leaves without readers are no longer part of the model
    transposes_to_reshapes,  # early, so that it counts the program's own transposes
    *NORMAL_FORM,  # before rewrites that look for neighbours
    broadcast_select,
    squeeze_unit_axes,
    sink_squeezes,
    transforms_to_products,  # after these, which leave a Pad alone, and before those that remove transposes
    split_qkv,
    gather_windows,
    add_masks_to_scores,
    merge_patches,
    absorb_transposes,  # before fuse_transposes, which would merge the transpose of k with its split into heads
    move_transposes,
    fuse_transposes,
    transpose_feature_maps,  # after these, which could not cancel the transposes that it separates
    integer_weights,
)


def run_rewrites(
    model: Model, rewrites: tuple[Rewrite, ...], match_failures: MatchFailures | None = None
) -> dict[str, Counts]:
    """Runs the rewrites in order, also in the bodies of branches and loops; returns what each of them did.

    Bodies that converters keep as templates (`converters/graph/loops.py`) stay as they are: they hardly ever run.

    `match_failures` is filled with the reasons why they left matches as they are.

    Raises:
        RewriteError: one of them failed.
    """
    return rewrite_graph(Graph(model, match_failures), rewrites)


def rewrite_graph(graph: Graph, rewrites: tuple[Rewrite, ...]) -> dict[str, Counts]:
    """As `run_rewrites`, on a graph whose nodes may have been listed already.

    Raises:
        RewriteError: one of them failed.
    """
    inner = [rewrite_graph(body, rewrites) for body in graph.bodies() if not is_template(body.model)]
    done: dict[str, Counts] = {}
    graph.watch()
    running = "none"
    with FailingAs(lambda reason: RewriteError(running, reason)):
        there = graph.index.all_kinds()
        for rewrite in rewrites:
            running = rewrite.__name__
            if isinstance(rewrite, Rule) and not rewrite.looks_at.may_match_among(there):
                done[running] = dict.fromkeys(rewrite.counts, 0)
            else:
                done[running] = rewrite(graph)
                there = graph.index.all_kinds()
        for result in graph.model.get_results():  # compiling clones the model, and takes the shapes of its outputs here
            result.validate_and_infer_types()
    for counts in inner:
        for name, kinds in counts.items():
            for kind, count in kinds.items():
                done[name][kind] = done[name].get(kind, 0) + count
    return done


__all__ = ["REWRITES", "Counts", "Graph", "MatchFailures", "Rewrite", "rewrite_graph", "run_rewrites"]
