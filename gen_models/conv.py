"""Convolution: layouts, paddings of every kind, groups, dilations; filters as weights and as inputs."""

from gen_models.harness.building import weight
from gen_models.harness.marks import F64, WIDE
from gen_models.harness.spec import Op, case, paddle, tensor


def _conv(x, filter=None, *, shape=None, bias=False, **options):
    filter = weight(shape, x.dtype) if filter is None else filter
    added = weight([filter.shape[0]], x.dtype, seed=1) if bias else None
    return getattr(paddle.nn.functional, f"conv{len(x.shape) - 2}d")(x, filter, added, **options)


CONV2D = [
    case(x=tensor([1, 3, 2, 5]), shape=[4, 3, 3, 3], stride=2, **WIDE),
    case(x=tensor([1, 3, 9, 8], dims=[-1, 3, -1, -1]), shape=[5, 3, 3, 2], stride=[2, 1], padding=[1, 2]),
    case(x=tensor([1, 2, 9, 9]), shape=[4, 2, 3, 3], padding=[0, 1, 2, 3]),
    case(x=tensor([1, 2, 9, 9]), shape=[4, 2, 3, 3], padding=[[0, 0], [0, 0], [1, 2], [3, 0]]),
    case(x=tensor([1, 2, 10, 11]), shape=[4, 2, 3, 3], dilation=[2, 3], stride=2),
    case(x=tensor([1, 2, 10, 11]), shape=[4, 2, 3, 4], padding="SAME", stride=[2, 3]),
    case(x=tensor([1, 2, 10, 11]), shape=[4, 2, 3, 3], padding="SAME", dilation=2, bias=True),
    case(x=tensor([1, 2, 10, 11]), shape=[4, 2, 3, 3], padding="VALID", dilation=2),
    case(x=tensor([2, 4, 7, 7]), shape=[6, 2, 3, 3], groups=2, padding=1),
    case(x=tensor([2, 6, 7, 7], dims=[-1, 6, -1, -1]), shape=[9, 2, 3, 1], groups=3, stride=2, bias=True),
    case(x=tensor([2, 8, 7, 3]), shape=[6, 3, 3, 3], padding=1, data_format="NHWC"),
    case(x=tensor([2, 8, 7, 4]), shape=[6, 2, 3, 3], padding=[1, 0, 2, 1], groups=2, data_format="NHWC", bias=True),
    case(x=tensor([2, 8, 7, 3]), shape=[6, 3, 3, 3], padding=[[0, 0], [1, 2], [3, 0], [0, 0]], data_format="NHWC"),
    case(x=tensor([2, 1, 9, 8], dims=[-1, 1, -1, -1]), shape=[1, 1, 3, 5], padding=[1, 2], bias=True),
    case(x=tensor([1, 12, 11, 1]), shape=[1, 1, 3, 2], padding="SAME", dilation=[2, 1], data_format="NHWC"),
    case(x=tensor([1, 1, 9, 8]), shape=[1, 1, 3, 3], stride=[1, 2]),
    case(x=tensor([1, 1, 9, 8]), shape=[1, 1, 1, 5]),
    case(x=tensor([2, 1, 9, 6], dims=[-1, 1, -1, 6]), shape=[4, 1, 3, 6], padding=[2, 0], stride=2, bias=True),
    case(x=tensor([2, 9, 6, 1]), shape=[4, 1, 3, 6], dilation=[2, 1], data_format="NHWC"),
    case(x=tensor([1, 3, 8, 8]), filter=tensor([4, 3, 3, 3])),
    case(x=tensor([1, 4, 8, 8]), filter=tensor([6, 2, 3, 3]), groups=2, padding="SAME", stride=2),
    case(x=tensor([2, 3, 4, 5], dims=[-1, 3, -1, -1]), filter=tensor([6, 3, 1, 1], dims=[-1, 3, 1, 1])),
    case(
        x=tensor([2, 4, 9, 8], dims=[-1, 4, -1, -1]),
        filter=tensor([6, 2, 3, 2], dims=[6, 2, -1, 2]),
        groups=2,
        stride=[2, 1],
        padding=[1, 0, 2, 1],
        dilation=[1, 2],
    ),
    case(
        x=tensor([2, 7, 6, 3], dims=[-1, -1, -1, 3]),
        filter=tensor([4, 3, 3, 2], dims=[4, 3, -1, -1]),
        stride=2,
        padding="SAME",
        data_format="NHWC",
    ),
    case(x=tensor([1, 3, 3, 2], dims=[-1, 3, -1, -1]), filter=tensor([2, 3, 4, 3], dims=[-1, 3, -1, -1]), stride=2),
    case(x=tensor([1, 3, 8, 8], "float64"), shape=[4, 3, 3, 3], padding=1, bias=True, **F64),
    case(x=tensor([1, 3, 1, 1]), shape=[8, 3, 1, 1]),
    case(x=tensor([1, 3, 2, 2]), shape=[8, 3, 5, 5], padding=2),
    case(x=tensor([2, 3, 12]), shape=[4, 3, 3], padding=1, bias=True),
    case(x=tensor([2, 3, 12], dims=[-1, 3, -1]), shape=[4, 3, 3], padding=[1, 2], stride=2),
    case(x=tensor([2, 12, 3]), shape=[4, 3, 3], padding="SAME", stride=2, data_format="NLC"),
    case(x=tensor([2, 12, 4]), shape=[4, 2, 3], groups=2, dilation=2, data_format="NLC", bias=True),
]
DEPTHWISE = [
    case(x=tensor([2, 3, 9, 7], dims=[-1, 3, -1, -1]), shape=[6, 1, 5, 3], groups=3, stride=2, bias=True),
    case(x=tensor([1, 4, 9, 7]), shape=[4, 1, 3, 3], groups=4, padding="SAME", stride=2),
    case(x=tensor([1, 4, 9, 7]), shape=[4, 1, 3, 3], groups=4, padding="SAME", dilation=2),
    case(x=tensor([1, 4, 9, 7]), shape=[4, 1, 3, 3], groups=4, padding="VALID", dilation=2),
    case(x=tensor([1, 4, 9, 7]), shape=[8, 1, 3, 3], groups=4, padding=[2, 0, 1, 3], dilation=[2, 1]),
    case(x=tensor([1, 9, 7, 4]), shape=[4, 1, 3, 3], groups=4, padding=1, data_format="NHWC", bias=True),
    case(x=tensor([1, 9, 7, 4], dims=[-1, -1, -1, 4]), shape=[8, 1, 3, 3], groups=4, stride=2, data_format="NHWC"),
    case(x=tensor([1, 4, 8, 8]), filter=tensor([4, 1, 3, 3]), groups=4),
    case(x=tensor([1, 4, 8], dims=[-1, 4, -1]), shape=[4, 1, 3], groups=4, padding=1),
    case(x=tensor([1, 8, 4]), shape=[4, 1, 3], groups=4, padding=1, data_format="NLC"),
]
CONV3D = [
    case(x=tensor([1, 2, 5, 6, 7]), shape=[3, 2, 3, 3, 3], padding=1, bias=True),
    case(x=tensor([1, 2, 5, 6, 7], dims=[-1, 2, -1, -1, -1]), shape=[3, 2, 2, 3, 1], stride=[1, 2, 1]),
    case(x=tensor([1, 2, 6, 6, 7]), shape=[3, 2, 3, 3, 3], padding=[0, 1, 2, 0, 1, 1], dilation=[1, 2, 1]),
    case(x=tensor([1, 4, 5, 6, 7]), shape=[4, 2, 3, 3, 3], padding="SAME", stride=2, groups=2),
    case(x=tensor([1, 4, 5, 6, 7]), shape=[4, 1, 3, 3, 3], padding="SAME", dilation=2, groups=4),
    case(x=tensor([1, 5, 6, 7, 2]), shape=[3, 2, 3, 3, 3], padding=[1, 2, 0], data_format="NDHWC", bias=True),
    case(x=tensor([1, 5, 6, 7, 2]), shape=[3, 2, 2, 2, 2], padding="SAME", stride=2, data_format="NDHWC"),
    case(x=tensor([1, 2, 5, 6, 7]), shape=[3, 2, 2, 2, 2], padding="VALID"),
]


OPS = [
    Op("conv2d", _conv, *CONV2D),
    Op("depthwise_conv2d", _conv, *DEPTHWISE),
    Op("conv3d", _conv, *CONV3D),
]
