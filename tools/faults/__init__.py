"""What OpenVINO computes wrongly: a graph in plain OpenVINO for each fault that the project works around.

A fault is a function that builds such a graph, its inputs for one run or several on one request, and the right results.
It uses nothing but the names of `tools/faults/prelude.py`, so that its source and the prelude are a script of their own
(`python -m tools.openvino_faults --script NAME`). Places that work around it carry `works_around("name")`.
"""

from tools.faults import arithmetic, attention, compilation, control_flow, fusions, layouts, shapes
from tools.faults.register import FAULTS, OpenVINOFault, places

__all__ = [
    "FAULTS",
    "OpenVINOFault",
    "arithmetic",
    "attention",
    "compilation",
    "control_flow",
    "fusions",
    "layouts",
    "places",
    "shapes",
]
