"""An engine for the pipelines of PaddleX 3.7 and PaddleOCR 3.7, which then need no Paddle.

    from paddle2ov.inference.paddlex import register_engine
    from paddleocr import PaddleOCR

    register_engine()
    PaddleOCR(engine="paddle2ov").predict("page.png")

`paddle2ov run COMMAND` does so for their commands: neither package loads engines that others bring.

A pipeline of PaddleX is made of predictors, each of which runs its model by a runner that the engine makes. Here that
is `Runner`, which may be used alone too; everything around the model stays PaddleX's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from paddle2ov.errors import ConversionInputError
from paddle2ov.inference.config import Config
from paddle2ov.inference.creation import create_predictor
from paddle2ov.typing import AnyArray

ENGINE = "paddle2ov"
"""The engine's name in PaddleX."""


class Runner:
    """A model as PaddleX's predictors call it, from any number of threads.

    Args:
        model_dir: the model's folder.
        model_file_prefix: of the program and the parameter file in it.
        config: `cpu_threads` (default: one for each core), `openvino_device` ("CPU"), `cache_dir` (to keep the
            compiled model in), `precision`, `hint`, `streams`, `requests` and `cores` (as `Config.set_openvino_hint`
            and its neighbours take them) and `properties` (any others of OpenVINO's `compile_model`); and what PaddleX
            adds, `device_type` and `device_id`, of which only "cpu" is taken.

    Raises:
        ModelReadError: the model cannot be found or read.
        UnsupportedOpsError, OpConversionError: it cannot be converted.
        ConversionInputError: the configuration has other entries, or other values.
        OpenVINORunError: OpenVINO cannot compile the model.
    """

    def __init__(
        self,
        model_dir: str | os.PathLike[str],
        model_file_prefix: str = "inference",
        config: Mapping[str, Any] | None = None,
    ) -> None:
        self._predictor = create_predictor(_configured(Path(model_dir, model_file_prefix), dict(config or {})))

    def __call__(self, x: Sequence[AnyArray] | AnyArray | None = None) -> list[AnyArray]:
        """The results, in the program's order; the arrays stand in the order of the inputs' sorted names.

        Raises:
            ConversionInputError: an array is of another type or shape than its input, or there are more or fewer.
            OpenVINORunError: OpenVINO refuses the inputs.
        """
        names = self._predictor.get_input_names()
        arrays = [x] if isinstance(x, np.ndarray) else list(x or ())
        if len(arrays) != len(names):
            raise ConversionInputError(f"{len(arrays)} arrays are given; the inputs are {', '.join(sorted(names))}")
        by_name = dict(zip(sorted(names), arrays, strict=True))
        results: list[AnyArray] = self._predictor.run([by_name[name] for name in names])
        return results

    def close(self) -> None:
        """Releases the memory of intermediate results."""
        self._predictor.try_shrink_memory()


def register_engine() -> None:
    """Makes "paddle2ov" an engine of PaddleX, for every model that its engine "paddle_static" runs.

    Raises:
        ConversionInputError: PaddleX is not installed, or is one without engines (before 3.7).
    """
    try:
        from paddlex.inference.models.bindings import default_registry
        from paddlex.inference.models.engines import RunnerEngine
        from paddlex.inference.models.runners import InferenceRunner
    except ImportError as error:
        raise ConversionInputError(
            f"PaddleX 3.7 or newer is needed (pip install paddlex, or paddleocr): {error}"
        ) from error
    if ENGINE not in RunnerEngine.all():
        _engine(RunnerEngine, InferenceRunner)
    for name, bindings in default_registry._registry.items():
        static = bindings.get("paddle_static")
        if static is not None and static.runner_binding is None:  # a runner of the model's own needs Paddle
            default_registry.register(static.predictor, {ENGINE: name})
    _allow_in_paddleocr()


def _engine(base: Any, runner_base: Any) -> None:
    """The class that PaddleX makes runners with; defining it registers it."""

    class OpenVINORunner(Runner, runner_base):
        def __call__(self, x: Any = None, **kwargs: Any) -> list[AnyArray]:
            return super().__call__(x)

    class OpenVINOEngine(base):
        entities = ENGINE
        name = ENGINE

        def get_supported_model_formats(self) -> tuple[str, ...]:
            return ("paddle",)

        def prepare_config_dict(self, raw: dict[str, Any], *, device: str | None = None, **_: Any) -> dict[str, Any]:
            self._apply_device(raw, device)
            return raw

        def get_default_runner_builder(self) -> Any:
            def build(*, model_dir: Path, engine_config: dict[str, Any], **_: Any) -> OpenVINORunner:
                return OpenVINORunner(model_dir, config=engine_config)

            return build

        def validate_runner(self, runner: Any) -> None:
            assert isinstance(runner, OpenVINORunner)


def _allow_in_paddleocr() -> None:
    """PaddleOCR, where it is installed, checks names of engines against a list of its own."""
    with suppress(ImportError):
        from paddleocr._common_args import SUPPORTED_INFERENCE_ENGINE_LIST

        if ENGINE not in SUPPORTED_INFERENCE_ENGINE_LIST:
            SUPPORTED_INFERENCE_ENGINE_LIST.append(ENGINE)


_SWITCHES: Mapping[str, Callable[[Config, Any], None]] = {
    "cpu_threads": Config.set_cpu_math_library_num_threads,
    "cache_dir": Config.set_optim_cache_dir,
    "precision": Config.set_openvino_precision,
    "hint": Config.set_openvino_hint,
    "streams": Config.set_openvino_streams,
    "requests": Config.set_openvino_requests,
    "cores": Config.set_openvino_cores,
}


def _configured(model: Path, options: dict[str, Any]) -> Config:
    config = Config(model)
    kind = options.pop("device_type", None) or "cpu"
    options.pop("device_id", None)
    if kind != "cpu":
        raise ConversionInputError(
            f"device '{kind}' is not supported: take 'cpu'; an Intel GPU is engine_config={{'openvino_device': 'GPU'}}"
        )
    for name, switch in _SWITCHES.items():
        if (value := options.pop(name, None)) is not None:
            switch(config, value)
    config.set_openvino_device(options.pop("openvino_device", None) or "CPU")
    properties = options.pop("properties", None) or {}
    if not isinstance(properties, Mapping):
        raise ConversionInputError(f"engine_config: properties is {properties!r}; names and their values are expected")
    for name, value in properties.items():
        config.set_openvino_property(name, value)
    if options:
        raise ConversionInputError(
            f"engine_config: {', '.join(map(repr, options))} is not known; there are "
            f"{', '.join(_SWITCHES)}, openvino_device, properties"
        )
    return config


__all__ = ["ENGINE", "Runner", "register_engine"]
