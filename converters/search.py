"""Search and sort.

Paddle: `top_k_v2` (PIR `topk`).
Semantics: `paddle/phi/kernels/cpu/top_k_kernel.cc`, `paddle/phi/infermeta/unary.cc` (TopKInferMeta).
"""

from __future__ import annotations

import numpy as np
from openvino import Type

from paddle2ov.converters.common import normalize_axis, rank_of
from paddle2ov.node_context import NamedOutputs, NodeContext
from paddle2ov.opset import ops


def top_k_v2(node: NodeContext) -> NamedOutputs:
    """out, indices = the k largest (or smallest) elements along axis, sorted, and where they stand (int64)."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    axis = normalize_axis(node, node.get_int("axis", -1), rank)
    if rank == 0:
        return {"out": x, "indices": ops.constant(np.int64(0))}
    k = ops.reshape(node.get_tensor("k", Type.i64), np.array([], np.int64), False)
    largest = node.get_attribute("largest", True)
    # Paddle sorts in either case: `sorted` only says that the order may be relied on.
    top = ops.topk(x, k, axis, "max" if largest else "min", "value", index_element_type=Type.i64, stable=True)
    return {"out": top.output(0), "indices": top.output(1)}
