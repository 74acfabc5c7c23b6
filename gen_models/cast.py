"""Types, and operators that hand their input on."""

import math

from gen_models.harness.building import function, legacy_op, operator
from gen_models.harness.marks import LEGACY, pir
from gen_models.harness.spec import Op, case, int32s, paddle, tensor

COMPLEX = pir("Paddle 2.6 does not cast complex numbers")
PIR = pir("only PIR programs have it")


def _cast(x=None, *, dtype, value=None):
    return paddle.cast(x if value is None else paddle.full([2], value, "int64"), dtype)


def _depend(x, dep):
    # It orders x behind dep, and its result has to be x itself.
    y, dep = paddle.abs(x), paddle.abs(dep)
    block = paddle.static.default_main_program().current_block()
    block.append_op(type="depend", inputs={"X": [y], "Dep": [dep]}, outputs={"Out": [y]}, attrs={})
    return paddle.exp(y) + paddle.sum(dep)


def _assign_out(x):
    out = paddle.zeros_like(x)
    paddle.assign(x, out)
    return paddle.abs(out)


def _seed(x=None, *, seed):
    drawn = legacy_op("seed", {}, {"Out": "int32"}, {"seed": seed, "force_cpu": True})
    if x is None:
        return drawn
    attributes = {"is_test": True, "dropout_prob": 0.3, "dropout_implementation": "downgrade_in_infer"}
    return legacy_op("dropout", {"X": x, "Seed": drawn}, {"Out": x.dtype, "Mask": "uint8"}, attributes)[0]


_MODES = ("upscale_in_train", "downgrade_in_infer")


def _dropout_nd(x, *, p, mode):
    attributes = {"is_test": True, "dropout_prob": p, "dropout_implementation": mode, "axis": [0]}
    return legacy_op("dropout_nd", {"X": x}, {"Out": x.dtype, "Mask": "uint8"}, attributes)[0]


def _assert(x):
    paddle.static.nn.control_flow.Assert(paddle.all(x > -100.0), [x])
    return paddle.abs(x)


OPS = [
    Op(
        "cast",
        _cast,
        *[case(x=tensor([3, 4], low=-9, high=9), dtype=to) for to in ("int32", "int64", "bool", "float64", "int8")],
        *[case(x=tensor([3, 4], "int64"), dtype=to) for to in ("int32", "float32", "bool", "float64")],
        *[case(x=tensor([3, 4], "int32", dims=[-1, 4]), dtype=to) for to in ("int64", "float32", "bool")],
        *[case(x=tensor([3, 4], "bool"), dtype=to) for to in ("int32", "float32", "int64", "uint8")],
        case(x=tensor([6], values=[0.5, -0.5, 0.0, -0.0, 1e-30, math.inf]), dtype="bool"),
        case(x=tensor([1], values=[math.nan]), dtype="bool"),
        case(x=tensor([6], values=[2.5, -2.5, 1.99, -1.99, 0.99, -0.99]), dtype="int32"),
        case(x=int32s(256, 512, -256, 0), dtype="bool"),
        case(x=int32s(255, 0, 7, 128), dtype="uint8"),
        *[case(x=tensor([40], low=-1000, high=1000), dtype=to) for to in ("int8", "uint8", "int16")],
        case(x=tensor([]), dtype="int64"),
        case(x=tensor([3, 4]), dtype="float32"),
        case(x=tensor([3, 4], "float64"), dtype="float32"),
        case(x=tensor([0, 4]), dtype="int32"),
        case(x=tensor([3, 4]), dtype="float16"),
        case(x=tensor([3, 4], "float16"), dtype="float32"),
        case(x=tensor([3, 4], dims=[-1, 4]), dtype="complex64", **COMPLEX),
        case(x=tensor([3, 4], "int32"), dtype="complex64", **COMPLEX),
        case(value=3, dtype="complex64", **COMPLEX),
        case(x=tensor([3, 4], "complex64"), dtype="float32", **COMPLEX),
        case(x=tensor([3, 4], "complex64"), dtype="complex128", **COMPLEX),
        case(x=tensor([2, 2], "complex64", values=[[0, 1j], [1, 0]]), dtype="bool", **COMPLEX),
    ),
    Op(
        "dropout",
        lambda x, p=0.5, mode="downscale_in_infer": paddle.nn.functional.dropout(x, p, training=False, mode=mode),
        case(x=tensor([3, 4]), mode="upscale_in_train"),
        case(x=tensor([3, 4]), mode="downscale_in_infer"),
        case(x=tensor([3, 4], dims=[-1, 4]), p=0.1),
        case(x=tensor([3, 4]), p=0.0),
        case(x=tensor([3, 4]), p=1.0),
        case(x=tensor([3, 4]), p=tensor([1], low=0.1, high=0.9), **pir("Paddle 2.6 cannot run it")),
        case(x=tensor([]), p=0.3, mode="upscale_in_train"),
    ),
    Op(
        "assign",
        function("assign"),
        case(x=tensor([3, 4])),
        case(x=tensor([], "int64")),
        case(x=tensor([3, 4], "bool", dims=[-1, 4])),
    ),
    Op("share_data", operator("share_data"), case(x=tensor([3, 4])), **LEGACY),
    Op("memcpy", operator("memcpy"), case(x=tensor([3, 4]), dst_place_type=0), **LEGACY),
    Op("memcpy_d2h", operator("memcpy_d2h"), case(x=tensor([3, 4]), dst_place_type=0), **LEGACY),
    Op("memcpy_h2d", operator("memcpy_h2d"), case(x=tensor([3, 4]), dst_place_type=0), **LEGACY),
    Op("npu_identity", operator("npu_identity", {"x": "x"}, "out"), case(x=tensor([3, 4]), format=-1), **LEGACY),
    Op("depend", _depend, case(x=tensor([3, 4]), dep=tensor([2])), **LEGACY),
    Op("dropout_nd", _dropout_nd, *[case(x=tensor([3, 4]), p=0.3, mode=mode) for mode in _MODES], **LEGACY),
    Op("assign_out", _assign_out, case(x=tensor([3, 4])), **PIR),
    Op("seed", _seed, case(seed=5), case(x=tensor([3, 4]), seed=0), **LEGACY),
    Op("print", lambda x: paddle.static.Print(x, message="x") * paddle.abs(x), case(x=tensor([3, 4]))),
    Op("assert", _assert, case(x=tensor([3, 4]))),
]
