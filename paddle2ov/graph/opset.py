"""The OpenVINO opset that converters emit.

`ops` has all functions of that opset. Those that a conversion calls most are replaced by quicker equivalents
(`quick_nodes.py`), if the class of OpenVINO that they rest on is there, which is not part of its public interface.
Nodes that OpenVINO could not evaluate without crashing are constants or refused (`guards.py`). A few functions emit
other nodes where OpenVINO computes the usual ones wrongly (`safe_functions.py`).

The types of `ops` are those of `opset_stub.pyi`, which tools/opset_stub.py writes from the signatures of both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from openvino import Node, Output, opset16
from openvino.op import Constant
from openvino.utils.node_factory import NodeFactory

from paddle2ov.graph.guards import UNCHECKED, CreateNode, checked_create, checked_function
from paddle2ov.graph.quick_nodes import QuickNodes
from paddle2ov.graph.safe_functions import install_safe_functions
from paddle2ov.graph.size_bounds import hiding_bounds

if TYPE_CHECKING:
    from paddle2ov.graph.opset_stub import Opset

OPSET = "opset16"


def _quick_factory() -> CreateNode | None:
    """OpenVINO's node factory, which is not part of its public interface; None if it is missing or another one."""
    try:
        from openvino._pyopenvino import NodeFactory as Factory

        create: CreateNode = Factory(OPSET).create
        one = Constant(np.array(1.0)).output(0)
        create("Convert", create("Add", [one, one], {}).outputs(), {"destination_type": "i64"})
    except Exception:  # whatever another OpenVINO raises
        return None
    return create


def _replacements() -> dict[str, Callable[..., Node]]:
    """Quick functions in place of OpenVINO's; none without the quick factory, as OpenVINO's do the same."""
    factory = _quick_factory()
    return {} if factory is None else QuickNodes(checked_create(factory)).functions()


def _create_slowly(kind: str, inputs: list[Output], attributes: dict[str, Any]) -> Node:
    return NodeFactory(OPSET).create(kind, [*inputs], attributes)


_create = _quick_factory() or _create_slowly


def create(kind: str, inputs: Sequence[Output], attributes: Mapping[str, Any]) -> Node:
    """A node of any kind, with the attributes that `Node.get_attributes` gives of another one."""
    return _create(kind, list(inputs), dict(attributes))


ops = cast(
    "Opset", SimpleNamespace(**{name: value for name, value in vars(opset16).items() if not name.startswith("_")})
)
vars(ops).update(
    {name: checked_function(value) for name, value in vars(ops).items() if callable(value) and name not in UNCHECKED}
)
vars(ops).update(_replacements())
install_safe_functions(ops)
vars(ops).update(hiding_bounds(vars(ops)))

__all__ = ["OPSET", "create", "ops"]
