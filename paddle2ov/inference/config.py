"""`Config`: the switches of `paddle.inference.Config`, as properties of OpenVINO."""

from __future__ import annotations

import os
import warnings
from enum import Enum
from pathlib import Path
from typing import Any

CACHE_CAPACITY = 0
"""How many primitives OpenVINO's CPU plugin keeps for shapes that were seen before, see `set_mkldnn_cache_capacity`.

OpenVINO's own default, 5000, lets memory grow with every new shape. benchmarks/memory.py measures what this one costs.
"""


class PrecisionType(Enum):
    """Precisions, as in `paddle.inference`."""

    Float32 = 0
    Int8 = 1
    Half = 2
    Bfloat16 = 3


class PlaceType(Enum):
    """Devices, as in `paddle.inference`."""

    UNK = -1
    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM = 3


class Config:
    """How a model is loaded and run; takes what `paddle.inference.Config` takes.

    Args:
        model: a model folder (`Config(model_dir)`), or the program's file.
        params: the parameter file, where `model` is a file.
    """

    def __init__(
        self, model: str | os.PathLike[str] | None = None, params: str | os.PathLike[str] | None = None
    ) -> None:
        self._model: Path | None = None
        self._params: Path | None = None
        self._properties: dict[str, Any] = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "f32",
            "CPU_RUNTIME_CACHE_CAPACITY": str(CACHE_CAPACITY),
        }
        self._device = "CPU"
        self._threads = 0
        self._onednn = True
        self._ir_optim = True
        self._memory_optim = False
        self._glog = True
        self._warned: set[str] = set()
        if model is not None:
            self.set_model(model, params)

    # Files

    def set_model(self, model: str | os.PathLike[str], params: str | os.PathLike[str] | None = None) -> None:
        """Names the model: its folder, or its program and its parameter file."""
        self._model = Path(model)
        self._params = Path(params) if params is not None else None

    def set_prog_file(self, path: str | os.PathLike[str]) -> None:
        """Names the program's file."""
        self._model = Path(path)

    def set_params_file(self, path: str | os.PathLike[str]) -> None:
        """Names the parameter file."""
        self._params = Path(path)

    def model_dir(self) -> str:
        """The model's folder; "" where files were given."""
        return str(self._model) if self._model is not None and self._params is None else ""

    def prog_file(self) -> str:
        """The program's file; "" where a folder was given."""
        return str(self._model) if self._model is not None and self._params is not None else ""

    def params_file(self) -> str:
        """The parameter file; "" where none was given."""
        return str(self._params or "")

    # What OpenVINO has too

    def set_cpu_math_library_num_threads(self, count: int) -> None:
        """The number of threads (INFERENCE_NUM_THREADS); by default OpenVINO takes one for each core."""
        self._threads = count
        self._properties["INFERENCE_NUM_THREADS"] = count

    def cpu_math_library_num_threads(self) -> int:
        """The number of threads; 0 where OpenVINO chooses."""
        return self._threads

    def set_optim_cache_dir(self, path: str | os.PathLike[str]) -> None:
        """A folder to keep the compiled model in (CACHE_DIR): a later start reads it from there."""
        self._properties["CACHE_DIR"] = str(path)

    def set_mkldnn_cache_capacity(self, capacity: int) -> None:
        """How many primitives to keep for shapes that were seen before (CPU_RUNTIME_CACHE_CAPACITY).

        The default, 0, keeps none, so that memory stays bounded when shapes change all the time. A service whose inputs
        have a few shapes that come again runs faster with some; each new shape then costs memory until it is full.
        """
        self._properties["CPU_RUNTIME_CACHE_CAPACITY"] = str(capacity)

    def enable_mkldnn_bfloat16(self) -> None:
        """Computes in bfloat16 where the processor can (INFERENCE_PRECISION_HINT)."""
        self._properties["INFERENCE_PRECISION_HINT"] = "bf16"

    def disable_mkldnn_bfloat16(self) -> None:
        """Computes in float32, the default."""
        self._properties["INFERENCE_PRECISION_HINT"] = "f32"

    def set_openvino_property(self, name: str, value: Any) -> None:
        """Any property of OpenVINO's `compile_model`; `paddle.inference` has none of this name."""
        self._properties[name] = value

    def set_openvino_device(self, device: str) -> None:
        """The device to run on, such as "GPU" for an Intel GPU; `paddle.inference` has none of this name."""
        self._device = device

    def openvino_properties(self) -> dict[str, Any]:
        """The device's properties, as they are passed to `compile_model`."""
        known = dict(self._properties)
        if self._device != "CPU":
            known.pop("CPU_RUNTIME_CACHE_CAPACITY", None)
        return known

    def openvino_device(self) -> str:
        """The device to run on."""
        return self._device

    # What OpenVINO does anyway, or does not have

    def enable_mkldnn(self) -> None:
        """Without effect: OpenVINO's CPU plugin always computes with oneDNN."""
        self._onednn = True

    def disable_mkldnn(self) -> None:
        """Without effect: OpenVINO's CPU plugin always computes with oneDNN."""
        self._onednn = False

    def mkldnn_enabled(self) -> bool:
        """What was switched."""
        return self._onednn

    enable_onednn = enable_mkldnn
    disable_onednn = disable_mkldnn
    onednn_enabled = mkldnn_enabled
    set_onednn_cache_capacity = set_mkldnn_cache_capacity
    enable_onednn_bfloat16 = enable_mkldnn_bfloat16

    def enable_mkldnn_int8(self, *ops: Any) -> None:
        """Without effect: a model is quantised where it says so itself."""

    def set_mkldnn_op(self, *ops: Any) -> None:
        """Without effect."""

    def switch_ir_optim(self, on: bool = True) -> None:
        """Without effect: OpenVINO optimises the graph when it compiles it."""
        self._ir_optim = on

    def ir_optim(self) -> bool:
        """What was switched."""
        return self._ir_optim

    def enable_memory_optim(self, on: bool = True) -> None:
        """Without effect: OpenVINO reuses memory."""
        self._memory_optim = on

    def disable_glog_info(self) -> None:
        """Without effect: OpenVINO prints nothing."""
        self._glog = False

    def glog_info_disabled(self) -> bool:
        """What was switched."""
        return not self._glog

    def switch_use_feed_fetch_ops(self, on: bool = True) -> None:
        """Without effect."""

    def switch_specify_input_names(self, on: bool = True) -> None:
        """Without effect: inputs always have names."""

    def switch_ir_debug(self, *arguments: Any) -> None:
        """Without effect."""

    def enable_new_ir(self, on: bool = True) -> None:
        """Without effect: the file says which format it has."""

    def enable_new_executor(self, on: bool = True) -> None:
        """Without effect."""

    def enable_profile(self) -> None:
        """Without effect; OpenVINO's own profile: `set_openvino_property("PERF_COUNT", True)`."""

    def delete_pass(self, name: str) -> None:
        """Without effect: Paddle's passes do not run."""

    def disable_gpu(self) -> None:
        """Without effect: the default."""

    def use_gpu(self) -> bool:
        """False: nothing runs on a GPU of Paddle's."""
        return False

    def gpu_device_id(self) -> int:
        """0."""
        return 0

    def use_xpu(self) -> bool:
        """False."""
        return False

    def tensorrt_engine_enabled(self) -> bool:
        """False."""
        return False

    def enable_use_gpu(self, *arguments: Any, **options: Any) -> None:
        """Warns: the model runs on the CPU."""
        self._not_here("enable_use_gpu", "the model runs on the CPU")

    def enable_tensorrt_engine(self, *arguments: Any, **options: Any) -> None:
        """Warns: the model runs on the CPU."""
        self._not_here("enable_tensorrt_engine", "there is no TensorRT here; the model runs on the CPU")

    def set_trt_dynamic_shape_info(self, *arguments: Any, **options: Any) -> None:
        """Without effect: shapes need no bounds here."""

    def enable_tuned_tensorrt_dynamic_shape(self, *arguments: Any, **options: Any) -> None:
        """Without effect: shapes need no bounds here."""

    def collect_shape_range_info(self, *arguments: Any, **options: Any) -> None:
        """Without effect: shapes need no bounds here."""

    def enable_xpu(self, *arguments: Any, **options: Any) -> None:
        """Warns: the model runs on the CPU."""
        self._not_here("enable_xpu", "the model runs on the CPU")

    def enable_custom_device(self, *arguments: Any, **options: Any) -> None:
        """Warns: the model runs on the CPU."""
        self._not_here("enable_custom_device", "the model runs on the CPU")

    def summary(self) -> str:
        """What is set, in a few lines."""
        lines = [f"model: {self._model}", f"params: {self._params}", f"device: {self._device}"]
        return "\n".join(lines + [f"{name}: {value}" for name, value in self.openvino_properties().items()])

    def _not_here(self, switch: str, consequence: str) -> None:
        if switch not in self._warned:
            self._warned.add(switch)
            warnings.warn(f"paddle2ov.inference: Config.{switch} has no effect: {consequence}", stacklevel=3)
