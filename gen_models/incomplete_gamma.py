"""The incomplete gamma function: both ways to compute it, and where neither applies."""

import math

from gen_models.harness.building import function
from gen_models.harness.marks import NEW, pir
from gen_models.harness.spec import Op, case, tensor

_LARGE = pir("new in Paddle 3; x · ln y loses digits that the exponential brings up", atol=2e-4, rtol=2e-4)


OPS = [
    Op(
        "gammaincc",
        function("gammaincc"),
        case(x=tensor([3, 4], low=0.1, high=5), y=tensor([3, 4], low=0, high=8), **NEW),
        case(x=tensor([3, 4], low=5, high=20, dims=[-1, 4]), y=tensor([3, 4], low=5, high=20), **NEW),
        case(x=tensor([], low=1, high=2), y=tensor([], low=1, high=2), **NEW),
        case(x=tensor([5], values=[1.0, 2.0, 0.5, 3.0, 1.0]), y=tensor([5], values=[0, 1, 0.5, 3, 1]), **NEW),
        case(x=tensor([4], values=[1, 2, 2, 3]), y=tensor([4], values=[math.inf, 200, 1e10, 1e-30]), **NEW),
        case(x=tensor([4], values=[1, 2, 2, 30]), y=tensor([4], values=[1e18, 1e25, 3e38, 1e20]), **NEW),
        # What has settled waits for slower ones.
        case(x=tensor([2], values=[3.608638, 0.2]), y=tensor([2], values=[4.2915573, 1.0]), **NEW),
        case(x=tensor([4], low=50, high=90), y=tensor([4], low=50, high=90), **_LARGE),
        case(x=tensor([0, 3]), y=tensor([0, 3]), **NEW),
        case(x=tensor([2, 3], "float64", low=1, high=3), y=tensor([2, 3], "float64", low=1, high=3), **NEW),
    ),
]
