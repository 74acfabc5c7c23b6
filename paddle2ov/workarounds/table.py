"""The workarounds, a row each, in the order in which they run."""

from __future__ import annotations

from paddle2ov.workarounds import (
    attention,
    bfloat16,
    bounds,
    constants,
    elided,
    functions,
    memory,
    merged,
    misrecognised,
    moved,
    moved_reductions,
    post_ops,
    quantized,
    recurrent,
    reversal,
    scores,
)
from paddle2ov.workarounds.remedies import barrier, deepen, deepen_transpose, hide, keep_axes, set_apart
from paddle2ov.workarounds.row import CPU, Workaround, local, whole

WORKAROUNDS: tuple[Workaround, ...] = (
    local(elided.gather_of_one, elided.leave_out, "gather_of_single_element", early=True, fits_sizes=True),
    local(constants.computed_once, hide, "suppression_of_constants", early=True, where=CPU),
    whole(
        constants.compute,
        "abs_of_sizes",
        "constant_convolution_overwritten",
        "constant_gather_overwritten",
        "recurrent_layer_of_constants_in_bfloat16",
        "scatter_update_of_constants",
        "shape_of_accumulated_constants",
        "constant_transposed_into_product",
        early=True,
    ),
    local(elided.abs_of_sizes, elided.keep_abs, "abs_of_sizes"),
    local(attention.single_key, attention.add_epsilon, "attention_compiled_for_one_key", where=CPU),
    local(scores.row_of_scores, scores.put_scores_second, "row_of_scores", where=CPU),
    local(attention.product_of_one_key, attention.multiply, "one_key_of_many_queries", where=CPU, fits_sizes=True),
    local(attention.equal_axes, deepen_transpose, "attention_with_as_many_heads_as_tokens", where=CPU),
    local(
        memory.transpose_views,
        deepen_transpose,
        "transpose_view_in_recurrent_layer",
        "transpose_view_of_joined_memory",
        "transpose_view_of_result",
        "transpose_view_of_scattered_memory",
        where=CPU,
    ),
    local(moved.transpose_of_split_channels, deepen_transpose, "transpose_of_split_channels"),
    local(
        misrecognised.channel_shuffle, misrecognised.transpose_at_rank_6, "transpose_between_reshapes_of_unknown_batch"
    ),
    local(memory.square_weights, memory.transpose_weights, "square_weights_in_both_orientations", where=CPU),
    local(memory.resize_views, memory.read_copy, "resize_view_of_shared_memory", where=CPU),
    local(moved.stride_over_padding, moved.slice_before, "stride_of_padded_convolution", "stride_of_split_image"),
    local(merged.pad_of_convolution, merged.deepen_pad, "pad_before_transposed_convolution", "pad_before_same_padding"),
    local(
        bfloat16.stride_to_width_1, bfloat16.drop_stride, "strided_convolution_of_width_1", where=CPU, fits_sizes=True
    ),
    local(bfloat16.small_group_filters, bfloat16.pad_filters, "small_group_filters", where=CPU),
    local(recurrent.layer_of_constants, hide, "recurrent_layer_of_zeros_in_bfloat16", where=CPU),
    local(recurrent.layer_of_computed_shape, recurrent.pin_batch, "recurrent_layer_of_computed_shape"),
    local(
        attention.product_with_one_number,
        attention.multiply_by_number,
        "attention_of_one_query_and_feature",
        "elementwise_with_single_element_of_higher_rank",
        "layers_of_one_weight",
        fits_sizes=True,
    ),
    local(
        bounds.batched_weights,
        bounds.multiply_at_rank_4,
        "matmul_of_constant_matrices",
        "matmul_of_constant_matrices_with_batch",
    ),
    local(post_ops.along_axis_1, post_ops.repeat, "post_op_along_axis_1", where=CPU),
    local(post_ops.of_small_product, hide, "post_op_of_small_product", where=CPU),
    local(post_ops.of_unknown_width, hide, "post_op_of_unknown_width", where=CPU),
    local(post_ops.of_one_pixel, hide, "post_op_of_one_pixel", where=CPU),
    local(post_ops.of_single_image, post_ops.forget_batch, "sum_of_more_images", where=CPU),
    local(moved_reductions.of_transposed, moved_reductions.transpose_result, "reduction_after_transpose"),
    local(moved_reductions.of_unsqueezed, moved_reductions.unsqueeze_result, "reduction_after_unsqueeze"),
    local(memory.channel_means, memory.flatten_pixels, "mean_of_each_channel", where=CPU),
    local(post_ops.of_reduced_sequence, post_ops.reduce_image, "post_op_of_reduced_sequence", where=CPU),
    local(post_ops.of_unknown_channels, hide, "post_op_of_unknown_channels", where=CPU),
    local(bounds.unit_tiles, bounds.tile_at_rank_6, "tile_of_one_pixel", where=CPU),
    local(moved.broadcast_to_nothing, barrier, "broadcast_to_nothing_moved"),
    local(recurrent.gates_in_another_order, hide, "gates_of_lstm_cell_in_another_order"),
    local(recurrent.gru_of_another_form, recurrent.split_before_sigmoid, "gru_cell_of_another_form"),
    local(misrecognised.activation_of_pool, misrecognised.read_through_maximum, "activation_before_pooling"),
    local(misrecognised.convolutions_as_groups, misrecognised.make_group, "convolutions_of_parts_as_groups"),
    local(misrecognised.statistics_of_rows, keep_axes, "statistics_without_their_axis"),
    local(misrecognised.swish_of_vectors, misrecognised.hide_or_squeeze, "swish_of_beta_with_dimensions"),
    local(merged.factor_of_shared_filters, barrier, "factor_of_shared_group_filters"),
    local(misrecognised.slopes_of_channels, misrecognised.add_axis, "prelu_of_last_axis"),
    local(merged.constants_of_sums, hide, "constants_of_sums_merged"),
    local(bounds.inner_dims, bounds.check_features, "matmul_of_another_width", where=CPU),
    local(quantized.scale_before_norm, quantized.absorb, "normalization_of_scaled_numbers"),
    local(quantized.constants_before_ranges, hide, "constants_before_quantization"),
    local(merged.scale_of_pixels, hide, "scale_of_pixels_into_filters"),
    local(quantized.shared_convolution, quantized.clamp, "scales_of_an_integer_convolution", where=CPU),
    local(bounds.sliced_sizes, bounds.hide_sizes, "slice_of_bounded_size", "strided_slice_of_bounded_size"),
    local(elided.reshape_of_reduced, keep_axes, "reshape_after_reduction"),
    local(elided.slice_before_gather, elided.slice_by_strides, "gather_elements_after_slice"),
    local(functions.small_values, functions.refine, "erf_of_small_numbers", "softplus_of_large_negative_numbers"),
    local(moved.abs_of_joined, deepen, "abs_of_joined_vectors"),
    whole(memory.loop_invariants, "loop_overwrites_what_softmax_reads", "loop_overwrites_what_views_show", where=CPU),
    local(reversal.of_channels, set_apart, "channels_reversed_twice"),
)


AFTER_CALIBRATION = (
    local(quantized.signed_beside_unsigned, quantized.widen, "signed_integers_with_zero_points", where=CPU),
)
"""Workarounds that change ranges slightly, which only `quantize` may."""


def row(name: str) -> Workaround:
    """The workaround of a name."""
    return next(workaround for workaround in (*WORKAROUNDS, *AFTER_CALIBRATION) if workaround.name == name)
