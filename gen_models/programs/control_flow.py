"""Branches and loops, nested; an input or a size gives the trip count, which may be 0."""

from __future__ import annotations

from gen_models.programs.indexing import assign
from gen_models.programs.maker import ANY, FLOAT, INTEGERS, Counter, Maker, product_dim, step
from gen_models.programs.program import Call, Value, is_fixed

MAX_DEPTH = 2
MAX_CARRIED = 1009
"""The bound of integers that a loop carries from one round to the next."""


def _condition(make: Maker) -> str:
    x = make.take(is_plain=True)
    axis = make.axis(x)
    flags = [item for item in make.visible if item.dtype == "bool" and item.rank]
    if flags and make.chance(0.3):
        return f"paddle.{make.among('any', 'all')}({make.among(*flags)})"
    if make.counters and make.chance(0.4):
        return f"{make.among(*make.counters)} {make.among('< 1', '> 0', '% 2 == 0')}"
    if make.chance(0.4):
        return f"paddle.shape({x})[{axis}] > {make.among(*x.dims[axis], 1)}"
    make.is_steady = False
    return str(make.among(f"paddle.mean({x}) > {make.number(-0.3, 0.3)}", f"paddle.max({x}) > 0.9", f"{x}.sum() < 0.0"))


def _matching_value(make: Maker, x: Value) -> Value:
    """A value of a body with the dimensions of x, which the body makes if it has none."""
    matching = [item for item in make.visible if item.dims == x.dims and item != x and item.dtype == x.dtype]
    if matching and make.chance(0.7):
        return matching[-1]
    codes = {
        "float32": (f"paddle.tanh({x})", f"{x} * 0.5", f"0.5 - {x}"),
        "bool": (f"paddle.logical_not({x})",),
    }.get(x.dtype, (f"{x} + 1", f"{x} * 2", f"3 - {x}"))
    return make.add(make.among(*codes), x.dims, x.dtype, 2 * make.bounds.get(x.number, 0) + 3)


def _carried(make: Maker) -> list[Value]:
    """What a branch or a loop changes: most often floats."""
    dtypes = FLOAT if make.chance(0.8) else ANY
    return [make.take(is_plain=True, dtypes=dtypes) for _ in range(make.among(1, 1, 2))]


def _bounded(make: Maker, x: Value) -> Value:
    """The value at the end of a round; of integers a remainder."""
    if x.dtype not in INTEGERS or make.bounds[x.number] <= MAX_CARRIED:
        return x
    return make.add(f"{x} % {MAX_CARRIED}", x.dims, x.dtype, MAX_CARRIED)


@step(6)
def _if(make: Maker) -> None:
    if make.depth >= MAX_DEPTH:
        raise StopIteration
    condition = _condition(make)
    carried = _carried(make)
    bodies, yields = [], []
    for _ in range(2):
        with make.body() as calls:
            if make.chance(0.75):
                make.some_steps(1, 3)
            yields.append(tuple((_matching_value(make, x) if make.chance(0.8) else x).number for x in carried))
            bodies.append(tuple(calls))
    made = [make.new(x.dims, x.dtype) for x in carried]
    for place, item in enumerate(made):
        make.bounds[item.number] = max(make.bounds.get(numbers[place], 0) for numbers in yields)
    make.append(Call(condition, tuple(item.number for item in made), tuple(bodies), tuple(yields)))
    make.visible += made


@step(6)
def _if_assign(make: Maker) -> None:
    """A branch that only assigns to a loop-carried value."""
    if not make.depth or make.depth >= MAX_DEPTH + 1:
        raise StopIteration
    y = make.take(writable=True)
    condition = _condition(make)
    with make.body() as calls:
        assign(make, y)
        body = tuple(calls)
    make.append(Call(condition, (), (body, ()), ((), ())))


@step(8)
def _loop(make: Maker) -> None:
    if make.depth >= MAX_DEPTH:
        raise StopIteration
    carried = [_bounded(make, x) for x in _carried(make)]
    over = make.take(lambda one: max(map(max, one.dims)) <= 8, is_plain=True)
    axis = make.axis(over)
    number = make.new((), "int64").number
    counter = Counter(number, over.dims[axis])
    if make.chance(0.6):
        head = f"for v{number} in range(paddle.shape({over})[{axis}])"
        if not is_fixed(over.dims[axis]) and make.chance(0.5):
            head = f"for v{number} in range({over}.shape[{axis}])"
    else:
        counter = Counter(number, ())
        count = _trip_count(make)
        head = f"v{number} = paddle.full([1], 0, 'int64')\nwhile v{number} < {count}"
    inner = [make.new(x.dims, x.dtype) for x in carried]
    make.bounds |= {item.number: MAX_CARRIED for item in inner}
    with make.body() as calls:
        make.visible += inner
        make.varying |= {item.number for item in inner}
        make.writable = [*make.writable, *inner] if make.chance(0.7) else make.writable
        make.counters = [*make.counters, counter]
        make.some_steps(1, 4)
        written = {number for call in calls for number in call.writes()}
        ends = [_bounded(make, _matching_value(make, x)) if make.chance(0.7) else x for x in inner]
        # What the next round writes to is a copy: Paddle 3 would write to the value itself, which others read.
        ends = [
            make.add(f"paddle.assign({y})", y.dims, y.dtype) if x.number in written else y
            for x, y in zip(inner, ends, strict=True)
        ]
        body, yields = tuple(calls), tuple(y.number for y in ends)
    make.append(Call(head, tuple(x.number for x in inner), (body,), (yields,), tuple(x.number for x in carried)))
    make.visible += inner


def _trip_count(make: Maker) -> Value:
    """An input with the trip count; 0 in one of the sets."""
    inputs = [make.values[number] for number in make.known if number in make.inputs]
    if inputs and make.chance(0.7):
        return inputs[make.below(len(inputs))]
    counts = [3, 1, 2, 0]
    rounds = [counts[i] for i in make.rng.permutation(4)[:3]]
    return make.input([(1, 1, 1)], "int64", tuple([round_] for round_ in rounds))


@step(2)
def _append_rows(make: Maker) -> None:
    """Rows that a loop appends to a list."""
    if make.depth:
        raise StopIteration
    x = make.take(rank=(2, 3), is_plain=True)
    number = make.new((), "int64").number
    rows = f"rows_{number}"
    row = make.among("paddle.tanh({})", "{} * 0.5").format(f"{x}[v{number}]")
    loop = f"{rows} = []\nfor v{number} in range(paddle.shape({x})[0]):\n    {rows}.append({row})"
    if make.chance(0.5):
        make.add(f"{loop}\npaddle.stack({rows})", x.dims)
    elif x.rank == 2:
        make.add(f"{loop}\npaddle.concat({rows}, axis=0)", [product_dim(*x.dims)])
