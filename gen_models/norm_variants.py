"""Normalization of other kinds: by neighbouring channels, by collected sums, by spectral norm."""

from gen_models.harness.building import legacy_op, weight
from gen_models.harness.marks import NOT_PUBLIC
from gen_models.harness.spec import Op, case, paddle, tensor


def _lrn(x, *, n=5, k=1.0, alpha=1e-4, beta=0.75, data_format="NCHW", middle=False):
    attributes = {"n": n, "k": k, "alpha": alpha, "beta": beta, "data_format": data_format}
    made = legacy_op("lrn", {"X": x}, {"Out": x.dtype, "MidOut": x.dtype}, attributes)
    return made if middle else made[0]


LRN = [
    case(x=tensor([2, 7, 3, 4])),
    case(x=tensor([2, 7, 3, 4], dims=[-1, 7, -1, -1]), n=3, k=2.0, alpha=0.1, beta=0.5),
    case(x=tensor([2, 7, 3, 4]), n=3, k=2.0, alpha=0.3, beta=0.5, middle=True),
    case(x=tensor([2, 3, 4, 7]), n=5, alpha=0.2, data_format="NHWC"),
    case(x=tensor([2, 3, 3, 4]), n=7, alpha=0.2),
]


def _data_norm(x, *, channels, affine=False):
    inputs = {
        "X": x,
        "BatchSize": weight([channels], low=5, high=9, seed=1),
        "BatchSum": weight([channels], seed=2),
        "BatchSquareSum": weight([channels], low=1, high=9, seed=3),
    }
    if affine:
        inputs |= {"scale_w": weight([channels], seed=4), "bias": weight([channels], seed=5)}
    outputs = dict.fromkeys(("Y", "Means", "Scales"), x.dtype)
    return legacy_op("data_norm", inputs, outputs, {"enable_scale_and_shift": affine})[0]


DATA = [
    case(x=tensor([4, 3]), channels=3),
    case(x=tensor([4, 3], dims=[-1, 3]), channels=3, affine=True),
]


def _spectral_norm(weight, *, dim=0, power_iters=1, eps=1e-12):
    return paddle.nn.SpectralNorm(list(weight.shape), dim, power_iters, eps)(weight)


SPECTRAL = [
    case(weight=tensor([4, 3])),
    case(weight=tensor([4, 3, 2, 2]), power_iters=3),
    case(weight=tensor([4, 3, 2, 2]), dim=1, power_iters=2, eps=1e-4),
    case(weight=tensor([2, 3, 2, 2, 2]), dim=1, power_iters=5),
]


OPS = [
    Op("lrn", _lrn, *LRN, **NOT_PUBLIC),
    Op("data_norm", _data_norm, *DATA, **NOT_PUBLIC),
    Op("spectral_norm", _spectral_norm, *SPECTRAL),
]
