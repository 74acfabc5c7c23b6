"""What stands where a package looks for Paddle: paddle2ov's modules, and the names of older Paddles."""

from __future__ import annotations

import sys
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np


def module(name: str, **names: Any) -> ModuleType:
    """A module of that name, for whoever imports it."""
    made = sys.modules[name] = ModuleType(name)
    vars(made).update(names)
    parent, _, last = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], last, made)
    return made


def put_paddle2ov_in_place(*, imports_paddle: bool) -> None:
    """`paddle.inference` is paddle2ov's from now on; without `imports_paddle` there is no other Paddle."""
    import paddle2ov.inference

    if imports_paddle:
        import paddle
        import paddle.inference
    else:
        paddle = module("paddle")
    paddle.inference = sys.modules["paddle.inference"] = paddle2ov.inference


def put_engine_in_place() -> None:
    """PaddleOCR computes with paddle2ov's engine, and there is no Paddle."""
    vars(sys)["modules"]["paddle"] = None
    import paddleocr

    from paddle2ov.inference.paddlex import register_engine

    register_engine()
    paddleocr.PaddleOCR = partial(paddleocr.PaddleOCR, engine="paddle2ov")


def switch_onednn_off() -> None:
    """Predictors of Paddle are made without oneDNN, whatever the package's code says."""
    from paddle import inference

    create = inference.create_predictor

    def without(config: Any) -> Any:
        config.disable_mkldnn()
        return create(config)

    inference.create_predictor = without


def put_fluid_in_place() -> None:
    """The names of `paddle.fluid` (Paddle 1) that run a model, on whichever `paddle.inference` there is."""
    from paddle import inference

    class Values:
        def __init__(self, array: np.ndarray[Any, Any]) -> None:
            self.array = array

        def int64_data(self) -> list[int]:
            return list(self.array.reshape(-1).tolist())

    class PaddleTensor:
        def __init__(self, array: np.ndarray[Any, Any], lod: list[list[int]] | None = None) -> None:
            self.data, self.shape, self.lod = Values(array), list(array.shape), lod or []

    class Predictor:
        def __init__(self, config: Any) -> None:
            self.predictor = inference.create_predictor(config)

        def run(self, tensors: list[PaddleTensor]) -> list[PaddleTensor]:
            for name, tensor in zip(self.predictor.get_input_names(), tensors, strict=True):
                handle = self.predictor.get_input_handle(name)
                handle.copy_from_cpu(tensor.data.array.reshape(tensor.shape))
                handle.set_lod([list(map(int, offsets)) for offsets in tensor.lod])
            self.predictor.run()
            handles = [self.predictor.get_output_handle(name) for name in self.predictor.get_output_names()]
            return [PaddleTensor(handle.copy_to_cpu(), handle.lod()) for handle in handles]

    module("paddle.fluid", CPUPlace=lambda: None, Executor=lambda place: None)
    module(
        "paddle.fluid.core",
        PaddleTensor=PaddleTensor,
        AnalysisConfig=inference.Config,
        create_paddle_predictor=Predictor,
    )
