"""Quantization: what quantization-aware training and calibration leave in a program.

Paddle: `quantize_linear`, `dequantize_linear`; `fake_quantize_dequantize_abs_max`,
`fake_quantize_dequantize_moving_average_abs_max`, `fake_channel_wise_quantize_dequantize_abs_max`;
`fake_quantize_abs_max`, `fake_quantize_moving_average_abs_max`, `fake_quantize_range_abs_max`;
`fake_dequantize_max_abs`, `fake_channel_wise_dequantize_max_abs`, `dequantize_abs_max`;
`moving_average_abs_max_scale`; `dequantize_log`.
Semantics: `paddle/phi/kernels/impl/{quantize_linear,fake_quantize_kernel,fake_dequantize_kernel}_impl.h`,
`paddle/phi/kernels/funcs/fake_quantize_functor.cc`, `paddle/phi/kernels/cpu/dequantize_log_kernel.cc`. Paddle 3.3 runs
a `dequantize_linear` of a PIR program as if it were `quantize_linear`: the reference is its kernel, as run by Paddle 2.

With a known scale, and an exported model has no other, quantization becomes a FakeQuantize: OpenVINO then runs what
follows in int8. It rounds ties to even, where `round_type` 1 means away from zero; constants are rounded here, as in
Paddle. On x86 processors without VNNI, int8 products saturate in OpenVINO: see `with_exact_integers`, which models are
compiled with.
Refused: float8, zero points other than 0 (Paddle's kernels ignore them), training.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from openvino import Output, Type
from openvino.op import Constant

from paddle2ov.converters.graph.common import Tensor, cast_to, const, const_like, reshape
from paddle2ov.converters.graph.dims import rank_of
from paddle2ov.converters.graph.exact import round_half_away
from paddle2ov.converters.graph.spatial import ranked_dims
from paddle2ov.graph import arrays
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.types import value_of
from paddle2ov.graph.values import ConstantValue
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import Converter, NamedOutputs, NodeContext
from paddle2ov.typing import AnyArray

_INT8 = 127
_TINY, _EPSILON = 1e-30, 1e-6


class QuantRange(Struct, frozen=True):
    """The integers -low ... high that values are rounded to, and whether ties go to even."""

    high: int
    to_even: bool

    @property
    def low(self) -> int:
        """The magnitude of the lowest integer."""
        return self.high + 1 if self.to_even else self.high


def _quant_range(node: NodeContext, default_round_type: int = 1, high: int | None = None) -> QuantRange:
    round_type = node.get_int("round_type", default_round_type)
    node.require(round_type in (0, 1), "unknown", round_type=round_type)
    return QuantRange(_qmax(node) if high is None else high, to_even=round_type == 0)


def _qmax(node: NodeContext) -> int:
    bits = node.get_int("bit_length", 8)
    node.require(1 <= bits <= 16, "1 to 16 bits are known to Paddle", bit_length=bits)
    return int(2 ** (bits - 1)) - 1


def _broadcastable_scale(node: NodeContext, scale: AnyArray | Tensor, x: Output, axis: int | None) -> AnyArray | Tensor:
    """A scale, or one for each element along an axis, reshaped to broadcast with `x`."""
    shape = [1] * rank_of(node, x)
    if axis is not None:
        shape[axis] = -1
    if not isinstance(scale, np.ndarray):
        return reshape(scale, shape if axis is not None else [])
    count = 1 if axis is None else ranked_dims(x)[axis]
    scale = scale.reshape(-1)[:count]  # Paddle takes more, and reads the first ones
    node.require(count is None or scale.size in (1, count), f"{scale.size} scales for {count} elements along the axis")
    return scale.reshape(shape)


def _quantize(
    node: NodeContext, x: Output, scale: AnyArray | Tensor, axis: int | None, grid: QuantRange, back: bool
) -> Tensor:
    """x / scale · high, rounded and clamped; with `back`, dequantized again."""
    dtype = x.get_element_type()
    scale = _broadcastable_scale(node, scale, x, axis)
    if isinstance(scale, np.ndarray) and grid.high <= _INT8:
        # Paddle divides by 1e-6 in place of 0, but with round_type 1 it clamps x to the scale before.
        unit = np.where(scale <= _TINY, scale + _EPSILON, scale).astype(np.float64) / grid.high
        result = scale.astype(np.float64) / grid.high if back else np.ones_like(unit)
        result = result if grid.to_even else np.where(scale <= _TINY, 0, result)
        if isinstance(node_of_x := x.get_node(), Constant):
            with np.errstate(all="ignore"):
                on_grid = _steps(value_of(node_of_x), scale, grid) * unit.astype(np.float32)
            x = const(on_grid, dtype).output(0)
        source, lowest = (x, grid.low) if grid.to_even else _with_lowest(x, scale, grid)
        low, high = (const(side * unit, dtype) for side in (-lowest, grid.high))
        out_low, out_high = (const(side * result, dtype) for side in (-lowest, grid.high))
        return ops.fake_quantize(source, low, high, out_low, out_high, lowest + grid.high + 1)
    size = const(scale, dtype) if isinstance(scale, np.ndarray) else scale
    divisor = ops.select(ops.less_equal(size, const(_TINY, dtype)), ops.add(size, const(_EPSILON, dtype)), size)
    within = x if grid.to_even else ops.minimum(ops.maximum(x, ops.negative(size)), size)
    out = ops.multiply(ops.multiply(const(grid.high, dtype), ops.divide(const(1, dtype), divisor)), within)
    rounded = ops.round(out, "half_to_even") if grid.to_even else round_half_away(out)
    out = ops.clamp(rounded, -grid.low, grid.high)
    return ops.divide(ops.multiply(out, size), const(grid.high, dtype)) if back else out


def _steps(x: AnyArray, scale: AnyArray, grid: QuantRange) -> AnyArray:
    """The integers of a constant, rounded as in Paddle; OpenVINO's FakeQuantize rounds what is half-way otherwise."""
    size = scale.astype(np.float32)
    divisor = np.where(size <= _TINY, size + np.float32(_EPSILON), size)
    within = x if grid.to_even else np.clip(x, -size, size)
    out = np.float32(grid.high) * (np.float32(1) / divisor) * within.astype(np.float32)
    whole = np.trunc(out)
    rounded = np.rint(out) if grid.to_even else whole + np.copysign(np.abs(out - whole) >= 0.5, out)
    return np.clip(rounded, -grid.low, grid.high)


_NONNEGATIVE = frozenset(("Abs", "HSigmoid", "Relu", "Sigmoid", "Softmax"))
"""Node types that give no number below 0."""


@works_around("fake_quantize_of_odd_levels", "layer_of_odd_levels")
def _with_lowest(x: Output, scale: AnyArray, grid: QuantRange) -> tuple[Tensor, int]:
    """x and the magnitude of the lowest integer of its grid.

    OpenVINO's transformations for low precision take 255 levels for 256 where a layer reads them in int8, and 15 for
    255. So there is one level more, which x, cut off, does not reach: not by Clamp, which they compute in int8 as well.
    Constants are right as they are.
    """
    if grid.high not in (7, _INT8) or isinstance(x.get_node(), Constant):
        return x, grid.low
    if x.get_node().get_type_name() in _NONNEGATIVE:
        return x, grid.low + 1
    return ops.maximum(x, const(-scale, x.get_element_type())), grid.low + 1


def _dequantize(node: NodeContext, x: Output, scale: AnyArray | Tensor, axis: int | None, high: float) -> Tensor:
    """x · scale / high; together with a quantization right before, one FakeQuantize."""
    scale = _broadcastable_scale(node, scale, x, axis)
    source = x.get_node()
    if not isinstance(scale, np.ndarray):
        return ops.divide(ops.multiply(x, scale), const_like(high, x))
    unit = scale.astype(np.float64) / high
    if source.get_type_name() == "FakeQuantize":
        data, *bounds = source.input_values()
        constants = [producer for bound in bounds if isinstance(producer := bound.get_node(), Constant)]
        if len(constants) == 4:
            out_low, out_high = (const(value_of(constant) * unit, x.get_element_type()) for constant in constants[2:])
            levels = source.get_attributes()["levels"]
            return ops.fake_quantize(data, bounds[0], bounds[1], out_low, out_high, levels)
    return ops.multiply(x, const(unit, x.get_element_type()))


def _dequantize_input(node: NodeContext) -> Output:
    """The input `x` as floating point; weights that hold int8 values become an int8 constant and a Convert."""
    known, declared = node.get_known("x"), node.declared_output_dtype("y") or node.declared_output_dtype()
    # Paddle 3 declares int8 for the result of dequantize_abs_max, which it computes as float.
    dtype = declared if declared is not None and declared.is_real() else Type.f32
    if known is not None and known.ndim > 1 and bool((known == known.astype(np.int8)).all()):
        return ops.convert(ConstantValue(arrays.converted(known, np.int8)).constant(), dtype).output(0)
    x = node.get_input("x")
    return x if x.get_element_type().is_real() else ops.convert(x, dtype).output(0)


def _scale(node: NodeContext, name: str, idx: int = 0) -> AnyArray | Output:
    known = node.get_known(name, idx)
    return node.get_input(name, idx) if known is None else known.astype(np.float32)


def _axis_of(node: NodeContext, rank: int) -> int | None:
    axis = node.get_int("quant_axis", 0)
    node.require(axis < rank, "out of range", quant_axis=axis)
    return axis if axis >= 0 else None


def _qmax_of_linear(node: NodeContext) -> int:
    high = node.get_int("qmax") if node.has_attribute("qmax") else _qmax(node)  # Paddle 2 gives the number of bits
    node.require(high not in (448, 57344), "float8 is not supported", qmax=high)
    if node.has_input("zero_point"):
        known = node.get_known("zero_point")
        node.require(known is None or not known.any(), "only zero points of 0 are supported", zero_point=known)
    return high


def quantize_linear(node: NodeContext) -> NamedOutputs:
    """y = x / scale · qmax, rounded, within -qmax - 1 ... qmax; as floating point."""
    x = node.get_input("x")
    high, axis = _qmax_of_linear(node), _axis_of(node, rank_of(node, x))
    _require_inference(node, True)
    if node.get_bool("only_observer", False):
        return {"y": x}
    return {"y": _quantize(node, x, _scale(node, "scale"), axis, _quant_range(node, 0, high), back=False)}


def dequantize_linear(node: NodeContext) -> NamedOutputs:
    """y = x · scale / qmax."""
    high, x = _qmax_of_linear(node), _dequantize_input(node)
    if node.get_bool("only_observer", False):
        return {"y": x}
    axis = _axis_of(node, rank_of(node, x))
    return {"y": _dequantize(node, x, _scale(node, "scale"), axis, high)}


def _abs_max(node: NodeContext, x: Output, axis: int | None) -> AnyArray | Tensor:
    """The largest magnitude in x, or for each element along an axis."""
    others = [i for i in range(rank_of(node, x)) if i != axis]
    known = node.get_known("x")
    if known is not None:
        return np.asarray(np.abs(known).max(axis=tuple(others))).astype(np.float32).reshape(-1)
    return reshape(ops.reduce_max(ops.abs(x), ints(others), False), [-1])


def _require_inference(node: NodeContext, default: bool = False) -> None:
    if not node.get_bool("is_test", default):
        node.refuse("training keeps scales from batch to batch; export the model in eval() mode", is_test=False)


def fake_quantize(back: bool, per_channel: bool = False, is_trained: bool = False) -> Converter:
    """A converter that takes the largest magnitude in x as the scale, per channel or tensor, or that of training."""

    def convert(node: NodeContext) -> NamedOutputs:
        """out = x quantized with the largest magnitude, or in_scale, as the scale; with `back`, dequantized again."""
        x = node.get_input("x")
        axis = _axis_of(node, rank_of(node, x)) if per_channel else None
        if is_trained:
            _require_inference(node)
        scale = _scale(node, "in_scale") if is_trained else _abs_max(node, x, axis)
        out = _quantize(node, x, scale, axis, _quant_range(node), back)
        # The variable of in_scale, which dequantize operators read by this name.
        return {"out": out, "out_scale": ConstantValue(scale) if isinstance(scale, np.ndarray) else scale}

    return convert


def fake_dequantize_max_abs(node: NodeContext) -> NamedOutputs:
    """out = x · scale / max_range."""
    return {"out": _dequantize(node, _dequantize_input(node), _scale(node, "scale"), None, node.get_float("max_range"))}


def fake_channel_wise_dequantize_max_abs(node: NodeContext) -> NamedOutputs:
    """out = x · scales[0] / (2^(bits - 1) - 1) along an axis; then the same with scales[1], a scalar."""
    x, bits = _dequantize_input(node), node.get_ints("quant_bits", [8])
    node.require(all(1 <= bit <= 32 for bit in bits), "1 to 32 bits are supported", quant_bits=bits)
    highs = [2 ** (bit - 1) - 1 for bit in bits]
    if node.get_input_size("scales") == 1:
        axis = _axis_of(node, rank_of(node, x))
        return {"out": _dequantize(node, x, _scale(node, "scales"), axis, highs[0])}
    columns = node.get_int("x_num_col_dims", 1)
    out = _dequantize(node, x, _scale(node, "scales"), columns, highs[0])
    out = output_of(out)
    return {"out": _dequantize(node, out, _scale(node, "scales", 1), None, highs[1])}


def moving_average_abs_max_scale(node: NodeContext) -> NamedOutputs:
    """out = x, whose magnitude is observed in training only."""
    _require_inference(node)
    return {"out": node.get_input("x")}


def dequantize_log(node: NodeContext) -> NamedOutputs:
    """out = dict[x], and -dict[x + 128] where x < 0."""
    x = cast_to(node.get_input("x"), Type.i32)
    below = ops.less(x, const_like(0, x))
    indices = ops.add(x, ops.multiply(ops.convert(below, Type.i32), const_like(128, x)))
    value = ops.gather(node.get_input("dict"), indices, ints(0))
    return {"out": ops.select(below, ops.negative(value), value)}
