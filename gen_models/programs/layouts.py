"""Transposes, reshapes to known and to computed sizes, concatenations and splits."""

from __future__ import annotations

from gen_models.programs.maker import ANY, FLOAT, INTEGERS, Maker, derived_dim, product_dim, static_dim, step
from gen_models.programs.program import Dim, Value, is_fixed


@step(8)
def _transpose(make: Maker) -> None:
    x = make.take(rank=(2, 5), dtypes=ANY)
    perm = [int(axis) for axis in make.rng.permutation(x.rank)]
    if make.chance(0.6):
        common = {
            4: make.among([0, 2, 3, 1], [0, 3, 1, 2], [0, 2, 1, 3], [0, 1, 3, 2]),
            3: make.among([0, 2, 1], [1, 0, 2]),
        }
        perm = common.get(x.rank, perm)
    make.add(f"paddle.transpose({x}, {perm})", [x.dims[axis] for axis in perm], x.dtype)


@step(4)
def _merge(make: Maker) -> None:
    """Neighbouring axes become one: by flatten, or by reshape to what is computed or left open."""
    x = make.take(rank=(2, 5), dtypes=ANY)
    first = make.below(x.rank - 1)
    last = first + 1 if make.chance(0.7) else x.rank - 1
    dims = [*x.dims[:first], product_dim(*x.dims[first : last + 1]), *x.dims[last + 1 :]]
    if make.chance(0.3):
        make.add(f"paddle.flatten({x}, {first}, {make.spelled(last, x.rank)})", dims, x.dtype)
        return
    product = " * ".join(make.size(x, axis) for axis in range(first, last + 1))
    _reshape(make, x, [*range(first), product, *range(last + 1, x.rank)], dims)


@step(4)
def _split_axis(make: Maker) -> None:
    x = make.take(
        lambda one: any(is_fixed(dim) and dim[0] in (4, 6, 8, 12, 16) for dim in one.dims), (1, 4), dtypes=ANY
    )
    axis = make.among(*(i for i, dim in enumerate(x.dims) if is_fixed(dim) and dim[0] in (4, 6, 8, 12, 16)))
    two = make.among([2, x.dims[axis][0] // 2], [x.dims[axis][0] // 2, 2])
    dims = x.replaced(axis, *map(static_dim, two))
    _reshape(make, x, [*range(axis), *map(str, two), *range(axis + 1, x.rank)], dims)


@step(1)
def _rank_one(make: Maker) -> None:
    x = make.take(rank=(2, 4), dtypes=ANY)
    make.add(f"paddle.reshape({x}, [-1])", [product_dim(*x.dims)], x.dtype)


def _reshape(make: Maker, x: Value, parts: list[int | str], dims: list[Dim]) -> None:
    """Reshapes; a part that is a number is an axis that stays: as its size, or 0 where it keeps its place."""
    texts = []
    for place, part in enumerate(parts):
        if isinstance(part, str):
            texts.append(part)
        elif part == place and make.chance(0.4):
            texts.append("0")
        else:
            texts.append(make.size(x, part))
    if make.chance(0.6):
        texts[make.below(len(texts))] = "-1"
    make.add(f"paddle.reshape({x}, [{', '.join(texts)}])", dims, x.dtype)


@step(3)
def _unsqueeze(make: Maker) -> None:
    x = make.take(rank=(1, 4), dtypes=ANY)
    axis = make.below(x.rank + 1)
    dims = [*x.dims[:axis], static_dim(1), *x.dims[axis:]]
    make.add(f"paddle.unsqueeze({x}, {make.spelled(axis, x.rank + 1)})", dims, x.dtype)


@step(3)
def _squeeze(make: Maker) -> None:
    x = make.take(lambda one: static_dim(1) in one.dims, (2, 5), dtypes=ANY)
    axis = x.dims.index(static_dim(1))
    make.add(f"paddle.squeeze({x}, {make.spelled(axis, x.rank)})", x.replaced(axis), x.dtype)


@step(4)
def _expand(make: Maker) -> None:
    """Expands dimensions of 1, or adds leading axes: to sizes that are known, or computed from another value."""
    x = make.take(rank=(1, 4), dtypes=ANY)
    other = make.take()
    dims, texts = [], []
    for axis, dim in enumerate(x.dims):
        if dim == static_dim(1) and make.chance(0.7):
            taken = make.below(other.rank)
            dims.append(other.dims[taken])
            texts.append(make.size(other, taken))
        else:
            dims.append(dim)
            texts.append(make.among("-1", make.size(x, axis)))
    if make.chance(0.3) and x.rank < 4:
        taken = make.below(other.rank)
        dims.insert(0, other.dims[taken])
        texts.insert(0, make.size(other, taken))
    make.add(f"paddle.expand({x}, [{', '.join(texts)}])", dims, x.dtype)


@step(1)
def _tile(make: Maker) -> None:
    x = make.take(rank=(1, 4), dtypes=ANY)
    times = [make.among(1, 1, 2) for _ in x.dims]
    dims = [derived_dim(lambda a, n=n: a * n, dim) for n, dim in zip(times, x.dims, strict=True)]
    make.add(f"paddle.tile({x}, {times})", dims, x.dtype)


@step(5)
def _concat(make: Maker) -> None:
    x = make.take(dtypes=ANY)
    axis = make.axis(x)

    def fits(other: Value) -> bool:
        return (
            other.dtype == x.dtype
            and other.rank == x.rank
            and all(i == axis or dim == x.dims[i] for i, dim in enumerate(other.dims))
        )

    parts = [x, *(make.take(fits, dtypes=ANY) for _ in range(1 + make.below(2)))]
    parts = [parts[i] for i in make.rng.permutation(len(parts))]
    dim = parts[0].dims[axis]
    for part in parts[1:]:
        dim = derived_dim(lambda a, b: a + b, dim, part.dims[axis])
    text = ", ".join(map(str, parts))
    dims = x.replaced(axis, dim)
    make.add(f"paddle.concat([{text}], axis={make.spelled(axis, x.rank)})", dims, x.dtype)


@step(2)
def _stack(make: Maker) -> None:
    x = make.take(rank=(0, 4), dtypes=ANY)
    y = make.take(lambda one: one.dims == x.dims and one.dtype == x.dtype, (0, 4), dtypes=ANY)
    axis = make.below(x.rank + 1)
    make.add(f"paddle.stack([{x}, {y}], axis={axis})", [*x.dims[:axis], static_dim(2), *x.dims[axis:]], x.dtype)


@step(3)
def _split(make: Maker) -> None:
    x = make.take(lambda one: any(is_fixed(dim) and dim[0] > 1 for dim in one.dims), dtypes=ANY)
    axis = make.among(*(i for i, dim in enumerate(x.dims) if is_fixed(dim) and dim[0] > 1))
    size = x.dims[axis][0]
    first = 1 + make.below(size - 1)
    parts = [size // 2] * 2 if size % 2 == 0 and make.chance(0.5) else [first, size - first]
    how = 2 if parts[0] == parts[1] and make.chance(0.7) else [parts[0], -1] if make.chance(0.3) else parts
    make.add_all(
        f"paddle.split({x}, {how}, axis={make.spelled(axis, x.rank)})",
        [(x.replaced(axis, static_dim(part)), x.dtype) for part in parts],
    )


@step(1)
def _unbind(make: Maker) -> None:
    x = make.take(lambda one: any(is_fixed(dim) and dim[0] in (2, 3) for dim in one.dims), (2, 4), dtypes=ANY)
    axis = make.among(*(i for i, dim in enumerate(x.dims) if is_fixed(dim) and dim[0] in (2, 3)))
    rest = x.replaced(axis)
    make.add_all(f"paddle.unbind({x}, {axis})", [(rest, x.dtype)] * x.dims[axis][0])


@step(2)
def _pad(make: Maker) -> None:
    """Every axis; images are padded by `convolutions`, and by tensors in `computed`."""
    x = make.take(rank=(3, 4))
    pads = [make.among(0, 0, 1, 2) for _ in range(2 * x.rank)]
    dims = [derived_dim(lambda a, i=i: a + pads[2 * i] + pads[2 * i + 1], dim) for i, dim in enumerate(x.dims)]
    make.add(f"F.pad({x}, {pads})", dims)


@step(2)
def _roll(make: Maker) -> None:
    x = make.take(dtypes=(*FLOAT, *INTEGERS))
    make.add(f"paddle.roll({x}, {make.among(1, -1, 2)}, axis={make.axis(x)})", x.dims, x.dtype)


@step(1)
def _shuffle(make: Maker) -> None:
    x = make.take(lambda one: is_fixed(one.dims[1]) and one.dims[1][0] % 4 == 0, rank=(4, 4))
    batch, channels, height, width = x.dims
    if make.chance(0.5):
        make.add(f"F.channel_shuffle({x}, 2)", x.dims)
        return
    double = [derived_dim(lambda a: 2 * a, value) for value in (height, width)]
    make.add(f"F.pixel_shuffle({x}, 2)", [batch, static_dim(channels[0] // 4), *double])


@step(1)
def _identity(make: Maker) -> None:
    """Operations that change nothing: results that are inputs, or views of them."""
    x = make.take(dtypes=ANY)
    codes = (
        f"paddle.assign({x})",
        f"paddle.cast({x}, '{x.dtype}')",
        f"{x}[:]",
        f"{x}[0:]",
        f"paddle.reshape({x}, paddle.shape({x}))",
        f"paddle.transpose({x}, {list(range(x.rank))})",
        *([f"F.dropout({x}, 0.3, training=False)"] * (x.dtype in FLOAT)),
    )
    make.add(make.among(*codes), x.dims, x.dtype)
