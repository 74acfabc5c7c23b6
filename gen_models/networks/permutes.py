"""The heads of the detectors in OpenCV's table of permutes (its issue 16306), for one image or several.

A head predicts channel by channel and is read box by box, hence a transpose of each. On a map of one cell, and on
regions pooled to one, it moves nothing.
"""

from gen_models.harness.building import layer_of
from gen_models.harness.network import Network
from gen_models.harness.spec import paddle, tensor


def _rows(x, width):
    """[N, A · width, H, W] as [N, H · W · A, width]."""
    return paddle.reshape(paddle.transpose(x, [0, 2, 3, 1]), [x.shape[0], -1, width])


def _conv(inputs, outputs, stride=1):
    nn = paddle.nn
    return nn.Sequential(nn.Conv2D(inputs, outputs, 3, stride, 1), nn.ReLU())


# --- SSD: six maps, the last of one cell; codes and scores of each ---


def _ssd_parts():
    nn = paddle.nn
    return {
        "down": nn.LayerList([_conv(3 if i == 0 else 8, 8, 2) for i in range(6)]),
        "codes": nn.LayerList([nn.Conv2D(8, 3 * 4, 1) for _ in range(6)]),
        "scores": nn.LayerList([nn.Conv2D(8, 3 * 5, 1) for _ in range(6)]),
    }


def _ssd(self, image):
    codes, scores = [], []
    for i, down in enumerate(self.down):
        image = down(image)
        codes.append(_rows(self.codes[i](image), 4))
        scores.append(_rows(self.scores[i](image), 5))
    return paddle.concat(codes, axis=1), paddle.nn.functional.softmax(paddle.concat(scores, axis=1))


# --- YOLO: three maps ---


def _yolo_parts():
    nn = paddle.nn
    return {
        "stem": _conv(3, 8, 2),
        "down": nn.LayerList([_conv(8, 8, 2) for _ in range(3)]),
        "heads": nn.LayerList([nn.Conv2D(8, 3 * 9, 1) for _ in range(3)]),
    }


def _yolo(self, image):
    x, rows = self.stem(image), []
    for i, down in enumerate(self.down):
        x = down(x)
        rows.append(_rows(self.heads[i](x), 9))
    return paddle.nn.functional.sigmoid(paddle.concat(rows, axis=1))


# --- R-CNN: scores and codes of the anchors; regions pooled to one cell ---


def _rcnn_parts(masks):
    nn = paddle.nn
    parts = {
        "stem": nn.Sequential(_conv(3, 8, 2), _conv(8, 8, 2)),
        "objects": nn.Conv2D(8, 3, 1),
        "codes": nn.Conv2D(8, 3 * 4, 1),
        "pooled": _conv(8, 16),
        "label": nn.Linear(16, 5),
        "box": nn.Linear(16, 5 * 4),
        "masks": masks,
    }
    if masks:
        parts["mask"] = nn.Sequential(nn.Conv2DTranspose(16, 8, 2, 2), nn.ReLU(), nn.Conv2D(8, 5, 1))
    return parts


def _rcnn(self, image, regions, counts):
    functional = paddle.nn.functional
    x = self.stem(image)
    objects = functional.sigmoid(_rows(self.objects(x), 1))
    codes = _rows(self.codes(x), 4)
    region = self.pooled(paddle.vision.ops.roi_align(x, regions, counts, 4, 0.25))
    row = paddle.reshape(paddle.transpose(functional.adaptive_avg_pool2d(region, 1), [0, 2, 3, 1]), [-1, 16])
    results = [objects, codes, functional.softmax(self.label(row)), self.box(row)]
    if self.masks:
        results.append(functional.sigmoid(self.mask(region)))
    return results


def _image(n, h, w):
    return {"image": tensor([n, 3, h, w])}


def _regions():
    boxes = [[0, 0, 16, 16], [8, 4, 40, 28], [20, 10, 44, 30]]
    return {
        "regions": tensor([3, 4], values=boxes, dims=[-1, 4]),
        "counts": tensor([1], "int32", values=[3]),
    }


NETWORKS = [
    Network("permutes_ssd", layer_of(_ssd, _ssd_parts), _image(1, 48, 64)),
    Network("permutes_yolo", layer_of(_yolo, _yolo_parts), _image(1, 32, 48)),
    Network("permutes_rcnn", layer_of(_rcnn, lambda: _rcnn_parts(False)), {**_image(1, 32, 48), **_regions()}),
    Network("permutes_mask_rcnn", layer_of(_rcnn, lambda: _rcnn_parts(True)), {**_image(1, 32, 48), **_regions()}),
]
PERMUTES = {
    "permutes_ssd": ("MobileNet SSD", 12, 10, 2),
    "permutes_yolo": ("YOLOv3", 3, 3, 0),
    "permutes_rcnn": ("Inception v2 Faster RCNN", 3, 2, 1),
    "permutes_mask_rcnn": ("Inception v2 Mask RCNN", 3, 2, 1),
}
"""OpenCV's table: network -> (its name there, all permutes, those that are 2-D transposes, those that are reshapes)."""
