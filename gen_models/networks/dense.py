"""Whole networks with an image as their result: segmentation, matting, generators, super-resolution, denoising."""

from __future__ import annotations

from gen_models.harness.network import Network
from gen_models.harness.spec import TensorSpec, paddle, tensor


def _block(inputs, outputs, stride=1, **options):
    nn = paddle.nn
    conv = nn.Conv2D(inputs, outputs, 3, stride, options.pop("padding", 1), bias_attr=False, **options)
    return nn.Sequential(conv, nn.BatchNorm2D(outputs), nn.ReLU())


def _resized(x, other, **options):
    return paddle.nn.functional.interpolate(x, paddle.shape(other)[2:], mode="bilinear", **options)


def _segmenter():
    """Pyramid pooling, fusion by attention over channel statistics, classes and their probabilities at full size."""
    nn = paddle.nn

    class Segmenter(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.near, self.far = (
                _block(3, 8, 2),
                nn.Sequential(_block(8, 16, 2), _block(16, 16, dilation=2, padding=2)),
            )
            self.pools = nn.LayerList([nn.Sequential(nn.AdaptiveAvgPool2D(n), nn.Conv2D(16, 4, 1)) for n in (1, 2, 3)])
            self.joined, self.side = _block(28, 8), nn.Conv2D(8, 8, 1)
            self.weights = nn.Sequential(nn.Conv2D(4, 2, 3, padding=1), nn.LeakyReLU(), nn.Conv2D(2, 1, 1))
            self.classes = nn.Conv2D(8, 5, 1)

        def forward(self, x):
            near = self.near(x)
            far = self.far(near)
            pooled = [_resized(pool(far), far, align_corners=False) for pool in self.pools]
            far = _resized(self.joined(paddle.concat([far, *pooled], axis=1)), near, align_corners=True)
            side = self.side(near)
            means = [part.mean(axis=1, keepdim=True) for part in (far, side)]
            peaks = [part.max(axis=1, keepdim=True) for part in (far, side)]
            gate = paddle.nn.functional.sigmoid(self.weights(paddle.concat([*means, *peaks], axis=1)))
            scores = _resized(self.classes(far * gate + side * (1 - gate)), x, align_corners=False)
            chances = paddle.nn.functional.softmax(scores, axis=1)
            return paddle.argmax(chances, axis=1, dtype="int32"), chances.max(axis=1)

    return Segmenter()


def _style():
    """StyleGAN2: convolutions whose weights a style modulates for each image, blurred enlargement, noise, sums."""
    nn = paddle.nn

    class Style(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.mapping = nn.Sequential(nn.Linear(8, 8), nn.LeakyReLU(0.2), nn.Linear(8, 8))
            self.start = self.create_parameter([1, 6, 4, 4], default_initializer=nn.initializer.Normal())
            self.first = self.create_parameter([4, 6, 3, 3], default_initializer=nn.initializer.Normal(0.0, 0.3))
            self.second = self.create_parameter([3, 4, 1, 1], default_initializer=nn.initializer.Normal(0.0, 0.5))
            self.styles = nn.LayerList([nn.Linear(8, 6), nn.Linear(8, 4)])
            blur = paddle.to_tensor([1.0, 3.0, 3.0, 1.0])
            blur = paddle.outer(blur, blur) / 16.0
            self.register_buffer("blur", blur.unsqueeze([0, 1]))

        def modulated(self, x, weight, style, normal, up):
            batch, inputs, height, width = x.shape
            outputs, side = weight.shape[0], weight.shape[2]
            weight = weight.unsqueeze(0) * style.reshape([-1, 1, inputs, 1, 1])
            if normal:
                weight = weight * paddle.rsqrt(weight.pow(2).sum([2, 3, 4], keepdim=True) + 1e-8)
            x = x.reshape([1, -1, height, width])
            if not up:
                weight = weight.reshape([batch * outputs, inputs, side, side])
                x = paddle.nn.functional.conv2d(x, weight, padding=side // 2, groups=batch)
                return x.reshape([batch, outputs, height, width])
            weight = weight.transpose([0, 2, 1, 3, 4]).reshape([batch * inputs, outputs, side, side])
            x = paddle.nn.functional.conv2d_transpose(x, weight, stride=2, groups=batch)
            x = x.reshape([batch * outputs, 1, height * 2 + 1, width * 2 + 1])
            x = paddle.nn.functional.conv2d(paddle.nn.functional.pad(x, [1, 1, 1, 1]), self.blur)
            return x.reshape([batch, outputs, height * 2, width * 2])

        def forward(self, z, noise):
            z = z * paddle.rsqrt(z.pow(2).mean(axis=1, keepdim=True) + 1e-8)
            w = self.mapping(z)
            x = self.start.tile([2, 1, 1, 1])
            x = self.modulated(x, self.first, self.styles[0](w), True, True) + 0.1 * noise
            x = paddle.nn.functional.leaky_relu(x, 0.2) * 2**0.5
            return paddle.tanh(self.modulated(x, self.second, self.styles[1](w), False, False))

    return Style()


def _super_resolution():
    """Residual dense blocks, pixel attention, sub-pixel enlargement, a resized copy of the input added."""
    nn = paddle.nn

    class SuperResolution(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Conv2D(3, 8, 3, padding=1)
            self.dense = nn.LayerList([nn.Conv2D(8 + 4 * i, 4 if i < 2 else 8, 3, padding=1) for i in range(3)])
            self.attention, self.up = nn.Conv2D(8, 8, 1), nn.Conv2D(8, 32, 3, padding=1, padding_mode="reflect")
            self.last = nn.Conv2D(8, 3, 3, padding=1, padding_mode="replicate")

        def forward(self, x):
            start = self.first(x)
            parts = [start]
            for conv in self.dense:
                parts.append(paddle.nn.functional.leaky_relu(conv(paddle.concat(parts, axis=1)), 0.2))
            y = start + 0.2 * parts[-1]
            y = y * paddle.nn.functional.sigmoid(self.attention(y))
            y = paddle.nn.functional.pixel_shuffle(self.up(y), 2)
            return paddle.clip(
                self.last(y) + paddle.nn.functional.interpolate(x, scale_factor=2, mode="bicubic"), -2.0, 2.0
            )

    return SuperResolution()


def _denoiser():
    """One step of diffusion: a sinusoidal time, group norms that it shifts, attention to a text, skipped levels."""
    nn = paddle.nn

    class Denoiser(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.time = nn.Sequential(nn.Linear(8, 16), nn.Silu(), nn.Linear(16, 16))
            self.enter, self.down = nn.Conv2D(4, 8, 3, padding=1), nn.Conv2D(8, 8, 3, stride=2, padding=1)
            self.norms = nn.LayerList([nn.GroupNorm(4, 8, epsilon=1e-6) for _ in range(3)])
            self.shift, self.mid = nn.Linear(16, 16), nn.Conv2D(8, 8, 3, padding=1)
            self.q, self.kv, self.out = nn.Linear(8, 8), nn.Linear(6, 16), nn.Linear(8, 8)
            self.gated, self.back = nn.Linear(8, 32), nn.Linear(16, 8)
            self.layer_norm = nn.LayerNorm(8)
            self.exit = nn.Conv2D(16, 4, 3, padding=1)

        def forward(self, sample, step, text):
            speed = paddle.exp(paddle.arange(4).astype("float32") * -2.3)
            angle = step.astype("float32").unsqueeze(-1) * speed
            time = self.time(paddle.concat([paddle.cos(angle), paddle.sin(angle)], axis=-1))
            time = time.expand([paddle.shape(sample)[0], -1])
            first = self.enter(sample)
            x = self.down(paddle.nn.functional.silu(self.norms[0](first)))
            scale, shift = paddle.chunk(self.shift(paddle.nn.functional.silu(time)).unsqueeze([2, 3]), 2, axis=1)
            x = x + self.mid(paddle.nn.functional.silu(self.norms[1](x) * (1 + scale) + shift))
            height, width = paddle.shape(x)[2], paddle.shape(x)[3]
            pixels = self.norms[2](x).transpose([0, 2, 3, 1]).reshape([0, -1, 8])
            key, value = paddle.chunk(self.kv(text), 2, axis=-1)
            q, key, value = (y.reshape([0, -1, 2, 4]).transpose([0, 2, 1, 3]) for y in (self.q(pixels), key, value))
            attended = paddle.nn.functional.softmax(paddle.matmul(q, key, transpose_y=True) * 0.5, axis=-1)
            attended = paddle.matmul(attended, value).transpose([0, 2, 1, 3]).reshape([0, -1, 8])
            pixels = pixels + self.out(attended)
            up, gate = paddle.chunk(self.gated(self.layer_norm(pixels)), 2, axis=-1)
            pixels = pixels + self.back(up * paddle.nn.functional.gelu(gate))
            x = x + pixels.transpose([0, 2, 1]).reshape([0, 8, height, width])
            x = paddle.nn.functional.interpolate(x, scale_factor=2.0, mode="nearest")
            return self.exit(paddle.concat([x, first], axis=1))

    return Denoiser()


def _flow():
    """Frames of a film aligned by a flow, sampled on a grid, with what deformable convolution would take apart."""
    nn = paddle.nn

    class Flow(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.flow, self.blend = nn.Conv2D(6, 2, 5, padding=2), nn.Conv2D(9, 3, 3, padding=1)
            self.offsets, self.mask = nn.Conv2D(6, 18, 3, padding=1), nn.Conv2D(6, 9, 3, padding=1)
            self.deformed = paddle.vision.ops.DeformConv2D(3, 3, 3, padding=1)

        def forward(self, frames):
            now, before = frames[:, 0], frames[:, 1]
            both = paddle.concat([now, before], axis=1)
            height, width = paddle.shape(now)[2], paddle.shape(now)[3]
            rows, columns = paddle.meshgrid(paddle.arange(height), paddle.arange(width))
            grid = paddle.stack([columns, rows], axis=2).astype("float32") + self.flow(both).transpose([0, 2, 3, 1])
            across = 2.0 * grid[:, :, :, 0] / (width - 1).astype("float32") - 1.0
            along = 2.0 * grid[:, :, :, 1] / (height - 1).astype("float32") - 1.0
            warped = paddle.nn.functional.grid_sample(
                before, paddle.stack([across, along], axis=3), padding_mode="border", align_corners=True
            )
            mask = paddle.nn.functional.sigmoid(self.mask(both))
            deformed = self.deformed(before, self.offsets(both), mask)
            return self.blend(paddle.concat([now, warped, deformed], axis=1))

    return Flow()


def _image(batch: int, height: int, width: int) -> dict[str, TensorSpec]:
    return {"x": tensor([batch, 3, height, width], dims=[-1, 3, -1, -1])}


def _noisy(batch: int, height: int, width: int, words: int) -> dict[str, TensorSpec]:
    return {
        "sample": tensor([batch, 4, height, width], dims=[-1, 4, -1, -1]),
        "step": tensor([1], "int64", values=[17 * words]),
        "text": tensor([batch, words, 6], dims=[-1, -1, 6]),
    }


def _latent(seed: int) -> dict[str, TensorSpec]:
    return {"z": tensor([2, 8], low=-float(seed), high=float(seed)), "noise": tensor([2, 1, 8, 8])}


NETWORKS = [
    Network("dense_denoiser", _denoiser, _noisy(2, 8, 8, 5), more=[_noisy(1, 12, 8, 3)]),
    Network(
        "dense_flow",
        _flow,
        {"frames": tensor([1, 2, 3, 8, 10], dims=[-1, 2, 3, -1, -1])},
        more=[{"frames": tensor([2, 2, 3, 12, 9])}],
    ),
    Network("dense_segmenter", _segmenter, _image(1, 24, 32), more=[_image(2, 40, 28)]),
    Network("dense_style", _style, _latent(1), more=[_latent(2)]),
    Network("dense_super_resolution", _super_resolution, _image(1, 8, 10), more=[_image(2, 11, 7)]),
]
