"""Constants of integers, such as shapes, axes and bounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from openvino import Node

from paddle2ov.graph.opset import ops


def ints(value: Sequence[int] | int) -> Node:
    """A constant of int64: a list gives a 1-D one, a number a 0-D one."""
    return ops.constant(np.asarray(value, np.int64))


__all__ = ["ints"]
