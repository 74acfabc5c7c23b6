"""Programs for converters/creation.py."""

import numpy as np

from gen_models.harness.building import as_lod, function, is_pir, legacy_op, operator
from gen_models.harness.marks import COMPLEX_HERE, LEGACY, OLD, legacy, pir
from gen_models.harness.spec import Op, case, int32s, paddle, tensor


def _full(x=None, *, shape, value, dtype):
    """A string in `shape` names a dimension of x."""
    if x is not None:
        own = paddle.shape(x)
        shape = [own[int(dim)] if isinstance(dim, str) else dim for dim in shape]
    return paddle.full(shape, value, dtype)


def _batch_size_like(x, *, shape, value, dtype, source=0, target=0, lod=None):
    if lod is not None:
        x = as_lod(x, lod)
    kind = {"float32": paddle.float32, "int64": paddle.int64}[dtype]
    if is_pir():
        return paddle._C_ops.full_batch_size_like(x, shape, kind, value, source, target, paddle.CPUPlace())
    attrs = {"shape": shape, "dtype": kind, "value": float(value), "str_value": str(value)}
    attrs |= {"input_dim_idx": source, "output_dim_idx": target}
    return legacy_op("fill_constant_batch_size_like", {"Input": x}, {"Out": dtype}, attrs)


def _assign_value(*, values, dtype, shape=None):
    array = np.array(values, dtype)
    return paddle.assign(array if shape is None else array.reshape(shape))


def _empty_like(x, *, dtype=None):
    made = paddle.empty_like(x, dtype)
    return paddle.isnan(made.astype("float32")) & paddle.zeros_like(made).astype("bool")


def _empty_shape(*, shape, dtype="float32"):
    """An empty tensor has no content to compare: only what its shape and type are."""
    return paddle.zeros_like(paddle.empty(shape, dtype))


def _fill_zeros_like2(x, *, dtype):
    return legacy_op("fill_zeros_like2", {"X": x}, {"Out": dtype}, {"dtype": {"float32": 5, "int64": 3}[dtype]})


ZEROS_LIKE = [
    case(x=tensor([2, 3])),
    case(x=tensor([2, 3], "int64", dims=[-1, 3])),
    case(x=tensor([4], "bool")),
    case(x=tensor([], "float64")),
    case(x=tensor([0, 3], dims=[-1, 3])),
]

_TRIANGLES = [
    case(rows=3, columns=3),
    case(rows=4, columns=2, offset=1, dtype="int32"),
    case(rows=2, columns=5, offset=-1),
]


OPS = [
    Op(
        "fill_constant",
        _full,
        case(shape=[2, 3], value=1.5, dtype="float32"),
        case(shape=[2, 3], value=-7, dtype="int64"),
        case(shape=[], value=True, dtype="bool"),
        case(shape=[0, 2], value=2, dtype="int32"),
        case(shape=[2, 3], value=2.5, dtype="complex64"),
        case(shape=[2, 3], value=2.5 - 1j, dtype="complex64", **COMPLEX_HERE),
        case(x=tensor([4, 3], dims=[-1, 3]), shape=["0", 2], value=1, dtype="complex64"),
        case(shape=[3], value=2**40 + 1, dtype="int64", xfail="OpenVINO's CPU plugin computes int64 as int32"),
        case(shape=[3], value=float("inf"), dtype="float32"),
        case(shape=[3], value=float("nan"), dtype="float32", **legacy("Paddle 3.3 cannot read its own NaN")),
        case(shape=[80, 90], value=0.25, dtype="float32"),
        case(shape=[2, 3], value=200, dtype="uint8"),
        case(shape=[2, 3], value=0.5, dtype="float16"),
        case(shape=int32s(2, 3), value=1.5, dtype="float32"),
        case(shape=[int32s(2), 3], value=3, dtype="int64"),
        case(x=tensor([2, 5], dims=[-1, 5]), shape=["0", 1, "1"], value=1, dtype="float32"),
    ),
    Op(
        "full_int_array",
        function("reshape"),
        case(x=tensor([2, 3]), shape=[3, 2], **pir("an operator of PIR only")),
        case(x=tensor([2, 3]), shape=[-1], **pir("an operator of PIR only")),
    ),
    Op(
        "full_with_tensor",
        _full,
        case(shape=[2, 3], value=tensor([1], values=[1.5]), dtype="float32"),
        case(shape=[2, 3], value=tensor([], "int64", values=[7]), dtype="int64"),
        case(shape=int32s(2, 3), value=int32s(7), dtype="int32"),
        case(shape=[], value=tensor([]), dtype="float32"),
    ),
    Op(
        "fill_any_like",
        lambda x, value, dtype=None: paddle.full_like(x, value, dtype),
        case(x=tensor([2, 3]), value=1.5),
        case(x=tensor([2, 3]), value=3, dtype="int64"),
        case(x=tensor([]), value=2),
        case(x=tensor([2, 3], "int64", dims=[-1, 3]), value=1),
        case(x=tensor([2, 3], dims=[-1, -1]), value=1, dtype="bool"),
        case(x=tensor([0, 3]), value=1.0),
        case(x=tensor([2, 3], "complex64", dims=[-1, 3]), value=1.5, **COMPLEX_HERE),
        case(x=tensor([2, 3], "complex64"), value=1.5, dtype="float32", **COMPLEX_HERE),
        case(x=tensor([2, 3], "bool"), value=True),
        case(x=tensor([2, 3], "int32"), value=2, dtype="float32"),
        case(x=tensor([70, 80]), value=0.5),
        case(x=tensor([]), value=tensor([]), **pir("Paddle 2 takes no tensor")),
        case(x=tensor([2, 3], dims=[-1, -1]), value=tensor([1]), **pir("Paddle 2 takes no tensor")),
    ),
    Op("fill_zeros_like", operator("fill_zeros_like"), *ZEROS_LIKE, **LEGACY),
    Op("fill_zeros_like2", _fill_zeros_like2, case(x=tensor([2, 3], dims=[-1, 3]), dtype="float32"), **OLD),
    Op(
        "fill_constant_batch_size_like",
        _batch_size_like,
        case(x=tensor([4, 3]), shape=[1, 5], value=1.5, dtype="float32"),
        case(x=tensor([4, 3], dims=[-1, 3]), shape=[-1, 2, 5], value=2, dtype="int64"),
        case(x=tensor([4, 3], dims=[-1, -1]), shape=[2, -1], value=3, dtype="int64", source=1, target=1),
        *(
            case(x=tensor([4, 3]), shape=[-1, 5], value=1.5, dtype="float32", lod=lod, **legacy("LoD"))
            for lod in ([0, 1, 4], [0, 2, 4])
        ),
    ),
    Op(
        "assign_value",
        _assign_value,
        case(values=[1.5, -2.0, 3.25], dtype="float32"),
        case(values=[[1, 2], [3, 4]], dtype="int64"),
        case(values=[[1, 2], [3, 4]], dtype="int32"),
        case(values=[True, False, True], dtype="bool"),
        case(values=[0.1, 0.2], dtype="float64", **pir("Paddle 2.6 stores float64 as float32")),
        case(values=[5], dtype="int64", shape=[1, 1, 1]),
        case(values=[1 + 2j, -3j], dtype="complex64", **COMPLEX_HERE),
        case(values=[1 + 2j, -3j], dtype="complex128", shape=[2, 1], **COMPLEX_HERE),
    ),
    Op(
        "empty_like",
        _empty_like,
        case(x=tensor([2, 3]), **pir("Paddle 2 writes `empty`")),
        case(x=tensor([2, 3], dims=[-1, 3]), dtype="int64", **pir("Paddle 2 writes `empty`")),
    ),
    Op(
        "empty",
        _empty_shape,
        case(shape=[2, 3]),
        case(shape=[], dtype="int64"),
        case(shape=int32s(2, 3)),
        case(shape=[2, 3], dtype="complex64", **COMPLEX_HERE),
    ),
    Op(
        "one_hot_v2",
        function("nn.functional.one_hot"),
        case(x=tensor([4], "int64", 0, 5), num_classes=5),
        case(x=tensor([2, 3], "int32", 0, 5), num_classes=5),
        case(x=tensor([], "int64", 0, 5), num_classes=5),
        case(x=tensor([4], "int64", 0, 5, dims=[-1]), num_classes=5),
        case(x=tensor([4], "int64", 0, 5), num_classes=int32s(5)),
    ),
    Op(
        "eye",
        lambda rows, columns=None, dtype="float32": paddle.eye(rows, columns, dtype),
        case(rows=3),
        case(rows=3, columns=5),
        case(rows=5, columns=2, dtype="int64"),
        case(rows=100, dtype="float32"),
        case(rows=100, columns=90, dtype="int32"),
        case(rows=2, columns=3, dtype="complex64", **COMPLEX_HERE),
    ),
    Op(
        "tril_indices",
        lambda rows, columns, offset=0, dtype="int64": paddle.tril_indices(rows, columns, offset, dtype),
        *_TRIANGLES,
    ),
    Op(
        "triu_indices",
        lambda rows, columns, offset=0, dtype="int64": paddle.triu_indices(rows, columns, offset, dtype),
        *_TRIANGLES,
    ),
    Op(
        "sequence_mask",
        function("nn.functional.sequence_mask"),
        case(x=tensor([4], "int64", 0, 6), maxlen=6),
        case(x=tensor([4], "int32", 0, 6)),
        case(x=tensor([2, 3], "int64", 0, 6), maxlen=4, dtype="bool"),
        case(x=tensor([4], "int64", 0, 6, dims=[-1]), dtype="float32"),
        case(x=tensor([4], "int64", 0, 6), maxlen=int32s(5)),
        case(x=tensor([4], low=0, high=5)),
    ),
]
