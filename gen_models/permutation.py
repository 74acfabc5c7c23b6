"""Programs for converters/permutation.py."""

from gen_models.harness.building import function, operator
from gen_models.harness.marks import LEGACY
from gen_models.harness.spec import Op, case, int64s, paddle, tensor

OPS = [
    Op(
        "transpose2",
        function("transpose"),
        *(case(x=x, perm=[1, 0]) for x in (tensor([2, 3]), tensor([1, 7]), tensor([7, 1]))),
        case(x=tensor([2, 3, 4, 5]), perm=[0, 2, 1, 3]),
        case(x=tensor([2, 3, 4, 5]), perm=[0, -1, -3, -2]),
        case(x=tensor([2, 3, 4], dims=[-1, 3, -1]), perm=[2, 0, 1]),
        case(x=tensor([2, 1, 4], dims=[-1, 1, 4]), perm=[1, 0, 2]),
        case(x=tensor([2, 1, 4], dims=[-1, 1, -1]), perm=[0, 2, 1]),
        case(x=tensor([1, 2, 1, 4], dims=[1, -1, 1, -1]), perm=[1, 0, 3, 2]),
        case(x=tensor([1, 0, 4]), perm=[1, 0, 2]),
        case(x=tensor([5]), perm=[0]),
        case(x=tensor([]), perm=[]),
        case(x=tensor([2, 3, 4], "int64"), perm=[2, 1, 0]),
        case(x=tensor([2, 3, 4], "bool"), perm=[1, 2, 0]),
        case(x=tensor([2, 1, 2, 1, 2, 3], "int32"), perm=[5, 0, 4, 1, 3, 2]),
    ),
    Op("transpose", operator("transpose", names={"perm": "axis"}), case(x=tensor([2, 3, 4]), perm=[0, 2, 1]), **LEGACY),
    Op(
        "flip",
        function("flip"),
        case(x=tensor([2, 3]), axis=[0]),
        case(x=tensor([2, 3, 4]), axis=[-1, 0]),
        case(x=tensor([2, 3, 4], "int64"), axis=1),
        case(x=tensor([2, 3, 4], "bool"), axis=[0, 1, 2]),
        case(x=tensor([2, 3, 4], dims=[-1, -1, 4]), axis=[1, 2]),
        case(x=tensor([0, 3]), axis=[0]),
        case(x=tensor([2, 3]), axis=[]),
        case(x=tensor([]), axis=[]),
    ),
    Op("reverse", operator("reverse"), case(x=tensor([2, 3, 4]), axis=[0, 2]), **LEGACY),
    Op(
        "roll",
        function("roll"),
        case(x=tensor([3, 4]), shifts=1),
        case(x=tensor([3, 4]), shifts=-5),
        case(x=tensor([3, 4]), shifts=2, axis=0),
        case(x=tensor([3, 4, 5]), shifts=[2, -1], axis=[1, -1]),
        case(x=tensor([2, 8, 8, 3], dims=[-1, 8, 8, 3]), shifts=[-4, -4], axis=[1, 2]),
        case(x=tensor([3, 4], "int64", dims=[-1, -1]), shifts=[9], axis=[1]),
        case(x=tensor([3, 4], "int32", dims=[-1, -1]), shifts=3),
        case(x=tensor([3, 4]), shifts=int64s(1, -1), axis=[0, 1]),
        case(x=tensor([0, 4]), shifts=1, axis=0),
    ),
    Op(
        "pixel_shuffle",
        lambda x, factor, data_format="NCHW": paddle.nn.functional.pixel_shuffle(x, factor, data_format),
        case(x=tensor([1, 9, 3, 4], dims=[-1, 9, -1, -1]), factor=3),
        case(x=tensor([2, 3, 4, 8]), factor=2, data_format="NHWC"),
        case(x=tensor([2, 3, 4, 5]), factor=1),
    ),
    Op(
        "pixel_unshuffle",
        lambda x, factor, data_format="NCHW": paddle.nn.functional.pixel_unshuffle(x, factor, data_format),
        case(x=tensor([2, 2, 4, 6]), factor=2),
        case(x=tensor([1, 2, 6, 9], dims=[-1, 2, 6, 9]), factor=3),
        case(x=tensor([2, 4, 6, 3]), factor=2, data_format="NHWC"),
    ),
    Op(
        "channel_shuffle",
        function("nn.functional.channel_shuffle"),
        case(x=tensor([2, 6, 3, 4]), groups=2),
        case(x=tensor([2, 6, 3, 4], dims=[-1, 6, -1, -1]), groups=3),
        case(x=tensor([2, 3, 4, 6]), groups=2, data_format="NHWC"),
    ),
    Op("shuffle_channel", operator("shuffle_channel"), case(x=tensor([2, 6, 3, 4]), group=3), **LEGACY),
]
