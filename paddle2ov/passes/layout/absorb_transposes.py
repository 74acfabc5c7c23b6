"""Lets q·kᵀ read k as it is, without a Transpose.

Given:
    x → Transpose that swaps the last two axes → second input of MatMul, and nothing else reads it.
Result:
    x → MatMul with the other transpose_b.

OpenVINO does this as well, but only if it finds the transpose in this form: one that `fuse_transposes` merged with the
split into heads ([0, 2, 3, 1]) takes up to five times as long. The split itself, [0, 2, 1, 3] of k, stays: OpenVINO's
attention kernel reads k in columns and needs a separate Transpose, the only one left in attention.
ScaledDotProductAttention ends in the same nodes: the CPU plugin decomposes it unless the model is stateful. A
projection that computes k in columns (weight · xᵀ) would avoid that Transpose, but takes up to half as long again as
the two nodes; it is slightly faster only with static shapes and below 192 channels.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.consumers import Consumer, consumers, revalidate
from paddle2ov.passes.constant_operands import perm_of
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.rule import MatchFailureError, at, require, rule


@rule("absorbed")
@at("Transpose", read_by=("MatMul",))
def absorb_transposes(graph: Graph, transpose: Node) -> Counts | None:
    """Has products transpose their second factor themselves."""
    readers = consumers(transpose.output(0))
    if not any(map(_is_second_factor, readers)):
        return None
    perm = perm_of(transpose)
    if perm is None or len(perm) < 2 or perm != [*range(len(perm) - 2), len(perm) - 1, len(perm) - 2]:
        raise MatchFailureError("the transpose does not just swap the last two axes")
    require(all(map(_is_second_factor, readers)), "something else reads the transpose")
    for reader in readers:
        product = reader.get_node()
        product.set_attribute("transpose_b", not product.get_attributes()["transpose_b"])
        reader.replace_source_output(transpose.input_value(0))
        revalidate(product)
    return {"absorbed": 1}


def _is_second_factor(reader: Consumer) -> bool:
    return bool(reader.get_index() == 1 and reader.get_node().get_type_name() == "MatMul")
