"""Programs for converters/shape.py."""

from gen_models.harness.building import function, operator
from gen_models.harness.marks import LEGACY, pir
from gen_models.harness.spec import Op, case, int32s, int64s, paddle, tensor


def _shape(x, *, then=None):
    out = paddle.shape(x)
    return out if then is None else paddle.cast(out, then)


def _reshape(x, *, shape):
    """A string in `shape` names a dimension of x, taken from its shape; "rolled": all of them, the first one last."""
    own = paddle.shape(x)
    if isinstance(shape, str):
        return paddle.reshape(x, paddle.concat([own[1:], own[:1]]))
    if isinstance(shape, list):
        shape = [own[int(dim)] if isinstance(dim, str) else dim for dim in shape]
    return paddle.reshape(x, shape)


def _s(value, dtype="int32"):
    return tensor([1], dtype, values=[value])


OPS = [
    Op(
        "shape",
        _shape,
        case(x=tensor([2, 3])),
        case(x=tensor([2, 3, 5], dims=[-1, 3, -1])),
        case(x=tensor([])),
        case(x=tensor([0, 3], "int64", dims=[-1, 3])),
        case(x=tensor([4], "bool"), then="float32"),
        case(x=tensor([1, 3, 8, 8], dims=[1, 3, -1, -1]), then="int64"),
    ),
    Op(
        "shape64",
        _shape,
        case(x=tensor([2, 3, 5], dims=[-1, 3, -1]), **pir("Paddle 2 has shape only")),
        case(x=tensor([2, 3], "int64"), **pir("Paddle 2 has shape only")),
    ),
    Op(
        "size",
        function("numel"),
        case(x=tensor([2, 3])),
        case(x=tensor([])),
        case(x=tensor([2, 3, 4], dims=[-1, 3, -1])),
        case(x=tensor([0, 3], dims=[-1, 3])),
        case(x=tensor([5], "bool")),
    ),
    Op(
        "is_empty",
        function("is_empty"),
        case(x=tensor([2, 3])),
        case(x=tensor([0, 3])),
        case(x=tensor([0, 3], dims=[-1, 3])),
        case(x=tensor([2, 3], "int64", dims=[-1, -1])),
    ),
    Op(
        "reshape2",
        _reshape,
        *(case(x=tensor([2, 3, 4]), shape=shape) for shape in ([6, 4], [-1], [0, 0, 2, 2], [4, 0, -1])),
        case(
            x=tensor([0, 3, 4], dims=[-1, 3, 4]),
            shape=[0, -1],
            **pir("Paddle 2.6 refuses it; of no elements only known dimensions tell the number", dynamic=False),
        ),
        case(x=tensor([2, 3, 4], dims=[-1, -1, 4]), shape=[0, 0, 2, 2]),
        case(x=tensor([2, 3, 4], dims=[-1, -1, -1]), shape=[-1, 0]),
        case(x=tensor([]), shape=[1, 1]),
        case(x=tensor([1, 1]), shape=[]),
        case(x=tensor([2, 6], "int64"), shape=[3, 4]),
        case(x=tensor([2, 6], "bool"), shape=[12]),
        case(
            x=tensor([0, 3]),
            shape=[3, 0],
            **pir(
                "Paddle 2 takes the 0 for a kept dimension; so must OpenVINO where it cannot see that x is empty",
                dynamic=False,
            ),
        ),
        case(x=tensor([2, 6], "float16"), shape=[3, 4]),
        *(case(x=tensor([2, 6]), shape=shape) for shape in (int64s(3, 4), int32s(0, -1, 3), [_s(3), 2, -1])),
        case(x=tensor([2, 6], dims=[-1, 6]), shape=[_s(2), _s(3), _s(2)]),
        case(x=tensor([2, 6]), shape=[2, 6]),
        case(x=tensor([2, 3, 4]), shape=["0", -1]),
        case(x=tensor([2, 3, 4], dims=[-1, 3, -1]), shape=[-1, "1", "2"]),
        case(x=tensor([2, 3, 4], dims=[-1, 3, -1]), shape=["2", 2, -1]),
        case(x=tensor([2, 3, 4], dims=[-1, 3, -1]), shape="rolled"),
    ),
    Op(
        "reshape",
        operator("reshape"),
        case(x=tensor([2, 3, 4]), shape=[0, -1]),
        case(x=tensor([2, 3, 4], dims=[-1, 3, 4]), shape=[-1, 6]),
        **LEGACY,
    ),
    Op(
        "squeeze2",
        function("squeeze"),
        case(x=tensor([1, 3, 1, 5]), axis=[0]),
        case(x=tensor([1, 3, 1, 5]), axis=2),
        case(x=tensor([1, 3, 1, 5])),
        case(x=tensor([1, 3, 1, 5]), axis=[-2, 0]),
        case(x=tensor([1, 3, 1, 5]), axis=[0, 1, -4]),
        case(x=tensor([2, 3]), axis=[0]),
        case(x=tensor([1, 3, 1], dims=[-1, 3, -1]), axis=[0, 2]),
        case(x=tensor([1, 3, 2], dims=[-1, 3, 2]), axis=[0, 2]),
        case(x=tensor([1, 1]), axis=[0, 1]),
        case(x=tensor([1, 1], "int64")),
        case(x=tensor([]), axis=[0]),
        case(x=tensor([1, 0, 1], "bool"), axis=[0, 1]),
        *(
            case(x=tensor([1, 3, 1], dims=dims), axis=axis, is_varied=False, **pir("Paddle 2.6 cannot run it"))
            for dims, axis in (
                (None, int32s(2)),
                ([-1, 3, -1], int32s(-1, 0)),
            )
        ),
    ),
    Op(
        "unsqueeze2",
        function("unsqueeze"),
        *(case(x=tensor([3, 5]), axis=axis) for axis in (0, -1, [0, 2], [2, 0], [0, 0, -1], [-1, -2, -1])),
        case(x=tensor([]), axis=[0, -1]),
        case(x=tensor([3, 5], "bool", dims=[-1, -1]), axis=[1]),
        case(x=tensor([0, 5], "int64"), axis=[1, 3]),
        case(x=tensor([3, 5]), axis=int32s(1)),
        case(x=tensor([3, 5], dims=[-1, 5]), axis=int32s(-1, 0)),
    ),
    Op(
        "flatten_contiguous_range",
        function("flatten"),
        case(x=tensor([2, 3, 4, 5])),
        case(x=tensor([2, 3, 4, 5]), start_axis=1),
        case(x=tensor([2, 3, 4, 5]), start_axis=1, stop_axis=2),
        case(x=tensor([2, 3, 4, 5]), start_axis=-3, stop_axis=-2),
        case(x=tensor([2, 3, 4, 5], dims=[-1, 3, -1, -1]), start_axis=1, stop_axis=2),
        case(x=tensor([2, 3, 4, 5], dims=[-1, -1, -1, -1]), start_axis=0, stop_axis=1),
        case(x=tensor([2, 3, 4, 5], dims=[-1, 3, 4, 5]), start_axis=0, stop_axis=1),
        case(x=tensor([])),
        case(x=tensor([4], "int64")),
        case(x=tensor([2, 0, 3], dims=[2, -1, 3]), start_axis=1, stop_axis=2),
        case(x=tensor([2, 3], "int32"), start_axis=1, stop_axis=1),
    ),
    Op(
        "flatten2",
        operator("flatten2", outputs={"Out": "", "XShape": ""}, results=1),
        case(x=tensor([2, 3, 4]), axis=0),
        case(x=tensor([2, 3, 4], dims=[-1, 3, 4]), axis=1),
        case(x=tensor([2, 3, 4]), axis=3),
        case(x=tensor([]), axis=0),
        **LEGACY,
    ),
]
