"""Whole networks that find objects and text, as PaddleDetection and PaddleOCR export them, in small."""

from gen_models.harness.building import conv_norm, layer_of, multiclass_nms3
from gen_models.harness.network import Network
from gen_models.harness.spec import paddle, tensor

# --- YOLOv3: three heads, boxes in pixels of the original image -------------------------------------------------------

_CLASSES = 4
_ANCHORS = [[10, 13, 16, 30], [30, 61, 62, 45], [59, 119, 116, 90]]


def _yolo_parts():
    nn = paddle.nn
    channels = 2 * (5 + _CLASSES)
    return {
        "stem": nn.Sequential(conv_norm(3, 8, 2), conv_norm(8, 16, 2)),
        "down": nn.LayerList([conv_norm(16, 16, 2), conv_norm(16, 24, 2), conv_norm(24, 32, 2)]),
        "lateral": nn.LayerList([conv_norm(32, 24), conv_norm(48, 16)]),
        "head": nn.LayerList([nn.Conv2D(c, channels, 1) for c in (32, 48, 32)]),
    }


def _yolo(self, image, im_shape, scale_factor):
    x, features = self.stem(image), []
    for down in self.down:
        x = down(x)
        features.append(x)
    route, levels = features[2], [features[2]]
    for i, lateral in enumerate(self.lateral):
        up = paddle.nn.functional.interpolate(lateral(route), scale_factor=2.0)
        route = paddle.concat([up, features[1 - i]], axis=1)
        levels.append(route)
    original = paddle.cast(paddle.round(im_shape / scale_factor), "int32")
    boxes, scores = [], []
    for i in range(3):
        head = self.head[i](levels[i])
        box, score = paddle.vision.ops.yolo_box(head, original, _ANCHORS[2 - i], _CLASSES, 0.3, 32 // 2**i)
        boxes.append(box)
        scores.append(paddle.transpose(score, [0, 2, 1]))
    return multiclass_nms3(
        paddle.concat(boxes, axis=1),
        paddle.concat(scores, axis=2),
        score_threshold=0.1,
        nms_top_k=50,
        keep_top_k=200,
        nms_threshold=0.45,
        normalized=False,
    )


# --- SSD: prior boxes, decoded and suppressed -------------------------------------------------------------------------


def _ssd_parts():
    nn = paddle.nn
    return {
        "stem": nn.Sequential(conv_norm(3, 8, 2), conv_norm(8, 16, 2), conv_norm(16, 16, 2)),
        "down": conv_norm(16, 24, 2),
        "boxes": nn.LayerList([nn.Conv2D(c, 4 * 4, 3, padding=1) for c in (16, 24)]),
        "scores": nn.LayerList([nn.Conv2D(c, 4 * 3, 3, padding=1) for c in (16, 24)]),
    }


def _ssd(self, image):
    first = self.stem(image)
    priors, variances, codes, scores = [], [], [], []
    for i, feature in enumerate((first, self.down(first))):
        prior, variance = paddle.vision.ops.prior_box(
            feature, image, [12.0 * (i + 1)], [24.0 * (i + 1)], [2.0], flip=True, clip=True
        )
        priors.append(paddle.reshape(prior, [-1, 4]))
        variances.append(paddle.reshape(variance, [-1, 4]))
        codes.append(paddle.reshape(paddle.transpose(self.boxes[i](feature), [0, 2, 3, 1]), [0, -1, 4]))
        scores.append(paddle.reshape(paddle.transpose(self.scores[i](feature), [0, 2, 3, 1]), [0, -1, 3]))
    boxes = paddle.vision.ops.box_coder(
        paddle.concat(priors), paddle.concat(variances), paddle.concat(codes, axis=1), "decode_center_size"
    )
    probability = paddle.transpose(paddle.nn.functional.softmax(paddle.concat(scores, axis=1)), [0, 2, 1])
    return multiclass_nms3(
        boxes, probability, score_threshold=0.4, nms_top_k=30, keep_top_k=20, nms_threshold=0.45, background_label=0
    )


# --- A rotated detector: centres, sides and angles become polygons, which are suppressed ------------------------------


def _rotated_parts():
    nn = paddle.nn
    return {
        "stem": nn.Sequential(conv_norm(3, 8, 2), conv_norm(8, 16, 2), conv_norm(16, 16, 2)),
        "place": nn.Conv2D(16, 4, 3, padding=1),
        "angle": nn.Conv2D(16, 5, 3, padding=1),
        "score": nn.Conv2D(16, 3, 3, padding=1),
    }


def _rotated(self, image, scale_factor):
    functional = paddle.nn.functional
    feature = self.stem(image)
    height, width = paddle.shape(feature)[2], paddle.shape(feature)[3]
    y, x = paddle.meshgrid(paddle.arange(height, dtype="float32"), paddle.arange(width, dtype="float32"))
    cell = paddle.reshape(paddle.stack([x, y], -1) + 0.5, [1, -1, 2])
    place = paddle.transpose(paddle.flatten(self.place(feature), 2), [0, 2, 1])
    center = (cell + place[:, :, :2]) * 8
    half = (functional.elu(place[:, :, 2:]) + 1.01) * 6
    shares = functional.softmax(paddle.transpose(paddle.flatten(self.angle(feature), 2), [0, 2, 1]))
    angle = paddle.matmul(shares, paddle.to_tensor([0.0, 0.4, 0.8, 1.2, 1.6]))
    cos, sin = paddle.cos(angle), paddle.sin(angle)
    corners = []
    for right, down in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        across, along = half[:, :, 0] * right, half[:, :, 1] * down
        corners += [center[:, :, 0] + across * cos - along * sin, center[:, :, 1] + across * sin + along * cos]
    scale = paddle.tile(paddle.flip(scale_factor, [1]), [1, 4])
    return multiclass_nms3(
        paddle.stack(corners, -1) / paddle.unsqueeze(scale, 1),
        functional.sigmoid(paddle.flatten(self.score(feature), 2)),
        score_threshold=0.5,
        nms_top_k=50,
        keep_top_k=-1,
        nms_threshold=0.1,
        normalized=False,
    )


# --- A rectifier of text lines: a thin-plate spline whose matrix is inverted in float64 -------------------------------


def _rectifier_parts():
    nn = paddle.nn
    find = nn.Sequential(conv_norm(3, 8, 2), nn.AdaptiveAvgPool2D(2), nn.Flatten(), nn.Linear(32, 40))
    return {"find": find}


def _spline(to, points):
    """1, x, y and r^2 log r for each pair of places: [m, 2], [20, 2] -> [m, 23]."""
    square = paddle.sum((to.unsqueeze(1) - points.unsqueeze(0)) ** 2, -1)
    bent = square * paddle.log(square + 1e-9)
    return paddle.concat([paddle.ones_like(to[:, :1]), to, bent], 1)


def _rectifier(self, image):
    along = paddle.linspace(-1, 1, 10, "float64")
    across = paddle.ones([10], "float64")
    points = paddle.concat([paddle.stack([along, -across], 1), paddle.stack([along, across], 1)])
    known = _spline(points, points)
    border = paddle.concat([paddle.zeros([3, 3], "float64"), known[:, :3].t()], 1)
    inverse = paddle.inverse(paddle.concat([known, border])).astype("float32")
    y, x = paddle.meshgrid(paddle.linspace(-1, 1, 8), paddle.linspace(-1, 1, 32))
    base = _spline(paddle.stack([paddle.flatten(x), paddle.flatten(y)], 1), points.astype("float32"))
    moved = points.astype("float32") + 0.1 * paddle.tanh(paddle.reshape(self.find(image), [-1, 20, 2]))
    moved = paddle.concat([moved, paddle.zeros_like(moved[:, :3])], 1)
    grid = paddle.matmul(base, paddle.matmul(inverse, moved))
    return paddle.reshape(grid, [-1, 8, 32, 2])


# --- DB: a pyramid, merged, and transposed convolutions up to a map of probabilities ----------------------------------


def _db_parts():
    nn = paddle.nn
    return {
        "stem": conv_norm(3, 8, 2, nn.ReLU()),
        "down": nn.LayerList([conv_norm(8, 16, 2, nn.Hardswish()), conv_norm(16, 24, 2, nn.Hardswish())]),
        "lateral": nn.LayerList([nn.Conv2D(c, 16, 1, bias_attr=False) for c in (16, 24)]),
        "smooth": nn.LayerList([nn.Conv2D(16, 8, 3, padding=1, bias_attr=False) for _ in range(2)]),
        "conv": conv_norm(16, 8, 1, nn.ReLU()),
        "up": nn.Conv2DTranspose(8, 8, 2, 2),
        "norm": nn.BatchNorm2D(8),
        "last": nn.Conv2DTranspose(8, 1, 2, 2),
    }


def _db(self, image):
    functional = paddle.nn.functional
    fine = self.down[0](self.stem(image))
    coarse = self.lateral[1](self.down[1](fine))
    fine = self.lateral[0](fine) + functional.interpolate(coarse, scale_factor=2, mode="nearest", align_mode=1)
    coarse = functional.interpolate(self.smooth[1](coarse), scale_factor=2, mode="nearest", align_mode=1)
    merged = paddle.concat([coarse, self.smooth[0](fine)], axis=1)
    x = functional.relu(self.norm(self.up(self.conv(merged))))
    return functional.sigmoid(self.last(x))


def _image(n, h, w):
    return {"image": tensor([n, 3, h, w], dims=[-1, 3, -1, -1])}


def _scaled(n, h, w):
    factors = [[0.5, 0.8 + 0.1 * i] for i in range(n)]
    return {**_image(n, h, w), "scale_factor": tensor([n, 2], values=factors, dims=[-1, 2])}


def _yolo_inputs(n, size=64):
    image, factors = _scaled(n, size, size).items()
    return dict([image, ("im_shape", tensor([n, 2], values=[[size, size]] * n, dims=[-1, 2])), factors])


NETWORKS = [
    Network("yolov3", layer_of(_yolo, _yolo_parts), _yolo_inputs(2), more=[_yolo_inputs(1), _yolo_inputs(3, 96)]),
    Network(
        "ssd",
        layer_of(_ssd, _ssd_parts),
        {"image": tensor([2, 3, 64, 64], dims=[-1, 3, 64, 64])},
        more=[{"image": tensor([1, 3, 64, 64])}],
    ),
    Network("rotated_detector", layer_of(_rotated, _rotated_parts), _scaled(1, 64, 64), more=[_scaled(2, 48, 80)]),
    Network("rectifier", layer_of(_rectifier, _rectifier_parts), _image(1, 16, 64), more=[_image(2, 16, 32)]),
    Network("db", layer_of(_db, _db_parts), _image(1, 64, 96), more=[_image(2, 32, 64)]),
]
