"""Resizing with a filter as wide as what it shrinks."""

from gen_models.harness.marks import pir
from gen_models.harness.spec import Op, case, int32s, paddle, tensor

NEW = pir("new in Paddle 3.3")


def _interp(x, size=None, *, like=None, **options):
    size = size if like is None else paddle.shape(like)[2:]
    options = {"mode": "bilinear", "antialias": True, **options}
    return paddle.nn.functional.interpolate(x, size, options.pop("scale", None), **options)


OPS = [
    Op(
        "interp_antialias",
        _interp,
        case(x=tensor([1, 2, 8, 9]), size=[3, 5]),
        case(x=tensor([2, 3, 12, 7], dims=[-1, 3, -1, -1]), size=[5, 3]),
        case(x=tensor([1, 2, 8, 9]), size=[3, 5], align_corners=True),
        case(x=tensor([1, 2, 8, 9]), size=[1, 4], mode="bicubic", align_corners=True),
        case(x=tensor([1, 2, 5, 4]), size=[9, 3], mode="bicubic"),
        case(x=tensor([1, 2, 5, 4]), size=[5, 4], mode="bicubic"),
        case(x=tensor([1, 2, 20, 17]), scale=[0.3, 0.45]),
        case(x=tensor([1, 2, 10, 11], dims=[-1, 2, -1, -1]), scale=0.4, mode="bicubic"),
        case(x=tensor([1, 2, 3, 3]), scale=[1.2, 1.3]),
        case(x=tensor([1, 8, 9, 2]), size=[3, 5], data_format="NHWC"),
        case(x=tensor([1, 2, 8, 9]), size=int32s(4, 5)),
        case(x=tensor([1, 2, 8, 9]), size=[int32s(4), 5], mode="bicubic"),
        case(x=tensor([1, 2, 8, 9]), like=tensor([1, 1, 3, 4], dims=[-1, 1, -1, -1])),
        case(x=tensor([1, 2, 8, 9], "float64"), size=[3, 5]),
        **NEW,
    ),
]
