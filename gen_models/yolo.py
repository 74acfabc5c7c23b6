"""YOLO's decoding of a head into boxes and scores."""

from __future__ import annotations

from typing import Any

from gen_models.harness.spec import Op, TensorSpec, case, paddle, tensor


def _yolo_box(
    x: Any,
    img_size: Any,
    *,
    anchors: Any,
    class_num: int,
    conf_thresh: float = 0.4,
    downsample_ratio: int = 32,
    **more: Any,
) -> Any:
    return paddle.vision.ops.yolo_box(x, img_size, anchors, class_num, conf_thresh, downsample_ratio, **more)


_SMALL, _LARGE = [10, 13, 16, 30, 33, 23], [116, 90, 156, 198]


def _head(
    n: int, anchors: list[int], classes: int, h: int, w: int, dims: Any = None, aware: bool = False, **more: Any
) -> TensorSpec:
    channels = len(anchors) // 2 * (5 + classes + aware)
    declared = None if dims is None else [channels if d == "c" else d for d in dims]
    return tensor([n, channels, h, w], low=-2.0, high=2.0, dims=declared, **more)


def _sizes(*sizes: tuple[int, int], dims: Any = None) -> TensorSpec:
    return tensor([len(sizes), 2], "int32", values=sizes, dims=dims)


def _pixels(**more: Any) -> dict[str, Any]:
    return {"atol": 5e-4, "why": "coordinates of several hundred pixels, differences of larger numbers", **more}


YOLO_BOX = [
    case(x=_head(1, _SMALL, 4, 3, 3), img_size=_sizes((96, 96)), anchors=_SMALL, class_num=4, **_pixels()),
    case(x=_head(2, _SMALL, 4, 3, 5), img_size=_sizes((90, 160), (70, 50)), anchors=_SMALL, class_num=4, **_pixels()),
    case(
        x=_head(2, _SMALL, 4, 3, 5, [-1, "c", -1, -1]),
        img_size=_sizes((90, 160), (70, 50), dims=[-1, 2]),
        anchors=_SMALL,
        class_num=4,
        **_pixels(),
    ),
    case(
        x=_head(1, _LARGE, 2, 4, 4),
        img_size=_sizes((608, 608)),
        anchors=_LARGE,
        class_num=2,
        clip_bbox=False,
        scale_x_y=1.05,
        conf_thresh=0.01,
        **_pixels(),
    ),
    case(
        x=_head(2, _SMALL, 3, 2, 4, None, True),
        img_size=_sizes((90, 160), (70, 50)),
        anchors=_SMALL,
        class_num=3,
        iou_aware=True,
        iou_aware_factor=0.4,
        **_pixels(),
    ),
    case(
        x=_head(2, _SMALL, 3, 2, 4, [-1, "c", -1, -1], True),
        img_size=_sizes((90, 160), (70, 50), dims=[-1, 2]),
        anchors=_SMALL,
        class_num=3,
        iou_aware=True,
        downsample_ratio=16,
        scale_x_y=1.2,
        **_pixels(),
    ),
    case(
        x=_head(1, _SMALL, 1, 3, 3),
        img_size=_sizes((96, 96)),
        anchors=_SMALL,
        class_num=1,
        conf_thresh=2.0,
        **_pixels(),
    ),
    case(
        x=_head(1, _SMALL, 1, 3, 3),
        img_size=_sizes((96, 96)),
        anchors=_SMALL,
        class_num=1,
        conf_thresh=0.0,
        **_pixels(),
    ),
    case(
        x=_head(1, _SMALL, 4, 3, 3, dtype="float64"),
        img_size=_sizes((96, 96)),
        anchors=_SMALL,
        class_num=4,
        **_pixels(),
    ),
]

OPS = [Op("yolo_box", _yolo_box, *YOLO_BOX)]
