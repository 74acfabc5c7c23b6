"""Fused element-wise operators."""

from gen_models.harness.building import legacy_op
from gen_models.harness.marks import NO_FUNCTION
from gen_models.harness.spec import Op, case, tensor


def _activation(x, y, *, functors, axis=-1, scale=0.0, save=False, add=False):
    name = "fused_elemwise_add_activation" if add else "fused_elemwise_activation"
    attrs = {"functor_list": list(functors), "axis": axis, "scale": scale, "save_intermediate_out": save}
    return legacy_op(name, {"X": x, "Y": y}, {"Out": x.dtype, "IntermediateOut": x.dtype}, attrs)[: 2 if save else 1]


PAIRS = [
    ["elementwise_add", "scale"],
    ["scale", "elementwise_add"],
    ["elementwise_add", "relu"],
    ["relu", "elementwise_add"],
    ["elementwise_mul", "scale"],
    ["tanh", "elementwise_add"],
    ["elementwise_mul", "tanh"],
    ["elementwise_mul", "sigmoid"],
    ["gelu", "elementwise_add"],
]


ACTIVATION = [
    *(case(x=tensor([2, 3, 4]), y=tensor([2, 3, 4]), functors=pair, scale=0.5) for pair in PAIRS),
    case(x=tensor([2, 3, 4], dims=[-1, 3, -1]), y=tensor([2, 3, 4], dims=[-1, -1, 4]), functors=PAIRS[3], save=True),
    case(x=tensor([2, 3, 4]), y=tensor([3]), functors=PAIRS[3], axis=1),
    case(x=tensor([2, 3, 4]), y=tensor([3, 4]), functors=PAIRS[2]),
]

OPS = [
    Op("fused_elemwise_activation", _activation, *ACTIVATION, **NO_FUNCTION),
    Op(
        "fused_elemwise_add_activation",
        lambda x, y, **attributes: _activation(x, y, add=True, **attributes),
        *ACTIVATION[2:4],
        **NO_FUNCTION,
    ),
]
