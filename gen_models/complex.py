"""Complex numbers."""

from gen_models.harness.building import function
from gen_models.harness.spec import Op, case, paddle, tensor

_X = tensor([3, 4], "complex64")
_DYNAMIC = tensor([2, 3, 4], "complex64", dims=[-1, 3, -1])
_SCALAR = tensor([], "complex64")


_BOTH = [case(x=_X), case(x=_DYNAMIC), case(x=_SCALAR)]
_REAL = [case(x=tensor([3, 4])), case(x=tensor([3], values=[0.0, -2.0, 3.0]))]

OPS = [
    Op("real", function("real"), *_BOTH),
    Op("imag", function("imag"), *_BOTH),
    Op("conj", function("conj"), *_BOTH, case(x=tensor([3, 4]))),
    Op("angle", function("angle"), *_BOTH, *_REAL),
    Op("as_real", function("as_real"), *_BOTH),
    Op(
        "as_complex",
        function("as_complex"),
        case(x=tensor([3, 4, 2])),
        case(x=tensor([3, 4, 2], dims=[-1, -1, 2])),
        case(x=tensor([2])),
    ),
    Op(
        "complex",
        lambda x, y: paddle.complex(x, y),
        case(x=tensor([3, 4]), y=tensor([3, 4])),
        case(x=tensor([3, 1]), y=tensor([4])),
        case(x=tensor([2, 3, 4], dims=[-1, 3, -1]), y=tensor([3, 1], dims=[-1, 1])),
        case(x=tensor([]), y=tensor([])),
        case(x=tensor([]), y=tensor([2, 3])),
    ),
]
