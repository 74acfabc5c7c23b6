"""Networks whose channels come last: residual sums, squeeze and excite, branches side by side, channels split."""

from __future__ import annotations

from functools import partial
from typing import Any

from gen_models.harness.building import make_layer
from gen_models.harness.network import Network
from gen_models.harness.spec import paddle, tensor


def _conv(inputs: int, outputs: int, kernel: int = 3, stride: int = 1, groups: int = 1, act: Any = "relu") -> Any:
    nn = paddle.nn
    conv = nn.Conv2D(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias_attr=False, data_format="NHWC")
    acts = {"relu": [nn.ReLU], "hswish": [nn.Hardswish], "silu": [nn.Silu], None: []}[act]
    return nn.Sequential(conv, nn.BatchNorm2D(outputs, data_format="NHWC"), *[act() for act in acts])


def _classified(features: Any, width: int, classes: int) -> Any:
    nn = paddle.nn
    return nn.Sequential(features, nn.AdaptiveAvgPool2D(1, data_format="NHWC"), nn.Flatten(), nn.Linear(width, classes))


def _stem(width: int) -> list[Any]:
    return [_conv(3, width, 7, 2), paddle.nn.MaxPool2D(3, 2, 1, data_format="NHWC")]


def resnet(width: int = 8, depths: tuple[int, ...] = (2, 2), classes: int = 5) -> Any:
    """Residual blocks of two convolutions, with a projection where the shortcut has another size."""
    nn, blocks, inputs = paddle.nn, _stem(width), width

    def parts(inputs: int, outputs: int, stride: int) -> dict[str, Any]:
        same = stride == 1 and inputs == outputs
        return {
            "main": nn.Sequential(_conv(inputs, outputs, 3, stride), _conv(outputs, outputs, act=None)),
            "short": nn.Identity() if same else _conv(inputs, outputs, 1, stride, act=None),
        }

    def run(self: Any, x: Any) -> Any:
        return paddle.nn.functional.relu(self.main(x) + self.short(x))

    for stage, depth in enumerate(depths):
        for i in range(depth):
            outputs, stride = width << stage, 2 if stage and i == 0 else 1
            blocks.append(make_layer(partial(parts, inputs, outputs, stride), run))
            inputs = outputs
    return _classified(nn.Sequential(*blocks), inputs, classes)


def mobilenet(
    width: int = 8, rows: tuple[tuple[int, int, int, bool], ...] = ((3, 2, 2, True), (5, 2, 1, True)), classes: int = 5
) -> Any:
    """Inverted residual blocks: kernel, expansion factor, stride, and whether there is a squeeze-and-excitation."""
    nn = paddle.nn
    blocks = [_conv(3, width, 3, 2, act="hswish")]

    def parts(width: int, inner: int, kernel: int, stride: int, weighed: bool) -> dict[str, Any]:
        return {
            "wide": _conv(width, inner, 1, act="hswish"),
            "depthwise": _conv(inner, inner, kernel, stride, inner, act="hswish"),
            "pool": nn.AdaptiveAvgPool2D(1, data_format="NHWC"),
            "down": nn.Conv2D(inner, inner // 4, 1, data_format="NHWC") if weighed else None,
            "up": nn.Conv2D(inner // 4, inner, 1, data_format="NHWC") if weighed else None,
            "narrow": _conv(inner, width, 1, act=None),
            "adds": stride == 1,
        }

    def run(self: Any, x: Any) -> Any:
        functional = paddle.nn.functional
        y = self.depthwise(self.wide(x))
        if self.down is not None:
            y = y * functional.hardsigmoid(self.up(functional.relu(self.down(self.pool(y)))))
        y = self.narrow(y)
        return x + y if self.adds else y

    for kernel, factor, stride, weighed in rows:
        inner = width * factor
        blocks.append(make_layer(partial(parts, width, inner, kernel, stride, weighed), run))
    return _classified(nn.Sequential(*blocks), width, classes)


def inception(width: int = 8, depth: int = 2, classes: int = 5) -> Any:
    """Inception modules: four parallel branches with different receptive fields, concatenated."""
    nn = paddle.nn

    def parts(inputs: int) -> dict[str, Any]:
        pool = nn.AvgPool2D(3, 1, 1, data_format="NHWC")
        return {
            "one": _conv(inputs, width, 1),
            "three": nn.Sequential(_conv(inputs, width, 1), _conv(width, width, 3)),
            "five": nn.Sequential(_conv(inputs, width, 1), _conv(width, width, 5)),
            "pooled": nn.Sequential(pool, _conv(inputs, width, 1)),
        }

    def run(self: Any, x: Any) -> Any:
        return paddle.concat([self.one(x), self.three(x), self.five(x), self.pooled(x)], axis=3)

    blocks = [*_stem(width), make_layer(partial(parts, width), run)]
    blocks += [make_layer(partial(parts, 4 * width), run) for _ in range(depth - 1)]
    return _classified(nn.Sequential(*blocks), 4 * width, classes)


def csp(width: int = 8, depths: tuple[int, ...] = (1, 2), classes: int = 5) -> Any:
    """Cross-stage partial blocks (YOLO's C2f): half of the channels go through blocks, all concatenated."""
    nn, blocks = paddle.nn, [_conv(3, width, 3, 2, act="silu")]

    def parts(width: int, depth: int) -> dict[str, Any]:
        half = width // 2
        inner = [nn.Sequential(_conv(half, half, act="silu"), _conv(half, half, act="silu")) for _ in range(depth)]
        return {
            "before": _conv(width, width, 1, act="silu"),
            "inner": nn.LayerList(inner),
            "after": _conv(half * (2 + depth), width, 1, act="silu"),
        }

    def run(self: Any, x: Any) -> Any:
        kept = paddle.split(self.before(x), 2, axis=3)
        for block in self.inner:
            kept.append(kept[-1] + block(kept[-1]))
        return self.after(paddle.concat(kept, axis=3))

    for depth in depths:
        blocks.append(_conv(width, 2 * width, 3, 2, act="silu"))
        width *= 2
        blocks.append(make_layer(partial(parts, width, depth), run))
    return _classified(nn.Sequential(*blocks), width, classes)


def _image(n: int, h: int, w: int, dims: list[int]) -> dict[str, Any]:
    return {"image": tensor([n, h, w, 3], dims=dims)}


NETWORKS = [
    Network(
        f"{build.__name__}_channels_last",
        build,
        _image(1, 32, 48, [-1, *size, 3]),
        more=[_image(2, 32, 48, [-1, *size, 3])],
    )
    for build, size in ((resnet, [32, 48]), (mobilenet, [-1, -1]), (inception, [-1, -1]), (csp, [32, 48]))
]
