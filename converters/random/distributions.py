"""Random numbers: the shape, type and distribution of Paddle's, from OpenVINO's generator.

Paddle: `uniform_random` (PIR `uniform`), `uniform_random_inplace`, `uniform_random_batch_size_like`, `gaussian_random`
(PIR `gaussian`), `gaussian_inplace`, `gaussian_random_batch_size_like`, `truncated_gaussian_random`, `randint`,
`random`, `randperm`, `bernoulli`, `multinomial`, `exponential`, `gumbel_softmax`, `sampling_id`.
Semantics: `paddle/phi/kernels/cpu/{uniform,gaussian,randint,randperm,bernoulli,multinomial,dropout}_kernel.cc`.
`dropout` in training, which `cast.py` imports, is here too.

The values differ from Paddle's: its generator is a Mersenne Twister, OpenVINO's a Philox. A seed that is not 0
makes them the same each time the model is compiled; they still change from one inference to the next. Refused: the
diagonal that `uniform_random` can set.
"""

from __future__ import annotations

import math

from openvino import Node, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const, const_like, prevent_fusion, reshape
from paddle2ov.converters.graph.dims import (
    dim_of,
    dim_range,
    dim_vector,
    index_range,
    normalize_axis,
    rank_of,
    scalar_of,
    shape_of,
    shape_vector,
)
from paddle2ov.converters.special import erf_inverse
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def _uniform(shape: Tensor, low: Tensor, high: Tensor, kind: str, seed: int) -> Node:
    # OpenVINO folds 1 - RandomUniform into a constant when it compiles the model: the numbers would be the same in each
    # inference, and differ from those that other consumers get. A Roll, here over a dimension of 1, prevents that. The
    # dimension is needed anyway: RandomUniform has no 0-D result.
    seed %= 1 << 32  # OpenVINO has no negative ones
    drawn = ops.random_uniform(ops.concat([ints([1]), shape], 0), low, high, kind, seed, seed)
    return ops.squeeze(ops.roll(drawn, ints([1]), ints([0])), ints([0]))


def unit_uniform(shape: Tensor, seed: int) -> Node:
    """Numbers in [0, 1)."""
    return _uniform(shape, const(0.0, Type.f32), const(1.0, Type.f32), "f32", seed)


def positive_uniform(shape: Tensor, seed: int) -> Node:
    """Numbers in (0, 1], of which a logarithm can be taken."""
    return ops.subtract(const(1.0, Type.f32), unit_uniform(shape, seed))


def standard_normal(shape: Tensor, seed: int) -> Node:
    """Normal numbers of mean 0 and variance 1 by the Box-Muller transform: √(-2 ln u) · cos(2π v)."""
    # One generator for both: two with the same seed would give the same numbers.
    both = positive_uniform(ops.concat([ints([2]), shape], 0), seed)
    u, v = (ops.squeeze(half, ints([0])) for half in ops.split(both, ints(0), 2).outputs())
    radius = ops.sqrt(ops.multiply(const(-2.0, Type.f32), ops.log(u)))
    return ops.multiply(radius, ops.cos(ops.multiply(const(2 * math.pi, Type.f32), v)))


def _shape(node: NodeContext) -> Tensor:
    """The shape of x, or the given one, of which `batch_size_like` replaces one dimension by an input's."""
    if node.has_input("x"):
        return shape_of(node.get_input("x"))
    if not node.has_input("input"):
        return shape_vector(node, "shape")
    dims: list[Tensor] = [ints([dim]) for dim in node.get_ints("shape")]
    source, target = node.get_int("input_dim_idx", 0), node.get_int("output_dim_idx", 0)
    dims[target] = dim_vector(node.get_input("input"), [source])
    return ops.concat(dims, 0)


def _dtype(node: NodeContext) -> Type:
    return node.declared_output_dtype() or node.get_dtype("dtype", Type.f32)


def uniform(node: NodeContext) -> NamedOutputs:
    """out is uniform in [min, max)."""
    node.require(node.get_int("diag_num", 0) == 0, "is not supported", diag_num=node.get_int("diag_num", 0))
    low, high = (scalar_of(node, name, Type.f32, default) for name, default in (("min", -1.0), ("max", 1.0)))
    shape, seed = _shape(node), node.get_int("seed", 0)
    are_known = node.is_known("min") and node.is_known("max")
    if are_known and node.get_float("min", -1.0) < node.get_float("max", 1.0):
        return {"out": cast_to(_uniform(shape, low, high, "f32", seed), _dtype(node))}
    # Paddle takes bounds in any order, and equal ones; OpenVINO's node does not.
    out = ops.add(low, ops.multiply(ops.subtract(high, low), unit_uniform(shape, seed)))
    return {"out": cast_to(out, _dtype(node))}


def gaussian(node: NodeContext) -> NamedOutputs:
    """out is normal with the given mean and standard deviation."""
    drawn = standard_normal(_shape(node), node.get_int("seed", 0))
    mean, deviation = (scalar_of(node, name, Type.f32, default) for name, default in (("mean", 0.0), ("std", 1.0)))
    return {"out": cast_to(ops.add(ops.multiply(drawn, deviation), mean), _dtype(node))}


def truncated_gaussian_random(node: NodeContext) -> NamedOutputs:
    """out is normal, truncated to a ... b."""
    mean, deviation = node.get_float("mean", 0.0), node.get_float("std", 1.0)
    low, high = node.get_float("a", -2.0), node.get_float("b", 2.0)
    below, above = (math.erf((bound - mean) / deviation / math.sqrt(2)) for bound in (low, high))
    u = _uniform(_shape(node), const(below, Type.f32), const(above, Type.f32), "f32", node.get_int("seed", 0))
    out = ops.add(ops.multiply(erf_inverse(u), const(math.sqrt(2) * deviation, Type.f32)), const(mean, Type.f32))
    return {"out": cast_to(ops.clamp(out, low, high), _dtype(node))}


def randint(node: NodeContext) -> NamedOutputs:
    """out is an integer of low ... high - 1."""
    low, high = (ints(node.get_int(name)) for name in ("low", "high"))
    dtype = node.get_dtype("dtype", Type.i64)
    return {"out": cast_to(_uniform(_shape(node), low, high, "i64", node.get_int("seed", 0)), dtype)}


def random_(node: NodeContext) -> NamedOutputs:
    """out is an integer of from ... to - 1, in the type of x."""
    x, low, high = node.get_input("x"), node.get_int("from"), node.get_int("to")
    node.require(low >= -(2**31) and high < 2**31, "OpenVINO draws integers of 32 bits", **{"from": low, "to": high})
    return {"out": cast_to(_uniform(shape_of(x), ints(low), ints(high), "i64", 0), x.get_element_type())}


def randperm(node: NodeContext) -> NamedOutputs:
    """out = the integers 0 ... n - 1 in random order."""
    count = node.get_int("n")
    order = ops.topk(
        unit_uniform(ints([count]), node.get_int("seed", 0)), ints(count), 0, "max", "value", "i64"
    ).output(1)
    return {"out": cast_to(order, node.get_dtype("dtype", Type.i64))}


def bernoulli(node: NodeContext) -> NamedOutputs:
    """out = 1 with probability x, else 0."""
    x = node.get_input("x")
    hit = ops.less(unit_uniform(shape_of(x), node.get_int("seed", 0)), ops.convert(x, Type.f32))
    return {"out": ops.convert(hit, x.get_element_type())}


def multinomial(node: NodeContext) -> NamedOutputs:
    """out = num_samples indices along the last dimension, each drawn with a probability in proportion to x."""
    x = ops.convert(node.get_input("x"), Type.f32)
    count = reshape(node.get_tensor("num_samples", Type.i64, 1), [1])
    if node.get_bool("replacement", False):
        return {"out": _sample_with_replacement(x, count, 0)}
    # The largest of u^(1 / x), which are those of log(u) / x (Efraimidis and Spirakis).
    keys = ops.divide(ops.log(_open_uniform(shape_of(x))), x)
    return {"out": ops.topk(keys, ops.squeeze(count, ints([0])), -1, "max", "value", "i64").output(1)}


@works_around("multinomial_with_two_readers")
def _sample_with_replacement(x: Node, count: Tensor, seed: int) -> Node:
    """`count` indices along the last dimension, with replacement: where a uniform number falls in the running sums."""
    # OpenVINO has Multinomial, which its CPU plugin refuses when two operators read the result.
    sums = ops.cum_sum(x, ints(-1))
    total = ops.gather(sums, ints([-1]), ints(-1))
    numbers = ops.multiply(unit_uniform(ops.concat([dim_range(x, 0, -1), count], 0), seed), total)
    passed = ops.less_equal(ops.unsqueeze(sums, ints(-2)), ops.unsqueeze(numbers, ints(-1)))
    ones = ops.convert(passed, Type.i64)
    indices = prevent_fusion(ones, ops.reduce_sum(ones, ints([-1]), False), [-1])
    return ops.minimum(indices, ops.subtract(dim_of(x, -1), ints(1)))


def sampling_id(node: NodeContext) -> NamedOutputs:
    """out = for each row the index at which its running sum exceeds a number of min ... max, or else the last one."""
    x = ops.convert(node.get_input("x"), Type.f32)
    low, high = (const(node.get_float(name, default), Type.f32) for name, default in (("min", 0.0), ("max", 1.0)))
    numbers = _uniform(ops.concat([dim_vector(x, [0]), ints([1])], 0), low, high, "f32", node.get_int("seed", 0))
    passed = ops.less_equal(ops.cum_sum(x, ints(1)), numbers)
    indices = ops.reduce_sum(ops.convert(passed, Type.i64), ints([1]), False)
    return {"out": ops.minimum(indices, ops.subtract(dim_of(x, 1), ints(1)))}


def exponential(node: NodeContext) -> NamedOutputs:
    """out has the density lam · exp(-lam · t)."""
    x = node.get_input("x")
    out = ops.divide(ops.log(positive_uniform(shape_of(x), 0)), const(-node.get_float("lam", 1.0), Type.f32))
    return {"out": cast_to(out, x.get_element_type())}


def gumbel_softmax(node: NodeContext) -> NamedOutputs:
    """out = softmax((x + g) / temperature), g Gumbel distributed; if hard, 1 at the maximum, else 0."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    if rank == 0:
        return {"out": const_like(1, x)}
    axis = normalize_axis(node, node.get_int("axis", -1), rank)
    noise = ops.negative(ops.log(ops.negative(ops.log(_open_uniform(shape_of(x))))))
    noisy = ops.divide(
        ops.add(x, cast_to(noise, x.get_element_type())), const_like(node.get_float("temperature", 1.0), x)
    )
    out = ops.softmax(noisy, axis)
    if not node.get_bool("hard", False):
        return {"out": out}
    best = ops.topk(out, ints(1), axis, "max", "none", "i64").output(1)
    indices = index_range(dim_of(x, axis))
    along = reshape(indices, [-1 if i == axis else 1 for i in range(rank)])
    return {"out": ops.convert(ops.equal(best, along), x.get_element_type())}


def _open_uniform(shape: Tensor) -> Node:
    """Numbers in (0, 1)."""
    return _uniform(shape, const(1e-7, Type.f32), const(1.0 - 1e-7, Type.f32), "f32", 0)


def dropout_in_training(node: NodeContext) -> NamedOutputs:
    """out = x with each element set to 0 with probability p; what stays is divided by 1 - p to "upscale_in_train"."""
    x = node.get_input("x")
    seed = node.get_int("seed", 0) if node.get_bool("fix_seed", False) else 0
    if node.has_input("seed_tensor") and node.is_known("seed_tensor"):
        seed = node.get_int("seed_tensor")
    dims = shape_of(x)
    axes = node.get_ints("axis", [])
    if axes:  # the other dimensions are dropped together
        kept = [1 if i in axes else 0 for i in range(rank_of(node, x))]
        dims = ops.select(const(kept, Type.boolean), dims, const_like(1, dims))
    p = scalar_of(node, "p", Type.f32, 0.5)
    stays = ops.greater_equal(unit_uniform(dims, seed), p)
    zero = const_like(0, x)
    scaled: Tensor = x
    if node.get_str("mode", "downgrade_in_infer") == "upscale_in_train":
        scaled = ops.divide(x, cast_to(ops.subtract(const(1.0, Type.f32), p), x.get_element_type()))
    return {"out": ops.select(stays, scaled, zero), "mask": ops.convert(stays, Type.u8)}
