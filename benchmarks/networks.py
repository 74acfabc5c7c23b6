"""The networks that are converted and timed.

They are those of `paddle.vision.models`, those of attention_networks.py, and, as the Paddle collections write them, a
light classifier, a text recogniser and two detectors; and those of gen_models/networks/layouts.py in a size of use.

Run as a script it exports one: `python -m benchmarks.networks pp_lcnet PREFIX`, with Paddle 2.6 as a legacy model, with
Paddle 3 as a PIR one.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import paddle
from paddle import nn
from paddle.nn import functional

from benchmarks.attention_networks import NETWORKS as ATTENTION, Block
from benchmarks.detection_heads import HEADS
from benchmarks.further_networks import NETWORKS as FURTHER
from gen_models.harness.building import multiclass_nms3
from gen_models.networks import layouts


def conv_norm(
    inputs: int, outputs: int, kernel: int = 3, stride: Any = 1, groups: int = 1, act: Any = nn.Hardswish
) -> Any:
    """Convolution, batch norm, activation."""
    conv = nn.Conv2D(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias_attr=False)
    return nn.Sequential(conv, nn.BatchNorm2D(outputs), act()) if act else nn.Sequential(conv, nn.BatchNorm2D(outputs))


class Squeeze(nn.Layer):
    """Squeeze and excitation."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.pool, self.down, self.up = (
            nn.AdaptiveAvgPool2D(1),
            nn.Conv2D(width, width // 4, 1),
            nn.Conv2D(width // 4, width, 1),
        )

    def forward(self, x: Any) -> Any:
        return x * functional.hardsigmoid(self.up(functional.relu(self.down(self.pool(x)))))


class Separable(nn.Layer):
    """Depthwise, then pointwise."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: Any, squeeze: bool) -> None:
        super().__init__()
        self.depthwise = conv_norm(inputs, inputs, kernel, stride, inputs)
        self.squeeze = Squeeze(inputs) if squeeze else None
        self.pointwise = conv_norm(inputs, outputs, 1)

    def forward(self, x: Any) -> Any:
        x = self.depthwise(x)
        return self.pointwise(x if self.squeeze is None else self.squeeze(x))


# PP-LCNet's stages: kernel, outputs, stride, squeeze
LCNET: tuple[tuple[tuple[int, int, int, bool], ...], ...] = (
    ((3, 32, 1, False),),
    ((3, 64, 2, False), (3, 64, 1, False)),
    ((3, 128, 2, False), (3, 128, 1, False)),
    ((3, 256, 2, False), *((5, 256, 1, False),) * 5),
    ((5, 512, 2, True), (5, 512, 1, True)),
)


class LCNet(nn.Layer):
    """PP-LCNet's body; `flat` keeps the width of text lines: strides are halved in height only."""

    def __init__(self, scale: float = 1.0, flat: bool = False) -> None:
        super().__init__()
        width = int(16 * scale)
        self.stem, self.stages = conv_norm(3, width, 3, 2), nn.LayerList()
        for i, stage in enumerate(LCNET):
            blocks = []
            for kernel, outputs, stride, squeeze in stage:
                step: Any = (
                    ((2, 1) if i in (2, 3) else (1, 2) if i == 1 else (2, 1)) if flat and stride == 2 else stride
                )
                blocks.append(Separable(width, int(outputs * scale), kernel, step, squeeze))
                width = int(outputs * scale)
            self.stages.append(nn.Sequential(*blocks))
        self.width = width

    def forward(self, x: Any) -> Any:
        x, features = self.stem(x), []
        for stage in self.stages:
            x = stage(x)
            features.append(x)
        return features


class PPLCNet(nn.Layer):
    """PP-LCNet x1.0."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.pool = LCNet(), nn.AdaptiveAvgPool2D(1)
        self.last, self.head = nn.Conv2D(512, 1280, 1, bias_attr=False), nn.Linear(1280, 1000)

    def forward(self, x: Any) -> Any:
        x = functional.hardswish(self.last(self.pool(self.body(x)[-1])))
        return functional.softmax(self.head(functional.dropout(x, 0.2, training=self.training).flatten(1)))


class Recogniser(nn.Layer):
    """PP-OCRv3's recogniser: a light body, two blocks of attention on the text line, CTC classes."""

    def __init__(self, width: int = 120, classes: int = 6625) -> None:
        super().__init__()
        self.body = LCNet(0.5, flat=True)
        channels = self.body.width
        self.pool = nn.AvgPool2D(2, 2)
        self.first, self.second = (
            conv_norm(channels, channels // 8, act=nn.Swish),
            conv_norm(channels // 8, width, 1, act=nn.Swish),
        )
        self.mixers = nn.LayerList([Line(width, 8, 2) for _ in range(2)])
        self.norm = nn.LayerNorm(width, epsilon=1e-6)
        self.third = conv_norm(width, channels, 1, act=nn.Swish)
        self.fourth = conv_norm(2 * channels, channels // 8, act=nn.Swish)
        self.fifth, self.head = conv_norm(channels // 8, 64, 1, act=nn.Swish), nn.Linear(64, classes)

    def forward(self, x: Any) -> Any:
        short = self.pool(self.body(x)[-1])
        x = self.second(self.first(short))
        shape = paddle.shape(x)
        x = x.flatten(2).transpose([0, 2, 1])
        for mixer in self.mixers:
            x = mixer(x)
        x = self.norm(x).reshape([0, shape[2], shape[3], 120]).transpose([0, 3, 1, 2])
        x = self.fifth(self.fourth(paddle.concat([short, self.third(x)], axis=1)))
        return functional.softmax(self.head(x.squeeze(2).transpose([0, 2, 1])), axis=2)


class Line(Block):
    """A block of global mixing on a line of any length."""

    def mix(self, x: Any) -> Any:
        width = x.shape[-1]
        split = self.qkv(x).reshape([0, -1, 3, self.heads, width // self.heads]).transpose([2, 0, 3, 1, 4])
        q, k, v = split[0] * (width // self.heads) ** -0.5, split[1], split[2]
        context = functional.softmax(q.matmul(k.transpose([0, 1, 3, 2])), axis=-1).matmul(v)
        return self.proj(context.transpose([0, 2, 1, 3]).reshape([0, -1, width]))


class Pico(nn.Layer):
    """PicoDet: a pyramid in both directions on a light body, distributions of distances, decoded and suppressed."""

    def __init__(self, classes: int = 80, width: int = 96, size: int = 320) -> None:
        super().__init__()
        self.classes, self.width, self.size = classes, width, size
        self.body = LCNet()
        self.lateral = nn.LayerList([conv_norm(c, width, 1) for c in (128, 256, 512)])
        self.down = nn.LayerList([Separable(2 * width, width, 5, 1, False) for _ in range(2)])
        self.steps = nn.LayerList([Separable(width, width, 5, 2, False) for _ in range(3)])
        self.up = nn.LayerList([Separable(2 * width, width, 5, 1, False) for _ in range(2)])
        self.towers = nn.LayerList(
            [nn.Sequential(*[Separable(width, width, 5, 1, False) for _ in range(2)]) for _ in range(4)]
        )
        bias = nn.initializer.Constant(-4.0)  # few boxes pass the threshold
        self.scores = nn.LayerList(
            [nn.Conv2D(width, classes, 1, bias_attr=paddle.ParamAttr(initializer=bias)) for _ in range(4)]
        )
        self.boxes = nn.LayerList([nn.Conv2D(width, 32, 1) for _ in range(4)])
        for i, stride in enumerate((8, 16, 32, 64)):
            side = -(-size // stride)
            steps = (paddle.arange(side, dtype="float32") + 0.5) * stride
            grid = paddle.stack([paddle.meshgrid(steps, steps)[1], paddle.meshgrid(steps, steps)[0]], -1)
            self.register_buffer(f"centers_{i}", grid.reshape([-1, 2]))
        self.register_buffer("distances", paddle.arange(8, dtype="float32").reshape([8, 1]))

    def forward(self, image: Any, scale_factor: Any) -> Any:
        inner = [self.lateral[i](item) for i, item in enumerate(self.body(image)[2:])]
        for i in (1, 0):
            above = functional.interpolate(inner[i + 1], scale_factor=2, mode="nearest")
            inner[i] = self.down[i](paddle.concat([above, inner[i]], axis=1))
        levels = [inner[0]]
        for i in (0, 1):
            levels.append(self.up[i](paddle.concat([self.steps[i](levels[i]), inner[i + 1]], axis=1)))
        levels.append(self.steps[2](levels[2]))
        boxes, scores = [], []
        for i, level in enumerate(levels):
            x = self.towers[i](level)
            scores.append(functional.sigmoid(self.scores[i](x)).reshape([0, self.classes, -1]))
            side = functional.softmax(self.boxes[i](x).transpose([0, 2, 3, 1]).reshape([-1, 8])).matmul(self.distances)
            side = side.reshape([-1, getattr(self, f"centers_{i}").shape[0], 4]) * float(8 * 2**i)
            center = getattr(self, f"centers_{i}")
            boxes.append(paddle.concat([center - side[:, :, :2], center + side[:, :, 2:]], axis=-1))
        scale = paddle.concat([scale_factor[:, 1:], scale_factor[:, :1]] * 2, axis=-1).unsqueeze(1)
        return multiclass_nms3(
            paddle.concat(boxes, axis=1) / scale,
            paddle.concat(scores, axis=2),
            score_threshold=0.025,
            nms_top_k=1000,
            keep_top_k=100,
            nms_threshold=0.6,
            normalized=False,
            background_label=-1,
        )


class MaskRCNN(nn.Layer):
    """Mask R-CNN on ResNet-50 with a pyramid; its mask head runs only if a box is left, as in PaddleDetection."""

    def __init__(self, classes: int = 80, width: int = 256) -> None:
        super().__init__()
        self.classes = classes
        self.body = paddle.vision.models.resnet50(num_classes=0, with_pool=False)
        self.lateral = nn.LayerList([nn.Conv2D(c, width, 1) for c in (256, 512, 1024, 2048)])
        self.smooth = nn.LayerList([nn.Conv2D(width, width, 3, padding=1) for _ in range(4)])
        self.rpn, self.objects, self.deltas = (
            nn.Conv2D(width, width, 3, padding=1),
            nn.Conv2D(width, 3, 1),
            nn.Conv2D(width, 12, 1),
        )
        self.fc6, self.fc7 = nn.Linear(width * 49, 1024), nn.Linear(1024, 1024)
        self.classify, self.regress = nn.Linear(1024, classes + 1), nn.Linear(1024, 4 * classes)
        self.mask_convs = nn.LayerList([nn.Conv2D(width, width, 3, padding=1) for _ in range(4)])
        self.mask_up, self.mask_last = nn.Conv2DTranspose(width, width, 2, 2), nn.Conv2D(width, classes, 1)

    def pyramid(self, x: Any) -> list[Any]:
        body = self.body
        x = body.maxpool(body.relu(body.bn1(body.conv1(x))))
        features = []
        for layer in (body.layer1, body.layer2, body.layer3, body.layer4):
            x = layer(x)
            features.append(x)
        levels = [self.lateral[i](item) for i, item in enumerate(features)]
        for i in (2, 1, 0):
            levels[i] = levels[i] + functional.interpolate(levels[i + 1], scale_factor=2, mode="nearest")
        levels = [self.smooth[i](level) for i, level in enumerate(levels)]
        return [*levels, functional.max_pool2d(levels[-1], 1, 2)]

    def anchors(self, feature: Any, stride: int) -> Any:
        shape = paddle.shape(feature)
        ys = paddle.arange(0, shape[2] * stride, stride, dtype="float32")
        xs = paddle.arange(0, shape[3] * stride, stride, dtype="float32")
        ys, xs = paddle.meshgrid(ys, xs)
        corners = paddle.stack([xs.flatten(), ys.flatten(), xs.flatten(), ys.flatten()], axis=-1).reshape([-1, 1, 4])
        sides = [8.0 * stride * factor**0.5 for factor in (0.5, 1.0, 2.0)]
        cells = [[-w / 2, -h / 2, w / 2, h / 2] for w, h in ((sides[2 - i], sides[i]) for i in range(3))]
        return (corners + paddle.to_tensor(cells).reshape([1, 3, 4])).reshape([shape[2], shape[3], 3, 4])

    def pooled(self, levels: list[Any], boxes: Any, count: Any, size: int) -> Any:
        shared, restore, counts = paddle.vision.ops.distribute_fpn_proposals(boxes, 2, 5, 4, 224, rois_num=count)
        parts = [
            paddle.vision.ops.roi_align(levels[i], shared[i], counts[i], size, 1 / 4 / 2**i, 2, True) for i in range(4)
        ]
        return paddle.gather(paddle.concat(parts, axis=0), restore.flatten())

    def forward(self, image: Any, im_shape: Any, scale_factor: Any) -> Any:
        levels = self.pyramid(image)
        rois, probabilities = [], []
        for i, level in enumerate(levels):
            x = functional.relu(self.rpn(level))
            anchors = self.anchors(x, 4 * 2**i)
            selected = paddle.vision.ops.generate_proposals(
                functional.sigmoid(self.objects(x)), self.deltas(x), im_shape, anchors, paddle.ones_like(anchors),
                1000, 1000, 0.7, 0.0, pixel_offset=False, return_rois_num=True,
            )  # fmt: skip
            rois.append(selected[0])
            probabilities.append(selected[1])
        probability = paddle.concat(probabilities, axis=0).flatten()
        most = paddle.minimum(paddle.shape(probability)[0].astype("int32"), paddle.full([], 1000, "int32"))
        _, best = paddle.topk(probability, most)
        boxes = paddle.gather(paddle.concat(rois, axis=0), best)
        count = paddle.shape(boxes)[:1].astype("int32")
        x = self.pooled(levels, boxes, count, 7).flatten(1)
        x = functional.relu(self.fc7(functional.relu(self.fc6(x))))
        scores = functional.softmax(self.classify(x))[:, :-1]
        deltas = self.regress(x).reshape([-1, self.classes, 4]) * 0.1
        size, center = boxes[:, 2:] - boxes[:, :2], (boxes[:, 2:] + boxes[:, :2]) / 2
        middle = deltas[:, :, :2] * size.unsqueeze(1) + center.unsqueeze(1)
        half = paddle.exp(deltas[:, :, 2:]) * size.unsqueeze(1) / 2
        decoded = paddle.concat([middle - half, middle + half], axis=-1)
        height, width = im_shape[0, 0], im_shape[0, 1]
        limits = paddle.stack([width, height, width, height])
        decoded = paddle.minimum(paddle.maximum(decoded, paddle.zeros([4])), limits)
        selected, number = multiclass_nms3(
            decoded[:, 0].unsqueeze(0),
            scores.transpose([1, 0]).unsqueeze(0),
            score_threshold=0.02,
            nms_top_k=-1,
            keep_top_k=100,
            nms_threshold=0.5,
            normalized=False,
            background_label=self.classes,
        )

        def mask() -> Any:
            x = self.pooled(levels, selected[:, 2:], number, 14)
            for conv in self.mask_convs:
                x = functional.relu(conv(x))
            x = functional.sigmoid(self.mask_last(functional.relu(self.mask_up(x))))
            return x.mean(1)

        masks = paddle.static.nn.cond(paddle.sum(number) > 0, mask, lambda: paddle.zeros([0, 28, 28]))
        scale = paddle.concat([scale_factor[:, 1:], scale_factor[:, :1]] * 2, axis=-1)
        return paddle.concat([selected[:, :2], selected[:, 2:] / scale], axis=-1), number, masks


class Dilated(nn.Layer):
    """A temporal convolutional network: blocks of two dilated convolutions with batch norm and a residual sum."""

    def __init__(self, width: int = 64, blocks: int = 6) -> None:
        super().__init__()
        self.blocks = nn.LayerList(nn.Sequential(*self.half(width, 1), *self.half(width, 2**i)) for i in range(blocks))

    @staticmethod
    def half(width: int, dilation: int) -> list[Any]:
        conv = nn.Conv1D(width, width, 3, padding=dilation, dilation=dilation, bias_attr=False)
        return [conv, nn.BatchNorm1D(width), nn.ReLU()]

    def forward(self, x: Any) -> Any:
        for block in self.blocks:
            x = x + block(x)
        return x


class Tagger(nn.Layer):
    """A tagger of words: two GRUs of both directions over sentences of given lengths, and a CRF."""

    def __init__(self, width: int = 128, labels: int = 49) -> None:
        super().__init__()
        self.words = nn.Embedding(20000, width)
        self.states = nn.GRU(width, width, 2, direction="bidirect")
        self.scores = nn.Linear(2 * width, labels)
        self.transitions = self.create_parameter([labels, labels])

    def forward(self, ids: Any, lengths: Any) -> Any:
        states, _ = self.states(self.words(ids), sequence_length=lengths)
        return paddle.text.viterbi_decode(self.scores(states), self.transitions, lengths, False)


class Sequences(nn.Layer):
    """An LSTM over sequences of given lengths."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.states = nn.LSTM(width, width)

    def forward(self, x: Any, lengths: Any) -> Any:
        out, (hidden, cell) = self.states(x, sequence_length=lengths)
        return out, hidden, cell


IMAGE, LAST = ("x", [3, 224, 224], "float32"), ("x", [224, 224, 3], "float32")
# Kernel, factor, stride, squeeze
MOBILE = (
    *((3, 3, 1, True), (3, 3, 2, True), (5, 3, 1, True), (5, 4, 1, True)),
    *((5, 4, 2, True), (5, 6, 1, True), (5, 6, 1, True)),
)
CHANNELS_LAST = {
    "resnet_last": (partial(layouts.resnet, 64, (2, 2, 2, 2), 1000), [LAST]),
    "mobilenet_last": (partial(layouts.mobilenet, 24, MOBILE, 1000), [LAST]),
    "inception_last": (partial(layouts.inception, 48, 4, 1000), [LAST]),
    "csp_last": (partial(layouts.csp, 32, (1, 2, 2), 1000), [LAST]),
}
_IM_SHAPE, _SCALE = ("im_shape", [2], "float32"), ("scale_factor", [2], "float32")
NETWORKS: dict[str, tuple[Any, list[tuple[str, list[int], str]]]] = {
    "pp_lcnet": (PPLCNet, [IMAGE]),
    "ocr_rec": (Recogniser, [("x", [3, 48, -1], "float32")]),
    "tcn": (Dilated, [("x", [64, -1], "float32")]),
    "tagger": (Tagger, [("ids", [-1], "int64"), ("lengths", [], "int64")]),
    "lstm_lengths": (Sequences, [("x", [-1, 64], "float32"), ("lengths", [], "int64")]),
    "picodet": (Pico, [("image", [3, 320, 320], "float32"), _SCALE]),
    "mask_rcnn": (MaskRCNN, [("image", [3, -1, -1], "float32"), _IM_SHAPE, _SCALE]),
    **{name: (build, [port]) for name, (build, port) in ATTENTION.items()},
    **CHANNELS_LAST,
    **FURTHER,
    **{f"{name}_head": (head.build, head.ports) for name, head in HEADS.items()},
}
"""Name -> (layer, its inputs: name, shape without the batch, type)."""


def export(name: str, prefix: str) -> None:
    """Writes a network as an inference model with a dynamic batch."""
    paddle.seed(0)
    build, ports = NETWORKS.get(name) or (getattr(paddle.vision.models, name), [IMAGE])
    layer = build()
    layer.eval()
    spec = []
    for port, shape, dtype in ports:
        batch = 1 if name == "mask_rcnn" else -1
        spec.append(paddle.static.InputSpec([batch, *shape], dtype, port))
    paddle.jit.save(layer, prefix, input_spec=spec)


if __name__ == "__main__":
    export(*sys.argv[1:])
