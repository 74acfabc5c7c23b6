"""Gradients of gathering and scattering: scattering and gathering, where elements that are used twice add up.

Semantics: `paddle/phi/kernels/cpu/{gather,index_select,scatter,scatter_nd_add,put_along_axis,embedding,top_k,
segment_pool,send_u_recv,send_ue_recv,send_uv}_grad_kernel.cc`,
`paddle/phi/kernels/impl/repeat_interleave_grad_kernel_impl.h`.
Refused: `put_along_axis` that reduces by anything but a sum.
"""

from __future__ import annotations

from openvino import Node, Output, Type

from paddle2ov.converters import expansion, indexing, scatter
from paddle2ov.converters.gradients.shape import scattering
from paddle2ov.converters.gradients.terms import results
from paddle2ov.converters.graph.common import Tensor, cast_to, const_like
from paddle2ov.converters.graph.dims import dim_vector, normalize_axis, rank_of, shape_of
from paddle2ov.converters.graph.unbroadcast import unbroadcast
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.terms import Term
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def _zeros(x: Output, like: Output) -> Output:
    return ops.broadcast(const_like(0, like), shape_of(x)).output(0)


def gather(node: NodeContext) -> NamedOutputs:
    """x_grad = out_grad, added at the index along axis."""
    x, index, out_grad = node.get_input("x"), node.get_input("index"), node.get_input("out_grad")
    axis = normalize_axis(node, node.get_int("axis", 0), rank_of(node, x))
    if rank_of(node, index) == 0:
        out_grad = ops.unsqueeze(out_grad, ints([axis])).output(0)
    return _added_at(node, x, ops.reshape(index, ints([-1]), False).output(0), out_grad)


def _added_at(node: NodeContext, x: Output, index: Output, out_grad: Output) -> NamedOutputs:
    added = scatter.index_add(node.with_inputs(x=_zeros(x, out_grad), index=index, add_value=out_grad))
    return {"x_grad": added["out"]}


def gather_nd(node: NodeContext) -> NamedOutputs:
    """x_grad = out_grad, added at the elements or slices of the index."""
    x, out_grad = node.get_input("x"), node.get_input("out_grad")
    return {"x_grad": scatter.scatter_nd_add(node.with_inputs(x=_zeros(x, out_grad), updates=out_grad))["out"]}


def scatter_(node: NodeContext) -> NamedOutputs:
    """x_grad = out_grad, 0 in the rows that were written; updates_grad = these rows."""
    out_grad, index = node.get_input("out_grad"), node.get_input("index")
    index = ops.reshape(index, ints([-1]), False).output(0)
    rows = ops.gather(out_grad, index, ints(0))
    cleared = ops.scatter_update(out_grad, index, ops.broadcast(const_like(0, rows), shape_of(rows)), ints(0))
    return {"x_grad": cleared, "updates_grad": ops.reshape(rows, shape_of(node.get_input("updates")), False)}


def scatter_nd_add(node: NodeContext) -> NamedOutputs:
    """x_grad = out_grad; updates_grad = its elements or slices at the index."""
    out_grad = node.get_input("out_grad")
    return {"x_grad": out_grad, "updates_grad": indexing.gather_nd(node.with_inputs(x=out_grad))["out"]}


def index_add(node: NodeContext) -> NamedOutputs:
    """x_grad = out_grad; add_value_grad = its slices at the index."""
    out_grad = node.get_input("out_grad")
    return {"x_grad": out_grad, "add_value_grad": indexing.gather(node.with_inputs(x=out_grad))["out"]}


def put_along_axis(node: NodeContext) -> NamedOutputs:
    """arr_grad = out_grad, 0 where values were assigned; values_grad = its elements there."""
    out_grad, indices, reduce = node.get_input("out_grad"), node.get_input("indices"), node.get_str("reduce", "assign")
    node.require(
        reduce in ("assign", "add"), "only the gradients of assigned and added values are supported", reduce=reduce
    )
    node.require(node.get_bool("include_self", True), "not supported", include_self=False)
    axis = ints(normalize_axis(node, node.get_int("axis"), rank_of(node, out_grad)))
    cleared: Tensor = out_grad
    if reduce == "assign":
        zeros = ops.broadcast(const_like(0, out_grad), shape_of(indices))
        cleared = ops.scatter_elements_update(out_grad, indices, zeros, axis)
    return {"arr_grad": cleared, "values_grad": ops.gather_elements(out_grad, indices, int(node.get_int("axis")))}


def repeat_interleave(node: NodeContext) -> NamedOutputs:
    """x_grad = out_grad, added up over the repetitions of each element along axis."""
    x, out_grad = node.get_input("x"), node.get_input("out_grad")
    axis = normalize_axis(node, node.get_int("axis", 0), rank_of(node, x))
    return _added_at(node, x, expansion.repeated(node, x, axis), out_grad)


take_along_axis = scattering(indexing.take_along_axis, "arr")
index_sample = scattering(indexing.index_sample)
masked_select = scattering(indexing.masked_select)


def by_indices(node: NodeContext) -> NamedOutputs:
    """x_grad = out_grad, added at the indices along axis that the operator gave as its second result."""
    x, indices, out_grad = node.get_input("x"), node.get_input("indices"), node.get_input("out_grad")
    rank = rank_of(node, x)
    if rank == 0:
        return {"x_grad": out_grad}
    axis = normalize_axis(node, node.get_int("axis", -1), rank)
    if rank_of(node, out_grad) < rank:
        indices, out_grad = (ops.unsqueeze(value, ints([axis])).output(0) for value in (indices, out_grad))
    return {"x_grad": ops.scatter_elements_update(_zeros(x, out_grad), indices, out_grad, ints(axis), "sum")}


def embedding(node: NodeContext) -> NamedOutputs:
    """weight_grad = the rows of out_grad, added at their ids; without those of padding_idx."""
    weight, ids, out_grad = node.get_input("weight"), node.get_input("x"), node.get_input("out_grad")
    padding = node.get_int("padding_idx", -1)
    ids = ops.reshape(cast_to(ids, Type.i64), ints([-1]), False).output(0)
    rows = ops.reshape(out_grad, ops.concat([ints([-1]), dim_vector(weight, [1])], 0), False)
    if padding != -1:
        kept = ops.convert(ops.not_equal(ids, ints(padding)), rows.get_element_type())
        rows = ops.multiply(rows, ops.unsqueeze(kept, ints([1])))
    return {"weight_grad": _add_rows(weight, ids, rows)}


def _add_rows(x: Output, index: Tensor, rows: Tensor) -> Node:
    """Zeros in the shape of x, with rows added at the index."""
    return ops.scatter_nd_update(_zeros(x, output_of(rows)), ops.unsqueeze(index, ints([1])), rows, "sum")


def _indices(node: NodeContext, name: str) -> Output:
    return ops.reshape(cast_to(node.get_input(name), Type.i64), ints([-1]), False).output(0)


def _rows(x: Output, index: Output) -> Term:
    return Term(ops.gather(x, index, ints(0)))


def _reduced_rows(node: NodeContext, rows: Term, index: Output, kind: str, count: str) -> Term:
    """The gradient of each row, of that of the sum, mean, largest or smallest of the rows with its index."""
    grads = _rows(node.get_input("out_grad"), index)
    if kind == "MEAN":
        number = ops.reshape(cast_to(node.get_input(count), grads.value.get_element_type()), ints([-1]), False)
        rank = rank_of(node, grads.value)
        divisor = ops.gather(ops.maximum(number, const_like(1, number)), index, ints(0))
        return grads / Term(ops.unsqueeze(divisor, ints(list(range(1, rank)))) if rank > 1 else divisor)
    return grads if kind == "SUM" else grads * rows.equals(_rows(node.get_input("out"), index))


def segment_pool(node: NodeContext) -> NamedOutputs:
    """x_grad = the gradient of the segment of each row; of a mean its part, of an extreme where the row is it."""
    kind, ids = node.get_str("pooltype", "SUM"), _indices(node, "segment_ids")
    return {"x_grad": _reduced_rows(node, Term(node.get_input("x")), ids, kind, "summed_ids").value}


def send_u_recv(node: NodeContext) -> NamedOutputs:
    """x_grad[s] = the sum of the gradients of the messages that s sends."""
    x, source = node.get_input("x"), _indices(node, "src_index")
    rows = _reduced_rows(
        node, _rows(x, source), _indices(node, "dst_index"), node.get_str("reduce_op", "SUM"), "dst_count"
    )
    return {"x_grad": _add_rows(x, source, rows.value)}


def send_ue_recv(node: NodeContext) -> NamedOutputs:
    """x_grad[s] and y_grad[e] = the sums of the gradients of the messages that s sends, and along the edge e."""
    x, y, source = node.get_input("x"), node.get_input("y"), _indices(node, "src_index")
    sent, edges = _rows(x, source), Term(y)
    multiplied = node.get_str("message_op", "ADD") == "MUL"
    message = sent * edges if multiplied else sent + edges
    kind = node.get_str("reduce_op", "SUM")
    grads = _reduced_rows(node, message, _indices(node, "dst_index"), kind, "dst_count")
    to_x = unbroadcast((grads * edges if multiplied else grads).value, sent.value)
    gradients = {
        "x_grad": lambda: Term(_add_rows(x, source, cast_to(to_x, x.get_element_type()))),
        "y_grad": lambda: Term(unbroadcast((grads * sent if multiplied else grads).value, y)),
    }
    return results(node, gradients)


def send_uv(node: NodeContext) -> NamedOutputs:
    """x_grad and y_grad = the gradients of the edges, added at their ends."""
    out_grad, gradients = Term(node.get_input("out_grad")), {}
    multiplied = node.get_str("message_op", "ADD") == "MUL"
    ends = {name: (node.get_input(name), _indices(node, f"{end}_index")) for name, end in (("x", "src"), ("y", "dst"))}
    for name, other in (("x", "y"), ("y", "x")):
        value, index = ends[name]
        rows = out_grad * _rows(*ends[other]) if multiplied else out_grad
        summed = unbroadcast(rows.value, ops.gather(value, index, ints(0)))
        gradients[f"{name}_grad"] = _add_rows(value, index, summed)
    return gradients
