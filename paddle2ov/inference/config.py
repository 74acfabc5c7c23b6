"""`Config`: the switches of `paddle.inference.Config`, as properties of OpenVINO."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import openvino

from paddle2ov.compilation.precision import HINT, checked_precision, computes_in, with_precision
from paddle2ov.compilation.properties import property_value
from paddle2ov.errors import ConversionInputError, warn
from paddle2ov.graph.core import processors, with_error_reporting, with_exact_integers
from paddle2ov.inference.arguments import MAX_INT, as_path, contents, integer
from paddle2ov.inference.switches import (
    ANSWERS,
    MISSED,
    REFUSED,
    SETS,
    WITHOUT_EFFECT,
    Argument,
    PassBuilder,
    PrecisionType,
    XpuConfig,
)

if TYPE_CHECKING:
    from paddle2ov.translation.input_spec import ShapeArgument

CACHE_CAPACITY = 16
"""How many primitives OpenVINO's CPU plugin keeps for shapes that were seen before, see `set_mkldnn_cache_capacity`.

OpenVINO's own default, 5000, lets memory grow with every new shape. A few are enough for the steps of loops, which make
one in each iteration otherwise.
"""


class Config:
    """How a model is loaded and run; takes what `paddle.inference.Config` takes.

    Args:
        model: a model folder (`Config(model_dir)`), or the program's file; or another configuration, to copy.
        params: the parameter file, where `model` is a file.

    Beside the methods below it has those of `paddle2ov.inference.switches`: what OpenVINO does by itself is accepted
    without effect, what it has not gives one warning. `paddle.inference` has none of those with "openvino" in the name.

    Raises:
        ConversionInputError: a method is given what it does not take, such as a number of threads that is none.
    """

    Precision = PrecisionType
    Float32, Int8 = PrecisionType.Float32, PrecisionType.Int8
    Half, Bfloat16 = PrecisionType.Half, PrecisionType.Bfloat16

    def __init__(
        self, model: str | os.PathLike[str] | Config | None = None, params: str | os.PathLike[str] | None = None
    ) -> None:
        if isinstance(model, Config):
            self._copy(model, params)
            return
        self._model: Path | None = None
        self._params: Path | None = None
        self._are_files = False
        self._buffers: tuple[bytes, bytes] | None = None
        self._properties: dict[str, Any] = {
            "PERFORMANCE_HINT": "LATENCY",
            "CPU_RUNTIME_CACHE_CAPACITY": str(CACHE_CAPACITY),
        }
        self._device = "CPU"
        self._precision = ""
        self._may_be_f32 = False
        self._cache_dir: Path | None = None
        self._shapes: dict[str, openvino.PartialShape] = {}
        self._threads = 0
        self._warned: set[str] = set()
        self._is_optimised = True
        self._answers: dict[str, Any] = {}
        if model is not None:
            self.set_model(model, params)

    def _copy(self, other: Config, params: object) -> None:
        if params is not None:
            raise ConversionInputError("Config: a configuration is copied as it is; set_model names other files")
        vars(self).update(vars(other))
        self._properties, self._warned = dict(other._properties), set(other._warned)
        self._answers = dict(other._answers)

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):  # as Paddle's, which tells a misspelt switch
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        super().__setattr__(name, value)

    # Files

    def set_model(self, model: str | os.PathLike[str], params: str | os.PathLike[str] | None = None) -> None:
        """Names the model: its folder, or its program and its parameter file."""
        self._model = as_path(model)
        if self._model is None:
            raise ConversionInputError("Config: the path of the model is empty")
        self._params, self._are_files = as_path(params) if params is not None else None, params is not None

    def set_prog_file(self, path: str | os.PathLike[str]) -> None:
        """Names the program's file."""
        self._model, self._are_files = as_path(path), True

    def set_params_file(self, path: str | os.PathLike[str]) -> None:
        """Names the parameter file."""
        self._params, self._are_files = as_path(path), True

    def set_model_buffer(self, program: bytes, program_size: int, params: bytes, params_size: int) -> None:
        """Gives the contents of the program's and the parameters' files."""
        self._buffers = contents("program", program, program_size), contents("params", params, params_size)

    def model_from_memory(self) -> bool:
        """Whether the contents of files were given."""
        return self._buffers is not None

    def model_dir(self) -> str:
        """The model's folder; "" where files were given."""
        return str(self._model) if self._model is not None and not self._are_files else ""

    def prog_file(self) -> str:
        """The program's file; "" where a folder was given."""
        return str(self._model) if self._model is not None and self._are_files else ""

    def params_file(self) -> str:
        """The parameter file; "" where none was given."""
        return str(self._params or "")

    def model_buffers(self) -> tuple[bytes, bytes] | None:
        """The contents of the program's and the parameters' files; None where none were given."""
        return self._buffers

    def model_files(self) -> tuple[Path, Path | None] | None:
        """The model's folder or the program's file, and the parameter file; None where no model is named."""
        return None if self._model is None else (self._model, self._params)

    # What OpenVINO has as well

    def set_cpu_math_library_num_threads(self, count: int) -> None:
        """The number of threads (INFERENCE_NUM_THREADS); by default, or for 0 or less, one for each core."""
        refusal = f"set_cpu_math_library_num_threads: {count!r} is not a number of threads"
        self._threads = integer(count, -MAX_INT - 1, refusal)
        self._properties["INFERENCE_NUM_THREADS"] = max(0, self._threads)

    def cpu_math_library_num_threads(self) -> int:
        """The number of threads; 0 where OpenVINO chooses."""
        return self._threads

    def set_optim_cache_dir(self, path: str | os.PathLike[str]) -> None:
        """A folder to keep the compiled model in, as `compile_model(cache_dir=...)` does.

        A later start, of any process, takes it from there: it neither reads nor converts nor compiles the model. An
        empty path, the default, keeps none.
        """
        self._cache_dir = as_path(path, "set_optim_cache_dir")

    def optim_cache_dir(self) -> Path | None:
        """The folder that the compiled model is kept in; None where it is not kept."""
        return self._cache_dir

    def switch_ir_optim(self, x: bool = True) -> None:
        """Whether the graph is optimised (`convert(rewrite=...)`); what correct results need is done in any case."""
        if not (x is None or isinstance(x, int | float | np.generic)):  # as Paddle takes them for a bool
            raise ConversionInputError(f"switch_ir_optim: {x!r:.80} is neither True nor False")
        self._is_optimised = bool(x)

    def ir_optim(self) -> bool:
        """Whether the graph is optimised, the default."""
        return self._is_optimised

    def set_mkldnn_cache_capacity(self, capacity: int = 0) -> None:
        """How many primitives to keep for shapes that were seen before (CPU_RUNTIME_CACHE_CAPACITY).

        Few are kept unless this is called, so that memory stays bounded when shapes change all the time; 0 keeps none.
        A service whose inputs have some shapes that come again runs faster with more; each new shape then costs memory
        until it is full.
        """
        number = integer(
            capacity, -MAX_INT - 1, f"set_mkldnn_cache_capacity: {capacity!r} is not a number of primitives"
        )
        self._properties["CPU_RUNTIME_CACHE_CAPACITY"] = str(max(0, number))

    def enable_mkldnn_bfloat16(self) -> None:
        """Computes in bfloat16 where the device has hardware for it; else in float32, as Paddle, with a warning."""
        self._precision, self._may_be_f32 = "bf16", True

    def disable_mkldnn_bfloat16(self) -> None:
        """Computes in float32, the default."""
        self._precision = "f32"

    def enable_openvino_engine(self, inference_precision: PrecisionType = PrecisionType.Float32) -> None:
        """Sets the precision, as `set_openvino_precision` does; everything runs on OpenVINO anyway.

        Int8 is refused: a model is quantised where it says so itself.
        """
        if not isinstance(inference_precision, PrecisionType) or inference_precision not in _HINTS:
            raise ConversionInputError(f"enable_openvino_engine: {inference_precision} is not a precision of OpenVINO")
        self.set_openvino_precision(_HINTS[inference_precision])
        self._answers["openvino_engine_enabled"] = True

    def set_openvino_precision(self, precision: str) -> None:
        """What the device computes floats in (INFERENCE_PRECISION_HINT), as `compile_model` takes it.

        "f32", the default, as Paddle; "bf16" or "f16"; "default" for what the device takes unless told otherwise. Where
        it has no hardware for it, `create_predictor` refuses it.
        """
        self._precision = checked_precision(_text("set_openvino_precision", precision))
        self._may_be_f32 = False

    def set_openvino_hint(self, hint: str) -> None:
        """What is to be short (PERFORMANCE_HINT): "latency", the default, a run; "throughput" many runs together.

        With "throughput" OpenVINO computes several runs at once, on fewer threads each: those of threads and of clones,
        and those of `run` on several lists.
        """
        if not isinstance(hint, str) or hint not in ("latency", "throughput"):
            raise ConversionInputError(f"set_openvino_hint: {hint!r} is neither 'latency' nor 'throughput'")
        self._properties["PERFORMANCE_HINT"] = hint.upper()

    def set_openvino_streams(self, count: int) -> None:
        """How many runs are computed at once (NUM_STREAMS), each on its part of the threads.

        For a `PredictorPool` it is the number of predictors by default.
        """
        self._properties["NUM_STREAMS"] = _positive("set_openvino_streams", count)

    def set_openvino_requests(self, count: int) -> None:
        """How many threads may run one predictor at a time (PERFORMANCE_HINT_NUM_REQUESTS); others wait.

        The default is one more than OpenVINO computes at once.
        """
        self._properties["PERFORMANCE_HINT_NUM_REQUESTS"] = _positive("set_openvino_requests", count)

    def set_openvino_cores(self, kind: str) -> None:
        """The cores to run on, where a processor has several kinds (SCHEDULING_CORE_TYPE).

        "any", the default, "performance" or "efficiency".
        """
        if not isinstance(kind, str) or kind not in _CORES:
            raise ConversionInputError(f"set_openvino_cores: {kind!r} is not one of {', '.join(_CORES)}")
        self._properties["SCHEDULING_CORE_TYPE"] = _CORES[kind]

    def set_openvino_shapes(self, shapes: Mapping[str, ShapeArgument]) -> None:
        """The shapes of inputs to compile for, where they differ from the program: `{"x": [1, 3, -1, -1]}`.

        They are those of `convert(input=...)`. Arrays of other shapes, and without it of others than the program
        declares, are computed as well, where Paddle computes them; the first of them waits for another compilation.
        """
        from paddle2ov.translation.input_spec import to_partial_shape

        if not isinstance(shapes, Mapping) or not all(isinstance(name, str) for name in shapes):
            raise ConversionInputError(f"set_openvino_shapes: {shapes!r:.80} is not a mapping from names to shapes")
        self._shapes = {name: to_partial_shape(shape) for name, shape in shapes.items()}

    def openvino_shapes(self) -> dict[str, openvino.PartialShape]:
        """The shapes that were set."""
        return self._shapes

    def set_openvino_property(self, name: str, value: Any) -> None:
        """Any property of OpenVINO's `compile_model`.

        `create_predictor` refuses those that OpenVINO does not know, and values that it cannot take.
        """
        try:
            self._properties[_text("set_openvino_property", name)] = property_value(value)
        except TypeError as error:
            raise ConversionInputError(f"set_openvino_property: {name} cannot be of type {error}") from None

    def set_openvino_device(self, device: str) -> None:
        """The device to run on, such as "GPU" for an Intel GPU."""
        self._device = _text("set_openvino_device", device)

    def openvino_properties(self, predictors: int = 1) -> dict[str, Any]:
        """The device's properties, as they are passed to `compile_model`, for this many predictors that run at once.

        Each has the number of threads that was set for one, as far as there are cores.

        Raises:
            ConversionInputError: the device has no hardware for the precision, or a property names another.
        """
        predictors = _positive("openvino_properties", predictors)
        known = self._with_precision()
        if predictors > 1 and known["PERFORMANCE_HINT"] == "LATENCY" and "NUM_STREAMS" not in known:
            cores = processors()
            known["NUM_STREAMS"] = min(predictors, cores)
            if self._threads > 0:
                known["INFERENCE_NUM_THREADS"] = min(predictors * self._threads, cores)
        if self._device != "CPU":
            known.pop("CPU_RUNTIME_CACHE_CAPACITY", None)
        return with_exact_integers(with_error_reporting(known, self._device), self._device)

    def _with_precision(self) -> dict[str, Any]:
        """The properties that were set, with the hint for the precision; float32 unless something else was said."""
        if not self._precision:
            return {HINT: "f32", **self._properties}
        if self._may_be_f32 and self._precision == "bf16" and not computes_in(self._device, "bf16"):
            warn(f"paddle2ov.inference: {self._device} has no hardware for bfloat16: computed in float32")
            return with_precision(self._properties, "f32", self._device)
        return with_precision(self._properties, self._precision, self._device)

    def openvino_device(self) -> str:
        """The device to run on."""
        return self._device

    set_onednn_cache_capacity = set_mkldnn_cache_capacity
    enable_onednn_bfloat16 = enable_mkldnn_bfloat16

    # What OpenVINO does anyway, or does not have

    def pass_builder(self) -> PassBuilder:
        """An empty list of passes: Paddle's do not run."""
        return PassBuilder()

    def xpu_config(self) -> XpuConfig:
        """Settings of a device that is not here."""
        return XpuConfig()

    def summary(self) -> str:
        """What is set, in a few lines."""
        lines = [f"model: {self._model}", f"params: {self._params}", f"device: {self._device}"]
        return "\n".join(lines + [f"{name}: {value}" for name, value in self.openvino_properties().items()])

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in ANSWERS:
            return lambda: self._answers.get(name, ANSWERS[name])
        if name in MISSED or name in SETS or name in WITHOUT_EFFECT:
            return lambda *arguments, **options: self._switch(name, arguments, options)
        if name in REFUSED:
            return lambda *arguments, **options: self._refuse(name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _switch(self, switch: str, arguments: Sequence[Any], options: Mapping[str, Any]) -> None:
        for getter, answer in SETS.get(switch, {}).items():
            value = answer.of(arguments, options) if isinstance(answer, Argument) else answer
            self._answers[getter] = type(ANSWERS[getter])(value)
        if switch in MISSED and switch not in self._warned:
            self._warned.add(switch)
            warn(f"paddle2ov.inference: Config.{switch} has no effect: {MISSED[switch]}")

    def _refuse(self, method: str) -> None:
        raise ConversionInputError(f"Config.{method} gives an object of Paddle's own engine: {REFUSED[method]}")


_CORES = {"any": "ANY_CORE", "performance": "PCORE_ONLY", "efficiency": "ECORE_ONLY"}
_HINTS = {PrecisionType.Float32: "f32", PrecisionType.Half: "f16", PrecisionType.Bfloat16: "bf16"}


def _positive(switch: str, count: object) -> int:
    return integer(count, 1, f"{switch}: {count!r} is not a whole number above 0")


def _text(switch: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ConversionInputError(f"{switch}: {value!r} is not a name")
    return value
