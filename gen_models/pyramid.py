"""Pooling into pyramids of bins."""

from gen_models.harness.building import operator
from gen_models.harness.marks import legacy
from gen_models.harness.spec import Op, case, tensor

_SIZE = legacy("Paddle 3 has no such operator; its windows follow from the size of the image", dynamic=False)


OPS = [
    Op(
        "spp",
        operator("spp", names={"height": "pyramid_height", "kind": "pooling_type"}, kind="max"),
        case(x=tensor([2, 3, 8, 8]), height=3),
        case(x=tensor([2, 3, 8, 8]), height=3, kind="avg"),
        case(x=tensor([2, 3, 11, 7], dims=[-1, 3, 11, 7]), height=2),
        case(x=tensor([2, 3, 11, 7]), height=2, kind="avg"),
        case(x=tensor([1, 2, 1, 1]), height=1, is_varied=False),
        **_SIZE,
    )
]
