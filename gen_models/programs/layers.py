"""Layers of other forms: norms without weights or of a batch, cells, attention with masks, pools that say where."""

from __future__ import annotations

from gen_models.programs.maker import Maker, derived_dim, static_dim, step
from gen_models.programs.program import is_fixed


@step(2)
def _norm(make: Maker) -> None:
    """Norms without weights, with channels last, and with the statistics of the batch."""
    x, channels = make.with_channels((3, 4))
    axes = x.rank - 2
    kinds = [
        f"paddle.nn.BatchNorm{axes}D({channels}, epsilon=1e-3, weight_attr=False, bias_attr=False)",
        f"paddle.nn.BatchNorm{axes}D({channels}, epsilon=1e-3, bias_attr=False)",
    ]
    if min(map(min, x.dims[2:])) > 2:
        kinds += [
            f"paddle.nn.InstanceNorm{axes}D({channels}, epsilon=0.1, weight_attr=False, bias_attr=False)",
            f"paddle.nn.GroupNorm({channels}, {channels}, 0.1, weight_attr=False, bias_attr=False)",
            f"paddle.nn.GroupNorm(1, {channels}, 0.1, bias_attr=False)",
            f"paddle.nn.BatchNorm{axes}D({channels}, epsilon=1e-3, use_global_stats=False)",
        ]
    make.add(f"{make.member(make.among(*kinds))}({x})", x.dims)


@step(2)
def _norm_last(make: Maker) -> None:
    x = make.take(lambda one: is_fixed(one.dims[-1]) and one.dims[-1][0] > 1, rank=(2, 4))
    size = x.dims[-1][0]
    kinds = [
        f"paddle.nn.LayerNorm({size}, epsilon=1e-3, weight_attr=False)",
        f"paddle.nn.LayerNorm({size}, weight_attr=False, bias_attr=False)",
    ]
    if x.rank == 4:
        kinds += [
            f"paddle.nn.BatchNorm2D({size}, data_format='NHWC')",
            f"paddle.nn.GroupNorm(1, {size}, 0.1, data_format='NHWC')",
        ]
    if x.rank == 3:
        kinds.append(f"paddle.nn.BatchNorm1D({size}, data_format='NLC')")
    code = f"{make.member(make.among(*kinds))}({x})"
    make.add(make.among(code, code, f"{x} / (paddle.norm({x}, axis=-1, keepdim=True) + 0.5)"), x.dims)


@step(2)
def _cell(make: Maker) -> None:
    """A cell over a sequence, step by step or by `RNN`, with lengths now and then."""
    x = make.take(lambda one: is_fixed(one.dims[-1]), rank=(3, 3), is_plain=True)
    kind, hidden, width = make.among("LSTM", "GRU", "SimpleRNN"), make.among(2, 4), x.dims[-1][0]
    bias = make.among("", ", bias_ih_attr=False", ", bias_hh_attr=False")
    cell = f"paddle.nn.{kind}Cell({width}, {hidden}{bias})"
    if make.chance(0.4):
        index = make.among("0", "-1")
        state = f"{make.member(cell)}({x}[:, {index}])[0]"
        make.add(state, [x.dims[0], static_dim(hidden)])
        return
    if make.chance(0.5):
        layer = make.member(f"paddle.nn.RNN({cell}, is_reverse={make.chance(0.5)})")
        make.add(f"{layer}({x})[0]", [*x.dims[:2], static_dim(hidden)])
        return
    both = make.chance(0.5)
    layer = make.member(f"paddle.nn.{kind}({width}, {hidden}, direction='{'bidirect' if both else 'forward'}')")
    length = f"paddle.maximum({x}.shape[1] - paddle.arange({x}.shape[0]), paddle.ones([1], 'int64'))"
    dims = [*x.dims[:2], static_dim(hidden * (2 if both else 1))]
    make.add(f"{layer}({x}, None, {length})[0]", dims)


@step(3)
def _attention(make: Maker) -> None:
    """Attention to another sequence, or with a mask, by layers and by functions."""
    x = make.take(lambda one: is_fixed(one.dims[-1]) and one.dims[-1][0] % 2 == 0, rank=(3, 3), is_plain=True)
    width = x.dims[-1][0]
    y = make.take(lambda one: one.dims[0] == x.dims[0] and is_fixed(one.dims[2]), rank=(3, 3), is_plain=True)
    mask = make.among(
        "None",
        f"paddle.tril(paddle.ones([{make.size(x, 1)}, {make.size(y, 1)}])).astype('bool')",
        f"paddle.triu(paddle.full([{make.size(x, 1)}, {make.size(y, 1)}], -1e4), 1)",
        f"(paddle.arange({make.size(y, 1)}) < 2).reshape([1, 1, 1, -1])",
    )
    if make.chance(0.7):
        layer = make.member(f"paddle.nn.MultiHeadAttention({width}, 2, kdim={y.dims[2][0]}, vdim={y.dims[2][0]})")
        make.add(f"{layer}({x}, {y}, {y}, {mask})", x.dims)
        return
    heads, each = make.among((2, width // 2), (1, width))
    q = f"paddle.reshape({x}, [0, 0, {heads}, {each}])"
    weights = (make.weight(y.dims[2][0], width, fan_in=y.dims[2][0]) for _ in range(2))
    k, v = (f"paddle.reshape(F.linear({y}, {weight}), [0, 0, {heads}, {each}])" for weight in weights)
    if mask != "None":
        mask = f"({mask}).expand([{make.size(x, 0)}, {heads}, {make.size(x, 1)}, {make.size(y, 1)}])"
    out = f"F.scaled_dot_product_attention({q}, {k}, {v}, {mask}, is_causal=False)"
    make.add(f"paddle.flatten({out}, 2)", x.dims)


@step(2)
def _unpool(make: Maker) -> None:
    """Back to the places of the largest; powers of windows; adaptive pools that say where."""
    x = make.take(lambda one: all(map(is_fixed, one.dims[2:])), rank=(3, 4))
    if any(dim[0] % 2 for dim in x.dims[2:]):
        raise StopIteration
    axes = x.rank - 2
    pooled = [derived_dim(lambda a: a // 2, dim) for dim in x.dims[2:]]
    y, places = make.add_all(
        f"F.max_pool{axes}d({x}, 2, 2, return_mask=True)",
        [([*x.dims[:2], *pooled], "float32"), ([*x.dims[:2], *pooled], "int32")],
        64,
    )
    if make.chance(0.6):
        make.add(f"F.max_unpool{axes}d({y}, {places}, 2, 2)", x.dims)


@step(2)
def _convolution(make: Maker) -> None:
    """Convolutions with paddings by name or for each side, dilated, and transposed with more at the end."""
    x, channels = make.with_channels((3, 4))
    axes, groups = x.rank - 2, make.among(1, channels)
    filters = channels * make.among(1, 2)
    kernel = [3] * axes
    fan = 3**axes * channels // groups
    bias = make.among("None", make.weight(filters))
    kind = make.below(4)
    if kind == 3:
        weight = make.weight(channels, filters // groups, *kernel, fan_in=fan)
        more = make.among(0, 1)
        dims = [derived_dim(lambda a: 2 * (a - 1) - 2 + 3 + more, dim) for dim in x.dims[2:]]
        options = f"stride=2, padding=1, output_padding={more}, groups={groups}"
        make.add(f"F.conv{axes}d_transpose({x}, {weight}, {bias}, {options})", [x.dims[0], static_dim(filters), *dims])
        return
    weight = make.weight(filters, channels // groups, *kernel, fan_in=fan)
    if kind == 0:
        stride, dilation = make.among((1, 1), (2, 1), (1, 2))
        dims = [derived_dim(lambda a: -(-a // stride), dim) for dim in x.dims[2:]]
        options = f"{stride}, 'SAME', {1 if stride > 1 else dilation}, {groups}"
    elif kind == 1:
        dims, options = list(x.dims[2:]), f"1, {[2, 0] * axes}, 1, {groups}"
    else:
        dims, options = list(x.dims[2:]), f"1, 2, 2, {groups}"
    make.add(f"F.conv{axes}d({x}, {weight}, {bias}, {options})", [x.dims[0], static_dim(filters), *dims])


@step(1)
def _wrapped(make: Maker) -> None:
    """Layers whose weights are normalized, and activations with parameters."""
    x = make.take(lambda one: is_fixed(one.dims[-1]), rank=(2, 4))
    width, out = x.dims[-1][0], make.among(2, 4)
    wrap = make.among("weight_norm", "spectral_norm")
    layer = make.member(f"paddle.nn.utils.{wrap}(paddle.nn.Linear({width}, {out}))")
    make.add(f"{layer}({x})", [*x.dims[:-1], static_dim(out)])
