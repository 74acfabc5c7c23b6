"""Random graphs of the nodes that converters emit, for the rewrites: small, of sizes that are known or not.

`random_graph(seed)` gives the same model for the same seed. Each step takes tensors that are there, most often late
ones, and adds nodes to them; what no other step reads is a result. Lengths are few and small, so that many are equal.
"""

import itertools
import math
from collections.abc import Callable

import numpy as np
from openvino import Model, PartialShape, Type, opset13, opset16 as ops

from gen_models.programs.chance import Chance

STEPS: dict[Callable[..., object], int] = {}
"""Step -> how often it is taken."""
MAX_ELEMENTS = 4000


def step(weight):
    def register(function):
        STEPS[function] = weight
        return function

    return register


class Maker(Chance):
    """A graph while it is made, with the shapes that its tensors have in a run.

    With the probability `learned` a step takes a constant instead of a tensor, which others may have taken before.
    """

    def __init__(self, seed, learned=0.0):
        super().__init__(seed)
        self.learned, self.constants = learned, {}
        self.is_dynamic = self.chance(0.5)
        self.tensors, self.parameters, self.dims, self.inputs, self.read = [], [], [], [], set()
        for _ in range(self.below(2) + 1):
            shape = [self.among(1, 2, 3, 4, 6) for _ in range(self.among(2, 3, 3, 4, 4, 4, 5))]
            unknown = [self.is_dynamic and self.chance(0.5) for _ in shape]
            self.dims.append([-1 if hidden else size for hidden, size in zip(unknown, shape, strict=True)])
            self.parameters.append(ops.parameter(shape, Type.f32))
            self.inputs.append(self.numbers(*shape))
            self.add(self.parameters[-1])

    def add(self, made):
        """A node, its outputs, or one of them."""
        outputs = made.outputs() if hasattr(made, "outputs") else made if isinstance(made, list) else [made]
        self.tensors += [(output, [*output.get_shape()]) for output in outputs]

    def numbers(self, *shape):
        return self.rng.standard_normal(shape).astype(np.float32)

    def take(self, fits=lambda shape: True, rank=(1, 6), most=MAX_ELEMENTS):
        """A tensor and its shape; StopIteration if none fits."""
        candidates = [
            i
            for i, (_, shape) in enumerate(self.tensors)
            if rank[0] <= len(shape) <= rank[1] and math.prod(shape) <= most and fits(shape)
        ]
        if not candidates:
            raise StopIteration
        picked = candidates[-min(int(self.rng.geometric(0.35)), len(candidates))]
        if self.learned and self.chance(self.learned):
            shape = self.tensors[picked][1]
            made = self.constants.setdefault((tuple(shape), self.below(2)), ops.constant(self.numbers(*shape)))
            return made.output(0), shape
        self.read.add(picked)
        return self.tensors[picked]

    def model(self):
        results = [
            tensor for i, (tensor, _) in enumerate(self.tensors) if i >= len(self.parameters) and i not in self.read
        ]
        model = Model(results, self.parameters)
        for parameter, dims in zip(self.parameters, self.dims, strict=True):
            parameter.set_partial_shape(PartialShape(dims))
        model.validate_nodes_and_infer_types()
        return model


def random_graph(seed, learned=0.0):
    """The model and its inputs."""
    make = Maker(seed, learned)
    steps, weights = list(STEPS), np.array(list(STEPS.values()), float)
    wanted = 4 + make.below(12)
    for _ in range(100):
        read = set(make.read)
        try:
            made = steps[make.rng.choice(len(steps), p=weights / weights.sum())](make)
        except StopIteration:
            make.read = read
            continue
        make.add(made)
        wanted -= 1
        if not wanted:
            break
    return make.model(), make.inputs


# --- what moves data ---


@step(6)
def _transpose(make):
    x, shape = make.take(rank=(2, 6))
    perm = [int(axis) for axis in make.rng.permutation(len(shape))]
    if make.chance(0.5):
        perm = {3: [0, 2, 1], 4: list(make.among((0, 2, 3, 1), (0, 3, 1, 2), (0, 2, 1, 3), (0, 1, 3, 2)))}.get(
            len(shape), perm
        )
    return ops.transpose(x, np.array(perm))


@step(3)
def _merge(make):
    x, shape = make.take(rank=(2, 6))
    axis = make.below(len(shape) - 1)
    new = [*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :]]
    return _reshaped(make, x, new)


@step(3)
def _part(make):
    x, shape = make.take(lambda shape: any(size in (2, 4, 6, 8, 12) for size in shape), rank=(1, 4))
    axis = make.among(*(i for i, size in enumerate(shape) if size in (2, 4, 6, 8, 12)))
    new = [*shape[:axis], *make.among([2, shape[axis] // 2], [shape[axis] // 2, 2]), *shape[axis + 1 :]]
    return _reshaped(make, x, new)


def _reshaped(make, x, shape):
    target = np.array(shape)
    if make.chance(0.5):
        target[make.below(len(shape))] = -1
    return ops.reshape(x, target, False)


@step(2)
def _unsqueeze(make):
    x, shape = make.take(rank=(1, 4))
    axis = make.below(len(shape) + 1)
    return ops.unsqueeze(x, np.array([axis]))


@step(3)
def _squeeze(make):
    x, shape = make.take(lambda shape: 1 in shape, rank=(2, 6))
    axis = make.among(*(i for i, size in enumerate(shape) if size == 1))
    return ops.squeeze(x, np.array([axis]))


@step(2)
def _concat(make):
    x, shape = make.take()
    axis = make.below(len(shape))

    def fits(other):
        return len(other) == len(shape) and all(
            a == b for i, (a, b) in enumerate(zip(shape, other, strict=False)) if i != axis
        )

    y, _ = make.take(fits)
    return ops.concat([x, y], axis - len(shape) * make.below(2))


@step(2)
def _split(make):
    x, shape = make.take(lambda shape: max(shape) > 1)
    axis = make.among(*(i for i, size in enumerate(shape) if size > 1))
    size = shape[axis]
    first = size // 2 if size % 2 == 0 else make.below(size - 1) + 1
    if size % 3 == 0:
        return ops.split(x, np.array(axis), 3)
    if 2 * first == size:
        return ops.split(x, np.array(axis), 2)
    return ops.variadic_split(x, np.array(axis), np.array([first, size - first]))


@step(1)
def _slice(make):
    x, shape = make.take()
    axis = make.below(len(shape))
    start = make.below(shape[axis])
    stop = start + 1 + make.below(shape[axis] - start)
    if make.chance(0.2):
        return ops.slice(x, *(np.array([value]) for value in (shape[axis] - 1, -100, -1, axis)))
    return ops.slice(x, *(np.array([value]) for value in (start, stop, 1, axis)))


@step(1)
def _gather(make):
    x, shape = make.take(rank=(2, 6))
    axis = make.below(len(shape))
    if make.chance(0.5):
        return ops.gather(x, np.array(make.below(shape[axis])), np.array(axis))
    places = make.rng.integers(0, shape[axis], 1 + make.below(shape[axis]))
    return ops.gather(x, places, np.array(axis))


@step(1)
def _pad(make):
    x, shape = make.take(most=500)
    before, after = make.rng.integers(0, 2, (2, len(shape)))
    return ops.pad(x, before, after, "constant", np.float32(make.among(0, 0.5)))


@step(1)
def _repeat(make):
    x, shape = make.take(most=500)
    axis = make.below(len(shape))
    return ops.tile(x, np.array([2 if i == axis else 1 for i in range(len(shape))]))


@step(1)
def _roll(make):
    x, shape = make.take()
    return ops.roll(x, np.array([1 + make.below(2)]), np.array([make.below(len(shape))]))


# --- what computes element by element, and along axes ---


@step(3)
def _activation(make):
    x, _ = make.take()
    one = np.float32(1)
    activation = make.among(
        ops.relu,
        ops.tanh,
        ops.sigmoid,
        ops.abs,
        ops.hswish,
        ops.negative,
        lambda x: ops.gelu(x, "ERF"),
        lambda x: ops.clamp(x, -1.0, 1.0),
        lambda x: ops.swish(x, one),
        lambda x: ops.elu(x, 1.0),
    )
    return activation(x)


@step(5)
def _with_constant(make):
    x, shape = make.take()
    axis = make.below(len(shape))
    along = [size if i == axis else 1 for i, size in enumerate(shape)]
    some = [size if make.chance(0.5) else 1 for size in shape]
    constant = make.numbers(*make.among([], shape[-1:], along, along[axis:], shape[axis:], some))
    compute = make.among(ops.add, ops.multiply, ops.subtract, ops.maximum)
    return compute(x, constant) if make.chance(0.7) else compute(ops.constant(constant), x)


@step(1)
def _slopes(make):
    x, shape = make.take(rank=(2, 5))
    return ops.prelu(x, make.numbers(shape[1]))


@step(4)
def _two(make):
    x, shape = make.take()

    def fits(other):
        return all(a == b or 1 in (a, b) for a, b in zip(shape[::-1], other[::-1], strict=False))

    y, _ = make.take(lambda other: fits(other) and math.prod(np.broadcast_shapes(shape, other)) <= MAX_ELEMENTS)
    compute = make.among(ops.add, ops.multiply, ops.subtract, ops.maximum)
    return compute(x, y)


@step(3)
def _reduce(make):
    x, shape = make.take(rank=(2, 6))
    count = 1 + make.below(min(3, len(shape) - 1))
    axes = [int(axis) for axis in make.rng.choice(len(shape), count, replace=False)]
    keep = make.chance(0.5)
    compute = make.among(ops.reduce_mean, ops.reduce_sum, ops.reduce_max, ops.reduce_l2)
    return compute(x, np.array(axes), keep)  # as converters give them: of negative ones OpenVINO loses count


@step(2)
def _normal(make):
    x, shape = make.take(lambda shape: max(shape) > 2)
    axis = make.among(*(i for i, size in enumerate(shape) if size > 2))
    if make.chance(0.5):
        return ops.softmax(x, axis)
    return ops.mvn(x, np.array([axis]), True, 1e-2, "INSIDE_SQRT")


# --- images ---


@step(4)
def _convolution(make):
    x, shape = make.take(rank=(3, 5), most=1000)
    count = len(shape) - 2
    sizes = [make.among(1, 1, 3)] * count
    strides, dilations = [make.among(1, 1, 2)] * count, [make.among(1, 1, 2) if sizes[0] > 1 else 1] * count
    covered = [(size - 1) * dilation for size, dilation in zip(sizes, dilations, strict=True)]
    begin, end = ([make.below(2) if size > 1 else 0 for size in sizes] for _ in range(2))
    if make.chance(0.6):
        begin = end = [size // 2 for size in covered]
    if any(length + a + b <= size for length, a, b, size in zip(shape[2:], begin, end, covered, strict=True)):
        raise StopIteration
    groups = make.among(1, 1, shape[1], *(count for count in (2, 3) if shape[1] % count == 0))
    each = 1 + make.below(6 if groups == 1 else 2)
    scale = np.float32(1 / math.sqrt(shape[1] // groups * math.prod(sizes)))
    if groups == 1:
        y = ops.convolution(x, scale * make.numbers(each, shape[1], *sizes), strides, begin, end, dilations)
    else:
        weights = scale * make.numbers(groups, each, shape[1] // groups, *sizes)
        y = ops.group_convolution(x, weights, strides, begin, end, dilations)
    return _with_post_ops(make, y)


@step(1)
def _transposed_convolution(make):
    x, shape = make.take(rank=(3, 5), most=200)
    count = len(shape) - 2
    stride = make.among(1, 2, 2)
    size = make.among(stride, 3)
    cut = min(make.below(2), (size - 1) // 2)
    features = 1 + make.below(4)
    scale = np.float32(1 / math.sqrt(shape[1]))
    if make.chance(0.3):
        weights = scale * make.numbers(shape[1], 1, 1, *[size] * count)
        compute = ops.group_convolution_backprop_data
    else:
        weights = scale * make.numbers(shape[1], features, *[size] * count)
        compute = ops.convolution_backprop_data
    y = compute(x, weights, strides=[stride] * count, pads_begin=[cut] * count, pads_end=[cut] * count)
    return _with_post_ops(make, y)


def _with_post_ops(make, y):
    """What networks have behind a convolution: a bias, an activation, a scale of each channel, or all of them."""
    _, features, *sizes = y.get_output_shape(0)
    along = [features, *[1] * len(sizes)]
    for _ in range(make.among(0, 1, 1, 2, 3)):
        row = make.numbers(*make.among([1, *along], along, []))
        y = make.among(
            lambda y, row: ops.add(y, row),
            lambda y, row: ops.multiply(y, row),
            lambda y, row: ops.relu(y),
            lambda y, row: ops.sigmoid(y),
            lambda y, row: ops.hswish(y),
        )(y, row)
    return y


@step(2)
def _pool(make):
    x, shape = make.take(rank=(3, 5))
    count = len(shape) - 2
    size, stride = make.among((2, 2), (3, 1), (3, 2), (1, 1))
    pad = make.below(2) if size > 2 else 0
    sizes, strides, pads = [size] * count, [stride] * count, [pad] * count
    if min(shape[2:]) + 2 * pad < size:
        raise StopIteration
    if make.chance(0.5):
        return ops.max_pool(x, strides, [1] * count, pads, pads, sizes, "floor").output(0)
    return opset13.avg_pool(x, strides, pads, pads, sizes, make.chance(0.5), "floor")


@step(2)
def _squeeze_and_excite(make):
    """The mean of each channel, which weighs the channels."""
    x, shape = make.take(rank=(3, 5), most=1000)
    axes = np.arange(2, len(shape))
    y = ops.reduce_mean(x, axes, True)
    kernel, none = [1] * len(axes), [0] * len(axes)
    sizes = (shape[1], shape[1]) if make.chance(0.3) else (shape[1], 2, shape[1])
    for before, features in itertools.pairwise(sizes):
        y = ops.convolution(y, make.numbers(features, before, *kernel), kernel, none, none, kernel)
        y = make.among(ops.relu, ops.sigmoid)(ops.add(y, make.numbers(1, features, *kernel)))
    return ops.multiply(x, y)


@step(2)
def _resize(make):
    x, shape = make.take(rank=(4, 4), most=500)
    axes = make.among([2, 3], [1, 2])
    mode = make.among("nearest", "nearest", "linear_onnx", "cubic") if axes == [2, 3] else "nearest"
    sizes = np.array([make.among(1, 2, 2, 3) * shape[axis] for axis in axes])
    coordinates = make.among("half_pixel", "align_corners", "asymmetric")
    return ops.interpolate(x, sizes, mode, "sizes", coordinate_transformation_mode=coordinates, axes=np.array(axes))


@step(1)
def _chosen(make):
    x, shape = make.take()
    axis = make.below(len(shape))
    count = 1 + make.below(shape[axis])
    return ops.topk(x, np.array(count), axis, make.among("max", "min"), "value").output(0)


@step(1)
def _selected(make):
    x, shape = make.take()
    y, _ = make.take(lambda other: other == shape)
    return ops.select(ops.greater(x, np.float32(make.among(0, 0.5))), x, y)


@step(1)
def _summed_up(make):
    x, shape = make.take()
    axis = make.below(len(shape))
    return ops.cum_sum(x, np.array(axis), exclusive=make.chance(0.3), reverse=make.chance(0.3))


@step(1)
def _recurrent(make):
    x, (batch, _, width) = make.take(rank=(3, 3), most=200)
    hidden, ways = make.among(2, 3), make.among(1, 2)
    direction = "bidirectional" if ways == 2 else make.among("forward", "reverse")
    rows = ops.gather(ops.shape_of(x), np.array([0]), np.array(0))
    states = [
        ops.broadcast(ops.constant(make.numbers(1, ways, hidden)), ops.concat([rows, np.array([ways, hidden])], 0))
        if make.is_dynamic
        else ops.constant(make.numbers(batch, ways, hidden))
        for _ in range(2)
    ]
    lengths = ops.broadcast(ops.gather(ops.shape_of(x), np.array(1), np.array(0)), rows)
    gates = 4 * hidden
    weights = [make.numbers(ways, gates, width), make.numbers(ways, gates, hidden), make.numbers(ways, gates)]
    y = ops.lstm_sequence(x, *states, lengths, *weights, hidden, direction).output(0)
    y = ops.transpose(y, np.array([0, 2, 1, 3]))
    return ops.reshape(y, np.array([0, 0, ways * hidden]), True)


# --- products and attention ---


@step(4)
def _linear(make):
    x, shape = make.take(rank=(2, 6), most=1000)
    features = make.among(1, 2, 3, 4, 6, shape[1])
    weights = make.numbers(shape[-1], features)
    if make.chance(0.3):
        product = ops.matmul(x, np.ascontiguousarray(weights.T), False, True)
    else:
        product = ops.matmul(x, weights, False, False)
    return ops.add(product, make.numbers(features)) if make.chance(0.5) else product


@step(2)
def _product(make):
    x, shape = make.take(rank=(2, 5), most=500)
    first, second = make.chance(0.3), make.chance(0.5)
    inner = shape[-2] if first else shape[-1]

    def fits(other):
        batch = all(a == b or 1 in (a, b) for a, b in zip(shape[-3::-1], other[-3::-1], strict=False))
        return batch and other[-1 if second else -2] == inner

    y, _ = make.take(fits, rank=(2, 5), most=500)
    return ops.matmul(x, y, first, second)


@step(3)
def _attention(make):
    """Of a projection in three parts; queries may be scaled, scores have a mask."""
    x, (_, tokens, width) = make.take(rank=(3, 3), most=500)
    heads, size = make.among(1, 2, tokens), make.among(2, 4)
    y = ops.add(ops.matmul(x, make.numbers(width, 3 * heads * size), False, False), make.numbers(3 * heads * size))
    form = make.below(3)
    if form == 0:
        y = ops.transpose(ops.reshape(y, np.array([0, 0, 3, heads, size]), True), np.array([2, 0, 3, 1, 4]))
        q, k, v = (ops.gather(y, np.array(i), np.array(0)) for i in range(3))
    elif form == 1:
        y = ops.transpose(ops.reshape(y, np.array([0, 0, heads, 3 * size]), True), np.array([0, 2, 1, 3]))
        q, k, v = ops.split(y, np.array(3), 3).outputs()
    else:
        parts = (
            ops.reshape(part, np.array([0, 0, heads, size]), True) for part in ops.split(y, np.array(2), 3).outputs()
        )
        q, k, v = (ops.transpose(part, np.array([0, 2, 1, 3])) for part in parts)
    if make.chance(0.4):
        q = make.among(ops.relu, lambda q: ops.multiply(q, np.float32(0.5)), lambda q: ops.softmax(q, 3))(q)
    scores = ops.matmul(q, k, False, True)
    if make.chance(0.5):
        scores = ops.add(
            scores, make.numbers(*make.among([1, heads, tokens, tokens], [1, 1, tokens, tokens], [tokens]))
        )
    y = ops.transpose(ops.matmul(ops.softmax(scores, 3), v, False, False), np.array([0, 2, 1, 3]))
    y = ops.reshape(y, np.array([0, 0, heads * size]), True)
    return ops.matmul(y, make.numbers(heads * size, width), False, False) if make.chance(0.5) else y


@step(2)
def _windows(make):
    """Windows of two by two, of an image that may be rolled, and the way back."""
    x, shape = make.take(lambda shape: shape[1] % 2 == shape[2] % 2 == 0, rank=(4, 4))
    batch, height, width, features = shape
    first = -1 if make.is_dynamic else batch
    is_rolled = make.chance(0.5)
    if is_rolled:
        x = ops.roll(x, np.array([-1, -1]), np.array([1, 2]))
    order = np.array([0, 1, 3, 2, 4, 5])
    x = ops.transpose(ops.reshape(x, np.array([first, height // 2, 2, width // 2, 2, features]), False), order)
    x = ops.reshape(x, np.array([-1, 4, features]), False)
    if make.chance(0.5):
        x = ops.add(ops.matmul(x, make.numbers(features, features), False, False), make.numbers(features))
    if make.chance(0.3):
        return x
    x = ops.transpose(ops.reshape(x, np.array([first, height // 2, width // 2, 2, 2, features]), False), order)
    x = ops.reshape(x, np.array([first, height, width, features]), False)
    return ops.roll(x, np.array([1, 1]), np.array([1, 2])) if is_rolled else x
