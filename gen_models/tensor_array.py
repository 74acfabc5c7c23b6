"""Tensor arrays in straight-line programs; gen_models.control_flow has them in loops.

`create_array` and `lod_array_length` stand in every program here; `slice_array`, `slice_array_dense`, `array_pop` and
`create_array_like` are what Paddle 3 writes for slices, elements and changes of a list that is a tensor array.
"""

from __future__ import annotations

from typing import Any

from gen_models.building import in_pir
from gen_models.spec import Op, case, paddle, tensor


def _index(value: int) -> Any:
    return paddle.full([1], value, "int64")


def _filled(*elements: Any) -> Any:
    array = paddle.tensor.create_array(str(elements[0].dtype).rpartition(".")[2].lower() if in_pir() else "float32")
    for i, element in enumerate(elements):
        array = paddle.tensor.array_write(element, _index(i), array)
    return array


def _write(x: Any, y: Any, *, over: int | None = None) -> Any:
    array = _filled(x, y)
    if over is not None:
        array = paddle.tensor.array_write(x + y, _index(over), array)
    return [paddle.tensor.array_read(array, _index(i)) for i in (0, 1)]


def _read(x: Any, y: Any, *, i: int) -> Any:
    return paddle.tensor.array_read(_filled(x, y), _index(i))


def _length(x: Any, *, count: int) -> Any:
    return paddle.tensor.array_length(_filled(*[x] * count)) + 0


def _to_tensor(x: Any, y: Any, *, axis: int, use_stack: bool) -> Any:
    from_array = paddle.tensor.manipulation.tensor_array_to_tensor
    out, sizes = from_array(_filled(x, y), axis=axis, use_stack=use_stack)
    return [out, sizes] if in_pir() else out  # Paddle 2.6 leaves the sizes without memory


X, Y = tensor([2, 3]), tensor([2, 3], low=5, high=6)
ROWS = tensor([2, 3], dims=[-1, 3])

OPS = [
    Op(
        "lod_array_length",
        _length,
        cases=[case(x=X, count=1), case(x=X, count=3), case(x=tensor([]), count=2)],
        random=lambda draw: case(x=X, count=draw(_integers(1, 4))),
    ),
    Op(
        "read_from_array",
        _read,
        cases=[
            case(x=X, y=Y, i=0),
            case(x=X, y=Y, i=1),
            case(x=ROWS, y=ROWS, i=1),
            case(x=tensor([]), y=tensor([]), i=1),
        ],
        random=lambda draw: case(x=X, y=Y, i=draw(_integers(0, 1))),
    ),
    Op(
        "tensor_array_to_tensor",
        _to_tensor,
        cases=[
            *(case(x=X, y=Y, axis=axis, use_stack=False) for axis in (0, 1)),
            *(case(x=X, y=Y, axis=axis, use_stack=True) for axis in (0, 1)),
            case(x=ROWS, y=ROWS, axis=0, use_stack=False),
            case(x=ROWS, y=ROWS, axis=1, use_stack=True),
        ],
        random=lambda draw: case(x=X, y=Y, axis=draw(_integers(0, 1)), use_stack=bool(draw(_integers(0, 1)))),
    ),
    Op(
        "write_to_array",
        _write,
        cases=[case(x=X, y=Y), case(x=X, y=Y, over=0), case(x=X, y=Y, over=1), case(x=ROWS, y=ROWS, over=0)],
        random=lambda draw: case(x=X, y=Y, over=draw(_integers(0, 1))),
    ),
]


def _integers(low: int, high: int) -> Any:
    from hypothesis import strategies as st

    return st.integers(low, high)
