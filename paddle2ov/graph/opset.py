"""The OpenVINO opset that converters emit.

`ops` has all functions of that opset, checked: nodes that OpenVINO could not evaluate without crashing are constants or
refused (`guards.py`). Those that a conversion calls most are quick equivalents (`quick_nodes.py`). Where OpenVINO
computes the usual nodes wrongly, functions emit others (`safe_functions.py`), or read copies of sizes
(`size_bounds.py`).

The types of `ops` are those of `opset_stub.pyi`, which tools/opset_stub.py writes from the signatures of both.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from paddle2ov.graph.node_factory import OPSET, create
from paddle2ov.graph.quick_nodes import plain
from paddle2ov.graph.safe_functions import SAFE
from paddle2ov.graph.size_bounds import hiding_bounds

if TYPE_CHECKING:
    from paddle2ov.graph.opset_stub import Opset

ops = cast("Opset", SimpleNamespace(**{**vars(plain), **SAFE, **hiding_bounds()}))

__all__ = ["OPSET", "create", "ops"]
