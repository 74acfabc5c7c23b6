"""The OpenVINO opset that converters emit.

`ops` has all functions of that opset, checked: nodes that OpenVINO could not evaluate without crashing are constants or
refused (`guards.py`). Those that a conversion calls most are quick equivalents (`quick_nodes.py`). Where OpenVINO
computes the usual nodes wrongly, functions emit others (`safe_functions.py`), or read copies of sizes
(`size_bounds.py`). `ints` makes the constants of integers that most of them take, `const_like` those of a tensor's
type.

The types of `ops` are those of `Opset`, which tools/opset_stub.py makes of the signatures of both for the type check.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.graph.node_factory import OPSET, create
from paddle2ov.graph.quick_nodes import plain
from paddle2ov.graph.safe_functions import SAFE
from paddle2ov.graph.size_bounds import hiding_bounds

if TYPE_CHECKING:
    from openvino_opset import Opset

ops = cast("Opset", SimpleNamespace(**{**vars(plain), **SAFE, **hiding_bounds()}))

__all__ = ["OPSET", "const_like", "create", "ints", "ops"]


def ints(value: Sequence[int] | int) -> Node:
    """A constant of int64: a list gives a 1-D one, a number a 0-D one."""
    return ops.constant(np.asarray(value, np.int64))


def const_like(value: float | bool, x: Output | Node) -> Node:
    """A 0-D constant of the type of `x`."""
    kind = x.get_element_type()
    if kind == Type.bf16 and not np.isfinite(value):  # OpenVINO makes no such constant
        return ops.convert(ops.constant(np.asarray(value, np.float32)), kind)
    return ops.constant(np.asarray(value), kind)
