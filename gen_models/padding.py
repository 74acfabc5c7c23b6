"""Padding: modes, layouts, negative and computed paddings."""

from gen_models.harness.building import function
from gen_models.harness.marks import COMPLEX_HERE, F64, NOT_FED
from gen_models.harness.spec import Op, case, int32s, int64s, tensor

PAD = [
    case(x=tensor([2, 3]), pad=[1, 0, 2, 1], value=1.5),
    case(x=tensor([4]), pad=[1, 2], value=-1.0),
    case(x=tensor([2, 3, 4], dims=[-1, 3, -1]), pad=[0, 1, 2, 0, 1, 1]),
    case(x=tensor([2, 3, 4, 5]), pad=[0, 0, 1, 2, 0, 1, 3, 0], value=2.0),
    case(x=tensor([2, 3, 4, 5, 2]), pad=[0, 0, 1, 2, 0, 1, 3, 0, 1, 1]),
    case(x=tensor([2, 3], "int64"), pad=[1, 0, 2, 1], value=7),
    case(x=tensor([2, 3], "int32"), pad=[1, 0, 2, 1]),
    case(x=tensor([2, 3], "float64"), pad=[1, 0, 2, 1], **F64),
    case(x=tensor([2, 3]), pad=[1, 1, 0, 0], value=float("-inf"), is_varied=False),
    case(x=tensor([2, 3], dims=[-1, 3]), pad=[1, 0, 2, 1], value=tensor([1], values=[2.5]), **NOT_FED),
    case(x=int64s(2**24 + 1, 2**31 - 1, 5, dims=[-1]), pad=[1, 0], value=int64s(2**25 + 3), **NOT_FED),
    case(x=tensor([2, 3], "complex64", dims=[-1, 3]), pad=[1, 0, 2, 1], value=1.5, **COMPLEX_HERE),
]

PAD3D = [
    case(x=tensor([1, 2, 3, 4], dims=[-1, 2, -1, -1]), pad=[1, 2, 0, 1], value=1.5),
    case(x=tensor([1, 2, 3, 4]), pad=[3, 2, 2, 1], mode="reflect"),
    case(x=tensor([1, 2, 3, 4]), pad=[5, 2, 4, 1], mode="replicate"),
    case(x=tensor([1, 2, 3, 4]), pad=[6, 5, 4, 7], mode="circular"),
    case(x=tensor([1, 3, 4, 2]), pad=[1, 2, 0, 1], data_format="NHWC", value=1.0),
    case(x=tensor([1, 3, 4, 2]), pad=[1, 2, 0, 1], data_format="NHWC", mode="reflect"),
    case(x=tensor([1, 3, 4, 2], dims=[-1, -1, -1, 2]), pad=[1, 2, 0, 1], data_format="NHWC", mode="circular"),
    case(x=tensor([1, 2, 4]), pad=[1, 2], data_format="NCL"),
    case(x=tensor([1, 2, 4]), pad=[1, 2], data_format="NCL", mode="replicate"),
    case(x=tensor([1, 4, 2]), pad=[1, 2], data_format="NLC", mode="reflect"),
    case(x=tensor([1, 2, 3, 4, 5]), pad=[1, 2, 0, 1, 2, 0], data_format="NCDHW"),
    case(x=tensor([1, 2, 3, 4, 5]), pad=[1, 2, 0, 1, 2, 0], data_format="NCDHW", mode="reflect"),
    case(x=tensor([1, 2, 3, 4, 5]), pad=[1, 2, 0, 1, 2, 0], data_format="NCDHW", mode="circular"),
    case(x=tensor([1, 3, 4, 5, 2]), pad=[1, 2, 0, 1, 2, 0], data_format="NDHWC", mode="replicate"),
    case(x=tensor([1, 3, 4, 5, 2]), pad=[1, 2, 0, 1, 2, 0], data_format="NDHWC", value=-2.0),
    case(x=tensor([1, 2, 5, 6]), pad=[-1, 2, 1, -2]),
    case(x=tensor([1, 2, 5, 6]), pad=[-1, -1, 0, -2], value=3.0),
    case(x=tensor([1, 2, 5, 6]), pad=[-1, 2, 1, -2], mode="reflect"),
    case(x=tensor([1, 2, 5, 6]), pad=[-1, 2, 1, -2], mode="replicate"),
    case(x=tensor([1, 2, 3, 4]), pad=int32s(1, 2, 0, 1), mode="reflect"),
    case(x=tensor([1, 2, 3, 4]), pad=int32s(1, 2, 0, 1), mode="replicate"),
    case(x=tensor([1, 2, 3, 4]), pad=int32s(1, 5, 0, 1), mode="circular"),
    case(x=tensor([1, 3, 4, 2]), pad=int32s(1, 2, 0, 1), data_format="NHWC", value=2.0),
    case(x=tensor([1, 2, 3, 4], "int64"), pad=[1, 2, 0, 1], value=3),
    case(x=tensor([1, 2, 3, 2]), pad=int32s(-3, 4, 4, -5), value=1.5),
    case(x=tensor([1, 2, 3, 2]), pad=[-3, 4, 4, -5], value=1.5),
    case(x=tensor([1, 2, 4], "complex64"), pad=[1, 2], data_format="NCL", value=1.5, **COMPLEX_HERE),
]


OPS = [
    Op("pad", function("nn.functional.pad"), *PAD),
    Op("pad3d", function("nn.functional.pad"), *PAD3D),
]
