"""`recurrent`, the loop over time that `StaticRNN` of Paddle 1 and `paddle.nn.RNN` of Paddle 2.0 to 2.4 write.

Paddle 2.6 runs it, but has no function that makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gen_models.harness.marks import OLD
from gen_models.harness.spec import Op, case, paddle, tensor


def recurrent(
    sequences: Sequence[Any], states: Sequence[Any], body: Callable[..., Any], reverse: bool = False
) -> list[Any]:
    """The results of `body(parts, states)` in each step, stacked; it returns the next states, and results."""
    program = paddle.static.default_main_program()
    outside, inside = program.current_block(), program._create_block()
    parts = [
        inside.create_var(name=sequence.name, shape=sequence.shape[1:], dtype=sequence.dtype) for sequence in sequences
    ]
    named = paddle.utils.unique_name.generate
    before = [inside.create_var(name=named("state"), shape=state.shape, dtype=state.dtype) for state in states]
    after, results = body(parts, before)
    after, results = ([paddle.assign(item) for item in ones] for ones in (after, results))
    program._rollback()
    read = {name for block in program.blocks[inside.idx :] for op in block.ops for name in op.input_arg_names}
    seen = {sequence.name for sequence in sequences}
    out = [
        outside.create_var(name=result.name, shape=[sequences[0].shape[0], *result.shape], dtype=result.dtype)
        for result in results
    ]
    outside.append_op(
        type="recurrent",
        inputs={
            "inputs": list(sequences),
            "initial_states": list(states),
            "parameters": [var for name in sorted(read - seen) if (var := outside._find_var_recursive(name))],
        },
        outputs={
            "outputs": out,
            "step_scopes": [outside.create_var(type=paddle.base.core.VarDesc.VarType.STEP_SCOPES)],
        },
        attrs={
            "has_states": bool(states),
            "ex_states": [item.name for item in before],
            "states": [item.name for item in after],
            "sub_block": inside,
            "reverse": reverse,
            "is_train": False,
        },
    )
    return out


def _cell(x, h, w, u, *, reverse=False):
    """A plain recurrent layer."""

    def body(parts, states):
        (part,), (before,) = parts, states
        after = paddle.tanh(paddle.matmul(part, w) + paddle.matmul(before, u))
        return [after], [after]

    return recurrent([x], [h], body, reverse)


def _several(x, y, h, n, *, reverse=False):
    """Two sequences, a state that is handed out before it changes, another one that counts, results of each."""

    def body(parts, states):
        (a, b), (before, count) = parts, states
        after = paddle.where(b > 0, before * 0.5 + a, before)
        return [after, count + 1], [before, after, count, paddle.sum(a, -1)]

    return recurrent([x, y], [h, n], body, reverse)[::-1]


def _independent(x, y, *, reverse=False):
    """No states."""
    return recurrent([x], [], lambda parts, _: ([], [parts[0] * 2 + y, paddle.argmax(parts[0], -1)]), reverse)


def _chosen(x, h, limit):
    """A branch and a loop in each round."""

    def body(parts, states):
        (part,), (before,) = parts, states
        after = paddle.static.nn.cond(part.mean() > 0, lambda: before + part, lambda: before * part)
        (after,) = paddle.static.nn.while_loop(lambda one: one.max() > limit, lambda one: [one * 0.5], [after])
        return [after], [after]

    return recurrent([x], [h], body)


def _nested(x, h):
    """One in another one: over the rows, and over the elements of each."""

    def body(parts, states):
        (row,), (before,) = parts, states
        (sums,) = recurrent([row * 1.0], [before], lambda one, old: ([one[0] + old[0]], [one[0] + old[0]]), True)
        return [sums[0]], [sums, before]

    return recurrent([x], [h], body)


def _outside(x, total):
    """A variable around the block, which every round reads and writes; what it is afterwards."""
    total = total * 1.0

    def body(parts, _):
        paddle.assign(total + parts[0], total)
        return [], [total * 2]

    return [*recurrent([x], [], body), total + 1]


def _hiding(x, total):
    """A variable of the block with the name of one around it, which stays as it is."""
    total = total * 1.0

    def body(parts, _):
        block = paddle.static.default_main_program().current_block()
        inside = block.create_var(name=total.name, shape=total.shape, dtype=total.dtype)
        paddle.assign(parts[0] * 2, inside)
        return [], [inside + 1]

    return [*recurrent([x], [], body), total + 1]


def _growing(x, h):
    """A state that every round makes longer."""

    def body(parts, states):
        after = paddle.concat([states[0], parts[0]])
        return [after], [after.sum(0), paddle.shape(after)]

    return recurrent([x], [h], body)


_PROGRAMS = (_cell, _chosen, _growing, _hiding, _independent, _nested, _outside, _several)
_BODIES: dict[str, Callable[..., Any]] = {build.__name__[1:]: build for build in _PROGRAMS}


_WEIGHTS = {"w": tensor([3, 4]), "u": tensor([4, 4])}
_TWO = {"x": tensor([4, 2, 3]), "y": tensor([4, 2, 3]), "h": tensor([2, 3]), "n": tensor([1], "int64")}

OPS = [
    Op(
        "recurrent",
        lambda body, **arguments: _BODIES[body](**arguments),
        case(body="cell", x=tensor([5, 2, 3]), h=tensor([2, 4]), **_WEIGHTS),
        case(
            body="cell", x=tensor([5, 2, 3], dims=[-1, -1, 3]), h=tensor([2, 4], dims=[-1, 4]), reverse=True, **_WEIGHTS
        ),
        case(body="cell", x=tensor([1, 2, 3]), h=tensor([2, 4]), **_WEIGHTS),
        *(case(body="several", **_TWO, reverse=reverse) for reverse in (False, True)),
        case(body="independent", x=tensor([4, 2, 3]), y=tensor([3])),
        case(body="independent", x=tensor([4, 2, 3], dims=[-1, 2, 3]), y=tensor([3]), reverse=True),
        case(body="chosen", x=tensor([6, 3]), h=tensor([3], high=2.0), limit=tensor([], values=0.5)),
        case(body="nested", x=tensor([3, 4, 2]), h=tensor([2])),
        case(body="nested", x=tensor([3, 4]), h=tensor([])),
        case(body="outside", x=tensor([4, 3]), total=tensor([3])),
        case(body="hiding", x=tensor([4, 3]), total=tensor([3])),
        case(body="growing", x=tensor([3, 2, 2], dims=[-1, 2, 2]), h=tensor([1, 2])),
        **OLD,
    )
]
