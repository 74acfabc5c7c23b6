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

from paddle2ov.inference.config import Config, PlaceType, PrecisionType
from paddle2ov.inference.predictor import Predictor, Tensor, create_predictor

__all__ = ["Config", "PlaceType", "PrecisionType", "Predictor", "Tensor", "create_predictor"]
