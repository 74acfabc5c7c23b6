"""Whole networks trained with simulated integers, as Paddle's own tools leave them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gen_models.harness.marks import legacy
from gen_models.harness.network import Network
from gen_models.harness.spec import TensorSpec, paddle, tensor


def _mobile():
    """MobileNet's parts: convolutions, depthwise ones, gates, sums, a linear head."""
    nn = paddle.nn

    class Mobile(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.enter = nn.Sequential(nn.Conv2D(3, 8, 3, 2, 1), nn.BatchNorm2D(8), nn.ReLU())
            self.wide = nn.Sequential(nn.Conv2D(8, 16, 1), nn.BatchNorm2D(16), nn.ReLU6())
            self.deep = nn.Sequential(nn.Conv2D(16, 16, 3, 1, 1, groups=16), nn.BatchNorm2D(16), nn.Hardswish())
            self.squeeze, self.gate = nn.Conv2D(16, 4, 1), nn.Conv2D(4, 16, 1)
            self.narrow = nn.Sequential(nn.Conv2D(16, 8, 1), nn.BatchNorm2D(8))
            self.pool, self.head = nn.AdaptiveAvgPool2D(1), nn.Linear(8, 5)

        def forward(self, x):
            x = self.enter(x)
            y = self.deep(self.wide(x))
            gate = self.gate(paddle.nn.functional.relu(self.squeeze(self.pool(y))))
            x = x + self.narrow(y * paddle.nn.functional.hardsigmoid(gate))
            return self.head(self.pool(x).flatten(1))

    return Mobile()


def _trained(layer):
    """A step in training mode, after which the scales of activations are known."""
    layer.train()
    layer(paddle.uniform([2, 3, 16, 16], min=-1.0, max=1.0))
    layer.eval()
    return layer


def _per_tensor():
    """Scales per tensor, by `paddle.quantization.QAT`: moving averages for activations and weights alike."""
    from paddle.quantization import QAT, QuantConfig
    from paddle.quantization.quanters import FakeQuanterWithAbsMaxObserver

    layer = _mobile()
    quanter = FakeQuanterWithAbsMaxObserver(moving_rate=0.9)
    tool = QAT(QuantConfig(activation=quanter, weight=quanter))
    quantized = _trained(tool.quantize(layer))
    # Paddle 3.3 cannot finish the conversion to quantize_linear: its layers have no zero point.
    return quantized if int(paddle.__version__.split(".")[0]) >= 3 else tool.convert(quantized)


def _per_channel():
    """Scales per channel of weights, by `ImperativeQuantAware`, as PaddleSlim uses it."""
    from paddle.quantization import ImperativeQuantAware

    layer = _mobile()
    ImperativeQuantAware(weight_quantize_type="channel_wise_abs_max").quantize(layer)
    return _trained(layer)


def _calibrated(onnx_format):
    """Quantization of an exported model, as PaddleSlim's `quant_post_static`: with each format of its result."""

    def finish(folder: Path) -> None:
        from paddle.static.quantization import PostTrainingQuantization

        rng = np.random.default_rng(0)
        pictures = [(rng.uniform(-1, 1, (3, 16, 16)).astype(np.float32),) for _ in range(4)]
        with paddle.static.program_guard(paddle.static.Program()):
            x = paddle.static.data("x", [-1, 3, 16, 16], "float32")
        names = {"model_filename": "inference.pdmodel", "params_filename": "inference.pdiparams"}
        with paddle.static.scope_guard(paddle.static.Scope()):
            tool = PostTrainingQuantization(
                paddle.static.Executor(paddle.CPUPlace()),
                str(folder),
                **names,
                data_loader=paddle.io.DataLoader(pictures, [x], paddle.CPUPlace(), return_list=False),
                batch_size=1,
                algo="abs_max",
                quantizable_op_type=["conv2d", "depthwise_conv2d", "mul", "matmul_v2"],
                onnx_format=onnx_format,
            )
            tool.quantize()
            tool.save_quantized_model(str(folder), **names)

    return finish


def _pictures(batch: int) -> dict[str, TensorSpec]:
    return {"x": tensor([batch, 3, 16, 16], dims=[-1, 3, 16, 16])}


NETWORKS = [
    Network(
        "quantized_channels",
        _per_channel,
        _pictures(1),
        more=[_pictures(3)],
        tolerance=2e-2,
        **legacy("Paddle 3 has no such tool for PIR"),
    ),
    Network("quantized_tensors", _per_tensor, _pictures(1), more=[_pictures(3)], tolerance=2e-2),
    *(
        Network(
            name,
            _mobile,
            _pictures(1),
            more=[_pictures(3)],
            tolerance=2e-2,
            finish=_calibrated(onnx_format),
            **legacy("Paddle 3 has no such tool for PIR"),
        )
        for name, onnx_format in (("quantized_calibrated", False), ("quantized_calibrated_linear", True))
    ),
]
