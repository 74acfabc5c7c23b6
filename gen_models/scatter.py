"""Programs for converters/scatter.py."""

from dataclasses import replace

from gen_models.harness.building import function
from gen_models.harness.marks import COMPLEX_HERE, NEW
from gen_models.harness.spec import Op, case, int32s, int64s, paddle, tensor

KNOWN = {"dynamic": False, "why": "a mask of unknown size is taken to be as large as the tensor: the run fails"}
"""For a case whose mask is smaller than the tensor."""

_FOUR_OF_12 = [1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1]
_ROWS, _PLACES = tensor([3, 5]), tensor([3, 4], "int64", 0, 5)
_ALONE = {"axis": 1, "broadcast": False, **NEW}

OPS = [
    Op(
        "scatter",
        function("scatter"),
        case(x=tensor([4, 3]), index=int64s(2, 0), updates=tensor([2, 3])),
        case(x=tensor([4, 3]), index=int64s(2, 0, 2), updates=tensor([3, 3])),
        case(x=tensor([4, 3]), index=int64s(2, 0, 2), updates=tensor([3, 3]), overwrite=False),
        case(x=tensor([4]), index=int32s(2, 0), updates=tensor([2])),
        case(x=tensor([4, 3], "int64"), index=tensor([2, 1], "int64", values=[3, 1]), updates=tensor([2, 3], "int64")),
        case(x=tensor([4, 3], dims=[-1, -1]), index=int64s(2, 0, dims=[-1]), updates=tensor([2, 3], dims=[-1, -1])),
        case(
            x=tensor([4, 3], dims=[-1, 3]),
            index=int64s(2, 2, 0, dims=[-1]),
            updates=tensor([3, 3], dims=[-1, 3]),
            overwrite=False,
        ),
        case(x=tensor([4, 3]), index=tensor([], "int64", values=[2]), updates=tensor([3])),
        case(x=tensor([4, 3]), index=tensor([], "int64", values=[2]), updates=tensor([3]), overwrite=False),
        case(x=tensor([4, 3]), index=int64s(-1, 0), updates=tensor([2, 3]), **NEW),
        case(x=tensor([4, 3]), index=int64s(-1, 3), updates=tensor([2, 3]), overwrite=False, **NEW),
    ),
    Op(
        "scatter_nd_add",
        function("scatter_nd_add"),
        case(x=tensor([4, 3]), index=tensor([5, 1], "int64", 0, 4), updates=tensor([5, 3])),
        case(x=tensor([4, 3]), index=tensor([5, 2], "int32", 0, 3), updates=tensor([5])),
        case(x=tensor([4, 3, 2]), index=tensor([2, 3, 2], "int64", 0, 3), updates=tensor([2, 3, 2])),
        case(x=tensor([4, 3], "int64"), index=tensor([5, 1], "int64", 0, 4), updates=tensor([5, 3], "int64")),
        case(
            x=tensor([4, 3], dims=[-1, -1]),
            index=tensor([5, 1], "int64", 0, 4, dims=[-1, 1]),
            updates=tensor([5, 3], dims=[-1, -1]),
        ),
    ),
    Op(
        "index_add",
        lambda x, index, value, axis=0: paddle.index_add(x, index, axis, value),
        case(x=tensor([4, 3]), index=int64s(2, 0), value=tensor([2, 3])),
        case(x=tensor([4, 3]), index=int32s(1, 1), value=tensor([4, 2]), axis=1),
        case(x=tensor([4, 3, 2], "int64"), index=int64s(1, 0, 1), value=tensor([4, 3, 2], "int64"), axis=-2),
        case(x=tensor([4], dims=[-1]), index=int64s(1, 0, 1), value=tensor([3], dims=[-1])),
    ),
    Op(
        "index_put",
        lambda x, indices, value, accumulate=False: paddle.index_put(x, tuple(indices), value, accumulate),
        case(x=tensor([4, 3]), indices=[int64s(2, 0)], value=tensor([2, 3])),
        case(x=tensor([4, 3]), indices=[int64s(2, 0), int64s(1, 1)], value=tensor([2])),
        case(x=tensor([4, 3]), indices=[int64s(2, 2), int64s(1, 1)], value=tensor([2]), accumulate=True),
        case(x=tensor([4, 3]), indices=[int64s(-1, 0), int64s(1, -3)], value=tensor([1])),
        case(x=tensor([4, 3]), indices=[tensor([4, 3], "bool")], value=tensor([1])),
        case(x=tensor([4, 3]), indices=[tensor([4], "bool")], value=tensor([1])),
        case(x=tensor([4, 3]), indices=[tensor([4], "bool")], value=tensor([3]), is_varied=False),
        case(
            x=int64s(2**24 + 1, 2**31 - 1, 5, dims=[-1]),
            indices=[tensor([3], "bool", values=[0, 0, 1], dims=[-1])],
            value=int64s(2**25 + 3),
        ),
        case(x=tensor([4, 3]), indices=[tensor([4, 3], "bool")], value=tensor([1]), accumulate=True),
        case(x=tensor([4, 3]), indices=[tensor([4, 3], "bool", values=_FOUR_OF_12)], value=tensor([4])),
        case(
            x=tensor([4, 3]), indices=[tensor([2, 1], "int64", 0, 4), tensor([3], "int64", 0, 3)], value=tensor([2, 3])
        ),
        case(x=tensor([4, 3, 2], "int64"), indices=[int64s(2, 0)], value=tensor([3, 2], "int64")),
        case(x=tensor([4, 3], dims=[-1, -1]), indices=[int64s(2, 0, dims=[-1])], value=tensor([2, 3], dims=[-1, -1])),
        case(x=tensor([4, 3], dims=[-1, -1]), indices=[tensor([4, 3], "bool", dims=[-1, -1])], value=tensor([1])),
        # A mask that is smaller than the tensor selects of its first elements, and is not broadcast.
        case(x=tensor([4, 3]), indices=[tensor([4, 1], "bool", values=[1, 0, 1, 0])], value=tensor([1]), **KNOWN),
        case(x=tensor([4, 3]), indices=[tensor([1], "bool", values=[1])], value=tensor([1]), **KNOWN),
        case(x=tensor([4, 3, 2]), indices=[tensor([2, 3], "bool")], value=tensor([1]), **KNOWN),
        case(x=tensor([4, 3], dims=[-1, 3]), indices=[tensor([4], "bool", dims=[-1])], value=tensor([1])),
        case(x=tensor([4, 3], "bool"), indices=[int64s(2, 0)], value=tensor([1], "bool")),
        case(x=tensor([4, 3], "int32"), indices=[int32s(2, 0)], value=tensor([1], "int32")),
        case(x=tensor([4, 3], "complex64"), indices=[int64s(2, 0)], value=tensor([2, 3], "complex64"), **COMPLEX_HERE),
    ),
    Op(
        "put_along_axis",
        function("put_along_axis"),
        case(arr=_ROWS, indices=tensor([3, 2], "int64", values=[0, 1, 4, 2, 3, 0]), values=tensor([3, 2]), axis=1),
        case(arr=_ROWS, indices=tensor([1, 5], "int64", 0, 3), values=tensor([1, 5]), axis=0),
        case(arr=_ROWS, indices=_PLACES, values=tensor([3, 4]), axis=1, reduce="add"),
        case(arr=_ROWS, indices=_PLACES, values=tensor([3, 4]), axis=1, reduce="mul"),
        case(arr=_ROWS, indices=replace(_PLACES, dtype="int32"), values=tensor([3, 4]), axis=-1, reduce="multiply"),
        case(arr=_ROWS, indices=tensor([1, 1], "int64", 0, 3), values=tensor([1, 1]), axis=0, reduce="add"),
        case(
            arr=tensor([2, 3], dims=[-1, -1]),
            indices=tensor([1, 1], "int64", 0, 2, dims=[-1, -1]),
            values=tensor([1, 1]),
            axis=0,
        ),
        case(
            arr=tensor([3, 5], dims=[-1, -1]),
            indices=tensor([3, 4], "int64", 0, 5, dims=[-1, -1]),
            values=tensor([3, 4], dims=[-1, -1]),
            axis=1,
            reduce="add",
        ),
        *(
            case(
                arr=tensor([3, 5], kind),
                indices=_PLACES,
                values=tensor([3, 4], kind),
                axis=1,
                reduce=reduce,
                include_self=own,
                **NEW,
            )
            for kind in ("float32", "int64")
            for reduce in ("add", "mul", "mean", "amin", "amax", "assign")
            for own in (True, False)
        ),
        case(arr=_ROWS, indices=tensor([2, 3], "int64", 0, 5), values=tensor([3, 4]), reduce="add", **_ALONE),
        *(
            case(
                arr=tensor([3, 5], dims=[-1, -1]),
                indices=tensor([2, 3], "int64", 0, 5, dims=[-1, -1]),
                values=tensor([3, 4], dims=[-1, -1]),
                reduce=reduce,
                **_ALONE,
            )
            for reduce in ("assign", "mean")
        ),
        case(
            arr=tensor([3, 5], dims=[-1, 5]),
            indices=tensor([2, 3], "int64", 0, 5, dims=[-1, 3]),
            values=tensor([3, 4], dims=[-1, 4]),
            **_ALONE,
        ),
    ),
]
