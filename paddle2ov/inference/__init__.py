"""A drop-in for `paddle.inference`: deployment code runs on OpenVINO by changing one import.

    from paddle2ov.inference import Config, create_predictor  # was: from paddle.inference import ...

    config = Config("model/inference.json", "model/inference.pdiparams")
    config.set_cpu_math_library_num_threads(4)
    predictor = create_predictor(config)
    predictor.get_input_handle(predictor.get_input_names()[0]).copy_from_cpu(image)
    predictor.run()
    scores = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()

What has a counterpart in OpenVINO is passed on: threads, the cache directory, bfloat16, the capacity of the cache of
primitives. What has no meaning there (graph optimisation, logging, memory optimisation) is accepted without effect;
switches for GPUs, TensorRT and other devices give one warning each.
"""

from __future__ import annotations

from typing import Any

from paddle2ov.errors import ConversionInputError
from paddle2ov.inference.config import Config
from paddle2ov.inference.creation import PredictorPool, create_predictor
from paddle2ov.inference.predictor import Predictor
from paddle2ov.inference.switches import DataType, InternalUtils, PlaceType, PrecisionType, XpuConfig
from paddle2ov.inference.tensor import Tensor


def get_num_bytes_of_data_type(dtype: DataType) -> int:
    """The size of an element.

    Raises:
        ConversionInputError: it is not a `DataType`.
    """
    if not isinstance(dtype, DataType):
        raise ConversionInputError(f"get_num_bytes_of_data_type: {dtype!r} is not a DataType")
    return 2 if dtype is DataType.BFLOAT16 else dtype.dtype.itemsize


def get_version() -> str:
    """The versions of paddle2ov and OpenVINO, as text."""
    import openvino

    import paddle2ov

    return f"paddle2ov {paddle2ov.__version__}, OpenVINO {openvino.__version__}"


def get_trt_compile_version() -> tuple[int, int, int]:
    """(0, 0, 0): there is no TensorRT here."""
    return 0, 0, 0


get_trt_runtime_version = get_trt_compile_version


def convert_to_mixed_precision(*arguments: Any, **options: Any) -> None:
    """Not possible: what it writes is another Paddle model.

    Raises:
        ConversionInputError: always.
    """
    raise ConversionInputError(
        "convert_to_mixed_precision writes Paddle models; `paddle2ov convert` writes weights in half precision"
    )


__all__ = [
    "Config",
    "DataType",
    "InternalUtils",
    "PlaceType",
    "PrecisionType",
    "Predictor",
    "PredictorPool",
    "Tensor",
    "XpuConfig",
    "convert_to_mixed_precision",
    "create_predictor",
    "get_num_bytes_of_data_type",
    "get_trt_compile_version",
    "get_trt_runtime_version",
    "get_version",
]
