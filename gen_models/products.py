"""Products and distances of whole tensors."""

from gen_models.harness.building import function
from gen_models.harness.marks import COMPLEX_HERE, NOT_EMPTY
from gen_models.harness.spec import Op, case, tensor

OPS = [
    Op(
        "kron",
        function("kron"),
        case(x=tensor([2, 3]), y=tensor([4, 2])),
        case(x=tensor([2, 3], dims=[-1, 3]), y=tensor([4, 2], dims=[-1, -1])),
        case(x=tensor([3]), y=tensor([2, 2, 2])),
        case(x=tensor([2, 3, 2], "int32"), y=tensor([2], "int32")),
        case(x=tensor([2, 3], "int64"), y=tensor([2, 1], "int64")),
        case(x=tensor([]), y=tensor([])),
    ),
    Op(
        "cross",
        function("cross"),
        case(x=tensor([3, 3]), y=tensor([3, 3])),
        case(x=tensor([3, 3]), y=tensor([3, 3]), axis=1),
        case(x=tensor([2, 3, 4]), y=tensor([2, 3, 4])),
        case(x=tensor([2, 4, 3], dims=[-1, -1, 3]), y=tensor([2, 4, 3], dims=[-1, -1, 3]), axis=-1),
        case(x=tensor([3], "int32"), y=tensor([3], "int32"), axis=0),
        case(x=tensor([4, 3], dims=[-1, 3]), y=tensor([4, 3], dims=[-1, 3])),
        case(x=tensor([3, 3], dims=[-1, 3]), y=tensor([3, 3], dims=[-1, 3])),
        case(x=tensor([2, 3, 4], "int64", dims=[-1, -1, -1]), y=tensor([2, 3, 4], "int64", dims=[-1, -1, -1])),
        case(x=tensor([4, 3], "complex64"), y=tensor([4, 3], "complex64"), **COMPLEX_HERE),
    ),
    Op(
        "dist",
        function("dist"),
        *[case(x=tensor([3, 4]), y=tensor([3, 4]), p=p) for p in (0.0, 1.0, 2.0, 3.0, 0.5)],
        *[case(x=tensor([3, 4]), y=tensor([3, 4]), p=p) for p in (float("inf"), float("-inf"))],
        case(x=tensor([3, 4], dims=[-1, 4]), y=tensor([4])),
        case(x=tensor([2, 1, 4]), y=tensor([3, 1]), p=1.0),
        case(x=tensor([2], values=[1.0, 2.0]), y=tensor([2], values=[1.0, 3.0]), p=0.0),
        case(x=tensor([0, 3]), y=tensor([1, 3]), **NOT_EMPTY),
    ),
    Op(
        "multiplex",
        function("multiplex"),
        case(x=[tensor([4, 3]), tensor([4, 3])], index=tensor([4, 1], "int32", 0, 2)),
        case(x=[tensor([4, 3], dims=[-1, 3])] * 3, index=tensor([4, 1], "int32", 0, 3, dims=[-1, 1])),
        case(x=[tensor([2, 3, 2], "int64")] * 2, index=tensor([2, 1], "int32", 0, 2)),
        case(
            x=[tensor([2, 2], "int32", values=[[2**24 + 1, 3], [2**31 - 1, 4]], dims=[2, -1])] * 2,
            index=tensor([2, 1], "int32", 0, 2),
        ),
        case(x=[tensor([4, 3], "complex64")] * 2, index=tensor([4, 1], "int32", 0, 2), **COMPLEX_HERE),
    ),
]
