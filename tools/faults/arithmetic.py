"""Numbers: precision, NaN, infinities, integers."""

import numpy as np
from openvino import Model, PartialShape, Type, opset16 as ops

from tools.faults.prelude import Graph, numbers, parameter
from tools.faults.register import fault


@fault(tolerance=1e-6)
def erf_of_small_numbers() -> Graph:
    """Erf has an absolute error of 4e-7: erf(1e-7) is 0."""
    x = parameter(-1)
    data = np.array([1e-7, 1e-6, 1e-5], np.float32)
    return Model([ops.erf(x)], [x]), [[data]], [[data * np.float32(2 / np.sqrt(np.pi))]]


@fault(tolerance=1e-6)
def softplus_of_large_negative_numbers() -> Graph:
    """SoftPlus has an absolute error of 8e-6: ln(1 + e^-60) is 4e-6 instead of 9e-27."""
    x = parameter(-1)
    data = np.array([-60, -30, -20], np.float32)
    return Model([ops.softplus(x)], [x]), [[data]], [[np.log1p(np.exp(data.astype(np.float64))).astype(np.float32)]]


@fault(processor="avx512f")
def greater_than_nan() -> Graph:
    """Greater is true for NaN and any number."""
    x, y = parameter(-1), parameter(-1)
    left, right = np.array([np.nan, 1] * 16, np.float32), np.zeros(32, np.float32)
    return Model([ops.greater(x, y)], [x, y]), [[left, right]], [[left > right]]


@fault(processor="avx512f")
def is_finite_of_denormals() -> Graph:
    """IsFinite is false for denormals."""
    x = parameter(-1)
    data = np.full(32, 1e-40, np.float32)
    return Model([ops.is_finite(x)], [x]), [[data]], [[np.isfinite(data)]]


@fault(tolerance=0)
def integer_division_in_float32() -> Graph:
    """Integers are divided in float32."""
    x, y = parameter(-1, kind=Type.i32), parameter(-1, kind=Type.i32)
    a, b = np.array([2**30 - 1, 99999999], np.int32), np.array([1, 10], np.int32)
    return Model([ops.divide(x, y)], [x, y]), [[a, b]], [[a // b]]


@fault(tolerance=0)
def integer_division_rounds_to_zero() -> Graph:
    """Quotients of integers are rounded towards zero, where constant folding rounds down."""
    x, y = parameter(-1, kind=Type.i32), parameter(-1, kind=Type.i32)
    a, b = np.array([-7, 7], np.int32), np.array([2, -2], np.int32)
    return Model([ops.divide(x, y)], [x, y]), [[a, b]], [[a // b]]


@fault(tolerance=0)
def integer_power_in_float32() -> Graph:
    """Powers of integers are computed in float32."""
    x, y = parameter(-1, kind=Type.i32), parameter(-1, kind=Type.i32)
    a, b = np.array([3, 7], np.int32), np.array([19, 10], np.int32)
    return Model([ops.power(x, y)], [x, y]), [[a, b]], [[a**b]]


@fault(tolerance=0)
def integer_select_in_float32() -> Graph:
    """A Select of integers is fused with what computes its condition, in float32."""
    x, c = parameter(-1, kind=Type.i32), parameter(-1, kind=Type.i32)
    data, flags = np.array([2**31 - 1, 16777217, 5], np.int32), np.array([1, 1, 0], np.int32)
    out = ops.select(ops.greater(c, np.int32(0)), x, np.int32(7))
    return Model([out], [x, c]), [[data, flags]], [[np.where(flags > 0, data, 7)]]


@fault(tolerance=0)
def integers_reduced_in_float32() -> Graph:
    """Sums, maxima and minima of integers are those of float32; the greatest integer becomes the least one."""
    x = parameter(-1, kind=Type.i32)
    data = np.array([16777217, 2**31 - 1, -16777217], np.int32)
    out = [ops.reduce_max(x, np.array([0]), False), ops.reduce_sum(x, np.array([0]), False)]
    return Model(out, [x]), [[data], [data[:1]]], [[data.max(), data.sum(dtype=np.int32)], [data[0], data[0]]]


@fault(tolerance=0)
def integers_compared_in_float32() -> Graph:
    """Integers are compared as float32: 16777217 is equal to 16777216."""
    x, y = parameter(-1, kind=Type.i32), parameter(-1, kind=Type.i32)
    a, b = np.array([16777217, 5, 2**30], np.int32), np.array([16777216, 5, 2**30 + 1], np.int32)
    return Model([ops.equal(x, y), ops.less(x, y)], [x, y]), [[a, b]], [[a == b, a < b]]


@fault(tolerance=0)
def integers_reversed_in_float32() -> Graph:
    """Sequences of integers are reversed as float32: 16777217 becomes 16777216."""
    x, lengths = parameter(-1, -1, kind=Type.i32), parameter(-1, kind=Type.i32)
    data, counts = np.array([[16777217, 5, 7]], np.int32), np.array([2], np.int32)
    out = ops.reverse_sequence(x, lengths, 0, 1)
    return Model([out], [x, lengths]), [[data, counts]], [[data[:, [1, 0, 2]]]]


@fault(tolerance=0)
def narrow_integers_saturate() -> Graph:
    """A float that is converted to a narrow integer saturates, an int32 does not wrap around in sums of them."""
    x = parameter(-1, kind=Type.u8)
    data = np.array([200, 100], np.uint8)
    return Model([ops.add(x, x)], [x]), [[data]], [[data + data]]


@fault(tolerance=0)
def division_by_inverse() -> Graph:
    """x / y is x times the inverse of y, which is off by one ulp for a third of all numbers."""
    x, y = parameter(-1), parameter(-1)
    a, b = np.arange(1, 65, dtype=np.float32), np.full(64, 49, np.float32)
    return Model([ops.divide(x, y)], [x, y]), [[a, b]], [[a / b]]


@fault(tolerance=0)
def round_half_away_from_zero() -> Graph:
    """Round with half_away_from_zero adds 0.5 first, which is inexact below 0.5 and above 2^23."""
    x = parameter(-1)
    data = np.array([0.49999997, 8388609, -8388611], np.float32)
    return Model([ops.round(x, "half_away_from_zero")], [x]), [[data]], [[np.array([0, *data[1:]], np.float32)]]


@fault()
def exp_of_nan() -> Graph:
    """e^NaN is infinity."""
    x = parameter(-1)
    data = np.full(32, np.nan, np.float32)
    return Model([ops.exp(x)], [x]), [[data]], [[data]]


@fault()
def remainder_of_sizes() -> Graph:
    """A FloorMod is taken for a constant if it is one of the least and of the largest size: n % 3 of up to 6 is 0."""
    x = parameter(6)
    places = ops.non_zero(x)
    size = ops.gather(ops.shape_of(places), np.int64(1), np.int64(0))
    row = ops.gather(ops.constant(np.arange(3)), ops.floor_mod(size, np.int64(3)), np.int64(0))
    return Model([row], [x]), [[np.array([1, 0, 2, 0, 0, 0], np.float32)]], [[np.array(2)]]


@fault()
def power_of_sizes() -> Graph:
    """A Power is taken for a constant if it is one of the least and of the largest size: (n - 3)^2 of 1 to 5 is 4."""
    x = ops.parameter(PartialShape("1..5"))
    size = ops.subtract(ops.convert(ops.shape_of(x), Type.f32), np.float32(3))
    out = ops.broadcast(np.float32(1), ops.convert(ops.power(size, np.float32(2)), Type.i64))
    return Model([out], [x]), [[numbers(4)]], [[np.ones(1, np.float32)]]


@fault()
def product_of_sizes() -> Graph:
    """A ReduceProd is taken for a constant if it is one of the least and of the largest size, whatever the signs."""
    x = ops.parameter(PartialShape("1..5"))
    size = ops.subtract(ops.shape_of(x), np.array([3]))
    product = ops.reduce_prod(ops.concat([size, size], 0), np.array([0]), True)
    return Model([ops.broadcast(np.float32(1), product)], [x]), [[numbers(4)]], [[np.ones(1, np.float32)]]


@fault()
def narrow_numbers_of_sizes() -> Graph:
    """A size less 3 of 1 to 5 is true as a boolean, as it is for 1 and for 5."""
    x = ops.parameter(PartialShape("1..5"))
    size = ops.convert(ops.subtract(ops.shape_of(x), np.array([3])), Type.boolean)
    return Model([ops.broadcast(np.float32(1), ops.convert(size, Type.i64))], [x]), [[numbers(3)]], [[numbers(0)]]


@fault()
def equal_to_negative_size() -> Graph:
    """A size less 3 is not compared with -2: its least value is taken for 0."""
    x = parameter(-1)
    size = ops.subtract(ops.shape_of(x), np.array([3]))
    out = ops.broadcast(np.float32(1), ops.convert(ops.equal(size, np.array([-2])), Type.i64))
    return Model([out], [x]), [[numbers(1)]], [[np.ones(1, np.float32)]]


@fault()
def abs_of_joined_vectors() -> Graph:
    """Abs of a Concat of vectors changes what else reads the Concat."""
    x, data = parameter(3), numbers(3)
    joined, want = ops.concat([x, ops.tanh(x)], 0), np.concatenate([data, np.tanh(data)])
    return Model([ops.add(joined, ops.abs(joined))], [x]), [[data]], [[want + np.abs(want)]]


@fault()
def abs_of_sizes() -> Graph:
    """Abs is dropped where its input can be bounded before the run: |n - 5| of a size n is n - 5."""
    x = parameter(-1)
    size = ops.subtract(ops.shape_of(x), np.array([5]))
    return Model([ops.abs(size)], [x]), [[numbers(2)]], [[np.array([3])]]


@fault()
def selu_of_alpha_zero() -> Graph:
    """Selu treats an alpha of 0 as missing."""
    x = parameter(-1)
    data = numbers(8)
    return Model([ops.selu(x, np.float32(0), np.float32(2))], [x]), [[data]], [[2 * np.maximum(data, 0)]]


@fault()
def hard_sigmoid_of_alpha_zero() -> Graph:
    """HardSigmoid treats an alpha of 0 as missing."""
    x = parameter(-1)
    data = numbers(8)
    return Model([ops.hard_sigmoid(x, np.float32(0), np.float32(0.3))], [x]), [[data]], [[np.full(8, 0.3, np.float32)]]


@fault(tolerance=1e-7)
def constants_of_sums_merged() -> Graph:
    """Two constants that are added one after the other become one, which rounds: (1 - x) + 1e-12."""
    x = parameter(-1)
    data = np.array([1, 1], np.float32)
    out = ops.add(ops.subtract(np.float32(1), x), np.float32(1e-12))
    return Model([out], [x]), [[data]], [[np.full(2, 1e-12, np.float32)]]


@fault()
def prelu_of_last_axis() -> Graph:
    """relu(x) - a * relu(-x), with a slope of one dimension, becomes a PRelu, whose slope lies along axis 1."""
    x, slope = parameter(-1, 2, 2), np.array([0.1, 0.4], np.float32)
    data = numbers(1, 2, 2)
    out = ops.subtract(ops.relu(x), ops.multiply(slope, ops.relu(ops.negative(x))))
    return Model([out], [x]), [[data]], [[np.where(data > 0, data, data * slope)]]


@fault()
def pad_by_computed_value() -> Graph:
    """Pad pads with 0 if the model computes the pad value."""
    x, value = parameter(-1, 3), parameter()
    data = numbers(2, 3)
    out = ops.pad(x, np.array([0, 1]), np.array([1, 0]), "constant", ops.add(value, np.float32(1)))
    want = np.pad(data, [(0, 1), (1, 0)], constant_values=3)
    return Model([out], [x, value]), [[data, np.array(2, np.float32)]], [[want]]


@fault()
def numbers_below_normal_divided() -> Graph:
    """A division treats denormal numbers as 0: 1e-39 / 1e-39 is infinity."""
    x = parameter(-1)
    data = np.full(8, 1e-39, np.float32)
    return Model([ops.divide(x, ops.abs(x))], [x]), [[data]], [[np.ones(8, np.float32)]]


@fault()
def arithmetic_after_reduction_of_integers() -> Graph:
    """An addition after a maximum of integers along the middle one of three axes is applied twice."""
    x = parameter(2, 3, 4, kind=Type.i32)
    data = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    out = ops.subtract(ops.reduce_max(x, np.array([1])), np.int32(1))
    return Model([out], [x]), [[data]], [[data.max(1) - 1]]


@fault()
def normalization_of_scaled_numbers() -> Graph:
    """An MVN after a scalar scale ignores its epsilon if there is a FakeQuantize anywhere in the model.

    The transformations for low precision take the scale for a dequantization, and move it through MVN and NormalizeL2.
    """
    x, y = parameter(2, 8), parameter(2, 8)
    scaled = ops.multiply(x, np.float32(0.05))
    normed = ops.mvn(scaled, np.array([1]), True, 1e-5, "INSIDE_SQRT")
    low, high = np.float32(-4), np.float32(4)
    quantized = ops.fake_quantize(y, low, high, low, high, 256)
    data = 0.02 * numbers(2, 8)
    small = 0.05 * data.astype(np.float64)
    small -= small.mean(1, keepdims=True)
    want = small / np.sqrt((small**2).mean(1, keepdims=True) + 1e-5)
    return Model([normed, ops.relu(quantized)], [x, y]), [[data, 0 * data]], [[want, 0 * want]]


@fault(processor="avx2, not vnni")
def saturated_integer_products() -> Graph:
    """In int8, the sum of two products of a byte and a weight is at most 32767."""
    x, low, high = parameter(1, 4, 2, 2), np.float32(0), np.float32(255)
    kernel = ops.multiply(ops.convert(ops.constant(np.full((4, 4, 1, 1), 127, np.int8)), Type.f32), np.float32(1))
    quantized = ops.fake_quantize(x, low, high, low, high, 256)
    out = ops.convolution(quantized, kernel, [1, 1], [0, 0], [0, 0], [1, 1])
    data, want = np.full((1, 4, 2, 2), 255, np.float32), np.full((1, 4, 2, 2), 4 * 255 * 127, np.float32)
    return Model([ops.relu(out)], [x]), [[data]], [[want]]


@fault()
def scales_of_an_integer_convolution() -> Graph:
    """The scale of a convolution in int8 is applied once for each node that reads its result, in dynamic shapes.

    The transformations for low precision give each reader a Multiply by it, and the CPU plugin fuses all of them.
    """
    x = parameter(-1, 16, -1, -1)
    low, high, scale = np.float32(0), np.float32(255), np.float32(0.01)
    weights = np.random.default_rng(1).integers(-63, 64, (16, 16, 1, 1)).astype(np.int8)
    integers = ops.multiply(ops.convert(ops.constant(weights), Type.f32), scale)
    quantized = ops.fake_quantize(x, low, high, low, high, 256)
    out = ops.convolution(quantized, integers, [1, 1], [0, 0], [0, 0], [1, 1])
    data = np.random.default_rng(0).integers(0, 256, (1, 16, 4, 4)).astype(np.float32)
    want = np.einsum("oi,nihw->nohw", 0.01 * weights[:, :, 0, 0].astype(np.float64), data)
    return Model([ops.relu(out), ops.abs(out)], [x]), [[data]], [[want.clip(0), abs(want)]]


@fault(processor="avx2, not amx")
def layer_of_odd_levels() -> Graph:
    """In int8, a convolution of numbers of 255 levels is that of numbers of 256 levels."""
    x, low, high = parameter(-1, 16, -1, -1), np.float32(-1.27), np.float32(1.27)
    weights = np.random.default_rng(1).integers(-63, 64, (16, 16, 1, 1)).astype(np.int8)
    integers = ops.multiply(ops.convert(ops.constant(weights), Type.f32), np.float32(0.01))
    quantized = ops.fake_quantize(x, low, high, low, high, 255)
    out = ops.convolution(quantized, integers, [1, 1], [0, 0], [0, 0], [1, 1])
    data = np.random.default_rng(0).integers(-127, 128, (1, 16, 4, 4)).astype(np.float32) * np.float32(0.01)
    want = np.einsum("oi,nihw->nohw", 0.01 * weights[:, :, 0, 0].astype(np.float64), data)
    return Model([out], [x]), [[data]], [[want]]


@fault()
def constants_before_quantization() -> Graph:
    """Factors of channels, some of them negative, before a FakeQuantize of unknown size are all the first one."""
    x, factors = parameter(-1, 2, 1, 1), np.array([1, -0.5], np.float32).reshape(1, 2, 1, 1)
    low, high = np.float32(-4), np.float32(3.96875)  # steps of 1/32
    out = ops.fake_quantize(ops.multiply(x, factors), low, high, low, high, 256)
    data = np.array([[1, 2], [-3, 0.5]], np.float32).reshape(2, 2, 1, 1)
    return Model([out], [x]), [[data]], [[data * factors]]


@fault()
def fake_quantize_of_odd_levels() -> Graph:
    """A FakeQuantize of 15 levels whose range differs by channel has 255 levels, where the channels are not known."""
    x, size = parameter(-1, -1), np.array([[0.7, 1.4]], np.float32)
    out = ops.fake_quantize(x, -size, size, -size, size, 15)
    data = np.array([[0.11, 0.58], [-0.33, -1.5]], np.float32)
    want = np.array([[0.1, 0.6], [-0.3, -1.4]], np.float32)
    return Model([out], [x]), [[data]], [[want]]


@fault(precision="default", tolerance=0.05, processor="avx512_bf16, not amx")
def row_of_scores() -> Graph:
    """In bfloat16, attention whose mask is one row for all queries has infinite scores."""
    q, k, v = (parameter(2, 2, 5, 16) for _ in range(3))
    data, mask = [numbers(2, 2, 5, 16, seed=seed) for seed in (1, 2, 3)], numbers(1, 1, 1, 5, seed=4)
    scores = ops.add(ops.matmul(q, k, False, True), mask)
    powers = np.exp(data[0] @ data[1].swapaxes(-1, -2) + mask)
    want = powers / powers.sum(-1, keepdims=True) @ data[2]
    return Model([ops.matmul(ops.softmax(scores, 3), v, False, False)], [q, k, v]), [data], [[want]]


@fault(precision="default", tolerance=0.05, processor="avx512_bf16, not amx")
def one_key_of_many_queries() -> Graph:
    """In bfloat16, attention to one key gives zeros for the first query where the batch is not known."""
    q, k, v = (parameter(-1, 2, count, 16) for count in (5, 1, 1))
    data = [numbers(2, 2, count, 16, seed=count) for count in (5, 1, 1)]
    scores = ops.add(numbers(5, 1), ops.matmul(q, k, False, True))
    want = np.broadcast_to(data[2], (2, 2, 5, 16))
    return Model([ops.matmul(ops.softmax(scores, 3), v, False, False)], [q, k, v]), [data], [[want]]


@fault(precision="default", tolerance=0.05, processor="avx512_bf16, not amx")
def post_op_of_one_pixel() -> Graph:
    """In bfloat16, a constant after the activation of a biased convolution is wrong for one pixel of dynamic size."""
    x, filters, data = parameter(-1, 3, -1, -1), numbers(6, 3, 1, 1), numbers(1, 3, 1, 1)
    bias, factor = numbers(1, 6, 1, 1, seed=1) + 2, numbers(1, 6, 1, 1, seed=2) + 2
    convolved = ops.convolution(x, filters, [1, 1], [0, 0], [0, 0], [1, 1])
    out = ops.multiply(ops.relu(ops.add(convolved, bias)), factor)
    want = np.maximum(np.einsum("nchw,ocij->nohw", data, filters) + bias, 0) * factor
    return Model([out], [x]), [[data]], [[want]]
