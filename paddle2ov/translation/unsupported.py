"""Why an operator has no converter, for errors, `paddle2ov inspect` and `paddle2ov ops`.

Operators of the signature table that are in none of the groups below have no converter yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from paddle2ov.program.signatures import ROWS

NOT_YET = "not written yet"

_REASONS: dict[str, str] = {
    "made for training: a loss or a measure that is computed from labels; export the network without it": """
        auc bpr_loss chunk_eval cross_entropy cross_entropy2 detection_map hierarchical_sigmoid linear_chain_crf
        margin_cross_entropy margin_rank_loss modified_huber_loss nce positive_negative_pair precision_recall rank_loss
        sigmoid_focal_loss target_assign teacher_student_sigmoid_loss warpctc warprnnt yolov3_loss""",
    "sorts sequences by their lengths, and drops those that have ended as a loop goes on (LoD), which no tensor of "
    "OpenVINO carries": """
        array_to_lod_tensor lod_rank_table lod_tensor_to_array max_sequence_len reorder_lod_tensor_by_rank
        shrink_rnn_memory""",
    "gives each pair of sequences, or each image, a size of its own (LoD), which no tensor of OpenVINO carries": """
        match_matrix_tensor sequence_topk_avg_pooling var_conv_2d""",
    "keeps two levels of LoD (sentences, and the prefixes of each) from one iteration of a loop to the next, and drops "
    "the sentences that have ended; no tensor of OpenVINO carries them (`dynamic_decode` is supported)": """
        beam_search beam_search_decode""",
    "runs on one vendor's GPU or accelerator only; Paddle has no CPU kernel to compare with": """
        add_group_norm_silu apply_per_channel_scale batched_gemm blha_get_max_len block_multihead_attention
        calc_reduced_attn_scores fast_ln fast_rms_norm flash_attn_qkvpacked flash_attn_unpadded flash_attn_v3
        flash_attn_v3_varlen flash_attn_varlen_qkvpacked flashmask_attention flashmask_attention_v2
        fp8_fp8_half_gemm_fused fp8_gemm_blockwise fp8_quant_blockwise fused_act_dequant fused_batch_norm_act
        fused_bn_add_activation fused_dot_product_attention fused_gate_attention fused_multi_transformer
        fused_multi_transformer_int8 fused_partial_rope fused_scale_bias_add_relu fused_scale_bias_relu_conv_bn
        fused_stack_quant fused_stack_transpose_quant fused_token_prune fused_transpose_split_quant
        fused_transpose_wlch_split_quant fused_weighted_swiglu_act_quant gemm_epilogue llm_int8_linear
        masked_multihead_attention moe moe_combine moe_combine_auto moe_combine_no_weight moe_gate_dispatch
        moe_gate_dispatch_and_quant moe_gate_dispatch_auto moe_gate_dispatch_partial_nosoftmaxtopk
        moe_gate_dispatch_permute moe_permute moe_unpermute qkv_unpack_mha resnet_basic_block resnet_unit
        squeeze_excitation_block top_p_sampling variable_length_memory_efficient_attention
        weight_dequantize weight_only_linear expand_modality_expert_id quant_linear
        fused_fc_elementwise_layernorm yolo_box_head yolo_box_post batch_fc bilateral_slice correlation cudnn_lstm
        fused_bias_act fused_seqpool_cvm max_pool2d_v2 rank_attention
        unzip""",
    "gives the eigenvalues of any matrix, complex numbers in the order in which LAPACK's algorithm happens to find "
    "them": """
        eig eigvals""",
    "quantizes weights into a layout that only the kernels of one vendor's GPUs read; export the weights as they are": (
        "weight_quantize"
    ),
    "reads, writes or shares memory by strides; Paddle makes it in dynamic graphs only": """
        index_elementwise_get index_elementwise_put index_elementwise_put_with_tensor index_select_strided set
        share_buffer""",
    "reads the bits of numbers as numbers of another type, which no operator of OpenVINO does; Paddle runs it in "
    "dynamic graphs only": "view_dtype",
    "Paddle has no CPU kernel for it, or cannot run it in a saved program": """
        fake_channel_wise_quantize_abs_max fill int_bincount max_with_index min_with_index ones
        restrict_nonzero zeros""",
    "draws a random sample of a graph, or a random order of a batch; do so before the network runs": """
        graph_khop_sampler graph_sample_neighbors shuffle_batch weighted_sample_neighbors""",
    "hashes in unsigned numbers of 64 bits, which OpenVINO does not compute; hash before the network runs": """
        hash pyramid_hash""",
    "of Paddle 1 only; no Paddle that can still be installed runs it, to compare with": """
        filter_by_instag tree_conv""",
    "of Paddle 1 only: which points of a region count is decided within a ten-thousandth of a pixel, on whose edges "
    "rounding decides": "roi_perspective_transform",
    "decodes a file, which Paddle does on a GPU only; feed the decoded image": "decode_jpeg",
    "made by Paddle itself as it differentiates, compiles or runs a program": """
        add_n_array fetch_v2 select_output shape_broadcast""",
}


LEFT_OUT: dict[str, str] = {
    "a gradient that has no converter; those of most operators that a network differentiates as it runs have one": (
        r"\w+_grad(_\w+)?|grad_add|tensor_to_array|\w+_bwd_\w+|\w+_bwd|fused_dconv_drelu_dbn|fused_linear_param_grad_add"
    ),
    "works on sparse, selected-rows or string tensors, which OpenVINO does not have": (
        r"sparse_\w+|\w+_sp_?|\w+_sr_?|merge_selected_rows|get_tensor_from_selected_rows|faster_tokenizer"
    ),
    "made by the passes of one accelerator": r"\w+_xpu_?",
    "made by oneDNN's passes in int8, or for its layouts": (
        r"quantize|dequantize|requantize|multi_gru|onednn_to_paddle_layout|trans_layout|transfer_layout|transfer_dtype"
    ),
    "an optimiser: it updates weights, which no inference does": (
        r"adadelta|adagrad|adam|adamax|adamw|asgd|average_accumulates|check_finite_and_unscale|coalesce_tensor"
        r"|decayed_adagrad|dgc|dgc_\w+|distributed_fused_lamb_init|dpsgd|ftrl|fused_adam|lamb|lars_momentum"
        r"|merged_adam|merged_momentum|momentum|nadam|radam|rmsprop|rprop|sgd|update_loss_scaling"
    ),
    "a collective, or of distributed training or a parameter server": (
        r"all_gather|all_reduce|all_to_all|assign_pos|barrier|broadcast|build_src_rank_and_local_expert_id"
        r"|c_(?!identity)\w+|comm_init_all|dist_concat|fetch_barrier|global_gather|global_scatter|limit_by_capacity"
        r"|lookup_table_dequant|mp_allreduce_sum|number_count|p_(recv|send)(_array)?|partial_(allgather|recv|send)"
        r"|prune_gate_by_capacity|random_routing|recv_v2|reduce|reduce_scatter|send_v2|sync_(calc|comm)_stream"
    ),
    "samples targets for training": r"cal_aux_loss|class_center_sample|tdm_sampler",
    "belongs to the executor, or reads files, calls back into Python, runs another engine or debugs": (
        r"accuracy_check|ap_\w+|check_numerics|copy_to|create_double_buffer_reader|create_py_reader|cuda_graph"
        r"|(dis|en)able_check_model_nan_inf|fusion_group|load|load_combine|memcpy_d2h_multi_io|nop|openvino_engine"
        r"|py_func|pylayer|read|read_file|run_program|save|save_combine|shadow_(?!feed$)\w+|share_var"
    ),
}
"""Why operators have no row in the signature table, and so no place anywhere else -> a pattern of their names."""

UNKNOWN = "none of the operators that this version knows: a custom one, or one of another version of Paddle"


def reason(name: str) -> str:
    """Why an operator without a converter has none."""
    for why, names in _REASONS.items():
        if name in names.split():
            return why
    if name in ROWS:
        return NOT_YET
    return left_out(name) or UNKNOWN


def left_out(name: str) -> str | None:
    """Why the signature table leaves an operator of Paddle out on purpose, which may be in its in-place form."""
    return next((why for why, names in LEFT_OUT.items() if re.fullmatch(names, name.removesuffix("_"))), None)


def by_reason(names: Iterable[str]) -> dict[str, list[str]]:
    """Groups operators without a converter by the reason; those not written yet come last."""
    groups: dict[str, list[str]] = {why: [] for why in (*_REASONS, NOT_YET)}
    for name in sorted(names):
        groups[reason(name)].append(name)
    return {why: members for why, members in groups.items() if members}
