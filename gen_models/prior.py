"""Prior boxes and anchors: boxes that depend on the sizes of a feature map and of the image only."""

from __future__ import annotations

from typing import Any

from gen_models.harness.building import legacy_op, operator
from gen_models.harness.marks import legacy
from gen_models.harness.spec import Op, TensorSpec, case, paddle, tensor


def _map(height: int, width: int, dims: Any = None, dtype: str = "float32") -> TensorSpec:
    return tensor([1, 2, height, width], dtype, dims=dims)


_DYNAMIC = [-1, 2, -1, -1]


PRIOR_BOX = [
    case(input=_map(3, 4), image=_map(30, 40), min_sizes=[8.0]),
    case(input=_map(3, 4), image=_map(31, 42), min_sizes=[8.0, 12.0], max_sizes=[16.0, 20.0], aspect_ratios=[2.0, 3.0]),
    case(input=_map(3, 4), image=_map(31, 42), min_sizes=[8.0], max_sizes=[16.0], aspect_ratios=[2.0, 3.0], flip=True),
    case(
        input=_map(3, 4),
        image=_map(30, 40),
        min_sizes=[30.0],
        max_sizes=[60.0],
        aspect_ratios=[2.0],
        flip=True,
        clip=True,
    ),
    case(
        input=_map(3, 4),
        image=_map(30, 40),
        min_sizes=[8.0, 9.0],
        max_sizes=[16.0, 20.0],
        aspect_ratios=[0.5, 1.0, 2.0],
        min_max_aspect_ratios_order=True,
        flip=True,
    ),
    case(input=_map(3, 4), image=_map(30, 40), min_sizes=[8.0], steps=[9.0, 11.0], offset=0.3),
    case(input=_map(3, 4), image=_map(30, 40), min_sizes=[8.0], steps=[9.0, 0.0], variance=[0.1, 0.2, 0.3, 0.4]),
    case(input=_map(3, 4, [-1, 2, -1, -1]), image=_map(30, 40, [-1, 2, -1, -1]), min_sizes=[8.0], aspect_ratios=[2.0]),
    case(
        input=_map(3, 4, [-1, 2, -1, 4]),
        image=_map(30, 40, [-1, 2, 30, -1]),
        min_sizes=[8.0],
        max_sizes=[12.0],
        aspect_ratios=[2.0],
        flip=True,
        clip=True,
    ),
    case(input=_map(3, 4, [-1, 2, -1, -1]), image=_map(30, 40, [-1, 2, -1, -1]), min_sizes=[8.0], steps=[10.0, 9.0]),
    case(input=_map(3, 4, dtype="float64"), image=_map(30, 40, dtype="float64"), min_sizes=[8.0], aspect_ratios=[2.0]),
    case(input=_map(3, 4), image=_map(30, 40), min_sizes=[], is_varied=False),
    case(input=_map(3, 4, _DYNAMIC), image=_map(30, 40, _DYNAMIC), min_sizes=[], is_varied=False),
]


def _density_prior_box(input: Any, image: Any, *, steps: Any = (0.0, 0.0), **attributes: Any) -> Any:
    plain = {"variances": [0.1, 0.1, 0.2, 0.2], "clip": False, "flatten_to_2d": False, "offset": 0.5, **attributes}
    outputs = {"Boxes": input.dtype, "Variances": input.dtype}
    attrs = {**plain, "step_w": steps[0], "step_h": steps[1]}
    return legacy_op("density_prior_box", {"Input": input, "Image": image}, outputs, attrs)


_LEGACY = legacy("Paddle 3 has no such operator; its shifts are whole pixels of known sizes", dynamic=False)


DENSITY_PRIOR_BOX = [
    case(input=_map(3, 4), image=_map(32, 40), fixed_sizes=[8.0], fixed_ratios=[1.0], densities=[2]),
    case(
        input=_map(3, 4),
        image=_map(32, 40),
        fixed_sizes=[8.0, 16.0],
        fixed_ratios=[1.0, 2.0],
        densities=[3, 1],
        clip=True,
    ),
    case(
        input=_map(3, 4),
        image=_map(32, 40),
        fixed_sizes=[8.0, 16.0],
        fixed_ratios=[1.0],
        densities=[2, 1],
        flatten_to_2d=True,
        steps=[8.0, 9.0],
    ),
]


_ANCHORS: dict[str, Any] = {
    "anchor_sizes": [32.0, 64.0],
    "aspect_ratios": [0.5, 1.0, 2.0],
    "stride": [16.0, 16.0],
    "offset": 0.5,
}

ANCHOR_GENERATOR = [
    case(input=_map(3, 4), **_ANCHORS),
    case(input=_map(3, 4, _DYNAMIC), **_ANCHORS),
    case(input=_map(3, 4), **{**_ANCHORS, "stride": [8.0, 12.0], "offset": 0.0}),
    case(input=_map(3, 4), variances=[0.2, 0.3, 0.4, 0.5], **{**_ANCHORS, "aspect_ratios": [0.3]}),
    case(input=_map(3, 4), is_varied=False, **{**_ANCHORS, "aspect_ratios": []}),
    case(input=_map(3, 4, _DYNAMIC), is_varied=False, **{**_ANCHORS, "aspect_ratios": []}),
]

OPS = [
    Op(
        "prior_box",
        lambda input, image, **attributes: paddle.vision.ops.prior_box(input, image, **attributes),
        *PRIOR_BOX,
    ),
    Op("density_prior_box", _density_prior_box, *DENSITY_PRIOR_BOX, **_LEGACY),
    Op(
        "anchor_generator",
        operator(
            "anchor_generator",
            {"input": "Input"},
            {"Anchors": "", "Variances": ""},
            **dict.fromkeys(("anchor_sizes", "aspect_ratios")),
            variances=[0.1, 0.1, 0.2, 0.2],
            **dict.fromkeys(("stride", "offset")),
        ),
        *ANCHOR_GENERATOR,
    ),
]
