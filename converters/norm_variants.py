"""Other normalizations: RMS, local response, statistics of the data, spectral norm.

Paddle: `rms_norm`, `fused_rms_norm_quant` (the name `rms_norm` before Paddle 3.3), `fused_rms_norm_ext`, `lrn`,
`data_norm`, `spectral_norm`, `skip_layernorm`.
Semantics: `paddle/phi/kernels/fusion/cpu/rms_norm_avx_kernel.cc`, `paddle/fluid/operators/data_norm_op.cc`,
`paddle/phi/kernels/impl/{lrn,spectral_norm}_kernel_impl.h`.
Not supported: quantized output of rms_norm, `slot_dim` of data_norm.
"""

from __future__ import annotations

from openvino import Node, Output

from paddle2ov.converters.graph.common import cast_to, const_like, reshape
from paddle2ov.converters.graph.dims import dim_range, dim_vector, normalize_axis, rank_of, shape_of
from paddle2ov.converters.graph.spatial import channels_last, ranked_dims, to_channels_first, to_channels_last
from paddle2ov.converters.normalization import layer_norm_of, reshape_to_normalized
from paddle2ov.graph.expected_dims import expect_elements
from paddle2ov.graph.opset import ints, ops
from paddle2ov.program.budget import MAX_REPEATS, charge_repeats
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def rms_norm(node: NodeContext) -> NamedOutputs:
    """y = x / sqrt(mean(x^2) + epsilon) * scale over the last dimensions."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    begin = rank - max(len(node.get_attribute("normalized_shape", []) or [0]), 1)
    if node.has_input("scale"):
        x = expect_elements(x, range(begin, rank), node.input_dims("scale"))
    out, inverse = _rms(x, list(range(begin, rank)), node.get_float("epsilon"))
    if node.has_input("scale"):
        out = ops.multiply(out, reshape_to_normalized(node, "scale", x, begin, rank))
    outer = dim_range(x, 0, begin)
    return {"y": cast_to(out, x.get_element_type()), "invvar": ops.reshape(inverse, outer, False)}


def rms_norm_residual(node: NodeContext) -> NamedOutputs:
    """out = rms_norm(x + bias + residual) * norm_weight + norm_bias; residual_out = the input of the norm."""
    node.require(
        node.has_input("residual") or not node.has_input("bias"),
        "Paddle's kernels leave out a bias without a residual, its decomposition adds it: refused",
    )
    x = node.get_input("x")
    rank = rank_of(node, x)
    begin = normalize_axis(node, node.get_int("begin_norm_axis"), rank, "begin_norm_axis")
    node.require(node.get_float("quant_scale") <= 0, "quantized output is not supported", quant_scale="> 0")
    total = x = expect_elements(x, range(begin, rank), node.input_dims("norm_weight"))
    for name in ("bias", "residual"):
        if node.has_input(name):
            total = ops.add(total, cast_to(node.get_input(name), x.get_element_type())).output(0)
    out, inverse = _rms(total, list(range(begin, rank)), node.get_float("epsilon"))
    out = ops.multiply(out, reshape_to_normalized(node, "norm_weight", x, begin, rank))
    if node.has_input("norm_bias"):
        out = ops.add(out, reshape_to_normalized(node, "norm_bias", x, begin, rank))
    return {"out": out, "residual_out": total, "inv_var": ops.reshape(inverse, dim_range(x, 0, begin), False)}


def _rms(x: Output, axes: list[int], epsilon: float) -> tuple[Node, Node]:
    # The form that OpenVINO fuses into its RMS.
    squares = ops.reduce_mean(ops.power(x, const_like(2, x)), ints(axes), True)
    inverse = ops.divide(const_like(1, x), ops.sqrt(ops.add(squares, const_like(epsilon, x))))
    return ops.multiply(x, inverse), inverse


def lrn(node: NodeContext) -> NamedOutputs:
    """out = x * (k + alpha * the sum of x^2 over n neighbouring channels)^-beta."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    last = channels_last(node)
    if last:
        x = to_channels_first(x, rank).output(0)
    size = node.get_int("n", 5)
    alpha, beta, bias = node.get_float("alpha", 1e-4), node.get_float("beta", 0.75), node.get_float("k", 2.0)
    before = (size - 1) // 2
    # The channels become the rows of an image, whose windows are averaged.
    rows = ops.reshape(
        ops.multiply(x, x), ops.concat([dim_vector(x, [0]), ints([1]), dim_vector(x, [1]), ints([-1])], 0), False
    )
    mean = ops.avg_pool(rows, [1, 1], [before, 0], [size - 1 - before, 0], [size, 1], False, dilations=[1, 1])
    middle = ops.multiply(ops.reshape(mean, shape_of(x), False), const_like(alpha * size, x))
    middle = ops.add(middle, const_like(bias, x))
    out = ops.multiply(x, ops.power(middle, const_like(-beta, x)))
    if last:
        return {"out": to_channels_last(out, rank), "mid_out": to_channels_last(middle, rank)}
    return {"out": out, "mid_out": middle}


def data_norm(node: NodeContext) -> NamedOutputs:
    """y = (x - batch_sum / batch_size) * sqrt(batch_size / batch_square_sum) (* scale_w + bias)."""
    x = node.get_input("x")
    node.require(node.get_int("slot_dim", -1) <= 0, "is not supported", slot_dim="> 0")
    count = node.get_input("batch_size")
    means = ops.divide(node.get_input("batch_sum"), count)
    scales = ops.sqrt(ops.divide(count, node.get_input("batch_square_sum")))
    y: Node = ops.multiply(ops.subtract(x, means), scales)
    if node.get_bool("enable_scale_and_shift", False):
        y = ops.add(ops.multiply(y, node.get_input("scale_w")), node.get_input("bias"))
    return {"y": y, "means": means, "scales": scales}


def spectral_norm(node: NodeContext) -> NamedOutputs:
    """out = weight / sigma, its largest singular value by power_iters steps of power iteration from u and v."""
    weight, u, v = (node.get_input(name) for name in ("weight", "u", "v"))
    rank = rank_of(node, weight)
    dim = normalize_axis(node, node.get_int("dim", 0), rank, "dim")
    order = [dim, *(axis for axis in range(rank) if axis != dim)]
    rows = ranked_dims(u)[0]
    moved = ops.transpose(weight, ints(order)) if dim else weight
    matrix = reshape(moved, [-1 if rows is None else rows, 0 if rows is None and rank == 2 else -1])
    left, right = reshape(u, [-1, 1]), reshape(v, [-1, 1])
    epsilon = node.get_float("eps", 1e-12)
    steps = node.get_int("power_iters", 1)
    node.require(0 <= steps <= MAX_REPEATS, f"0 to {MAX_REPEATS} steps are supported", power_iters=steps)
    for _ in range(charge_repeats(steps)):
        right = _normalize_vector(ops.matmul(matrix, left, True, False), epsilon)
        left = _normalize_vector(ops.matmul(matrix, right, False, False), epsilon)
    sigma = ops.matmul(left, ops.matmul(matrix, right, False, False), True, False)
    return {"out": ops.divide(weight, reshape(sigma, []))}


def _normalize_vector(vector: Node, epsilon: float) -> Node:
    length = ops.sqrt(ops.reduce_sum(ops.multiply(vector, vector), ints([0, 1]), True))
    return ops.divide(vector, ops.add(length, const_like(epsilon, vector)))


def skip_layernorm(node: NodeContext) -> NamedOutputs:
    """out = layer_norm(x + y) * scale + bias over the dimensions from begin_norm_axis on."""
    total = ops.add(node.get_input("x"), node.get_input("y")).output(0)
    begin = normalize_axis(node, node.get_int("begin_norm_axis"), rank_of(node, total), "begin_norm_axis")
    return {"out": layer_norm_of(node, total, begin, node.get_float("epsilon"))}
