"""Paddle's names for devices and precisions, and the methods of its `Config` that change nothing here.

`config.py` has those that do; of the others in Paddle 2.6 to 3.3, this says which warn and which answer what.

Source of the names: `paddle/fluid/pybind/inference_api.cc`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from paddle2ov.errors import ConversionInputError

_NAMES = {"PrecisionType": "Precision", "PlaceType": "PaddlePlace", "DataType": "PaddleDType"}
"""What Paddle's enumerations call themselves."""


class _Named(Enum):
    """Members with the texts that Paddle's have."""

    def __str__(self) -> str:
        return f"{_NAMES[type(self).__name__]}.{self.name}"

    def __repr__(self) -> str:
        return f"<{self}: {self.value}>"


class _Numbered(_Named):
    """Members that `int` gives the number of, as those of Paddle's enumerations."""

    def __int__(self) -> int:
        return int(self.value)

    __index__ = __int__


class PrecisionType(_Numbered):
    """Precisions, as in `paddle.inference`."""

    Float32 = 0
    Int8 = 1
    Half = 2
    Bfloat16 = 3


class PlaceType(_Numbered):
    """Devices, as in `paddle.inference`."""

    UNK = -1
    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM = 4


class DataType(int, _Named):
    """Types of elements, as in `paddle.inference`: each equals its number.

    It equals the NumPy type of its arrays as well, and stands for it where NumPy takes one (`array.astype`).
    """

    FLOAT32 = 0
    INT64 = 1
    INT32 = 2
    UINT8 = 3
    INT8 = 4
    FLOAT16 = 5
    BOOL = 6
    FLOAT64 = 7
    BFLOAT16 = 8

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type of its arrays; bfloat16 is float32."""
        return np.dtype("float32" if self.name == "BFLOAT16" else self.name.lower())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, np.dtype) or (isinstance(other, type) and issubclass(other, np.generic)):
            return self.dtype == other
        return int.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__


@dataclass(slots=True, eq=False)
class XpuConfig:
    """Settings of a device that is not here; they have the names and first values of Paddle's."""

    context: Any = None
    context_gm_size: int = -1
    conv_autotune_file: str = ""
    conv_autotune_file_writeback: bool = False
    conv_autotune_level: int = 0
    device_id: int = 0
    fc_autotune_file: str = ""
    fc_autotune_file_writeback: bool = False
    fc_autotune_level: int = 0
    gemm_compute_precision: int = 1
    l3_autotune_size: int = 0
    l3_ptr: Any = None
    l3_size: int = 0
    quant_post_dynamic_activation_method: int = 0
    quant_post_dynamic_op_types: list[str] = field(default_factory=list)
    quant_post_dynamic_weight_precision: int = 1
    quant_post_static_gelu_out_threshold: float = 10.0
    stream: Any = None
    transformer_encoder_adaptive_seqlen: bool = True
    transformer_softmax_optimize_level: int = 0


class PassBuilder:
    """Stands for the list of Paddle's passes, which do not run here: empty, whatever is done to it."""

    def all_passes(self) -> list[str]:
        """None."""
        return []

    analysis_passes = all_passes

    def debug_string(self) -> str:
        """Nothing."""
        return ""

    def append_pass(self, *arguments: Any, **options: Any) -> None:
        """Without effect."""

    append_analysis_pass = delete_pass = insert_pass = set_passes = turn_on_debug = append_pass


class InternalUtils:
    """What Paddle's own tests call; not possible.

    Raises:
        ConversionInputError: whatever is called.
    """

    @staticmethod
    def _refuse(*arguments: Any, **options: Any) -> None:
        raise ConversionInputError("InternalUtils sets up TensorRT, which is not here: leave it out")

    disable_tensorrt_half_ops = set_transformer_maskid = set_transformer_posid = _refuse


REFUSED: Mapping[str, str] = {
    "dist_config": "a model runs in one process here; PredictorPool and clone() run it several times at once",
    "nnadapter": "the model runs on the CPU; set_openvino_device names another",
    "quantizer_config": "`paddle2ov quantize` writes a model in int8",
    "to_native_config": "Config itself is what create_predictor takes",
}
"""Methods that give objects of Paddle's own engines -> what to use."""

MISSED: Mapping[str, str] = {
    "collect_shape_range_info": "no file is written; OpenVINO takes any shape that the program allows",
    "enable_cinn": "there is no CINN here; OpenVINO compiles the model",
    "enable_custom_device": "the model runs on the CPU",
    "enable_dlnne": "the model runs on the CPU",
    "enable_ipu": "the model runs on the CPU",
    "enable_lite_engine": "there is no Paddle Lite here; OpenVINO runs the model",
    "enable_low_precision_io": "inputs and results keep the types of the program",
    "enable_onnxruntime": "there is no ONNX Runtime here; OpenVINO runs the model",
    "enable_mkldnn_int8": "OpenVINO computes in int8 what the program quantises",
    "enable_onednn_int8": "OpenVINO computes in int8 what the program quantises",
    "enable_opencl": "the model runs on the CPU",
    "enable_profile": "OpenVINO's PERF_COUNT (set_openvino_property) measures",
    "enable_save_optim_model": "set_optim_cache_dir keeps the compiled model",
    "enable_tensorrt_engine": "there is no TensorRT here; the model runs on the CPU",
    "enable_use_gpu": "the model runs on the CPU; set_openvino_device('GPU') takes an Intel GPU",
    "enable_xpu": "the model runs on the CPU",
    "exp_disable_mixed_precision_ops": "one precision is set for the whole model (enable_mkldnn_bfloat16)",
    "exp_enable_mixed_precision_ops": "one precision is set for the whole model (enable_mkldnn_bfloat16)",
    "set_bfloat16_op": "one precision is set for the whole model (enable_mkldnn_bfloat16)",
    "use_optimized_model": "set_optim_cache_dir keeps the compiled model",
}
"""Switches whose effect a user would miss -> what happens instead; each gives one warning."""

WITHOUT_EFFECT: frozenset[str] = frozenset(
    (
        *("delete_pass", "disable_gpu", "disable_mkldnn_fc_passes", "disable_onednn_fc_passes"),
        *("disable_onnxruntime", "enable_custom_passes", "enable_memory_optim", "enable_new_executor"),
        *("enable_ort_optimization", "enable_quantizer", "enable_tensorrt_memory_optim"),
        *("exp_disable_tensorrt_dynamic_shape_ops", "exp_disable_tensorrt_ops"),
        *("exp_disable_tensorrt_subgraph", "exp_enable_use_cutlass", "exp_sparse_conv_using_buffer"),
        *("exp_specify_tensorrt_subgraph_precision", "load_ipu_config", "mark_trt_engine_outputs"),
        *("set_dist_config", "set_ipu_config", "set_ipu_custom_info", "set_mkldnn_op", "set_onednn_op"),
        *("set_optimization_level", "set_xpu_config", "set_xpu_device_id", "switch_ir_debug"),
        "switch_use_feed_fetch_ops",
    )
)
"""Switches of what OpenVINO does by itself (optimise, reuse memory, take any shape), or that belong to those above."""

ANSWERS: Mapping[str, Any] = {
    "fraction_of_gpu_memory_for_pool": 0.0,
    "glog_info_disabled": False,
    "gpu_device_id": 0,
    "lite_engine_enabled": False,
    "memory_pool_init_size_mb": 100,
    "mkldnn_enabled": True,
    "mkldnn_int8_enabled": False,
    "new_ir_enabled": False,
    "onednn_enabled": True,
    "onednn_int8_enabled": False,
    "onnxruntime_enabled": False,
    "openvino_engine_enabled": False,
    "shape_range_info_collected": False,
    "shape_range_info_path": "",
    "specify_input_name": False,
    "tensorrt_dla_enabled": False,
    "tensorrt_dynamic_shape_enabled": False,
    "tensorrt_engine_enabled": False,
    "tensorrt_explicit_quantization_enabled": False,
    "tensorrt_inspector_enabled": False,
    "tensorrt_optimization_level": 3,
    "tensorrt_precision_mode": PrecisionType.Float32,
    "tensorrt_varseqlen_enabled": False,
    "trt_allow_build_at_runtime": False,
    "tuned_tensorrt_dynamic_shape": False,
    "use_feed_fetch_ops_enabled": False,
    "use_gpu": False,
    "use_opencl": False,
    "use_xpu": False,
    "xpu_device_id": 0,
}
"""Getters of what has no effect here -> what they answer first, as Paddle's without GPU and TensorRT."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a switch: its name, its place, and its default value."""

    name: str = ""
    place: int = 0
    default: Any = None

    def of(self, arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """Its value in a call."""
        return arguments[self.place] if len(arguments) > self.place else options.get(self.name, self.default)


_ONEDNN_ON = {"mkldnn_enabled": True, "onednn_enabled": True}  # as it always is
_ONEDNN_OFF = {"mkldnn_enabled": False, "onednn_enabled": False}
_ONEDNN_INT8 = {"mkldnn_int8_enabled": True, "onednn_int8_enabled": True}

SETS: Mapping[str, Mapping[str, Any]] = {
    "collect_shape_range_info": {"shape_range_info_collected": True, "shape_range_info_path": Argument()},
    "disable_glog_info": {"glog_info_disabled": True},
    "disable_mkldnn": _ONEDNN_OFF,
    "disable_onednn": _ONEDNN_OFF,
    "enable_mkldnn": _ONEDNN_ON,
    "enable_mkldnn_int8": _ONEDNN_INT8,
    "enable_new_ir": {"new_ir_enabled": Argument("x", 0, True)},
    "enable_onednn": _ONEDNN_ON,
    "enable_onednn_int8": _ONEDNN_INT8,
    "enable_tensorrt_dla": {"tensorrt_dla_enabled": True},
    "enable_tensorrt_explicit_quantization": {"tensorrt_explicit_quantization_enabled": True},
    "enable_tensorrt_inspector": {"tensorrt_inspector_enabled": True},
    "enable_tensorrt_varseqlen": {"tensorrt_varseqlen_enabled": True},
    "enable_tuned_tensorrt_dynamic_shape": {
        "shape_range_info_path": Argument("shape_range_info_path", 0, ""),
        "trt_allow_build_at_runtime": Argument("allow_build_at_runtime", 1, True),
        "tuned_tensorrt_dynamic_shape": True,
    },
    "set_tensorrt_optimization_level": {"tensorrt_optimization_level": Argument()},
    "set_trt_dynamic_shape_info": {"tensorrt_dynamic_shape_enabled": Argument("min_input_shape")},
    "switch_specify_input_names": {"specify_input_name": Argument("x", 0, True)},
}
"""Switches without effect -> what getters answer afterwards; those that are not in `MISSED` give no warning."""
