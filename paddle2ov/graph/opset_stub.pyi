"""The types of `paddle2ov.graph.opset.ops`.

Written by `python -m tools.opset_stub` from OpenVINO's opset16; `make lint` fails when it is stale.
"""

from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy as np
from openvino import Dimension, Node, PartialShape, Shape, Tensor, Type, op
from openvino.op import Constant, Parameter, Result
from openvino.op.util import Variable

from paddle2ov.graph.node_factory import NodeInput

class Opset:
    def abs(self, node: NodeInput, /) -> Node: ...
    def absolute(self, node: NodeInput, /) -> Node: ...
    def acos(self, node: NodeInput, /) -> Node: ...
    def acosh(self, node: NodeInput) -> Node: ...
    def adaptive_avg_pool(self, data: NodeInput, output_shape: NodeInput) -> Node: ...
    def adaptive_max_pool(
        self, data: NodeInput, output_shape: NodeInput, index_element_type: str | Type = "i64"
    ) -> Node: ...
    def add(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def asin(self, node: NodeInput, /) -> Node: ...
    def asinh(self, node: NodeInput) -> Node: ...
    assign: type[op.assign]
    def atan(self, node: NodeInput, /) -> Node: ...
    def atanh(self, node: NodeInput) -> Node: ...
    def avg_pool(
        self,
        data_batch: NodeInput,
        strides: Sequence[int],
        pads_begin: Sequence[int],
        pads_end: Sequence[int],
        kernel_shape: Sequence[int],
        exclude_pad: bool,
        rounding_type: str = "floor",
        auto_pad: str | None = None,
        dilations: Sequence[int] | None = None,
    ) -> Node: ...
    def batch_norm_inference(
        self, data: NodeInput, gamma: NodeInput, beta: NodeInput, mean: NodeInput, variance: NodeInput, epsilon: float
    ) -> Node: ...
    def batch_to_space(
        self, data: NodeInput, block_shape: NodeInput, crops_begin: NodeInput, crops_end: NodeInput
    ) -> Node: ...
    def binary_convolution(
        self,
        data: NodeInput,
        filters: NodeInput,
        strides: Sequence[int],
        pads_begin: Sequence[int],
        pads_end: Sequence[int],
        dilations: Sequence[int],
        mode: str,
        pad_value: float,
        auto_pad: str = "EXPLICIT",
    ) -> Node: ...
    def bitwise_and(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def bitwise_left_shift(self, arg0: NodeInput, arg1: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def bitwise_not(self, node: NodeInput, /) -> Node: ...
    def bitwise_or(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def bitwise_right_shift(self, arg0: NodeInput, arg1: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def bitwise_xor(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def broadcast(
        self,
        data: NodeInput,
        target_shape: NodeInput,
        axes_mapping: NodeInput | None = None,
        broadcast_spec: str = "NUMPY",
    ) -> Node: ...
    def bucketize(
        self, data: NodeInput, buckets: NodeInput, output_type: str | Type = "i64", with_right_bound: bool = True
    ) -> Node: ...
    def ceil(self, node: NodeInput, /) -> Node: ...
    def ceiling(self, node: NodeInput, /) -> Node: ...
    def clamp(self, data: NodeInput, min_value: int | float, max_value: int | float) -> Node: ...
    def col2im(
        self,
        data: NodeInput,
        output_size: NodeInput,
        kernel_size: NodeInput,
        strides: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        pads_begin: Sequence[int] | None = None,
        pads_end: Sequence[int] | None = None,
    ) -> Node: ...
    def concat(self, nodes: Sequence[NodeInput], axis: int) -> Node: ...
    @overload
    def constant(
        self,
        value: int | float | np.ndarray[Any, Any] | np.number[Any] | bool | np.bool_ | Sequence[Any],
        /,
        dtype: type | np.dtype[Any] | Type | None = None,
        *,
        shared_memory: bool = False,
    ) -> Constant: ...
    @overload
    def constant(self, tensor: Tensor, shared_memory: bool = True) -> Constant: ...
    def convert(self, data: NodeInput, destination_type: str | type | np.dtype[Any] | Type) -> Node: ...
    def convert_like(self, data: NodeInput, like: NodeInput, /) -> Node: ...
    def convert_promote_types(
        self,
        left_node: NodeInput,
        right_node: NodeInput,
        promote_unsafe: bool = False,
        pytorch_scalar_promotion: bool = False,
        u64_integer_promotion_target: str | Type = "f32",
    ) -> Node: ...
    def convolution(
        self,
        data: NodeInput,
        filters: NodeInput,
        strides: Sequence[int],
        pads_begin: Sequence[int],
        pads_end: Sequence[int],
        dilations: Sequence[int],
        auto_pad: str = "EXPLICIT",
    ) -> Node: ...
    def convolution_backprop_data(
        self,
        data: NodeInput,
        filters: NodeInput,
        strides: Sequence[int],
        output_shape: NodeInput | None = None,
        pads_begin: Sequence[int] | None = None,
        pads_end: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        auto_pad: str | None = None,
        output_padding: Sequence[int] | None = None,
    ) -> Node: ...
    def cos(self, node: NodeInput, /) -> Node: ...
    def cosh(self, node: NodeInput, /) -> Node: ...
    def ctc_greedy_decoder(self, data: NodeInput, sequence_mask: NodeInput, merge_repeated: bool = True) -> Node: ...
    def ctc_greedy_decoder_seq_len(
        self,
        data: NodeInput,
        sequence_length: NodeInput,
        blank_index: NodeInput | None = None,
        merge_repeated: bool = True,
        classes_index_type: str = "i32",
        sequence_length_type: str = "i32",
    ) -> Node: ...
    def ctc_loss(
        self,
        logits: NodeInput,
        logit_length: NodeInput,
        labels: NodeInput,
        label_length: NodeInput,
        blank_index: NodeInput | None = None,
        preprocess_collapse_repeated: bool = False,
        ctc_merge_repeated: bool = True,
        unique: bool = False,
    ) -> Node: ...
    def cum_sum(self, arg: NodeInput, axis: NodeInput, exclusive: bool = False, reverse: bool = False) -> Node: ...
    def cumsum(self, arg: NodeInput, axis: NodeInput, exclusive: bool = False, reverse: bool = False) -> Node: ...
    def deformable_convolution(
        self,
        data: NodeInput,
        offsets: NodeInput,
        filters: NodeInput,
        strides: Sequence[int],
        pads_begin: Sequence[int],
        pads_end: Sequence[int],
        dilations: Sequence[int],
        mask: NodeInput | None = None,
        auto_pad: str = "EXPLICIT",
        group: int = 1,
        deformable_group: int = 1,
        bilinear_interpolation_pad: bool = False,
    ) -> Node: ...
    def deformable_psroi_pooling(
        self,
        feature_maps: NodeInput,
        coords: NodeInput,
        output_dim: int,
        spatial_scale: float,
        group_size: int = 1,
        mode: str = "bilinear_deformable",
        spatial_bins_x: int = 1,
        spatial_bins_y: int = 1,
        trans_std: float = 1.0,
        part_size: int = 1,
        offsets: NodeInput | None = None,
    ) -> Node: ...
    def depth_to_space(self, node: NodeInput, mode: str, block_size: int = 1) -> Node: ...
    def detection_output(
        self,
        box_logits: NodeInput,
        class_preds: NodeInput,
        proposals: NodeInput,
        attrs: dict[str, Any],
        aux_class_preds: NodeInput | None = None,
        aux_box_preds: NodeInput | None = None,
    ) -> Node: ...
    def dft(self, data: NodeInput, axes: NodeInput, signal_size: NodeInput | None = None) -> Node: ...
    def divide(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def einsum(self, inputs: Sequence[NodeInput], equation: str) -> Node: ...
    def elu(self, data: NodeInput, alpha: float) -> Node: ...
    def embedding_bag_offsets(
        self,
        emb_table: NodeInput,
        indices: NodeInput,
        offsets: NodeInput,
        default_index: NodeInput | None = None,
        per_sample_weights: NodeInput | None = None,
        reduction: Literal["sum", "mean"] = "sum",
    ) -> Node: ...
    def embedding_bag_offsets_sum(
        self,
        emb_table: NodeInput,
        indices: NodeInput,
        offsets: NodeInput,
        default_index: NodeInput | None = None,
        per_sample_weights: NodeInput | None = None,
    ) -> Node: ...
    def embedding_bag_packed(
        self,
        emb_table: NodeInput,
        indices: NodeInput,
        per_sample_weights: NodeInput | None = None,
        reduction: Literal["sum", "mean"] = "sum",
    ) -> Node: ...
    def embedding_bag_packed_sum(
        self, emb_table: NodeInput, indices: NodeInput, per_sample_weights: NodeInput | None = None
    ) -> Node: ...
    def embedding_segments_sum(
        self,
        emb_table: NodeInput,
        indices: NodeInput,
        segment_ids: NodeInput,
        num_segments: NodeInput | None = None,
        default_index: NodeInput | None = None,
        per_sample_weights: NodeInput | None = None,
    ) -> Node: ...
    def equal(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def erf(self, node: NodeInput, /) -> Node: ...
    def exp(self, node: NodeInput, /) -> Node: ...
    def extract_image_patches(
        self, image: NodeInput, sizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], auto_pad: str
    ) -> Node: ...
    def eye(
        self,
        num_rows: NodeInput,
        num_columns: NodeInput,
        diagonal_index: NodeInput,
        output_type: str | Type,
        batch_shape: NodeInput | None = None,
    ) -> Node: ...
    def fake_convert(
        self,
        data: NodeInput,
        scale: NodeInput,
        shift: NodeInput | None = None,
        destination_type: Literal["f8e4m3", "f8e5m2"] = "f8e4m3",
    ) -> Node: ...
    def fake_quantize(
        self,
        data: NodeInput,
        input_low: NodeInput,
        input_high: NodeInput,
        output_low: NodeInput,
        output_high: NodeInput,
        levels: int,
        auto_broadcast: str = "NUMPY",
    ) -> Node: ...
    def floor(self, node: NodeInput, /) -> Node: ...
    def floor_mod(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def gather(self, data: NodeInput, indices: NodeInput, axis: NodeInput, batch_dims: int | None = 0) -> Node: ...
    def gather_elements(self, data: NodeInput, indices: NodeInput, axis: int | None = 0) -> Node: ...
    def gather_nd(self, data: NodeInput, indices: NodeInput, batch_dims: int | None = 0) -> Node: ...
    def gather_tree(
        self, step_ids: NodeInput, parent_idx: NodeInput, max_seq_len: NodeInput, end_token: NodeInput
    ) -> Node: ...
    def gelu(self, data: NodeInput, approximation_mode: str) -> Node: ...
    def generate_proposals(
        self,
        im_info: NodeInput,
        anchors: NodeInput,
        deltas: NodeInput,
        scores: NodeInput,
        min_size: float,
        nms_threshold: float,
        pre_nms_count: int,
        post_nms_count: int,
        normalized: bool = True,
        nms_eta: float = 1.0,
        roi_num_type: str = "i64",
    ) -> Node: ...
    def greater(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def greater_equal(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def grid_sample(self, data: NodeInput, grid: NodeInput, attributes: dict[str, Any]) -> Node: ...
    def grn(self, data: NodeInput, bias: float) -> Node: ...
    def group_convolution(
        self,
        data: NodeInput,
        filters: NodeInput,
        strides: Sequence[int],
        pads_begin: Sequence[int],
        pads_end: Sequence[int],
        dilations: Sequence[int],
        auto_pad: str = "EXPLICIT",
    ) -> Node: ...
    def group_convolution_backprop_data(
        self,
        data: NodeInput,
        filters: NodeInput,
        strides: Sequence[int],
        output_shape: NodeInput | None = None,
        pads_begin: Sequence[int] | None = None,
        pads_end: Sequence[int] | None = None,
        dilations: Sequence[int] | None = None,
        auto_pad: str = "EXPLICIT",
        output_padding: Sequence[int] | None = None,
    ) -> Node: ...
    def group_normalization(
        self, data: NodeInput, scale: NodeInput, bias: NodeInput, num_groups: int, epsilon: float
    ) -> Node: ...
    def gru_cell(
        self,
        X: NodeInput,
        initial_hidden_state: NodeInput,
        W: NodeInput,
        R: NodeInput,
        B: NodeInput,
        hidden_size: int,
        activations: Sequence[str] | None = None,
        activations_alpha: Sequence[float] | None = None,
        activations_beta: Sequence[float] | None = None,
        clip: float = 0.0,
        linear_before_reset: bool = False,
    ) -> Node: ...
    def gru_sequence(
        self,
        X: NodeInput,
        initial_hidden_state: NodeInput,
        sequence_lengths: NodeInput,
        W: NodeInput,
        R: NodeInput,
        B: NodeInput,
        hidden_size: int,
        direction: str,
        activations: Sequence[str] | None = None,
        activations_alpha: Sequence[float] | None = None,
        activations_beta: Sequence[float] | None = None,
        clip: float = 0.0,
        linear_before_reset: bool = False,
    ) -> Node: ...
    def hard_sigmoid(self, data: NodeInput, alpha: NodeInput, beta: NodeInput) -> Node: ...
    def hsigmoid(self, data: NodeInput, /) -> Node: ...
    def hswish(self, data: NodeInput, /) -> Node: ...
    def i420_to_bgr(self, arg: NodeInput, arg_u: NodeInput | None = None, arg_v: NodeInput | None = None) -> Node: ...
    def i420_to_rgb(self, arg: NodeInput, arg_u: NodeInput | None = None, arg_v: NodeInput | None = None) -> Node: ...
    def identity(self, data: NodeInput) -> Node: ...
    def idft(self, data: NodeInput, axes: NodeInput, signal_size: NodeInput | None = None) -> Node: ...
    if_op: type[op.if_op]
    def interpolate(
        self,
        image: NodeInput,
        scales_or_sizes: NodeInput,
        mode: str,
        shape_calculation_mode: str,
        pads_begin: Sequence[int] | None = None,
        pads_end: Sequence[int] | None = None,
        coordinate_transformation_mode: str = "half_pixel",
        nearest_mode: str = "round_prefer_floor",
        antialias: bool = False,
        cube_coeff: float = -0.75,
        axes: NodeInput | None = None,
    ) -> Node: ...
    def inverse(self, data: NodeInput, adjoint: bool = False) -> Node: ...
    def irdft(self, data: NodeInput, axes: NodeInput, signal_size: NodeInput | None = None) -> Node: ...
    def is_finite(self, data: NodeInput) -> Node: ...
    def is_inf(self, data: NodeInput, attributes: dict[str, Any] | None = None) -> Node: ...
    def is_nan(self, data: NodeInput) -> Node: ...
    def istft(
        self,
        data: NodeInput,
        window: NodeInput,
        frame_size: NodeInput,
        frame_step: NodeInput,
        center: bool,
        normalized: bool,
        signal_length: NodeInput | None = None,
    ) -> Node: ...
    def less(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def less_equal(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def log(self, node: NodeInput, /) -> Node: ...
    def log_softmax(self, data: NodeInput, axis: int) -> Node: ...
    def logical_and(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def logical_not(self, node: NodeInput, /) -> Node: ...
    def logical_or(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def logical_xor(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    loop: type[op.loop]
    def lrn(
        self, data: NodeInput, axes: NodeInput, alpha: float = 1, beta: float = 0.5, bias: float = 1, size: int = 5
    ) -> Node: ...
    def lstm_cell(
        self,
        X: NodeInput,
        initial_hidden_state: NodeInput,
        initial_cell_state: NodeInput,
        W: NodeInput,
        R: NodeInput,
        B: NodeInput,
        hidden_size: int,
        activations: Sequence[str] | None = None,
        activations_alpha: Sequence[float] | None = None,
        activations_beta: Sequence[float] | None = None,
        clip: float = 0.0,
    ) -> Node: ...
    def lstm_sequence(
        self,
        X: NodeInput,
        initial_hidden_state: NodeInput,
        initial_cell_state: NodeInput,
        sequence_lengths: NodeInput,
        W: NodeInput,
        R: NodeInput,
        B: NodeInput,
        hidden_size: int,
        direction: str,
        activations: Sequence[str] | None = None,
        activations_alpha: Sequence[float] | None = None,
        activations_beta: Sequence[float] | None = None,
        clip: float = 0.0,
    ) -> Node: ...
    def matmul(self, data_a: NodeInput, data_b: NodeInput, transpose_a: bool, transpose_b: bool) -> Node: ...
    def matrix_nms(
        self,
        boxes: NodeInput,
        scores: NodeInput,
        sort_result_type: str = "none",
        sort_result_across_batch: bool = False,
        output_type: str | Type = "i64",
        score_threshold: float = 0.0,
        nms_top_k: int = -1,
        keep_top_k: int = -1,
        background_class: int = -1,
        decay_function: str = "linear",
        gaussian_sigma: float = 2.0,
        post_threshold: float = 0.0,
        normalized: bool = True,
    ) -> Node: ...
    def max_pool(
        self,
        data: NodeInput,
        strides: Sequence[int],
        dilations: Sequence[int],
        pads_begin: Sequence[int],
        pads_end: Sequence[int],
        kernel_shape: Sequence[int],
        rounding_type: str = "floor",
        auto_pad: str | None = None,
        index_element_type: str | Type | None = "i64",
        axis: int | None = 0,
    ) -> Node: ...
    def maximum(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def minimum(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def mish(self, data: NodeInput) -> Node: ...
    def mod(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def multiclass_nms(
        self,
        boxes: NodeInput,
        scores: NodeInput,
        roisnum: NodeInput | None = None,
        sort_result_type: str | None = "none",
        sort_result_across_batch: bool | None = False,
        output_type: str | Type | None = "i64",
        iou_threshold: float | None = 0.0,
        score_threshold: float | None = 0.0,
        nms_top_k: int | None = -1,
        keep_top_k: int | None = -1,
        background_class: int | None = -1,
        nms_eta: float | None = 1.0,
        normalized: bool | None = True,
    ) -> Node: ...
    def multinomial(
        self,
        probs: NodeInput,
        num_samples: NodeInput,
        convert_type: str,
        with_replacement: bool,
        log_probs: bool,
        global_seed: int = 0,
        op_seed: int = 0,
    ) -> Node: ...
    def multiply(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def mvn(self, data: NodeInput, axes: NodeInput, normalize_variance: bool, eps: float, eps_mode: str) -> Node: ...
    def negative(self, node: NodeInput, /) -> Node: ...
    def nms_rotated(
        self,
        boxes: NodeInput,
        scores: NodeInput,
        max_output_boxes_per_class: NodeInput,
        iou_threshold: NodeInput,
        score_threshold: NodeInput,
        sort_result_descending: bool = True,
        output_type: str | Type = "i64",
        clockwise: bool = True,
    ) -> Node: ...
    def non_max_suppression(
        self,
        boxes: NodeInput,
        scores: NodeInput,
        max_output_boxes_per_class: NodeInput | None = None,
        iou_threshold: NodeInput | None = None,
        score_threshold: NodeInput | None = None,
        soft_nms_sigma: NodeInput | None = None,
        box_encoding: str = "corner",
        sort_result_descending: bool = True,
        output_type: str | Type = "i64",
    ) -> Node: ...
    def non_zero(self, data: NodeInput, output_type: str | Type = "i64") -> Node: ...
    def normalize_l2(self, data: NodeInput, axes: NodeInput, eps: float, eps_mode: str) -> Node: ...
    def not_equal(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def nv12_to_bgr(self, arg: NodeInput, arg_uv: NodeInput | None = None) -> Node: ...
    def nv12_to_rgb(self, arg: NodeInput, arg_uv: NodeInput | None = None) -> Node: ...
    def one_hot(
        self,
        indices: NodeInput,
        depth: NodeInput,
        on_value: NodeInput,
        off_value: NodeInput,
        axis: int,
        negative_indices_mode: str | None = None,
    ) -> Node: ...
    def pad(
        self,
        arg: NodeInput,
        pads_begin: NodeInput,
        pads_end: NodeInput,
        pad_mode: str,
        arg_pad_value: NodeInput | None = None,
    ) -> Node: ...
    def parameter(
        self,
        shape: PartialShape | Shape | Sequence[int | Dimension],
        dtype: type | np.dtype[Any] | Type = ...,
        name: str | None = None,
    ) -> Parameter: ...
    def power(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def prelu(self, data: NodeInput, slope: NodeInput) -> Node: ...
    def prior_box(self, layer_shape: NodeInput, image_shape: NodeInput, attrs: dict[str, Any]) -> Node: ...
    def prior_box_clustered(self, output_size: NodeInput, image_size: NodeInput, attrs: dict[str, Any]) -> Node: ...
    def proposal(
        self, class_probs: NodeInput, bbox_deltas: NodeInput, image_shape: NodeInput, attrs: dict[str, Any]
    ) -> Node: ...
    def psroi_pooling(
        self,
        input: NodeInput,
        coords: NodeInput,
        output_dim: int,
        group_size: int,
        spatial_scale: float,
        spatial_bins_x: int,
        spatial_bins_y: int,
        mode: str,
    ) -> Node: ...
    def random_uniform(
        self,
        output_shape: NodeInput,
        min_val: NodeInput,
        max_val: NodeInput,
        output_type: str | Type,
        global_seed: int = 0,
        op_seed: int = 0,
        alignment: str = "tensorflow",
    ) -> Node: ...
    def range(self, start: NodeInput, stop: NodeInput, step: NodeInput, output_type: str | Type) -> Node: ...
    def rdft(self, data: NodeInput, axes: NodeInput, signal_size: NodeInput | None = None) -> Node: ...
    @overload
    def read_value(
        self,
        init_value: NodeInput,
        variable_id: str,
        variable_type: type | np.dtype[Any] | Type | str | None = None,
        variable_shape: Sequence[int] | Shape | PartialShape | None = None,
    ) -> Node: ...
    @overload
    def read_value(
        self,
        variable_id: str,
        variable_type: type | np.dtype[Any] | Type | str | None = None,
        variable_shape: Sequence[int] | Shape | PartialShape | None = None,
    ) -> Node: ...
    @overload
    def read_value(self, ov_variable: Variable) -> Node: ...
    @overload
    def read_value(self, init_value: NodeInput, ov_variable: Variable) -> Node: ...
    def reduce_l1(self, node: NodeInput, reduction_axes: NodeInput, keep_dims: bool = False) -> Node: ...
    def reduce_l2(self, node: NodeInput, reduction_axes: NodeInput, keep_dims: bool = False) -> Node: ...
    def reduce_logical_and(self, node: NodeInput, reduction_axes: NodeInput, keep_dims: bool = False) -> Node: ...
    def reduce_logical_or(self, node: NodeInput, reduction_axes: NodeInput, keep_dims: bool = False) -> Node: ...
    def reduce_max(self, node: NodeInput, reduction_axes: NodeInput, keep_dims: bool = False) -> Node: ...
    def reduce_mean(self, node: NodeInput, reduction_axes: NodeInput, keep_dims: bool = False) -> Node: ...
    def reduce_min(self, node: NodeInput, reduction_axes: NodeInput, keep_dims: bool = False) -> Node: ...
    def reduce_prod(self, node: NodeInput, reduction_axes: NodeInput, keep_dims: bool = False) -> Node: ...
    def reduce_sum(self, node: NodeInput, reduction_axes: NodeInput, keep_dims: bool = False) -> Node: ...
    def region_yolo(
        self,
        input: NodeInput,
        coords: int,
        classes: int,
        num: int,
        do_softmax: bool,
        mask: Sequence[int],
        axis: int,
        end_axis: int,
        anchors: Sequence[float] | None = None,
    ) -> Node: ...
    def relu(self, node: NodeInput, /) -> Node: ...
    def reorg_yolo(self, input: NodeInput, stride: Sequence[int]) -> Node: ...
    def reshape(self, node: NodeInput, output_shape: NodeInput, special_zero: bool) -> Node: ...
    def result(self, data: NodeInput, /, name: str | None = None) -> Result: ...
    def reverse_sequence(
        self,
        input: NodeInput,
        seq_lengths: NodeInput,
        batch_axis: int | float | np.ndarray[Any, Any],
        seq_axis: int | float | np.ndarray[Any, Any],
    ) -> Node: ...
    def rnn_cell(
        self,
        X: NodeInput,
        initial_hidden_state: NodeInput,
        W: NodeInput,
        R: NodeInput,
        B: NodeInput,
        hidden_size: int,
        activations: Sequence[str],
        activations_alpha: Sequence[float],
        activations_beta: Sequence[float],
        clip: float = 0.0,
    ) -> Node: ...
    def rnn_sequence(
        self,
        X: NodeInput,
        initial_hidden_state: NodeInput,
        sequence_lengths: NodeInput,
        W: NodeInput,
        R: NodeInput,
        B: NodeInput,
        hidden_size: int,
        direction: str,
        activations: Sequence[str] | None = None,
        activations_alpha: Sequence[float] | None = None,
        activations_beta: Sequence[float] | None = None,
        clip: float = 0.0,
    ) -> Node: ...
    def roi_align(
        self,
        data: NodeInput,
        rois: NodeInput,
        batch_indices: NodeInput,
        pooled_h: int,
        pooled_w: int,
        sampling_ratio: int,
        spatial_scale: float,
        mode: str,
        aligned_mode: str | None = "asymmetric",
    ) -> Node: ...
    def roi_align_rotated(
        self,
        data: NodeInput,
        rois: NodeInput,
        batch_indices: NodeInput,
        pooled_h: int,
        pooled_w: int,
        sampling_ratio: int,
        spatial_scale: float,
        clockwise_mode: bool,
    ) -> Node: ...
    def roi_pooling(
        self,
        input: NodeInput,
        /,
        coords: NodeInput,
        output_roi: Sequence[int] | None = None,
        spatial_scale: int | float | np.ndarray[Any, Any] | None = None,
        method: str = "max",
        *,
        output_size: Sequence[int] | None = None,
    ) -> Node: ...
    def roll(self, data: NodeInput, shift: NodeInput, axes: NodeInput) -> Node: ...
    def round(self, data: NodeInput, mode: str = "half_to_even") -> Node: ...
    def scaled_dot_product_attention(
        self,
        query: NodeInput,
        key: NodeInput,
        value: NodeInput,
        attention_mask: NodeInput | None = None,
        scale: NodeInput | None = None,
        causal: bool = False,
    ) -> Node: ...
    def scatter_elements_update(
        self,
        data: NodeInput,
        indices: NodeInput,
        updates: NodeInput,
        axis: NodeInput,
        reduction: str | None = "None",
        use_init_val: bool | None = True,
    ) -> Node: ...
    def scatter_nd_update(
        self,
        data: NodeInput,
        indices: NodeInput,
        updates: NodeInput,
        reduction: Literal["none", "sum", "sub", "prod", "min", "max"] | None = None,
    ) -> Node: ...
    def scatter_update(self, data: NodeInput, indices: NodeInput, updates: NodeInput, axis: NodeInput) -> Node: ...
    def search_sorted(self, sorted_sequence: NodeInput, values: NodeInput, right_mode: bool = False) -> Node: ...
    def segment_max(
        self,
        data: NodeInput,
        segment_ids: NodeInput,
        num_segments: NodeInput | None = None,
        fill_mode: Literal["ZERO", "LOWEST"] | None = None,
    ) -> Node: ...
    def select(
        self, cond: NodeInput, then_node: NodeInput, else_node: NodeInput, auto_broadcast: str = "numpy"
    ) -> Node: ...
    def selu(self, data: NodeInput, alpha: NodeInput, lambda_value: NodeInput) -> Node: ...
    def shape_of(self, data: NodeInput, output_type: str | Type = "i64") -> Node: ...
    def shuffle_channels(self, data: NodeInput, axis: int, group: int) -> Node: ...
    def sigmoid(self, data: NodeInput, /) -> Node: ...
    def sign(self, node: NodeInput, /) -> Node: ...
    def sin(self, node: NodeInput, /) -> Node: ...
    def sinh(self, node: NodeInput, /) -> Node: ...
    def slice(
        self, data: NodeInput, start: NodeInput, stop: NodeInput, step: NodeInput, axes: NodeInput | None = None
    ) -> Node: ...
    def slice_scatter(
        self,
        data: NodeInput,
        updates: NodeInput,
        start: NodeInput,
        stop: NodeInput,
        step: NodeInput,
        axes: NodeInput | None = None,
    ) -> Node: ...
    def softmax(self, data: NodeInput, axis: int) -> Node: ...
    def softplus(self, data: NodeInput) -> Node: ...
    def softsign(self, node: NodeInput) -> Node: ...
    def space_to_batch(
        self, data: NodeInput, block_shape: NodeInput, pads_begin: NodeInput, pads_end: NodeInput
    ) -> Node: ...
    def space_to_depth(self, data: NodeInput, mode: str, block_size: int = 1) -> Node: ...
    def sparse_fill_empty_rows(
        self, values: NodeInput, dense_shape: NodeInput, indices: NodeInput, default_value: NodeInput
    ) -> Node: ...
    def split(self, data: NodeInput, axis: NodeInput, num_splits: int) -> Node: ...
    def sqrt(self, node: NodeInput, /) -> Node: ...
    def squared_difference(self, x1: NodeInput, x2: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def squeeze(self, data: NodeInput, axes: NodeInput | None = None, allow_axis_skip: bool = False) -> Node: ...
    def stft(
        self, data: NodeInput, window: NodeInput, frame_size: NodeInput, frame_step: NodeInput, transpose_frames: bool
    ) -> Node: ...
    def strided_slice(
        self,
        data: NodeInput,
        begin: NodeInput,
        end: NodeInput,
        strides: NodeInput,
        begin_mask: Sequence[int],
        end_mask: Sequence[int],
        new_axis_mask: Sequence[int] | None = None,
        shrink_axis_mask: Sequence[int] | None = None,
        ellipsis_mask: Sequence[int] | None = None,
    ) -> Node: ...
    def string_tensor_pack(self, begins: NodeInput, ends: NodeInput, symbols: NodeInput) -> Node: ...
    def string_tensor_unpack(self, data: NodeInput) -> Node: ...
    def subtract(self, left_node: NodeInput, right_node: NodeInput, /, auto_broadcast: str = "NUMPY") -> Node: ...
    def swish(self, data: NodeInput, beta: NodeInput | None = None) -> Node: ...
    def tan(self, node: NodeInput, /) -> Node: ...
    def tanh(self, node: NodeInput, /) -> Node: ...
    tensor_iterator: type[op.tensor_iterator]
    def tile(self, data: NodeInput, repeats: NodeInput) -> Node: ...
    def topk(
        self,
        data: NodeInput,
        k: NodeInput,
        axis: int,
        mode: str,
        sort: str,
        index_element_type: str | Type = "i32",
        stable: bool = False,
    ) -> Node: ...
    def transpose(self, data: NodeInput, input_order: NodeInput) -> Node: ...
    def unique(
        self,
        data: NodeInput,
        axis: NodeInput | None = None,
        sorted: bool | None = True,
        index_element_type: str | Type | None = "i64",
        count_element_type: str | Type | None = "i64",
    ) -> Node: ...
    def unsqueeze(self, data: NodeInput, axes: NodeInput) -> Node: ...
    def variadic_split(self, data: NodeInput, axis: NodeInput, split_lengths: NodeInput) -> Node: ...
