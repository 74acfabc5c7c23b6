"""A product reads its second factor transposed if it is told to."""

from __future__ import annotations

from paddle2ov.passes.graph import Counts, Graph, consumers, perm_of


def absorb_transposes(graph: Graph) -> Counts:
    """k is not transposed before q·kᵀ.

    Given:
        x → Transpose that swaps the last two axes → second input of MatMul, and nothing else reads it.
    Result:
        x → MatMul with the other transpose_b. OpenVINO does that too, but only if it finds the transpose as it is here:
        one that `fuse_transposes` merged with the split into heads ([0, 2, 3, 1]) costs up to five times as much.
        The split itself, [0, 2, 1, 3] of k, stays: OpenVINO's attention kernel reads k in columns and takes it out as a
        Transpose of its own, the one move that is left of attention. ScaledDotProductAttention gives the same nodes:
        the CPU plugin takes it apart unless the model has states. A projection that gives k in columns, weight · xᵀ,
        needs no move, but takes up to a half longer than both; only with known sizes and below 192 channels it is a
        little quicker.
    """
    counts = {"absorbed": 0}
    for node in graph.nodes("Transpose"):
        perm = perm_of(node)
        if perm is None or len(perm) < 2 or perm != [*range(len(perm) - 2), len(perm) - 1, len(perm) - 2]:
            continue
        readers = consumers(node.output(0))
        if not readers or any(one.get_node().get_type_name() != "MatMul" or one.get_index() != 1 for one in readers):
            continue
        for reader in readers:
            product = reader.get_node()
            product.set_attribute("transpose_b", not product.get_attributes()["transpose_b"])
            reader.replace_source_output(node.input_value(0))
            product.validate_and_infer_types()
        counts["absorbed"] += 1
    if counts["absorbed"]:
        graph.changed()
    return counts
