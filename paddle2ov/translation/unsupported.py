"""Why an operator has no converter, for errors, `paddle2ov inspect` and `paddle2ov ops`.

A trait of the signature row says it; an operator whose row has none has no converter yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from paddle2ov.program.signatures import ROWS
from paddle2ov.program.traits import TRAITS, traits_of

NOT_YET = "not written yet"

_NO_CONVERTER = "no converter: "

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

UNKNOWN = "none of the operators that this version knows: a custom one, or one of another Paddle or of Paddle Lite"


def reason(name: str) -> str:
    """Why an operator without a converter has none."""
    if name in ROWS:
        return next((TRAITS[trait] for trait in traits_of(name) if trait.startswith(_NO_CONVERTER)), NOT_YET)
    return left_out(name) or UNKNOWN


def left_out(name: str) -> str | None:
    """Why the signature table leaves an operator of Paddle out on purpose, which may be in its in-place form."""
    return next((why for why, names in LEFT_OUT.items() if re.fullmatch(names, name.removesuffix("_"))), None)


def by_reason(names: Iterable[str]) -> dict[str, list[str]]:
    """Groups operators without a converter by the reason; those not written yet come last."""
    reasons = [why for trait, why in TRAITS.items() if trait.startswith(_NO_CONVERTER)]
    groups: dict[str, list[str]] = {why: [] for why in (*reasons, NOT_YET)}
    for name in sorted(names):
        groups[reason(name)].append(name)
    return {why: members for why, members in groups.items() if members}
