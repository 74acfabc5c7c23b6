"""Discrete Fourier transforms and the frames of a signal.

Paddle: `fft_c2c`, `fft_r2c`, `fft_c2r`; `frame`, `overlap_add`; `stft`.
Semantics: `paddle/phi/kernels/impl/fft_kernel_impl.h`, `paddle/phi/kernels/funcs/fft.h` (what a norm means),
`paddle/phi/kernels/cpu/{frame,overlap_add}_kernel.cc`.

All of `paddle.fft` is made of the first three, and `paddle.signal` of these and the next two: `paddle.signal.stft` is
`frame`, a product with the window, `fft_r2c`.
"""

from __future__ import annotations

import math

from openvino import Node, Output, Type

from paddle2ov.converters.complex.elementary import conjugate, from_real
from paddle2ov.converters.graph.common import cast_to, const_like
from paddle2ov.converters.graph.dims import dim_vector, normalize_axis, rank_of
from paddle2ov.converters.slicing import windows_along
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.permutation import permute
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def fft_c2c(node: NodeContext) -> NamedOutputs:
    """out[k] = the sum over j of x[j] · exp(∓2πi · jk / n) along axes; forward has the minus."""
    x = _signal(node)
    return {"out": _complex_transform(node, x, _axes(node, rank_of(node, x) - 1))}


def fft_r2c(node: NodeContext) -> NamedOutputs:
    """out = the transform of real numbers; onesided keeps the elements 0 ... n/2 along the last of axes."""
    x = _signal(node)
    axes = _axes(node, rank_of(node, x))
    if not node.get_bool("onesided"):
        return {"out": _complex_transform(node, from_real(x, x.get_element_type()).output(0), axes)}
    out = ops.rdft(x, ints(axes))
    # The backward transform of real numbers is the conjugate of the forward one.
    out = out if node.get_bool("forward") else conjugate(out)
    return {"out": _normalize(node, out, x, axes, divided_by_n=False)}


@works_around("irdft_of_unchanged_size")
def fft_c2r(node: NodeContext) -> NamedOutputs:
    """out = the transform to n real numbers of the elements 0 ... n/2 along the last of axes; n is last_dim_size."""
    x = _signal(node)
    axes, size = _axes(node, rank_of(node, x) - 1), node.get_int("last_dim_size", 0)
    sizes = None
    if size > 0:  # OpenVINO has -1 for "unchanged", but its CPU plugin runs out of memory with it
        others = dim_vector(x, axes[:-1])
        sizes = ops.concat([others, ints([size])], 0) if len(axes) > 1 else ints([size])
    # The forward transform to real numbers is the backward one of the conjugate.
    x = conjugate(x).output(0) if node.get_bool("forward") else x
    out = ops.irdft(x, ints(axes), sizes) if sizes is not None else _irdft_of_any(x, axes)
    return {"out": _normalize(node, out, out.output(0), axes, divided_by_n=True)}


@works_around("irdft_to_nothing")
def _irdft_of_any(x: Output, axes: list[int]) -> Node:
    """The transform to twice as many numbers as there are after the first: to none where that is alone.

    There it transforms two, as OpenVINO ends the process.
    """
    count = (dims_of(x) or [])[axes[-1]]
    if count is not None and count > 1:
        return ops.irdft(x, ints(axes))
    before = dim_vector(x, axes[-1:])
    more = ops.maximum(ops.subtract(ints([2]), before), ints([0]))
    rank = len(x.get_partial_shape())
    pads = [more if axis == axes[-1] else ints([0]) for axis in range(rank)]
    out = ops.irdft(ops.pad(x, ints([0] * rank), ops.concat(pads, 0), "constant", const_like(0, x)), ints(axes))
    after = ops.multiply(ops.maximum(ops.subtract(before, ints([1])), ints([0])), ints([2]))
    return ops.slice(out, ints([0]), after, ints([1]), ints(axes[-1:]))


def _signal(node: NodeContext) -> Output:
    # OpenVINO's DFT takes no f64; its CPU plugin would compute with f32 in any case.
    x = node.get_input("x")
    return ops.convert(x, Type.f32).output(0) if x.get_element_type() == Type.f64 else x


def _axes(node: NodeContext, rank: int) -> list[int]:
    axes = [normalize_axis(node, axis, rank, "axes") for axis in node.get_ints("axes")]
    node.require(len(axes) > 0, "no axis to transform is not supported", axes=axes)  # OpenVINO would crash
    return axes


def _complex_transform(node: NodeContext, x: Output, axes: list[int]) -> Node:
    forward = node.get_bool("forward")
    out = ops.dft(x, ints(axes)) if forward else ops.idft(x, ints(axes))
    return _normalize(node, out, x, axes, divided_by_n=not forward)


def _normalize(node: NodeContext, out: Node, signal: Output, axes: list[int], divided_by_n: bool) -> Node:
    """`out` times the power of n for this normalization, n being the number of elements of `signal` along axes."""
    norm, forward = node.get_str("normalization"), node.get_bool("forward")
    node.require(norm in ("", "backward", "forward", "ortho"), "unknown norm", normalization=norm)
    wanted = -0.5 if norm == "ortho" else -1.0 if (norm == "forward") == forward else 0.0
    power = wanted + (1.0 if divided_by_n else 0.0)
    if power != 0:
        out = ops.multiply(out, _power_of_count(signal, axes, power, out))
    return ops.convert(out, Type.f64) if node.declared_output_dtype() == Type.f64 else out


def _power_of_count(signal: Output, axes: list[int], power: float, like: Node) -> Node:
    dims = [signal.get_partial_shape()[axis] for axis in axes]
    if all(dim.is_static for dim in dims):
        return const_like(math.prod(int(dim.get_length()) for dim in dims) ** power, like)
    count = ops.reduce_prod(dim_vector(signal, axes), ints([0]), False)
    return ops.power(ops.convert(count, like.get_element_type()), const_like(power, like))


def frame(node: NodeContext) -> NamedOutputs:
    """out = frames, hop_length apart: [..., frame_length, frames], for axis 0 [frames, frame_length, ...]."""
    x = node.get_input("x")
    first = _is_first(node)
    length, hop = node.get_int("frame_length"), node.get_int("hop_length")
    return {"out": windows_along(x, 0 if first else rank_of(node, x) - 1, length, hop, first)}


def stft(node: NodeContext) -> NamedOutputs:
    """out[n, k, t] = the transform of frame t of signal n, times the window; normalized divides by √n_fft."""
    x, window, size = _signal(node), node.get_input("window"), node.get_int("n_fft")
    frames = windows_along(x, 1, size, node.get_int("hop_length"), windows_first=True)
    windowed = ops.multiply(frames, cast_to(window, x.get_element_type()))
    if node.get_bool("onesided"):
        out = ops.rdft(windowed, ints([2]))
    else:
        out = ops.dft(from_real(windowed, x.get_element_type()), ints([2]))
    if node.get_bool("normalized"):
        out = ops.multiply(out, const_like(size**-0.5, out))
    return {"out": cast_to(ops.transpose(out, ints([0, 2, 1, 3])), node.declared_output_dtype())}


def overlap_add(node: NodeContext) -> NamedOutputs:
    """out = the sum of all frames, each at its position: the inverse of frame."""
    x, first, hop = node.get_input("x"), _is_first(node), node.get_int("hop_length")
    rank = rank_of(node, x)
    if first:  # [frames, length, ...] -> [..., length, frames]
        x = permute(x, [*range(2, rank), 1, 0])
    batch, length, frames = (dim_vector(x, axes) for axes in (range(rank - 2), [-2], [-1]))
    size = ops.add(ops.multiply(ops.subtract(frames, ints([1])), ints([hop])), length)
    pieces = ops.reshape(x, ops.concat([ints([-1]), length, frames], 0), False)
    out = ops.col2im(pieces, ops.concat([ints([1]), size], 0), ops.concat([ints([1]), length], 0), [1, hop])
    summed = ops.reshape(out, ops.concat([batch, size], 0), False).output(0)
    return {"out": permute(summed, [rank - 2, *range(rank - 2)]) if first else summed}


def _is_first(node: NodeContext) -> bool:
    axis = node.get_int("axis", -1)
    node.require(axis in (0, -1), "0 or -1 is expected", axis=axis)
    return axis == 0
