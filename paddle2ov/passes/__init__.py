"""Graph rewrites: one per file, run in the order of `REWRITES` after translation.

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
from paddle2ov.passes.attention.add_masks_to_scores import add_masks_to_scores
from paddle2ov.passes.attention.gather_windows import gather_windows
from paddle2ov.passes.attention.merge_patches import merge_patches
from paddle2ov.passes.attention.split_qkv import split_qkv
from paddle2ov.passes.broadcast_select import broadcast_select
from paddle2ov.passes.detection.gather_pushdown import gather_pushdown
from paddle2ov.passes.drop_neutral import drop_neutral
from paddle2ov.passes.graph import Counts, Graph, MatchFailures
from paddle2ov.passes.integer_weights import integer_weights
from paddle2ov.passes.layout.absorb_transposes import absorb_transposes
from paddle2ov.passes.layout.fuse_transposes import fuse_transposes
from paddle2ov.passes.layout.move_transposes import move_transposes
from paddle2ov.passes.layout.sink_squeezes import sink_squeezes
from paddle2ov.passes.layout.squeeze_unit_axes import squeeze_unit_axes
from paddle2ov.passes.layout.transpose_feature_maps import transpose_feature_maps
from paddle2ov.passes.layout.transposes_to_reshapes import transposes_to_reshapes
from paddle2ov.passes.templates import Outcome, outcome
from paddle2ov.passes.workarounds.absorb_scales import absorb_scales
from paddle2ov.passes.workarounds.avoid_abs_elimination import avoid_abs_elimination
from paddle2ov.passes.workarounds.avoid_abs_sinking import avoid_abs_sinking
from paddle2ov.passes.workarounds.avoid_batched_weights import avoid_batched_weights
from paddle2ov.passes.workarounds.avoid_broadcast_transition import avoid_broadcast_transition
from paddle2ov.passes.workarounds.avoid_channel_means import avoid_channel_means
from paddle2ov.passes.workarounds.avoid_channel_post_ops import avoid_channel_post_ops
from paddle2ov.passes.workarounds.avoid_channel_shuffle import avoid_channel_shuffle
from paddle2ov.passes.workarounds.avoid_constant_recurrence import avoid_constant_recurrence
from paddle2ov.passes.workarounds.avoid_constant_sums import avoid_constant_sums
from paddle2ov.passes.workarounds.avoid_convolutions_as_groups import avoid_convolutions_as_groups
from paddle2ov.passes.workarounds.avoid_depth_padding import avoid_depth_padding
from paddle2ov.passes.workarounds.avoid_gate_confusion import avoid_gate_confusion
from paddle2ov.passes.workarounds.avoid_gru_confusion import avoid_gru_confusion
from paddle2ov.passes.workarounds.avoid_interpolated_parts import avoid_interpolated_parts
from paddle2ov.passes.workarounds.avoid_nonzero_of_convert import avoid_nonzero_of_convert
from paddle2ov.passes.workarounds.avoid_pad_fusion import avoid_pad_fusion
from paddle2ov.passes.workarounds.avoid_pixel_post_ops import avoid_pixel_post_ops
from paddle2ov.passes.workarounds.avoid_pool_activation import avoid_pool_activation
from paddle2ov.passes.workarounds.avoid_product_of_one import avoid_product_of_one
from paddle2ov.passes.workarounds.avoid_quantized_factors import avoid_quantized_factors
from paddle2ov.passes.workarounds.avoid_rank_loss import avoid_rank_loss
from paddle2ov.passes.workarounds.avoid_reduction_post_ops import avoid_reduction_post_ops
from paddle2ov.passes.workarounds.avoid_reshape_elision import avoid_reshape_elision
from paddle2ov.passes.workarounds.avoid_resize_views import avoid_resize_views
from paddle2ov.passes.workarounds.avoid_row_post_ops import avoid_row_post_ops
from paddle2ov.passes.workarounds.avoid_scale_fusion import avoid_scale_fusion
from paddle2ov.passes.workarounds.avoid_shallow_padding import avoid_shallow_padding
from paddle2ov.passes.workarounds.avoid_shared_filter_factors import avoid_shared_filter_factors
from paddle2ov.passes.workarounds.avoid_single_gather import avoid_single_gather
from paddle2ov.passes.workarounds.avoid_single_key_attention import avoid_single_key_attention
from paddle2ov.passes.workarounds.avoid_slice_elision import avoid_slice_elision
from paddle2ov.passes.workarounds.avoid_slopes_of_channels import avoid_slopes_of_channels
from paddle2ov.passes.workarounds.avoid_small_group_filters import avoid_small_group_filters
from paddle2ov.passes.workarounds.avoid_small_product_post_ops import avoid_small_product_post_ops
from paddle2ov.passes.workarounds.avoid_split_transposes import avoid_split_transposes
from paddle2ov.passes.workarounds.avoid_statistics_of_rows import avoid_statistics_of_rows
from paddle2ov.passes.workarounds.avoid_stride_propagation import avoid_stride_propagation
from paddle2ov.passes.workarounds.avoid_swish_of_vectors import avoid_swish_of_vectors
from paddle2ov.passes.workarounds.avoid_transpose_fusion import avoid_transpose_fusion
from paddle2ov.passes.workarounds.avoid_transpose_views import avoid_transpose_views
from paddle2ov.passes.workarounds.avoid_unit_tiles import avoid_unit_tiles
from paddle2ov.passes.workarounds.avoid_unit_weights import avoid_unit_weights
from paddle2ov.passes.workarounds.avoid_unit_width_strides import avoid_unit_width_strides
from paddle2ov.passes.workarounds.avoid_unknown_channel_post_ops import avoid_unknown_channel_post_ops
from paddle2ov.passes.workarounds.avoid_unknown_width_post_ops import avoid_unknown_width_post_ops
from paddle2ov.passes.workarounds.avoid_unsqueeze_elision import avoid_unsqueeze_elision
from paddle2ov.passes.workarounds.avoid_weight_rank_loss import avoid_weight_rank_loss
from paddle2ov.passes.workarounds.check_inner_dims import check_inner_dims
from paddle2ov.passes.workarounds.clamp_shared_convolutions import clamp_shared_convolutions
from paddle2ov.passes.workarounds.compute_constants import compute_constants
from paddle2ov.passes.workarounds.copy_loop_invariants import copy_loop_invariants
from paddle2ov.passes.workarounds.hide_bounds_of_slices import hide_bounds_of_slices
from paddle2ov.passes.workarounds.hide_constants import hide_constants
from paddle2ov.passes.workarounds.pin_recurrent_batch import pin_recurrent_batch
from paddle2ov.passes.workarounds.reduce_before_transpose import reduce_before_transpose
from paddle2ov.passes.workarounds.reduce_before_unsqueeze import reduce_before_unsqueeze
from paddle2ov.passes.workarounds.refine_functions import refine_functions

Rewrite: TypeAlias = Callable[[Graph], Counts]
"""Changes the model in place; returns what it did: kind -> how often."""

REWRITES: tuple[Rewrite, ...] = (
    gather_pushdown,  # first: nodes that it leaves without readers are no longer part of the model
    transposes_to_reshapes,  # early, so that it counts the program's own transposes
    avoid_single_gather,
    hide_constants,
    compute_constants,  # before rewrites that look for constants
    drop_neutral,  # before rewrites that look for neighbours
    avoid_abs_elimination,  # after compute_constants: it makes each run compute what could be constant
    broadcast_select,
    squeeze_unit_axes,
    sink_squeezes,
    split_qkv,
    gather_windows,
    add_masks_to_scores,
    merge_patches,
    absorb_transposes,  # before fuse_transposes, which would merge the transpose of k with its split into heads
    move_transposes,
    fuse_transposes,
    transpose_feature_maps,  # after these, which could not cancel the transposes that it separates
    avoid_single_key_attention,
    avoid_row_post_ops,  # after avoid_single_key_attention, which adds to the scores
    avoid_product_of_one,
    avoid_transpose_fusion,
    avoid_transpose_views,
    avoid_split_transposes,
    avoid_channel_shuffle,
    avoid_resize_views,
    avoid_stride_propagation,
    avoid_pad_fusion,
    avoid_rank_loss,
    avoid_weight_rank_loss,
    avoid_depth_padding,  # after rewrites that pad
    avoid_shallow_padding,  # after avoid_depth_padding, which handles static depths
    avoid_unit_width_strides,
    avoid_small_group_filters,
    avoid_constant_recurrence,
    pin_recurrent_batch,
    avoid_unit_weights,
    avoid_batched_weights,
    avoid_channel_post_ops,
    avoid_small_product_post_ops,
    avoid_unknown_width_post_ops,
    avoid_pixel_post_ops,
    reduce_before_transpose,  # these two before rewrites that look at the input of a reduction
    reduce_before_unsqueeze,
    avoid_channel_means,
    avoid_reduction_post_ops,
    avoid_unknown_channel_post_ops,  # after avoid_reduction_post_ops, which looks for these constants
    avoid_unit_tiles,
    avoid_broadcast_transition,
    avoid_gate_confusion,
    avoid_gru_confusion,
    avoid_pool_activation,
    avoid_convolutions_as_groups,
    avoid_nonzero_of_convert,
    avoid_interpolated_parts,
    avoid_statistics_of_rows,
    avoid_swish_of_vectors,
    avoid_shared_filter_factors,
    avoid_slopes_of_channels,
    avoid_constant_sums,
    check_inner_dims,
    absorb_scales,
    avoid_quantized_factors,
    avoid_scale_fusion,
    integer_weights,  # before clamp_shared_convolutions, which looks for such weights
    clamp_shared_convolutions,
    hide_bounds_of_slices,  # before avoid_slice_elision, which replaces slices by other nodes
    avoid_reshape_elision,  # after rewrites that add reshapes
    avoid_slice_elision,
    avoid_unsqueeze_elision,  # after rewrites that add an Unsqueeze
    refine_functions,  # after rewrites that match a function as one node
    avoid_abs_sinking,  # after rewrites that drop unit axes, or add an Abs
    copy_loop_invariants,  # last: the others change the readers of tensors
)


def run_rewrites(
    model: Model, rewrites: tuple[Rewrite, ...] = REWRITES, match_failures: MatchFailures | None = None
) -> dict[str, Counts]:
    """Runs the rewrites in order, also in the bodies of branches and loops; returns what each of them did.

    `match_failures` is filled with the reasons why they left matches as they are.

    Raises:
        RewriteError: one of them failed.
    """
    return rewrite_graph(Graph(model, match_failures), rewrites)


def rewrite_graph(graph: Graph, rewrites: tuple[Rewrite, ...] = REWRITES) -> dict[str, Counts]:
    """As `run_rewrites`, on a graph whose nodes may have been listed already.

    Raises:
        RewriteError: one of them failed.
    """
    inner = [_rewrite_body(graph, body, rewrites) for body in graph.bodies()]
    done: dict[str, Counts] = {}
    running = "none"
    with FailingAs(lambda reason: RewriteError(running, reason)):
        for rewrite in rewrites:
            running = rewrite.__name__
            done[running] = rewrite(graph)
        _validate_results(graph.model)
    for counts in inner:
        for name, kinds in counts.items():
            for kind, count in kinds.items():
                done[name][kind] = done[name].get(kind, 0) + count
    return done


def _validate_results(model: Model) -> None:
    # Compiling clones the model, and the clone takes the shapes of its outputs from the Result nodes.
    for result in model.get_results():
        result.validate_and_infer_types()


def _rewrite_body(graph: Graph, body: Graph, rewrites: tuple[Rewrite, ...]) -> dict[str, Counts]:
    """Runs the rewrites in a body of a graph; returns what each of them did."""

    def rewrite(model: Model) -> Outcome:
        failures: MatchFailures = {}
        return rewrite_graph(Graph(model, failures, is_body=True, is_branch=body.is_branch), rewrites), failures

    done, failures = outcome(body.model, (rewrites, body.is_branch), rewrite)
    _validate_results(body.model)
    for name, reasons in failures.items():
        counts = graph.match_failures.setdefault(name, {})
        for reason, count in reasons.items():
            counts[reason] = counts.get(reason, 0) + count
    return done


__all__ = ["REWRITES", "Counts", "Graph", "MatchFailures", "Rewrite", "rewrite_graph", "run_rewrites"]
