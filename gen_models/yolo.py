"""YOLO's decoding of a head into boxes and scores."""

from gen_models.harness.spec import Op, case, paddle, tensor


def _yolo_box(x, img_size, *, conf_thresh=0.4, downsample_ratio=32, **more):
    return paddle.vision.ops.yolo_box(x, img_size, conf_thresh=conf_thresh, downsample_ratio=downsample_ratio, **more)


_SMALL, _LARGE = [10, 13, 16, 30, 33, 23], [116, 90, 156, 198]


def _head(anchors, classes, h, w, *sizes, dims=False, dtype="float32", **more):
    """A case of a head of that many classes, for images of these sizes."""
    channels = len(anchors) // 2 * (5 + classes + ("iou_aware" in more))
    return case(
        x=tensor([len(sizes), channels, h, w], dtype, -2.0, 2.0, dims=[-1, channels, -1, -1] if dims else None),
        img_size=tensor([len(sizes), 2], "int32", values=sizes, dims=[-1, 2] if dims else None),
        anchors=anchors,
        class_num=classes,
        atol=5e-4,
        why="coordinates of several hundred pixels, differences of larger numbers",
        **more,
    )


_TWO = ((90, 160), (70, 50))
YOLO_BOX = [
    _head(_SMALL, 4, 3, 3, (96, 96)),
    _head(_SMALL, 4, 3, 5, *_TWO),
    _head(_SMALL, 4, 3, 5, *_TWO, dims=True),
    _head(_LARGE, 2, 4, 4, (608, 608), clip_bbox=False, scale_x_y=1.05, conf_thresh=0.01),
    _head(_SMALL, 3, 2, 4, *_TWO, iou_aware=True, iou_aware_factor=0.4),
    _head(_SMALL, 3, 2, 4, *_TWO, dims=True, iou_aware=True, downsample_ratio=16, scale_x_y=1.2),
    _head(_SMALL, 1, 3, 3, (96, 96), conf_thresh=2.0),
    _head(_SMALL, 1, 3, 3, (96, 96), conf_thresh=0.0),
    _head(_SMALL, 4, 3, 3, (96, 96), dtype="float64"),
]

OPS = [Op("yolo_box", _yolo_box, *YOLO_BOX)]
