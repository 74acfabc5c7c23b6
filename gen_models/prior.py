"""Prior boxes and anchors: boxes that depend on the sizes of a feature map and of the image only."""

from __future__ import annotations

from typing import Any

from gen_models.harness.building import function, legacy_op, operator
from gen_models.harness.marks import legacy
from gen_models.harness.spec import Op, TensorSpec, case, tensor


def _maps(
    dims: Any = None, image_dims: Any = None, dtype: str = "float32", image: Any = (30, 40)
) -> dict[str, TensorSpec]:
    """A feature map and the image that it is of."""
    sizes = {"input": (3, 4), "image": image}
    return {
        name: tensor([1, 2, *size], dtype, dims=known)
        for (name, size), known in zip(sizes.items(), (dims, image_dims or dims), strict=True)
    }


_DYNAMIC = [-1, 2, -1, -1]


_ODD, _RATIOS = {"image": (31, 42)}, {"aspect_ratios": [2.0, 3.0]}
_CLIPPED = {"aspect_ratios": [2.0], "flip": True, "clip": True}
PRIOR_BOX = [
    case(**_maps(), min_sizes=[8.0]),
    case(**_maps(**_ODD), min_sizes=[8.0, 12.0], max_sizes=[16.0, 20.0], **_RATIOS),
    case(**_maps(**_ODD), min_sizes=[8.0], max_sizes=[16.0], **_RATIOS, flip=True),
    case(**_maps(), min_sizes=[30.0], max_sizes=[60.0], **_CLIPPED),
    case(
        **_maps(),
        min_sizes=[8.0, 9.0],
        max_sizes=[16.0, 20.0],
        aspect_ratios=[0.5, 1.0, 2.0],
        min_max_aspect_ratios_order=True,
        flip=True,
    ),
    case(**_maps(), min_sizes=[8.0], steps=[9.0, 11.0], offset=0.3),
    case(**_maps(), min_sizes=[8.0], steps=[9.0, 0.0], variance=[0.1, 0.2, 0.3, 0.4]),
    case(**_maps(_DYNAMIC), min_sizes=[8.0], aspect_ratios=[2.0]),
    case(**_maps([-1, 2, -1, 4], [-1, 2, 30, -1]), min_sizes=[8.0], max_sizes=[12.0], **_CLIPPED),
    case(**_maps(_DYNAMIC), min_sizes=[8.0], steps=[10.0, 9.0]),
    case(**_maps(dtype="float64"), min_sizes=[8.0], aspect_ratios=[2.0]),
    case(**_maps(), min_sizes=[], is_varied=False),
    case(**_maps(_DYNAMIC), min_sizes=[], is_varied=False),
]


def _density_prior_box(input, image, *, steps=(0.0, 0.0), **attributes):
    plain = {"variances": [0.1, 0.1, 0.2, 0.2], "clip": False, "flatten_to_2d": False, "offset": 0.5, **attributes}
    outputs = {"Boxes": input.dtype, "Variances": input.dtype}
    attrs = {**plain, "step_w": steps[0], "step_h": steps[1]}
    return legacy_op("density_prior_box", {"Input": input, "Image": image}, outputs, attrs)


_LEGACY = legacy("Paddle 3 has no such operator; its shifts are whole pixels of known sizes", dynamic=False)


_TWO_SIZES = {**_maps(image=(32, 40)), "fixed_sizes": [8.0, 16.0]}
DENSITY_PRIOR_BOX = [
    case(**_maps(image=(32, 40)), fixed_sizes=[8.0], fixed_ratios=[1.0], densities=[2]),
    case(**_TWO_SIZES, fixed_ratios=[1.0, 2.0], densities=[3, 1], clip=True),
    case(**_TWO_SIZES, fixed_ratios=[1.0], densities=[2, 1], flatten_to_2d=True, steps=[8.0, 9.0]),
]


_ANCHORS = {
    "anchor_sizes": [32.0, 64.0],
    "aspect_ratios": [0.5, 1.0, 2.0],
    "stride": [16.0, 16.0],
    "offset": 0.5,
}

_MAP, _MAP_DYNAMIC = _maps()["input"], _maps(_DYNAMIC)["input"]
ANCHOR_GENERATOR = [
    case(input=_MAP, **_ANCHORS),
    case(input=_MAP_DYNAMIC, **_ANCHORS),
    case(input=_MAP, **{**_ANCHORS, "stride": [8.0, 12.0], "offset": 0.0}),
    case(input=_MAP, variances=[0.2, 0.3, 0.4, 0.5], **{**_ANCHORS, "aspect_ratios": [0.3]}),
    case(input=_MAP, is_varied=False, **{**_ANCHORS, "aspect_ratios": []}),
    case(input=_MAP_DYNAMIC, is_varied=False, **{**_ANCHORS, "aspect_ratios": []}),
]

OPS = [
    Op("prior_box", function("vision.ops.prior_box"), *PRIOR_BOX),
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
