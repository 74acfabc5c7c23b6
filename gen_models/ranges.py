"""Programs for converters/ranges.py."""

from gen_models.harness.marks import pir
from gen_models.harness.spec import Op, case, int32s, paddle, tensor


def _s(value, dtype="float32"):
    return tensor([1], dtype, values=[value])


def _arange(x=None, *, start=0, end=None, step=1, dtype=None):
    if x is not None:
        end = paddle.shape(x)[0]
    return paddle.arange(start, end, step, dtype)


def _range_v2(start, end, step, *, dtype="float32"):
    return paddle._C_ops.range_v2(start, end, step, getattr(paddle, dtype), paddle.CPUPlace())


OPS = [
    Op(
        "range_v2",
        _range_v2,
        case(start=_s(1.5), end=_s(4), step=_s(0.5)),
        case(start=_s(4), end=_s(-1), step=_s(-1.5)),
        case(start=_s(2, "int64"), end=_s(9, "int64"), step=_s(3, "int64"), dtype="int64"),
        case(start=_s(7, "int32"), end=_s(0, "int32"), step=_s(-2, "int32"), dtype="int32"),
        case(start=_s(1), end=_s(1), step=_s(1)),
        case(start=_s(2**24 + 1, "int64"), end=_s(2**24 + 3, "int64"), step=_s(1, "int64"), dtype="int64"),
        is_varied=False,  # Paddle divides by a step that an integer type makes 0
        formats=("pir",),
        why="new in Paddle 3.3",
    ),
    Op(
        "range",
        _arange,
        case(end=5),
        case(start=2, end=9, step=3),
        case(start=9, end=2, step=-2, dtype="int32"),
        case(start=0.5, end=3.1, step=0.25),
        case(start=1.0, end=0.0, step=-0.3, dtype="float32"),
        case(start=3, end=3, dtype="int64"),
        case(start=1, end=0, dtype="int64", **pir("Paddle 2 refuses it")),
        case(end=5000, dtype="float32", atol=1e-2, why="the kernel adds up in float32, OpenVINO multiplies"),
        case(x=tensor([4, 3], dims=[-1, 3])),
        case(x=tensor([4, 3], dims=[-1, 3]), dtype="float32"),
        case(start=_s(1, "int64"), end=_s(8, "int64"), step=_s(2, "int64"), dtype="int64"),
        case(start=_s(8, "int32"), end=_s(1, "int32"), step=_s(-2, "int32"), dtype="int32"),
        case(start=_s(8), end=_s(1), step=_s(2), **pir("Paddle 2 refuses it")),
        case(start=_s(0.5), end=_s(2.0), step=_s(0.3), dtype="float32"),
        case(start=_s(0.5, "float64"), end=_s(2.0, "float64"), step=_s(0.3, "float64"), dtype="float64"),
    ),
    Op(
        "linspace",
        lambda start, stop, num, dtype=None: paddle.linspace(start, stop, num, dtype),
        case(start=0.0, stop=1.0, num=5),
        case(start=-1.0, stop=3.0, num=8, dtype="float32"),
        case(start=1.0, stop=3.0, num=1),
        case(start=0, stop=10, num=4, dtype="int32"),
        case(start=10, stop=-3, num=6, dtype="int64"),
        case(start=_s(0.5), stop=_s(4.5), num=int32s(7)),
        case(start=_s(0.5), stop=_s(4.5), num=int32s(1)),
    ),
    Op(
        "logspace",
        lambda start, stop, num, base=10.0, dtype=None: paddle.logspace(start, stop, num, base, dtype),
        case(start=0.0, stop=2.0, num=5),
        case(start=-1.0, stop=1.0, num=4, base=2.0, dtype="float32"),
        case(start=1.0, stop=3.0, num=1),
        case(start=_s(0.5), stop=_s(1.5), num=int32s(6), base=_s(3.0)),
    ),
]
