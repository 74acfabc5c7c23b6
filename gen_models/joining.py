"""Programs for converters/joining.py."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from gen_models.harness.building import legacy_op
from gen_models.harness.marks import COMPLEX_HERE
from gen_models.harness.spec import Op, case, paddle, tensor


def _split(x, *, parts, axis=0, as_tensor=False):
    if as_tensor:
        axis = paddle.full([1], axis, "int32")
        parts = parts if isinstance(parts, int) else [paddle.full([1], parts[0], "int32"), *parts[1:]]
    return paddle.split(x, parts, axis)


def _concat_random(draw):
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    axis = draw(st.integers(0, len(shape) - 1))
    dtype = draw(st.sampled_from(["float32", "int64", "int32", "bool"]))
    tensors = []
    for _ in range(draw(st.integers(1, 4))):
        dims = [*shape[:axis], draw(st.integers(0, 4)), *shape[axis + 1 :]]
        tensors.append(tensor(dims, dtype, dims=[draw(st.sampled_from([dim, -1])) for dim in dims]))
    return case(x=tensors, axis=_known_or_not(draw, axis, len(shape)))


def _known_or_not(draw, axis, rank=0):
    """An axis, or a tensor that only the run shows: not a negative one, for which Paddle splits in the wrong places."""
    if draw(st.booleans()):
        return tensor([1], "int32", values=[axis])
    return axis - draw(st.sampled_from([0, rank]))


def _stack_random(draw):
    shape = draw(st.lists(st.integers(1, 4), max_size=4))
    dims = [draw(st.sampled_from([dim, -1])) for dim in shape]
    count = draw(st.integers(1, 4))
    return case(x=[tensor(shape, dims=dims)] * count, axis=draw(st.integers(-len(shape) - 1, len(shape))))


def _split_random(draw):
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    shape = draw(st.lists(st.integers(1, 4), max_size=3))
    axis = draw(st.integers(0, len(shape)))
    whole = [*shape[:axis], sum(lengths), *shape[axis:]]
    parts = list(lengths)
    if draw(st.booleans()):
        parts[draw(st.integers(0, len(parts) - 1))] = -1
    return case(x=tensor(whole), parts=parts, axis=_known_or_not(draw, axis, len(whole)))


def _split_num_random(draw):
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    axis = draw(st.integers(0, len(shape) - 1))
    num = draw(st.integers(1, 4))
    shape[axis] *= num
    return case(x=tensor(shape, draw(st.sampled_from(["float32", "int64"]))), parts=num, axis=_known_or_not(draw, axis))


def _unstack_random(draw):
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    return case(x=tensor(shape, draw(st.sampled_from(["float32", "int64"]))), axis=axis)


def _broadcast_random(draw):
    full = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    tensors = []
    for _ in range(draw(st.integers(1, 3))):
        kept = full[draw(st.integers(0, len(full) - 1)) :]
        tensors.append(tensor([draw(st.sampled_from([dim, 1])) for dim in kept]))
    return case(x=tensors)


def _partial(kind):
    def build(x, *, start_index=0, length=-1):
        return legacy_op(kind, {"X": x}, {"Out": x[0].dtype}, {"start_index": start_index, "length": length})

    return build


LEGACY_ONLY = {"formats": ("legacy",), "why": "no function of Paddle 3 makes it"}
_PARTS: list[dict[str, Any]] = [
    {"x": [tensor([3, 5]), tensor([3, 5])], **LEGACY_ONLY},
    {"x": [tensor([3, 5]), tensor([3, 5])], "start_index": 1, "length": 2, **LEGACY_ONLY},
    {"x": [tensor([3, 5]), tensor([3, 5]), tensor([3, 5])], "start_index": -2, "length": 2, **LEGACY_ONLY},
    {"x": [tensor([3, 5], dims=[-1, 5])] * 2, "start_index": -3, "length": 1, **LEGACY_ONLY},
]


def _partial_random(from_end):
    def draw_case(draw):
        rows, width, count = (draw(st.integers(1, 5)) for _ in range(3))
        start = draw(st.integers(-width if from_end else 0, width - 1))
        length = draw(st.integers(1, width - start % width))
        return case(x=[tensor([rows, width])] * count, start_index=start, length=length, **LEGACY_ONLY)

    return draw_case


OPS = [
    Op(
        "partial_concat",
        _partial("partial_concat"),
        *[case(**part) for part in _PARTS],
        random=_partial_random(True),
    ),
    Op(
        "partial_sum",
        _partial("partial_sum"),
        *[case(**part) for part in _PARTS[:2]],
        random=_partial_random(False),
    ),
    Op(
        "concat",
        lambda x, axis=0, as_tensor=False: paddle.concat(x, paddle.full([1], axis, "int32") if as_tensor else axis),
        case(x=[tensor([2, 3]), tensor([4, 3])]),
        case(x=[tensor([2, 3]), tensor([2, 1]), tensor([2, 2])], axis=1),
        case(x=[tensor([2, 3, 4]), tensor([2, 3, 1])], axis=-1),
        case(x=[tensor([2, 3], dims=[-1, 3]), tensor([4, 3], dims=[-1, 3])]),
        case(x=[tensor([2, 3], dims=[-1, -1]), tensor([2, 2], dims=[-1, -1])], axis=1),
        case(x=[tensor([0, 3]), tensor([4, 3])]),
        case(x=[tensor([2, 3])], axis=0),
        case(x=[tensor([2], "int64"), tensor([3], "int64")]),
        case(x=[tensor([2], "bool"), tensor([3], "bool")]),
        case(x=[tensor([2, 3], "int32"), tensor([2, 3], "int32")], axis=1, as_tensor=True),
        case(x=[tensor([2, 3]), tensor([2, 3])], axis=-2),
        case(x=[tensor([2, 3, 4]), tensor([2, 1, 4])], axis=tensor([], "int64", values=1)),
        case(x=[tensor([2, 3], dims=[-1, 3]), tensor([2, 2], dims=[-1, 2])], axis=tensor([1], "int32", values=[-1])),
        case(x=[tensor([2], "bool"), tensor([3], "bool")], axis=tensor([1], "int32", values=[0])),
        random=_concat_random,
    ),
    Op(
        "stack",
        lambda x, axis=0: paddle.stack(x, axis),
        case(x=[tensor([2, 3]), tensor([2, 3])]),
        case(x=[tensor([2, 3]), tensor([2, 3])], axis=2),
        case(x=[tensor([2, 3]), tensor([2, 3])], axis=-2),
        case(x=[tensor([]), tensor([]), tensor([])]),
        case(x=[tensor([2], "int64")], axis=1),
        case(x=[tensor([2, 3], dims=[-1, -1])] * 3, axis=1),
        case(x=[tensor([0, 3])] * 2, formats=("pir",), why="Paddle 2 does not stack empty tensors"),
        random=_stack_random,
    ),
    Op(
        "split",
        _split,
        case(x=tensor([6, 4]), parts=[1, 2, 3]),
        case(x=tensor([6, 4]), parts=[1, -1, 3]),
        case(x=tensor([6, 4]), parts=[3, 1], axis=1),
        case(x=tensor([6, 4]), parts=[3, -1], axis=-1),
        case(x=tensor([6, 4], dims=[-1, 4]), parts=[2, -1]),
        case(x=tensor([6, 4], dims=[-1, -1]), parts=[1, 1, 2], axis=1),
        case(x=tensor([6, 4], "int64"), parts=[6]),
        case(x=tensor([6, 4], "bool"), parts=[2, 4]),
        case(x=tensor([6, 4]), parts=[2, 4], as_tensor=True),
        case(x=tensor([6, 4]), parts=[tensor([1], "int32", values=[2]), 4]),
        case(x=tensor([6, 4]), parts=[3, -1], axis=tensor([], "int64", values=1)),
        case(x=tensor([2, 6, 4], dims=[-1, -1, 4]), parts=[1, 2, 3], axis=tensor([1], "int32", values=[1])),
        random=_split_random,
    ),
    Op(
        "split_with_num",
        _split,
        case(x=tensor([6, 4]), parts=3),
        case(x=tensor([6, 4]), parts=2, axis=1),
        case(x=tensor([6, 4, 2], dims=[-1, -1, 2]), parts=2, axis=-2),
        case(x=tensor([6, 4], "int64"), parts=1),
        case(x=tensor([6, 4]), parts=4, axis=1),
        case(x=tensor([6, 4]), parts=2, axis=1, as_tensor=True),
        case(x=tensor([6, 4]), parts=2, axis=tensor([], "int64", values=0)),
        case(x=tensor([2, 6, 4], dims=[-1, -1, 4]), parts=3, axis=tensor([1], "int32", values=[1])),
        random=_split_num_random,
    ),
    Op(
        "unstack",
        lambda x, axis=0, num=None: paddle.unstack(x, axis, num),
        case(x=tensor([3, 4])),
        case(x=tensor([3, 4]), axis=1),
        case(x=tensor([3, 4, 2]), axis=-2),
        case(x=tensor([3])),
        case(x=tensor([1, 4], "int64")),
        case(x=tensor([3, 4], dims=[3, -1])),
        random=_unstack_random,
    ),
    Op(
        "unbind",
        lambda x, axis=0: paddle.unbind(x, axis),
        case(x=tensor([3, 4])),
        case(x=tensor([3, 4]), axis=1),
        case(x=tensor([3, 4, 2]), axis=-1),
        case(x=tensor([1, 4], "int64")),
        case(x=tensor([3, 4, 5], dims=[3, -1, -1])),
        random=_unstack_random,
    ),
    Op(
        "broadcast_tensors",
        lambda x: paddle.broadcast_tensors(x),
        case(x=[tensor([3, 1]), tensor([1, 4])]),
        case(x=[tensor([2, 3, 1]), tensor([4]), tensor([3, 4])]),
        case(x=[tensor([3, 4], "int64"), tensor([1], "int64")]),
        case(x=[tensor([3, 4], "bool"), tensor([1, 4], "bool")]),
        case(x=[tensor([3, 1], dims=[-1, 1]), tensor([1, 4], dims=[1, -1])]),
        case(x=[tensor([])] * 2),
        random=_broadcast_random,
    ),
    Op(
        "meshgrid",
        lambda x: paddle.meshgrid(*x),
        case(x=[tensor([3]), tensor([4])]),
        case(x=[tensor([3]), tensor([4]), tensor([2])]),
        case(x=[tensor([3], dims=[-1]), tensor([4], dims=[-1])]),
        case(x=[tensor([3], "int64"), tensor([1], "int64")]),
        case(x=[tensor([3], "complex64"), tensor([2], "complex64")], **COMPLEX_HERE),
        random=lambda draw: case(x=[tensor([draw(st.integers(1, 5))]) for _ in range(draw(st.integers(1, 4)))]),
    ),
]
