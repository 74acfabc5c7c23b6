"""Variances, clipping by norm, filling."""

from gen_models.harness.building import function, operator
from gen_models.harness.marks import COMPLEX_HERE, NEW
from gen_models.harness.spec import Op, case, paddle, tensor


def _moment(name):
    """What `paddle.var` and `paddle.std` write where Paddle is built for GPUs."""

    def build(x, *, axis=(), keepdim=False, correction=1.0):
        return getattr(paddle._C_ops, name)(x, list(axis), keepdim, None, correction)

    return build


VAR = [
    case(x=tensor([3, 4])),
    case(x=tensor([3, 4]), axis=[1]),
    case(x=tensor([3, 4], dims=[-1, 4]), axis=[-2], keepdim=True),
    case(x=tensor([2, 3, 4], dims=[-1, -1, -1]), axis=[0, 2], correction=0.0),
    case(x=tensor([2, 3, 4]), axis=[-1, 0], correction=2.5, keepdim=True),
    case(x=tensor([3, 4], low=100, high=101), axis=[0]),
    case(x=tensor([5], values=[0.5] * 5)),
]


OPS = [
    Op("var", _moment("var"), *VAR, **NEW),
    Op("std", _moment("std"), *VAR, **NEW),
    Op(
        "variance",
        lambda x, axis=(), keepdim=False: paddle._C_ops.variance(x, list(axis), keepdim, False),
        case(x=tensor([3, 4])),
        case(x=tensor([3, 4], dims=[-1, 4]), axis=[-1]),
        case(x=tensor([2, 3, 4]), axis=[0, -1], keepdim=True),
        **NEW,
    ),
    Op(
        "clip_by_norm",
        function("nn.clip.clip_by_norm"),
        case(x=tensor([3, 4]), max_norm=1.0),
        case(x=tensor([3, 4]), max_norm=10.0),
        case(x=tensor([2, 3, 4], dims=[-1, 3, -1]), max_norm=0.25),
        case(x=tensor([2, 2], values=[0, 0, 0, 0]), max_norm=1.0),
        case(x=tensor([2], values=[3, 4]), max_norm=5.0),
    ),
    Op(
        "fill_any",
        operator("fill_any", pir_name="fill", value=0),
        case(x=tensor([3, 4]), value=2.5),
        case(x=tensor([3, 4], dims=[-1, 4]), value=-1),
        case(x=tensor([2, 3], "int64"), value=7),
        case(x=tensor([2, 3], "bool"), value=1),
        case(x=tensor([]), value=0.25),
        case(x=tensor([2, 3], "complex64", dims=[-1, 3]), value=2.5, **COMPLEX_HERE),
    ),
]
