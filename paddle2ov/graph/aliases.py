"""One tensor under several names."""

from __future__ import annotations

import numpy as np
from openvino import Output

from paddle2ov.graph.opset import ops


def alias(value: Output) -> Output:
    """The same tensor as the output of another node.

    For an input that is a result, or a tensor that is several results: on compilation each would lose a name. No
    Convert to the type that the tensor has: where it reads an input, OpenVINO's CPU plugin (2026.4) writes beyond the
    result's memory when the same request runs a second, smaller input.
    """
    axis = np.array([0], np.int64)
    return ops.squeeze(ops.unsqueeze(value, axis), axis).output(0)


__all__ = ["alias"]
