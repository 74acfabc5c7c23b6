"""Programs for converters/slicing.py."""

from gen_models.harness.building import function, legacy_op
from gen_models.harness.marks import COMPLEX_HERE, NEW, legacy, pir
from gen_models.harness.spec import Op, case, int32s, int64s, paddle, tensor

BACKWARD = pir("Paddle 2 misreads a negative end of a negative stride, also where it leaves out the first element")


def _slice(x, at=None, *, axes=None, starts=None, ends=None, key=None):
    """paddle.slice, where a string bound names a dimension of x; or x[key], where a string stands for `at`."""
    if key is not None:
        return x[tuple(_part(item, at) for item in (key if isinstance(key, tuple) else (key,)))]
    own = paddle.shape(x)
    starts, ends = (
        [own[int(item)] if isinstance(item, str) else item for item in items] if isinstance(items, list) else items
        for items in (starts, ends)
    )
    return paddle.slice(x, axes, starts, ends)


def _part(item, at):
    if isinstance(item, slice):
        return slice(*(at if bound == "at" else bound for bound in (item.start, item.stop, item.step)))
    return at if isinstance(item, str) else item


def _strided_slice(x, at=None, *, axes=None, starts=None, ends=None, strides=None, key=None):
    if key is not None:
        return x[tuple(_part(item, at) for item in key)]
    return paddle.strided_slice(x, axes, starts, ends, strides)


def _set_value(x, value=None, at=None, *, key, number=None, squeezed=False):
    """x[key] = value, on a copy of x."""
    if squeezed:
        value = paddle.squeeze(value)
    out = x + 0 if x.dtype not in (paddle.bool,) else paddle.logical_and(x, x)
    items = key if isinstance(key, tuple) else (key,)
    items = tuple(_part(item, at) for item in items)
    return paddle.static.setitem(out, items, number if value is None else value)


def _crop_v1(x, like=None, at=None, *, offsets=(), size=()):
    inputs = {"X": x, "Y": like, "Offsets": at}
    return legacy_op("crop", inputs, {"Out": x.dtype}, {"offsets": list(offsets), "shape": list(size)})


_OLD = legacy("an operator of Paddle 1 that Paddle 2 still runs")


_AT = (slice(None), "at")

OPS = [
    Op(
        "crop",
        _crop_v1,
        case(x=tensor([4, 5]), offsets=[1, 2], size=[2, 3]),
        case(x=tensor([4, 5], dims=[-1, 5]), offsets=[0, 2], size=[-1, 3], is_varied=False),
        case(x=tensor([2, 6, 7], dims=[-1, 6, 7]), like=tensor([2, 3, 4]), offsets=[0, 1, 2]),
        case(x=tensor([4, 5]), at=int32s(1, 1), size=[2, 3]),
        **_OLD,
    ),
    Op(
        "view_slice",
        lambda x, begin, end: paddle._C_ops.view_slice(x, begin, end),
        case(x=tensor([4, 5]), begin=1, end=3, **NEW),
        case(x=tensor([4, 5], dims=[4, -1]), begin=0, end=2, **NEW),
    ),
    Op(
        "slice",
        _slice,
        case(x=tensor([4, 5]), axes=[0], starts=[1], ends=[3]),
        case(x=tensor([4, 5]), axes=[0, 1], starts=[1, -3], ends=[100, -1]),
        case(x=tensor([4, 5]), axes=[1], starts=[-100], ends=[2]),
        case(x=tensor([4, 5, 6]), axes=[2, 0], starts=[0, 1], ends=[2**31 - 1, 3]),
        case(x=tensor([4, 5], "int64", dims=[-1, -1]), axes=[0, 1], starts=[1, 2], ends=[-1, 2**31 - 1]),
        case(x=tensor([4, 5], "bool"), axes=[-1], starts=[1], ends=[3]),
        case(x=tensor([4, 5]), axes=[0], starts=[3], ends=[1], **pir("Paddle 2 refuses it")),
        case(x=tensor([4, 5]), axes=[0, 1], starts=int32s(1, 2), ends=int32s(3, 4)),
        case(x=tensor([4, 5]), axes=[0, 1], starts=[int32s(1), 2], ends=[3, int32s(-1)]),
        case(x=tensor([4, 5], dims=[-1, 5]), axes=[0], starts=[1], ends=["0"]),
        case(x=tensor([4, 5], dims=[-1, 5]), axes=[0, 1], starts=[int64s(-2), 0], ends=["0", 3]),
        case(x=tensor([0, 5]), axes=[0, 1], starts=[0, 1], ends=[3, 2]),
        *(case(x=tensor([4, 5]), key=key) for key in (1, -1, (2, -2))),
        case(x=tensor([4, 5, 6]), key=(Ellipsis, 0)),
        case(x=tensor([4, 5, 6]), key=(slice(1, 3), 2, slice(None, -1))),
        case(x=tensor([4, 5, 6]), key=(slice(1, 3), None, 2)),
        case(x=tensor([4, 5], "int64", dims=[-1, -1]), key=(-1, slice(1, None))),
        case(x=tensor([4]), key=2),
        case(x=tensor([4, 5]), key=(slice(4, None), -1), **pir("Paddle 2 refuses it")),
        case(x=tensor([4, 5]), at=int32s(2), key=(slice("at", None),)),
        case(x=tensor([4, 5], dims=[-1, 5]), at=int64s(3), key=(slice(1, "at"), 1)),
    ),
    Op(
        "strided_slice",
        _strided_slice,
        case(x=tensor([6, 7]), axes=[0], starts=[0], ends=[6], strides=[2]),
        case(x=tensor([6, 7]), axes=[0, 1], starts=[1, -2], ends=[5, -7], strides=[3, -1]),
        case(x=tensor([6, 7]), axes=[1], starts=[100], ends=[-100], strides=[-2]),
        case(x=tensor([6, 7]), axes=[1], starts=[-1], ends=[-8], strides=[-1]),
        case(x=tensor([6, 7]), axes=[1], starts=[5], ends=[-1], strides=[-1]),
        case(x=tensor([6, 7]), axes=[0, 1], starts=[-1, -9], ends=[-4, -12], strides=[-1, -2], **BACKWARD),
        case(x=tensor([6, 7]), axes=[1], starts=int32s(-8), ends=int32s(-9), strides=[-1], **BACKWARD),
        case(x=tensor([6, 7]), key=(slice(None, None, -1),)),
        case(x=tensor([6, 7], dims=[-1, -1]), key=(slice(None, None, 2), slice(None, None, -2))),
        case(x=tensor([6, 7]), at=int32s(4), key=(slice("at", None, -1), 3)),
        case(x=tensor([6, 7]), at=int32s(4), key=(slice(None, "at"), slice(None, None, -1))),
        case(x=tensor([6, 7]), axes=[1], starts=[-9], ends=[-1], strides=[-1]),
        case(x=tensor([6, 7], dims=[-1, -1]), axes=[0, 1], starts=[2, 5], ends=[-7, -1], strides=[-1, -1]),
        case(x=tensor([6, 7]), axes=[0], starts=[5], ends=[0], strides=[-1]),
        case(x=tensor([6, 7], "int64", dims=[-1, -1]), axes=[0, 1], starts=[1, 6], ends=[100, 1], strides=[2, -2]),
        case(x=tensor([6, 7]), axes=[0, 1], starts=int32s(1, 5), ends=int32s(6, 1), strides=int32s(2, -2)),
        case(x=tensor([6, 7]), axes=[0, 1], starts=[int32s(1), 5], ends=[6, int32s(1)], strides=[2, -1]),
        case(x=tensor([6, 7], "bool"), axes=[1], starts=[1], ends=[6], strides=[2]),
    ),
    Op(
        "crop_tensor",
        function("crop"),
        case(x=tensor([4, 5]), shape=[2, 3], offsets=[1, 2]),
        case(x=tensor([4, 5]), shape=[2, -1], offsets=[1, 2]),
        case(x=tensor([4, 5]), shape=[2, 2]),
        case(x=tensor([4, 5], dims=[-1, 5]), shape=[2, 3], offsets=[2, 2]),
        case(x=tensor([4, 5]), shape=int32s(2, 3), offsets=int32s(1, 1)),
        case(x=tensor([4, 5], "int64"), shape=[int32s(2), 3], offsets=[1, int32s(2)]),
    ),
    Op(
        "set_value",
        _set_value,
        *(case(x=tensor([4, 5]), key=key, number=2.5) for key in ((slice(1, 3),), 1, -1)),
        case(x=tensor([4, 5]), key=(slice(None), slice(None, None, 2)), number=-1.0),
        case(x=tensor([4, 5], "int64"), key=(slice(None), 2), number=7),
        case(x=tensor([4, 5], "int32"), key=(Ellipsis, slice(1, None)), number=7),
        case(x=tensor([4, 5], "bool"), key=(slice(0, 2), slice(1, 3)), number=True),
        case(x=tensor([4, 5], dims=[-1, -1]), key=(slice(1, None), slice(0, -1)), number=0.5),
        case(x=tensor([4, 5]), at=int32s(2), key=("at",), number=0.5),
        case(x=tensor([4, 5]), at=int32s(-1), key=("at", 2), number=0.5),
        case(x=tensor([4, 5]), key=(slice(3, -9, -1),), number=0.5),
        case(x=tensor([4, 5], dims=[-1, -1]), key=(slice(None, None, -2), slice(1, 3)), number=0.5),
        case(x=tensor([4, 5]), at=int32s(3), key=(slice(None, "at"),), number=0.5),
        case(x=tensor([3, 2, 5]), at=int32s(1), key=("at", slice(None), slice(3, None)), number=0.5),
        case(x=tensor([3, 2, 5], dims=[-1, -1, -1]), at=int32s(-1), key=("at", slice(1, None)), number=0.5),
        case(x=tensor([3, 2, 5]), at=int32s(1), key=("at", slice(None, None, -1), slice("at", None)), number=0.5),
        case(x=tensor([4, 5]), key=(slice(None, None, -2),), number=3.0),
        case(x=tensor([4, 5]), at=int32s(2), key=(slice(None, "at"), slice(None, None, -1)), number=3.0),
        case(x=tensor([4]), key=(slice(3, 1),), number=3.0, **pir("Paddle 2 refuses it")),
        case(x=tensor([4, 5]), key=(slice(-6, -7, -1),), number=3.0, **pir("Paddle 2 refuses it")),
        case(x=tensor([4, 5], "complex64"), key=(slice(1, 3),), number=2 - 1j, **COMPLEX_HERE),
    ),
    Op(
        "set_value_with_tensor",
        _set_value,
        case(x=tensor([4, 5]), value=tensor([2, 5]), key=(slice(1, 3),)),
        case(x=tensor([4, 5]), value=tensor([5]), key=(slice(1, 3),)),
        case(x=tensor([4, 5]), value=tensor([5]), key=1),
        case(x=tensor([4, 5]), value=tensor([4]), key=(slice(None), -1)),
        case(x=tensor([4, 5]), value=tensor([4, 1], dims=[-1, -1]), key=(slice(None), 2), squeezed=True),
        case(x=tensor([4, 5]), value=tensor([1, 1], dims=[-1, -1]), key=(slice(None), 2), squeezed=True),
        case(x=tensor([4, 5, 6]), value=tensor([1, 4, 1], dims=[-1, -1, 1]), key=(slice(None), slice(None), 2)),
        case(x=tensor([4, 5]), value=tensor([4, 1]), key=(slice(None), slice(1, 3))),
        case(x=tensor([4, 5, 6]), value=tensor([4, 6]), key=(slice(None), 2)),
        case(x=tensor([4, 5, 6]), value=tensor([1, 6]), key=(slice(None), 2)),
        case(x=tensor([4, 5, 6]), value=tensor([5]), key=(0, slice(None), 1)),
        case(x=tensor([4, 5]), value=tensor([1]), key=(slice(None), slice(1, 4, 2))),
        case(x=tensor([4, 5], "int64"), value=tensor([2, 5], "int64"), key=(slice(3, 1, -1),)),
        case(x=tensor([4, 5], "complex64", dims=[-1, 5]), value=tensor([5], "complex64"), key=(slice(1, 3),)),
        case(x=tensor([4, 5]), value=tensor([2, 1, 5]), key=(slice(1, 3), None)),
        case(x=tensor([4, 5]), value=tensor([1, 5]), key=(1, None)),
        case(x=tensor([4, 5]), value=tensor([1, 4, 5]), key=None),
        case(x=tensor([4, 5], dims=[-1, -1]), value=tensor([4, 1, 5]), key=(slice(None), None)),
        case(x=tensor([4, 5], dims=[-1, 5]), value=tensor([2, 5]), key=(slice(1, 3),)),
        case(x=tensor([4, 5], dims=[-1, -1]), value=tensor([3, 2], dims=[-1, -1]), key=(slice(1, None), slice(0, 2))),
        case(x=tensor([4, 5]), value=tensor([5]), at=int64s(2), key=("at",)),
        *(
            case(x=tensor([4, 5], dims=[-1, 5]), value=tensor(shape), at=tensor([], "int64", values=[at]), key=_AT)
            for at, shape in ((3, [4]), (-5, [1]), (5, [4]), (-7, [4]))  # Paddle writes nothing out of range
        ),
        case(x=tensor([4, 5]), value=tensor([2, 5]), at=int32s(2), key=(slice(None, "at"),)),
        case(x=tensor([4, 5]), value=tensor([], values=[2.0]), key=(0, 0)),
        case(x=tensor([4, 5], dims=[-1, -1]), value=tensor([4, 1]), at=int32s(2), key=(slice(None), slice("at", None))),
        case(x=tensor([4, 5]), value=tensor([2, 2]), at=int32s(2), key=(slice("at", None), slice(None, "at"))),
        case(x=tensor([4, 5], "int32"), value=tensor([2], "int32"), at=int32s(2), key=(slice("at", None), "at")),
        case(
            x=tensor([4, 5], "bool"), value=tensor([2, 2], "bool"), at=int32s(2), key=(slice("at", None), slice(0, 2))
        ),
    ),
]
