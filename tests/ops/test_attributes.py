"""No attribute and no input of an operator is ignored: what a case's program carries, its converter reads.

What has no meaning for the result is listed with its reason.
"""

import re
from collections import defaultdict

import pytest

from gen_models import all_ops
from gen_models.harness.legacy import formats_here
from paddle2ov.conversion import convert
from paddle2ov.program.reading import read_program
from paddle2ov.translation import translator
from paddle2ov.translation.node_context import NodeContext
from tests.support.models import cases_together
from tests.support.one_operator import Noted

# Attributes of any operator, in full: what they are for, and an operator whose cases carry the attribute.
DEVICE, KERNEL, SERVERS = "the device", "the choice among kernels of equal meaning", "training and parameter servers"
INERT = {
    "force_cpu": (DEVICE, "fill_constant_batch_size_like"),
    "place": (DEVICE, "empty"),
    "place_type": (DEVICE, "fill_constant"),
    "dst_place_type": (DEVICE, "memcpy"),
    "use_cudnn": (KERNEL, "pool2d"),
    "use_mkldnn": (KERNEL, "matmul"),
    "use_quantizer": (KERNEL, "matmul"),
    "mkldnn_data_type": (KERNEL, "matmul"),
    "use_seq": (KERNEL, "fusion_gru"),
    "struct_name": ("a name for people", "group_norm"),
    "sparse": (SERVERS, "lookup_table_v2"),
    "is_distributed": (SERVERS, "lookup_table"),
    "is_sparse": (SERVERS, "fused_embedding_seq_pool"),
    "in_dtype": ("the input's own type", "reduce_mean"),
    "@all_kernels_must_compute_runtime_shape@": ("how Paddle runs it", "sequence_enumerate"),
    "save_intermediate_out": ("whether there is a second result", "fused_elemwise_activation"),
}

TRAINING_SCALES = {"moving_rate|in_accum|in_state": "scales are updated in training only; is_test=False is refused"}
METHOD = {"interp_method": "the operator's name says it"}
DEPTH = {"out_d": "a dimension that the input does not have"}
DEPTH_AND_HEIGHT = {"out_d|out_h": "dimensions that the input does not have"}
REPEATS = {"output_size": "what the repeats add up to"}
REDUCED = {"out_dtype": "passed to Paddle's kernel by sums only"}
DIAGONAL = {"diag_\\w+": "not read by Paddle's kernel"}
RANDOM = {**DIAGONAL, "dtype": "the declared type of the result"}

SHAPES_SAY = "the shapes of the operands say it"
REDUCED_BACK = {"keepdim": SHAPES_SAY, **REDUCED}
KERNELS = {"exhaustive_search|is_test|use_addto|workspace_size_mb": KERNEL}
GRADIENTS = {
    "argsort_grad": {"descending|stable": "the indices say it"},
    "batch_norm_grad": {
        "bias|reserve_space|saved_mean|saved_variance": "not needed with fixed statistics",
        "momentum": "statistics are updated in training only",
        "use_global_stats": "read where is_test does not say it",
    },
    "conv2d_grad": KERNELS,
    "conv2d_transpose_grad": {
        "fuse_alpha|fuse_beta|is_test|workspace_size_mb": KERNEL,
        "output_padding|output_size": SHAPES_SAY,
    },
    "conv3d_grad": {**KERNELS, "fuse_alpha|fuse_beta": KERNEL},
    "depthwise_conv2d_grad": {**KERNELS, "fuse_alpha|fuse_beta": KERNEL},
    "cummax_grad": {"dtype": "that of the indices"},
    "cummin_grad": {"dtype": "that of the indices"},
    "graph_send_recv_grad": {"out_size": SHAPES_SAY},
    "graph_send_ue_recv_grad": {"out|out_size": "read for extremes; the shapes say it"},
    "group_norm_grad": {"mean|variance|y": "computed of x"},
    "hard_swish_grad": {"offset|scale|threshold": "not read by Paddle's kernel since 2.6"},
    "index_add_grad": {"add_value": SHAPES_SAY},
    "instance_norm_grad": {"saved_mean|saved_variance": "computed of x"},
    "kthvalue_grad": {"k|keepdim": "the indices and their shape say it"},
    "layer_norm_grad": {"is_test": "how it is computed", "mean|variance": "computed of x"},
    "lookup_table_v2_grad": {"epmap|height_sections|remote_prefetch|slot|table_names|trainer_id": SERVERS},
    "pool2d_grad": {"is_test": KERNEL},
    "prelu_grad": {"is_test": KERNEL},
    "put_along_axis_grad": {"arr|out|values": "neither assigned nor added values need them"},
    "relu6_grad": {"threshold": "not read by Paddle's kernel since 2.6"},
    "scatter_grad": {"overwrite": "not read by Paddle's kernel"},
    "scatter_nd_add_grad": {"updates": SHAPES_SAY},
    "softmax_grad": {"data_format|is_test": KERNEL},
    "softmax_with_cross_entropy_grad": {"numeric_stable_mode": "how the kernel computes it"},
    "swish_grad": {"beta": "not read by Paddle's kernel since 2.6"},
    "top_k_v2_grad": {"k|largest|sorted": "the indices say it"},
    "dropout_grad": {"fix_seed|mask|seed": "training mode is refused"},
    "elementwise_min_grad": {"x_data_format|y_data_format": "oneDNN's"},
    "expand_as_v2_grad": {"target_shape": SHAPES_SAY},
    "expand_v2_grad": {"shape": SHAPES_SAY},
    "flatten2_grad": {"axis": SHAPES_SAY},
    "flatten_contiguous_range_grad": {"start_axis|stop_axis": SHAPES_SAY},
    "frobenius_norm_grad": {"keep_dim": SHAPES_SAY, **REDUCED},
    "lerp_grad": {"out": "computed of the others"},
    "logsumexp_grad": {"keepdim": SHAPES_SAY},
    "p_norm_grad": {"keepdim": SHAPES_SAY},
    "pad_grad": {"pad_value|x": "constants"},
    **dict.fromkeys(
        [f"reduce_{name}_grad" for name in ["amax", "amin", "max", "mean", "min", "prod", "sum"]], REDUCED_BACK
    ),
    "reduce_as_grad": {"target": SHAPES_SAY},
    "reshape2_grad": {"shape": SHAPES_SAY},
    "reshape2_grad_grad": {"shape": SHAPES_SAY},
    "roll_grad": {"x": SHAPES_SAY},
    "silu_grad": {"out": "computed of x"},
    "slice_grad": {"infer_flags": "which bounds are known"},
    "squeeze2_grad": {"axis": SHAPES_SAY},
    "stack_grad": {"x": SHAPES_SAY},
    "strided_slice_grad": {"infer_flags": "which bounds are known"},
    "thresholded_relu_grad": {"value": "a constant, whose derivative is 0"},
    "tile_grad": {"repeat_times": SHAPES_SAY},
    "transpose2_grad": {"data_format": "not read by Paddle's kernel"},
    "unsqueeze2_grad": {"axis": SHAPES_SAY},
    "unstack_grad": {"num": "the number of results"},
}

# Attributes and inputs of single operators, by patterns that are matched in full; `|` stands between whole ones.
INERT_OF = {
    **GRADIENTS,
    "argsort": {"stable": "the order is always stable, as in Paddle's CPU kernel"},
    "assign_value": {"output": "the tensor that is overwritten"},
    "batch_norm": {"momentum": "statistics are updated in training only"},
    "bicubic_interp": {"align_mode": "read by the linear modes only", **METHOD, **DEPTH},
    "bicubic_interp_v2": {"align_mode": "read by the linear modes only", **METHOD, **DEPTH},
    "bilinear_interp": {**METHOD, **DEPTH},
    "bilinear_interp_v2": {**METHOD, **DEPTH},
    "bitwise_left_shift": {"is_arithmetic": "both shifts to the left are one"},
    "cvm": {"cvm": "read by the gradient only"},
    "data_norm": {
        "data_layout": "one channel axis",
        "epsilon|summary_decay_rate|sync_stats": "statistics are updated in training only",
    },
    "deformable_conv": {"im2col_step": "how many images a step of the kernel takes"},
    "deformable_conv_v1": {"im2col_step": "how many images a step of the kernel takes"},
    "depend": {"dep": "an order of execution"},
    "dequantize_linear": {"round_type": "nothing is rounded", "is_test": "refused unread"},
    "dropout": {"fix_seed|seed": "training mode is refused"},
    "dropout_nd": {"axis": "training mode is refused"},
    "eigvalsh": {"is_test": "whether the vectors are a result, which are refused"},
    "fake_quantize_dequantize_moving_average_abs_max": TRAINING_SCALES,
    "fake_quantize_moving_average_abs_max": TRAINING_SCALES,
    "fake_quantize_range_abs_max": {
        "iter|window_size": "scales are updated in training only; is_test=False is refused"
    },
    "fractional_max_pool2d": {"return_mask": "the mask is a result of its own"},
    "fractional_max_pool3d": {"return_mask": "the mask is a result of its own"},
    "expand_as_v2": {"target_shape": "the shape of the input y, which is read"},
    "frobenius_norm": REDUCED,
    "fused_elemwise_add_activation": {"scale": "read where the activation is scale"},
    "fused_embedding_seq_pool": {"grad_inplace": "training"},
    "fusion_seqpool_cvm_concat": {"cvm": "read by the gradient only"},
    "gru": {"is_test": "whether what the gradient needs is kept"},
    "lstm": {"is_test": "whether what the gradient needs is kept"},
    "sequence_pool": {"is_test": "whether what the gradient needs is kept"},
    "gaussian_random": {"dtype": "the declared type of the result"},
    "im2sequence": {"out_stride": "read with the sizes of real images only"},
    "interp_antialias": {"align_mode": "not read by Paddle's kernel", "out_d": "a dimension that there is not"},
    "linear_interp": {**METHOD, **DEPTH_AND_HEIGHT},
    "linear_interp_v2": {**METHOD, **DEPTH_AND_HEIGHT},
    "lookup_table": {
        "entry|entry_config|epmap|grad_inplace|height_sections|remote_prefetch|slot|table_class|table_names|trainer_id"
        "|is_test": "parameter servers",
    },
    "lp_pool2d": {"pooling_type": "the operator's name says it"},
    "moving_average_abs_max_scale": TRAINING_SCALES,
    "nearest_interp": {"align_mode": "read by the linear modes only", **METHOD, **DEPTH},
    "nearest_interp_v2": {"align_mode": "read by the linear modes only", **METHOD},
    "norm": {"is_test": "whether the norm is a result"},
    "npu_identity": {"format": "another device's memory"},
    "one_hot_v2": {"allow_out_of_range": "not read by Paddle's kernel"},
    "p_norm": {"epsilon": "not read by Paddle's kernel"},
    "print": {"first_n|is_forward|message|print_phase|print_tensor_\\w+|summarize": "nothing is printed"},
    "quantize_linear": {"qmin": "qmax says it", "in_accum|in_state": "training"},
    **dict.fromkeys(
        [f"reduce_{name}" for name in ("all", "amax", "amin", "any", "max", "mean", "min", "prod")], REDUCED
    ),
    "repeat_interleave": REPEATS,
    "repeat_interleave_grad": REPEATS,
    "repeat_interleave_with_tensor_index": REPEATS,
    "repeat_interleave_with_tensor_index_grad": REPEATS,
    "rnn": {
        "dropout_state_in|seed": "dropout is refused",
        "input_size": "the input's last dimension",
        "is_test": "read when there is dropout",
    },
    "set_value": {"dtype": "the type of the values that are given"},
    "slice": {"infer_flags": "which bounds are known"},
    "std": {"unbiased": "the correction says it"},
    "strided_slice": {"infer_flags": "which bounds are known"},
    "softmax_with_cross_entropy": {"numeric_stable_mode": "how the kernel computes it"},
    "top_k_v2": {"sorted": "not read by Paddle's CPU kernel"},
    "transpose": {"data_format": "not read by Paddle's kernel"},
    "trilinear_interp": METHOD,
    "trilinear_interp_v2": METHOD,
    "truncated_gaussian_random": {"dtype": "the declared type of the result"},
    "uniform_random": RANDOM,
    "uniform_random_batch_size_like": RANDOM,
    "uniform_random_inplace": DIAGONAL,
    "unique": {"return_\\w+": "each is a result of its own"},
    "unique_consecutive": {"return_\\w+": "each is a result of its own"},
    "unpool": {"ksize|padding|strides": "output_size follows from them", "unpooling_type": "max is the only one"},
    "unpool3d": {"ksize|paddings|strides": "output_size follows from them"},
    "unstack": {"num": "the number of results"},
    "var": {"unbiased": "the correction says it"},
}

READ_OF_LEGACY = {"quantize_linear": "bit_length"}
"""What a converter reads of legacy programs alone: in PIR something else says it."""


@pytest.fixture
def contexts(monkeypatch):
    """The attributes and inputs of every operator that is converted from here on."""
    made = []

    class RecordingContext(NodeContext):
        def __init__(self, operator, inputs, *rest):
            # A context of a complex operator's parts shares its attributes.
            if not isinstance(operator.attributes, Noted):
                operator.attributes, inputs = Noted(operator.attributes), Noted(inputs)
                made.append((operator, inputs))
            super().__init__(operator, inputs, *rest)

    monkeypatch.setattr(translator, "NodeContext", RecordingContext)
    return made


def cases():
    for op in all_ops().values():
        if op.cases:
            yield pytest.param(op, id=op.name)


@pytest.mark.parametrize("op", list(cases()))
def test_what_a_program_carries_is_read(op, contexts, request):
    every_form = request.config.getoption("--every-form")
    for all_forms in dict.fromkeys((every_form, True)):  # all of them only where some tell too little
        convert_cases(op, contexts, all_forms)
        ignored = never_read(op, contexts)
        if all(is_listed(op.name, name) for name in ignored) and not stale(op.name, ignored):
            break
    unread = {name for name in ignored if not is_listed(op.name, name)}
    if "legacy" not in formats_here():
        unread.discard(READ_OF_LEGACY.get(op.name))
    assert unread == set(), (
        f"programs of {op.name} carry these, and its converter reads none of them: honour them or refuse their values; "
        "what has no meaning for the result is listed with the reason in INERT_OF. A legacy spelling that the row of "
        "the signature lacks (`; threshold=lambda`) shows here too"
    )
    if "legacy" in formats_here():  # some are in legacy programs only
        assert stale(op.name, ignored) == set(), (
            f"the converter of {op.name} reads these, or no case's program carries them: take them out of INERT_OF"
        )


def convert_cases(op, contexts, every_form):
    for format in formats_here():
        folder = cases_together(op, format, every_form)
        if folder is None:
            continue
        program = read_program(folder)
        operators = [child for child in program.block.walk() if child.type == op.name]
        read = {
            name for context in contexts for mapping in (context[0].attributes, context[1]) for name in mapping.read
        }
        tells_more = not operators or any({*child.attributes, *child.inputs} - read for child in operators)
        if every_form or op.name in INERT_OF or tells_more:
            convert(program, rewrite=False)


def never_read(op, contexts):
    """What programs carry for an operator, and no context of it was asked for."""
    unread: dict[str, bool] = defaultdict(lambda: True)
    for operator, inputs in contexts:
        if operator.type == op.name:
            for name in operator.attributes:
                unread[name] &= name not in operator.attributes.read
            for name, values in inputs.items():
                if any(value is not None for value in values):
                    unread[name] &= name not in inputs.read
    return {name for name, is_unread in unread.items() if is_unread}


def is_listed(op, name):
    return name in INERT or any(re.fullmatch(pattern, name) for pattern in INERT_OF.get(op, {}))


def stale(op, ignored):
    """What the lists say of an operator that no case of it shows: it is read, or no program carries it."""
    names = {name for name, (_, seen_in) in INERT.items() if seen_in == op and name not in ignored}
    patterns = {part for pattern in INERT_OF.get(op, {}) for part in pattern.split("|")}
    return names | {pattern for pattern in patterns if not any(re.fullmatch(pattern, name) for name in ignored)}


def test_what_is_listed_and_read_is_stale():
    assert stale("trilinear_interp", {"interp_method"}) == set()
    assert stale("trilinear_interp", {"align_mode"}) == {"interp_method"}
    assert stale("unpool", {"ksize", "strides", "unpooling_type"}) == {"padding"}
    assert stale("uniform_random", {"diag_num", "dtype"}) == set()
    assert stale("empty", set()) == {"place"}


def test_the_lists_name_operators_that_have_cases():
    with_cases = {name for name, op in all_ops().items() if op.cases}
    assert {*INERT_OF, *(seen_in for _, seen_in in INERT.values())} - with_cases == set()
