"""Patches, deformable convolution, shifts in time, channel-wise maps."""

from gen_models.harness.building import function, legacy_op, weight
from gen_models.harness.marks import COMPLEX_HERE, NOT_PUBLIC, legacy
from gen_models.harness.spec import Op, case, paddle, tensor


def _unfold(x, *, kernel, stride=1, padding=0, dilation=1):
    return paddle.nn.functional.unfold(x, kernel, stride, padding, dilation)


UNFOLD = [
    case(x=tensor([2, 3, 6, 7]), kernel=3),
    case(x=tensor([2, 3, 6, 7], dims=[-1, 3, -1, -1]), kernel=[2, 3], stride=[1, 2]),
    case(x=tensor([2, 3, 6, 7]), kernel=3, padding=1),
    case(x=tensor([2, 3, 6, 7]), kernel=[3, 2], padding=[1, 2], dilation=[1, 2]),
    case(x=tensor([2, 3, 6, 7]), kernel=2, padding=[0, 1, 2, 1], stride=2),
    case(x=tensor([2, 1, 6, 7]), kernel=3, stride=3),
    case(x=tensor([2, 3, 6, 7]), kernel=1, stride=2),
    case(x=tensor([0, 3, 6, 7]), kernel=3),
    case(x=tensor([2, 2, 5, 1], dims=[-1, 2, 5, -1]), kernel=[3, 2], stride=[1, 2]),
    case(x=tensor([2, 2, 2, 1], dims=[-1, 2, -1, -1]), kernel=[3, 2], stride=[2, 3]),
    case(x=tensor([2, 2, 2, 4], dims=[-1, -1, -1, 4]), kernel=2, stride=[3, 2], padding=[0, 0, 0, 1], dilation=[2, 1]),
]


def _fold(x, *, size, kernel, stride=1, padding=0, dilation=1):
    return paddle.nn.functional.fold(x, size, kernel, stride, padding, dilation)


FOLD = [
    case(x=tensor([2, 12, 12]), size=[4, 5], kernel=2),
    case(x=tensor([2, 12, 4]), size=[4, 4], kernel=2, stride=2),
    case(x=tensor([2, 18, 20]), size=[4, 5], kernel=3, padding=1),
    case(x=tensor([2, 12, 9]), size=[5, 5], kernel=2, dilation=2),
    case(x=tensor([1, 6, 12]), size=[4, 6], kernel=[2, 3], stride=[1, 1], padding=0),
    case(x=tensor([2, 12, 6]), size=[6, 3], kernel=[3, 1], stride=[3, 1], padding=0),
    case(x=tensor([2, 12, 6]), size=[4, 6], kernel=2, stride=2),
    case(x=tensor([2, 12, 30]), size=[4, 4], kernel=[2, 3], padding=[1, 2]),
    case(x=tensor([1, 18, 9]), size=[6, 6], kernel=3, stride=2, padding=1),
    case(x=tensor([2, 8, 9], "complex64"), size=4, kernel=2, **COMPLEX_HERE),
]


def _deformable(x, offset, mask=None, *, shape, **options):
    return paddle.vision.ops.deform_conv2d(x, offset, weight(shape), mask=mask, **options)


def _deformable_v1(x, offset, *, shape, padding=0, deformable_groups=1):
    attributes = {"strides": [1, 1], "paddings": [padding] * 2, "dilations": [1, 1], "groups": 1, "im2col_step": 1}
    inputs = {"Input": x, "Filter": weight(shape), "Offset": offset}
    attributes |= {"deformable_groups": deformable_groups}
    return legacy_op("deformable_conv_v1", inputs, {"Output": "float32"}, attributes)


def _moved(shape, *size, offsets=1, has_mask=True, dynamic=False, **options):
    """A case of images with a filter of that shape, whose cells are moved at each place of a result of that size."""
    cells, unknown = offsets * shape[2] * shape[3], [-1, -1] if dynamic else None
    if has_mask:
        options["mask"] = tensor([2, cells, *size], low=0.0, high=1.0, dims=unknown and [-1, cells, *unknown])
    if offsets > 1:
        options["deformable_groups"] = offsets
    offset = tensor([2, 2 * cells, *size], low=-2.0, high=2.0, dims=unknown and [-1, 2 * cells, *unknown])
    return case(x=tensor([2, 4, 6, 7], dims=unknown and [-1, 4, *unknown]), offset=offset, shape=shape, **options)


DEFORMABLE = [
    _moved([3, 4, 3, 3], 4, 5),
    _moved([3, 4, 3, 3], 6, 7, has_mask=False, padding=1),
    _moved([3, 4, 3, 3], 3, 4, padding=1, stride=2),
    _moved([2, 4, 3, 2], 4, 6, offsets=2),
    _moved([4, 2, 3, 3], 2, 3, groups=2, dilation=2),
    _moved([3, 4, 3, 3], 6, 7, dynamic=True, padding=1),
]

_OLD = legacy("the public API writes deformable_conv only")

DEFORMABLE_V1 = [
    _moved([3, 4, 3, 3], 4, 5, has_mask=False),
    _moved([4, 4, 3, 3], 6, 7, offsets=2, has_mask=False, padding=1),
]


SHIFT = [
    case(x=tensor([6, 8, 3, 2]), seg_num=3),
    case(x=tensor([6, 8, 3, 2], dims=[-1, 8, -1, -1]), seg_num=2, shift_ratio=0.125),
    case(x=tensor([4, 5, 3, 2]), seg_num=4, shift_ratio=0.3),
    case(x=tensor([4, 4, 3, 2]), seg_num=2, shift_ratio=0.49),
    case(x=tensor([4, 3, 3, 2]), seg_num=1, shift_ratio=0.34),
    case(x=tensor([6, 3, 2, 8]), seg_num=3, data_format="NHWC"),
    case(x=tensor([6, 3, 2, 8], dims=[-1, -1, -1, 8]), seg_num=2, data_format="NHWC", shift_ratio=0.2),
]


def _affine_channel(x, *, channels, data_layout):
    scale, bias = weight([channels], seed=1), weight([channels], seed=2)
    inputs = {"X": x, "Scale": scale, "Bias": bias}
    return legacy_op("affine_channel", inputs, {"Out": "float32"}, {"data_layout": data_layout})


CHANNEL = [
    case(x=tensor([2, 3, 4, 5]), channels=3, data_layout="NCHW"),
    case(x=tensor([2, 4, 5, 3], dims=[-1, -1, -1, 3]), channels=3, data_layout="NHWC"),
    case(x=tensor([2, 3]), channels=3, data_layout="NCHW"),
]


OPS = [
    Op("unfold", _unfold, *UNFOLD),
    Op("fold", _fold, *FOLD),
    Op("deformable_conv", _deformable, *DEFORMABLE),
    Op("deformable_conv_v1", _deformable_v1, *DEFORMABLE_V1, **_OLD),
    Op("temporal_shift", function("nn.functional.temporal_shift"), *SHIFT),
    Op("affine_channel", _affine_channel, *CHANNEL, **NOT_PUBLIC),
]
