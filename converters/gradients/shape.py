"""Gradients of what moves, repeats, joins or leaves out elements.

Semantics: `paddle/phi/kernels/impl/{slice,strided_slice,concat,tile,expand,pad,transpose}_grad_kernel_impl.h`,
`paddle/phi/kernels/cpu/{roll,stack,pad3d}_grad_kernel.cc`.
"""

from __future__ import annotations

from typing import cast

from paddle2ov.converters import diagonal, joining, padding, slicing
from paddle2ov.converters.gradients.terms import operand, results
from paddle2ov.converters.graph.common import Tensor, const_like
from paddle2ov.converters.graph.dims import dim_vector, index_range, normalize_axis, rank_of, shape_of
from paddle2ov.converters.graph.unbroadcast import unbroadcast
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.translation.node_context import Converter, NamedOutputs, NodeContext


def reshaped(result: str = "x_grad", like: str = "x", given: str = "out_grad") -> Converter:
    """A converter: the gradient in the shape of the operand."""

    def convert(node: NodeContext) -> NamedOutputs:
        """x_grad = out_grad in the shape of x."""
        return {result: ops.reshape(node.get_input(given), shape_of(node.get_input(like)), False)}

    return convert


def tril_triu(node: NodeContext) -> NamedOutputs:
    """x_grad = the same triangle of out_grad."""
    return {"x_grad": diagonal.tril_triu(node.with_inputs(x=node.get_input("out_grad")))["out"]}


def dropout(node: NodeContext) -> NamedOutputs:
    """x_grad = out_grad; in mode downscale_in_infer times 1 - p, as at inference."""
    node.require(node.get_bool("is_test", False), "dropout is for training", is_test=False)
    kept = 1.0 if node.get_str("mode", "downgrade_in_infer") == "upscale_in_train" else 1 - node.get_float("p", 0.5)
    return results(node, {"x_grad": lambda: operand(node, "out_grad") * kept})


def transpose(node: NodeContext) -> NamedOutputs:
    """x_grad = out_grad with the axes permuted back."""
    out_grad = node.get_input("out_grad")
    axes = [normalize_axis(node, axis, rank_of(node, out_grad), "perm") for axis in node.get_ints("perm")]
    back = [axes.index(axis) for axis in range(len(axes))]
    return {"x_grad": ops.transpose(out_grad, ints(back)) if axes else out_grad}


def concat(node: NodeContext) -> NamedOutputs:
    """x_grad[i] = the part of out_grad that x[i] was joined as."""
    parts, out_grad = node.get_inputs("x"), node.get_input("out_grad")
    axis = normalize_axis(node, node.get_int("axis", 0), rank_of(node, out_grad))
    sizes = ops.concat([dim_vector(part, [axis]) for part in parts], 0)
    split_node = ops.variadic_split(out_grad, ints(axis), sizes)
    return {"x_grad": [split_node.output(i) for i in range(len(parts))]}


def stack(node: NodeContext) -> NamedOutputs:
    """x_grad[i] = out_grad[..., i, ...]."""
    out_grad, count = node.get_input("out_grad"), node.get_output_size("x_grad")
    axis = normalize_axis(node, node.get_int("axis", 0), rank_of(node, out_grad))
    split_node = ops.split(out_grad, ints(axis), count)
    return {"x_grad": [ops.squeeze(split_node.output(i), ints([axis])) for i in range(count)]}


def unstack(node: NodeContext) -> NamedOutputs:
    """x_grad = all gradients of the parts, stacked."""
    return {"x_grad": joining.stack(node.with_inputs(x=node.get_inputs("out_grad")))["out"]}


def expand(node: NodeContext) -> NamedOutputs:
    """x_grad = out_grad, summed over the axes along which x was repeated."""
    return {"x_grad": unbroadcast(node.get_input("out_grad"), node.get_input("x"))}


def broadcast_tensors(node: NodeContext) -> NamedOutputs:
    """x_grad[i] = the gradient of its expansion, summed over the axes along which x[i] was repeated."""
    parts = node.get_inputs("input")
    return {"input_grad": [unbroadcast(g, x) for g, x in zip(node.get_inputs("out_grad"), parts, strict=True)]}


def tile(node: NodeContext) -> NamedOutputs:
    """x_grad = the sum of the parts of out_grad that x was repeated as."""
    x, out_grad = node.get_input("x"), node.get_input("out_grad")
    rank = rank_of(node, out_grad)
    if rank == 0:
        return {"x_grad": out_grad}
    dims = ops.concat([ints([1] * (rank - rank_of(node, x))), shape_of(x)], 0)
    counts = ops.divide(shape_of(out_grad), ops.maximum(dims, ints(1)))
    pairs = ops.reshape(ops.concat([ops.unsqueeze(value, ints(1)) for value in (counts, dims)], 1), ints([-1]), False)
    parts = ops.reshape(out_grad, pairs, False)
    total = ops.reduce_sum(parts, ints([2 * i for i in range(rank)]), False)
    return {"x_grad": ops.reshape(total, shape_of(x), False)}


def roll(node: NodeContext) -> NamedOutputs:
    """x_grad = out_grad, rolled back."""
    shifts = [-int_ for int_ in node.get_ints("shifts")]
    out_grad, axes = node.get_input("out_grad"), node.get_ints("axis", [])
    if not axes:
        flat = ops.reshape(out_grad, ints([-1]), False)
        return {"x_grad": ops.reshape(ops.roll(flat, ints(shifts), ints([0])), shape_of(out_grad), False)}
    return {"x_grad": ops.roll(out_grad, ints(shifts), ints(axes))}


def scattering(forward: Converter, name: str = "x", filler: str = "") -> Converter:
    """A converter: out_grad added at the element that each element of the result was selected from, 0 elsewhere.

    What the operator selects from the numbers of all elements are the places; 0 where it pads with `filler`.
    """

    def convert(node: NodeContext) -> NamedOutputs:
        """x_grad = out_grad, added at the places that x was read at."""
        x, out_grad = node.get_input(name), node.get_input("out_grad")
        count = ops.reduce_prod(shape_of(x), ints([0]), True)
        numbers = ops.reshape(ops.add(index_range(ops.squeeze(count, ints([0]))), ints(1)), shape_of(x), False)
        inputs = {name: numbers.output(0)} | ({filler: ints(0).output(0)} if filler else {})
        places = forward(node.with_inputs(**inputs))["out"]
        flat, added = (ops.reshape(value, ints([-1]), False) for value in (cast("Tensor", places), out_grad))
        zeros = ops.broadcast(const_like(0, out_grad), ops.add(count, ints(1)))
        total = ops.scatter_elements_update(zeros, flat, added, ints(0), "sum")
        inside = slice_along(total, ints([1]), ints([OPEN_END]), 0)
        return {f"{name}_grad": ops.reshape(inside, shape_of(x), False)}

    return convert


slice_ = scattering(slicing.slice_, "input")
strided_slice = scattering(slicing.strided_slice)
pad3d = scattering(padding.pad3d, filler="pad_value")


def pad3d_twice(node: NodeContext) -> NamedOutputs:
    """grad_out_grad = grad_x_grad, padded with zeros or with its own elements."""
    grad = node.get_input("grad_x_grad")
    return {"grad_out_grad": padding.pad3d(node.with_inputs(x=grad, pad_value=const_like(0, grad).output(0)))["out"]}


def pad(node: NodeContext) -> NamedOutputs:
    """x_grad = out_grad without the padding."""
    out_grad, paddings = node.get_input("out_grad"), node.get_ints("paddings")
    end = ops.subtract(shape_of(out_grad), ints(paddings[1::2]))
    return {"x_grad": ops.slice(out_grad, ints(paddings[0::2]), end, ints([1] * rank_of(node, out_grad)))}
