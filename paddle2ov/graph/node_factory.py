"""The OpenVINO opset that is emitted, and the factory that makes its nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from openvino import Node, Output, opset16
from openvino.op import Constant
from openvino.utils.node_factory import NodeFactory

OPSET = "opset16"
FUNCTIONS = {name: value for name, value in vars(opset16).items() if not name.startswith("_")}
"""What OpenVINO has in the opset, by name."""

NodeInput: TypeAlias = Node | Output | int | float | np.ndarray[Any, Any] | np.generic
"""What functions of the opset take: a tensor, or numbers that they make a Constant of."""
CreateNode: TypeAlias = Callable[[str, Sequence[Output], Mapping[str, Any]], Node]
"""Makes a node from its type, inputs and attributes (those that `Node.get_attributes` gives of another node)."""


def _fastest() -> CreateNode:
    """What OpenVINO's factory rests on, which is not part of its public interface, if it works; else the factory."""
    try:
        from openvino._pyopenvino import NodeFactory as InnerFactory

        create = cast(CreateNode, InnerFactory(OPSET).create)
        one = Constant(np.array(1.0)).output(0)
        create("Convert", create("Add", [one, one], {}).outputs(), {"destination_type": "i64"})
    except Exception:  # whatever another OpenVINO raises
        return cast(CreateNode, NodeFactory(OPSET).create)
    return create


create = _fastest()
