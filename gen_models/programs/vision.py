"""Images and volumes: resizes of every kind, samplings, patches, regions, and convolutions over three axes."""

from __future__ import annotations

from gen_models.programs.maker import Maker, derived_dim, product_dim, static_dim, step
from gen_models.programs.program import is_fixed


@step(2)
def _resize(make: Maker) -> None:
    """Cubic resizes and those of sequences and volumes; align_mode; scales that are no whole numbers."""
    x = make.take(rank=(3, 5), is_plain=True)
    mode = {3: "linear", 4: make.among("bicubic", "bilinear", "area"), 5: make.among("trilinear", "nearest")}[x.rank]
    spatial = x.dims[2:]
    # One element of a sequence or a volume is the first in Paddle 2, the middle in Paddle 3.
    out = [static_dim(make.among(2, 3, 5) if x.rank != 4 else make.among(1, 2, 5)) for _ in spatial]
    size = f"size={[dim[0] for dim in out]}"
    if mode == "area":
        make.add(f"F.interpolate({x}, {size}, mode='area')", [*x.dims[:2], *out])
        return
    if make.chance(0.4):
        scale = make.among(2, 1.5)
        size = f"scale_factor={[scale] * len(spatial)}"
        out = [derived_dim(lambda a: int(a * scale), dim) for dim in spatial]
    corners = "" if mode == "nearest" else make.among("", ", align_corners=True", ", align_mode=1")
    layout = {3: "NCW", 4: "NCHW", 5: "NCDHW"}[x.rank]
    make.add(f"F.interpolate({x}, {size}, mode='{mode}'{corners}, data_format='{layout}')", [*x.dims[:2], *out])


@step(2)
def _grid_sample(make: Maker) -> None:
    x, _ = make.with_channels(least=2)
    mode, pad = make.among("bilinear", "nearest"), make.among("zeros", "border", "reflection")
    corners = make.chance(0.5)
    make.is_steady = False
    height, width = make.among(2, 3, 4), make.among(2, 5)  # one step has no corners to align
    theta = f"paddle.expand(paddle.to_tensor([[[0.83, 0.13, 0.07], [-0.11, 0.91, 0.03]]]), [{make.size(x, 0)}, 2, 3])"
    grid = f"F.affine_grid({theta}, [{make.size(x, 0)}, 1, {height}, {width}], align_corners={corners})"
    code = f"F.grid_sample({x}, {grid}, '{mode}', '{pad}', {corners})"
    make.add(code, [*x.dims[:2], static_dim(height), static_dim(width)])


@step(2)
def _roi_align(make: Maker) -> None:
    """Regions of the first image, that a parameter or the data give."""
    x, channels = make.with_channels(least=2)
    count = make.among(1, 2, 3)
    boxes = f"F.sigmoid({make.weight(count, 4)}) * paddle.to_tensor([1.0, 1.0, 2.0, 3.0])"
    boxes = f"paddle.concat([({boxes})[:, :2], ({boxes})[:, :2] + ({boxes})[:, 2:]], axis=1)"
    counts = f"paddle.concat([paddle.full([1], {count}, 'int32'), paddle.zeros([{make.size(x, 0)} - 1], 'int32')])"
    size, scale = make.among(1, 2, 3), make.among("0.5", "1.0")
    code = f"paddle.vision.ops.roi_align({x}, {boxes}, {counts}, {size}, {scale}, sampling_ratio=2)"
    make.add(code, [static_dim(count), static_dim(channels), *[static_dim(size)] * 2])


@step(1)
def _priors(make: Maker) -> None:
    """Anchors of each place, as SSD has them; and boxes shifted from them."""
    x, _ = make.with_channels()
    image, _ = make.with_channels()
    code = f"paddle.vision.ops.prior_box({x}, {image}, min_sizes=[2.0], aspect_ratios=[1.0, 2.0], clip=True)[0]"
    dims = [*x.dims[2:], static_dim(2), static_dim(4)]
    boxes = make.add(code, dims)
    if make.chance(0.6):
        flat = derived_dim(lambda a, b: 2 * a * b, *x.dims[2:])
        shifts = f"paddle.tanh(paddle.reshape({boxes}, [1, -1, 4])) * 0.3"
        kind = "'decode_center_size'"
        arguments = f"paddle.reshape({boxes}, [-1, 4]), [0.1, 0.1, 0.2, 0.2], {shifts}, {kind}"
        make.add(f"paddle.vision.ops.box_coder({arguments}, False, 0)", [static_dim(1), flat, static_dim(4)])


@step(1)
def _yolo(make: Maker) -> None:
    x, _ = make.with_channels()
    classes, anchors = make.among(1, 2), [3, 4, 5, 2]
    heads = make.weight(2 * (5 + classes), x.dims[1][0], 1, 1, fan_in=x.dims[1][0])
    size = f"paddle.expand(paddle.to_tensor([[32, 48]], dtype='int32'), [{make.size(x, 0)}, 2])"
    code = f"paddle.vision.ops.yolo_box(F.conv2d({x}, {heads}), {size}, {anchors}, {classes}, 0.0, 8)"
    count = derived_dim(lambda a, b: 2 * a * b, *x.dims[2:])
    boxes, _ = make.add_all(code, [([x.dims[0], count, static_dim(last)], "float32") for last in (4, classes)])
    make.add(f"{boxes} * 0.02", boxes.dims)


@step(2)
def _patches(make: Maker) -> None:
    x, channels = make.with_channels(least=2)
    kernel, stride = 2, make.among(1, 2)
    height, width = (derived_dim(lambda a: (a - kernel) // stride + 1, dim) for dim in x.dims[2:])
    count = product_dim(height, width)
    patches = make.add(f"F.unfold({x}, {kernel}, {stride})", [x.dims[0], static_dim(4 * channels), count])
    if all(map(is_fixed, x.dims[2:])) and make.chance(0.4):
        make.add(f"F.fold({patches}, {[dim[0] for dim in x.dims[2:]]}, {kernel}, {stride})", x.dims)


@step(2)
def _pixel_unshuffle(make: Maker) -> None:
    x = make.take(lambda one: all(map(is_fixed, one.dims[1:])), rank=(4, 4))
    if any(dim[0] % 2 for dim in x.dims[2:]):
        raise StopIteration
    half = [derived_dim(lambda a: a // 2, dim) for dim in x.dims[2:]]
    make.add(f"F.pixel_unshuffle({x}, 2)", [x.dims[0], static_dim(4 * x.dims[1][0]), *half])


@step(2)
def _pool(make: Maker) -> None:
    """Adaptive and one-dimensional pools, those that round sizes up, and where the largest stood."""
    x = make.take(lambda one: min(map(min, one.dims[2:])) >= 2, rank=(3, 4), is_plain=True)
    axes = x.rank - 2
    kind = make.below(3)
    if kind == 0:
        size = make.among(1, 2, 3)
        function = make.among("adaptive_max_pool", "adaptive_avg_pool")
        make.add(f"F.{function}{axes}d({x}, {size})", [*x.dims[:2], *[static_dim(size)] * axes])
    elif kind == 1:
        out = [derived_dim(lambda a: -(-(a - 2) // 2) + 1, dim) for dim in x.dims[2:]]
        function = make.among("max_pool", "avg_pool")
        make.add(f"F.{function}{axes}d({x}, 2, 2, ceil_mode=True)", [*x.dims[:2], *out])
    else:
        out = [derived_dim(lambda a: a // 2, dim) for dim in x.dims[2:]]
        code = f"F.max_pool{axes}d({x}, 2, 2)" if axes == 1 else f"F.max_pool2d({x}, 2, 2, return_mask=True)[0]"
        make.add(code, [*x.dims[:2], *out])


@step(4)
def _volume(make: Maker) -> None:
    """A convolution or a pool over three axes; an image is a volume of a depth of its own."""
    x = make.take(lambda one: is_fixed(one.dims[1]), rank=(4, 5))
    if x.rank == 4:
        code = f"paddle.stack([{x}, paddle.tanh({x})], axis=2)"
        x = make.add(code, [*x.dims[:2], static_dim(2), *x.dims[2:]])
    channels, filters = x.dims[1][0], make.among(2, 4)
    if make.chance(0.6):
        weight = make.weight(filters, channels, 1, 3, 3, fan_in=9 * channels)
        make.add(f"F.conv3d({x}, {weight}, padding=[0, 1, 1])", [x.dims[0], static_dim(filters), *x.dims[2:]])
    elif min(map(min, x.dims[2:])) >= 2:
        out = [derived_dim(lambda a: a // 2, dim) for dim in x.dims[2:]]
        make.add(f"F.{make.among('max', 'avg')}_pool3d({x}, 2, 2)", [*x.dims[:2], *out])


@step(1)
def _deformed(make: Maker) -> None:
    x, channels = make.with_channels()
    filters = make.among(2, 4)
    weight = make.weight(filters, channels, 3, 3, fan_in=9 * channels)
    moved = make.weight(18, channels, 3, 3, fan_in=9 * channels)
    code = f"paddle.vision.ops.deform_conv2d({x}, F.conv2d({x}, {moved}, padding=1) * 0.7, {weight}, padding=1)"
    make.add(code, [x.dims[0], static_dim(filters), *x.dims[2:]])
