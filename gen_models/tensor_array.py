"""Tensor arrays in straight-line programs; gen_models.networks.control_flow has them in loops.

`create_array` stands in every program here; `slice_array`, `slice_array_dense` and `array_pop` are what Paddle 3 writes
for slices, elements and changes of a list that is a tensor array.
"""

from gen_models.harness.building import is_pir
from gen_models.harness.marks import COMPLEX_HERE, pir
from gen_models.harness.spec import Op, case, paddle, tensor


def _index(value):
    return paddle.full([1], value, "int64")


def _filled(*elements):
    array = paddle.tensor.create_array(str(elements[0].dtype).rpartition(".")[2].lower() if is_pir() else "float32")
    for i, element in enumerate(elements):
        array = paddle.tensor.array_write(element, _index(i), array)
    return array


def _write(x, y, *, over=None):
    array = _filled(x, y)
    if over is not None:
        array = paddle.tensor.array_write(x + y, _index(over), array)
    return [paddle.tensor.array_read(array, _index(i)) for i in (0, 1)]


def _read(x, y, *, i):
    return paddle.tensor.array_read(_filled(x, y), _index(i))


def _to_tensor(x, y, *, axis, use_stack):
    from_array = paddle.tensor.manipulation.tensor_array_to_tensor
    out, sizes = from_array(_filled(x, y), axis=axis, use_stack=use_stack)
    return [out, sizes] if is_pir() else out  # Paddle 2.6 leaves the sizes without memory


def _stacked(array):
    return paddle.tensor.manipulation.tensor_array_to_tensor(array, axis=0, use_stack=True)[0]


def _pop(x, y, *, i, use_stack=True):
    """The element, and what is left: the operator changes the array itself."""
    array = _filled(x, y, x + y)
    popped = array.pop(i)
    from_array = paddle.tensor.manipulation.tensor_array_to_tensor
    return [popped * 2, paddle.tensor.array_length(array) + 0, from_array(array, axis=0, use_stack=use_stack)[0]]


def _copied(x, y, *, over):
    """A copy of an array that is written to, and the array itself."""
    array = _filled(x, y)
    copy = paddle.tensor.array_write(x + y, _index(over), paddle.assign(array))
    return [_stacked(copy), _stacked(array)]


X, Y = tensor([2, 3]), tensor([2, 3], low=5, high=6)
ROWS = tensor([2, 3], dims=[-1, 3])
PLANE = tensor([2, 3], "complex64")

_PIR = pir("Paddle 2 has no such operator")

OPS = [
    Op("assign_array", _copied, *[case(x=X, y=Y, over=number) for number in (0, 1, 2)], **_PIR),
    Op(
        "array_pop",
        _pop,
        *(case(x=X, y=Y, i=i) for i in (0, 1, 2, -1, -2, -3)),
        case(x=ROWS, y=ROWS, i=1, use_stack=False),
        case(x=tensor([]), y=tensor([]), i=-1),
        **_PIR,
    ),
    Op(
        "create_array_like",
        lambda x, y, val: _stacked(paddle._C_ops.create_array_like(_filled(x, y), val)),
        case(x=X, y=Y, val=0.0, **_PIR),
        case(x=ROWS, y=ROWS, val=2.5, **_PIR),
        case(x=tensor([2], "int64"), y=tensor([2], "int64"), val=3, **_PIR),
        case(x=PLANE, y=PLANE, val=2.5, **COMPLEX_HERE),
    ),
    Op(
        "lod_array_length",
        lambda x, count: paddle.tensor.array_length(_filled(*[x] * count)) + 0,
        case(x=X, count=1),
        case(x=X, count=3),
        case(x=tensor([]), count=2),
    ),
    Op(
        "read_from_array",
        _read,
        case(x=X, y=Y, i=0),
        case(x=X, y=Y, i=1),
        case(x=ROWS, y=ROWS, i=1),
        case(x=tensor([]), y=tensor([]), i=1),
    ),
    # Legacy programs hold `slice` for these two.
    Op(
        "slice_array",
        lambda x, y, start, stop: _stacked(_filled(x, y, x + y, x - y)[start:stop]),
        *(case(x=X, y=Y, start=start, stop=stop) for start, stop in ((0, 2), (1, 4), (1, 9), (1, -1), (-2, 4))),
        *(case(x=X, y=Y, start=start, stop=stop) for start, stop in ((None, 3), (2, None), (-3, None))),
        case(x=ROWS, y=ROWS, start=1, stop=3),
        case(x=tensor([]), y=tensor([]), start=1, stop=None),
        case(x=PLANE, y=PLANE, start=1, stop=3, **COMPLEX_HERE),
    ),
    Op(
        "slice_array_dense",
        lambda x, y, i: _filled(x, y)[i] + x,
        *(case(x=X, y=Y, i=i) for i in (0, 1, -1, -2)),
        case(x=ROWS, y=ROWS, i=1),
        case(x=tensor([]), y=tensor([]), i=1),
        case(x=PLANE, y=PLANE, i=-1, **COMPLEX_HERE),
    ),
    Op(
        "tensor_array_to_tensor",
        _to_tensor,
        *(case(x=X, y=Y, axis=axis, use_stack=False) for axis in (0, 1)),
        *(case(x=X, y=Y, axis=axis, use_stack=True) for axis in (0, 1)),
        case(x=ROWS, y=ROWS, axis=0, use_stack=False),
        case(x=ROWS, y=ROWS, axis=1, use_stack=True),
        case(x=PLANE, y=PLANE, axis=1, use_stack=True, **COMPLEX_HERE),
    ),
    Op(
        "write_to_array",
        _write,
        case(x=X, y=Y),
        case(x=X, y=Y, over=0),
        case(x=X, y=Y, over=1),
        case(x=ROWS, y=ROWS, over=0),
    ),
]
