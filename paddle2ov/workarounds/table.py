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
from paddle2ov.workarounds.row import CPU, Local, Workaround

WORKAROUNDS: tuple[Workaround, ...] = (
    Local(elided.gather_of_one, elided.leave_out, "gather_of_single_element", early=True, fits_sizes=True),
    Local(constants.computed_once, hide, "suppression_of_constants", early=True, where=CPU),
    Workaround(
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
    Local(elided.abs_of_sizes, elided.keep_abs, "abs_of_sizes"),
    Local(attention.single_key, attention.add_epsilon, "attention_compiled_for_one_key", where=CPU),
    Local(scores.row_of_scores, scores.put_scores_second, "row_of_scores", where=CPU),
    Local(attention.product_of_one_key, attention.multiply, "one_key_of_many_queries", where=CPU, fits_sizes=True),
    Local(attention.equal_axes, deepen_transpose, "attention_with_as_many_heads_as_tokens", where=CPU),
    Local(
        memory.transpose_views,
        deepen_transpose,
        "transpose_view_in_recurrent_layer",
        "transpose_view_of_joined_memory",
        "transpose_view_of_result",
        "transpose_view_of_scattered_memory",
        where=CPU,
    ),
    Local(moved.transpose_of_split_channels, deepen_transpose, "transpose_of_split_channels"),
    Local(
        misrecognised.channel_shuffle, misrecognised.transpose_at_rank_6, "transpose_between_reshapes_of_unknown_batch"
    ),
    Local(memory.square_weights, memory.transpose_weights, "square_weights_in_both_orientations", where=CPU),
    Local(memory.resize_views, memory.read_copy, "resize_view_of_shared_memory", where=CPU),
    Local(moved.stride_over_padding, moved.slice_before, "stride_of_padded_convolution", "stride_of_split_image"),
    Local(merged.pad_of_convolution, merged.deepen_pad, "pad_before_transposed_convolution", "pad_before_same_padding"),
    Local(
        bfloat16.stride_to_width_1, bfloat16.drop_stride, "strided_convolution_of_width_1", where=CPU, fits_sizes=True
    ),
    Local(bfloat16.small_group_filters, bfloat16.pad_filters, "small_group_filters", where=CPU),
    Local(recurrent.layer_of_constants, hide, "recurrent_layer_of_zeros_in_bfloat16", where=CPU),
    Local(recurrent.layer_of_computed_shape, recurrent.pin_batch, "recurrent_layer_of_computed_shape"),
    Local(
        attention.product_with_one_number,
        attention.multiply_by_number,
        "attention_of_one_query_and_feature",
        "elementwise_with_single_element_of_higher_rank",
        "layers_of_one_weight",
        fits_sizes=True,
    ),
    Local(
        bounds.batched_weights,
        bounds.multiply_at_rank_4,
        "matmul_of_constant_matrices",
        "matmul_of_constant_matrices_with_batch",
    ),
    Local(post_ops.along_axis_1, post_ops.repeat, "post_op_along_axis_1", where=CPU),
    Local(post_ops.of_small_product, hide, "post_op_of_small_product", where=CPU),
    Local(post_ops.of_unknown_width, hide, "post_op_of_unknown_width", where=CPU),
    Local(post_ops.of_one_pixel, hide, "post_op_of_one_pixel", where=CPU),
    Local(post_ops.of_single_image, post_ops.forget_batch, "sum_of_more_images", where=CPU),
    Local(moved_reductions.of_transposed, moved_reductions.transpose_result, "reduction_after_transpose"),
    Local(moved_reductions.of_unsqueezed, moved_reductions.unsqueeze_result, "reduction_after_unsqueeze"),
    Local(memory.channel_means, memory.flatten_pixels, "mean_of_each_channel", where=CPU),
    Local(post_ops.of_reduced_sequence, post_ops.reduce_image, "post_op_of_reduced_sequence", where=CPU),
    Local(post_ops.of_unknown_channels, hide, "post_op_of_unknown_channels", where=CPU),
    Local(bounds.unit_tiles, bounds.tile_at_rank_6, "tile_of_one_pixel", where=CPU),
    Local(moved.broadcast_to_nothing, barrier, "broadcast_to_nothing_moved"),
    Local(recurrent.gates_in_another_order, hide, "gates_of_lstm_cell_in_another_order"),
    Local(recurrent.gru_of_another_form, recurrent.split_before_sigmoid, "gru_cell_of_another_form"),
    Local(misrecognised.activation_of_pool, misrecognised.read_through_maximum, "activation_before_pooling"),
    Local(misrecognised.convolutions_as_groups, misrecognised.make_group, "convolutions_of_parts_as_groups"),
    Local(misrecognised.statistics_of_rows, keep_axes, "statistics_without_their_axis"),
    Local(misrecognised.swish_of_vectors, misrecognised.hide_or_squeeze, "swish_of_beta_with_dimensions"),
    Local(merged.factor_of_shared_filters, barrier, "factor_of_shared_group_filters"),
    Local(misrecognised.slopes_of_channels, misrecognised.add_axis, "prelu_of_last_axis"),
    Local(merged.constants_of_sums, hide, "constants_of_sums_merged"),
    Local(bounds.inner_dims, bounds.check_features, "matmul_of_another_width", where=CPU),
    Local(quantized.scale_before_norm, quantized.absorb, "normalization_of_scaled_numbers"),
    Local(quantized.constants_before_ranges, hide, "constants_before_quantization"),
    Local(merged.scale_of_pixels, hide, "scale_of_pixels_into_filters"),
    Local(quantized.shared_convolution, quantized.clamp, "scales_of_an_integer_convolution", where=CPU),
    Local(bounds.sliced_sizes, bounds.hide_sizes, "slice_of_bounded_size", "strided_slice_of_bounded_size"),
    Local(elided.reshape_of_reduced, keep_axes, "reshape_after_reduction"),
    Local(elided.slice_before_gather, elided.slice_by_strides, "gather_elements_after_slice"),
    Local(functions.small_values, functions.refine, "erf_of_small_numbers", "softplus_of_large_negative_numbers"),
    Local(moved.abs_of_joined, deepen, "abs_of_joined_vectors"),
    Local(
        memory.loop_invariants,
        memory.copy,
        "loop_overwrites_what_softmax_reads",
        "loop_overwrites_what_views_show",
        where=CPU,
    ),
    Local(reversal.of_channels, set_apart, "channels_reversed_twice"),
)


AFTER_CALIBRATION = (
    Local(quantized.signed_beside_unsigned, quantized.widen, "signed_integers_with_zero_points", where=CPU),
)
"""Workarounds that change ranges slightly, which only `quantize` may."""


def row(name: str) -> Workaround:
    """The workaround of a name."""
    return next(workaround for workaround in (*WORKAROUNDS, *AFTER_CALIBRATION) if workaround.name == name)
