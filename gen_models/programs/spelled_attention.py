"""Attention as programs write it: heads, products, scale, mask and softmax, each in one of many spellings."""

from __future__ import annotations

from gen_models.programs.maker import Maker, derived_dim, product_dim, static_dim, step
from gen_models.programs.program import Dim, Value, is_fixed


@step(9)
def _spelled(make: Maker) -> None:
    """Of [batch, tokens, width], with a cache of keys now and then; or of inputs that are split into heads already."""
    order = make.among("bhnd", "bhnd", "bnhd")
    if make.depth == 0 and make.chance(0.3):
        q, k, v = _given(make, order)
    else:
        q, k, v = _projected(make, order)
    each = max(q.dims[3])
    scale = make.among("none", "queries", "scores", "quotient")
    if scale == "queries":
        q = make.add(f"{q} * {round(each**-0.5, 4)}", q.dims)
    scores = _scores(make, q, k, order)
    if scale == "scores":
        scores = make.add(f"{scores} * {round(each**-0.5, 4)}", scores.dims)
    elif scale == "quotient":
        scores = make.add(f"{scores} / {round(each**0.5, 4)}", scores.dims)
    weights = _softmax(make, _masked(make, scores))
    out, order = _weighted(make, weights, v, order)
    if make.chance(0.8):
        _joined(make, out, order)


def _ordered(order: str, **dims: Dim) -> list[Dim]:
    return [dims[letter] for letter in order]


def _given(make: Maker, order: str) -> list[Value]:
    """Queries, keys and values as inputs; they may be one."""
    x = make.take(rank=(3, 3), is_plain=True)
    b, n, _ = x.dims
    h, d = make.among(static_dim(1), static_dim(2), n, static_dim(4)), static_dim(make.among(1, 4, 8))
    q = make.input(_ordered(order, b=b, h=h, n=n, d=d))
    if make.chance(0.2):
        return [q, q, q]
    keys = make.among(n, n, x.dims[1], (1, 19, 4))
    return [q, *(make.input(_ordered(order, b=b, h=h, n=keys, d=d)) for _ in range(2))]


def _projected(make: Maker, order: str) -> list[Value]:
    x = make.take(lambda one: is_fixed(one.dims[-1]), rank=(3, 3))
    batch, length, (width, *_) = x.dims
    heads = make.among(1, 2, 3, length[0] if is_fixed(length) and length[0] < 7 else 4)
    each = make.among(1, 4, 8, length[0] if is_fixed(length) and length[0] < 7 else 2)
    flat = [batch, length, static_dim(heads * each)]
    if make.chance(0.6):
        weight = make.weight(width, 3 * heads * each, fan_in=width)
        joined = f"F.linear({x}, {weight}, {make.among('None', make.weight(3 * heads * each))})"
        if order == "bhnd" and make.chance(0.5):
            return _stacked(make, joined, x, heads, each)
        parts = make.among("paddle.chunk({x}, 3, axis=-1)", "paddle.split({x}, 3, axis=2)")
        values = make.add_all(parts.format(x=joined), [(flat, "float32")] * 3)
    else:
        values = [make.add(f"F.linear({x}, {make.weight(width, heads * each, fan_in=width)})", flat) for _ in range(3)]
    split = [_heads(make, value, heads, order) for value in values]
    return _with_cache(make, split, order) if make.depth == 0 and make.chance(0.3) else split


def _stacked(make: Maker, joined: str, x: Value, heads: int, each: int) -> list[Value]:
    """All three of one transpose, as ViT and Swin have it."""
    lead = make.among("-1", make.size(x, 0))
    shape = f"[{lead}, {make.size(x, 1)}, 3, {heads}, {each}]"
    dims = [x.dims[0], static_dim(heads), x.dims[1], static_dim(each)]
    parts = make.add(f"paddle.transpose(paddle.reshape({joined}, {shape}), [2, 0, 3, 1, 4])", [static_dim(3), *dims])
    return [make.add(f"{parts}[{i}]", dims) for i in range(3)]


def _heads(make: Maker, x: Value, heads: int, order: str) -> Value:
    batch, length, (width, *_) = x.dims
    each = width // heads
    dims = _ordered(order, b=batch, h=static_dim(heads), n=length, d=static_dim(each))
    if make.chance(0.2):
        return make.add(f"paddle.stack(paddle.chunk({x}, {heads}, axis=-1), axis={order.index('h')})", dims)
    last = make.among(str(each), "-1")
    second = make.among("0", make.size(x, 1), *(["-1"] if last != "-1" else []))
    first = make.among("0", make.size(x, 0), *(["-1"] if "-1" not in (last, second) else []))
    whole = f"paddle.reshape({x}, [{first}, {second}, {heads}, {last}])"
    return make.add(whole if order == "bnhd" else f"paddle.transpose({whole}, [0, 2, 1, 3])", dims)


def _with_cache(make: Maker, values: list[Value], order: str) -> list[Value]:
    """Keys and values of earlier tokens, which are inputs, before those of these; both may be results."""
    q, *pair = values
    past = make.among((1, 19, 3), (2, 15, 1), static_dim(3))
    axis = order.index("n")
    joined = []
    for item in pair:
        dims = item.replaced(axis, past)
        total = derived_dim(lambda a, b: a + b, past, item.dims[axis])
        whole = item.replaced(axis, total)
        joined.append(make.add(f"paddle.concat([{make.input(dims)}, {item}], axis={axis})", whole))
    return [q, *joined]


def _scores(make: Maker, q: Value, k: Value, order: str) -> Value:
    i, j = (order.replace("n", letter) for letter in "ij")
    b, h, n, keys = q.dims[0], q.dims[order.index("h")], q.dims[order.index("n")], k.dims[order.index("n")]
    dims = [b, h, n, keys]
    if make.chance(0.35):
        return make.add(f"paddle.einsum('{i},{j}->bhij', {q}, {k})", dims)
    if order == "bnhd":
        q, k = _turned(make, q), _turned(make, k)
    if make.chance(0.4):
        product = make.add(
            f"paddle.bmm({_flat(make, q)}, paddle.transpose({_flat(make, k)}, [0, 2, 1]))", _batched(dims)
        )
        return _unflat(make, product, q, k)
    return make.add(
        make.among(
            f"paddle.matmul({q}, {k}, transpose_y=True)",
            f"paddle.matmul({q}, paddle.transpose({k}, [0, 1, 3, 2]))",
            f"paddle.matmul({k}, {q}, transpose_y=True).transpose([0, 1, 3, 2])",
        ),
        dims,
    )


def _turned(make: Maker, x: Value) -> Value:
    b, n, h, d = x.dims
    return make.add(f"paddle.transpose({x}, [0, 2, 1, 3])", [b, h, n, d])


def _batched(dims: list[Dim]) -> list[Dim]:
    return [product_dim(*dims[:2]), *dims[2:]]


def _flat(make: Maker, x: Value) -> Value:
    """[b, h, n, d] as [b · h, n, d]."""
    rows, last = make.size(x, 2), make.size(x, 3)
    target = make.among(f"[-1, {rows}, {last}]", f"[{make.size(x, 0)} * {make.size(x, 1)}, {rows}, {last}]")
    code = make.among(f"paddle.reshape({x}, {target})", f"paddle.flatten({x}, 0, 1)")
    return make.add(code, _batched([*x.dims]))


def _unflat(make: Maker, product: Value, x: Value, y: Value) -> Value:
    """The batch of a product split again, as the first two axes of x; the last axis is that of y."""
    target = [make.size(x, 0), make.size(x, 1), make.size(product, 1), make.size(product, 2)]
    target[make.below(4)] = "-1"
    return make.add(f"paddle.reshape({product}, [{', '.join(target)}])", [*x.dims[:2], *product.dims[1:]])


def _masked(make: Maker, scores: Value) -> Value:
    kind = make.below(6)
    queries, keys = make.size(scores, 2), make.size(scores, 3)
    if kind == 0:
        return make.add(f"{scores} + paddle.triu(paddle.full([{queries}, {keys}], -1e4), 1)", scores.dims)
    if kind == 1 and make.depth == 0:
        mask = make.input([scores.dims[0], static_dim(1), static_dim(1), scores.dims[3]])
        return make.add(f"{scores} + {mask}", scores.dims)
    if kind == 2:
        seen = f"paddle.tril(paddle.ones([{queries}, {keys}])) > 0.5"
        return make.add(f"paddle.where({seen}, {scores}, paddle.full_like({scores}, -1e4))", scores.dims)
    if kind == 3:
        table = make.parameter(1, scores.dims[1][0], max(scores.dims[2]), max(scores.dims[3]))
        return make.add(f"{scores} + {table}[:, :, :{queries}, :{keys}]", scores.dims)
    return scores


def _softmax(make: Maker, scores: Value) -> Value:
    if make.chance(0.4):
        return make.add(f"F.softmax({scores}, axis={make.among(-1, 3)})", scores.dims)
    dims = [*scores.dims[:3], static_dim(1)]
    most = make.among(
        None, f"paddle.max({scores}, axis=-1, keepdim=True)", f"paddle.max({scores}, axis=3).unsqueeze(-1)"
    )
    powers = make.add(f"paddle.exp({scores} - {most})" if most else f"paddle.exp({scores})", scores.dims)
    total = make.among(f"paddle.sum({powers}, axis=-1, keepdim=True)", f"{powers}.sum(3).unsqueeze(3)")
    total = make.add(total, dims)
    return make.add(make.among(f"{powers} / {total}", f"{powers} * (1 / {total})"), scores.dims)


def _weighted(make: Maker, weights: Value, v: Value, order: str) -> tuple[Value, str]:
    n = weights.dims[2]
    if make.chance(0.35):
        out = make.among("bhnd", "bnhd")
        dims = _ordered(out, b=v.dims[0], h=weights.dims[1], n=n, d=v.dims[3])
        equation = f"bhij,{order.replace('n', 'j')}->{out.replace('n', 'i')}"
        return make.add(f"paddle.einsum('{equation}', {weights}, {v})", dims), out
    if order == "bnhd":
        v = _turned(make, v)
    dims = [*v.dims[:2], n, v.dims[3]]
    if make.chance(0.4):
        product = make.add(f"paddle.bmm({_flat(make, weights)}, {_flat(make, v)})", _batched(dims))
        return _unflat(make, product, weights, v), "bhnd"
    return make.add(f"paddle.matmul({weights}, {v})", dims), "bhnd"


def _joined(make: Maker, x: Value, order: str) -> Value:
    """The heads of each token as one axis."""
    if order == "bhnd":
        x = _turned(make, x)
    b, n, h, d = x.dims
    width = product_dim(h, d)
    if make.chance(0.3):
        return make.add(f"paddle.flatten({x}, 2)", [b, n, width])
    last = str(width[0]) if is_fixed(width) else "-1"
    first = make.among("0", make.size(x, 0), *(["-1"] if last != "-1" else []))
    return make.add(f"paddle.reshape({x}, [{first}, {make.among('0', make.size(x, 1))}, {last}])", [b, n, width])
