"""Transposed convolution: output paddings and sizes, layouts, groups."""

from gen_models.harness.building import weight
from gen_models.harness.marks import FIXED_FILTER, NOT_FED
from gen_models.harness.spec import Op, case, int32s, paddle, tensor


def _transpose(x, filter=None, *, shape=None, groups=1, bias=False, **options):
    filter = weight(shape) if filter is None else filter
    added = weight([filter.shape[1] * groups], seed=1) if bias else None
    build = getattr(paddle.nn.functional, f"conv{len(x.shape) - 2}d_transpose")
    return build(x, filter, added, groups=groups, **options)


CONV2D = [
    case(x=tensor([1, 3, 5, 6]), shape=[3, 4, 3, 3]),
    case(x=tensor([2, 3, 5, 6], dims=[-1, 3, -1, -1]), shape=[3, 4, 2, 2], stride=2, bias=True),
    case(x=tensor([1, 3, 5, 6]), shape=[3, 4, 3, 4], stride=[2, 3], padding=[1, 0], output_padding=[1, 2], bias=True),
    case(x=tensor([1, 3, 5, 6], dims=[-1, 3, -1, -1]), shape=[3, 4, 3, 3], stride=3, output_padding=2),
    case(x=tensor([1, 3, 5, 6]), shape=[3, 4, 3, 3], stride=2, padding=1, output_size=[10, 12]),
    case(x=tensor([1, 3, 5, 6], dims=[-1, 3, -1, -1]), shape=[3, 4, 3, 3], stride=3, padding=1, output_size=[14, 17]),
    case(x=tensor([1, 3, 5, 6]), shape=[3, 4, 3, 3], stride=2, padding=1, output_size=int32s(10, 11), **NOT_FED),
    case(x=tensor([1, 3, 5, 6]), shape=[3, 4, 3, 3], stride=2, padding=[0, 1, 2, 1]),
    case(x=tensor([1, 3, 5, 6]), shape=[3, 4, 3, 3], stride=2, padding=[[0, 0], [0, 0], [1, 0], [2, 1]]),
    case(x=tensor([1, 3, 5, 6], dims=[-1, 3, -1, -1]), shape=[3, 4, 4, 5], stride=[3, 2], padding="SAME", bias=True),
    case(x=tensor([1, 3, 6, 6]), shape=[3, 4, 3, 3], padding="SAME", dilation=2),
    case(x=tensor([1, 3, 5, 6]), shape=[3, 4, 3, 3], stride=2, padding="VALID", dilation=[2, 1]),
    case(x=tensor([1, 3, 5, 6]), shape=[3, 4, 3, 3], stride=2, dilation=2, padding=2, output_padding=1),
    case(x=tensor([1, 4, 5, 6]), shape=[4, 3, 3, 3], groups=2, stride=2, padding=1, bias=True),
    case(x=tensor([1, 4, 5, 6]), shape=[4, 3, 3, 3], groups=2, stride=2, padding=1, output_size=[10, 12]),
    case(x=tensor([1, 5, 6, 3]), shape=[3, 4, 3, 3], stride=2, padding=1, data_format="NHWC", bias=True),
    case(x=tensor([1, 5, 6, 3]), shape=[3, 4, 3, 3], stride=2, output_padding=1, padding=1, data_format="NHWC"),
    case(x=tensor([1, 5, 6, 3]), shape=[3, 4, 3, 3], stride=2, padding="SAME", data_format="NHWC"),
    case(x=tensor([1, 3, 5, 6]), filter=tensor([3, 4, 3, 3]), stride=2, **FIXED_FILTER),
    case(x=tensor([1, 4, 5, 6]), filter=tensor([4, 2, 3, 3]), stride=2, groups=2, **FIXED_FILTER),
    case(x=tensor([1, 3, 7]), shape=[3, 4, 3], stride=2, padding=1, output_padding=1, bias=True),
    case(x=tensor([1, 3, 7], dims=[-1, 3, -1]), shape=[3, 4, 3], stride=2, output_size=[16]),
    case(x=tensor([1, 7, 3]), shape=[3, 4, 3], stride=2, data_format="NLC"),
]
DEPTHWISE = [
    case(x=tensor([1, 4, 5, 6], dims=[-1, 4, -1, -1]), shape=[4, 1, 4, 4], groups=4, stride=2, padding=1),
    case(x=tensor([1, 4, 5, 6]), shape=[4, 1, 3, 3], groups=4, stride=2, padding=1, output_padding=1),
    case(x=tensor([1, 4, 5, 6]), shape=[4, 1, 3, 3], groups=4, stride=2, padding=1, output_size=[10, 11], bias=True),
    case(x=tensor([1, 4, 5, 6]), shape=[4, 1, 3, 3], groups=4, stride=2, padding="SAME"),
    case(x=tensor([1, 5, 6, 4]), shape=[4, 1, 3, 3], groups=4, stride=2, data_format="NHWC"),
]
CONV3D = [
    case(x=tensor([1, 2, 3, 4, 5]), shape=[2, 3, 3, 3, 3], stride=2, padding=1, bias=True),
    case(x=tensor([1, 2, 3, 4, 5], dims=[-1, 2, -1, -1, -1]), shape=[2, 3, 2, 2, 2], stride=2),
    case(x=tensor([1, 2, 3, 4, 5]), shape=[2, 3, 3, 3, 3], stride=2, padding=1, output_padding=[1, 0, 1]),
    case(x=tensor([1, 2, 3, 4, 5]), shape=[2, 3, 3, 3, 3], stride=2, padding=1, output_size=[6, 8, 9]),
    case(x=tensor([1, 2, 3, 4, 5]), shape=[2, 3, 3, 3, 3], stride=2, padding="SAME"),
    case(x=tensor([1, 2, 3, 4, 5]), shape=[2, 3, 3, 3, 3], stride=2, padding=[0, 1, 1, 0, 1, 1]),
    case(x=tensor([1, 4, 3, 4, 5]), shape=[4, 2, 3, 3, 3], groups=2, stride=[1, 2, 1]),
    case(x=tensor([1, 3, 4, 5, 2]), shape=[2, 3, 3, 3, 3], stride=2, data_format="NDHWC", bias=True),
]


OPS = [
    Op("conv2d_transpose", _transpose, *CONV2D),
    Op("depthwise_conv2d_transpose", _transpose, *DEPTHWISE),
    Op("conv3d_transpose", _transpose, *CONV3D),
]
