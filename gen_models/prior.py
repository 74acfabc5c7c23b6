"""Prior boxes and anchors: boxes that depend on the sizes of a feature map and of the image only."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from gen_models.harness.building import is_pir, legacy_op
from gen_models.harness.spec import Case, Op, TensorSpec, case, paddle, tensor


def _map(height: int, width: int, dims: Any = None, dtype: str = "float32") -> TensorSpec:
    return tensor([1, 2, height, width], dtype, dims=dims)


_DYNAMIC = [-1, 2, -1, -1]


def _prior_box_random(draw: Any) -> Case:
    sizes = draw(st.lists(st.sampled_from([4.0, 7.5, 12.0, 20.0]), min_size=1, max_size=3))
    maxima = [2 * s for s in sizes] if draw(st.booleans()) else None
    steps = draw(st.sampled_from([[0.0, 0.0], [8.0, 6.0], [0.0, 8.0]]))
    dynamic = draw(st.booleans())
    h, w = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    return case(
        input=_map(h, w, _DYNAMIC if dynamic else None),
        image=_map(h * draw(st.integers(5, 8)), w * draw(st.integers(5, 8)), _DYNAMIC if dynamic else None),
        min_sizes=sizes,
        max_sizes=maxima,
        aspect_ratios=draw(st.lists(st.sampled_from([0.5, 1.0, 2.0, 3.0]), min_size=1, max_size=3)),
        flip=draw(st.booleans()),
        clip=draw(st.booleans()),
        steps=steps,
        offset=draw(st.sampled_from([0.5, 0.0, 0.3])),
        min_max_aspect_ratios_order=draw(st.booleans()),
    )


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
    case(
        input=_map(3, 4, dtype="float64"),
        image=_map(30, 40, dtype="float64"),
        min_sizes=[8.0],
        aspect_ratios=[2.0],
    ),
]


def _density_prior_box(input: Any, image: Any, *, steps: Any = (0.0, 0.0), **attributes: Any) -> Any:
    plain = {"variances": [0.1, 0.1, 0.2, 0.2], "clip": False, "flatten_to_2d": False, "offset": 0.5, **attributes}
    outputs = {"Boxes": input.dtype, "Variances": input.dtype}
    attrs = {**plain, "step_w": steps[0], "step_h": steps[1]}
    return legacy_op("density_prior_box", {"Input": input, "Image": image}, outputs, attrs)


_LEGACY: dict[str, Any] = {
    "formats": ("legacy",),
    "dynamic": False,
    "why": "Paddle 3 has no such operator; its shifts are whole pixels of known sizes",
}


def _density_prior_box_random(draw: Any) -> Case:
    count = draw(st.integers(1, 3))
    return case(
        input=_map(draw(st.integers(1, 3)), draw(st.integers(1, 3))),
        image=_map(30, 40),
        fixed_sizes=[8.0, 12.5, 20.0][:count],
        fixed_ratios=draw(st.sampled_from([[1.0], [0.5, 2.0]])),
        densities=draw(st.lists(st.integers(1, 3), min_size=count, max_size=count)),
        clip=draw(st.booleans()),
        steps=draw(st.sampled_from([[0.0, 0.0], [8.0, 8.0]])),
        **_LEGACY,
    )


DENSITY_PRIOR_BOX = [
    case(input=_map(3, 4), image=_map(32, 40), fixed_sizes=[8.0], fixed_ratios=[1.0], densities=[2], **_LEGACY),
    case(
        input=_map(3, 4),
        image=_map(32, 40),
        fixed_sizes=[8.0, 16.0],
        fixed_ratios=[1.0, 2.0],
        densities=[3, 1],
        clip=True,
        **_LEGACY,
    ),
    case(
        input=_map(3, 4),
        image=_map(32, 40),
        fixed_sizes=[8.0, 16.0],
        fixed_ratios=[1.0],
        densities=[2, 1],
        flatten_to_2d=True,
        steps=[8.0, 9.0],
        **_LEGACY,
    ),
]


def _anchor_generator(input: Any, *, variances: Any = (0.1, 0.1, 0.2, 0.2), **attributes: Any) -> Any:
    if is_pir():
        names = ("anchor_sizes", "aspect_ratios", "stride", "offset")
        sizes, ratios, stride, offset = (attributes[name] for name in names)
        return paddle._C_ops.anchor_generator(input, sizes, ratios, list(variances), stride, offset)
    outputs = {"Anchors": input.dtype, "Variances": input.dtype}
    return legacy_op("anchor_generator", {"Input": input}, outputs, {**attributes, "variances": list(variances)})


def _anchor_generator_random(draw: Any) -> Case:
    return case(
        input=_map(draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.sampled_from([None, _DYNAMIC]))),
        anchor_sizes=draw(st.sampled_from([[32.0], [32.0, 64.0, 128.0]])),
        aspect_ratios=draw(st.sampled_from([[1.0], [0.5, 1.0, 2.0], [0.3]])),
        stride=draw(st.sampled_from([[16.0, 16.0], [8.0, 16.0]])),
        offset=draw(st.sampled_from([0.5, 0.0])),
    )


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
]

OPS = [
    Op(
        "prior_box",
        lambda input, image, **attributes: paddle.vision.ops.prior_box(input, image, **attributes),
        *PRIOR_BOX,
        random=_prior_box_random,
    ),
    Op("density_prior_box", _density_prior_box, *DENSITY_PRIOR_BOX, random=_density_prior_box_random),
    Op("anchor_generator", _anchor_generator, *ANCHOR_GENERATOR, random=_anchor_generator_random),
]
