"""Attention over sequences and windows of images; recurrent layers with states of their own."""

from __future__ import annotations

from gen_models.programs.maker import Maker, static_dim, step
from gen_models.programs.program import is_fixed


@step(5)
def _windows(make: Maker) -> None:
    """Windows of two by two of an image with channels last, something inside of them, and the way back."""
    x = make.take(
        lambda one: all(is_fixed(dim) for dim in one.dims[1:]) and one.dims[1][0] % 2 == one.dims[2][0] % 2 == 0,
        rank=(4, 4),
    )
    batch, (height, *_), (width, *_), (channels, *_) = x.dims
    is_rolled = make.chance(0.5)
    start = f"paddle.roll({x}, [-1, -1], axis=[1, 2])" if is_rolled else str(x)
    split = f"paddle.reshape({start}, [-1, {height // 2}, 2, {width // 2}, 2, {channels}])"
    count = tuple(size * height * width // 4 for size in batch)
    y = make.add(
        f"paddle.reshape(paddle.transpose({split}, [0, 1, 3, 2, 4, 5]), [-1, 4, {channels}])",
        [count, static_dim(4), static_dim(channels)],
    )
    if make.chance(0.6):
        y = make.add(f"F.gelu(F.linear({y}, {make.weight(channels, channels, fan_in=channels)}))", y.dims)
    if make.chance(0.5):
        y = make.add(f"{y} + {make.parameter(4, channels)}", y.dims)
    if make.chance(0.3):
        return
    back = f"paddle.reshape({y}, [-1, {height // 2}, {width // 2}, 2, 2, {channels}])"
    back = f"paddle.reshape(paddle.transpose({back}, [0, 1, 3, 2, 4, 5]), [-1, {height}, {width}, {channels}])"
    make.add(f"paddle.roll({back}, [1, 1], axis=[1, 2])" if is_rolled else back, x.dims)


@step(10)
def _recurrent(make: Maker) -> None:
    x = make.take(lambda one: is_fixed(one.dims[-1]), rank=(3, 3))
    kind, hidden = make.among("LSTM", "GRU", "SimpleRNN"), make.among(4, 8)
    major, both, layers = make.chance(0.4), make.chance(0.5), make.among(1, 1, 2)
    directions = 2 if both else 1
    direction = "bidirect" if both else "forward"
    batch, width = x.dims[1 if major else 0], x.dims[2][0]
    text = f"paddle.nn.{kind}({width}, {hidden}, {layers}, direction='{direction}', time_major={major})"
    layer = make.member(text)
    initial = ""
    state = [static_dim(layers * directions), batch, static_dim(hidden)]
    if make.chance(0.4):
        states = []
        for _ in range(2 if kind == "LSTM" else 1):
            learned = make.parameter(layers * directions, batch[0] if is_fixed(batch) else 1, hidden)
            states.append(
                str(learned)
                if is_fixed(batch)
                else f"paddle.expand({learned}, [{layers * directions}, {make.size(x, 1 if major else 0)}, {hidden}])"
            )
        initial = f", ({', '.join(states)})" if kind == "LSTM" else f", {states[0]}"
    out = [x.dims[0], x.dims[1], static_dim(directions * hidden)]
    if make.chance(0.5):
        make.add(f"{layer}({x}{initial})[0]", out)
    elif kind == "LSTM":
        make.add_all(f"{layer}({x}{initial})[1]", [(state, "float32")] * 2)
    else:
        make.add_all(f"{layer}({x}{initial})", [(out, "float32"), (state, "float32")])


@step(2)
def _encoder(make: Maker) -> None:
    x = make.take(lambda one: is_fixed(one.dims[-1]) and one.dims[-1][0] in (4, 6, 8, 12, 16), rank=(3, 3))
    width = x.dims[-1][0]
    before = make.chance(0.5)
    layer = make.member(f"paddle.nn.TransformerEncoderLayer({width}, 2, {2 * width}, normalize_before={before})")
    make.add(f"{layer}({x})", x.dims)
